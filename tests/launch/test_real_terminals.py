"""Launches on a real screen: terminals as Debian has them open a window, in which the agent has the prompt.

`make test` takes the small ones, `make terminals` all that are installed.
"""

import asyncio
import contextlib
import functools
import sys
import time
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from playwright.async_api import Page
from tests.launch.desk import digest
from tests.launch.real_desktop import TERMINALS, RealDesktop, RealTerminal, real_desktop, require
from tests.launch.sites import Neighbourhood, Street, street_of
from tests.waiting import PATIENCE, stretched, within
from tests.web.chrome import needs_chromium

from bascule.hub.launch.bridge_server import bind_bridge, serving_bridge
from bascule.launch.idempotent import IdempotentLaunches
from bascule.launch.launches import Launches
from bascule.launch.record import LaunchRecord
from bascule.service.link_handler import LinkHandler
from bascule.service.programs import run_program

pytestmark = pytest.mark.anyio

SCREEN = (("Xvfb", "xvfb"), ("xwininfo", "x11-utils"), ("dbus-daemon", "dbus-daemon"))
WAYLAND = (("weston", "weston"), ("weston-debug", "weston"))
# One that goes in as an argument, one that is typed: through the window's own pty both times.
PROMPT = "say \"hi\" & 'ho' `date` $(date) $HOME \\ %s\n  second line\n\n👩‍👩‍👧 ünïcödé 漢字\n\n"
TYPED = "--dangerously-skip-permissions\r\n" + "漢字 and a line of words\n" * 8_000


@contextlib.asynccontextmanager
async def screen_of(folder: Path, terminal: RealTerminal) -> AsyncGenerator[RealDesktop]:
    require((terminal.program, terminal.package), *(WAYLAND if terminal.wayland else SCREEN))
    with real_desktop(folder) as desktop:
        if terminal.wayland:
            await desktop.open_wayland()
        else:
            await asyncio.to_thread(desktop.open_screen)
        yield desktop


async def launched(desktop: RealDesktop, launches: Launches, prompt: str) -> LaunchRecord:
    """Launch, and wait for the window and for the receipt."""
    before = await asyncio.to_thread(desktop.windows)
    record = await launches.launch(desktop.request(prompt))
    await asyncio.wait_for(record.settled.wait(), PATIENCE)
    assert (record.state, record.error) == ("launched", None)
    await desktop.new_window(before)
    return record


async def clicked(here: Street, page: Page, prompt: str) -> dict[str, Any]:
    """Click the page's button and wait for the window on the screen; the receipt, as the page may read it."""
    desktop = here.desk
    assert isinstance(desktop, RealDesktop)
    await page.evaluate(
        "(text) => { document.querySelector('bascule-launch').setAttribute('prompt', text);"
        "window.states.length = 0; }",
        prompt,
    )
    before = await asyncio.to_thread(desktop.windows)
    async with page.expect_response(f"{here.bridge}/launch") as answering:
        await page.locator("bascule-launch button.launch").click()
    await desktop.new_window(before)
    launch = (await (await answering.value).json())["data"]["id"]
    await page.wait_for_function("window.states.includes('success')")
    return await page.evaluate(
        "async (url) => (await (await fetch(url)).json()).data", f"{here.bridge}/launch/{launch}"
    )


@needs_chromium
@pytest.mark.row("L1", "L5", "L8", "L13", "LV-2", "LV-3", "LV-4", "LV-5", "LV-6")
@pytest.mark.parametrize("terminal", TERMINALS, ids=lambda one: one.program)
async def test_a_click_in_chromium_opens_a_window_whose_agent_has_the_prompt_byte_for_byte(
    short_dir: Path, around: Neighbourhood, terminal: RealTerminal
) -> None:
    """The whole way: a click in a page, a window on the screen, the prompt at the agent, and the receipt."""
    async with (
        screen_of(short_dir, terminal) as desktop,
        street_of(around, desktop)({"TERMINAL": terminal.program}) as here,
    ):
        page = await here.open(here.near)
        receipt = await clicked(here, page, PROMPT)
        assert (receipt["launched"], receipt["confirmed"]) == (True, True)
        assert (receipt["terminal"], receipt["rule"]) == (terminal.program, "$TERMINAL")
        got = await desktop.note("sha256")
        assert (got["by"], got["sha256"]) == ("argument", digest(PROMPT))
        assert (await desktop.note("cwd"))["cwd"] == str(desktop.home)
        await page.wait_for_function("window.states.at(-1) === 'ready'")
        await clicked(here, page, TYPED)
        got = await desktop.note("sha256", 2)
        assert (got["by"], got["sha256"]) == ("paste", digest(TYPED))
        assert (await desktop.note("key"))["key"] == "\r"
        assert desktop.files() == []


@pytest.mark.row("L5")
async def test_the_desktops_own_terminal_is_found_and_opened(short_dir: Path) -> None:
    require(("x-terminal-emulator", "xterm"))
    async with screen_of(short_dir, TERMINALS[0]) as desktop:
        launches = desktop.launches()
        try:
            record = await launched(desktop, launches, PROMPT)
            assert record.rule == "x-terminal-emulator"
            assert (await desktop.note("sha256"))["sha256"] == digest(PROMPT)
        finally:
            await launches.close()


@pytest.mark.row("L2", "L5")
async def test_a_real_terminal_that_finds_no_display_is_told_as_a_failure(
    short_dir: Path,
) -> None:
    async with screen_of(short_dir, TERMINALS[0]) as desktop:
        launches = desktop.launches({"TERMINAL": "xterm -display :99999"})
        try:
            record = await launches.launch(desktop.request("hello there"))
            await asyncio.wait_for(record.settled.wait(), PATIENCE)
            assert record.error is not None
            assert record.error.error == "terminal_spawn_failed"
            assert record.error.message == "Failed to open terminal: xterm ended with code 1."
        finally:
            await launches.close()


@pytest.mark.row("L12", "L13", "LV-23", "LV-24", "LV-25", "LV-26")
async def test_launches_are_answered_and_windows_open_in_the_promised_times(short_dir: Path) -> None:
    """The figures are bench/launch.py's; this one fails when a promise is broken."""
    async with screen_of(short_dir, TERMINALS[0]) as desktop:
        launches = IdempotentLaunches(
            desktop.launches({"TERMINAL": "xterm"}, answer_ms=400), 60, time.monotonic
        )
        listening = bind_bridge(0)
        origin = "https://tool.example"
        try:
            async with (
                serving_bridge(listening, launches, [origin]) as port,
                httpx.AsyncClient(
                    base_url=f"http://127.0.0.1:{port}", headers={"origin": origin}, trust_env=False
                ) as page,
            ):

                async def click(prompt: str) -> float:
                    began = time.monotonic()
                    body = {"prompt": prompt, "workingDirectory": str(desktop.home)}
                    answer = await page.post("/launch", json=body, timeout=PATIENCE)
                    assert answer.status_code in (200, 202), answer.text
                    return time.monotonic() - began

                before = await asyncio.to_thread(desktop.windows)
                with within(2):
                    await click("hello there")
                    await desktop.new_window(before)
                with within(1):
                    await click("a b" * 170_000)
                with stretched() as busy:
                    times = [await click(f"click {number}") for number in range(10)]
                assert max(times) < 0.5 * max(busy)
                await desktop.note("sha256", 12)
        finally:
            await launches.close()
            listening.close()


@pytest.mark.row("L11", "S24")
async def test_a_link_that_the_desktop_opens_is_typed_in_a_terminal_and_not_sent(short_dir: Path) -> None:
    require(("xdg-open", "xdg-utils"))
    prompt = "!touch canary; explain `this` & that\n漢字"
    async with screen_of(short_dir, TERMINALS[0]) as desktop:
        own = str(desktop.folder / "own")
        settings = {"BASCULE_DATA_DIR": own, "BASCULE_CONFIG_DIR": own, "BASCULE_ROOTS": str(desktop.folder)}
        environ = {**desktop.environ, "TERMINAL": "xterm", "XDG_CURRENT_DESKTOP": "X-Generic", **settings}

        run = functools.partial(run_program, env=environ, seconds=PATIENCE)
        handler = LinkHandler(
            [sys.executable, "-m", "bascule", "open-link"], desktop.home / ".local" / "share", run
        )
        assert await asyncio.to_thread(handler.install)
        told = await asyncio.to_thread(run, ["xdg-mime", "query", "default", "x-scheme-handler/bascule"])
        assert told.said == "bascule-link.desktop"
        fields = {"prompt": prompt, "workingDirectory": str(desktop.home), "mode": "normal"}
        before = await asyncio.to_thread(desktop.windows)
        opened = await asyncio.to_thread(run, ["xdg-open", f"bascule://launch?{urlencode(fields)}"])
        assert opened.ok, opened.said
        await desktop.new_window(before)
        got = await desktop.note("sha256")
        assert (got["by"], got["sha256"]) == ("paste", digest(prompt))
        assert not [one for one in desktop.read_notes() if "key" in one]
        assert not (desktop.home / "canary").exists()
