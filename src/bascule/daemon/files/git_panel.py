"""Handles the commands that change a session's repository: one at a time, each in the audit log."""

import asyncio
from collections.abc import Awaitable, Callable

from bascule.daemon.files.confined import ConfinedFolder
from bascule.daemon.files.git_actions import Repository
from bascule.daemon.files.pull_request import PullRequests
from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.link.git import (
    CommitFiles,
    Committed,
    OpenPullRequest,
    PlanPullRequest,
    PullRequestOpened,
    PullRequestPlan,
    Reverted,
    RevertFile,
    StageFiles,
)
from bascule.model.commands import Actor, Done, Envelope
from bascule.store.base import AuditRecord
from bascule.store.protocols import DaemonStore

FolderOf = Callable[[str], Awaitable[str]]


class GitPanel:
    """`folder_of` gives a session's folder; `environment` the machine's PATH and the person's home."""

    def __init__(
        self,
        store: DaemonStore,
        folder_of: FolderOf,
        own: tuple[str, ...],
        environment: Callable[[], tuple[str, str]],
    ) -> None:
        self._store = store
        self._folder_of = folder_of
        self._own = own
        self._environment = environment
        self._turn = asyncio.Lock()

    def register(self, handlers: Handlers) -> None:
        handlers.add(StageFiles, self._stage, stores=True, widens=widens_nothing)
        handlers.add(RevertFile, self._revert, stores=True, once=True, widens=widens_nothing)
        handlers.add(CommitFiles, self._commit, stores=True, once=True, widens=widens_nothing)
        handlers.add(PlanPullRequest, self._plan, reads=True)
        handlers.add(OpenPullRequest, self._open, stores=True, once=True, widens=widens_nothing)

    async def _stage(self, envelope: Envelope[StageFiles]) -> Done:
        command = envelope.command
        async with self._turn:
            repository = await self._repository(command.session_id)
            await asyncio.to_thread(repository.stage, command.paths, command.staged)
        return Done()

    async def _revert(self, envelope: Envelope[RevertFile]) -> Reverted:
        command = envelope.command
        async with self._turn:
            repository = await self._repository(command.session_id)
            done = await asyncio.to_thread(repository.revert, command.path, command.kept)
        await self._note(envelope.by, command.session_id, f"reverted {command.path}; kept {done.kept}")
        return done

    async def _commit(self, envelope: Envelope[CommitFiles]) -> Committed:
        command = envelope.command
        async with self._turn:
            repository = await self._repository(command.session_id)
            done = await asyncio.to_thread(repository.commit, command.message, command.paths)
        await self._note(envelope.by, command.session_id, f"committed {done.files} files as {done.commit}")
        return done

    async def _plan(self, envelope: Envelope[PlanPullRequest]) -> PullRequestPlan:
        async with self._turn:
            return await asyncio.to_thread((await self._requests(envelope.command.session_id)).plan)

    async def _open(self, envelope: Envelope[OpenPullRequest]) -> PullRequestOpened:
        command = envelope.command
        async with self._turn:
            url = await asyncio.to_thread((await self._requests(command.session_id)).open, command)
        detail = f"pushed {command.branch} to {command.repository}: {url}"
        await self._note(envelope.by, command.session_id, detail)
        return PullRequestOpened(url)

    async def _repository(self, session_id: str) -> Repository:
        folder, (path, home) = await self._folder_of(session_id), self._environment()
        confined = ConfinedFolder(folder, self._own)
        return await asyncio.to_thread(Repository, folder, confined, path, home)

    async def _requests(self, session_id: str) -> PullRequests:
        return PullRequests(await self._folder_of(session_id), *self._environment())

    async def _note(self, by: Actor, session_id: str, detail: str) -> None:
        await self._store.audit([AuditRecord.of(by, "git", session_id, detail[:500])])
