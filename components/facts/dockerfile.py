"""What a Dockerfile says about its image, as facts."""

from collections.abc import Iterator

from ..platform.sdk import VERSION_VARIABLE
from . import dockerfile_reader as reader
from .stack import Copy, Dockerfile, Entrypoint, Fact, Stage


def facts(name: str, text: str, *, arguments: bool = False) -> Dockerfile | None:
    """Read a Dockerfile; None if it has no stage. `arguments`: whether the build may be given some."""
    read = reader.read(text)
    if not read.stages:
        return None
    return Dockerfile(
        where=f"{name}:{read.stages[0].line}",
        stages=tuple(_stages(name, read)),
        copies=tuple(each for each in _copies(name, read) if "$" not in each.value),
        # A value that depends on a variable is not known.
        environment=tuple(each for each in _environment(name, read) if not each[1].value.startswith("$")),
        sandbox_version=_sandbox_version(name, read),
        entrypoint=_entrypoint(name, read),
        copied=Fact(tuple(_copied(name, read)), f"{name}:{read.stages[-1].line}"),
        untold=None if arguments else tuple(each for each in _images(name, read) if "$" in each.value),
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
            if source and read.stage(source, index) is None:
                yield Fact(source, f"{name}:{each.line}")


def _images(name: str, read: reader.Dockerfile) -> Iterator[Fact[str]]:
    """Return what the stages begin with and copy from; a name may still have variables."""
    for index, each in enumerate(read.stages):
        if read.stage(each.base, index) is None:
            yield Fact(each.base, f"{name}:{each.line}")
    yield from _copies(name, read)


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


def _sandbox_version(name: str, read: reader.Dockerfile) -> Fact[str | None]:
    found: Fact[str | None] = Fact(None, f"{name}:{read.stages[-1].line}")
    known: dict[str, str] = {}
    for stage in reversed([*_chain(read)]):
        for each in stage.instructions:
            for key, value in _pairs(each) if each.keyword in {"ENV", "ARG"} else ():
                known[key] = reader.substituted(value, known)
                if each.keyword == "ENV" and key == VERSION_VARIABLE:
                    found = Fact(known[key], f"{name}:{each.line}")
    return found


def _chain(read: reader.Dockerfile) -> Iterator[reader.Stage]:
    """Return the stages that the image is made of, the last first."""
    return (read.stages[index] for index in _indices(read, len(read.stages) - 1))


def _indices(read: reader.Dockerfile, last: int) -> Iterator[int]:
    """Return a stage and those that it starts from."""
    index: int | None = last
    while index is not None:
        yield index
        index = read.stage(read.stages[index].base, index)


def _entrypoint(name: str, read: reader.Dockerfile) -> Fact[Entrypoint | None]:
    for stage in _chain(read):
        for each in reversed(stage.instructions):
            if each.keyword == "ENTRYPOINT":
                listed = each.listed()
                words = None if listed is None else tuple(listed)
                return Fact(Entrypoint(each.text, words), f"{name}:{each.line}")
    return Fact(None, name)


def _copied(name: str, read: reader.Dockerfile) -> Iterator[Copy]:
    for index in _indices(read, len(read.stages) - 1):
        for each in read.stages[index].instructions:
            if each.keyword == "COPY" and "from" in each.flags:
                *sources, target = each.words() or [""]
                images = tuple(sorted({*_sources(read, each.flags["from"], index)} - {""}))
                yield from (Copy(source, target, images, f"{name}:{each.line}") for source in sources)


def _sources(read: reader.Dockerfile, name: str, before: int) -> Iterator[str]:
    """Return the images that what is copied from this image or stage may come from, by name or by argument."""
    waiting, seen = [(name, before)], set[int]()
    while waiting:
        name, before = waiting.pop()
        index = read.stage(name, before)
        if index is None:
            yield name
        elif index not in seen:
            seen.add(index)
            stage = read.stages[index]
            # The default of an argument is what a build starts from unless it is told otherwise.
            if "$" in stage.written:
                yield stage.written
            waiting += [(stage.base, index), *((each.flags.get("from", ""), index) for each in stage.instructions)]
