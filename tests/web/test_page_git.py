"""Changes, acted on by a person: staged, reverted and taken back, committed, opened as a pull request."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect
from tests.daemon.repositories import git
from tests.daemon.test_pull_request import GH, SSH, program
from tests.live import LiveServer
from tests.web.chrome import Tab, needs_chromium, open_tab

pytestmark = [pytest.mark.anyio, needs_chromium]


@pytest.fixture(scope="module")
async def machine(module_dir: Path) -> AsyncIterator[LiveServer]:
    """A machine with git, a signed-in `gh`, and an `ssh` whose other end is a folder."""
    folder = module_dir.resolve()
    (folder / "bin").mkdir()
    (folder / "there/mira/lantern.git").mkdir(parents=True)
    git(folder / "there/mira/lantern.git", "init", "-q", "--bare")
    facts = {"python": sys.executable, "log": str(folder / "gh.log"), "signed": str(folder / "signed-in")}
    program(folder / "bin/gh", GH.format(**facts))
    program(folder / "bin/ssh", SSH.format(there=folder / "there"))
    (folder / "signed-in").touch()
    async with LiveServer(module_dir, env={"PATH": f"{folder / 'bin'}:/usr/bin:/bin"}) as running:
        (running.home / ".gitconfig").write_text("[user]\n\tname = Mira\n\temail = mira@example.com\n")
        git(running.work, "init", "-q", "-b", "main")
        (running.work / "wick.py").write_text("old\n")
        git(running.work, "add", ".")
        git(running.work, "commit", "-q", "-m", "Begin")
        git(running.work, "remote", "add", "origin", "git@github.com:mira/lantern.git")
        yield running


async def panel_of(server: LiveServer, browser: Browser, token: str) -> Tab:
    """The Changes panel of a new session, with what git sees: a changed file and a new one."""
    (server.work / "wick.py").write_text("new\n")
    (server.work / "flame.py").write_text("flame\n")
    session = await server.create("think")
    tab = await open_tab(browser, server.url, token, path=f"/sessions/{session}")
    await tab.says("think")
    await tab.page.get_by_role("button", name="Changes (Ctrl J)").click()
    await tab.page.locator("#panel .chip").first.click()
    await tab.page.get_by_role("menuitemradio", name="Since the last commit").click()
    return tab


@pytest.mark.row("X9")
async def test_a_person_stages_reverts_commits_and_opens_a_pull_request(
    machine: LiveServer, browser: Browser
) -> None:
    tab = await panel_of(machine, browser, machine.token)
    page, rows = tab.page, tab.page.locator(".changed-file")
    await expect(rows).to_have_count(2)
    # Reverted after a second look, and taken back.
    await rows.filter(has_text="wick.py").click()
    await page.locator(".panel__file").get_by_role("button", name="Revert").click()
    await page.get_by_role("dialog", name="Revert wick.py?").get_by_role("button", name="Revert").click()
    await expect(rows).to_have_count(1)
    assert (machine.work / "wick.py").read_text() == "old\n"
    await page.get_by_role("button", name="Undo").click()
    await expect(rows).to_have_count(2)
    assert (machine.work / "wick.py").read_text() == "new\n"
    # Staged, and only that is committed.
    await rows.filter(has_text="wick.py").click()
    await page.locator(".panel__file").get_by_role("button", name="Stage").click()
    await expect(page.locator(".panel__file").get_by_role("button", name="Unstage")).to_be_visible()
    await page.get_by_role("button", name="Commit…").click()
    card = page.get_by_role("dialog", name="Commit 1 staged file")
    await card.get_by_label("Message").fill("Trim the wick")
    await card.get_by_role("button", name="Commit", exact=True).click()
    await tab.told("Committed 1 file on main")
    await expect(rows).to_have_count(1)
    assert git(machine.work, "log", "-1", "--format=%an %s").strip() == "Mira Trim the wick"
    # A pull request, from a branch of its own because the work is on main.
    await page.get_by_role("button", name="Pull request…").click()
    card = page.get_by_role("dialog", name="Open a pull request")
    await expect(card).to_contain_text("github.com/mira/lantern")
    await expect(card.get_by_label("Branch")).to_have_value("trim-the-wick")
    await card.get_by_role("button", name="Push and open").click()
    await tab.told("Opened https://github.com/mira/lantern/pull/7")
    there = machine.folder / "there/mira/lantern.git"
    assert git(there, "rev-parse", "trim-the-wick") == git(machine.work, "rev-parse", "HEAD")
    # Signed out, it says what to do.
    (machine.folder / "signed-in").unlink()
    await page.get_by_role("button", name="Pull request…").click()
    await tab.told("gh auth login")
    assert tab.errors == []


@pytest.mark.row("X9", "R15")
async def test_what_was_typed_for_a_commit_and_a_pull_request_is_kept_while_they_are_refused(
    machine: LiveServer, browser: Browser
) -> None:
    (machine.folder / "signed-in").touch()
    tab = await panel_of(machine, browser, machine.token)
    page = tab.page
    lock = machine.work / ".git/index.lock"
    lock.touch()
    await page.get_by_role("button", name="Commit…").click()
    await page.get_by_label("Message", exact=True).last.fill("Trim it again")
    await page.get_by_role("button", name="Commit", exact=True).click()
    await tab.told("index.lock")
    await page.get_by_role("button", name="Commit…").click()
    await expect(page.get_by_label("Message", exact=True).last).to_have_value("Trim it again")
    await page.get_by_role("button", name="Cancel").click()
    lock.unlink()
    # Nobody is at the other end, so the push fails.
    there = machine.folder / "there/mira/lantern.git"
    there.rename(there.with_name("away.git"))
    typed = {"Branch": "wicks", "Title": "All wicks", "Description": "Trimmed.\nTwice."}
    button = page.get_by_role("button", name="Pull request…")
    card = page.get_by_role("dialog", name="Open a pull request")
    await button.click()
    for label, text in typed.items():
        await card.get_by_label(label).fill(text)
    await card.get_by_label("As a draft").check()
    await card.get_by_role("button", name="Push and open").click()
    await page.locator(".note.bad").wait_for()
    await page.reload()
    await button.click()
    for label, text in typed.items():
        await expect(card.get_by_label(label)).to_have_value(text)
    await expect(card.get_by_label("As a draft")).to_be_checked()
    there.with_name("away.git").rename(there)
    await card.get_by_role("button", name="Push and open").click()
    await tab.told("Opened https://github.com/mira/lantern/pull/")
    await button.click()
    await expect(card.get_by_label("Title")).not_to_have_value("All wicks")
    await expect(card.get_by_label("As a draft")).not_to_be_checked()


@pytest.mark.row("X9")
async def test_only_owners_and_operators_may_change_the_repository(
    machine: LiveServer, browser: Browser
) -> None:
    made = await machine.post("/api/grants", name="Jonas", role="viewer")
    tab = await panel_of(machine, browser, made.json()["token"])
    await expect(tab.page.locator(".changed-file").first).to_be_visible()
    await expect(tab.page.get_by_role("button", name="Commit…")).to_have_count(0)
    session = await machine.create("think")
    headers = {"authorization": f"Bearer {made.json()['token']}"}
    answer = await machine.http.post(
        f"/api/sessions/{session}/git/commit", json={"message": "No"}, headers=headers
    )
    assert answer.status_code == 403
