"""The prompt library in the store: versions, conflicts, search, uses, and what survives a restart."""

from typing import Any

import pytest
from tests.store.conftest import Clock, Opener

from bascule.model.commands import Actor
from bascule.model.errors import InvalidInput, LimitReached
from bascule.model.prompts import Delta, DeltaOp, PromptContent, PromptSource, TemplateField
from bascule.store import prompts as prompts_module
from bascule.store.prompt_rows import SavedPromptNotFound
from bascule.store.prompts import PromptBook, PromptChanged
from bascule.store.sqlite import SqliteStore

pytestmark = pytest.mark.anyio

ANA, BEN = Actor("ana", "g1"), Actor("ben", "g2")


@pytest.fixture
def book(store: SqliteStore) -> PromptBook:
    return PromptBook(store)


def content(text: str, title: str = "Review", **more: Any) -> PromptContent:
    return PromptContent(title=title, delta=Delta(ops=(DeltaOp(insert=text + "\n"),)), **more)


async def add(book: PromptBook, text: str = "Look at {{file}}", **more: Any) -> str:
    made = content(text, **more)
    return (await book.add(made, text, ANA, shared=True)).id


@pytest.mark.row("L10")
async def test_a_saved_prompt_is_there_after_a_restart(open_store: Opener) -> None:
    store = await open_store()
    field = TemplateField(name="file", kind="file", hint="Which one?")
    made = content("Look at {{file}}", tags=("review", "café"), fields=(field,), project_id="p1")
    prompt = await PromptBook(store).add(made, "Look at {{file}}", ANA, shared=False)
    await store.close()
    again = PromptBook(await open_store())
    assert await again.list() == [prompt]
    assert await again.content(prompt.id, 1) == made
    assert (prompt.excerpt, prompt.created_by, prompt.grant_id) == ("Look at {{file}}", "ana", "g1")


async def test_every_save_is_a_version_and_the_old_ones_stay(book: PromptBook, clock: Clock) -> None:
    prompt_id = await add(book)
    clock.now += 60
    after = await book.save(prompt_id, 1, content("Look twice", "Review twice"), "Look twice", BEN)
    assert (after.version, after.title, after.updated_by, after.created_by) == (
        2,
        "Review twice",
        "ben",
        "ana",
    )
    assert [(one.version, one.title, one.by) for one in await book.versions(prompt_id)] == [
        (2, "Review twice", "ben"),
        (1, "Review", "ana"),
    ]
    assert (await book.content(prompt_id, 1)).title == "Review"
    with pytest.raises(SavedPromptNotFound):
        await book.content(prompt_id, 3)


async def test_of_two_saves_from_one_version_the_second_is_told_who_was_first(book: PromptBook) -> None:
    prompt_id = await add(book)
    await book.save(prompt_id, 1, content("Ben's"), "Ben's", BEN)
    with pytest.raises(PromptChanged, match="ben saved version 2") as told:
        await book.save(prompt_id, 1, content("Ana's"), "Ana's", ANA)
    assert told.value.fields["version"] == 2
    assert await book.content(prompt_id, 2) == content("Ben's")
    # Knowingly after Ben's it is the third, and Ben's is still the second.
    assert (await book.save(prompt_id, 2, content("Ana's"), "Ana's", ANA)).version == 3
    assert await book.content(prompt_id, 2) == content("Ben's")


async def test_the_same_save_sent_twice_is_one_version(book: PromptBook) -> None:
    prompt_id = await add(book)
    first = await book.save(prompt_id, 1, content("Once"), "Once", ANA)
    assert await book.save(prompt_id, 1, content("Once"), "Once", ANA) == first
    assert len(await book.versions(prompt_id)) == 2


async def test_the_same_key_adds_one_prompt_and_is_each_grants_own(book: PromptBook) -> None:
    first = await book.add(content("A"), "A", ANA, shared=True, key="k")
    assert await book.add(content("A"), "A", ANA, shared=True, key="k") == first
    assert (await book.add(content("A"), "A", BEN, shared=True, key="k")).id != first.id
    assert len(await book.list()) == 2


async def test_search_finds_words_of_title_tags_and_the_newest_text(book: PromptBook) -> None:
    one = await add(book, "Find the heron in the reeds", title="Birds", tags=("nature",))
    two = await add(book, "Fix the build", title="Build")
    for words in ("heron", "HER", "birds", "nature", "heron reeds"):
        assert list(await book.search(words, 10)) == [one], words
    assert (await book.search("heron", 10))[one][1] == "heron"
    await book.save(two, 1, content("Mend the café", "Build"), "Mend the café", ANA)
    assert list(await book.search("cafe", 10)) == [two]
    assert list(await book.search("fix", 10)) == []
    assert list(await book.search('NEAR("x', 10)) == []
    with pytest.raises(InvalidInput, match="at least one word"):
        await book.search("...", 10)


async def test_marks_change_no_version_and_a_removed_prompt_comes_back(book: PromptBook) -> None:
    prompt_id = await add(book)
    assert (await book.mark(prompt_id, favourite=True)).favourite
    removed = await book.mark(prompt_id, removed=True)
    assert removed.removed_at is not None
    assert (removed.favourite, removed.version) == (True, 1)
    assert (await book.mark(prompt_id, removed=False)).removed_at is None
    assert not (await book.mark(prompt_id, shared=False, owner=BEN)).shared
    assert (await book.get(prompt_id)).grant_id == "g2"
    source = PromptSource(device="d", path="/a/b.md", sha256="0" * 64)
    assert (await book.mark(prompt_id, source=source)).source == source
    with pytest.raises(SavedPromptNotFound):
        await book.mark("nothing", favourite=True)


async def test_uses_say_which_version_went_where(book: PromptBook) -> None:
    prompt_id = await add(book)
    await book.used(prompt_id, 1, "comparison", ["s1", "s2"], ANA)
    await book.used(prompt_id, 1, "terminal", [], BEN)
    assert [(one.kind, one.session_id, one.by) for one in await book.uses(prompt_id)] == [
        ("terminal", None, "ben"),
        ("comparison", "s2", "ana"),
        ("comparison", "s1", "ana"),
    ]
    with pytest.raises(SavedPromptNotFound):
        await book.used("nothing", 1, "terminal", [], ANA)


async def test_a_scratch_pad_keeps_one_version_a_day(book: PromptBook, clock: Clock) -> None:
    prompt_id = await add(book, "a", kind="scratch")
    for n in range(2, 6):
        await book.save(prompt_id, n - 1, content(f"a{n}", kind="scratch"), f"a{n}", ANA)
    assert [one.version for one in await book.versions(prompt_id)] == [5]
    clock.now += 86_400
    await book.save(prompt_id, 5, content("tomorrow", kind="scratch"), "tomorrow", ANA)
    assert [one.version for one in await book.versions(prompt_id)] == [6, 5]


async def test_what_is_kept_is_bounded(book: PromptBook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts_module, "MAX_VERSIONS", 3)
    monkeypatch.setattr(prompts_module, "MAX_USES", 2)
    monkeypatch.setattr(prompts_module, "MAX_PROMPTS", 1)
    prompt_id = await add(book)
    for n in range(1, 6):
        await book.save(prompt_id, n, content(f"v{n + 1}"), f"v{n + 1}", ANA)
        await book.used(prompt_id, n, "session", [f"s{n}"], ANA)
    assert [one.version for one in await book.versions(prompt_id)] == [6, 5, 4]
    assert [one.session_id for one in await book.uses(prompt_id)] == ["s5", "s4"]
    with pytest.raises(LimitReached, match="export some first"):
        await add(book)


async def test_a_damaged_prompt_is_told_and_the_others_are_listed(
    store: SqliteStore, book: PromptBook
) -> None:
    broken, sound = await add(book, "one"), await add(book, "two")
    await store.transact(
        lambda transaction: (
            transaction.connection.execute(
                "UPDATE prompts SET crc = crc + 1 WHERE id = ?", (broken,)
            ).rowcount
        )
    )
    assert [one.id for one in await book.list()] == [sound]
    assert any(broken in message for message in store.damaged)
