"""Starts that need approval, on the page: waiting, denied, approved, by a link, signed by a browser."""

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from playwright.async_api import Browser, Page, expect
from tests.hub.running_hub import until
from tests.waiting import PATIENCE_MS
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.two_machines import LAPTOP, TOWER, Machines, two_machines

from bascule.daemon.starts.start_views import described
from bascule.link.starts import (
    AnswerStartLink,
    DecideStart,
    ReadStartLink,
    StartByLink,
    StartsState,
    WithdrawStart,
)
from bascule.model.commands import Actor, Envelope, SessionBegun, StartSession
from bascule.model.errors import StartNotWaiting
from bascule.model.event_values import StartOptions
from bascule.model.starts import WaitingStart
from bascule.policy.start_signing import key_id, problem_of

pytestmark = [pytest.mark.anyio, needs_chromium]

SIZES = pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["1440x900", "390x844"])
WIDER = "document.documentElement.scrollWidth > innerWidth"
CODE = "0123456789ABCDEFGHJKMNPQRS"
TOKEN = "t" * 43
# The machines whose keys the browser's database holds; making none where there is none.
KEYS = """async () => {
  const all = await indexedDB.databases();
  if (!all.some((one) => one.name === 'bascule.trusted')) return [];
  const open = indexedDB.open('bascule.trusted');
  await new Promise((done) => (open.onsuccess = done));
  const keys = open.result.transaction('keys').objectStore('keys').getAllKeys();
  await new Promise((done) => (keys.onsuccess = done));
  open.result.close();
  return keys.result;
}"""


def waiting(session_id: str = "s1", **more: Any) -> WaitingStart:
    fields: dict[str, Any] = {
        "id": "a1b2c3d4",
        "session_id": session_id,
        "what": "claude-code (relay)",
        "folder": "/code/lantern",
        "words": "Port the lexer to the new grammar",
        "by": "Mira",
        "browser": "Chrome on Linux",
        "address": "203.0.113.9",
        "via": "office hub",
        "asked_at": time.time(),
        "expires_at": time.time() + 290,
        "reasons": ("first time from this address",),
    }
    return WaitingStart(**{**fields, **more})


class Asking:
    """The laptop holds every start, and the tower knows one link."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        self._of_laptop = machines.laptop._carry_out
        self._of_tower = machines.hub.device._carry_out
        machines.laptop._carry_out = self._laptop  # type: ignore[method-assign]
        machines.hub.device._carry_out = self._tower  # type: ignore[method-assign]
        self.answered = False

    async def _laptop(self, command: Any, by: str) -> object:
        if not isinstance(command, StartSession) or command.signature is not None:
            return await self._of_laptop(command, by)
        start = waiting(command.session_id)
        self.show(LAPTOP, start)
        return SessionBegun(session_id=command.session_id, waiting=start)

    async def _tower(self, command: Any, by: str) -> object:
        match command:
            case ReadStartLink() if self.answered or command.token != TOKEN:
                raise StartNotWaiting("Nobody approved this start in time.")
            case ReadStartLink():
                return StartByLink(device="tower", start=waiting(), block_seconds=86400)
            case AnswerStartLink():
                self.answered = True
                return {}
            case _:
                return await self._of_tower(command, by)

    def show(self, device: str, *starts: WaitingStart) -> None:
        state = StartsState(approval="local_confirm", waiting=starts)
        self.machines.show(device, starts=state)

    def commands(self, device: str, kind: type) -> list[Any]:
        of = self.machines.laptop if device == LAPTOP else self.machines.hub.device
        return [one for one in of.commands if isinstance(one, kind)]


async def start_on_laptop(page: Page) -> None:
    await page.locator("button.k-device").click()
    await page.get_by_role("menuitemradio", name="laptop").click()
    await page.get_by_label("Task").fill("Port the lexer at once")
    await page.locator(".start__go").click()


async def is_sound(tab: Tab) -> None:
    assert await serious(tab) == []
    assert not await tab.page.evaluate(WIDER)


@pytest.mark.row("R17")
@SIZES
async def test_a_start_waits_for_its_machine_is_denied_with_the_text_kept_and_then_approved(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        asking = Asking(machines)
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/", size=size)
        page = tab.page
        await start_on_laptop(page)
        head = page.locator(".going h1")
        await expect(head).to_contain_text("Waiting for approval on laptop…")
        await expect(page.locator(".going")).to_contain_text("bascule starts approve a1b2c3d4")
        await expect(page.locator(".going")).to_contain_text("first time from this address")
        if size is DESKTOP:
            await expect(page.locator(".waiting-start")).to_contain_text("Waiting for approval on laptop…")
        await is_sound(tab)
        begun = asking.commands(LAPTOP, StartSession)[-1]
        denied = waiting(begun.session_id, state="denied", message="Denied on laptop.")
        asking.show(LAPTOP, denied)
        failed = page.locator(".failure-card")
        await expect(failed).to_contain_text("laptop refused it")
        await expect(failed).to_contain_text("Denied on laptop.")
        await expect(page.get_by_label("Task")).to_have_value("Port the lexer at once")
        # Once more; this time somebody approves it there.
        await failed.get_by_role("button", name="Try again").click()
        await expect(head).to_contain_text("Waiting for approval on laptop…")
        begun = asking.commands(LAPTOP, StartSession)[-1]
        asking.show(LAPTOP)
        await asking._of_laptop(begun, "Mira")
        await expect(page).to_have_url(f"{machines.hub.url}/sessions/{begun.session_id}")
        assert tab.errors == []


@pytest.mark.row("R17")
@SIZES
async def test_the_inbox_approves_on_the_machine_itself_and_only_tells_elsewhere(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        asking = Asking(machines)
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/inbox", size=size)
        page = tab.page
        asking.show(LAPTOP, waiting("far"))
        far = page.locator(".waiting-card")
        await expect(far).to_contain_text("Waiting for approval on laptop…")
        await expect(far.get_by_role("button", name="Approve")).to_have_count(0)
        await is_sound(tab)
        await far.get_by_role("button", name="Withdraw").click()
        await until(lambda: bool(asking.commands(LAPTOP, WithdrawStart)))
        asking.show(LAPTOP)
        asked = StartSession(
            session_id="near",
            agent="claude-code",
            cwd="/code/lantern",
            options=StartOptions(capability="project_scoped"),
        )
        by = Actor("Mira", "g", "203.0.113.9", "Mozilla/5.0 (X11; Linux) Chrome/126.0", via="office hub")
        now = time.time()
        asking.show(TOWER, described(Envelope(asked, by), "a1b2c3d4", now, now + 290, ()))
        near = page.locator(".waiting-card")
        await expect(near).to_contain_text("Allow a session on tower?")
        await expect(near).to_contain_text("claude-code (relay, Project only)")
        await expect(near).to_contain_text("Mira, Chrome on Linux, 203.0.113.9, office hub")
        await is_sound(tab)
        await near.get_by_role("button", name="Block all for 24 h").click()
        await until(lambda: bool(asking.commands(TOWER, DecideStart)))
        assert asking.commands(TOWER, DecideStart) == [DecideStart(start_id="a1b2c3d4", decision="block")]
        assert tab.errors == []


@pytest.mark.row("R17")
@SIZES
async def test_a_resumed_session_is_named_in_the_inbox_and_each_start_is_approved_or_denied(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        asking = Asking(machines)
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/inbox", size=size)
        page = tab.page
        asking.show(TOWER, waiting("old", what="claude-code resumes “Trim the wick”", words="", plain=False))
        card = page.locator(".waiting-card")
        await expect(card).to_contain_text("claude-code resumes “Trim the wick”")
        await expect(card).to_contain_text("/code/lantern")
        await is_sound(tab)
        await card.get_by_role("button", name="Deny").click()
        await until(lambda: bool(asking.commands(TOWER, DecideStart)))
        asking.show(TOWER, waiting("new", id="e5f6a7b8"))
        await expect(card).to_contain_text("Port the lexer to the new grammar")
        await card.get_by_role("button", name="Approve").click()
        await expect(page).to_have_url(f"{machines.hub.url}/sessions/new")
        assert asking.commands(TOWER, DecideStart) == [
            DecideStart(start_id="a1b2c3d4", decision="deny"),
            DecideStart(start_id="e5f6a7b8", decision="approve"),
        ]
        assert tab.errors == []


@pytest.mark.row("R17")
@SIZES
async def test_a_start_that_nobody_approved_in_time_says_so_and_keeps_the_text(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        asking = Asking(machines)
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/", size=size)
        page = tab.page
        await start_on_laptop(page)
        await expect(page.locator(".going h1")).to_contain_text("Waiting for approval on laptop…")
        begun = asking.commands(LAPTOP, StartSession)[-1]
        late = waiting(begun.session_id, state="expired", message="Nobody approved this start in time.")
        asking.show(LAPTOP, late)
        await expect(page.locator(".failure-card")).to_contain_text("Nobody approved this start in time.")
        await expect(page.get_by_label("Task")).to_have_value("Port the lexer at once")
        assert tab.errors == []


@pytest.mark.row("R17")
@SIZES
async def test_a_one_time_link_opens_a_page_and_only_its_button_acts(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        asking = Asking(machines)
        context = await browser.new_context(viewport=size)
        context.set_default_timeout(PATIENCE_MS)
        page = await context.new_page()
        # A mail program that looks at the link sees the page, and nothing happens by that.
        for _ in range(2):
            await page.goto("about:blank")
            await page.goto(f"{machines.hub.url}/#approve={TOKEN}")
            await expect(page.get_by_role("heading", name="Allow a session on tower?")).to_be_visible()
        await expect(page.locator(".waiting-card")).to_contain_text("Port the lexer to the new grammar")
        assert asking.commands(TOWER, AnswerStartLink) == []
        assert TOKEN not in page.url
        assert not await page.evaluate(WIDER)
        await page.get_by_role("button", name="Approve").click()
        await expect(page.get_by_role("heading", name="Approved")).to_be_visible()
        assert asking.commands(TOWER, AnswerStartLink) == [AnswerStartLink(token=TOKEN, decision="approve")]
        await page.goto("about:blank")
        await page.goto(f"{machines.hub.url}/#approve={TOKEN}")
        await expect(page.get_by_role("heading", name="This link does not work")).to_be_visible()
        await context.close()


@pytest.mark.row("R17")
@SIZES
async def test_a_browser_that_was_given_the_code_signs_its_starts_and_the_code_never_leaves_it(
    tmp_path: Path, browser: Browser, size: Any
) -> None:
    async with two_machines(tmp_path) as machines:
        asking = Asking(machines)
        asking.show(LAPTOP)
        tab = await open_tab(browser, machines.hub.url, machines.token, path="/settings/devices", size=size)
        page, sent = tab.page, list[str]()
        page.on("request", lambda request: sent.append(f"{request.url} {request.post_data or ''}"))
        page.on("websocket", lambda socket: socket.on("framesent", lambda data: sent.append(str(data))))
        await page.reload()
        card = page.get_by_role("region", name="laptop", exact=True)
        await card.get_by_role("button", name="Trust this browser").click()
        field = card.get_by_label("Code that laptop shows")
        await field.fill("0123")
        await field.press("Enter")
        await expect(card.get_by_role("alert")).to_contain_text("That is not a code")
        await is_sound(tab)
        await field.fill("01234-56789-abcde-fghjk-mnpqr-s")
        await field.press("Enter")
        await expect(card).to_contain_text("this browser signs its own")
        await page.goto(f"{machines.hub.url}/")
        await start_on_laptop(page)
        await until(lambda: bool(asking.commands(LAPTOP, StartSession)))
        [start] = asking.commands(LAPTOP, StartSession)
        assert start.signature.key == key_id(CODE)
        assert problem_of(CODE, LAPTOP, start, time.time(), ()) == ""
        assert problem_of(CODE, LAPTOP, replace(start, prompt="other"), time.time(), ()) != ""
        # The browser's own account of what it sent may come after the machine has it.
        await until(lambda: "PORTTHELEXER" in "".join(sent).upper().replace(" ", ""))
        assert CODE not in "".join(sent).upper().replace("-", "")
        # Logging out leaves nothing of it in the browser.
        assert await page.evaluate(KEYS) == [LAPTOP]
        await page.evaluate("document.activeElement?.blur()")
        await page.keyboard.press("Control+k")
        await page.keyboard.type("Log out")
        row = page.get_by_role("option", name="Log out")
        await expect(row).to_have_attribute("aria-selected", "true")
        async with page.expect_navigation():
            await page.keyboard.press("Enter")
        assert await page.evaluate(KEYS) == []
        assert tab.errors == []
