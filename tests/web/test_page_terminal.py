"""Terminals in the page: a real server, real shells, and Chromium around them."""

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, expect
from tests.cli.test_cli_attach import Tty
from tests.live import FAKES, LiveServer
from tests.parts import Part
from tests.terminal.viewing import grant, terminal
from tests.web.chrome import PHONE, needs_chromium, open_tab
from tests.web.terminal_screen import Screen

from bascule.model.events import SessionStarted

pytestmark = [pytest.mark.anyio, needs_chromium]

SMALL = {"width": 1000, "height": 640}

# Asks a terminal everything, then says what came as keys, once a q and a w have come, too.
ASKER = r"""
import os, sys, termios, tty
old = termios.tcgetattr(0)
tty.setraw(0)
out = sys.stdout.buffer
out.write(b"\x1b]2;evil; touch x\x07\r" + "日本語\U0001f44d".encode() + b"\x1b[6n\r\n")
out.write(b"\x1b[c\x1b[>c\x1b[5n\x1bP$qm\x1b\\\x1b[?2004$p\x1bP+q544e\x1b\\\x1b]4;1;?\x07\x1b]10;?\x07")
out.write(b"\x1b]11;?\x07\x1b]50;?\x07\x1b]52;c;?\x07\x1b[21t\x05\x1bZ\r\nASKED\r\n")
out.flush()
got = b""
while b"q" not in got or b"w" not in got:
    got += os.read(0, 4096)
termios.tcsetattr(0, termios.TCSADRAIN, old)
open("got", "wb").write(got)
print("TO" + "LD")
"""

# Shows what it was started with, and what is typed.
SCREEN = r"""
import sys
print("STARTED", *sys.argv[1:], flush=True)
for line in sys.stdin:
    print("heard", line, flush=True)
"""


@pytest.fixture(scope="module")
async def shared(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir, env={"SHELL": "/bin/sh"}) as running:
        yield running


@pytest.fixture
async def shells(shared: LiveServer) -> AsyncIterator[LiveServer]:
    """The module's server; the terminals of the test before have ended."""
    yield shared
    await shared.clear()


async def at_terminal(browser: Browser, server: LiveServer, session: str, **more: Any) -> Screen:
    token = more.pop("token", server.token)
    tab = await open_tab(browser, server.url, token, path=f"/sessions/{session}", color_scheme="dark", **more)
    return Screen(tab)


@pytest.mark.row("P7", "P8", "S54", "REL-38")
async def test_one_terminal_is_seen_by_two_pages_and_by_attach(shells: LiveServer, browser: Browser) -> None:
    (shells.work / "asker.py").write_text(ASKER)
    session = await terminal(shells)
    one = await at_terminal(browser, shells, session)
    await one.prompts()
    two = await at_terminal(browser, shells, session, token=await grant(shells, "operator"), size=SMALL)
    await two.prompts()
    async with Tty(shells, "attach", session, cols=220, rows=80) as tty:
        await tty.shows(b" ")
        await one.type("echo from-o''ne\n")
        for screen in (one, two):
            await screen.shows("from-one")
        await tty.shows(b"from-one")
        await two.tab.told("is typing")
        await two.type("echo from-t''wo\n")
        # One line at a time: keys of two people at once would stand in one line of the shell.
        for screen in (one, two):
            await screen.shows("from-two")
        await tty.shows(b"from-two")
        tty.type(b"echo from-att''ach\r")
        for screen in (one, two):
            await screen.shows("from-attach")
        # Whoever attaches looks at it now, so that window counts, and the others are told whose it is.
        await expect(one.foot.locator(".whose")).to_have_text("220 × 80, fits this machine’s window")
        await one.type("clear; stty size\n")
        for screen in (one, two):
            await screen.shows("80 220")
        await one.foot.get_by_role("button", name="More").click()
        await one.tab.page.get_by_role("menuitem", name="Fit it to my window").click()
        await expect(one.foot.locator(".whose")).to_have_text(re.compile(r"^\d+ × \d+$"))
        # Three look on, and a program's questions are answered by one of them, in safe words only.
        await one.type(f"clear; {sys.executable} asker.py\n")
        for screen in (one, two):
            await screen.shows("ASKED")
        await tty.shows(b"ASKED")
        await one.type("q")
        await two.type("w")
        for screen in (one, two):
            await screen.shows("TOLD")
        got = (shells.work / "got").read_bytes()
        assert got.count(b"\x1b[?1;2c") == 1, got
        assert got.count(b"\x1b[0n") == 1, got
        assert re.findall(rb"\x1b\[\d+;(\d+)R", got) == [b"9"], got  # wide characters are two columns
        assert b"evil" not in got
        assert b"]52" not in got
    # Without anybody's claim the smallest window counts.
    await one.tab.page.reload()
    await expect(one.foot.locator(".whose")).to_contain_text("fits a operator’s window")
    await expect(two.foot.locator(".whose")).to_have_text(re.compile(r"^\d+ × \d+$"))
    cols, rows = (await two.foot.locator(".whose").inner_text()).split(" × ")
    await one.type("clear; stty size\n")
    for screen in (one, two):
        await screen.shows(f"{rows} {cols}")
    await two.tab.page.context.close()
    await expect(one.foot.locator(".whose")).to_have_text(re.compile(r"^\d+ × \d+$"))
    await one.type("exit\n")
    await expect(one.foot).to_contain_text("Ended. What it wrote is kept.")
    await one.foot.get_by_role("button", name="Start it again").click()
    await one.prompts()
    await one.type("echo ag''ain\n")
    await one.shows("again")
    assert one.tab.errors == []


@pytest.mark.row("P8", "S53")
async def test_links_finding_copying_pasting_bell_text_size_and_theme(
    shells: LiveServer, browser: Browser, part: Part
) -> None:
    session = await terminal(shells)
    screen = await at_terminal(browser, shells, session, permissions=["clipboard-read", "clipboard-write"])
    page = screen.tab.page
    refused: list[str] = []
    page.on("console", lambda said: refused.append(said.text) if "Policy" in said.text else None)
    await screen.prompts()
    link = r"\033]8;;{}\033\\{}\033]8;;\033\\"
    bad, good = (
        link.format("javascript:alert(1)", "bad-one"),
        link.format("https://real.example/way", "fake.example"),
    )
    ringing = asyncio.create_task(page.wait_for_selector(".session-tab[data-ringing]"), name="ringing")
    await screen.type(
        f"clear; printf '{bad} {good}\\n\\033[31mcolour\\033[0m http://plain.example/x\\n\\a'\n"
    )
    await screen.shows("colour")
    with part("colours are those of the theme"):
        red = screen.frame.locator(".xterm-rows span", has_text="colour").last
        await expect(red).to_have_css("color", "rgb(247, 118, 142)")
    with part("a link says where it leads, and asks first"):
        await page.mouse.click(*await screen.at("bad-one"))
        await page.mouse.move(*await screen.at("fake.example"))
        await expect(screen.frame.locator("#target")).to_have_text("https://real.example/way")
        await page.mouse.click(*await screen.at("fake.example"))
        card = page.get_by_role("dialog", name="Open this link?")
        await expect(card.locator("p")).to_have_text("https://real.example/way")
    with part("the tab blinks, and nothing else says it"):
        await ringing
        await expect(screen.foot).not_to_contain_text(re.compile("bell", re.IGNORECASE))
    # Finding
    rows = await screen.height()
    await screen.element.click()
    await page.keyboard.press("Control+Shift+F")
    field = page.get_by_label("Find in this terminal")
    with part("what is found is counted"):
        await field.fill("plain.example")
        await expect(page.locator("#terminal .find-bar .hint")).to_have_text("1 of 1")
        await field.fill("nowhere-to-be-found")
        await expect(page.locator("#terminal .find-bar .hint")).to_have_text("not found")
        # The bar takes a line or two from the terminal and gives them back; a new height ends a selection.
        await expect(screen.lines).not_to_have_count(rows)
    await page.keyboard.press("Escape")
    await expect(screen.lines).to_have_count(rows)
    with part("a selection is copied"):
        await page.mouse.dblclick(*await screen.at("colour"))
        await page.keyboard.press("Control+Shift+C")
        await expect(page.locator("#status")).to_have_text("Copied.")
        assert await page.evaluate("navigator.clipboard.readText()") == "colour"
    # Pasting: one line as it is, several only when a person says so, bracketed where the program wants it.
    await screen.type("clear; printf '\\033[?2004h'; echo bracket''ed; cat -v\n")
    await screen.shows("bracketed")
    with part("one line is pasted as it is"):
        await paste(screen, "single")
        await screen.shows("^[[200~single^[[201~")
    await paste(screen, "rm -rf a\nrm -rf b\n")
    ask = page.get_by_role("alertdialog")
    with part("several lines are shown before they are pasted"):
        await expect(ask).to_contain_text("Paste 2 lines?")
        await expect(ask.locator("pre")).to_have_text("rm -rf a\nrm -rf b")
    await ask.get_by_role("button", name="Cancel").click()
    await expect(ask).to_have_count(0)
    await paste(screen, "first\nsecond")
    await ask.get_by_role("button", name="Paste").click()
    await screen.shows("^[[200~first")
    await screen.shows("second^[[201~")
    await expect(screen.rows).not_to_contain_text("rm -rf")
    # Text size and theme
    await page.keyboard.press("Control+C")
    with part("the text grows"):
        before = await screen.foot.locator(".whose").inner_text()
        await screen.foot.get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Larger text").click()
        await expect(screen.foot.locator(".whose")).not_to_have_text(before)
    with part("the theme is the system's"):
        await expect(screen.frame.locator(".xterm-scrollable-element")).to_have_css(
            "background-color", "rgb(19, 20, 28)"
        )
        await page.emulate_media(color_scheme="light")
        await expect(screen.frame.locator(".xterm-scrollable-element")).to_have_css(
            "background-color", "rgb(253, 253, 255)"
        )
    assert refused == [], "the policy holds, and nothing ran against it"
    with part("the frame can reach nothing of the shell, nor the network"):
        frame = next(one for one in page.frames if "/terminal" in one.url)
        assert (
            await frame.evaluate("fetch('/api/sessions').then(() => 'reached', () => 'refused')") == "refused"
        )
        assert (
            await frame.evaluate(
                "(() => { try { return String(parent.document) } catch { return 'closed' } })()"
            )
            == "closed"
        )
    assert screen.tab.errors == []
    assert screen.tab.strangers == []


async def paste(screen: Screen, text: str) -> None:
    """As a browser delivers it to whatever has the focus in the frame."""
    await screen.element.click()
    await screen.frame.locator(".xterm-helper-textarea").evaluate(
        """(area, text) => {
          const data = new DataTransfer();
          data.setData('text/plain', text);
          const event = { clipboardData: data, bubbles: true, cancelable: true };
          area.dispatchEvent(new ClipboardEvent('paste', event));
        }""",
        text,
    )


@pytest.mark.row("P8")
async def test_a_phone_has_the_keys_its_keyboard_lacks(shells: LiveServer, browser: Browser) -> None:
    session = await terminal(shells)
    screen = await at_terminal(browser, shells, session, size=PHONE)
    page = screen.tab.page
    await screen.prompts()
    for key in await page.locator(".key-bar__key").all():
        box = await key.bounding_box()
        assert box is not None
        assert box["height"] >= 44
        assert box["width"] >= 44
    await screen.type("clear; echo list''ening; cat -v\n")
    await screen.shows("listening")
    for name in ("Up", "Esc, Escape", "Bar", "Slash"):
        await page.get_by_role("button", name=name, exact=True).click()
    await page.keyboard.press("Enter")
    await screen.shows("^[[A^[|/")
    control = page.get_by_role("button", name="Control, for the next key")
    await control.click()
    await expect(control).to_have_attribute("aria-pressed", "true")
    await screen.type("c")
    await expect(control).to_have_attribute("aria-pressed", "false")
    await screen.type("clear; printf '\\033[?1h'; echo arr''ows; cat -v\n")
    await screen.shows("arrows")
    await page.get_by_role("button", name="Left", exact=True).click()
    await page.keyboard.press("Enter")
    await screen.shows("^[OD")
    await page.get_by_role("button", name="Control C").click()
    await screen.type("echo do''ne\n")
    await screen.shows("done")
    assert screen.tab.errors == []


@pytest.mark.row("P7", "P8")
async def test_what_scrolled_out_of_reach_comes_from_the_tape_and_a_killed_server_costs_nothing(
    shells: LiveServer, browser: Browser
) -> None:
    session = await terminal(shells)
    screen = await at_terminal(browser, shells, session)
    page = screen.tab.page
    await screen.prompts()
    await screen.type("clear; seq -f line-%06g 1 60000; echo wri''tten\n")
    await screen.shows("written")
    # Whoever comes now begins near the end.
    await page.reload()
    await screen.shows("written")
    await screen.element.click()
    await page.keyboard.press("Control+Shift+F")
    field, hint = page.get_by_label("Find in this terminal"), page.locator("#terminal .find-bar .hint")
    await field.fill("line-050000")
    await expect(hint).to_have_text("not found")
    await screen.element.click()
    await page.keyboard.press("Shift+Home")
    await screen.frame.get_by_role("button", name="Show earlier output").click()
    await field.fill("line-05000")
    await field.fill("line-050000")
    await expect(hint).to_have_text("1 of 1")
    await page.keyboard.press("Escape")
    await shells.kill()
    await expect(screen.foot).to_contain_text(
        "Not connected. The program keeps running, and nothing is lost."
    )
    await shells.start()
    await expect(screen.foot).not_to_contain_text("Not connected")
    await screen.type("echo ba''ck\n")
    await screen.shows("back")
    assert screen.tab.errors == []


@pytest.mark.row("P8")
async def test_a_terminal_beside_a_chat_and_one_conversation_both_ways(
    short_dir: Path, browser: Browser, part: Part
) -> None:
    server = LiveServer(short_dir, env={"SHELL": "/bin/sh"})
    screen_script = server.work / "screen.py"
    screen_script.write_text(SCREEN)
    talks = json.dumps(["-E", "-S", str(FAKES / "well_behaved.py")])
    draws = json.dumps(["-E", "-S", "-u", str(screen_script)])
    server.add_agent_file(
        "duo",
        f'name = "duo"\ntitle = "Duo"\nsearch = {json.dumps([sys.executable])}\n'
        f'[[drivers]]\nname = "stream_json"\nargs = {talks}\n'
        'model = ["--model={value}"]\nresume = ["--resume={value}"]\n'
        f'[[drivers]]\nname = "terminal"\nargs = {draws}\n'
        'resume = ["--resume={value}"]\n',
    )
    async with server:
        chat = await server.create("hello", agent="duo")
        tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{chat}")
        page = tab.page
        await expect(page.locator(".pill")).to_have_text("Ready")
        # A shell in the session's folder, beside it.
        await page.locator("#sbar").get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Open a terminal here").click()
        beside = Screen(tab, "#beside")
        await beside.prompts()
        await beside.type("pwd; echo be''side\n")
        await beside.shows(f"{server.work}")
        await beside.shows("beside")
        await expect(page.locator("#message")).to_be_visible()
        with part("the width is changed by keys"):
            grip = page.get_by_role("separator", name="Width of the chat")
            await grip.focus()
            wide = (await page.locator("#beside").bounding_box() or {})["width"]
            for _ in range(5):
                await page.keyboard.press("ArrowRight")
            await expect(grip).to_have_attribute("aria-valuenow", "60")
            assert (await page.locator("#beside").bounding_box() or {})["width"] < wide
        await page.locator("#beside").get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Show it alone").click()
        alone = Screen(tab)
        await alone.shows("beside")
        await alone.foot.get_by_role("button", name="More").click()
        await page.get_by_role("menuitem", name="Show it beside a chat").click()
        await beside.shows("beside")
        await page.locator("#beside").get_by_role("button", name="Close").click()
        await expect(page.locator("#beside")).to_be_hidden()
        # The same conversation on the agent's own screen, and back.
        await page.get_by_role("button", name="Continue in the terminal").click()
        await alone.shows("STARTED --resume=")
        await alone.type("typed here\n")
        await alone.shows("heard typed here")
        # One conversation is one row, whichever way it goes on.
        row = page.locator("#side .session-row", has_text="hello")
        await expect(row).to_have_count(1)
        resumed = (await alone.rows.inner_text()).split("--resume=")[1].split()[0]
        screen_id = page.url.rsplit("/", 1)[1]
        reader = await at_terminal(browser, server, screen_id, token=await grant(server, "viewer"))
        await reader.shows("heard typed here")
        await expect(reader.foot).to_contain_text("You’re following live. You can’t type here.")
        await reader.type("not from me\n")
        await page.get_by_role("button", name="Continue as a chat").click()
        await expect(page).to_have_url(re.compile(f"{chat}$"))
        await expect(page.locator(".pill")).to_have_text("Ready")  # what comes after one has left is news
        with part("the chat continues the conversation of the screen"):
            started = [one.event for one in await server.log(chat) if isinstance(one.event, SessionStarted)]
            assert [one.resumed_from for one in started] == [None, resumed]
        with part("it is still one row"):
            await expect(reader.foot).to_contain_text("Ended.")
            await expect(row).to_have_count(1)
            await expect(row).not_to_contain_text("Ended")
        await tab.turn_to("/inbox")
        await expect(page.get_by_role("heading", name="Nothing needs you.")).to_be_visible()
        assert "not from me" not in await reader.rows.inner_text()
        assert tab.errors == []
        assert reader.tab.errors == []


@pytest.mark.row("F9", "S61")
async def test_a_link_to_a_terminal_says_in_words_that_it_shows_no_screen(
    shells: LiveServer, browser: Browser
) -> None:
    session = await terminal(shells)
    screen = await at_terminal(browser, shells, session)
    page = screen.tab.page
    await screen.prompts()
    await screen.type("echo sec''ret\n")
    await screen.shows("secret")
    await page.get_by_role("button", name="Share", exact=True).click()
    share = page.get_by_role("dialog", name="Share this session")
    await expect(share).to_contain_text("A link does not show a terminal’s screen.")
    await expect(share.get_by_role("button", name="Create a link")).to_have_count(0)
    # The API still makes one, for what is said about the session.
    made = (await shells.post(f"/api/sessions/{session}/share")).json()
    guest = await open_tab(browser, shells.url, made["token"], path="/s", size=PHONE)
    await expect(guest.page.locator("#terminal")).to_contain_text("This session is a terminal.")
    await expect(guest.page.locator("#guest")).to_contain_text("a link does not show its screen")
    await expect(guest.page.locator(".term-frame")).to_have_count(0)
    assert guest.errors == []
    assert screen.tab.errors == []


# In the terminal's frame: what asks it to take the focus waits until it is let go.
HOLD_FOCUS = """() => {
  if (!location.pathname.startsWith('/terminal')) return;
  const known = Object.getOwnPropertyDescriptor(MessagePort.prototype, 'onmessage');
  Object.defineProperty(MessagePort.prototype, 'onmessage', {
    set(take) {
      known.set.call(this, (event) => {
        if (event.data?.type === 'focus') window.letGo = () => take(event);
        else take(event);
      });
    },
  });
}"""


async def test_a_terminal_that_is_ready_late_does_not_close_the_menu_one_has_opened(
    shells: LiveServer, browser: Browser
) -> None:
    session = await terminal(shells)
    tab = await open_tab(browser, shells.url, shells.token)
    page = tab.page
    await page.add_init_script(f"({HOLD_FOCUS})()")
    await tab.go(f"/sessions/{session}")
    element = await page.locator("#terminal .term-frame").element_handle()
    frame = await element.content_frame()
    assert frame is not None
    await frame.wait_for_url("**/terminal*")
    await frame.wait_for_function("() => Boolean(window.letGo)")
    more = page.locator("#sbar").get_by_role("button", name="More", exact=True)
    await more.click()
    await frame.evaluate("() => { window.letGo(); return new Promise((done) => setTimeout(done)); }")
    await page.evaluate("() => new Promise((done) => setTimeout(done))")
    await expect(more).to_have_attribute("aria-expanded", "true")
    await expect(page.get_by_role("menu").get_by_role("menuitem").first).to_be_focused()
    await page.keyboard.press("Escape")
    await page.locator("#terminal .term-frame").focus()
    await frame.wait_for_function("() => document.activeElement?.matches('.xterm-helper-textarea')")
    await page.keyboard.type("echo we$((3 - 1))ll\n")
    await Screen(tab).shows("we2ll")
    assert tab.errors == []
