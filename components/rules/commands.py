"""Rules about commands and addresses that a Worker gives to sandboxes, as far as their text can be followed."""

import re
from collections.abc import Iterator
from typing import Final

from ..facts.stack import HOLE, Call, Source, Stack
from .features import calls_of_0
from .finding import Hit, advisory, hit

_API = "/sandbox/sdk/api/"
_SECURITY = "/sandbox/sdk/concepts/security/"
_COMMANDS: Final = ("exec", "execStream", "startProcess")
_TOLERANT: Final = re.compile(r"(?:\|\||;)\s*(?::|true|exit 0|echo\b[^|;&]*)[\s)\"'}]*")
"""How a command ends that has dealt with its failure itself."""
_PING: Final = re.compile(
    r"(?:true|:|pwd|date|uptime|whoami|hostname|id|[\w./-]+ (?:--version|-v|-V)|(?:echo|sleep|p?kill|killall)\b[^;&|>]*"
    r"|rm\s+-\w*f\w*\s[^;&|>]*)(?:\s|[12]?>\s*/dev/null|2>&1)*"
)
"""Commands that only wake the sandbox or clear away what may not be there."""
_CREDENTIALS: Final = re.compile(
    rf"https?://[^/\s@'\"]*(?:{HOLE}|\$\{{?\w|:[^/\s@'\"$]{{8}}|gh[opsu]_|github_pat_)[^/\s@'\"]*@"
)


def _call(name: str, *text: str, interpolated: bool = False, dropped: bool = False) -> Stack:
    call = Call(name, "src/index.ts:7", text=text, interpolated=interpolated, dropped=dropped)
    return Stack(source=Source(calls=(call,), uses=()))


@advisory(
    "code/exec-injection",
    "Values are not spliced into commands",
    why="The string goes to bash as it is: a value from outside can run any command. Running it through the code "
    "interpreter is no defence.",
    remedy="Pass values by `env` and quote them in the command, or write them to a file; allow only known values.",
    link=_SECURITY,
    good=[_call("exec", "ls"), _call("writeFile", interpolated=True)],
    bad=[_call(name, f"cat {HOLE}", interpolated=True) for name in _COMMANDS],
)
def exec_injection(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, *_COMMANDS):
        if call.interpolated:
            yield hit(call.where, f"{call.name} runs a string put together from values")


def _decides_nothing(call: Call) -> bool:
    """Say whether whatever the command may be, its exit code tells nothing that one would act on."""
    ends = (_TOLERANT.search(each) for each in call.text)
    tolerant = all(found and not each[found.end() :] for found, each in zip(ends, call.text, strict=True))
    return bool(call.text) and (tolerant or all(_PING.fullmatch(each.strip()) for each in call.text))


@advisory(
    "code/exit-code",
    "Exit codes are looked at",
    why="A command that fails does not throw: its exit code is in the result, which is thrown away here.",
    remedy="Keep the result and stop when `success` is false; a command that may fail ends with `|| true`.",
    link=_API,
    good=[
        _call("exec", "ls"),
        _call("writeFile", "a", dropped=True),
        _call("exec", "git fetch || true", dropped=True),
        _call("exec", "rm -rf /tmp/build", dropped=True),
        _call("exec", "echo ready", dropped=True),
    ],
    bad=[
        _call("exec", "npm install", dropped=True),
        _call("exec", dropped=True),
        _call("exec", "true", "npm install", dropped=True),
        _call("exec", "echo a && npm install", dropped=True),
        _call("exec", "true; npm install", dropped=True),
    ],
)
def exit_code(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, "exec"):
        if call.dropped and not _decides_nothing(call):
            yield hit(call.where, "the result of exec is thrown away")


@advisory(
    "code/token-in-address",
    "No token is part of an address",
    why="git keeps the address in .git/config, and processes and errors show it: every command that runs in the "
    "sandbox, and every backup of it, has the token.",
    remedy="Let the Worker add the header on the way out (outboundByHost), or give git a short-lived token through a "
    "credential helper that reads it from `env`.",
    link=_SECURITY,
    good=[
        _call("gitCheckout", f"https://github.com/{HOLE}.git"),
        _call("exec", "git clone git@github.com:a/b"),
        _call("exec", f"curl https://{HOLE}/a@b"),
        _call("writeFile", f"https://x:{HOLE}@github.com/a/b"),
    ],
    bad=[
        _call("gitCheckout", f"https://x-access-token:{HOLE}@github.com/a/b"),
        _call("exec", f"git clone https://{HOLE}@github.com/{HOLE}"),
        _call("startProcess", "git clone https://x:$TOKEN@github.com/a/b"),
        _call("execStream", "git clone https://me:hunter2hunter2@github.com/a/b"),
    ],
    also=["code/files-vanish"],
)
def token_in_address(stack: Stack) -> Iterator[Hit]:
    for call in calls_of_0(stack, "gitCheckout", *_COMMANDS):
        if any(_CREDENTIALS.search(each) for each in call.text):
            yield hit(call.where, f"{call.name} gets an address with a token in it")
