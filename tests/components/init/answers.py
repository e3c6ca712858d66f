"""Answers that people could give, for tests of what comes of them."""

from typing import Any

from hypothesis import strategies as st

from components.platform import sdk
from components.platform.containers import INSTANCE_TYPES
from components.platform.storage import STORES

PACKAGE = "pulumi-cloudflare-sandbox==0.1.0"
PACKAGES = {
    "apt": ["jq=1.6-2.1ubuntu3", "ripgrep=13.0.0-2ubuntu0.1"],
    "pip": ["polars==1.31.0", "uvicorn[standard]==0.30.0"],
    "npm": ["tsx@4.20.3", "@types/node@24.10.1"],
}
NAMES = st.from_regex(r"\A[a-z][a-z0-9-]{0,30}[a-z0-9]\Z").filter(lambda name: name not in {"cloudflare", "docker"})


@st.composite
def given_answers(draw: Any) -> dict[str, Any]:
    """Draw what options could say, all of it right."""
    found: dict[str, Any] = {
        "name": draw(NAMES),
        "stack": draw(st.from_regex(r"\A[A-Za-z0-9_-]{1,100}\Z")),
        "environment": draw(st.sampled_from(["throw-away", "lasting"])),
        "worker": draw(st.sampled_from(["ours", "own"])),
        "variant": draw(st.sampled_from(sdk.available(sdk.SDK_VERSION))),
        "dockerfile": draw(st.booleans()),
        "instance_type": draw(st.sampled_from([*INSTANCE_TYPES])),
        "max_instances": draw(st.integers(1, 300)),
        "storage": tuple(draw(st.lists(st.sampled_from(STORES), unique=True))),
        "pipeline": draw(st.sampled_from(["none", "github", "gitlab"])),
        "devcontainer": draw(st.booleans()),
    }
    variant = sdk.VARIANTS[found["variant"]]
    managers = {"apt": variant.debian, "pip": variant.python, "npm": variant.node}
    for manager in (name for name, there in managers.items() if there):
        found[manager] = tuple(draw(st.lists(st.sampled_from(PACKAGES[manager]), unique=True)))
    if draw(st.booleans()):
        found |= draw(st.sampled_from([{"hostname": "previews.example"}, *_BELOW_A_ZONE]))
        if draw(st.booleans()):
            people = st.lists(st.sampled_from(["ada@example.com", "example.org"]), min_size=1, unique=True)
            found |= {"callers": "access", "team": "team.cloudflareaccess.com", "people": tuple(draw(people))}
    return found


_BELOW_A_ZONE: list[dict[str, Any]] = [
    {"hostname": "previews.example.com", "zone": "example.com"},
    {"hostname": "previews.example.com", "zone": "example.com", "api_hostname": "api.example.com"},
]
