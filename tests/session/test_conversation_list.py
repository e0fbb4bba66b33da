"""A live agent asked for its conversations: once for all who ask together, again after a silence."""

import asyncio
import json

import pytest

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.drivers.conversation_list import Listing
from bascule.drivers.plain import PlainDriver
from bascule.model.conversations import Conversation
from bascule.model.errors import AgentFailed, NotSupported
from bascule.model.records import Write
from bascule.session import conversation_list
from bascule.session.conversation_list import ConversationList

pytestmark = pytest.mark.anyio


class Asked:
    """The asking side, with a driver whose agent answers when it is told to."""

    def __init__(self) -> None:
        self.driver = CodexDriver(DriverLaunch("/home/dev/project", "r"))
        self.driver.start()
        self.writes: list[Write] = []
        self.conversations = ConversationList(self.driver, self.writes.append)

    def answer(self, number: int, *ids: str) -> None:
        request = json.loads(self.writes[number].data)["id"]
        data = [{"id": one} for one in ids]
        self.driver.receive(json.dumps({"id": request, "result": {"data": data}}).encode() + b"\n")
        self.conversations.look()


async def test_those_who_ask_together_are_told_the_same_and_the_agent_is_asked_once() -> None:
    asked = Asked()
    waiting = [asyncio.create_task(asked.conversations.list(f"list:{n}")) for n in range(3)]
    await asyncio.sleep(0)
    asked.answer(0, "a")
    assert await asyncio.gather(*waiting) == [Listing((Conversation("a"),))] * 3
    assert [one.write_id for one in asked.writes] == ["list:0"]


async def test_after_a_silence_the_agent_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked()
    monkeypatch.setattr(conversation_list, "LIST_SECONDS", 0.01)
    with pytest.raises(AgentFailed):
        await asked.conversations.list("list:0")
    monkeypatch.setattr(conversation_list, "LIST_SECONDS", 20.0)
    waiting = asyncio.create_task(asked.conversations.list("list:1"))
    await asyncio.sleep(0)
    assert [one.write_id for one in asked.writes] == ["list:0", "list:1"]
    asked.answer(1, "b")
    assert await waiting == Listing((Conversation("b"),))


async def test_an_agent_whose_protocol_has_no_word_for_it_lists_nothing() -> None:
    writes: list[Write] = []
    conversations = ConversationList(PlainDriver(DriverLaunch()), writes.append)
    assert not conversations.can_be_listed
    conversations.look()
    with pytest.raises(NotSupported):
        await conversations.list("list:0")
    assert writes == []
