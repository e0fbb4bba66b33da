"""An earlier message is edited and sent in a new session; the first one stays, and nothing typed is lost."""

import pytest
from playwright.async_api import Browser, Locator, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.live import LiveServer
from tests.parts import Part
from tests.web.chrome import PHONE, Tab, needs_chromium, open_tab

from bascule.link.machine import AgentInfo
from bascule.model.commands import StartSession
from bascule.model.errors import LimitReached
from bascule.model.events import (
    CopiedFrom,
    Image,
    Note,
    PromptSent,
    SessionReady,
    SessionStarted,
    TurnEnded,
)

pytestmark = [pytest.mark.anyio, needs_chromium]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
FORKS_AT = (AgentInfo("scripted", "Scripted", True, "1.0", forks_at=("stream_json",)),)
EDITING = "Editing an earlier message."


def offers(tab: Tab) -> Locator:
    return tab.well.get_by_role("button", name="Edit and resend")


def composer(tab: Tab) -> Locator:
    return tab.page.locator(".composer:has(#message)")


def started(hub: RunningHub) -> list[StartSession]:
    return [one for one in hub.device.commands if isinstance(one, StartSession)]


@pytest.mark.row("C6")
async def test_an_edited_message_goes_to_a_new_session_that_says_where_it_came_from(
    shared_server: LiveServer, browser: Browser, part: Part
) -> None:
    server = shared_server
    session = await server.create("think one", title="Herons")
    first = await server.wait_for(session, TurnEnded)
    await server.send(session, "think two")
    second = await server.wait_for(session, TurnEnded, after=first.seq)
    log = await server.log(session)
    asked = next(one for one in log if isinstance(one.event, PromptSent) and one.event.text == "think two")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    field = tab.page.locator("#message")
    await field.fill("A draft")
    await expect(offers(tab)).to_have_count(2)
    await offers(tab).nth(1).focus()
    await tab.page.keyboard.press("Enter")
    with part("the message is in the field"):
        await expect(composer(tab)).to_contain_text(EDITING)
        await expect(field).to_have_value("think two")
        await expect(field).to_be_focused()
    # It is there after a reload, and what was written before it waits.
    await field.fill("think of otters")
    await tab.page.reload()
    await expect(field).to_be_visible()
    await expect(field).to_have_value("think of otters")
    # Without a connection it waits for one, as the page says.
    await tab.page.route("**/api/tickets", lambda route: route.abort())
    await server.kill()
    await expect(tab.page.locator(".hold")).to_have_text("Sent when the connection is back")
    await field.press("Enter")
    await expect(field).to_be_disabled()
    await server.start()
    await tab.page.unroute("**/api/tickets")
    await tab.page.evaluate("dispatchEvent(new Event('online'))")
    await expect(tab.page.get_by_role("tab", selected=True)).to_contain_text("Herons, edited")
    await expect(tab.well.locator(".user-message")).to_contain_text("think of otters")
    made = tab.page.url.rpartition("/")[2]
    with part("the new session says where it came from"):
        begun = (await server.log(made))[0].event
        assert isinstance(begun, SessionStarted)
        assert isinstance(first.event, TurnEnded)
        assert (begun.forked, begun.forked_at) == (True, first.event.fork_at)
        assert begun.copied_from == CopiedFrom(session, asked.seq)
    link = tab.well.locator(".gap-line").get_by_role("button")
    await expect(link).to_have_text("“Herons”")
    await link.click()
    with part("the first session and its draft are as they were"):
        await expect(tab.page.get_by_role("tab", selected=True)).not_to_contain_text("edited")
        await expect(field).to_have_value("A draft")
        await expect(composer(tab)).not_to_contain_text(EDITING)
        assert (await server.log(session))[-1].seq == second.seq, "the first session was changed"
    assert tab.errors == []


@pytest.mark.row("C6", "R15")
async def test_a_message_is_offered_where_the_agent_can_go_back_and_kept_when_it_is_refused(
    hub: RunningHub, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.hub.scripted_device.AGENTS", FORKS_AT)
    await append(
        hub.store,
        "s1",
        SessionStarted("scripted", "stream_json", "/code/lantern", "ana"),
        SessionReady("abc"),
        PromptSent("p1", "One", "ana"),
        TurnEnded("end_turn", fork_at="t1"),
        PromptSent("p2", "Two", "ana", images=(Image("image/png", PIXEL),)),
        TurnEnded("end_turn"),
        PromptSent("p3", "Three", "ana"),
    )
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1", size=PHONE)
    await expect(offers(tab)).to_have_count(2)  # the agent gave the end of the second turn no id
    await offers(tab).nth(1).click()
    field, box = tab.page.locator("#message"), composer(tab)
    await expect(field).to_have_value("Two")
    await expect(box.get_by_role("img", name="Picture 1")).to_be_visible()
    await field.fill("Two and a half")
    hub.device.refuse = LimitReached("8 agents already work on laptop, which is the limit.")
    await box.get_by_role("button", name="Send").click()
    await expect(tab.page.get_by_text(hub.device.refuse.message)).to_be_visible()
    await expect(field).to_have_value("Two and a half")
    await expect(box).to_contain_text(EDITING)
    hub.device.refuse = None
    await offers(tab).first.click()
    await expect(tab.page.locator(".notes")).to_contain_text("Send the message that you are editing first")
    await box.get_by_role("button", name="Send").click()
    await until(lambda: len(started(hub)) == 2)
    _, command = started(hub)
    assert (command.resume, command.fork, command.fork_at) == ("abc", True, "t1")
    assert (command.prompt, [one.data for one in command.images]) == ("Two and a half", [PIXEL])
    assert command.copied_from == CopiedFrom("s1", 5)
    assert tab.errors == []


@pytest.mark.row("C6")
async def test_nothing_is_offered_that_the_agent_could_not_do(
    hub: RunningHub, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await append(
        hub.store,
        "s1",
        SessionStarted("scripted", "stream_json", "/code/lantern", "ana"),
        SessionReady("abc"),
        PromptSent("p1", "One", "ana"),
        TurnEnded("end_turn", fork_at="t1"),
        PromptSent("p2", "Two", "ana"),
    )
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await expect(tab.well.get_by_role("button", name="Save as prompt")).to_have_count(2)
    await expect(offers(tab)).to_have_count(0)
    monkeypatch.setattr("tests.hub.scripted_device.AGENTS", FORKS_AT)
    await tab.page.reload()
    await expect(offers(tab)).to_have_count(2)
    # Summarised, the agent has no more of the first turn; only the beginning itself is still there.
    await append(hub.store, "s1", TurnEnded("end_turn", fork_at="t2"), Note("compacted", "Summarised."))
    await expect(offers(tab)).to_have_count(1)
    await offers(tab).click()
    await expect(tab.page.locator("#message")).to_have_value("One")
    await tab.page.get_by_role("button", name="Cancel").click()
    await expect(tab.page.locator("#message")).to_have_value("")
    assert tab.errors == []
