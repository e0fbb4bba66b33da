"""Pasting into terminals: nothing leaves its bracket or runs by itself, and nothing is cut off in silence."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.live import LiveServer
from tests.terminal.viewing import terminal
from tests.web.chrome import PHONE, needs_chromium
from tests.web.terminal_screen import Screen
from tests.web.test_page_terminal import at_terminal, paste

pytestmark = [pytest.mark.anyio, needs_chromium]

CLIPBOARD = ["clipboard-read", "clipboard-write"]
# Ctrl-U clears bash's line and Ctrl-O runs it, as Enter does.
RUN = "\x15touch PWNED\x0f"
LEAVING = (
    f"hello\x1b[201~{RUN}",
    f"hello\x9b201~{RUN}",  # the same sequence with the 8-bit introducer
    f"hello\x1b[20\x001~{RUN}",  # a terminal passes over a NUL within a sequence
    f"hello\x1b[201\x7f~{RUN}",
    f"hello\x1b\x1b[201~\x1b[200~\x1b[201~{RUN}",
    f"hello{RUN}",
    "\x03\x04touch PWNED\x0f",
)


@pytest.fixture(scope="module")
async def shared(module_dir: Path) -> AsyncIterator[LiveServer]:
    async with LiveServer(module_dir, env={"SHELL": "/bin/bash"}) as running:
        yield running


@pytest.fixture
async def bash(shared: LiveServer) -> AsyncIterator[LiveServer]:
    """The module's server; the shell of the test before has ended."""
    yield shared
    await shared.clear()


async def fresh_line(screen: Screen, word: str) -> None:
    """Whatever stands on bash's line is thrown away, and all that was typed before has been taken."""
    await screen.element.click()
    # Not Ctrl-C: its signal makes the kernel drop what bash has not read yet, such as the end of the bracket.
    await screen.tab.page.keyboard.press("Control+U")
    await screen.type(f"clear; echo {word[0]}''{word[1:]}\n")
    await screen.shows(word)
    await screen.prompts()


@pytest.mark.row("F1", "S55")
@pytest.mark.parametrize("bracketed", [True, False], ids=["bracketed", "plain"])
async def test_what_is_pasted_cannot_leave_its_bracket_and_run(
    bash: LiveServer, browser: Browser, bracketed: bool
) -> None:
    screen = await at_terminal(browser, bash, await terminal(bash))
    ask = screen.tab.page.get_by_role("alertdialog")
    await screen.prompts()
    if not bracketed:
        await screen.type("bind 'set enable-bracketed-paste off'\n")
    await fresh_line(screen, "ready")
    for number, text in enumerate(LEAVING):
        await paste(screen, text)
        await expect(ask).to_contain_text("control character")
        shown = await ask.locator("pre").inner_text()
        assert not any(ord(one) < 32 or 127 <= ord(one) < 160 for one in shown), repr(shown)
        assert "\\u{f}" in shown, "each of them is written out"
        await ask.get_by_role("button", name="Cancel").click()
        await expect(ask).to_have_count(0)
        await paste(screen, text)
        await ask.get_by_role("button", name="Paste without them").click()
        await screen.shows("touch PWNED")
        await fresh_line(screen, f"round-{number}")
        assert not (bash.work / "PWNED").exists(), repr(text)
    # What holds none of them is pasted as before, tabs and all.
    await screen.type("clear; echo list''ening; cat -A\n")
    await screen.shows("listening")
    await paste(screen, "a\tb")
    await screen.tab.page.keyboard.press("Enter")
    await screen.shows("a^Ib")
    assert screen.tab.errors == []


@pytest.mark.row("F1", "S55")
async def test_a_person_sees_all_of_what_is_pasted_before_it_is(bash: LiveServer, browser: Browser) -> None:
    screen = await at_terminal(browser, bash, await terminal(bash), permissions=CLIPBOARD)
    page = screen.tab.page
    ask = page.get_by_role("alertdialog")
    await screen.prompts()
    await screen.type("clear; echo list''ening; cat > taken\n")
    await screen.shows("listening")
    lines = [f"echo {number} {'x' * 200}" for number in range(40)]
    lines[30] = "echo \u202eevil \x1b[2J hidden\u200b"
    await paste(screen, "\n".join(lines))
    await expect(ask).to_contain_text("Paste 40 lines without 1 control character?")
    shown = ask.locator("pre")
    assert await shown.inner_text() == "\n".join(
        line.replace("\u202e", "\\u{202e}").replace("\u200b", "\\u{200b}").replace("\x1b", "\\u{1b}")
        for line in lines
    )
    assert await shown.evaluate("one => one.scrollHeight > one.clientHeight && one.tabIndex === 0")
    await shown.evaluate("one => one.scrollTo(0, one.scrollHeight)")
    await expect(ask.get_by_role("button", name="Cancel")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(ask).to_have_count(0)
    # The same by the terminal's own menu, from the clipboard.
    await page.evaluate("text => navigator.clipboard.writeText(text)", "one\x1b[201~\ntwo\n")
    await screen.foot.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Paste").click()
    await expect(ask).to_contain_text("Paste 2 lines without 1 control character?")
    await ask.get_by_role("button", name="Paste without them").click()
    await screen.shows("two")
    await page.keyboard.press("Control+D")
    await screen.type("echo do''ne\n")
    await screen.shows("done")
    assert (bash.work / "taken").read_text() == "one[201~\ntwo\n"
    assert screen.tab.errors == []


@pytest.mark.row("F1", "S55")
async def test_the_phones_paste_key_asks_too(bash: LiveServer, browser: Browser) -> None:
    screen = await at_terminal(browser, bash, await terminal(bash), size=PHONE, permissions=CLIPBOARD)
    page = screen.tab.page
    ask = page.get_by_role("alertdialog")
    await screen.prompts()
    await page.evaluate("text => navigator.clipboard.writeText(text)", LEAVING[0])
    await page.get_by_role("button", name="Paste", exact=True).click()
    await expect(ask).to_contain_text("Paste this line without 3 control characters?")
    await ask.get_by_role("button", name="Paste without them").click()
    await screen.shows("hello[201~touch PWNED")
    # A phone's keyboard may bring a text of its own as if it had been typed.
    area = screen.frame.locator(".xterm-helper-textarea")
    await area.evaluate(
        """(area, data) => area.dispatchEvent(
          new InputEvent('beforeinput', { data, inputType: 'insertText', bubbles: true, cancelable: true })
        )""",
        LEAVING[1],
    )
    await expect(ask).to_contain_text("control characters")
    await ask.get_by_role("button", name="Cancel").click()
    await fresh_line(screen, "finished")
    assert not (bash.work / "PWNED").exists()
    assert screen.tab.errors == []


@pytest.mark.row("REL-36")
async def test_a_line_too_long_for_the_program_is_handed_back_and_a_megabyte_arrives_whole(
    bash: LiveServer, browser: Browser
) -> None:
    screen = await at_terminal(browser, bash, await terminal(bash), permissions=CLIPBOARD)
    page = screen.tab.page
    ask = page.get_by_role("alertdialog")
    await screen.prompts()
    await screen.type("clear; PS1=; stty -echo; echo rea''dy; cat > taken; echo clo''sed\n")
    await screen.shows("ready")
    long = "0123456789" * 600 + "!"
    await paste(screen, long)
    await expect(ask).to_contain_text("The program can’t take a line this long")
    await expect(ask).to_contain_text("at most 4,095 bytes of a line. This line would have 6,001")
    await expect(ask.locator("pre")).to_have_text(long)
    await ask.get_by_role("button", name="Copy the text").click()
    await expect(ask).to_have_count(0)
    await expect(page.locator("#status")).to_have_text("Copied.")
    assert await page.evaluate("navigator.clipboard.readText()") == long
    # Among several lines it is spoken of before, whatever reads them.
    await paste(screen, f"short\n{long}\n")
    await expect(ask).to_contain_text("A line has 6,001 bytes.")
    await ask.get_by_role("button", name="Cancel").click()
    text = "".join(f"{number:06} {'y' * (number % 250)}\n" for number in range(7800))
    assert 1024 * 1000 < len(text) <= 1024 * 1024
    await paste(screen, text)
    await ask.get_by_role("button", name="Paste").click()
    await expect(ask).to_have_count(0)
    await page.keyboard.press("Control+D")
    await screen.shows("closed")
    assert (bash.work / "taken").read_text() == text
    await paste(screen, "y" * (1024 * 1024 + 1))
    await screen.tab.told("That is more than 1 MB")
    assert screen.tab.errors == []


@pytest.mark.row("REL-36")
async def test_what_is_pasted_without_a_connection_is_handed_back(bash: LiveServer, browser: Browser) -> None:
    screen = await at_terminal(browser, bash, await terminal(bash))
    await screen.prompts()
    await bash.kill()
    await expect(screen.foot).to_contain_text("Not connected.")
    text = "a text of some length that somebody would miss"
    await paste(screen, text)
    ask = screen.tab.page.get_by_role("alertdialog")
    await expect(ask).to_contain_text("There is no connection")
    await expect(ask.locator("pre")).to_have_text(text)
    await ask.get_by_role("button", name="Close").click()
    assert screen.tab.errors == []
