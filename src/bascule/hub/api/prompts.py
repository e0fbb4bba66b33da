"""Operations of the prompt library: list, save as a new version, share, remove, note a use."""

from msgspec.structs import asdict

from bascule.api.prompts import (
    PromptAdd,
    PromptList,
    PromptMark,
    PromptNamed,
    PromptSave,
    PromptShown,
    PromptsQuery,
    PromptUsed,
    PromptUses,
    PromptUseView,
    PromptVersionNamed,
    PromptVersions,
    PromptView,
)
from bascule.api.pushes import PromptsChanged
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.hub.door.roles import Forbidden
from bascule.hub.wire.intake import LARGE
from bascule.model.commands import Done
from bascule.model.errors import InvalidInput
from bascule.model.fields import MAX_TEXT
from bascule.model.prompts import PromptContent, SavedPrompt, text_of
from bascule.store.prompt_rows import SavedPromptNotFound

MAX_FOUND = 200


async def list_prompts(call: Call[PromptsQuery]) -> PromptList:
    """What the caller may see; with words, those that have them, by title before text."""
    query, book = call.body, call.hub.prompts
    seen = {
        one.id: one
        for one in await book.list()
        if may_see(call, one) and (one.removed_at is not None) == query.removed
    }
    if not query.q.strip():
        return PromptList(prompts=[view(call, one) for one in seen.values()])
    found = await book.search(query.q, MAX_FOUND)
    return PromptList(prompts=[view(call, seen[key], found[key]) for key in found if key in seen])


async def show(call: Call[PromptNamed]) -> PromptShown:
    prompt = await seen_prompt(call, call.body.prompt_id)
    content = await call.hub.prompts.content(prompt.id, prompt.version)
    return PromptShown(prompt=view(call, prompt), content=content)


async def add(call: Call[PromptAdd]) -> PromptView:
    content = call.body.content
    text = checked_text(content)
    prompt = await call.hub.prompts.add(content, text, call.by, shared=call.body.shared, key=call.key)
    return announced(call, prompt)


async def save(call: Call[PromptSave]) -> PromptView:
    await seen_prompt(call, call.body.prompt_id)
    content = call.body.content
    text = checked_text(content)
    return announced(
        call, await call.hub.prompts.save(call.body.prompt_id, call.body.base, content, text, call.by)
    )


async def mark(call: Call[PromptMark]) -> PromptView:
    body = call.body
    prompt = await seen_prompt(call, body.prompt_id)
    if body.shared is not None and body.shared != prompt.shared and not is_mine(call, prompt):
        raise Forbidden(f"Only {prompt.created_by}, who made it, says who sees this prompt.")
    owner = call.by if body.shared is not None else None
    marked = await call.hub.prompts.mark(prompt.id, favourite=body.favourite, shared=body.shared, owner=owner)
    return announced(call, marked)


async def remove(call: Call[PromptNamed]) -> Done:
    prompt = await seen_prompt(call, call.body.prompt_id)
    announced(call, await call.hub.prompts.mark(prompt.id, removed=True))
    return Done()


async def restore(call: Call[PromptNamed]) -> PromptView:
    prompt = await seen_prompt(call, call.body.prompt_id)
    return announced(call, await call.hub.prompts.mark(prompt.id, removed=False))


async def versions(call: Call[PromptNamed]) -> PromptVersions:
    prompt = await seen_prompt(call, call.body.prompt_id)
    return PromptVersions(versions=await call.hub.prompts.versions(prompt.id))


async def version(call: Call[PromptVersionNamed]) -> PromptContent:
    prompt = await seen_prompt(call, call.body.prompt_id)
    return await call.hub.prompts.content(prompt.id, call.body.version)


async def used(call: Call[PromptUsed]) -> Done:
    body = call.body
    prompt = await seen_prompt(call, body.prompt_id)
    await call.hub.prompts.used(prompt.id, body.version, body.kind, body.sessions, call.by)
    _push(call, prompt)
    return Done()


async def uses(call: Call[PromptNamed]) -> PromptUses:
    prompt = await seen_prompt(call, call.body.prompt_id)
    found: list[PromptUseView] = []
    for use in await call.hub.prompts.uses(prompt.id):
        record = None if use.session_id is None else await call.hub.store.session(use.session_id)
        found.append(PromptUseView(**asdict(use), title="" if record is None else record.title))
    return PromptUses(uses=found)


# Who sees what


def may_see(call: AnyCall, prompt: SavedPrompt) -> bool:
    return prompt.shared or is_mine(call, prompt)


def is_mine(call: AnyCall, prompt: SavedPrompt) -> bool:
    """A private prompt of a grant that is gone would be lost for everybody: it becomes the owner's."""
    if prompt.grant_id == call.holder.id:
        return True
    return call.holder.role == "owner" and call.hub.grants.get(prompt.grant_id) is None


async def seen_prompt(call: AnyCall, prompt_id: str) -> SavedPrompt:
    """Raises the same for one that is not there and for one that the caller may not see."""
    prompt = await call.hub.prompts.get(prompt_id)
    if not may_see(call, prompt):
        raise SavedPromptNotFound("There is no such prompt in the library.")
    return prompt


def view(call: AnyCall, prompt: SavedPrompt, snippet: list[str] | None = None) -> PromptView:
    return PromptView(**asdict(prompt), mine=is_mine(call, prompt), snippet=tuple(snippet or ()))


def announced(call: AnyCall, prompt: SavedPrompt) -> PromptView:
    """Notify every page that it changed; the answer for the caller."""
    _push(call, prompt)
    return view(call, prompt)


def _push(call: AnyCall, prompt: SavedPrompt) -> None:
    call.hub.push(PromptsChanged(prompt_id=prompt.id, version=prompt.version))


def checked_text(content: PromptContent) -> str:
    """The text that is searched, and the only place that says how long a prompt may be."""
    text = text_of(content.delta)
    if len(text) > MAX_TEXT:
        raise InvalidInput(f"The prompt is {len(text):,} characters long; at most {MAX_TEXT:,} fit.")
    return text


ALL, ONE = "/api/prompts", "/api/prompts/{prompt_id}"
OPERATIONS = (
    Operation(
        name="prompts:list",
        method="GET",
        path=ALL,
        need="viewer",
        body=PromptsQuery,
        answer=PromptList,
        run=list_prompts,
        summary="List the prompts of the library, or search them",
    ),
    Operation(
        name="prompts:add",
        method="POST",
        path=ALL,
        need="operator",
        body=PromptAdd,
        answer=PromptView,
        answer_key="prompt",
        run=add,
        max_bytes=LARGE,
        summary="Add a prompt to the library",
    ),
    Operation(
        name="prompts:show",
        method="GET",
        path=ONE,
        need="viewer",
        body=PromptNamed,
        answer=PromptShown,
        run=show,
        summary="Get a prompt and its text, as a Quill Delta",
    ),
    Operation(
        name="prompts:save",
        method="POST",
        path=ONE,
        need="operator",
        body=PromptSave,
        answer=PromptView,
        answer_key="prompt",
        run=save,
        max_bytes=LARGE,
        summary="Save a prompt as a new version, unless somebody else has saved one meanwhile",
    ),
    Operation(
        name="prompts:mark",
        method="POST",
        path=ONE + "/mark",
        need="operator",
        body=PromptMark,
        answer=PromptView,
        answer_key="prompt",
        run=mark,
        summary="Make a prompt a favourite, or share it or keep it private",
    ),
    Operation(
        name="prompts:remove",
        method="DELETE",
        path=ONE,
        need="operator",
        body=PromptNamed,
        answer=Done,
        run=remove,
        summary="Remove a prompt from the library; it can be restored",
    ),
    Operation(
        name="prompts:restore",
        method="POST",
        path=ONE + "/restore",
        need="operator",
        body=PromptNamed,
        answer=PromptView,
        answer_key="prompt",
        run=restore,
        summary="Restore a removed prompt",
    ),
    Operation(
        name="prompts:versions",
        method="GET",
        path=ONE + "/versions",
        need="viewer",
        body=PromptNamed,
        answer=PromptVersions,
        run=versions,
        summary="List a prompt's versions",
    ),
    Operation(
        name="prompts:version",
        method="GET",
        path=ONE + "/versions/{version}",
        need="viewer",
        body=PromptVersionNamed,
        answer=PromptContent,
        answer_key="content",
        run=version,
        summary="Get one version of a prompt",
    ),
    Operation(
        name="prompts:used",
        method="POST",
        path=ONE + "/used",
        need="operator",
        body=PromptUsed,
        answer=Done,
        run=used,
        summary="Record that a prompt was given to sessions",
    ),
    Operation(
        name="prompts:uses",
        method="GET",
        path=ONE + "/uses",
        need="viewer",
        body=PromptNamed,
        answer=PromptUses,
        run=uses,
        summary="List the sessions that a prompt was given to",
    ),
)
