"""Commands for the Markdown files of the prompt library, in a folder that a person names."""

from typing import Annotated

from msgspec import Meta, Struct

from bascule.model.commands import Answer, Command
from bascule.model.fields import MAX_TEXT, Short

MAX_FILES = 1000


class PromptFile(Struct, frozen=True, rename="camel"):
    """`path` is relative to the folder. `problem`: why its text is not read."""

    path: Short
    text: Annotated[str, Meta(max_length=MAX_TEXT)] = ""
    problem: str | None = None


class PromptFiles(Answer, frozen=True, omit_defaults=False, kw_only=True):
    folder: str  # its real path
    files: tuple[PromptFile, ...]
    cut: bool = False


class ReadPromptFiles(Command[PromptFiles], frozen=True, kw_only=True):
    """Every Markdown file in a folder and below it, and the TOML files that are commands of an agent."""

    folder: Short


class WritePromptFiles(Command[PromptFiles], frozen=True, kw_only=True):
    """Writes each file whole or not at all; answers with those that were not written, and why."""

    folder: Short
    files: Annotated[tuple[PromptFile, ...], Meta(max_length=MAX_FILES)]


PromptFilesCommand = ReadPromptFiles | WritePromptFiles
