"""Images for the examples of rules: by reference, and by the stages of a Dockerfile."""

from ..facts.stack import Container, Dockerfile, Fact, Image, Stack, Stage

DIGEST = f"@sha256:{'a' * 64}"


def referring(reference: str, **more: object) -> Stack:
    """Make an image that is named."""
    return Stack(containers=(Container.of(image=Image.of(reference=reference), **more),))


def starting(base: str, *, platform: str | None = None, **more: object) -> Stack:
    """Make an image by a Dockerfile of one stage."""
    return staged(Stage.of("Dockerfile:2", base=base, platform=platform), **more)


def staged(*stages: Stage, **more: object) -> Stack:
    """Make an image by a Dockerfile of these stages."""
    return Stack(containers=(Container(image=Image(dockerfile=Dockerfile.of("Dockerfile", stages=stages, **more))),))


def beside(base: str, platform: str | None = None, **more: object) -> Stack:
    """Make an image on Debian with a stage before it that is only copied from."""
    told = Fact(platform, "Dockerfile:1") if platform else None
    spare = Stage(Fact(base, "Dockerfile:1"), told, "Dockerfile:1", built=False)
    return staged(spare, Stage.of("Dockerfile:2", base="docker.io/library/debian:12"), **more)
