"""From an account to facts about a stack that is to be deployed to it: the one reader for doctor, check and the pack.

It reads; the only other request is for credentials that can pull, where an image of the account's registry is looked
at. What it could not see it says, with the reason: the rules judge what is known.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import Final, TypeVar

from ..facts.stack import Account as AccountFacts
from ..facts.stack import Fact, Image, Live, Stack, Token, Zone
from ..platform import permissions
from ..platform.containers import Size
from ..platform.sdk import bundled_version
from ..platform.sdk_support import exact, official_tag
from ..provider.errors import ProviderError, Refusal
from ..provider.worker_script.reader import ScriptReader
from . import images
from .question import Question
from .reader import Account
from .token import verified, why, with_permissions

T = TypeVar("T")

_MB: Final = 1_000_000


@dataclass(frozen=True)
class Told:
    """What an account told."""

    token: Token
    account: AccountFacts = field(default_factory=AccountFacts)
    live: Live = field(default_factory=Live)
    sizes: Mapping[str, Fact[int]] = field(default_factory=dict)
    """Megabytes of the layers of images, compressed, by the class that runs or is to run them."""
    deployed: bool | None = None
    """Whether the Worker is there already; None if that was not told."""
    unseen: Mapping[str, str] = field(default_factory=dict)
    """What could not be seen, each with the reason: permissions by their labels, `live`, `limits` and such."""

    def onto(self, stack: Stack) -> Stack:
        """Return a stack with what the account says of it."""
        containers = tuple(
            replace(each, image=replace(each.image or Image(size.where), size_mb=size))
            if each.class_name and (size := self.sizes.get(str(each.class_name.value)))
            else each
            for each in stack.containers or ()
        )
        return replace(
            stack,
            token=self.token,
            account=self.account,
            live=self.live,
            containers=containers if stack.containers is not None else None,
        )


class _Asking:
    """One round of questions; what is refused is kept with the reason."""

    def __init__(self, account: Account, asked: Question) -> None:
        self._account, self._asked = account, asked
        self._client = account.client
        self._path = f"/accounts/{account.account_id}"
        self.unseen: dict[str, str] = {}

    def told(self, now: Callable[[], float]) -> Told:
        token = verified(self._client, self._account.account_id)
        if not token.usable:
            return Told(token.facts(self._asked.needs))
        ahead = self._seen("clock", lambda: self._ahead(now))
        zones = dict(self._zones())
        ids = {name: zone_id for name, (zone_id, _) in zones.items()}
        facts, unseen = with_permissions(self._client, self._account.account_id, token, self._asked.needs, ids)
        self.unseen |= unseen
        may, limits = self._containers(facts)
        certified, may_order = self._certificates(ids)
        account = AccountFacts(
            clock_ahead=Fact(ahead, "here") if ahead is not None else None,
            containers=Fact(may, "account") if may is not None else None,
            limits=Fact(limits, "account") if limits else None,
            zones=tuple(zone for _, zone in zones.values()),
            certified=Fact(certified, self._asked.certified_zone) if certified is not None else None,
            may_order=Fact(may_order, self._asked.certified_zone) if may_order is not None else None,
            hosts=self._asked.hosts,
        )
        deployed = self._seen("live", lambda: self._reader.service() is not None)
        images = self._seen("live", self._images) or {}
        live = Live(worker_version=self._seen("live", self._worker_version) if deployed else None)
        return self._with_images(Told(facts, account, live, deployed=deployed, unseen=self.unseen), images)

    @property
    def _reader(self) -> ScriptReader:
        return ScriptReader(self._client, {"accountId": self._account.account_id, "scriptName": self._asked.script})

    def _seen(self, subject: str, ask: Callable[[], T]) -> T | None:
        """Ask; None for what is refused, which is told as not seen."""
        try:
            return ask()
        except Refusal as refusal:
            self.unseen.setdefault(subject, why(refusal))
            return None

    def _ahead(self, now: Callable[[], float]) -> int:
        """Return by how many seconds the clock here is surely ahead of the API's, or behind it."""
        before = now()
        there = parsedate_to_datetime(self._client.download("/accounts").headers["date"]).timestamp()
        after = now()
        # The header was written while the request was under way, and leaves out parts of a second.
        return round(max(0.0, before - there - 1)) or round(min(0.0, after - there))

    def _zones(self) -> Iterator[tuple[str, tuple[str | None, Zone]]]:
        for name, known in self._asked.zones.items():
            try:
                query = {"name": name, "account.id": self._account.account_id}
                found = [self._client.get(f"/zones/{known}")] if known else self._client.get("/zones", **query)
            except Refusal as refusal:
                self.unseen[f"zone {name}"] = why(refusal)
                yield name, (known, Zone.of(name, name=name))
                continue
            zone_id, status = (found[0]["id"], found[0]["status"]) if found else (None, None)
            yield name, (zone_id, Zone.of(name, name=name, status=Fact(status, name)))

    def _containers(self, token: Token) -> tuple[bool | None, Size | None]:
        """Say whether the account may run containers, and how many."""
        try:
            said = self._client.get(f"{self._path}/containers/me")["limits"]
        except Refusal as refusal:
            holds = token.permissions and permissions.allows(token.permissions.value, permissions.CONTAINERS.name)
            if refusal.status == 403 and holds:
                return False, None
            self.unseen["containers"] = self.unseen["limits"] = why(refusal)
            return None, None
        return True, Size(float(said["total_vcpu"]), int(said["total_memory_mib"]), int(said["total_disk_mb"]))

    def _certificates(self, ids: Mapping[str, str | None]) -> tuple[tuple[str, ...] | None, bool | None]:
        """Return the hosts of active certificates, and whether what is missing can be ordered."""
        zone_id = ids.get(self._asked.certified_zone)
        if zone_id is None:
            return None, None
        path = f"/zones/{zone_id}/ssl/certificate_packs"
        packs = self._seen("certificate", lambda: self._client.get(path))
        certified = None if packs is None else tuple(host for each in packs for host in each["hosts"])
        if not self._asked.orders:
            return certified, False
        quota = self._seen("certificate", lambda: self._client.get(f"{path}/quota"))
        return certified, None if quota is None else int((quota.get("advanced") or {}).get("allocated", 0)) > 0

    def _images(self) -> dict[str, str]:
        """Return the images that the live applications of the Worker run, by class."""
        return {
            owner["class"]: str((each.get("configuration") or {}).get("image", ""))
            for owner, each in self._account.applications()
            if owner["script"] == self._asked.script
        }

    def _worker_version(self) -> Fact[str] | None:
        _, modules = self._reader.download()
        found = {version for _, content in modules.values() if (version := bundled_version(content))}
        # Of two it cannot be told which one serves.
        return Fact(found.pop(), f"Worker {self._asked.script}") if len(found) == 1 else None

    def _with_images(self, told: Told, running: Mapping[str, str]) -> Told:
        """Add what the registry says of the images that run, or are to run."""
        sizes: dict[str, Fact[int]] = {}
        version = None
        for name in {*running, *self._asked.images}:
            live = running.get(name, "")
            wanted = self._asked.images.get(name) or live
            looked = {image: self._look(image) for image in {live, wanted} if image}
            size, _ = looked.get(wanted, (None, None))
            if size is not None and name in self._asked.images:
                sizes[name] = Fact(size, wanted)
            _, here = looked.get(live, (None, None))
            version = version or (Fact(here, live) if here else None)
        return replace(told, sizes=sizes, live=replace(told.live, image_version=version))

    def _look(self, image: str) -> tuple[int | None, str | None]:
        """Return megabytes and SDK version of an image, as far as they can be told."""
        tag = official_tag(image)
        own = images.own(self._client, self._account.account_id, image)
        if own is None:
            return None, str(tag.version) if tag else None
        try:
            found = images.look(self._client, self._account.account_id, own)
        except ProviderError as error:
            self.unseen[f"image {image}"] = str(error)
            return None, None
        if found is None:
            self.unseen[f"image {own.path}"] = f"the registry has no {own.digest or own.tag} that Cloudflare runs"
            return None, None
        return found.size // _MB, found.sdk_version if exact(found.sdk_version) else None


def ask(account: Account, asked: Question, now: Callable[[], float] = time.time) -> Told:
    """Return what an account says about a stack."""
    return _Asking(account, asked).told(now)
