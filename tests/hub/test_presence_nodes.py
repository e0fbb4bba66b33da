"""Who views a session at several nodes: each says what changed at it, and no more."""

import asyncio
import json
from collections.abc import Callable

import pytest
from tests.hub.running_hub import until

from bascule.hub.feed import presence as presence_module
from bascule.hub.feed.presence import SessionPresence

pytestmark = [pytest.mark.anyio, pytest.mark.row("X11")]


class Page:
    def __init__(self) -> None:
        self.told: list[dict[str, object]] = []

    def tell(self, message: bytes) -> None:
        self.told.append(json.loads(message))


def joined(monkeypatch: pytest.MonkeyPatch) -> tuple[SessionPresence, SessionPresence, list[str]]:
    """Two nodes that hear each other at once, and who said something."""
    monkeypatch.setattr(presence_module, "EVERY_SECONDS", 0.0)
    steady = asyncio.get_running_loop().time
    a, b = SessionPresence(steady), SessionPresence(steady)
    said: list[str] = []

    def to(name: str, other: SessionPresence) -> Callable[[str, list[str], list[str]], None]:
        def send(session_id: str, viewers: list[str], typing: list[str]) -> None:
            said.append(name)
            other.elsewhere(name, session_id, tuple(viewers), tuple(typing))

        return send

    a.send_to_others, b.send_to_others = to("a", b), to("b", a)
    return a, b, said


async def test_two_nodes_with_viewers_of_one_session_do_not_repeat_each_others_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b, said = joined(monkeypatch)
    ana, ben = Page(), Page()
    a.enter("s1", ana, "ana")
    b.enter("s1", ben, "ben")
    a.say_again()  # what was said before the other one had viewers
    b.say_again()
    for page in (ana, ben):
        await until(lambda page=page: bool(page.told) and page.told[-1]["viewers"] == ["ana", "ben"])
    before = len(said)
    for _ in range(200):
        await asyncio.sleep(0)
    assert len(said) == before <= 6
    a.types("s1", "ana", typing=True)
    await until(lambda: ben.told[-1]["typing"] == ["ana"])
    a.leave("s1", ana)
    await until(lambda: ben.told[-1]["viewers"] == ["ben"])
    b.leave("s1", ben)
