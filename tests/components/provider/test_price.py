"""What a preview says of money when size or number of instances change; nothing where neither does."""

from typing import Any

import pytest

from components.platform.containers import MANAGED
from components.provider.container_application.lifecycle.price import remark
from components.pulumi_protocol.values import UNKNOWN

LITE = {"instanceType": "lite", "maxInstances": 3}
SIZE = {"size": {"vcpu": 1, "memoryMib": 4096, "diskMb": 5000}, "maxInstances": 2}


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ({**LITE, "maxInstances": 4.0}, "3 x lite cost at most $15.67 a month, 4 x lite at most $20.89: a difference"),
        ({**LITE, "maxInstances": 1}, "1 x lite at most $5.22: a difference of -$10.45 (all instances at full load"),
        ({"instanceType": "basic", "maxInstances": 3}, "3 x basic at most $60.50: a difference of +$44.83"),
        (SIZE, "2 x (1 vCPU, 4096 MiB, 5000 MB) at most $157.33"),
        ({"instanceType": "standard", "maxInstances": 3}, "3 x standard-1 at most $159.87"),
        ({"instanceType": "lite"}, "20 x lite at most $104.46"),
    ],
)  # fmt: skip
def test_a_change_is_priced(new: dict[str, Any], words: str):
    assert words in remark(LITE, new)


@pytest.mark.parametrize(
    "new",
    [
        LITE,
        {**LITE, "image": "another"},
        {**LITE, "maxInstances": UNKNOWN},
        {"maxInstances": 3, "size": UNKNOWN},
        {"maxInstances": 3, "size": {**SIZE["size"], "vcpu": UNKNOWN}},  # type: ignore[dict-item]
        {"maxInstances": 3, "instanceType": "unheard-of"},
        {"schedulingPolicy": MANAGED},
    ],
)
def test_what_is_the_same_or_not_known_is_not(new: dict[str, Any]):
    assert remark(LITE, new) == ""
