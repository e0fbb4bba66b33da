"""Import and export of the prompt library: Markdown files in a folder that a person names, on a device."""

import hashlib
from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from bascule.api.prompts import FileOutcome, FilesOutcome, PromptExport, PromptImport
from bascule.api.pushes import PromptsChanged
from bascule.hub.api.prompts import checked_text, may_see, seen_prompt
from bascule.hub.calls.call import AnyCall, Call
from bascule.hub.calls.operation import Operation
from bascule.link.prompts import PromptFile, PromptFiles, ReadPromptFiles, WritePromptFiles
from bascule.model.errors import CallerError, InvalidInput
from bascule.model.prompt_files import file_name, read_prompt_file, split_head, write_prompt_file
from bascule.model.prompts import PromptContent, PromptSource, SavedPrompt, markdown_of

SECONDS = 120
LATEST = 20  # versions that a file in the folder may be of
CHANGED = PromptsChanged()


# Import


async def import_files(call: Call[PromptImport]) -> FilesOutcome:
    """A file that is known becomes a new version of its prompt, any other a new prompt. Nothing is lost."""
    read = await call.ask(ReadPromptFiles(folder=call.body.folder), seconds=SECONDS)
    device = call.target
    known = Known(await _seen(call), device, read.folder)
    outcome = FilesOutcome(folder=read.folder, cut=read.cut)
    for file in read.files:
        try:
            kind, prompt = await _import_file(call, file, known)
            getattr(outcome, kind).append(FileOutcome(path=file.path, prompt_id=prompt.id))
        except CallerError as error:
            outcome.skipped.append(FileOutcome(path=file.path, problem=error.message))
    call.hub.push(CHANGED)
    return outcome


class Known:
    """The library's prompts by their ids and by the files they were read from or written to."""

    def __init__(self, prompts: Iterable[SavedPrompt], device: str, folder: str) -> None:
        self._device, self._folder = device, folder
        self._by_id = {prompt.id: prompt for prompt in prompts}
        self._by_path = {
            one.source.path: one
            for one in self._by_id.values()
            if one.source is not None and one.source.device == device
        }

    def find(self, prompt_id: str | None, path: str) -> SavedPrompt | None:
        return self._by_id.get(prompt_id or "") or self._by_path.get(self.whole(path))

    def whole(self, path: str) -> str:
        return f"{self._folder.rstrip('/')}/{path}"

    def source(self, path: str, text: str) -> PromptSource:
        return PromptSource(device=self._device, path=self.whole(path), sha256=_digest(text))


async def _import_file(call: Call[PromptImport], file: PromptFile, known: Known) -> tuple[str, SavedPrompt]:
    if file.problem is not None:
        raise InvalidInput(file.problem)
    body, book = call.body, call.hub.prompts
    read = read_prompt_file(file.path, file.text, body.project_id)
    source = known.source(file.path, file.text)
    before = known.find(read.id, file.path)
    if before is None:
        text = checked_text(read.content)
        added = await book.add(read.content, text, call.by, shared=body.shared, source=source)
        return "added", added
    if before.source == source:
        return "unchanged", before
    content = _after(await book.content(before.id, before.version), read.content)
    after = await book.save(before.id, before.version, content, checked_text(content), call.by, source=source)
    return "unchanged" if after.version == before.version else "changed", after


def _after(now: PromptContent, read: PromptContent) -> PromptContent:
    """As the file says. Text that reads the same keeps its formatting, and the prompt its project."""
    same = markdown_of(now.delta).rstrip("\n") == markdown_of(read.delta).rstrip("\n")
    return replace(read, project_id=now.project_id, delta=now.delta if same else read.delta)


# Export


class Planned(Struct, frozen=True):
    prompt: SavedPrompt
    file: PromptFile
    before: str | None  # what the file says now; None when there is none


async def export_files(call: Call[PromptExport]) -> FilesOutcome:
    """A file for each prompt. One that is not the library's, or was changed since, is left alone."""
    read = await call.ask(ReadPromptFiles(folder=call.body.folder), seconds=SECONDS)
    if read.cut:
        raise InvalidInput("There are too many files in this folder already; choose another one.")
    device = call.target
    known = Known((), device, read.folder)
    outcome = FilesOutcome(folder=read.folder)
    to_write: list[Planned] = []
    names = FileNames(read, known)
    for prompt in await _chosen(call):
        planned = await _plan(call, prompt, names)
        path = planned.file.path
        done = FileOutcome(path=path, prompt_id=prompt.id)
        if planned.before == planned.file.text:
            outcome.unchanged.append(done)
        elif planned.before is not None and not await _is_ours(call, planned, known):
            problem = "It was changed outside the library. Import this folder first, then export again."
            outcome.skipped.append(replace(done, problem=problem))
        else:
            to_write.append(planned)
    await _write(call, to_write, known, outcome)
    return outcome


async def _write(call: Call[PromptExport], planned: list[Planned], known: Known, out: FilesOutcome) -> None:
    if not planned:
        return
    files = tuple(one.file for one in planned)
    answer = await call.ask(WritePromptFiles(folder=call.body.folder, files=files), seconds=SECONDS)
    failed = {file.path: file.problem for file in answer.files}
    for one in planned:
        path = one.file.path
        done = FileOutcome(path=path, prompt_id=one.prompt.id)
        if path in failed:
            out.skipped.append(replace(done, problem=failed[path]))
            continue
        await call.hub.prompts.mark(one.prompt.id, source=known.source(path, one.file.text))
        (out.added if one.before is None else out.changed).append(done)


class FileNames:
    """Which file of a folder a prompt has, or a free name for one that has none."""

    def __init__(self, read: PromptFiles, known: Known) -> None:
        self._known = known
        self.texts = {file.path: file.text for file in read.files}
        self._taken = {path.lower() for path in self.texts}
        ids = {path: split_head(text).values.get("id") for path, text in self.texts.items()}
        self._by_id = {found: path for path, found in ids.items() if isinstance(found, str)}
        self._free = {path for path, found in ids.items() if not found and path.endswith(".md")}

    def of(self, prompt: SavedPrompt) -> str:
        if prompt.id in self._by_id:
            return self._by_id[prompt.id]
        if prompt.source is not None:  # read from a file of this folder that names no prompt
            for path in self._free:
                if self._known.source(path, self.texts[path]) == prompt.source:
                    return path
        name = wanted = file_name(prompt.title)
        number = 1
        while name.lower() in self._taken:
            number += 1
            name = f"{wanted.removesuffix('.md')}-{number}.md"
        self._taken.add(name.lower())
        return name


async def _plan(call: AnyCall, prompt: SavedPrompt, names: FileNames) -> Planned:
    content = await call.hub.prompts.content(prompt.id, prompt.version)
    path = names.of(prompt)
    before = names.texts.get(path)
    return Planned(prompt, PromptFile(path, write_prompt_file(prompt.id, content, before or "")), before)


async def _is_ours(call: AnyCall, planned: Planned, known: Known) -> bool:
    """Whether the file says what the library last wrote or read there."""
    prompt, before = planned.prompt, planned.before or ""
    if prompt.source == known.source(planned.file.path, before):
        return True
    for version in (await call.hub.prompts.versions(prompt.id))[:LATEST]:
        content = await call.hub.prompts.content(prompt.id, version.version)
        if write_prompt_file(prompt.id, content, before) == before:
            return True
    return False


async def _chosen(call: Call[PromptExport]) -> list[SavedPrompt]:
    if call.body.prompt_ids:
        return [await seen_prompt(call, one) for one in dict.fromkeys(call.body.prompt_ids)]
    return [one for one in await _seen(call) if one.kind != "scratch"]


async def _seen(call: AnyCall) -> list[SavedPrompt]:
    found = await call.hub.prompts.list()
    return [one for one in found if one.removed_at is None and may_see(call, one)]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


OPERATIONS = (
    Operation(
        name="prompts:import",
        method="POST",
        path="/api/prompts/import",
        need="operator",
        body=PromptImport,
        answer=FilesOutcome,
        run=import_files,
        for_device=True,
        summary="Import prompts from Markdown files, or from an agent's command files, in a folder",
    ),
    Operation(
        name="prompts:export",
        method="POST",
        path="/api/prompts/export",
        need="operator",
        body=PromptExport,
        answer=FilesOutcome,
        run=export_files,
        for_device=True,
        summary="Export prompts as Markdown files in a folder",
    ),
)
