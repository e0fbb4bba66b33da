"""Pictures of what a machine has besides chats: terminals, agents compared, lasting rules, sessions found."""

from collections.abc import Awaitable, Callable

from tests.hub.running_hub import RunningHub
from tests.web.chrome import PHONE, Tab
from tests.web.lantern import LANTERN, TIDE, begin, raw, said, tell, tool
from tests.web.lantern_machine import ALICE, BOB, COMMAND, FLAKY, FOUND, RETRY_PATCH, WAIT_PATCH

from bascule.model.event_values import Usage
from bascule.model.events import (
    AgentSpawned,
    AnyEvent,
    Diff,
    PromptSent,
    SessionEnded,
    SessionReady,
    SessionStarted,
    TitleChanged,
    ToolChanged,
    ToolStarted,
    TurnEnded,
)

DEV = "dev-server"
WATCH = "lantern/sync/watch.py"


async def first(hub: RunningHub, session: str, events: list[AnyEvent], ago: float, each: float = 0.4) -> None:
    """Tell a session, unless another screen has told it already."""
    if await hub.store.session(session) is None:
        await tell(hub.store, session, events, ago, each)


async def dev_server(hub: RunningHub) -> None:
    started = SessionStarted("shell", "terminal", LANTERN, "Mira", "device-1", cols=96, rows=34)
    running: list[AnyEvent] = [
        started,
        AgentSpawned(1300, "bash"),
        SessionReady("s-1"),
        TitleChanged("dev server", "Mira"),
    ]
    await first(hub, DEV, running, 3600)


async def terminal(tab: Tab, hub: RunningHub) -> None:
    await dev_server(hub)
    await tab.go(f"/sessions/{DEV}")
    await tab.page.frame_locator("#terminal iframe").get_by_text("409").first.wait_for()


async def split(tab: Tab, hub: RunningHub) -> None:
    await tab.says("Parts are only")
    await terminal(tab, hub)
    # A phone has no room beside; there the terminal stays where it is.
    if tab.page.viewport_size != PHONE:
        await tab.page.locator("#terminal").get_by_role("button", name="More").click()
        await tab.page.get_by_role("menuitem", name="Show it beside a chat").click()
        await tab.page.frame_locator("#beside iframe").get_by_text("409").first.wait_for()


def edited(patch: str, added: int, removed: int) -> list[AnyEvent]:
    return [
        ToolStarted("t9", "Edit", "watch.py", "edit", raw(file_path=f"{LANTERN}/{WATCH}")),
        ToolChanged("t9", "done", diffs=(Diff(f"{LANTERN}/{WATCH}", patch, added, removed),)),
    ]


async def compared(hub: RunningHub) -> None:
    reads = [one for n in range(4) for one in tool("Read", "read", n, "…", file_path=f"{LANTERN}/f{n}.py")]
    for session, agent, model, events in (
        (
            ALICE,
            "claude-code",
            "opus",
            [
                *said("m1", "`test_sync` is flaky because the watcher polls before the lock file exists."),
                *edited(WAIT_PATCH, 1, 1),
                *tool("Bash", "execute", 10, "200 passed", command="pytest tests/test_sync.py --count 200"),
                *said("m2", "All 200 runs pass. No timing is left in the test."),
                TurnEnded("end_turn", Usage(30_000, 8_000), 0.58, 171_000),
            ],
        ),
        (
            BOB,
            "codex",
            "gpt-5",
            [
                *said("m1", "The poll can run before the lock is written. I added a bounded retry."),
                *edited(RETRY_PATCH, 3, 0),
                *said("m2", "Two of 200 runs still fail. Looking at how the lock is written", closed=False),
            ],
        ),
    ):
        begun = begin(LANTERN, "Find the flaky sync test", agent, model)
        await first(hub, session, [*begun, PromptSent("p1", FLAKY, "Mira"), *reads, *events], 5, 7)


async def compare(tab: Tab, hub: RunningHub) -> None:
    await compared(hub)
    await tab.go("/compare/c1")
    await (
        tab.page.frame_locator(".compare-column iframe:not(.away)")
        .first.get_by_text("All 200 runs")
        .wait_for()
    )


async def compare_diff(tab: Tab, hub: RunningHub) -> None:
    await compare(tab, hub)
    for n in (0, 1):
        await tab.page.locator(".compare-column").nth(n).get_by_role("button", name="Diff").click()
    await tab.page.locator(".compare-column__files details").nth(1).wait_for()


async def rules(tab: Tab, hub: RunningHub) -> None:
    await tab.page.get_by_label("Command", exact=True).fill("pytest -q && git push origin")
    await tab.page.get_by_role("button", name="Try", exact=True).click()
    await tab.page.locator(".verdict").wait_for()


async def new_rule(tab: Tab, hub: RunningHub) -> None:
    await tab.page.get_by_role("button", name="New rule").click()
    form = tab.page.locator(".ruleform")
    await form.locator("[name=about]").fill("pytest …")
    await form.get_by_role("button", name="Try on past requests").click()
    await form.locator(".dryrun").wait_for()


async def imported(tab: Tab, hub: RunningHub) -> None:
    await tab.page.get_by_role("button", name="Import").click()
    await tab.page.locator(".imports li").first.wait_for()


async def found(tab: Tab, hub: RunningHub) -> None:
    older: list[AnyEvent] = [
        SessionStarted("claude-code", "stream_json", TIDE, "", "device-1", "opus", found=True),
        TitleChanged("Mend the tide chart", ""),
        PromptSent("p1", "The tide chart is an hour off since Sunday. Why?", ""),
        *tool("Read", "read", 1, "…", file_path=f"{TIDE}/clock.py"),
        *said("m1", "Times are read as local and drawn as UTC. I made both `Europe/Lisbon`."),
        TurnEnded("end_turn", Usage(9_000, 900), 0.25, 40_000),
        SessionEnded("closed", 0),
    ]
    await first(hub, FOUND, older, 180_000)
    await tab.go(f"/sessions/{FOUND}")
    await tab.says("Times are read as local")
    await tab.page.get_by_text(COMMAND).wait_for()


MACHINE: dict[str, tuple[str, str, Callable[[Tab, RunningHub], Awaitable[None]]]] = {
    "terminal": ("Mira", "/", terminal),
    "terminal-split": ("Mira", "/sessions/uploads", split),
    "compare": ("Mira", "/", compare),
    "compare-diff": ("Mira", "/", compare_diff),
    "compare-list": ("Mira", "/compare", lambda tab, _: tab.page.locator(".compare-overview li").wait_for()),
    "rules": ("Mira", "/settings/rules", rules),
    "rules-new": ("Mira", "/settings/rules", new_rule),
    "rules-import": ("Mira", "/settings/rules", imported),
    "found": ("Mira", "/", found),
}
