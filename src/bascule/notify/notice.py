"""A notice: what a person learns outside the page, in the words each channel may use."""

from typing import NamedTuple

from msgspec import Struct

from bascule.model.notices import NoticeKind as Kind

MAX_TITLE = 120
MAX_BODY = 240
MAX_DETAIL = 600


class Place(NamedTuple):
    """A project's folder on a machine."""

    device: str
    project: str


class Notice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One with the same `tag` replaces the one before. `detail` is a command or a question of the agent: only
    channels that may show commands get it."""

    tag: str
    kind: Kind
    title: str
    body: str
    at: str
    settled: bool = False  # it was answered, or is over: a channel that shows the one before removes it
    detail: str = ""
    session_id: str = ""
    request_id: str = ""  # or the id of what a guard rail asks
    input_sha256: str = ""  # of a permission request: a no is bound to exactly this
    project: str = ""
    device: str = ""  # the machine that has the project
    of: tuple[Place, ...] = ()  # where that is which it stands for, of one that stands for several
    path: str = "/"  # the place in the page to open

    @property
    def places(self) -> tuple[Place, ...]:
        return self.of or (Place(self.device, self.project),)

    @property
    def asks(self) -> bool:
        """Something waits for a person's answer."""
        return self.kind in ("approval", "question") or bool(self.request_id)

    @property
    def may_deny(self) -> bool:
        return self.kind == "approval" and not self.settled and bool(self.request_id)


def cut(text: str, longest: int) -> str:
    """On one line, and no longer than that."""
    flat = " ".join(text.split())
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"
