"""The launch plan: the launcher's instructions, in a private file beside the prompt."""

import json
import sys
from typing import TypedDict


class TrustText(TypedDict):
    text: str
    accept: str
    marker: str


class Plan(TypedDict):
    """Plain JSON: the launcher reads it before it has loaded anything."""

    id: str
    stem: str  # of the names of its files
    title: str  # of the agent
    argv: list[str]  # empty when the agent is missing
    prompt_words: list[str]  # how the prompt is given as an argument; empty when it must be typed
    prompt_file: str  # in the same folder; empty when there is no prompt
    send: bool  # press Enter after typing it
    input_mark: str  # type it when a line begins with this; empty where the agent's input shows at once
    cwd: str
    environment: dict[str, str]
    defaults: dict[str, str]
    trust: TrustText | None
    missing: str
    install: str
    report_to: str  # the socket's name in the same folder
    also_remove: str  # a file in the same folder that has done its work, or nothing


def encode_plan(plan: Plan) -> bytes:
    return json.dumps(plan).encode()


def launcher_argv(plan_path: str) -> list[str]:
    """What the terminal runs. `-I`: nothing in the folder or the environment can change what is loaded."""
    return [sys.executable, "-I", "-m", "bascule.launch.launcher", plan_path]
