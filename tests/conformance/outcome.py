"""How a scene went, and what it measured."""

from msgspec import Struct


class Figures(Struct):
    """In seconds; None where the scene does not tell."""

    ready: float | None = None  # from the spawn to `session_ready`
    text: float | None = None  # from the spawn to the first text, when the prompt came with the start
    end: float | None = None  # from the command to `session_ended`
    exit: str = ""


class Outcome(Struct):
    """One scene."""

    name: str
    seconds: float
    fault: str | None
    figures: Figures
    notes: list[str]
