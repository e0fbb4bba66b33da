"""The prompt library's words: a saved prompt, what its template asks for, its versions and its uses."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from bascule.model.delta import delta_to_markdown, delta_to_text
from bascule.model.fields import MAX_TEXT, Name, Short, Title

MAX_OPS = 50_000
Value = str | int | float | bool | None

PromptKind = Literal["prompt", "context", "scratch"]
FieldKind = Literal["text", "number", "choice", "choices", "file", "folder", "code", "literal"]
UseKind = Literal["session", "terminal", "comparison", "message"]


class DeltaOp(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One piece of a document: text, or an embed such as an image. A document has no retain and no delete."""

    insert: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)] | dict[str, Short]
    attributes: dict[str, Value] = {}


class Delta(Struct, frozen=True, forbid_unknown_fields=True):
    """A document as Quill has it."""

    ops: Annotated[tuple[DeltaOp, ...], Meta(max_length=MAX_OPS)]


class TemplateField(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What `{{name}}` in a prompt asks for. `literal` asks nothing: the braces are part of the text."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    kind: FieldKind = "text"
    hint: Annotated[str, Meta(max_length=500)] = ""
    choices: Annotated[tuple[Name, ...], Meta(max_length=100)] = ()
    default: Annotated[str, Meta(max_length=10_000)] = ""


class PromptHead(Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """What a person writes about a prompt. `contexts` are the blocks that stand before it, in this order.

    `always` is a context block's: it stands before every prompt of its project, or of all when it has none.
    """

    title: Title
    kind: PromptKind = "prompt"
    project_id: Name | None = None  # None: not of one project
    tags: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=50)], ...], Meta(max_length=30)] = ()
    fields: Annotated[tuple[TemplateField, ...], Meta(max_length=100)] = ()
    contexts: Annotated[tuple[Name, ...], Meta(max_length=50)] = ()
    always: bool = False


class PromptContent(PromptHead, frozen=True, kw_only=True):
    """Everything of a prompt that has versions."""

    delta: Delta


class PromptSource(Struct, frozen=True, rename="camel", kw_only=True):
    """The file that a prompt was read from or written to, and the digest of what stood in it then."""

    device: str
    path: str
    sha256: str


class SavedPrompt(PromptHead, frozen=True, forbid_unknown_fields=False, kw_only=True):
    """A prompt as lists show it: everything but its text."""

    id: str
    version: int
    grant_id: str  # who made it; while it is not shared, nobody else sees it
    shared: bool
    favourite: bool = False
    created_at: str
    created_by: str
    updated_at: str
    updated_by: str
    removed_at: str | None = None
    excerpt: str = ""
    source: PromptSource | None = None


class PromptVersion(Struct, frozen=True, rename="camel", kw_only=True):
    """One version as a list of them shows it."""

    version: int
    title: str
    at: str
    by: str


class PromptUse(Struct, frozen=True, rename="camel", kw_only=True):
    """One time a prompt was given to an agent; a launched terminal has no session of ours."""

    version: int
    kind: UseKind
    session_id: str | None
    at: str
    by: str


def text_of(delta: Delta) -> str:
    return delta_to_text([msgspec.to_builtins(op) for op in delta.ops])


def markdown_of(delta: Delta) -> str:
    """As agents are given it."""
    return delta_to_markdown([msgspec.to_builtins(op) for op in delta.ops])
