"""Answers that wait: on the disk with their audit, one for each request, and the newest outcomes kept."""

import pytest
from msgspec import json
from tests.store.conftest import Opener

from bascule.model.commands import Actor
from bascule.store import answers
from bascule.store.answers import AnswerBook, WaitingAnswer
from bascule.store.base import AuditRecord
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

ANA = Actor("ana", "grant-1", "127.0.0.1", "browser")


def answer(number: int = 1, request: str = "r1") -> WaitingAnswer:
    return WaitingAnswer(f"a{number}", "d", "s", request, "ab", "allow", b"{}", ANA, "t1", expires_at=9.5)


def audited(detail: str) -> AuditRecord:
    return AuditRecord.of(ANA, "permission", "s", detail)


async def details(store: SqliteStore) -> list[str]:
    lines = [json.decode(line)["entry"]["record"] for line in await store.audit_lines()]
    return [one.get("detail", "") for one in lines]


async def test_what_waits_and_what_became_of_it_outlasts_a_restart(open_store: Opener) -> None:
    store = await open_store()
    book = await AnswerBook.open(store)
    await book.add(answer(1), audited("waits"))
    await book.add(answer(2, "r2"), audited("waits"))
    sent = book.note_sent(answer(2, "r2"), "t2")
    await book.settle(sent, "applied", "heard", "t3", audited("arrived"))
    settled = book.get("a2")
    assert settled is not None
    await store.close()
    store = await open_store()
    again = await AnswerBook.open(store)
    assert again.all() == [answer(1), settled]
    assert (settled.sent_at, settled.settled_at, settled.outcome) == ("t2", "t3", "heard")
    assert (again.waiting(), again.find("s", "r1"), again.find("s", "r2")) == ([answer(1)], answer(1), None)
    assert again.get("a2") == settled
    assert await details(store) == ["waits", "waits", "arrived"]


async def test_a_second_answer_to_a_request_is_not_kept_while_one_waits(open_store: Opener) -> None:
    store = await open_store()
    book = await AnswerBook.open(store)
    await book.add(answer(1), audited("waits"))
    with pytest.raises(Exception, match="UNIQUE"):
        await book.add(answer(2), audited("waits"))
    assert book.all() == [answer(1)]
    book.settle(answer(1), "taken_back", "", "t2", audited("taken back"))
    await book.add(answer(3), audited("waits"))
    assert await details(store) == ["waits", "taken back", "waits"]


async def test_the_oldest_outcomes_are_forgotten_and_never_what_waits(
    open_store: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MAX_SETTLED", 2)
    store = await open_store()
    book = await AnswerBook.open(store)
    for number in range(5):
        await book.add(answer(number, f"r{number}"), audited("waits"))
    for number in range(1, 5):
        book.settle(answer(number, f"r{number}"), "expired", "", "t2", audited("expired"))
    await store.close()
    again = await AnswerBook.open(await open_store())
    assert [one.id for one in again.all()] == ["a0", "a3", "a4"]
