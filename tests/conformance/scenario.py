"""What a conformance run does with the real CLI and what must come of it, said without any wire's words."""

from __future__ import annotations

import json

from msgspec import Struct

Question = dict[str, object]


class Prompt(Struct, frozen=True):
    """Send a prompt; the run goes on at once."""

    text: str
    with_image: bool = False


class Allow(Struct, frozen=True):
    """Wait for a permission request (a plan is one too) and allow it, perhaps for the whole session."""

    remember: bool = False


class Deny(Struct, frozen=True):
    """Wait for a permission request and deny it."""

    reason: str


class Answer(Struct, frozen=True):
    """Wait for questions and answer them, by the question's full text."""

    answers: dict[str, str]


class AwaitText(Struct, frozen=True):
    """Wait until this text has been streamed."""

    text: str


class AwaitRequest(Struct, frozen=True):
    """Wait until something is asked, and leave it open."""


class Interrupt(Struct, frozen=True):
    """Stop the turn."""


class TurnEnds(Struct, frozen=True):
    """Wait for the end of a turn."""

    failed: bool = False


class Restart(Struct, frozen=True):
    """Kill whatever stands between the person and the agent, start it again and resume the session."""


Action = Prompt | Allow | Deny | Answer | AwaitText | AwaitRequest | Interrupt | TurnEnds | Restart


class Scenario(Struct, frozen=True):
    """Actions in order, and what must be true at the end."""

    name: str
    actions: tuple[Action, ...]
    says: tuple[str, ...] = ()
    never_says: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    never_makes: tuple[str, ...] = ()
    asked: int = 0
    plan_mode: bool = False


COLOUR: Question = {
    "question": "Which colour should the button be?",
    "header": "Colour",
    "multiSelect": False,
    "options": [
        {"label": "Blue", "description": "Calm and common"},
        {"label": "Green", "description": "Signals success"},
    ],
}
CHECKS: Question = {
    "question": "Which checks should run?",
    "header": "Checks",
    "multiSelect": True,
    "options": [
        {"label": "Lint", "description": "Fast"},
        {"label": "Unit", "description": "Medium"},
        {"label": "E2E", "description": "Slow"},
    ],
}


def _asking(name: str, question: Question, answer: str) -> Scenario:
    text = str(question["question"])
    actions = (Prompt(f"::ask {json.dumps(question)}"), Answer({text: answer}), TurnEnds())
    return Scenario(name, actions, says=(f'"{text}"="{answer}"',), asked=1)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("text", (Prompt("::text Hello from the model."), TurnEnds()), says=("Hello from the model.",)),
    Scenario(
        "thinking",
        (Prompt("::think Weighing both ++ ::text The second."), TurnEnds()),
        says=("Weighing both", "The second."),
    ),
    Scenario(
        "allow",
        (Prompt("::bash echo allowed > allowed.txt; cat allowed.txt"), Allow(), TurnEnds()),
        says=("Done. Last tool result: allowed",),
        makes=("allowed.txt",),
        asked=1,
    ),
    Scenario(
        "deny with a reason",
        (Prompt("::bash touch denied.txt"), Deny("Not in this folder."), TurnEnds()),
        says=("Done. Last tool result: Not in this folder.",),
        never_makes=("denied.txt",),
        asked=1,
    ),
    Scenario(
        "remembered rule",
        (
            Prompt("::bash touch again.txt ;; ::bash touch again.txt ;; ::text Twice."),
            Allow(remember=True),
            TurnEnds(),
        ),
        says=("Twice.",),
        makes=("again.txt",),
        asked=1,
    ),
    _asking("question, one choice", COLOUR, "Green"),
    _asking("question, several choices", CHECKS, "Lint, E2E"),
    _asking("question, free text", COLOUR, "A warm orange"),
    Scenario(
        "plan approval",
        (
            Prompt("::plan # Plan\\n\\n1. Write the file. ;; ::write planned.txt | by plan"),
            Allow(),
            Allow(),
            TurnEnds(),
        ),
        says=("1. Write the file.",),
        makes=("planned.txt",),
        asked=2,
        plan_mode=True,
    ),
    Scenario(
        "interrupt mid-stream",
        (
            Prompt("::slow 200 0.05"),
            AwaitText("piece 3."),
            Interrupt(),
            TurnEnds(failed=True),
            Prompt("still there?"),
            TurnEnds(),
        ),
        says=("You said: still there?",),
        never_says=("piece 200.",),
    ),
    Scenario(
        "interrupt during a permission",
        (
            Prompt("::bash touch interrupted.txt"),
            AwaitRequest(),
            Interrupt(),
            TurnEnds(failed=True),
            Prompt("still there?"),
            TurnEnds(),
        ),
        says=("You said: still there?",),
        never_makes=("interrupted.txt",),
        asked=1,
    ),
    Scenario(
        "two queued prompts",
        (
            Prompt("::slow 20 0.05"),
            AwaitText("piece 2."),
            Prompt("first in the queue"),
            TurnEnds(),
            TurnEnds(),
        ),
        says=("piece 20.", "You said: first in the queue"),
    ),
    Scenario(
        "resume after a restart",
        (
            Prompt("::text Before the restart."),
            TurnEnds(),
            Restart(),
            Prompt("::bash touch resumed.txt"),
            Allow(),
            TurnEnds(),
        ),
        says=("Before the restart.",),
        makes=("resumed.txt",),
        asked=1,
    ),
    Scenario(
        "image",
        (Prompt("what is this?", with_image=True), TurnEnds()),
        says=("You said: what is this? (with 1 image)",),
    ),
    Scenario(
        "API error",
        (Prompt("::error 529"), TurnEnds(failed=True), Prompt("still there?"), TurnEnds()),
        says=("529", "You said: still there?"),
    ),
)
