"""How Codex's threads are listed: page by page, bounded, whatever it answers."""

from typing import Any

import pytest
from tests.drivers.playing import encode_line, messages_of
from tests.drivers.test_codex_driver import LAUNCH, line, opened, sent_by

from bascule.drivers.base import DriverLaunch
from bascule.drivers.codex import CodexDriver
from bascule.drivers.codex.conversation_list import MAX_PAGES, PAGE
from bascule.drivers.conversation_list import MAX_LISTED, Listing
from bascule.model.conversations import Conversation


def asked(driver: CodexDriver) -> dict[str, Any]:
    (sent,) = sent_by(driver.list_conversations("list:1"))
    return sent


def hear(driver: CodexDriver, sent: dict[str, Any], **answer: Any) -> list[dict[str, Any]]:
    """An answer, and what the driver asks for next."""
    assert driver.receive(line(id=sent["id"], **answer)) == []
    return sent_by(*driver.data_to_send())


def threads(*ids: str) -> list[dict[str, Any]]:
    return [{"id": one, "preview": "hello"} for one in ids]


def recorded() -> list[dict[str, Any]]:
    return [
        said
        for _, said in messages_of("codex", "app_server_list")
        if "error" in said or ("nextCursor" in said.get("result", {}) and "readStates" in said["result"])
    ]


def test_what_was_recorded_becomes_one_list_of_the_folder_newest_first() -> None:
    first, second, _ = recorded()
    driver = opened()
    sent = asked(driver)
    assert sent["method"] == "thread/list"
    assert sent["params"] == {
        "cwd": LAUNCH.cwd,
        "limit": PAGE,
        "sortKey": "updated_at",
        "sourceKinds": ["cli", "vscode", "exec", "appServer"],
        "modelProviders": [],
    }
    assert driver.receive(encode_line({**first, "id": sent["id"]})) == []
    assert driver.take_listing() is None
    (more,) = sent_by(*driver.data_to_send())
    assert more["params"] == {**sent["params"], "cursor": first["result"]["nextCursor"]}
    assert driver.receive(encode_line({**second, "id": more["id"]})) == []
    assert driver.owes, "whoever waits must be woken"
    listing = driver.take_listing()
    assert listing is not None
    assert [(one.title, one.cwd) for one in listing.conversations] == [
        ("::text Third, here.", "/home/dev/project"),
        ("::text Second, by exec.", "/home/dev/project"),
        ("::text First, by exec.", "/home/dev/project"),
    ]
    assert listing.conversations[2].updated_at == "2026-11-16T08:49:01.000Z"
    assert (listing.more, listing.problem) == (False, "")
    assert driver.take_listing() is None
    assert not driver.owes


def test_a_refusal_is_told_in_its_words() -> None:
    *_, refusal = recorded()
    driver = opened()
    hear(driver, asked(driver), error=refusal["error"])
    assert driver.take_listing() == Listing(problem="invalid cursor: nonsense")


def test_a_refused_later_page_leaves_what_came_before() -> None:
    driver = opened()
    (more,) = hear(driver, asked(driver), result={"data": threads("a"), "nextCursor": "x"})
    hear(driver, more, error={"code": -32600, "message": "invalid cursor: x"})
    assert driver.take_listing() == Listing((Conversation("a", "hello"),), more=True)


def test_one_that_comes_twice_is_listed_once() -> None:
    driver = opened()
    (more,) = hear(driver, asked(driver), result={"data": threads("a", "b"), "nextCursor": "x"})
    assert hear(driver, more, result={"data": threads("b", "c")}) == []
    listing = driver.take_listing()
    assert listing is not None
    assert [one.id for one in listing.conversations] == ["a", "b", "c"]


@pytest.mark.parametrize("cursor", ["same", "", "x" * 5000])
def test_a_cursor_that_leads_nowhere_ends_the_list(cursor: str) -> None:
    driver = opened()
    sent = asked(driver)
    for _ in range(2):
        after = hear(driver, sent, result={"data": threads("a"), "nextCursor": cursor})
        if not after:
            break
        (sent,) = after
    assert driver.take_listing() == Listing((Conversation("a", "hello"),), more=True)


def test_pages_without_end_are_ended() -> None:
    driver = opened()
    after, pages = [asked(driver)], 0
    while after:
        pages += 1
        after = hear(driver, after[0], result={"data": [], "nextCursor": f"page {pages}"})
    assert pages == MAX_PAGES
    assert driver.take_listing() == Listing(more=True)


def test_no_more_are_gathered_than_are_listed() -> None:
    driver = opened()
    many = threads(*(f"t{n}" for n in range(MAX_LISTED + 1)))
    assert hear(driver, asked(driver), result={"data": many, "nextCursor": None}) == []
    listing = driver.take_listing()
    assert listing is not None
    assert (len(listing.conversations), listing.more) == (MAX_LISTED, True)


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"result": None},
        {"result": []},
        {"result": {"data": "none", "nextCursor": 7}},
        {"result": {"data": [None, 1, {}, {"id": 7}, {"id": ""}, {"id": "x" * 300}]}},
        {"result": {"data": [{"id": "gone", "ephemeral": True}]}},
    ],
)
def test_an_answer_of_the_wrong_shape_is_an_empty_list(answer: dict[str, Any]) -> None:
    driver = opened()
    assert hear(driver, asked(driver), **answer) == []
    assert driver.take_listing() == Listing()


@pytest.mark.parametrize("moment", [None, "now", -1, 1e300, 2**53 - 1, True])
def test_a_moment_that_is_none_is_left_out(moment: object) -> None:
    driver = opened()
    one = {"id": "a", "name": " two\n words ", "cwd": 3, "updatedAt": moment}
    hear(driver, asked(driver), result={"data": [one]})
    assert driver.take_listing() == Listing((Conversation("a", "two words"),))


def test_a_driver_taken_up_again_forgets_who_asked() -> None:
    driver = opened()
    sent = asked(driver)
    driver = CodexDriver.restore(driver.state())
    assert hear(driver, sent, result={"data": threads("a"), "nextCursor": "x"}) == []
    assert driver.take_listing() is None
    again = asked(driver)
    assert hear(driver, again, result={"data": threads("b")}) == []
    assert driver.take_listing() == Listing((Conversation("b", "hello"),))


def test_it_lists_only_once_its_thread_is_open() -> None:
    driver = CodexDriver(DriverLaunch("/p", "r"))
    driver.start()
    assert not driver.lists
    assert opened().lists
