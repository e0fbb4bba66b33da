"""What the lifelike machine has besides chats: rules, agents compared, a terminal, a found session."""

import time
from collections.abc import Callable
from typing import Any

from tests.hub.found_items import found_item

from bascule.daemon.terminals.arbiter import Arbiter
from bascule.daemon.terminals.size_policy import SmallestClientSize
from bascule.link.comparisons import (
    Comparisons,
    ContestantChanges,
    ListComparisons,
    ReadComparison,
    ReadContestant,
)
from bascule.link.files import FileChange
from bascule.link.found import Followed, FollowFound, FoundList, ListFound, Looking
from bascule.link.rules import (
    DryRun,
    ListRules,
    Outcome,
    PastAnswer,
    Proposal,
    Proposals,
    ProposeRules,
    RuleView,
    RuleViews,
    TryRequest,
    TryRule,
)
from bascule.link.tape import Delivered, Participant, ParticipantEvents, TapeTail
from bascule.model.codec import timestamp
from bascule.model.commands import Actor
from bascule.model.comparisons import Comparison, Contestant
from bascule.model.rules import RuleSpec, Tried

LANTERN = "/code/lantern"
FOUND = "found-1"
COMMAND = "claude --resume=0bf6c2a4"
FLAKY = "tests/test_sync.py fails about once in forty runs. Find out why and mend the cause, not the test."
ALICE, BOB = "flaky-claude", "flaky-codex"


def ago(seconds: float) -> str:
    return timestamp(time.time() - seconds)


# A development server's terminal: colours, a link, and lines that are not yet over.
SCREEN = (
    "\x1b[32mmira@tower\x1b[0m \x1b[34m/code/lantern\x1b[0m \x1b[33mresume-uploads\x1b[0m $ make dev\r\n"
    "→ lantern.api on http://127.0.0.1:8420\r\n"
    "→ watching \x1b[34mlantern/ migrations/\x1b[0m\r\n\r\n"
    "14:07:21 \x1b[32mINFO\x1b[0m  PUT  /uploads/7f3a/parts/1  201  18 ms\r\n"
    "14:07:21 \x1b[32mINFO\x1b[0m  PUT  /uploads/7f3a/parts/2  201  16 ms\r\n"
    "14:07:22 \x1b[33mWARN\x1b[0m  peer closed connection  part=3\r\n"
    "14:07:26 \x1b[32mINFO\x1b[0m  HEAD /uploads/7f3a          200   2 ms\r\n"
    "                Upload-Missing: 3-8\r\n"
    "14:07:26 \x1b[32mINFO\x1b[0m  PUT  /uploads/7f3a/parts/3  201  17 ms\r\n"
    "14:07:27 \x1b[32mINFO\x1b[0m  PUT  /uploads/7f3a/parts/2  200   3 ms  \x1b[2mrepeated\x1b[0m\r\n"
    "14:07:28 \x1b[31mERROR\x1b[0m digest mismatch  part=4\r\n"
    "                stored \x1b[36m9f86d081…\x1b[0m sent \x1b[36m60303ae2…\x1b[0m\r\n"
    "14:07:29 \x1b[32mINFO\x1b[0m  reload: upload/service.py changed\r\n"
    "14:07:34 \x1b[32mINFO\x1b[0m  PUT  /uploads/7f3a/parts/4  \x1b[33m409\x1b[0m   3 ms\r\n"
).encode()


class ShownTape:
    """All of it is there already, and it goes on."""

    base, end, over = 0, len(SCREEN), False

    def __init__(self, delivered: Delivered) -> None:
        self._delivered = delivered

    def read(self, offset: int, limit: int) -> bytes:
        return SCREEN[offset : offset + limit]

    async def tail(self, limit: int) -> TapeTail:
        return TapeTail(0, b"")

    def type(self, data: bytes, by: Actor, *, reply: bool = False) -> None:
        self._delivered(len(data), None)

    async def first_to_answer(self) -> bool:
        return True

    def join(self, by: Actor, may_write: bool, events: ParticipantEvents) -> Participant:
        arbiter = Arbiter("shown", (80, 24), SmallestClientSize(), time.monotonic, lambda: None)
        return arbiter.join(by, may_write, events, self)

    def resize(self, cols: int, rows: int, by: Actor) -> None:
        """It has any size."""

    def redraw(self) -> None:
        """It never changes."""

    def close(self) -> None:
        """There is nothing to close."""


class ShownTapes:
    async def open(
        self,
        session_id: str,
        run: int,
        grew: Callable[[], None],
        delivered: Delivered,
        after: int | None = None,
        *,
        skips: bool = True,
    ) -> ShownTape:
        return ShownTape(delivered)


def rule(number: int, answer: Any, kind: Any, words: str, used: int, **about: Any) -> RuleView:
    return RuleView(
        id=f"rule{number}",
        answer=answer,
        tool_class=kind,
        created_at=ago(90_000),
        created_by="Mira",
        words=words,
        used=used,
        **about,
    )


RULES = [
    rule(1, "allow", "command", "Allow `pytest …`", 41, argv=("pytest",), more=True, folder=LANTERN),
    rule(2, "allow", "command", "Allow `git diff`", 12, argv=("git", "diff")),
    rule(3, "allow", "edit", "Allow edits of tests/**", 7, path="tests/**", folder=LANTERN),
    rule(4, "ask", "fetch", "Ask before pages", 3, agent="codex"),
    rule(5, "deny", "command", "Deny `git push …`", 2, argv=("git", "push"), more=True),
]


def past() -> list[PastAnswer]:
    told: tuple[tuple[str, Outcome, float], ...] = (
        ("pytest tests/test_upload.py -q", "allow", 700),
        ("pytest -x tests/test_sync.py", "allow", 5_000),
        ("pytest --lf", "deny", 9_000),
    )
    return [
        PastAnswer(
            session_id="uploads",
            session_title="Resume interrupted uploads",
            request_id=f"old{n}",
            agent="claude-code",
            text=text,
            at=ago(seconds),
            then=then,
            by="Mira",
            now="allow",
        )
        for n, (text, then, seconds) in enumerate(told)
    ]


PROPOSALS = [
    Proposal(
        "~/.claude/settings.json",
        "Bash(make test)",
        "allow",
        RuleSpec(answer="allow", tool_class="command", argv=("make", "test")),
        "Allow `make test` in every project",
    ),
    Proposal(
        "~/.claude/settings.json",
        "Bash(npm run *:*)",
        "allow",
        problem="A star in the middle of a command has no exact meaning.",
    ),
]


def contestant(session: str, agent: str, number: int) -> Contestant:
    branch = f"bascule/find-the-flaky-sync-test-{number}"
    tree = f"/code/.lantern/{number}"
    return Contestant(session_id=session, agent=agent, tree=tree, cwd=tree, branch=branch, state="there")


def comparison() -> Comparison:
    return Comparison(
        id="c1",
        title="Find the flaky sync test",
        prompt=FLAKY,
        folder=LANTERN,
        top=LANTERN,
        base="0" * 40,
        base_branch="main",
        created_at=ago(200),
        created_by="Mira",
        contestants=(contestant(ALICE, "claude-code", 1), contestant(BOB, "codex", 2)),
    )


WAIT_PATCH = """@@ -39,4 +39,4 @@ class Watcher:
     async def run(self):
-        await sleep(0.2)
+        await self.lock.ready.wait()
         async for change in self.poll():
             yield change
"""
RETRY_PATCH = """@@ -39,3 +39,6 @@ class Watcher:
     async def run(self):
+        for attempt in range(5):
+            if await self.lock.exists(): break
+            await sleep(0.1 * 2**attempt)
         async for change in self.poll():
"""


def told(command: Any) -> object | None:
    """What this device says about all that; None when the question is about something else."""
    match command:
        case ListFound():
            item = found_item(FOUND, COMMAND, ago(200_000), ago(180_000))
            return FoundList([item][: command.limit], 1, Looking(False, 1, 1))
        case FollowFound():
            return Followed(command.session_id, None, COMMAND)
        case ListRules():
            return RuleViews(RULES)
        case TryRule():
            return DryRun("Allow `pytest …` in lantern", 58, 3, 1, past())
        case TryRequest():
            return Tried("deny", "It would be denied: Deny `git push …` everywhere.")
        case ProposeRules():
            return Proposals(PROPOSALS, ["~/.claude/settings.json"], [])
        case ListComparisons():
            return Comparisons([comparison()])
        case ReadComparison():
            return comparison()
        case ReadContestant(session_id=session):
            patch, added, removed = (WAIT_PATCH, 1, 1) if session == ALICE else (RETRY_PATCH, 3, 0)
            return ContestantChanges(
                branch="bascule/find-the-flaky-sync-test",
                files=[FileChange("lantern/sync/watch.py", "modified", added, removed, patch)],
            )
        case _:
            return None
