"""What every engine's index of words must find: the same words, and saved prompts in the same order.

A test class inherits `SearchConformance` and brings the fixture `opener`, which opens the same data again.
"""

import pytest
from tests.store.copies import BEGUN, LAPTOP, as_rows
from tests.store.logs import opened, text
from tests.store.postgres_store import Opener

from bascule.model.commands import Actor
from bascule.model.events import AnyEvent, EntryClosed, TurnEnded
from bascule.model.prompts import Delta, DeltaOp, PromptContent
from bascule.store import search_index
from bascule.store.database import DatabaseStore
from bascule.store.prompts import PromptBook

ANA = Actor("ana", "g1")
# What is said; what finds it; what does not.
SAID = [
    ("йод", ("йод", "ЙОД", "и\u0306од"), ("иод",)),
    ("ещё ёж", ("еще", "ещё", "еж"), ("ищё",)),
    ("ἀλφα", ("αλφα", "ΆΛΦΑ"), ("λφα",)),
    ("がく", ("がく", "か\u3099く"), ("かく",)),
    ("한국", ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"), ("국한",)),
    ("नमस्ते", ("नमस्ते", "नम"), ("त",)),
    ("ὁδός", ("οδος", "οδοσ", "ΟΔΟΣ"), ("δοσ",)),
    ("\ue0b0main", ("main", "\ue0b0main"), ("ain",)),
    ("\u1c90\u1c91", ("აბ", "\u1c90\u1c91"), ("\u1c91\u1c90",)),
    ("\U0001e900\U0001e921", ("\U0001e922\U0001e943",), ("\U0001e943\U0001e922",)),
    ("Straße", ("strasse", "STRASSE", "straße"), ("strabe",)),
    ("w" * 500, ("w" * 400, "www"), ("w" * 399 + "v",)),
    (
        "see src/bascule/app.py",
        ("bascule/app.py", "src/bascule/ap", "see app.py"),
        ("src/app.py", "app.py/see"),
    ),
    ("x-y " * 400 + "x-z", ("x-z", "x-y-x-z"), ("y-z", "z-x")),
    ("a word " * 9000 + "last", ("word",), ()),
]


def content(title: str, body: str) -> PromptContent:
    return PromptContent(title=title, delta=Delta(ops=(DeltaOp(insert=body + "\n"),)))


class SearchConformance:
    @pytest.fixture
    async def store(self, opener: Opener) -> DatabaseStore:
        return await opener()

    @pytest.mark.row("X4", "X11")
    async def test_words_of_all_scripts_are_found(self, store: DatabaseStore) -> None:
        log: list[AnyEvent] = [BEGUN]
        places: list[int] = []
        for n, (said, _, _) in enumerate(SAID):
            places.append(len(log) + 1)
            log += [opened(f"e{n}"), text(said, f"e{n}"), EntryClosed(f"e{n}")]
        await store.take_in(LAPTOP, "s1", 1, as_rows([*log, TurnEnded("end_turn")]))
        await store.searchable()
        for place, (said, finds, others) in zip(places, SAID, strict=True):
            for query in finds:
                hits = (await store.search(query, limit=50)).hits
                assert place in [hit.first_seq for hit in hits], (said[:20], query)
                [shown] = [hit.snippet for hit in hits if hit.first_seq == place]
                assert len(shown) > 1 or len(said) == 500, (said[:20], query)  # not within the snippet
            for query in others:
                found = [hit.first_seq for hit in (await store.search(query, limit=50)).hits]
                assert place not in found, (said[:20], query)

    @pytest.mark.row("L10", "X11")
    async def test_prompts_named_so_come_first_then_the_newest(self, store: DatabaseStore) -> None:
        book = PromptBook(store)
        ids: list[str] = []
        for title, body in (
            ("Birds", "the heron, the heron, the heron"),
            ("Herons", "of the reeds"),
            ("Fish", "what the heron eats in src/pond.py"),
            ("Héron", "and pond.py"),
            ("ещё", "x " * 40_000),
        ):
            ids.append((await book.add(content(title, body), body, ANA, shared=True)).id)
        assert list(await book.search("heron", 9)) == [ids[3], ids[1], ids[2], ids[0]]
        assert list(await book.search("heron", 2)) == [ids[3], ids[1]]
        assert list(await book.search("src/pond.py", 9)) == [ids[2]]
        assert list(await book.search("еще", 9)) == [ids[4]]
        assert (await book.search("pond.p", 9))[ids[2]] == [
            "Fish what the heron eats in src/",
            "pond",
            ".",
            "py",
            "",
        ]
        after = await book.save(ids[0], 1, content("Birds", "an owl"), "an owl", ANA)
        assert list(await book.search("heron", 9)) == [ids[3], ids[1], ids[2]]
        assert list(await book.search("owl", 9)) == [after.id]

    @pytest.mark.row("X11")
    async def test_an_index_of_another_tokenizer_is_made_again(
        self, opener: Opener, store: DatabaseStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said = [BEGUN, opened(), text("ещё a heron"), EntryClosed("e"), TurnEnded("end_turn")]
        await store.take_in(LAPTOP, "s1", 1, as_rows(said))
        book = PromptBook(store)
        prompt = await book.add(content("Ещё", "heron"), "heron", ANA, shared=True)
        await store.searchable()
        await store.close()
        monkeypatch.setattr(search_index, "VERSION", search_index.VERSION + 1)
        newer = await opener()
        await newer.searchable()
        assert [hit.first_seq for hit in (await newer.search("еще heron")).hits] == [2]
        assert list(await PromptBook(newer).search("еще", 9)) == [prompt.id]
        assert (await newer.search("heron")).owed == 0
        assert await newer.query(search_index.made_by) == search_index.VERSION
