"""The launch window in a real Chromium: one request, from its opener, and nothing without a click."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Page, expect
from tests.launch.desk import Desk, digest
from tests.launch.ports import unused_ports
from tests.launch.sites import OpenStreet, Street
from tests.launch.test_repos import clone
from tests.live import LiveServer
from tests.parts import Part
from tests.waiting import PATIENCE, PATIENCE_MS
from tests.web.axe import serious_on
from tests.web.chrome import needs_chromium

from bascule.hub.launch.trusted_sites import TrustedSites
from bascule.hub.launch.window_routes import Workbench
from bascule.launch.offers import PromptOffers
from bascule.model.events import PromptSent
from bascule.store.grants import GrantBook
from bascule.store.sqlite import SqliteStore

pytestmark = [pytest.mark.anyio, needs_chromium]
BUTTON = "bascule-launch button.launch"
WORKBENCH = "http://127.0.0.1:1"
# A page that opens the window by itself, and lets the test say what is handed over and by whom.
OPENS = """(bridge) => {
  window.heard = [];
  addEventListener('message', (event) => window.heard.push(event.data.type));
  window.popup = open(bridge + '/window', '_blank', 'popup');
}"""
READY = "window.heard.includes('bascule:ready')"
HANDS_OVER = "(prompt) => popup.postMessage({ type: 'bascule:launch', prompt }, '*')"
STRANGER = """(prompt) => {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  frame.contentWindow.eval(`parent.popup.postMessage({ type: 'bascule:launch', prompt: '${prompt}' }, '*')`);
}"""


@contextlib.asynccontextmanager
async def grant_book(folder: Path) -> AsyncIterator[GrantBook]:
    store = SqliteStore.open(folder / "grants.db", clock=time.time, loop=asyncio.get_running_loop())
    try:
        yield await GrantBook.open(store)
    finally:
        await store.close()


async def window_of(here: Street, page: Page) -> Page:
    """The window that the page opened and that has said it is there."""
    async with page.expect_popup() as opening:
        await page.evaluate(OPENS, here.bridge)
    window = await opening.value
    window.set_default_timeout(PATIENCE_MS)
    await page.wait_for_function(READY)
    return window


@pytest.mark.row("L8")
async def test_only_the_first_message_of_the_opener_counts(desk: Desk, street: OpenStreet) -> None:
    async with street(trusts=False) as here:
        page = await here.open(here.near)
        window = await window_of(here, page)
        await page.evaluate(STRANGER, "from a stranger")
        await page.evaluate(HANDS_OVER, "the first")
        await expect(window.locator("#prompt")).to_have_text("the first")
        await page.evaluate(HANDS_OVER, "the second")
        await window.evaluate("new Promise((resolve) => setTimeout(resolve))")
        await expect(window.locator("#prompt")).to_have_text("the first")
        await expect(window.locator("#from")).to_have_text(here.near.url)
        await expect(window.locator("#mode")).to_contain_text("Plan")
        assert await serious_on(window) == []
        await window.locator("#launch").click()
        await page.wait_for_function("window.heard.includes('bascule:news')")
        assert (await desk.note("sha256"))["sha256"] == digest("the first")
        assert len(desk.terminals()) == 1


@pytest.mark.row("L8")
async def test_nothing_can_be_pressed_for_half_a_second_and_never_by_a_script(
    desk: Desk, street: OpenStreet
) -> None:
    async with street(trusts=False) as here:
        await here.context.clock.install(time="2026-01-01T08:00:00Z")
        page = await here.open(here.near)
        window = await window_of(here, page)
        await here.context.clock.pause_at("2026-01-01T10:00:00Z")
        await page.evaluate(HANDS_OVER, "soon")
        launch = window.locator("#launch")
        await expect(window.locator("#buttons")).to_be_visible()
        await window.clock.run_for(499)
        await expect(launch).to_be_disabled()
        await window.clock.run_for(1)
        await expect(launch).to_be_enabled()
        await window.evaluate("dispatchEvent(new Event('focus'))")
        await expect(launch).to_be_disabled()
        await window.clock.run_for(500)
        await window.evaluate("document.querySelector('#launch').click()")
        await window.evaluate("new Promise((resolve) => queueMicrotask(resolve))")
        await expect(window.locator("#status")).to_have_text("")
        assert desk.terminals() == []


@pytest.mark.row("L8")
async def test_a_page_that_is_closed_before_it_hands_over_leaves_a_way_to_paste(
    desk: Desk, street: OpenStreet
) -> None:
    async with street(trusts=False) as here:
        page = await here.open(here.near)
        window = await window_of(here, page)
        await page.close()
        await expect(window.locator("#lead")).to_contain_text("closed before it handed over")
        await window.locator("#pasted").fill("pasted\ntext")
        await window.get_by_role("button", name="Show it").click()
        await expect(window.locator("#warning")).to_contain_text("It is not known which page")
        await window.locator("#launch").click()
        assert (await desk.note("sha256"))["sha256"] == digest("pasted\ntext")


@pytest.mark.row("L8")
async def test_a_page_that_is_closed_after_it_handed_over_changes_nothing(
    desk: Desk, street: OpenStreet
) -> None:
    async with street(trusts=False) as here:
        page = await here.open(here.near)
        window = await window_of(here, page)
        await page.evaluate(HANDS_OVER, "handed over")
        await expect(window.locator("#prompt")).to_have_text("handed over")
        await page.close()
        await window.locator("#launch").click()
        assert (await desk.note("sha256"))["sha256"] == digest("handed over")
        assert len(desk.terminals()) == 1


@pytest.mark.row("L8")
async def test_hidden_characters_and_long_prompts_are_shown_for_what_they_are(
    desk: Desk, street: OpenStreet
) -> None:
    hidden = "safe\u202ereversed\x1b[31m" + "x" * 5000 + " the end"
    async with street(trusts=False) as here:
        page = await here.open(here.near)
        window = await window_of(here, page)
        await page.evaluate(HANDS_OVER, hidden)
        await expect(window.locator("#prompt mark")).to_have_text(["\\u{202e}", "\\u{1b}"])
        await expect(window.locator("#length")).to_have_text(f"{len(hidden):,} characters")
        await window.set_viewport_size({"width": 720, "height": 640})  # as the button opens it
        await expect(window.locator("#launch")).to_be_in_viewport(ratio=1)
        await expect(window.locator("#prompt")).not_to_contain_text("the end")
        await window.get_by_role("button", name="Show all").click()
        await expect(window.locator("#prompt")).to_contain_text("the end")
        assert desk.terminals() == []


@pytest.mark.row("L8")
async def test_a_page_whose_policy_cuts_the_window_off_hands_over_in_the_address(
    desk: Desk, street: OpenStreet
) -> None:
    async with street(trusts=False) as here:
        here.near.headers["cross-origin-opener-policy"] = "same-origin"
        page = await here.open(here.near, handover="fragment")
        await page.locator("#text").fill("naïve 🎉")
        await page.locator("bascule-launch[data-state=ready]").wait_for(state="attached")
        await expect(page.locator(BUTTON)).to_have_attribute(
            "title", "Launch in Claude CLI (a window asks you first)"
        )
        async with here.context.expect_page() as opening:
            await page.locator(BUTTON).click()
        window = await opening.value
        await expect(window.locator("#prompt")).to_have_text("naïve 🎉")
        await expect(window.locator("#from")).to_have_text("a page that the browser does not name")
        await expect(window.locator("#trust")).to_be_hidden()
        await expect(window).to_have_url(f"{here.bridge}/window")
        await window.locator("#launch").click()
        assert (await desk.note("sha256"))["sha256"] == digest("naïve 🎉")


@pytest.mark.row("L1", "L8")
async def test_of_several_clones_of_a_repository_the_person_chooses_in_the_window(
    desk: Desk, street: OpenStreet, part: Part
) -> None:
    newest, older = (clone(desk.home / name, "https://host/owner/name.git") for name in ("new", "old"))
    single = clone(desk.home / "single", "git@host:owner/single")

    async def folders() -> list[str]:
        return [newest, older, single]

    async with grant_book(desk.folder) as grants:
        offers = PromptOffers(time.monotonic)
        workbench = Workbench(TrustedSites((), grants), offers, WORKBENCH)
        async with street(workbench=workbench, folders=folders) as here:
            page = await here.open(here.near, directory="", repo="owner/name")
            async with page.expect_popup() as opening:
                await page.locator(BUTTON).click()
            window = await opening.value
            window.set_default_timeout(PATIENCE_MS)
            choice = window.get_by_label("Folder")
            with part("the one that was used last stands first, and another can be taken"):
                await expect(choice).to_have_value(newest)
                assert await choice.locator("option").all_text_contents() == [newest, older]
                assert await serious_on(window) == []
                await choice.select_option(older)
                await window.locator("#launch").click()
                await page.wait_for_function("window.toasts.includes('Opened in xterm')")
                assert (await desk.note("cwd"))["cwd"] == older
            await window.close()
            with part("a single one is shown, and goes to the start screen with the prompt"):
                await page.evaluate(
                    "document.querySelector('bascule-launch').setAttribute('repo', 'owner/single')"
                )
                await page.wait_for_function("window.states.at(-1) === 'ready'")
                async with page.expect_popup() as opening:
                    await page.locator(BUTTON).click()
                window = await opening.value
                await expect(window.locator("#folder")).to_have_text(single)
                await here.context.route(f"{WORKBENCH}/**", lambda route: route.fulfill(body="here"))
                await window.locator("#session").click()
                await window.wait_for_url(f"{WORKBENCH}/#offer=*")
                who, offered = offers.get(window.url.partition("#offer=")[2])
                assert (who, offered.working_directory, offered.repo) == (here.near.url, single, None)


@pytest.mark.row("L8")
async def test_a_repository_that_is_not_here_is_told_and_the_prompt_can_still_be_copied(
    desk: Desk, street: OpenStreet
) -> None:
    async with street(trusts=False) as here:
        page = await here.open(here.near, directory="", repo="owner/gone")
        async with page.expect_popup() as opening:
            await page.locator(BUTTON).click()
        window = await opening.value
        await expect(window.locator("#folder.is-bad")).to_contain_text("owner/gone")
        await window.locator("#launch").click()
        await expect(window.locator("#status.is-bad")).to_contain_text("owner/gone")
        await expect(window.locator("#copy")).to_be_enabled()
        assert desk.terminals() == []


@pytest.mark.row("L8", "S28")
async def test_a_site_is_trusted_by_a_click_and_by_its_exact_origin_until_it_is_revoked(
    desk: Desk, street: OpenStreet
) -> None:
    async with grant_book(desk.folder) as grants:
        offers = PromptOffers(time.monotonic)
        workbench = Workbench(TrustedSites((), grants), offers, WORKBENCH)
        async with street(workbench=workbench) as here:
            page = await here.open(here.near)
            async with page.expect_popup() as opening:
                await page.locator(BUTTON).click()
            window = await opening.value
            await window.locator("#trust").click()
            await expect(window.locator("#status")).to_contain_text("may now launch without this window")
            await expect(window.locator("#trust")).to_be_hidden()
            origin = here.near.url
            assert [(one.role, one.name) for one in grants.list()] == [("site", origin)]
            assert f"{origin}0" not in workbench.sites
            assert desk.terminals() == []
            await window.close()
            await page.reload()
            await expect(page.locator(BUTTON)).to_have_attribute("title", "Launch in Claude CLI")
            await page.locator(BUTTON).click()
            await page.wait_for_function("window.toasts.includes('Opened in xterm')")
            await grants.revoke(origin)
            assert origin not in workbench.sites
            await page.reload()
            await expect(page.locator(BUTTON)).to_have_attribute(
                "title", "Launch in Claude CLI (a window asks you first)"
            )


def server_with_bridge(desk: Desk) -> tuple[LiveServer, str]:
    """A server, yet to be started, and the address of the bridge beside it."""
    ports = unused_ports(2)
    env = {**desk.environ, "BASCULE_LAUNCH_ENABLED": "true", "BASCULE_LAUNCH_PORT": str(ports[1])}
    (desk.folder / "s").mkdir()
    server = LiveServer(desk.folder / "s", env=env)
    server.url = f"http://127.0.0.1:{ports[0]}"
    return server, f"http://127.0.0.1:{ports[1]}"


async def let_in(here: Street, server: LiveServer) -> Page:
    """Bascule's own page, whose key is in this browser from then on."""
    page = await here.context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    await page.goto(f"{server.url}/#token={server.token}")
    await page.locator("#task").wait_for()
    return page


@pytest.mark.row("L8")
async def test_a_mebibyte_is_handed_to_the_start_screen_and_its_session_has_all_of_it(
    desk: Desk, street: OpenStreet
) -> None:
    prompt = ('naïve "quoted" 漢字 🎉\n' * 60_000)[: 1024 * 1024 - 3] + "\n\n\n"
    server, bridge = server_with_bridge(desk)
    async with server, street(trusts=False) as here:
        here.bridge = bridge
        await (await let_in(here, server)).close()
        page = await here.open(here.near, agent="demo", mode="normal")
        await page.evaluate(
            "([text, folder]) => { document.querySelector('#text').value = text;"
            "document.querySelector('bascule-launch').setAttribute('directory', folder); }",
            [prompt, str(server.work)],
        )
        async with page.expect_popup() as opening:
            await page.locator(BUTTON).click()
        window = await opening.value
        window.set_default_timeout(PATIENCE_MS)
        await window.locator("#session").click()
        row = window.get_by_role("list", name="Goes with the task")
        await expect(row).to_contain_text(f"{len(prompt):,} characters")
        assert await server.sessions() == []
        await window.locator(".start__go").click()
        await window.wait_for_url("**/sessions/*")
        (session,) = await server.sessions()
        assert session["agent"] == "demo"
        sent = (await server.wait_for(session["id"], PromptSent)).event
        assert isinstance(sent, PromptSent)
        assert sent.text == prompt


@pytest.mark.row("L10")
async def test_the_library_launches_a_prompt_in_a_terminal(desk: Desk, street: OpenStreet) -> None:
    server, bridge = server_with_bridge(desk)
    async with server, street(trusts=False) as here:
        here.bridge = bridge
        content = {"title": "Explain", "delta": {"ops": [{"insert": "Explain it to me\n"}]}}
        made = (await server.http.post("/api/prompts", json={"content": content})).json()
        page = await let_in(here, server)
        await page.goto(f"{server.url}/library/{made['id']}")
        await page.locator(".library-use").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Launch in terminal").click()
        await expect(dialog.get_by_role("status")).to_contain_text("xterm", timeout=PATIENCE_MS)
        assert (await desk.note("sha256"))["sha256"] == digest("Explain it to me")


@pytest.mark.row("L8")
async def test_beside_a_server_the_window_hands_the_prompt_to_the_start_screen(
    desk: Desk, street: OpenStreet
) -> None:
    server, bridge = server_with_bridge(desk)
    async with server, street(trusts=False) as here:
        here.bridge = bridge
        page = await here.open(here.near)
        async with page.expect_popup() as opening:
            await page.locator(BUTTON).click()
        window = await opening.value
        window.set_default_timeout(PATIENCE_MS)
        await window.locator("#trust").click()
        await expect(window.locator("#status")).to_contain_text("may now launch without this window")
        listed = (await server.http.get("/api/grants")).json()["grants"]
        assert here.near.url in [one["name"] for one in listed if one["role"] == "site"]
        audit = (await server.http.get("/api/audit")).text
        assert f"site, kept: {here.near.url}" in audit
        # The workbench's own key is in this browser before the prompt comes.
        await (await let_in(here, server)).close()
        await window.locator("#session").click()
        await expect(window.locator("#task")).to_have_value("hello there", timeout=PATIENCE_MS)
        await expect(window.locator(".start")).to_contain_text(f"comes from {here.near.url}.")
        assert (await server.sessions()) == []
        async with httpx.AsyncClient(base_url=bridge, timeout=PATIENCE, trust_env=False) as web:
            asked = {"origin": here.near.url, "content-type": "application/json"}
            assert (await web.get("/health", headers=asked)).status_code == 200
            grant = next(one["id"] for one in listed if one["role"] == "site")
            await server.http.delete(f"/api/grants/{grant}")
            assert (await web.get("/health", headers=asked)).status_code == 403
