"""Search on PostgreSQL, and all else that is asked: the same rows in, the same answers out as on SQLite."""

import asyncio
import itertools

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.store.copies import BEGUN, LAPTOP, as_rows
from tests.store.logs import opened, random_log, rest_times, text
from tests.store.postgres_server import Server, reason_to_skip
from tests.store.postgres_store import Opener, answers_of
from tests.store.search_conformance import SearchConformance
from tests.waiting import PATIENCE

from bascule.model.commands import Actor
from bascule.model.errors import LimitReached
from bascule.model.events import AnyEvent, EntryClosed, TextAppended, TitleChanged, TurnEnded
from bascule.model.prompts import Delta, DeltaOp, PromptContent
from bascule.store import search, search_index
from bascule.store.connection import Connection
from bascule.store.database import DatabaseStore
from bascule.store.prompts import PromptBook
from bascule.store.reader import READERS
from bascule.store.sqlite import SqliteStore
from bascule.store.tokenizer import words_in

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(reason_to_skip() is not None, reason=reason_to_skip() or ""),
]


class TestPostgresSearch(SearchConformance):
    @pytest.fixture
    def opener(self, open_postgres: Opener) -> Opener:
        return open_postgres


@pytest.mark.row("X11")
async def test_what_a_node_of_an_older_version_indexed_is_indexed_again_by_the_next_that_starts(
    hub: DatabaseStore, open_postgres: Opener, server: Server, url: str
) -> None:
    said = [
        BEGUN,
        opened(),
        text("ещё a heron"),
        EntryClosed("e"),
        TitleChanged("Ёж", "ana"),
        TurnEnded("end_turn"),
    ]
    await hub.take_in(LAPTOP, "s1", 1, as_rows(said))
    made = PromptContent(title="Ещё", delta=Delta(ops=(DeltaOp(insert="x\n"),)))
    prompt = await PromptBook(hub).add(made, "x", Actor("ana", "g1"), shared=True)
    await hub.searchable()
    older = [
        "UPDATE bascule.search_text SET words = 'ещё', said = ''",
        "UPDATE bascule.search_titles SET words = 'ёж', said = ''",
        "UPDATE bascule.prompt_words SET words = 'ещё', tokenizer = 0",
    ]
    await asyncio.to_thread(server.run, *older, url=url)
    assert (await hub.search("еще")).hits == []
    node = await open_postgres()
    await node.searchable()
    assert [hit.first_seq for hit in (await node.search("еще heron")).hits] == [2]
    assert [hit.kind for hit in (await node.search("еж")).hits] == ["title"]
    assert list(await PromptBook(node).search("еще", 9)) == [prompt.id]


@pytest.mark.row("X11")
async def test_a_node_leaves_the_words_of_a_newer_tokenizer_to_newer_nodes(
    hub: DatabaseStore, open_postgres: Opener, server: Server, url: str
) -> None:
    await hub.searchable()
    newer = "UPDATE bascule.meta SET value = '99' WHERE name = 'tokenizer'"
    await asyncio.to_thread(server.run, newer, url=url)
    for store in (hub, await open_postgres()):
        head, _ = await store.head_of("s1")
        turn = [BEGUN, opened(), text("a heron"), EntryClosed("e"), TurnEnded("end_turn")]
        await store.take_in(LAPTOP, "s1", head + 1, as_rows(turn, head + 1))
        await store.searchable()
        result = await store.search("heron")
        assert result.hits == []
        assert result.owed > 0
        assert await store.query(search_index.made_by) == 99


async def test_a_search_that_takes_too_long_is_ended_and_its_connection_goes_on(
    hub: DatabaseStore, server: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import asyncpg

    def asking(connection: Connection) -> tuple[int, str]:
        return connection.execute("SELECT pg_backend_pid(), current_setting('statement_timeout')").fetchone()

    said = [BEGUN, opened(), text("a heron"), EntryClosed("e"), TurnEnded("end_turn")]
    await hub.take_in(LAPTOP, "s1", 1, as_rows(said))
    await hub.searchable()
    before = {await hub.query(asking) for _ in range(20)}
    holding = await asyncpg.connect(url)
    try:
        async with holding.transaction():
            await holding.execute("LOCK TABLE bascule.search_text IN ACCESS EXCLUSIVE MODE")
            for seconds in (0.01, 0.0001):
                monkeypatch.setattr(search, "SECONDS", seconds)
                for _ in range(READERS):
                    async with asyncio.timeout(PATIENCE):
                        with pytest.raises(LimitReached, match="takes too long"):
                            await hub.search("heron")
    finally:
        await holding.close()
    monkeypatch.setattr(search, "SECONDS", PATIENCE)
    for _ in range(READERS):
        assert [hit.first_seq for hit in (await hub.search("heron")).hits] == [2]
    after = {await hub.query(asking) for _ in range(20)}
    assert before & after, "none of the connections was kept"
    assert {timeout for _, timeout in after} == {"0"}
    assert hub.storage_problem is None


# The same rows in, the same answers out --------------------------------------------------------------

# Letters of several scripts, with accents and signs between them.
_LATIN = [
    "heron",
    "Héron",
    "HERON",
    "herons",
    "a_b",
    "src/app.py",
    "ana@example.org",
    "naïve",
    "Straße",
    "don't",
]
_OTHER = [
    "Ωμέγα",
    "ωμεγα",
    "Жук",
    "жуk",
    "日本語",
    "x1",
    "1",
    "x",
    "e\u0301tude",
    "étude",
    "--",
    "…",
    "\x00",
    "don't",
]
_any_word = st.text(st.characters(categories=["L", "N", "M", "Co"]), min_size=1, max_size=6)
_words = st.lists(st.one_of(st.sampled_from([*_LATIN, *_OTHER]), _any_word), max_size=6).map(" ".join)
_said = st.builds(text, _words)
_logs = st.lists(
    st.tuples(
        st.sampled_from(["s1", "s2", "s3"]), st.one_of(random_log, st.lists(_said, min_size=1, max_size=8))
    ),
    min_size=1,
    max_size=3,
)
_examples = itertools.count()


def _queries(logs: list[tuple[str, list[AnyEvent]]]) -> list[str]:
    """Some of what was said, and beginnings of it; what holds no word can't be asked."""
    said = [event.text.split() for _, log in logs for event in log if isinstance(event, TextAppended)]
    some = [word for words in said for word in words[:2]]
    return [one for one in (*some[:6], *(word[:3] for word in some[-3:])) if words_in(one)]


@given(logs=_logs, queries=st.lists(_words.filter(lambda one: bool(words_in(one))), min_size=1, max_size=3))
@pytest.mark.row("X11")
# All examples on the same databases, in sessions of their own: to make one smaller would need new ones.
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate])
async def test_the_same_rows_give_the_same_answers_on_both_databases(
    hub: DatabaseStore,
    store: SqliteStore,
    logs: list[tuple[str, list[AnyEvent]]],
    queries: list[str],
) -> None:
    example = next(_examples)
    named = [(f"{example}-{name}", log) for name, log in logs]
    with pytest.MonkeyPatch.context() as patch:
        rest_times(patch, 0)
        asked = [*queries, *_queries(logs)]
        expected = await answers_of(store, named, asked)
        assert await answers_of(hub, named, asked) == expected
