"""A turn as it is told: every kind of entry appears, changes and settles on the page of a real server."""

import json
from typing import Any

import pytest
from msgspec import Raw
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.parts import Part
from tests.web.chrome import Tab, needs_chromium, open_tab

from bascule.link.machine import AgentInfo
from bascule.model.commands import StartSession
from bascule.model.event_values import Usage
from bascule.model.events import (
    AnyEvent,
    Diff,
    EntryClosed,
    EntryOpened,
    Image,
    PromptSent,
    SessionReady,
    SessionStarted,
    TextAppended,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

pytestmark = [pytest.mark.anyio, needs_chromium]

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
ANSWER = """Two things change.

| file | lines |
|:--|--:|
| `a.py` | 3 |

- [x] done
- [ ] open
  - nested

```python
def greet(name): ...
```

A note.[^1] ![far](https://elsewhere.example/x.png)

[^1]: At the foot.
"""
PATCH = "@@ -1,2 +1,2 @@\n same\n-old\n+new\n"
FORKS = (AgentInfo("scripted", "Scripted", True, "1.0", forks=True),)


def call(tool_id: str, name: str, kind: Any, parent: str | None = None, **fields: Any) -> ToolStarted:
    return ToolStarted(tool_id, name, name, kind, Raw(json.dumps(fields).encode()), parent)


async def begun(hub: RunningHub, browser: Browser, *events: AnyEvent) -> Tab:
    start = SessionStarted("scripted", "stream_json", "/code/lantern", "ana")
    await append(hub.store, "s1", start, SessionReady("abc"), *events)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    await expect(tab.page.locator("#message")).to_be_visible()
    return tab


@pytest.mark.row("TC-3.1a", "TC-3.2a", "TC-3.2b", "TC-3.4a", "A7", "A11")
async def test_text_grows_piece_by_piece_and_ends_as_markdown(
    hub: RunningHub, browser: Browser, part: Part
) -> None:
    tab = await begun(hub, browser)
    await tab.page.locator("#message").fill("Change two things")
    await tab.page.keyboard.press("Enter")
    await expect(tab.well.locator(".user-message")).to_contain_text("Change two things")
    with part("a thought stays one closed line, and goes on growing when it is open"):
        await append(
            hub.store, "s1", EntryOpened("k", "thinking"), TextAppended("k", "thinking", "I weigh it. ")
        )
        await expect(tab.well.locator(".think .entry-line__verb")).to_have_text("Thinking")
        await tab.well.locator(".think summary").click()
        await append(hub.store, "s1", TextAppended("k", "thinking", "Both ways."), EntryClosed("k"))
        await expect(tab.well.locator(".think .agent-message")).to_contain_text("I weigh it. Both ways.")
    # The answer: drawn blocks stay the elements they are while the rest grows.
    text, half = tab.well.locator(".agent-message:not(.small)"), ANSWER.index("def greet")
    await append(hub.store, "s1", EntryOpened("m", "assistant"), TextAppended("m", "assistant", ANSWER[:30]))
    await expect(text.locator(".caret")).to_be_visible()
    await expect(text).to_contain_text("Two things change.")
    await append(hub.store, "s1", TextAppended("m", "assistant", ANSWER[30:half]))
    await expect(text.locator(".code-block header")).to_contain_text("python")
    await text.locator("p").first.evaluate("(one) => { one.kept = true; }")
    await append(hub.store, "s1", TextAppended("m", "assistant", ANSWER[half : half + 8]))
    await expect(text.locator(".code-block code")).to_contain_text("def gree")
    assert await text.locator("p").first.evaluate("(one) => one.kept === true"), (
        "a finished block was redrawn"
    )
    await append(hub.store, "s1", TextAppended("m", "assistant", ANSWER[half + 8 :]), EntryClosed("m"))
    with part("the finished answer is Markdown, and is announced"):
        await expect(text.locator(".caret")).to_have_count(0)
        await expect(text.locator("td[align=right]")).to_have_text("3")
        await expect(text.locator("li > ul > li")).to_have_text("nested")
        assert await text.locator("input").evaluate_all("(all) => all.map((one) => one.checked)") == [
            True,
            False,
        ]
        await expect(text.locator(".code-block .hljs-keyword")).to_have_text("def")
        await expect(text.locator("sup")).to_have_count(2)
        await expect(text.locator(".is-far")).to_have_text(
            "[far: picture from elsewhere.example, not loaded]"
        )
        await expect(tab.well.locator("#announce")).to_contain_text("Two things change.")
        assert await tab.well.locator("#col").get_attribute("role") == "log"
    with part("code that a person asked to copy is copied"):
        await tab.page.context.grant_permissions(["clipboard-write", "clipboard-read"])
        await text.locator(".code-block").get_by_role("button", name="Copy code").click()
        await expect(tab.page.locator("#status")).to_have_text("Copied.")
    assert tab.errors == []
    assert tab.strangers == []


@pytest.mark.row("TC-3.3a", "TC-3.3b", "TC-3.3c", "TC-4.2a", "A9", "S44", "A7", "A11")
async def test_tool_calls_are_lines_that_open_fold_and_fail_in_sight(
    hub: RunningHub, browser: Browser, monkeypatch: pytest.MonkeyPatch, part: Part
) -> None:
    monkeypatch.setattr("tests.hub.scripted_device.AGENTS", FORKS)
    tab = await begun(hub, browser, PromptSent("p1", "Go", "ana"))
    well = tab.well
    line = well.locator(".tool")
    await append(hub.store, "s1", call("t1", "Read", "read", file_path="/code/lantern/a.py"))
    await expect(line.locator(".entry-line__verb")).to_have_text("Read")
    await expect(line.locator(".spin")).to_be_visible()
    await append(hub.store, "s1", ToolChanged("t1", "done", "     7\u2192import os\n     8\u2192x = 1\n"))
    await expect(line.locator(".tool-mark.is-done")).to_be_visible()
    assert await line.evaluate("(one) => one.open") is False
    await line.locator("summary").click()
    await expect(line.locator(".line-gutter")).to_have_text("7\n8")
    with part("what somebody opened stays open when its neighbour finishes and they become one line"):
        found = "/code/lantern/a.py:7:import os\n"
        await append(
            hub.store, "s1", call("t2", "Grep", "search", pattern="import"), ToolChanged("t2", "done", found)
        )
        await expect(well.locator(".tool-group > summary .entry-line__verb")).to_have_text(
            "Read 1 file, searched once"
        )
        await expect(well.locator(".tool-group .line-gutter")).to_be_visible()
    with part("a command that failed is never folded, and what hides in it is written out"):
        hidden = "make\u202e test\nrm -rf build"
        await append(
            hub.store,
            "s1",
            call("t3", "Bash", "execute", command=hidden),
            ToolChanged("t3", "running", "first"),
        )
        failed = well.locator("[data-tool=t3]")
        assert await failed.evaluate("(one) => one.open") is False
        printed = "Exit code 2\n\x1b[31mboom\x1b[0m\u202e"
        await append(hub.store, "s1", ToolChanged("t3", "failed", printed))
        await expect(failed.locator("summary .meta")).to_have_text("code 2")
        assert await failed.evaluate("(one) => one.open") is True
        await expect(failed.locator(".tool__output")).to_be_visible()
        await expect(failed.locator("summary .hidden-characters")).to_have_text("hidden characters")
        await expect(failed.locator(".tool__command .escaped")).to_have_text("\\u{202e}")
        await expect(failed.locator(".tool__command")).to_contain_text("rm -rf build")
        await expect(failed.locator(".tool__output .ansi-red")).to_have_text("boom")
        await expect(failed.locator(".tool__output")).to_contain_text("\\u{202e}")
    await append(
        hub.store,
        "s1",
        call("t4", "Task", "agent", description="Look", prompt="Look *around*"),
        call("t5", "Read", "read", "t4", file_path="/code/lantern/b.py"),
        ToolChanged("t5", "done", "b"),
        ToolChanged("t4", "done", "**Nothing** there."),
        call("t6", "Read", "read", file_path="/code/lantern/x.png"),
        ToolChanged("t6", "done", images=(Image("image/png", PIXEL), Image("image/svg+xml", "PHN2Zz4="))),
    )
    with part("a sub-agent holds what it did"):
        agent = well.locator("[data-tool=t4]")
        await expect(agent.locator("summary .meta").first).to_contain_text("1 call")
        await agent.locator("> summary").click()
        await expect(agent.locator("[data-tool=t5]")).to_contain_text("b.py")
        await expect(agent.locator("strong")).to_have_text("Nothing")
    with part("pictures come from the log alone"):
        await well.locator("[data-tool=t6] > summary").click()
        await expect(well.locator("[data-tool=t6] img")).to_have_count(1)
        await expect(well.locator("[data-tool=t6] .is-far")).to_contain_text("image/svg+xml")
    # An edit opens by itself while it is the last thing, and closes when the agent goes on.
    diff = Diff("/code/lantern/a.py", PATCH, 1, 1)
    await append(
        hub.store,
        "s1",
        call("t7", "Edit", "edit", file_path="/code/lantern/a.py"),
        ToolChanged("t7", "done", diffs=(diff,)),
    )
    edit = well.locator("[data-tool=t7]")
    with part("an edit opens by itself while it is the last thing"):
        await expect(edit.locator(".is-added code")).to_have_text("new")
        await expect(edit.locator("summary .line-counts")).to_have_attribute(
            "aria-label", "1 added, 1 removed"
        )
    said = [EntryOpened("m", "assistant"), TextAppended("m", "assistant", "Done."), EntryClosed("m")]
    await append(hub.store, "s1", *said)
    await expect(edit.locator(".diff")).to_be_hidden()
    # The foot: what it changed and took; and, where the agent can, a second session, which a person starts.
    await append(hub.store, "s1", TurnEnded("end_turn", Usage(900, 100), 0.42, 61_000))
    foot = well.locator(".turn__foot")
    with part("the foot says what changed and what it took"):
        await expect(foot).to_contain_text("1 file")
        await expect(foot.locator(".meta")).to_have_text("1 min 1 s · 1k tokens · $0.42")
    await foot.get_by_role("button", name="Continue from here").click()
    await expect(tab.page.locator(".notes")).to_contain_text("This one stays as it is.")
    frame = next(one for one in tab.page.frames if "/portlet" in one.url)
    await frame.evaluate("scrollTo(0, 60)")
    kept = await frame.evaluate("scrollY")
    assert kept > 0
    assert not [one for one in hub.device.commands if isinstance(one, StartSession)], "started unasked"
    await tab.page.locator(".notes").get_by_role("button", name="New session").click()
    await expect(tab.page.get_by_role("tab")).to_have_count(2)
    command = next(one for one in hub.device.commands if isinstance(one, StartSession))
    assert (command.resume, command.fork) == ("abc", True)
    with part("a turn that was broken off says why in words, and what to do"):
        await tab.page.get_by_role("tab").first.click()
        await expect(foot).to_be_attached()
        assert await frame.evaluate("scrollY") == kept, "the tab lost its place"
        await append(hub.store, "s1", TurnEnded("error", message="API Error: 529 overloaded"))
        await tab.says("Send your message again in a moment.")
    assert tab.errors == []
    assert tab.strangers == []
