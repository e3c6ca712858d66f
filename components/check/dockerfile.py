"""What a Dockerfile says about its image, as facts."""

from collections.abc import Iterator

from ..bundle import dockerfile_reader as reader
from ..rules.facts import Dockerfile, Fact, Stage


def facts(name: str, text: str) -> Dockerfile | None:
    """Read a Dockerfile; None if it has no stage."""
    read = reader.read(text)
    if not read.stages:
        return None
    return Dockerfile(
        where=f"{name}:{read.stages[0].line}",
        stages=tuple(_stages(name, read)),
        copies=tuple(_copies(name, read)),
        environment=tuple(_environment(name, read)),
        entrypoint=_entrypoint(name, read),
        copied_paths=Fact(tuple(_copied_paths(read)), f"{name}:{read.stages[-1].line}"),
    )


def _stages(name: str, read: reader.Dockerfile) -> Iterator[Stage]:
    *_, root = _chain(read)
    for index, each in enumerate(read.stages):
        where = f"{name}:{each.line}"
        earlier = read.stage(each.base, index) is not None
        # A base that depends on an argument from outside is not known.
        base = None if earlier or "$" in each.base else Fact(each.base, where)
        platform = Fact(each.platform, where) if each.platform else None
        if not earlier:
            yield Stage(base, platform, where, built=each is root)


def _copies(name: str, read: reader.Dockerfile) -> Iterator[Fact[str]]:
    for index, stage in enumerate(read.stages):
        for each in stage.instructions:
            source = each.flags.get("from", "")
            if source and "$" not in source and read.stage(source, index) is None:
                yield Fact(source, f"{name}:{each.line}")


def _environment(name: str, read: reader.Dockerfile) -> Iterator[tuple[str, Fact[str]]]:
    for stage in read.stages:
        known: dict[str, str] = {}
        for each in stage.instructions:
            if each.keyword in {"ENV", "ARG"}:
                for key, value in _pairs(each):
                    known[key] = reader.substituted(value, known)
                    yield key, Fact(known[key], f"{name}:{each.line}")


def _pairs(each: reader.Instruction) -> Iterator[tuple[str, str]]:
    words = each.words()
    if each.keyword == "ENV" and len(words) > 1 and "=" not in words[0]:
        yield words[0], " ".join(words[1:])
        return
    for word in words:
        key, equals, value = word.partition("=")
        if equals:
            yield key, value


def _chain(read: reader.Dockerfile) -> Iterator[reader.Stage]:
    """Give the stages that the image is made of, the last first."""
    index: int | None = len(read.stages) - 1
    while index is not None:
        yield read.stages[index]
        index = read.stage(read.stages[index].base, index)


def _entrypoint(name: str, read: reader.Dockerfile) -> Fact[str | None]:
    for stage in _chain(read):
        for each in reversed(stage.instructions):
            if each.keyword == "ENTRYPOINT":
                return Fact(each.text, f"{name}:{each.line}")
    return Fact(None, name)


def _copied_paths(read: reader.Dockerfile) -> Iterator[str]:
    for stage in _chain(read):
        for each in stage.instructions:
            if each.keyword == "COPY" and "from" in each.flags:
                yield from each.words()[:-1]
