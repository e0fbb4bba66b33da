"""The prompt library in the page: written, kept, used, shared between two browsers, and on a phone."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser, FrameLocator, Page, expect
from tests.hub.running_hub import RunningHub, until
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.web.axe import serious
from tests.web.chrome import DESKTOP, PHONE, Tab, needs_chromium, open_tab
from tests.web.lantern import lantern

from bascule.link.comparisons import StartComparison
from bascule.model.commands import SendPrompt, StartSession
from bascule.model.events import PromptSent, SessionReady

pytestmark = [pytest.mark.anyio, needs_chromium]

SHOTS = os.environ.get("BASCULE_SHOTS")  # a folder for pictures of what the tests see
LAPTOP = {"width": 1280, "height": 720}
PASTE = """(text, html) => {
  const data = new DataTransfer();
  data.setData('text/html', html);
  const box = document.querySelector('.ql-editor');
  box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
}"""
EVIL = (
    '<p>Look <b>here</b><img src=x onerror="parent.evil=1"><script>parent.evil=1</script></p><ul><li>one</ul>'
)


async def shot(tab: Tab, name: str) -> None:
    if SHOTS:
        await tab.page.screenshot(path=f"{SHOTS}/{name}.png")


def editor(page: Page) -> FrameLocator:
    return page.frame_locator(".library-well iframe")


async def write(page: Page, text: str) -> None:
    await editor(page).locator(".ql-editor").click()
    await page.keyboard.insert_text(text)


async def add(hub: RunningHub, title: str, text: str, who: str = "owner", **more: Any) -> dict[str, Any]:
    content = {"title": title, "delta": {"ops": [{"insert": text + "\n"}]}, **more}
    async with hub.client(hub.tokens[who]) as client:
        return (await client.post("/api/prompts", json={"content": content})).json()


async def library(hub: RunningHub, who: str = "owner") -> dict[str, dict[str, Any]]:
    async with hub.client(hub.tokens[who]) as client:
        return {one["title"]: one for one in (await client.get("/api/prompts")).json()["prompts"]}


async def markdown(hub: RunningHub, prompt_id: str) -> list[dict[str, Any]]:
    async with hub.client(hub.tokens["owner"]) as client:
        return (await client.get(f"/api/prompts/{prompt_id}")).json()["content"]["delta"]["ops"]


def commands(hub: RunningHub, kind: type) -> list[Any]:
    return [one for one in hub.device.commands if isinstance(one, kind)]


@pytest.mark.row("L10")
async def test_agents_that_become_known_while_the_form_is_open_can_be_given_the_prompt(
    hub: RunningHub, browser: Browser
) -> None:
    made = await add(hub, "Explain", "Explain it to me")
    hub.device.mute = True  # it does not say yet which agents it has
    hub.device.connect(agents=())
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path=f"/library/{made['id']}")
    await tab.page.locator(".library-use").click()
    start = tab.page.get_by_role("dialog").get_by_role("button", name="Start session here")
    await expect(start).to_be_disabled()
    hub.device.mute = False
    hub.device.connect()
    await expect(start).to_be_enabled()
    assert tab.errors == []


@pytest.mark.row("L10")
async def test_a_template_is_written_saved_found_and_given_to_an_agent(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    await add(hub, "House rules", "Be brief, {{name}}.", kind="context")
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/library")
    page = tab.page
    await page.get_by_role("button", name="New prompt").first.click()
    await write(page, "Review {{file}} as {{role}}, {{times}} times")
    with part("every name in braces becomes a field"):
        await expect(page.locator(".field-row")).to_have_count(3)
        role = page.get_by_role("group", name="role")
        await role.get_by_label("Kind").select_option("choice")
        await role.get_by_label("Choices").fill("a judge, a friend")
        await page.get_by_role("group", name="times").get_by_label("Kind").select_option("number")
    with part("a context block is put before it"):
        await page.get_by_role("button", name="House rules", exact=True).click()
    await page.get_by_label("Title").fill("Review a file")
    await page.get_by_label("Tags").fill("review, tests")
    await page.keyboard.press("Control+s")
    await expect(page.locator(".library-saved")).to_have_text("Version 1")
    await expect(page).to_have_url(re.compile("/library/[0-9a-f]{16}$"))
    await shot(tab, "desktop-template")
    made = (await library(hub))["Review a file"]
    assert (made["tags"], len(made["fields"]), len(made["contexts"])) == (["review", "tests"], 2, 1)

    with part("it is found by a word of its text"):
        await page.get_by_label("Search the prompts").fill("judge times")
        await expect(page.locator(".library-rows")).to_contain_text("No prompt matches.")
        await page.get_by_label("Search the prompts").fill("times")
        await expect(page.locator(".library-row mark").first).to_have_text("times")
        await page.get_by_label("Search the prompts").fill("")

    await page.locator(".library-use").click()
    dialog = page.get_by_role("dialog")
    start = dialog.get_by_role("button", name="Start session here")
    with part("it can't be given away before its fields have values of their kind"):
        await expect(start).to_be_disabled()
        await dialog.get_by_label("name").fill("Ana")
        await dialog.get_by_label("file").fill("a.py")
        await dialog.get_by_label("role").select_option("a judge")
        await dialog.get_by_label("times").fill("many")
        await expect(dialog.get_by_role("status")).to_have_text("times is not a number.")
        await dialog.get_by_label("times").fill("2")
        await expect(start).to_be_enabled()
        await shot(tab, "desktop-use")
    with part("closed by mistake, nothing that was given is lost"):
        await page.keyboard.press("Escape")
        await page.locator(".library-use").click()
        await expect(dialog.get_by_label("file")).to_have_value("a.py")
    with part("launching says why it does not work here"):
        await dialog.get_by_role("button", name="Launch in terminal").click()
        await expect(dialog.get_by_role("status")).to_contain_text("switched off here")
    assert await serious(tab) == []
    await start.click()
    await page.wait_for_url(re.compile("/sessions/"))
    (started,) = commands(hub, StartSession)
    assert started.prompt == "Be brief, Ana.\n\nReview a.py as a judge, 2 times"
    with part("the library says which session got it"):
        await tab.turn_to(f"/library/{made['id']}")
        await page.get_by_text("Used once").click()
        await expect(page.locator(".history-row")).to_contain_text(["started a session · version 1"])
    assert tab.errors == []


@pytest.mark.row("L10")
async def test_fields_of_every_other_kind_are_asked_for_and_both_copies_are_taken(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    fields = [
        {"name": "parts", "kind": "choices", "choices": ["tests", "docs", "types"], "default": "docs"},
        {"name": "file", "kind": "file"},
        {"name": "folder", "kind": "folder", "default": "/srv"},
        {"name": "example", "kind": "code"},
        {"name": "left", "kind": "literal"},
    ]
    text = "Look at {{parts}} of {{file}} in {{folder}}, not {{left}}:\n{{example}}"
    made = await add(hub, "Every kind", text, fields=fields)
    tab = await open_tab(
        browser,
        hub.url,
        hub.tokens["owner"],
        path=f"/library/{made['id']}",
        permissions=["clipboard-read", "clipboard-write"],
    )
    page = tab.page
    await expect(editor(page).locator(".ql-editor")).to_contain_text("Look at")
    await page.locator(".library-use").click()
    dialog = page.get_by_role("dialog")
    with part("each has an input of its kind, and one that is no field is not asked for"):
        several = dialog.get_by_role("group", name="parts")
        await expect(several.get_by_role("checkbox", name="docs")).to_be_checked()
        await several.get_by_role("checkbox", name="tests").check()
        await expect(dialog.get_by_label("folder", exact=True)).to_have_value("/srv")
        await dialog.get_by_label("file", exact=True).fill("src/a.py")
        await dialog.get_by_label("example").fill("x = `1`\ny = 2")
        await expect(dialog.get_by_label("left")).to_have_count(0)
        assert await serious(tab) == []
    shown = dialog.locator("pre")
    await expect(shown).to_contain_text("Look at tests, docs of src/a.py in /srv, not {{left}}:")
    with part("as Markdown, code is fenced; as text it is as it was given"):
        await dialog.get_by_role("button", name="Copy Markdown").click()
        read = "navigator.clipboard.readText()"
        await page.wait_for_function(f"{read}.then((text) => text.startsWith('Look'))")
        assert await page.evaluate(read) == await shown.text_content()
        assert "```\nx = `1`\ny = 2\n```" in await page.evaluate(read)
        await dialog.get_by_role("button", name="Copy text").click()
        await page.wait_for_function(
            f"{read}.then((text) => text.startsWith('Look') && text.endsWith('y = 2'))"
        )
    assert tab.errors == []


async def test_what_is_typed_survives_a_reload_and_of_two_browsers_both_are_kept(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    made = await add(hub, "Shared", "First")
    path = f"/library/{made['id']}"
    ana = await open_tab(browser, hub.url, hub.tokens["owner"], path=path)
    await expect(editor(ana.page).locator(".ql-editor")).to_have_text("First")
    await write(ana.page, "Ana's ")
    await expect(ana.page.locator(".library-saved")).to_have_text("Not saved")
    with part("a reload keeps the draft"):
        await ana.page.reload()
        await expect(editor(ana.page).locator(".ql-editor")).to_contain_text("Ana's")
        await expect(ana.page.locator(".library-saved")).to_have_text("Not saved")
    ben = await open_tab(browser, hub.url, hub.tokens["operator"], path=path)
    await expect(editor(ben.page).locator(".ql-editor")).to_have_text("First")
    await write(ben.page, "Ben's ")
    await ben.page.get_by_role("button", name="Save", exact=True).click()
    await expect(ben.page.locator(".library-saved")).to_have_text("Version 2")
    card = ana.page.locator(".conflict")
    with part("the other one is told at once, who and what"):
        await expect(card).to_contain_text("operator saved version 2 while you wrote. Both are kept.")
        await card.get_by_text("What operator saved").click()
        await expect(card.locator("pre")).to_contain_text("Ben's")
        await shot(ana, "desktop-conflict")
        assert await serious(ana) == []
    with part("saved after it, both are versions, and the first browser sees the newest"):
        await card.get_by_role("button", name="Save mine as the newer version").click()
        await expect(ana.page.locator(".library-saved")).to_have_text("Version 3")
        await expect(editor(ben.page).locator(".ql-editor")).to_contain_text("Ana's")
        await expect(ben.page.locator(".library-saved")).to_have_text("Version 3")
        await ana.page.get_by_text("3 versions").click()
        row = ana.page.locator(".history-row", has_text="Version 2")
        await row.get_by_role("button", name="Show").click()
        await expect(row.locator("pre")).to_contain_text("Ben's")
        await row.get_by_role("button", name="Use this version").click()
        await expect(editor(ana.page).locator(".ql-editor")).to_contain_text("Ben's")
    with part("removed by mistake, it comes back, draft and all"):
        await ana.page.locator(".library-pane").get_by_role("button", name="More").click()
        await ana.page.get_by_role("menuitem", name="Remove").click()
        await ana.page.get_by_role("button", name="Undo").click()
        await expect(ana.page.locator(".library-saved")).to_have_text("Not saved")
    assert ana.errors == ben.errors == []


@pytest.mark.row("L10")
async def test_of_two_versions_mine_is_kept_as_a_copy_and_theirs_stays_the_prompt(
    hub: RunningHub, browser: Browser
) -> None:
    made = await add(hub, "Plan the week", "First")
    path = f"/library/{made['id']}"
    ana = await open_tab(browser, hub.url, hub.tokens["owner"], path=path)
    await expect(editor(ana.page).locator(".ql-editor")).to_have_text("First")
    await write(ana.page, "Ana's ")
    await expect(ana.page.locator(".library-saved")).to_have_text("Not saved")
    async with hub.client(hub.tokens["operator"]) as client:
        content = {"title": "Plan the week", "delta": {"ops": [{"insert": "Ben's\n"}]}}
        answer = await client.post(f"/api/prompts/{made['id']}", json={"content": content, "base": 1})
        assert answer.status_code == 200, answer.text
    card = ana.page.locator(".conflict")
    await card.get_by_role("button", name="Keep mine as a copy").click()
    await expect(ana.page.get_by_label("Title")).to_have_value("Plan the week (copy)")
    await expect(ana.page.locator(".library-saved")).to_have_text("Version 1")
    await expect(card).to_have_count(0)
    both = await library(hub)
    assert set(both) == {"Plan the week", "Plan the week (copy)"}
    copy = both["Plan the week (copy)"]["id"]
    assert (await markdown(hub, made["id"]))[0] == {"insert": "Ben's\n"}
    assert "Ana's" in (await markdown(hub, copy))[0]["insert"]
    await ana.turn_to(path)  # and no draft of Ana's is left behind
    await expect(editor(ana.page).locator(".ql-editor")).to_have_text("Ben's")
    await expect(ana.page.locator(".library-saved")).to_have_text("Version 2")
    assert ana.errors == []


@pytest.mark.row("L10")
async def test_a_prompt_is_kept_private_and_shared_again_by_its_menu(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    made = await add(hub, "Salary talk", "What do I say?")
    ana = await open_tab(browser, hub.url, hub.tokens["owner"], path=f"/library/{made['id']}")
    ben = await open_tab(browser, hub.url, hub.tokens["operator"], path="/library")
    theirs = ben.page.locator(".library-row", has_text="Salary talk")
    more = ana.page.locator(".library-pane").get_by_role("button", name="More")
    await expect(theirs).to_have_count(1)
    with part("private: it is gone for everybody else at once"):
        await more.click()
        item = ana.page.get_by_role("menuitem", name="Keep it private")
        await expect(item).to_contain_text("only this browser sees it")
        await item.click()
        await expect(ana.page.locator(".library-row", has_text="Salary talk")).to_contain_text("private")
        await expect(theirs).to_have_count(0)
        async with hub.client(hub.tokens["operator"]) as client:
            assert (await client.get(f"/api/prompts/{made['id']}")).status_code == 404
        assert await serious(ana) == []
    with part("and shared again"):
        await more.click()
        await ana.page.get_by_role("menuitem", name="Share it").click()
        await expect(theirs).to_have_count(1)
        await expect(theirs).not_to_contain_text("private")
    assert ana.errors == ben.errors == []


@pytest.mark.row("L10", "R24")
async def test_on_a_phone_a_template_is_found_filled_in_and_started(
    tmp_path: Path, browser: Browser, part: Part
) -> None:
    async with lantern(tmp_path, empty=True) as hub:
        await add(hub, "Review a file", "Look at {{file}} {{times}} times.", tags=["review"])
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], size=PHONE)
        page = tab.page
        await page.locator("#bnav").get_by_role("button", name="Library").click()
        row = page.locator(".library-row", has_text="Review a file")
        with part("the list"):
            await expect(row).to_be_visible()
            assert await serious(tab) == []
            await shot(tab, "phone-flow-list")
        await row.locator(".library-row__open").tap()
        await expect(editor(page).locator(".ql-editor")).to_contain_text("Look at")
        await page.locator(".library-use").tap()
        dialog = page.get_by_role("dialog")
        start = dialog.get_by_role("button", name="Start session here")
        with part("its fields"):
            await expect(start).to_be_disabled()
            await dialog.get_by_label("file").fill("a.py")
            await dialog.get_by_label("times").fill("two")
            await expect(dialog.locator("pre")).to_have_text("Look at a.py two times.")
            await expect(start).to_be_enabled()
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert await serious(tab) == []
            await shot(tab, "phone-flow-use")
        await start.tap()
        await page.wait_for_url(re.compile("/sessions/"))
        (started,) = commands(hub, StartSession)
        assert started.prompt == "Look at a.py two times."
        assert tab.errors == []


async def test_a_prompt_is_inserted_by_a_slash_or_the_palette_and_a_message_becomes_a_prompt(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    plain = await add(hub, "Say thanks", "Thank you, all of you.")
    await add(hub, "Greet somebody", "Hello {{who}}!")
    await hub.session("s1")
    await append(hub.store, "s1", SessionReady("agent-1"), PromptSent("p1", "Mend the *roof*\nplease", "ana"))
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    page = tab.page
    message = page.locator("#message")
    with part("after a slash, by its name, its fields asked for"):
        await message.click()  # not before it is there: keys go nowhere until then
        await message.press_sequentially("/greet some")
        await page.get_by_role("option", name="Greet somebody").click()
        await page.get_by_role("dialog").get_by_label("who").fill("Ben")
        await page.get_by_role("dialog").get_by_role("button", name="Insert").click()
        await expect(message).to_have_value("Hello Ben!")
    with part("from the palette, after what was written"):
        await page.keyboard.press("Control+k")
        await page.get_by_role("combobox").fill("thanks")
        await page.get_by_role("option", name="Say thanks").click()
        await expect(message).to_have_value("Hello Ben!\n\nThank you, all of you.")
    await message.press("Enter")
    await until(lambda: bool(commands(hub, SendPrompt)))
    with part("both were used in this session"):
        await tab.turn_to(f"/library/{plain['id']}")
        await page.get_by_text("Used once").click()
        await expect(page.locator(".history-row")).to_contain_text(["in a message · version 1"])
    with part("what a person wrote is saved from the conversation"):
        await tab.turn_to("/sessions/s1")
        await tab.well.get_by_role("button", name="Save as prompt").first.click()
        await tab.told("Saved in the library")
        kept = (await library(hub))["Mend the *roof*"]
        assert await markdown(hub, kept["id"]) == [{"insert": "Mend the *roof*\nplease\n"}]
    assert tab.errors == []


async def test_the_editor_gives_documents_and_takes_no_markup_from_a_paste(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/library/new")
    page, frame = tab.page, editor(tab.page)
    box = frame.locator(".ql-editor")
    await box.click()
    with part("formats are given by buttons and keys"):
        await frame.get_by_role("button", name="Heading", exact=True).click()
        await page.keyboard.type("Plan")
        await page.keyboard.press("Enter")
        await frame.get_by_role("button", name="Numbered list").click()
        await page.keyboard.type("first")
        await expect(box.locator("h1")).to_have_text("Plan")
        await expect(box.locator("li[data-list=ordered]")).to_have_text("first")
    with part("pasted markup keeps its form and none of its scripts"):
        await page.keyboard.press("Enter")
        await page.keyboard.press("Enter")
        inner = next(one for one in page.frames if "/editor" in one.url)
        await inner.evaluate(f"({PASTE})('', {EVIL!r})")
        await expect(box).to_contain_text("Look here")
        assert await page.evaluate("window.evil") is None
        assert await box.locator("img, script").count() == 0
    await page.keyboard.press("Control+s")
    await expect(page.locator(".library-saved")).to_have_text("Version 1")
    made = (await library(hub))["Plan"]
    ops = await markdown(hub, made["id"])
    assert ops[:2] == [{"insert": "Plan"}, {"insert": "\n", "attributes": {"header": 1}}]
    assert {"insert": "here", "attributes": {"bold": True}} in ops
    with part("as an agent gets it, it is Markdown"):
        await page.locator(".library-use").click()
        preview = page.get_by_role("dialog").locator("pre")
        await expect(preview).to_contain_text("# Plan")
        await expect(preview).to_contain_text("1. first")
        await expect(preview).to_contain_text("**here**")
    assert tab.errors == []


async def test_the_scratch_pad_saves_itself_and_becomes_a_prompt(hub: RunningHub, browser: Browser) -> None:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/library")
    page = tab.page
    await page.get_by_role("button", name="Scratch pad").click()
    await write(page, "An idea for later")
    await expect(page.locator(".library-saved")).to_have_text("Version 1")
    pads = [one for one in (await library(hub)).values() if one["kind"] == "scratch"]
    assert [(one["excerpt"], one["shared"]) for one in pads] == [("An idea for later", False)]
    assert "Scratch pad" not in await library(hub, "operator")
    await page.reload()
    await expect(editor(page).locator(".ql-editor")).to_have_text("An idea for later")
    await page.locator(".library-pane").get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Save as a prompt").click()
    await expect(page.get_by_label("Title")).to_have_value("An idea for later")
    assert tab.errors == []


async def test_several_agents_are_given_a_prompt_in_one_comparison(tmp_path: Path, browser: Browser) -> None:
    async with lantern(tmp_path, empty=True) as hub:
        made = await add(hub, "Compare", "Do it well")
        tab = await open_tab(browser, hub.url, hub.tokens["owner"], path=f"/library/{made['id']}")
        page = tab.page
        await expect(editor(page).locator(".ql-editor")).to_have_text("Do it well")
        await page.locator(".library-use").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Codex").click()
        await expect(dialog.get_by_role("button", name="Launch in terminal")).to_be_disabled()
        await dialog.get_by_role("button", name="Give it to 2 agents").click()
        await page.wait_for_url(re.compile("/compare/"))
        (started,) = commands(hub, StartComparison)
        assert started.prompt == "Do it well"
        assert [one.agent for one in started.entrants] == ["claude-code", "codex"]
        assert tab.errors == []


@pytest.mark.parametrize("size", [DESKTOP, LAPTOP, PHONE], ids=["desktop", "laptop", "phone"])
async def test_the_library_fits_every_size_and_says_its_parts_aloud(
    hub: RunningHub, browser: Browser, size: dict[str, int], part: Part
) -> None:
    name = {1440: "desktop", 1280: "laptop", 390: "phone"}[size["width"]]
    await add(hub, "Review a file", "Look at {{file}} and say what you think of it.", tags=["review"])
    await add(hub, "House rules", "Be brief.", kind="context", always=True)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/library", size=size)
    page = tab.page
    row = page.locator(".library-row", has_text="Review a file")
    with part("the list"):
        await row.get_by_role("button", name="Add to favourites").click()
        await expect(page.get_by_role("region", name="Favourites")).to_contain_text("Review a file")
        assert await serious(tab) == []
        await shot(tab, f"{name}-list")
    await row.locator(".library-row__open").click()
    await expect(editor(page).locator(".ql-editor")).to_contain_text("Look at")
    with part("one prompt"):
        await expect(page.locator(".library-list")).to_be_visible(visible=size is not PHONE)
        assert await serious(tab) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await shot(tab, f"{name}-prompt")
    with part("using it"):
        await page.locator(".library-use").click()
        await page.get_by_role("dialog").get_by_label("file").fill("a.py")
        await expect(page.get_by_role("dialog").locator("pre")).to_have_text(re.compile("^Be brief"))
        assert await serious(tab) == []
        await shot(tab, f"{name}-use")
        await page.get_by_role("dialog").get_by_role("button", name="Close").click()
    with part("importing a folder"):
        if size is PHONE:
            await page.get_by_role("button", name="Back to the list").click()
            await expect(page.locator(".library-pane")).to_be_hidden()
        await page.locator(".library-list").get_by_role("button", name="More", exact=True).click()
        await page.get_by_role("menuitem", name="Import Markdown files").click()
        await page.get_by_role("dialog").get_by_role("combobox", name="Folder").fill("/tmp")
        await page.get_by_role("dialog").get_by_role("button", name="Import").click()
        await expect(page.get_by_role("dialog")).to_contain_text("There are no Markdown files there.")
        assert await serious(tab) == []
    assert tab.errors == []


async def test_a_viewer_reads_the_library_and_writes_nothing(hub: RunningHub, browser: Browser) -> None:
    made = await add(hub, "Review", "Look at it")
    tab = await open_tab(browser, hub.url, hub.tokens["viewer"], path=f"/library/{made['id']}")
    page = tab.page
    await expect(editor(page).locator(".ql-editor")).to_have_text("Look at it")
    await expect(editor(page).locator(".ql-editor")).to_have_attribute("contenteditable", "false")
    await expect(page.get_by_role("button", name="Back to the list", include_hidden=True)).to_have_count(1)
    for name in ("Save", "New prompt"):
        await expect(page.get_by_role("button", name=name, exact=True)).to_have_count(0)
    await expect(page.locator(".library-use")).to_have_count(0)
    assert tab.errors == []
