"""`<bascule-launch>` in a real Chromium: on pages of this machine, of the internet and without https."""

import asyncio
import json
import signal

import pytest
from playwright.async_api import Page, Route, expect
from tests.launch.desk import Desk, digest
from tests.launch.ports import nobody_there
from tests.launch.sites import OpenStreet
from tests.launch.test_launch_commands import bridge
from tests.waiting import PATIENCE, PATIENCE_MS
from tests.web.axe import serious_on
from tests.web.chrome import needs_chromium

pytestmark = [pytest.mark.anyio, needs_chromium]
MIB = 1024 * 1024
BUTTON = "bascule-launch button.launch"
# A letter that takes more than one byte, quotes, and line breaks that must not be trimmed.
LARGE = ('naïve "quoted" $(x) `y` 漢字 🎉\n' * (MIB // 30))[: MIB - 3] + "\n\n\n"
DELTA = {"ops": [{"insert": "Do"}, {"insert": "\n", "attributes": {"header": 1}}, {"insert": "one\n"}]}


async def state_is(page: Page, state: str) -> None:
    await page.locator(f"bascule-launch[data-state={state}]").wait_for(state="attached")


async def title_is(page: Page, title: str) -> None:
    await expect(page.locator(BUTTON)).to_have_attribute("title", title)


async def toast_is(page: Page, words: str) -> None:
    """A toast says this, or has said it."""
    await page.wait_for_function("(words) => window.toasts.some((one) => one.includes(words))", arg=words)


async def succeeded(page: Page, times: int = 1) -> None:
    """The button has shown its check mark so many times."""
    await page.wait_for_function(
        "(times) => window.states.filter((one) => one === 'success').length >= times", arg=times
    )


@pytest.mark.row("L8", "L13", "LV-2", "LV-3", "LV-4", "LV-5", "LV-16")
async def test_a_click_launches_once_and_the_button_tells_each_step(desk: Desk, street: OpenStreet) -> None:
    prompt = "quotes \"'` $(x)\nthree\n\nlines 漢字 🎉"
    async with street() as here:
        page = await here.open(here.near)
        await title_is(page, "Launch in Claude CLI")
        await expect(page.locator(BUTTON)).to_have_attribute("aria-label", "Launch in Claude CLI")
        # A toast that says nothing is there for screen readers, and leaves no dot on the page.
        toast = page.locator("bascule-launch .toast")
        assert await toast.evaluate("one => getComputedStyle(one).clipPath") == "inset(50%)"
        await page.locator("#text").fill(prompt)
        await page.evaluate(
            "() => { const { shadowRoot } = document.querySelector('bascule-launch');"
            "const button = shadowRoot.querySelector('button');"
            # The answer comes after the second click, however long the page is held up before it.
            "const { fetch } = window; const again = new Promise((resolve) => setTimeout(resolve, 40))"
            ".then(() => button.click());"
            "window.fetch = async (asked) => {"
            "const answer = await fetch(asked); await again; return answer; };"
            "button.click(); }"
        )
        await toast_is(page, "Opened in xterm")
        await page.wait_for_function("window.states.at(-1) === 'ready'")
        assert await page.evaluate("window.states") == ["ready", "launching", "success", "ready"]
        assert (await desk.note("sha256"))["sha256"] == digest(prompt)
        assert len(desk.terminals()) == 1
        # By keyboard, and the toast is what a screen reader is told.
        await page.locator("#text").focus()
        await page.keyboard.press("Tab")
        await page.keyboard.press("Enter")
        assert (await desk.note("sha256", 2))["sha256"] == digest(prompt)
        await expect(page.locator("bascule-launch .toast")).to_have_attribute("aria-live", "polite")
        assert await serious_on(page) == []


@pytest.mark.row("L8", "L9")
async def test_the_prompt_comes_from_an_attribute_a_selector_a_quill_editor_or_a_delta(
    desk: Desk, street: OpenStreet
) -> None:
    async with street() as here:
        page = await here.open(here.near, prompt="by attribute")
        await page.locator(BUTTON).click()
        assert (await desk.note("sha256"))["sha256"] == digest("by attribute")
        await succeeded(page)
        await page.evaluate(
            "async (delta) => { const { default: Quill } = await import('/quill.js');"
            "const div = document.createElement('div'); document.body.append(div);"
            "const quill = new Quill(div); quill.setContents(delta);"
            "document.querySelector('bascule-launch').quill = quill; }",
            DELTA,
        )
        await page.locator(BUTTON).click()
        assert (await desk.note("sha256", 2))["sha256"] == digest("# Do\n\none")
        await succeeded(page, 2)
        for times, (format_, text) in enumerate((("markdown", "# Do\n\none"), ("text", "Do\none")), 3):
            await page.evaluate(
                "([delta, format]) => { const e = document.querySelector('bascule-launch');"
                "e.quill = null; e.setAttribute('delta', delta); e.setAttribute('format', format); }",
                [json.dumps(DELTA), format_],
            )
            await page.locator(BUTTON).click()
            assert (await desk.note("sha256", times))["sha256"] == digest(text)
            await succeeded(page, times)


@pytest.mark.row("L8", "L13", "LV-10", "LV-13", "LV-14", "LV-15")
async def test_an_error_is_told_in_the_tables_words_and_a_mebibyte_arrives_whole(
    desk: Desk, street: OpenStreet
) -> None:
    async with street() as here:
        page = await here.open(here.near)
        await page.locator("#text").fill("")
        await page.locator(BUTTON).click()
        await toast_is(page, "No prompt content to launch")
        await state_is(page, "error")
        for many, toast in ((MIB + 1, "Prompt exceeds maximum size"), (500_000, "Opened in xterm")):
            await page.evaluate("(n) => { document.querySelector('#text').value = 'x'.repeat(n); }", many)
            await page.locator(BUTTON).click()
            await toast_is(page, toast)
        assert (await desk.note("sha256"))["sha256"] == digest("x" * 500_000)
        desk.terminal("exits")
        await page.locator(BUTTON).click()
        await toast_is(page, "Failed to open terminal")
        assert await page.locator(BUTTON).get_attribute("title") != "Launch in Claude CLI"
        desk.terminal("opens")
        await page.evaluate("(text) => { document.querySelector('#text').value = text; }", LARGE)
        await page.locator(BUTTON).click()
        assert (await desk.note("sha256", 2))["sha256"] == digest(LARGE)


@pytest.mark.row("L2", "L5", "L8")
async def test_a_terminal_that_opens_no_window_is_told_truthfully_in_the_page(
    desk: Desk, street: OpenStreet
) -> None:
    # Long enough for the terminal to end before it is given up.
    async with street(window_seconds=10) as here:
        page = await here.open(here.near)
        for does, told in (
            ("exits", "xterm ended with code 3."),
            ("shows nothing", "xterm has ended without an error, but showed no window within 10 s."),
            ("hangs", "xterm showed no window within 10 s."),
        ):
            desk.terminal(does)
            async with page.expect_response(f"{here.bridge}/launch") as answering:
                await page.locator(BUTTON).click()
            launch = (await (await answering.value).json())["details"]["id"]
            await title_is(page, f"Failed to open terminal: {told}")
            receipt = await page.evaluate(
                "async (url) => (await fetch(url)).json()", f"{here.bridge}/launch/{launch}"
            )
            assert (receipt["success"], receipt["error"]) == (False, "terminal_spawn_failed")
        await toast_is(page, "Failed to open terminal")
        assert "success" not in await page.evaluate("window.states")


@pytest.mark.row("L8", "L13", "LV-7")
async def test_a_click_while_the_bridge_is_offline_shows_how_to_start_it(
    desk: Desk, street: OpenStreet
) -> None:
    async with street() as here, nobody_there() as nobody:
        here.bridge = nobody
        page = await here.open(here.near)
        await state_is(page, "offline")
        await title_is(page, "Bridge offline - click for instructions")
        await page.locator(BUTTON).click()
        dialog = page.locator("bascule-launch").get_by_role(
            "dialog", name="The launch bridge does not answer"
        )
        await expect(dialog).to_contain_text("bascule bridge")
        await expect(dialog).to_contain_text("Not installed yet?")
        await expect(dialog.get_by_label("The prompt")).to_have_value("hello there")
        assert await serious_on(page) == []
        await dialog.get_by_role("button", name="Close").click()
        await expect(dialog).to_have_count(0)
        await expect(page.locator(BUTTON)).to_be_enabled()
        assert desk.terminals() == []


@pytest.mark.row("L8", "L13", "LV-18")
async def test_a_bridge_that_is_killed_in_the_middle_of_a_launch_is_told(
    desk: Desk, street: OpenStreet
) -> None:
    desk.terminal("hangs")  # it opens no window, so that the answer is still to come
    async with street() as here, bridge(desk, CLAUDE_BRIDGE_ORIGINS=here.near.url) as (client, process):
        here.bridge = str(client.base_url).rstrip("/")
        page = await here.open(here.near)
        await title_is(page, "Launch in Claude CLI")
        await page.locator(BUTTON).click()
        async with asyncio.timeout(PATIENCE):
            while not desk.terminals():  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.02)
        await state_is(page, "launching")
        process.send_signal(signal.SIGKILL)
        await toast_is(page, "Bridge offline")
        await state_is(page, "offline")
        dialog = page.locator("bascule-launch dialog")
        await expect(dialog.get_by_label("The prompt")).to_have_value("hello there")
        assert await page.evaluate("window.states") == ["ready", "launching", "offline"]


@pytest.mark.row("L8")
async def test_a_window_that_the_browser_refuses_is_not_blamed_on_the_bridge(
    desk: Desk, street: OpenStreet
) -> None:
    """A frame that may open no windows: `open` answers as it does behind a pop-up blocker."""
    async with street(trusts=False) as here:
        here.near.pages["/outer"] = (
            '<!doctype html><html lang="en"><title>A page around it</title>'
            '<iframe title="A tool" sandbox="allow-scripts allow-same-origin" src="/"></iframe></html>'
        )
        page = await here.open(here.near)
        await page.goto(f"{here.near.url}/outer")
        inner = page.frame_locator("iframe")
        button = inner.locator(BUTTON)
        await expect(button).to_have_attribute("title", "Launch in Claude CLI (a window asks you first)")
        await button.click()
        dialog = inner.locator("bascule-launch dialog")
        await expect(dialog).to_contain_text("The launch window was not opened")
        await expect(dialog).not_to_contain_text("does not answer")
        await inner.locator("bascule-launch[data-state=error]").wait_for(state="attached")
        await expect(dialog.get_by_label("The prompt")).to_have_value("hello there")
        assert desk.terminals() == []


@pytest.mark.row("L8")
async def test_a_window_in_which_nobody_answers_is_told_as_offline(desk: Desk, street: OpenStreet) -> None:
    async with street() as here, nobody_there() as nobody:
        await here.context.clock.install(time="2026-01-01T08:00:00Z")
        here.bridge = nobody
        page = await here.open(here.plain)
        await here.context.clock.pause_at("2026-01-01T10:00:00Z")
        async with page.expect_popup():
            await page.locator(BUTTON).click()
        await state_is(page, "launching")
        await page.clock.fast_forward(10_000)
        await state_is(page, "offline")
        await expect(page.locator("bascule-launch dialog")).to_contain_text("does not answer")


@pytest.mark.row("L8")
async def test_a_page_that_may_not_reach_the_bridge_says_so_and_uses_the_window(
    desk: Desk, street: OpenStreet
) -> None:
    async with street(trusts=False) as here:
        await here.context.grant_permissions(["clipboard-read"])  # and so none else
        page = await here.open(here.secure)
        await state_is(page, "offline")
        await title_is(page, "Blocked by your browser - click to use the launch window")
        async with page.expect_popup() as opening:
            await page.locator(BUTTON).click()
        window = await opening.value
        window.set_default_timeout(PATIENCE_MS)
        await expect(window.locator("#from")).to_have_text(here.secure.url)
        await window.locator("#launch").click()
        await toast_is(page, "Opened in xterm")
        assert (await desk.note("sha256"))["sha256"] == digest("hello there")


@pytest.mark.row("L8", "L13", "LV-7")
async def test_without_a_bridge_the_button_helps_and_the_prompt_can_be_copied(
    desk: Desk, street: OpenStreet
) -> None:
    async with street() as here, nobody_there() as nobody:
        await here.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = await here.open(here.near)
        await title_is(page, "Launch in Claude CLI")
        # It was there, and is gone in the middle of a click.
        await page.evaluate(
            "(bridge) => { Object.defineProperty(document.querySelector('bascule-launch'), 'bridge',"
            "{ get: () => window.bridge ?? bridge }); }",
            nobody,
        )
        await page.locator(BUTTON).click()
        dialog = page.locator("bascule-launch dialog")
        await expect(dialog).to_contain_text("bascule bridge")
        await toast_is(page, "Bridge offline")
        await state_is(page, "offline")
        await title_is(page, "Bridge offline - click for instructions")
        await dialog.get_by_role("button", name="Copy the prompt").click()
        await toast_is(page, "Copied")
        assert await page.evaluate("navigator.clipboard.readText()") == "hello there"
        assert await serious_on(page) == []
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        assert desk.terminals() == []
        await page.locator(BUTTON).click()
        await page.evaluate("(bridge) => { window.bridge = bridge; }", here.bridge)
        await dialog.get_by_role("button", name="Try again").click()
        await toast_is(page, "Opened in xterm")


@pytest.mark.row("L8")
async def test_a_public_page_asks_nothing_before_a_click_and_tells_a_refusal(
    desk: Desk, street: OpenStreet
) -> None:
    """Headless, the browser's question counts as refused."""
    async with street() as here:
        asked: list[str] = []
        here.context.on("request", lambda one: asked.append(one.url) if here.bridge in one.url else None)
        page = await here.open(here.secure)
        await title_is(page, "Launch in Claude CLI (your browser will ask once)")
        assert asked == []
        await page.locator(BUTTON).click()
        await state_is(page, "error")
        await toast_is(page, "Your browser")
        assert desk.terminals() == []


@pytest.mark.row("L8")
async def test_a_public_page_with_the_permission_launches(desk: Desk, street: OpenStreet) -> None:
    async with street() as here:
        await here.context.grant_permissions(["local-network-access"])
        page = await here.open(here.secure)
        await title_is(page, "Launch in Claude CLI")
        await page.locator(BUTTON).click()
        await toast_is(page, "Opened in xterm")
        assert (await desk.note("sha256"))["sha256"] == digest("hello there")


@pytest.mark.row("L8")
async def test_an_insecure_page_opens_the_window_at_once_and_hands_over_a_mebibyte(
    desk: Desk, street: OpenStreet
) -> None:
    async with street() as here:
        page = await here.open(here.plain)
        await title_is(page, "Launch in Claude CLI (in a window: this page is not served over https)")
        await page.evaluate("(text) => { document.querySelector('#text').value = text; }", LARGE)
        async with page.expect_popup() as opening:
            await page.locator(BUTTON).click()
        window = await opening.value
        await expect(window.locator("#from")).to_have_text(here.plain.url)
        await expect(window.locator("#warning")).to_contain_text("without encryption")
        await window.locator("#launch").click()
        await toast_is(page, "Opened in xterm")
        assert (await desk.note("sha256"))["sha256"] == digest(LARGE)


@pytest.mark.row("L8", "S28")
async def test_a_page_that_is_not_trusted_gets_the_window_and_nothing_else(
    desk: Desk, street: OpenStreet
) -> None:
    async with street(trusts=False) as here:
        page = await here.open(here.near)
        await title_is(page, "Launch in Claude CLI (a window asks you first)")
        async with page.expect_popup() as opening:
            await page.locator(BUTTON).click()
        window = await opening.value
        await expect(window.locator("#prompt")).to_have_text("hello there")
        await window.close()
        await state_is(page, "ready")
        assert desk.terminals() == []
        refused = (
            "(url) => fetch(url + '/launch', {method: 'POST', body: '{}'}).then(() => 'read', () => 'no')"
        )
        assert await page.evaluate(refused, here.bridge) == "no"


@pytest.mark.row("L8")
async def test_versions_that_do_not_match_are_told_and_a_button_can_be_switched_off(
    desk: Desk, street: OpenStreet
) -> None:
    async with street() as here:

        async def newer(route: Route) -> None:
            answer = await route.fetch()
            await route.fulfill(response=answer, headers={**answer.headers, "x-bridge-version": "2.1"})

        await here.context.route(f"{here.bridge}/health", newer)
        page = await here.open(here.near)
        await toast_is(page, "The bridge speaks version 2.1")
        await page.evaluate("document.querySelector('bascule-launch').toggleAttribute('disabled', true)")
        await expect(page.locator(BUTTON)).to_be_disabled()
        await page.evaluate("document.querySelector('bascule-launch').launch()")
        assert desk.terminals() == []
