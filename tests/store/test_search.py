"""Finding words again: what is found, what typed signs can't do, and what a broken index can't stop."""

import asyncio
import sqlite3
from pathlib import Path

import pytest
from msgspec import Raw
from tests.store.conftest import Opener
from tests.store.logs import STARTED, opened, rest_times, step, text
from tests.store.older_database import old_database
from tests.waiting import PATIENCE

from bascule.model.errors import InvalidInput
from bascule.model.events import (
    AnyEvent,
    ArchivedChanged,
    EntryClosed,
    PromptSent,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)
from bascule.store import schema, search_index
from bascule.store.base import SearchHit
from bascule.store.fts_words import expression
from bascule.store.search import asked, snippet
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio


def talk(*answers: str, prompt: str = "Say something") -> list[AnyEvent]:
    events: list[AnyEvent] = [STARTED, PromptSent("p1", prompt, "ana")]
    for n, words in enumerate(answers):
        events += [opened(f"e{n}"), text(words, f"e{n}"), EntryClosed(f"e{n}")]
    return [*events, TurnEnded("end_turn")]


async def tell(store: SqliteStore, events: list[AnyEvent], session_id: str = "s1") -> None:
    await store.append(step(1, *events, session_id=session_id))
    await store.searchable()


async def found(store: SqliteStore, words: str, **more: str) -> list[SearchHit]:
    return (await store.search(words, **more)).hits  # type: ignore[arg-type]


@pytest.mark.row("X4")
async def test_a_message_is_found_by_its_words_and_names_its_place(store: SqliteStore) -> None:
    await tell(store, talk("The heron stands in the reeds", "and the otter swims"))
    [hit] = await found(store, "heron reeds")
    assert (hit.session_id, hit.first_seq, hit.kind, hit.archived) == ("s1", 3, "text", False)
    assert hit.title == "Say something"
    assert hit.snippet == ("The ", "heron", " stands in the ", "reeds", "")
    page = await store.page("s1", 3, around=hit.first_seq)
    assert any(b"The heron stands" in entry for entry in page.entries)


@pytest.mark.row("X4")
async def test_accents_and_case_do_not_matter_and_the_last_word_may_be_half(store: SqliteStore) -> None:
    await tell(store, talk("Une très belle CAFÉTÉRIA"))
    for words in ("cafeteria", "tres cafe", "TRÈS", "Cafétéria", "belle caf"):
        assert [hit.first_seq for hit in await found(store, words)] == [3], words
    assert await found(store, "caf tres") == []


@pytest.mark.row("X4")
async def test_tools_are_found_by_title_input_and_output(store: SqliteStore) -> None:
    given = Raw(b'{"command":"grep\\npattern\\u00e9 file"}')
    tool = ToolStarted("t1", "Bash", "Look around", "execute", given)
    done = ToolChanged("t1", "done", "seventeen matches")
    await tell(store, [STARTED, tool, done, TurnEnded("end_turn")])
    for words in ("look around", "patterné", "seventeen", "grep"):
        assert [hit.kind for hit in await found(store, words)] == ["tool"], words
    assert await found(store, "npattern") == []
    [hit] = await found(store, "seventeen")
    assert "".join(hit.snippet) == "Run Look around grep patterné file seventeen matches"


@pytest.mark.row("X4")
async def test_titles_come_first_and_follow_a_rename(store: SqliteStore) -> None:
    await tell(store, talk("a walrus", prompt="About the walrus"))
    await tell(store, talk("nothing", prompt="Something else"), "s2")
    hits = await found(store, "walrus")
    assert [(hit.kind, hit.first_seq) for hit in hits] == [("title", 0), ("text", 3), ("prompt", 2)]
    await store.append(step(7, TitleChanged("Seals and more", "ana")))
    await store.searchable()
    assert [hit.kind for hit in await found(store, "walrus")] == ["text", "prompt"]
    assert [hit.snippet for hit in await found(store, "seals")] == [("", "Seals", " and more")]


@pytest.mark.row("X4")
async def test_one_session_can_be_searched_alone_and_archived_ones_say_so(store: SqliteStore) -> None:
    await tell(store, talk("a heron"))
    await tell(store, [*talk("a heron"), ArchivedChanged(True, "ana")], "s2")
    assert [(hit.session_id, hit.archived) for hit in await found(store, "heron")] == [
        ("s2", True),
        ("s1", False),
    ]
    assert [hit.session_id for hit in await found(store, "heron", session_id="s1")] == ["s1"]
    assert await found(store, "heron", session_id="nobody") == []


HOSTILE = [
    '"',
    '" OR "a',
    "heron OR otter",
    "heron NOT reeds",
    "NEAR(heron reeds)",
    "words:heron",
    "{words}: heron",
    "^heron",
    "heron*",
    "he*ron",
    "-heron",
    "heron + reeds",
    "('heron')",
    "'; DROP TABLE entries; --",
    "heron\x00reeds",
    "%",
    "\\",
    "a" * 5000,
    "😀 heron",
]


@pytest.mark.row("S37")
@pytest.mark.parametrize("typed", HOSTILE)
async def test_nothing_typed_is_search_syntax(store: SqliteStore, typed: str) -> None:
    await tell(store, talk("The heron stands in the reeds", "an otter swims"))
    try:
        hits = await found(store, typed)
    except InvalidInput:
        assert not any(letter.isalnum() for letter in typed)
        return
    # All words must be there: an operator would have found the otter too.
    assert all("otter" not in "".join(hit.snippet) for hit in hits)
    assert (await store.page("s1")).entries


@pytest.mark.row("S37")
def test_every_phrase_is_quoted_and_holds_words_only() -> None:
    assert expression(asked('say "hi" OR x')) == '"say" "hi" "or" "x"'
    assert expression(asked("two wor.ds")) == '"two" "wor ds"*'


def test_a_snippet_is_cut_around_the_match_and_marks_every_word_in_it() -> None:
    pieces = snippet("x " * 200 + "a needle\nand Needles\there " + "y " * 200, asked("needle"))
    assert pieces[1::2] == ("needle", "Needles")
    assert pieces[0].startswith("…x x")
    assert pieces[-1].endswith("…")
    assert "\n" not in "".join(pieces)
    assert len("".join(pieces)) < 260


async def test_an_answer_is_found_once_it_is_finished(store: SqliteStore) -> None:
    await store.append(step(1, STARTED, opened(), text("a half-said heron")))
    await store.searchable()
    assert await found(store, "heron") == []
    await store.append(step(4, EntryClosed("e"), TurnEnded("end_turn")))
    await store.searchable()
    assert [hit.first_seq for hit in await found(store, "heron")] == [2]


async def test_what_an_earlier_version_stored_is_indexed_in_the_background(
    open_store: Opener, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search_index, "SLICE_CHARACTERS", 40)
    rest_times(monkeypatch, 0)
    store = await open_store()
    await tell(store, talk(*(f"message number{n} about herons" for n in range(300))))
    await store.close()
    old = database.parent / "old" / "bascule.db"
    old.parent.mkdir()
    old_database(database, old, 1)  # as it was before there was a search
    store = await open_store(old)
    first = await store.search("number299")
    assert first.owed > 0 or first.hits
    await store.searchable()
    assert [hit.snippet[1] for hit in await found(store, "number299")] == ["number299"]
    assert (await store.search("number299")).owed == 0
    assert len(await found(store, "herons")) == 20


async def test_words_of_a_newer_version_are_made_again_by_the_older_one(
    open_store: Opener, database: Path
) -> None:
    store = await open_store()
    await tell(store, talk("a heron"))
    await store.close()
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE meta SET value = x'3939' WHERE name = 'tokenizer'")
        connection.execute("INSERT INTO search_text (rowid, words) VALUES (4294967298, 'otter')")
    connection.close()
    store = await open_store()
    await store.searchable()
    assert (await found(store, "otter"), len(await found(store, "heron"))) == ([], 1)


@pytest.mark.parametrize("block", ["zeroblob(7)", "randomblob(length(block))", "substr(block, 1, 5)"])
async def test_a_damaged_index_is_made_again_and_stops_nobody(
    open_store: Opener, database: Path, block: str
) -> None:
    store = await open_store()
    await tell(store, talk(*(f"message number{n} about herons" for n in range(50))))
    await store.close()
    with sqlite3.connect(database) as connection:
        connection.execute(f"UPDATE search_text_data SET block = {block}")
    connection.close()
    store = await open_store()
    await store.append(step(154, opened("late"), text("a late pelican", "late"), EntryClosed("late")))
    await store.append(step(157, TurnEnded("end_turn")))
    await store.searchable()
    assert [hit.first_seq for hit in await found(store, "pelican")] == [154]
    assert len(await found(store, "number7")) == 1


async def test_a_store_that_closes_before_anything_was_indexed_closes(open_store: Opener) -> None:
    store = await open_store()
    closing = asyncio.create_task(store.close())  # begun before the filler's first step
    await asyncio.wait_for(closing, PATIENCE)


@pytest.mark.parametrize(
    ("events", "elapsed", "rest"), [(0, 1.0, 1), (1, 1.0, 9), (5000, 1.0, 9), (5001, 1.0, 39), (600, 0.1, 39)]
)
def test_the_index_is_filled_in_half_a_tenth_or_a_fortieth_of_the_time(
    events: int, elapsed: float, rest: int
) -> None:
    assert search_index.rest_after(0.003, events, elapsed) == pytest.approx(0.003 * rest)


@pytest.mark.parametrize(("owed", "rest"), [(search_index.MAX_OWED, 39), (search_index.MAX_OWED + 1, 1)])
def test_a_flood_does_not_put_the_index_off_for_ever(owed: int, rest: int) -> None:
    assert search_index.rest_after(0.003, 50_000, 1.0, owed) == pytest.approx(0.003 * rest)


def test_the_schema_is_at_its_sixteenth_version() -> None:
    assert schema.VERSION == 16


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
async def test_pages_around_a_message_join_without_gap_or_repetition(store: SqliteStore, limit: int) -> None:
    await tell(store, talk(*(f"answer {n}" for n in range(9))))
    whole = (await store.page("s1", 500)).entries
    for seq in (1, 3, 15, 27, 30, 99):
        page = await store.page("s1", limit, around=seq)
        above = page.entries
        while page.before is not None:
            page = await store.page("s1", limit, page.before)
            above = page.entries + above
        page = await store.page("s1", limit, around=seq)
        below: list[bytes] = []
        while page.after is not None:
            page = await store.page("s1", limit, after=page.after)
            below += page.entries
        assert above + below == whole
