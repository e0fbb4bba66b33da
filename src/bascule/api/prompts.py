"""Parameters and answers of the prompt library's operations."""

from typing import Annotated

from msgspec import Meta, field

from bascule.api.bodies import Body
from bascule.api.view import View
from bascule.model.fields import Name, Seq, Short
from bascule.model.prompts import PromptContent, PromptUse, PromptVersion, SavedPrompt, UseKind


class PromptsQuery(Body, kw_only=True, frozen=True):
    """Words to look for in title, tags and text; without them every prompt, the newest first."""

    q: Annotated[str, Meta(max_length=1000)] = ""
    removed: bool = False  # the removed ones instead


class PromptNamed(Body, kw_only=True, frozen=True):
    prompt_id: Name


class PromptAdd(Body, kw_only=True, frozen=True):
    content: PromptContent
    shared: bool = True


class PromptSave(PromptNamed, kw_only=True, frozen=True):
    """`base` is the version that the change began from."""

    base: Seq
    content: PromptContent


class PromptMark(PromptNamed, kw_only=True, frozen=True):
    favourite: bool | None = None
    shared: bool | None = None


class PromptVersionNamed(PromptNamed, kw_only=True, frozen=True):
    version: Seq


class PromptUsed(PromptNamed, kw_only=True, frozen=True):
    """Given to these sessions; to none of ours when it was launched in a terminal."""

    version: Seq
    kind: UseKind
    sessions: Annotated[tuple[Name, ...], Meta(max_length=10)] = ()


class PromptImport(Body, kw_only=True, frozen=True):
    """`shared`, `projectId`: of the prompts that are new."""

    folder: Short
    project_id: Name | None = None
    shared: bool = True


class PromptExport(Body, kw_only=True, frozen=True):
    """`promptIds`: these; without any, all that you see but scratch pads."""

    folder: Short
    prompt_ids: Annotated[tuple[Name, ...], Meta(max_length=5000)] = ()


class PromptView(SavedPrompt, frozen=True, kw_only=True):
    """`mine`: you may say who sees it. `snippet` is text around a match; every second piece is one."""

    mine: bool
    snippet: tuple[str, ...] = ()


class PromptList(View, frozen=True, kw_only=True):
    prompts: list[PromptView]


class PromptShown(View, frozen=True, kw_only=True):
    prompt: PromptView
    content: PromptContent


class PromptVersions(View, frozen=True, kw_only=True):
    """The newest first."""

    versions: list[PromptVersion]


class PromptUseView(PromptUse, frozen=True, kw_only=True):
    title: str = ""  # of the session, when it is still there


class PromptUses(View, frozen=True, kw_only=True):
    """The newest first, at most 100."""

    uses: list[PromptUseView]


class FileOutcome(View, frozen=True, kw_only=True):
    """What became of one file; `problem` says why nothing did, and what to do."""

    path: str
    prompt_id: str | None = None
    problem: str | None = None


class FilesOutcome(View, frozen=True, kw_only=True):
    """Files by what became of them. `folder` is its real path; `cut`: there are more files than are read."""

    folder: str
    added: list[FileOutcome] = field(default_factory=list[FileOutcome])
    changed: list[FileOutcome] = field(default_factory=list[FileOutcome])
    unchanged: list[FileOutcome] = field(default_factory=list[FileOutcome])
    skipped: list[FileOutcome] = field(default_factory=list[FileOutcome])
    cut: bool = False
