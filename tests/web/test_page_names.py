"""Names that every JavaScript object inherits, for everything an agent may name: words like any other."""

import json
from collections.abc import AsyncIterator

import pytest
from msgspec import Raw
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.web.chrome import PHONE, needs_chromium, open_tab
from tests.web.pollution import assert_unpolluted

from bascule.model.commands import AnswerPermission, AnswerQuestion
from bascule.model.event_values import PermissionOption, Question, QuestionOption
from bascule.model.events import (
    AnyEvent,
    EntryClosed,
    EntryOpened,
    ModeChanged,
    ModelChanged,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    PromptSent,
    QuestionAnswered,
    QuestionAsked,
    SessionReady,
    SessionStarted,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

pytestmark = [pytest.mark.anyio, needs_chromium]

NAMES = ("constructor", "__proto__", "toString", "hasOwnProperty", "valueOf", "prototype", "isPrototypeOf")
OPTIONS = (PermissionOption("once", "allow_once", "Allow once"), PermissionOption("deny", "deny", "Deny"))
SHA = "b" * 64
# An object whose text can't be had: `String(it)` throws.
MUTE = {"toString": 1, "valueOf": 1}


@pytest.fixture(autouse=True)
async def unpolluted(browser: Browser) -> AsyncIterator[None]:
    """Nothing that an agent named in a test was put on what every object inherits, in page and frame."""
    yield
    await assert_unpolluted(browser)


def raw(**fields: object) -> Raw:
    return Raw(json.dumps(fields).encode())


def wants(request: str, command: str = "ls") -> PermissionRequested:
    return PermissionRequested(request, "Bash", "Bash", "execute", raw(command=command), SHA, OPTIONS)


def named(name: str) -> list[AnyEvent]:
    """A turn in which everything an agent may name is called so."""
    return [
        PromptSent(f"p-{name}", name, name),
        EntryOpened(name, "assistant"),
        TextAppended(name, "assistant", f"said by {name.upper().strip('_')}\n\n```{name}\ncode\n```"),
        EntryClosed(name),
        ToolStarted(name, name, name, "other", Raw(json.dumps({name: name}).encode())),
        ToolChanged(name, "done", name),
        ToolStarted(f"e-{name}", "Edit", name, "edit", raw(file_path=f"/tmp/{name}", content=name)),
        ToolChanged(f"e-{name}", "done", name),
        PlanChanged((PlanItem(name),)),
        ModelChanged(name),
        ModeChanged(name),
        TurnEnded("end_turn"),
    ]


async def session_of(hub: RunningHub, session: str, *events: AnyEvent, agent: str = "scripted") -> None:
    started = SessionStarted(agent, "stream_json", "/tmp", "ana", "device-1")
    await append(hub.store, session, started, SessionReady("c1"), *events)


def answered(hub: RunningHub) -> list[AnswerQuestion]:
    return [one for one in hub.device.commands if isinstance(one, AnswerQuestion)]


@pytest.mark.row("F3", "S36")
async def test_questions_with_inherited_names_are_shown_and_answered_exactly(
    hub: RunningHub, browser: Browser
) -> None:
    asked = [
        QuestionAsked(
            f"q-{name}",
            (Question(name, name, (QuestionOption(name, name), QuestionOption("no"))),),
            Raw(b"{}"),
            SHA,
        )
        for name in NAMES
    ]
    await session_of(hub, "s1", *asked, wants("r1"))
    await session_of(hub, "s2", wants("r2", "make other"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    for number, name in enumerate(NAMES):
        await expect(tab.ask).to_contain_text(
            f"1 of {len(NAMES) + 1 - number}" if number < len(NAMES) else ""
        )
        await expect(tab.ask.locator("h3")).to_have_text(name)
        if number % 2:
            await tab.ask.get_by_label("Your own answer").fill(f"my {name}")
        else:
            await tab.ask.locator(".option", has_text=name).first.click()
        await tab.ask.locator(".is-primary:enabled").click()
        await until(lambda number=number: len(answered(hub)) == number + 1)
        command = answered(hub)[-1]
        assert (command.request_id, command.answers) == (
            f"q-{name}",
            {name: f"my {name}" if number % 2 else name},
        )
        await append(hub.store, "s1", QuestionAnswered(command.request_id, "owner", command.answers))
    await expect(tab.ask).to_contain_text("wants to run a command")
    await tab.allow()
    await until(lambda: any(isinstance(one, AnswerPermission) for one in hub.device.commands))
    await expect(tab.well.locator("dd", has_text="my __proto__")).to_have_count(1)
    assert tab.errors == []


@pytest.mark.row("F3", "S36")
async def test_the_inbox_shows_every_request_beside_such_a_question(
    hub: RunningHub, browser: Browser
) -> None:
    for number, name in enumerate(NAMES):
        question = QuestionAsked(name, (Question(name),), Raw(b"{}"), SHA)
        await session_of(hub, f"s{number}", question, wants("behind"))
    await session_of(hub, "calm", wants("r1", "make calm"))
    for size in ({"width": 1280, "height": 720}, PHONE):
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/inbox", size=size)
        await expect(tab.page.locator(".inbox-row")).to_have_count(2 * len(NAMES) + 1)
        for name in NAMES:
            await expect(
                tab.page.locator(f".inbox-row .inbox-row__second:text-is({json.dumps(name)})")
            ).to_have_count(1)
        await tab.page.locator(".inbox-row", has_text="make calm").click()
        await expect(tab.ask).to_contain_text("make calm")
        assert tab.errors == []


@pytest.mark.row("F3", "S36")
async def test_sessions_entries_tools_models_and_files_may_have_such_names(
    hub: RunningHub, browser: Browser
) -> None:
    for name in NAMES:
        await session_of(hub, name, *named(name), wants(name, name), agent=name)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"])
    for name in NAMES:
        await tab.turn_to(f"/sessions/{name}")
        await tab.says(f"said by {name.upper().strip('_')}")
        await expect(tab.ask.locator("pre.request__command")).to_contain_text(name)
        await tab.page.locator(".request .button.danger").click()
        await until(
            lambda name=name: any(
                isinstance(one, AnswerPermission) and one.session_id == one.request_id == name
                for one in hub.device.commands
            )
        )
        async with hub.client(hub.tokens["owner"]) as client:
            page = await client.get(f"/api/sessions/{name}/entries")
        assert {name} <= {one.get("tool_id") for one in page.json()["entries"]}
    # One that is not there is said not to be, rather than found among what an object inherits.
    await tab.turn_to("/sessions/propertyIsEnumerable")
    await expect(tab.page.locator("#sbar")).to_contain_text("There is no such session here.")
    await expect(tab.page.locator("#well")).to_be_hidden()
    await tab.page.locator("#sbar").get_by_role("button", name="New session").click()
    await expect(tab.page.locator("#task")).to_be_focused()
    assert tab.errors == []


@pytest.mark.row("F3", "S36")
async def test_a_request_that_cannot_be_drawn_says_so_and_hides_no_other(
    hub: RunningHub, browser: Browser
) -> None:
    bad = PermissionRequested("bad", "Edit", "Edit", "edit", raw(file_path=MUTE, content="x"), SHA, OPTIONS)
    await session_of(hub, "s1", bad, wants("good", "make good"))
    await session_of(hub, "s2", wants("r2", "make other"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=PHONE)
    await expect(tab.ask).to_contain_text("This request can’t be shown")
    await tab.ask.get_by_text("Show it raw").click()
    await expect(tab.ask.locator("pre")).to_contain_text('"toString": 1')
    await expect(tab.ask.locator(".allow")).to_have_count(0)
    await tab.page.set_viewport_size({"width": 1280, "height": 720})
    await tab.turn_to("/inbox")
    await expect(tab.page.locator(".inbox-row")).to_have_count(3)
    await tab.page.locator(".inbox-row", has_text="make other").click()
    await expect(tab.ask).to_contain_text("make other")
    await tab.turn_to("/sessions/s1")
    await tab.ask.get_by_role("button", name="Deny", exact=True).click()
    await expect(tab.ask).to_contain_text("make good")
    denied = next(one for one in hub.device.commands if isinstance(one, AnswerPermission))
    assert (denied.request_id, denied.decision) == ("bad", "deny")
    assert tab.errors == []


@pytest.mark.row("F3", "S36")
async def test_an_entry_that_cannot_be_drawn_is_shown_raw_among_the_others(
    hub: RunningHub, browser: Browser
) -> None:
    events: list[AnyEvent] = []
    for number, path in enumerate(("/tmp/a", MUTE, "/tmp/c")):
        events += [
            EntryOpened(f"m{number}", "assistant"),
            TextAppended(f"m{number}", "assistant", f"before {number}"),
            EntryClosed(f"m{number}"),
            ToolStarted(f"t{number}", "Edit", "Edit", "edit", raw(file_path=path, content="x")),
            ToolChanged(f"t{number}", "done", "ok"),
        ]
    await session_of(hub, "s1", PromptSent("p1", "go", "ana"), *events, TurnEnded("end_turn"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    for number in range(3):
        await tab.says(f"before {number}")
    lost = tab.well.locator("details", has_text="This could not be drawn")
    await expect(lost).to_have_count(1)
    await lost.locator("summary").click()
    await expect(lost.locator("pre")).to_contain_text('"toString": 1')
    await expect(tab.well.locator("details.tool")).to_have_count(2)
    assert tab.errors == []
