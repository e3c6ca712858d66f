"""Judges a Dockerfile of one's own by what the Sandbox SDK demands of an image; every finding has its remedy."""

from collections.abc import Iterator
from dataclasses import dataclass

from ..platform import references, sdk
from .dockerfile_reader import Dockerfile, Instruction, Stage, read

_PLATFORM = "linux/amd64"
_PLATFORM_VARIABLES = ("$TARGETPLATFORM", "${TARGETPLATFORM}")


def findings(text: str, version: str, generation: sdk.Generation) -> list[str]:
    """Say what is wrong with a Dockerfile for this version of the SDK."""
    dockerfile = read(text)
    if not dockerfile.stages:
        return ["the Dockerfile has no FROM; begin it with the image to build on"]
    judge = _Judge(dockerfile, version, generation)
    return [*judge.platforms(), *judge.versions(), *(judge.helper() if generation == "1.x" else judge.server())]


@dataclass(frozen=True)
class _Judge:
    dockerfile: Dockerfile
    version: str
    generation: sdk.Generation

    def chain(self) -> list[Stage]:
        """Give the stages the image is made of, the last one first; the last of these begins with an image."""
        stages = self.dockerfile.stages
        index: int | None = len(stages) - 1
        found = []
        while index is not None:
            found.append(stages[index])
            index = self.dockerfile.stage(stages[index].base, index)
        return found

    def platforms(self) -> Iterator[str]:
        """Find stages of the image for another platform."""
        for stage in self.chain():
            if stage.platform not in ("", _PLATFORM, *_PLATFORM_VARIABLES):
                what = f"FROM is for {stage.platform}, but Cloudflare runs {_PLATFORM}"
                yield f"line {stage.line}: {what}; remove --platform"

    def versions(self) -> Iterator[str]:
        """Find official images that are not the SDK's version, or not named in full."""
        for line, name in self._images():
            yield from (f"line {line}: {text}" for text in self._wrong(name))

    def _images(self) -> Iterator[tuple[int, str]]:
        """Give the official images that are built on or copied from."""
        for index, stage in enumerate(self.dockerfile.stages):
            if self.dockerfile.stage(stage.base, index) is None and _is_official(stage.base):
                yield stage.line, stage.base
            for each in stage.instructions:
                source = each.flags.get("from", "")
                if self.dockerfile.stage(source, index) is None and _is_official(source):
                    yield each.line, source

    def _wrong(self, name: str) -> Iterator[str]:
        wanted = f"{sdk.IMAGE}:{self.version}"
        found = references.parse(name)
        if found is None:
            yield f"{name} depends on an argument without a default; write {wanted}"
            return
        if found.host != "docker.io":
            yield f"{name} is not named in full; write {wanted}"
        if not found.tag:
            yield f"{name} has no version; write {wanted}, with a digest behind it if you like"
            return
        version, variant = sdk.split_tag(found.tag)
        if version != self.version:
            yield (
                f"{name} is not the version of @cloudflare/sandbox that the Worker has ({self.version}); write {wanted}"
            )
        elif self.generation == "1.x" and variant != "default":
            yield f"SDK 1.x has no image variants; write {wanted}"
        elif problem := sdk.variant_problem(version, variant) if self.generation == "0.12" else "":
            yield problem

    def server(self) -> Iterator[str]:
        """Check an image for 0.x: the server is in it and is its entry point."""
        chain = self.chain()
        entry = next((each for stage in chain for each in reversed(stage.instructions) if _is_entry(each)), None)
        if _is_official(chain[-1].base):
            if entry and entry.words() != [sdk.SERVER]:
                yield f"line {entry.line}: ENTRYPOINT takes the place of the sandbox server; use CMD instead"
            if self._variable() not in (None, self.version):
                yield f"ENV {sdk.VERSION_VARIABLE} hides the version that the sandbox server has; remove it"
            return
        copied = next((each for each in self._copies() if sdk.SERVER in each.words()[0]), None)
        if copied is None:
            yield (
                f"the image has no sandbox server; begin it with FROM {sdk.IMAGE}:{self.version}, or add "
                f"COPY --from={sdk.IMAGE}:{self.version} {sdk.SERVER} {sdk.SERVER}"
            )
            return
        target = copied.words()[-1]
        target = f"{target}sandbox" if target.endswith("/") else target
        if entry is None or entry.listed() is None or entry.words()[:1] != [target]:
            yield f'line {copied.line}: the sandbox server is not started; add ENTRYPOINT ["{target}"]'
        if self._variable() != self.version:
            yield (
                f"line {copied.line}: a copied server does not know its version; add "
                f"ENV {sdk.VERSION_VARIABLE}={self.version}"
            )

    def helper(self) -> Iterator[str]:
        """Check an image for 1.x: it is no image of the SDK, and the helper is in it."""
        base = self.chain()[-1]
        if _is_official(base.base):
            yield (
                f"line {base.line}: {sdk.IMAGE} of SDK 1.x only carries the helper and cannot run; begin with an image "
                "of your own"
            )
        if not any(each.words()[-1] in (sdk.SHIM, sdk.SHIM.rpartition("/")[0] + "/") for each in self._copies()):
            yield (
                f"the image has no helper of SDK 1.x; add COPY --from={sdk.IMAGE}:{self.version} {sdk.SHIM} {sdk.SHIM}"
            )

    def _copies(self) -> Iterator[Instruction]:
        """Give the copies into the image that come from an official image, also by way of a stage."""
        stages = self.dockerfile.stages
        for stage in self.chain():
            position = stages.index(stage)
            for each in stage.instructions:
                source = each.flags.get("from", "")
                index = self.dockerfile.stage(source, position)
                if (
                    each.keyword == "COPY"
                    and len(each.words()) > 1
                    and _is_official(source if index is None else stages[index].base)
                ):
                    yield each

    def _variable(self) -> str | None:
        for stage in self.chain():
            for each in reversed(stage.instructions):
                words = each.words() if each.keyword == "ENV" else []
                if words[:1] == [sdk.VERSION_VARIABLE] and len(words) == 2:
                    return words[1]
                for word in words:
                    name, equals, value = word.partition("=")
                    if equals and name == sdk.VERSION_VARIABLE:
                        return value
        return None


def _is_entry(each: Instruction) -> bool:
    return each.keyword == "ENTRYPOINT"


def _is_official(name: str) -> bool:
    path = name.partition("@")[0]
    return path.partition(":")[0].removeprefix("index.").removeprefix("docker.io/") == sdk.REPOSITORY
