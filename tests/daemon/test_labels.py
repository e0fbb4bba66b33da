"""Labels of processes, while the server stops."""

import asyncio
from typing import Any, cast

import pytest
from tests.waiting import PATIENCE

from bascule.daemon.registry import labels as labels_module
from bascule.daemon.registry.labels import Label, Labelled, Labels, decode_label
from bascule.keeper.about import About
from bascule.model.events import SessionStarted
from bascule.model.lifecycle import Phase
from bascule.model.records import SessionRecord
from bascule.store.base import Committed

pytestmark = pytest.mark.anyio


class Keeper:
    """A keeper that answers when it is let go."""

    def __init__(self) -> None:
        started = SessionStarted("demo", "stream_json", "/", "me")
        self.label_text = Label({"one": Labelled(started), "two": Labelled(started)}).encoded()
        self.asked, self.let_go = asyncio.Event(), asyncio.Event()

    def get(self) -> "Keeper":
        return self

    async def about(self, _: str) -> About:
        self.asked.set()
        await self.let_go.wait()
        return About(label=self.label_text)

    async def label(self, _: str, text: str) -> None:
        self.label_text = text


def ended(keeper: Keeper) -> Labels:
    """Session `one` of a shared process is over, and its label is about to be changed."""
    labels = Labels(cast(Any, keeper), lambda _: None, cast(Any, None))
    labels._done.add(("one", 1))
    record = SessionRecord("one", phase=Phase.ENDED, started_seq=1, process="shared")
    labels.committed(Committed(record, []))
    return labels


async def test_a_label_under_way_is_written_before_the_server_is_gone() -> None:
    keeper = Keeper()
    labels = ended(keeper)
    closing = asyncio.create_task(labels.close())
    await asyncio.wait_for(keeper.asked.wait(), PATIENCE)
    keeper.let_go.set()
    await asyncio.wait_for(closing, PATIENCE)
    assert set(decode_label(keeper.label_text).sessions) == {"two"}


async def test_a_keeper_that_does_not_answer_holds_up_no_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(labels_module, "CLOSING_SECONDS", 0.01)
    keeper = Keeper()
    labels = ended(keeper)
    await asyncio.wait_for(labels.close(), PATIENCE)
    assert set(decode_label(keeper.label_text).sessions) == {"one", "two"}
