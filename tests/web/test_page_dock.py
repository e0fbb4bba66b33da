"""The dock and the panel against the real server: writing to an agent, its changes and files, sharing it."""

import re
import subprocess
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.live import LiveServer
from tests.parts import Part
from tests.web.axe import serious
from tests.web.chrome import PHONE, Tab, needs_chromium, open_tab

from bascule.model.events import PermissionAnswered, PromptSent, TurnEnded

pytestmark = [pytest.mark.anyio, needs_chromium]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
PASTE = """(data) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const held = new DataTransfer();
  held.items.add(new File([bytes], 'dot.png', { type: 'image/png' }));
  const area = document.getElementById('message');
  area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: held, bubbles: true, cancelable: true }));
}"""


@pytest.fixture
def server(shared_server: LiveServer) -> LiveServer:
    return shared_server


async def write(tab: Tab, text: str) -> None:
    await tab.page.locator("#message").fill(text)
    await tab.page.locator("#message").press("Enter")


async def sent(server: LiveServer, session: str, text: str) -> PromptSent:
    row = await server.wait_for(session, lambda one: isinstance(one, PromptSent) and text in one.text)
    assert isinstance(row.event, PromptSent)
    return row.event


@pytest.mark.row("TC-3.1b", "TC-3.5a", "TC-3.5b", "TC-3.7a", "TC-3.7b", "TC-3.7c", "R8", "A11")
async def test_the_composer_follows_the_session(server: LiveServer, browser: Browser, part: Part) -> None:
    session = await server.create("think", title="Compose")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("I have thought")
    field, send = tab.page.locator("#message"), tab.page.get_by_role("button", name="Send", exact=True)
    stop = tab.page.get_by_role("button", name=re.compile("^Stop this turn"))
    with part("idle, nothing empty is sent and there is nothing to stop"):
        await expect(tab.page.locator(".pill")).to_have_text("Ready")
        await expect(field).to_be_editable()
        await expect(send).to_be_disabled()
        await expect(stop).to_have_count(0)
        await field.fill("   ")
        await expect(send).to_be_disabled()
    await field.fill("slow 100000")
    await expect(send).to_be_enabled()
    await send.click()
    # Working: it can be stopped, an empty field sends nothing, and what is written waits its turn.
    await tab.says("piece 2.")
    with part("working, it can be stopped and an empty field sends nothing"):
        await expect(tab.page.locator(".pill")).to_have_text("Working")
        await expect(stop).to_be_visible()
        await expect(send).to_be_disabled()
        await expect(field).to_have_attribute("placeholder", re.compile("sent when the turn ends"))
    for text in ("first", "think second", "third"):
        await write(tab, text)
    rows = tab.page.locator(".queue li")
    await expect(rows).to_have_count(3)
    await expect(tab.page.locator(".queue header")).to_contain_text("3 queued")
    # Moved by keys, and the row that moved keeps the focus.
    grip = tab.page.get_by_role("button", name=re.compile("^Move: third"))
    await grip.focus()
    await grip.press("ArrowUp")
    with part("a row moved by keys keeps the focus"):
        await expect(rows.nth(1)).to_contain_text("third")
        await expect(grip).to_be_focused()
    # Arrow up in the empty field takes the last one up again.
    await field.focus()
    await field.press("ArrowUp")
    await tab.page.locator(".queue textarea").fill("think again")
    await tab.page.keyboard.press("Enter")
    await expect(rows.nth(2)).to_contain_text("think again")
    await rows.nth(0).get_by_role("button", name="Withdraw").click()
    await expect(rows).to_have_count(2)
    # Now means instead of the turn that runs, which is asked about first.
    await rows.nth(1).get_by_role("button", name="Send now").click()
    await expect(tab.page.get_by_role("alertdialog")).to_contain_text("The turn is stopped first")
    await tab.page.get_by_role("button", name="Stop turn and send").click()
    ended = (await server.wait_for(session, _interrupted)).event
    assert isinstance(ended, TurnEnded)
    await tab.says("I have thought about it")
    assert "piece 2." in await tab.well.locator("#col").inner_text(), "what it wrote before is gone"
    await sent(server, session, "third")
    prompts = [row.event.text for row in await server.log(session) if isinstance(row.event, PromptSent)]
    assert prompts == ["think", "slow 100000", "think again", "third"]
    with part("when all is sent, it is idle again"):
        await expect(rows).to_have_count(0)
        await expect(tab.page.locator(".pill")).to_have_text("Ready")
        await expect(stop).to_have_count(0)
        await expect(field).to_be_editable()
    with part("what was sent before comes back"):
        await field.focus()
        await field.press("ArrowUp")
        await expect(field).to_have_value("third")
        await field.press("ArrowUp")
        await expect(field).to_have_value("think again")
        await field.press("ArrowDown")
        await expect(field).to_have_value("third")
    with part("a picture goes along"):
        await tab.page.evaluate(PASTE, PIXEL)
        await expect(tab.page.locator(".shots img")).to_have_count(1)
        await field.fill("what is this picture")
        await field.press("Enter")
        await tab.says("I got 1 image(s): image/png")
        await expect(tab.page.locator(".shots img")).to_have_count(0)
    with part("ended, the field is gone and the transcript is not"):
        await tab.page.get_by_role("button", name="More", exact=True).click()
        await tab.page.get_by_role("menuitem", name="End session").click()
        await tab.page.get_by_role("button", name="End session").click()
        await expect(field).to_be_hidden()
        await expect(tab.page.locator(".closed")).to_contain_text("Everything is kept")
    assert tab.errors == []


def _interrupted(event: object) -> bool:
    return isinstance(event, TurnEnded) and event.stop_reason == "interrupted"


def make_repository(folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "main.py").write_text("def main():\n    return 1\n")
    (folder / "notes.md").write_text("# Notes\n<img src=x onerror=alert(1)>\n")
    (folder / "data.bin").write_bytes(b"\x00\x01")
    (folder / "passwd").symlink_to("/etc/passwd")
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=trunk")
    for words in (("init", "-q"), ("add", "src", "notes.md"), ("commit", "-qm", "begin")):
        subprocess.run([*git, *words], cwd=folder, check=True, env={"PATH": "/usr/bin:/bin", "HOME": "/"})
    (folder / "src" / "main.py").write_text("def main():\n    return 2\n")


@pytest.mark.row("X9", "R13", "S30")
async def test_changes_are_remarked_on_and_files_are_read_beside_the_session(
    server: LiveServer, browser: Browser, part: Part
) -> None:
    make_repository(server.work)
    session = await server.create("edit", permissionMode="auto")
    await server.wait_for(session, TurnEnded)
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await tab.says("I changed")
    await tab.well.get_by_text("View changes").click()
    panel, field = tab.page.locator("#panel"), tab.page.locator("#message")
    # Its own edits, then all that git sees, then one turn.
    with part("the session's own edits come first"):
        await expect(panel.locator(".changed-file")).to_have_count(1)
        await expect(panel.locator(".changed-file")).to_contain_text("greeting.py")
    await panel.get_by_role("button", name=re.compile("This session|Turn:")).click()
    await tab.page.get_by_role("menuitemradio", name=re.compile("Since the last commit")).click()
    with part("then everything that git sees"):
        await expect(panel.locator(".changed-file", has_text="src/main.py")).to_contain_text("+1")
        await expect(panel.locator(".panel__top")).to_contain_text("trunk")
    await panel.locator(".changed-file", has_text="main.py").click()
    with part("a file is shown side by side or in one column"):
        await panel.get_by_role("button", name="Side by side").click()
        await expect(panel.locator(".diff-columns").nth(1)).to_contain_text("return 2")
        await panel.get_by_role("button", name="Unified").click()
        await expect(panel.locator(".diff-columns")).to_have_count(0)
    # A remark on a line becomes a chip, outlives a reload, and goes with the next message.
    await panel.locator(".is-added button.line-number").first.click()
    await panel.get_by_label("Comment", exact=True).fill("Two is too many")
    await tab.page.keyboard.press("Enter")
    with part("a remark on a line becomes a chip"):
        await expect(tab.page.locator(".remarks li")).to_contain_text("main.py:2")
        await expect(panel.locator(".line-comment")).to_have_text("Two is too many")
        assert await serious(tab) == []
    await tab.page.reload()
    await expect(tab.page.locator(".remarks li")).to_have_count(1)
    await tab.says("I changed")
    # Files: a tree that follows no link, text that stays text, and nothing of what is not text.
    await panel.get_by_role("button", name="Files").click()
    with part("the tree follows no link, text stays text, and binary files show nothing"):
        await panel.get_by_role("treeitem", name="src").click()
        await expect(panel.get_by_role("treeitem", name=re.compile("^main.py"))).to_be_visible()
        await expect(panel.get_by_role("treeitem", name="passwd")).to_be_disabled()
        await panel.get_by_role("treeitem", name=re.compile("^notes.md")).click()
        await expect(panel.locator(".file-view__text")).to_contain_text("<img src=x onerror=alert(1)>")
        assert await panel.locator("img").count() == 0
        assert await serious(tab) == []
        await panel.get_by_role("treeitem", name=re.compile("^data.bin")).click()
        await expect(panel.locator(".file-view")).to_contain_text("not text")
    # A file is mentioned by completing its path, or from the tree.
    await field.press_sequentially("See @sr")
    await expect(tab.page.get_by_role("option", name=re.compile("^main.py"))).to_be_visible()
    await field.press("Enter")
    await expect(field).to_have_value("See @src/main.py ")
    await panel.get_by_role("treeitem", name=re.compile("^notes.md")).click()
    await expect(panel.locator(".file-view__text")).to_contain_text("<img src=x onerror=alert(1)>")
    await panel.get_by_role("button", name="Mention it in the message").click()
    await expect(field).to_have_value("See @src/main.py @notes.md ")
    await field.press("Enter")
    prompt = await sent(server, session, "See @src/main.py @notes.md")
    assert prompt.text.endswith("- src/main.py:2\n  > return 2\n  Two is too many")
    await expect(tab.page.locator(".remarks li")).to_have_count(0)
    assert tab.errors == []
    assert tab.strangers == []


@pytest.mark.row("R12", "S61")
async def test_a_shared_session_is_read_along_and_nothing_more(
    server: LiveServer, browser: Browser, part: Part
) -> None:
    session = await server.create("run", title="Read with me")
    tab = await open_tab(browser, server.url, server.token, path=f"/sessions/{session}")
    await expect(tab.ask).to_be_visible()
    await tab.page.get_by_role("button", name="Share", exact=True).click()
    share = tab.page.get_by_role("dialog", name="Share this session")
    await share.get_by_role("combobox").select_option(label="1 day")
    await share.get_by_role("button", name="Create a link").click()
    link = await share.locator(".copy-line span").first.inner_text()
    assert link.startswith(f"{server.url}/s#token=")
    with part("the link says who can open it, and for how long"):
        await expect(share).to_contain_text("Only this machine can open it.")
        await expect(share.locator(".shares li")).to_contain_text("never opened · ends in 24 h")

    token = link.split("#token=")[1]
    guest = await open_tab(browser, server.url, token, path="/s", size=PHONE)
    await guest.says("Run")
    with part("the guest sees the request and nothing to press"):
        await expect(guest.page.locator("#guest")).to_contain_text("shared this session with you")
        await expect(guest.page.locator("#guest")).to_contain_text("link ends in 24 h")
        await expect(guest.page.locator("#requests")).to_contain_text("wants to run a command")
        for absent in (
            ".request",
            "#message:visible",
            ".session-bar .back:visible",
            "#bnav:visible",
            "#mswitch:visible",
        ):
            await expect(guest.page.locator(absent)).to_have_count(0)
        assert token not in guest.page.url
        for one in (tab, guest):
            assert await serious(one) == []
    # Live: what the owner allows and what comes of it.
    await tab.page.keyboard.press("Escape")
    await tab.allow()
    await guest.says("The command is done")
    with part("the guest exports a page without scripts"):
        async with guest.page.expect_download() as waiting:
            await guest.page.get_by_role("button", name="Export").click()
            await guest.page.get_by_role("menuitem", name=re.compile("web page")).click()
        text = (await (await waiting.value).path()).read_text()
        assert "The command is done" in text
        assert "<script" not in text
    with part("the link opens in its tab alone, also with the secret in its path"):
        mine = Tab(await tab.page.context.new_page(), server.url)
        await mine.go(f"/s/{token}")
        await expect(mine.page.locator("#guest")).to_contain_text("shared this session with you")
        assert token not in mine.page.url
        await mine.page.close()
    await tab.page.reload()
    with part("who has a key of their own keeps it"):
        await expect(tab.page.locator("#message")).to_be_visible()
        await expect(tab.page.locator(".watch")).to_have_attribute("aria-label", re.compile("here, too"))
    with part("revoked, it shows nothing more"):
        await tab.page.get_by_role("button", name="Share", exact=True).click()
        await share.locator(".shares").get_by_role("button", name="Revoke").click()
        await expect(guest.page.get_by_text("This session is no longer shared")).to_be_visible()
        await expect(share.locator(".shares li")).to_have_count(0)
    for one in (tab, guest):
        assert one.errors == []
        assert one.strangers == []


@pytest.mark.row("R9", "R12")
async def test_two_people_in_one_session_see_each_other_type_and_answer(
    server: LiveServer, browser: Browser
) -> None:
    made = await server.post("/api/grants", name="Jonas", role="operator")
    session = await server.create("run")
    path = f"/sessions/{session}"
    mine = await open_tab(browser, server.url, server.token, path=path)
    other = await open_tab(browser, server.url, made.json()["token"], path=path)
    await expect(mine.ask).to_be_visible()
    await expect(mine.page.locator(".watch")).to_have_attribute("aria-label", "Jonas is here, too")
    await expect(other.page.get_by_role("button", name="Share", exact=True)).to_have_count(0)
    # Whoever is faster decides, and the other is told who it was.
    await other.allow()
    answered = (await server.wait_for(session, PermissionAnswered)).event
    assert isinstance(answered, PermissionAnswered)
    assert (answered.decision, answered.by) == ("allow", "Jonas")
    await mine.told(r"Jonas allowed this at \d\d:\d\d\.")
    await mine.told(r"Nothing left to do\.")
    # The note of it leaves by itself after a while, so it is watched for and not looked for.
    await mine.page.evaluate(
        """() => new MutationObserver(() => {
          const words = document.querySelector('.under .types')?.textContent;
          if (words) document.body.dataset.typed = words;
        }).observe(document.getElementById('composer'), { childList: true, subtree: true })"""
    )
    await other.page.locator("#message").click()
    await other.page.locator("#message").press_sequentially("I would say")
    await expect(mine.page.locator("body")).to_have_attribute("data-typed", "Jonas is typing")
    await other.page.locator("#message").fill("")
    await expect(mine.page.locator(".under .types")).to_have_count(0)
