"""Comparisons: gives one prompt to several agents, each in its own git work tree, and keeps one result."""

import asyncio
import dataclasses
import os
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.git import GitFailed
from bascule.daemon.handlers import Handlers, widens_nothing
from bascule.daemon.launching.launching import Launching
from bascule.daemon.registry.live_sessions import LiveSessions
from bascule.daemon.sessions.starting import Starter, tidy_title
from bascule.daemon.widening import widened_by_comparison
from bascule.daemon.worktrees import trees as worktrees
from bascule.daemon.worktrees.trees import DoesNotApply, Repository, Surroundings, Tree
from bascule.link.comparisons import (
    Comparisons,
    ContestantChanges,
    KeepContestant,
    Kept,
    ListComparisons,
    ReadComparison,
    ReadContestant,
    RemoveTrees,
    StartComparison,
    TreeRemoval,
    TreesRemoved,
)
from bascule.model.codec import timestamp
from bascule.model.commands import Actor, Envelope, SessionBegun, StartSession
from bascule.model.comparisons import MAX_CONTESTANTS, Comparison, Contestant
from bascule.model.errors import BasculeError, InvalidInput, SessionNotFound
from bascule.model.events import StartOptions
from bascule.model.lifecycle import Phase
from bascule.model.settings import Settings
from bascule.model.titles import title_from
from bascule.store.comparisons import ComparisonBook
from bascule.store.protocols import DaemonStore

END_SECONDS = 30.0
BUSY = frozenset({Phase.STARTING, Phase.RUNNING, Phase.INTERRUPTED})


class Comparing:
    def __init__(
        self,
        store: DaemonStore,
        book: ComparisonBook,
        sessions: LiveSessions,
        starter: Starter,
        launcher: Launching,
        settings: Settings,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._book = book
        self._sessions = sessions
        self._starter = starter
        self._launcher = launcher
        self._clock = clock
        self._scratch = os.path.join(settings.data_dir, "scratch")
        # One at a time: two hands on one repository's trees get in each other's way.
        self._turn = asyncio.Lock()

    def register(self, handlers: Handlers) -> None:
        handlers.add(
            StartComparison,
            self.start,
            stores=True,
            begins=True,
            alone=True,
            widens=widened_by_comparison,
        )
        handlers.add(ListComparisons, self._list, reads=True)
        handlers.add(ReadComparison, self._read, reads=True)
        handlers.add(ReadContestant, self._changes, reads=True)
        handlers.add(KeepContestant, self._keep, widens=widens_nothing)
        handlers.add(RemoveTrees, self._remove, widens=widens_nothing)

    async def _list(self, envelope: Envelope[ListComparisons]) -> Comparisons:
        return Comparisons(await self._book.list())

    async def _read(self, envelope: Envelope[ReadComparison]) -> Comparison:
        return await self._book.get(envelope.command.comparison_id)

    # The start -------------------------------------------------------------------------------------------

    async def start(self, envelope: Envelope[StartComparison]) -> Comparison:
        """Everything that can be refused is refused before anything is made."""
        command, by = envelope.command, envelope.by
        if not 2 <= len(command.entrants) <= MAX_CONTESTANTS:
            raise InvalidInput(f"A prompt is compared between 2 to {MAX_CONTESTANTS} agents.")
        key = f"{by.grant_id}:{envelope.key}" if envelope.key else None
        before = await self._book.with_key(key) if key else None
        if before is not None:
            return before
        sessions = [
            Envelope(
                StartSession(
                    session_id=entrant.session_id,
                    agent=entrant.agent,
                    cwd=command.folder,
                    options=StartOptions(model=entrant.model, permission_mode=command.permission_mode),
                    prompt=command.prompt,
                    images=command.images,
                    title=command.title,
                ),
                by,
            )
            for entrant in command.entrants
        ]
        return await self._begin(command.comparison_id, sessions, command.prompt, command.title, key)

    async def start_one(self, envelope: Envelope[StartSession]) -> SessionBegun:
        """A single session in a work tree of its own."""
        command = envelope.command
        alone = dataclasses.replace(envelope, command=replace(command, worktree=False))
        await self._begin(command.session_id, [alone], command.prompt or "", command.title, None)
        record = await self._store.session(command.session_id)
        assert record is not None, "a session that was begun is stored"
        return SessionBegun(session_id=command.session_id, seq=record.seq)

    async def _begin(
        self,
        comparison_id: str,
        sessions: list[Envelope[StartSession]],
        prompt: str,
        title: str | None,
        key: str | None,
    ) -> Comparison:
        await self._starter.check_all(sessions)
        folder = check_directory(sessions[0].command.cwd, self._launcher.roots, self._launcher.own)[0]
        around = self._around()
        repository = await asyncio.to_thread(worktrees.look_at, folder, around)
        shown = tidy_title(title) if title else title_from(prompt) or "New session"
        planned = self._planned(repository, sessions, shown)
        one = Comparison(
            id=comparison_id,
            title=shown,
            prompt=prompt,
            folder=folder,
            top=repository.top,
            base=repository.base,
            base_branch=repository.branch,
            dirty=repository.dirty,
            created_at=timestamp(self._clock()),
            created_by=sessions[0].by.name,
            contestants=planned,
        )
        await self._book.add(one, key)
        async with self._turn:
            made = await self._make_trees(one, repository, around)
        await self._book.change(made)
        return await self._start_sessions(made, sessions)

    def _planned(
        self, repository: Repository, sessions: list[Envelope[StartSession]], title: str
    ) -> tuple[Contestant, ...]:
        place = worktrees.beside(repository.top)
        # Its folder may not be there yet, but the one it will be in must be allowed.
        check_directory(os.path.dirname(place), self._launcher.roots, self._launcher.own)
        name = worktrees.name_for(title)
        return tuple(
            Contestant(
                session_id=session.command.session_id,
                agent=session.command.agent,
                model=session.command.options.model,
                tree=os.path.join(place, f"{name}-{n}"),
                cwd=os.path.join(place, f"{name}-{n}", repository.prefix).rstrip("/"),
                branch=f"bascule/{name}-{n}",
            )
            for n, session in enumerate(sessions, 1)
        )

    async def _make_trees(self, one: Comparison, repository: Repository, around: Surroundings) -> Comparison:
        made: list[Contestant] = []
        try:
            for contestant in one.contestants:
                git_dir = await asyncio.to_thread(worktrees.add, repository, contestant, around)
                made.append(replace(contestant, git_dir=git_dir, state="there"))
        except BaseException:
            await self._undo(one, made)
            raise
        return replace(one, contestants=tuple(made))

    async def _start_sessions(self, one: Comparison, sessions: list[Envelope[StartSession]]) -> Comparison:
        begun: list[Contestant] = []
        failed: BasculeError | None = None
        for contestant, session in zip(one.contestants, sessions, strict=True):
            try:
                command = replace(session.command, cwd=contestant.cwd, worktree_of=one.folder)
                await self._starter.start(dataclasses.replace(session, command=command))
            except BasculeError as error:
                failed = error
                begun.append(replace(contestant, problem=error.message))
            else:
                begun.append(contestant)
        if failed is not None and all(contestant.problem for contestant in begun):
            await self._undo(one, one.contestants)
            raise failed
        done = replace(one, contestants=tuple(begun))
        await self._book.change(done)
        return done

    async def _undo(self, one: Comparison, made: Sequence[Contestant]) -> None:
        """Nobody has worked in these trees yet."""
        for contestant in made:
            tree = Tree(one.top, one.base, contestant, self._around())
            await asyncio.to_thread(tree.remove, branch_too=True)
        await self._book.remove(one.id)

    # Comparing -------------------------------------------------------------------------------------------

    async def _changes(self, envelope: Envelope[ReadContestant]) -> ContestantChanges:
        command = envelope.command
        one, contestant = await self._find(command.comparison_id, command.session_id)
        if contestant.state != "there" or not os.path.isdir(contestant.tree):
            return ContestantChanges(branch=contestant.branch, files=[], problem=self._gone(contestant))
        tree = Tree(one.top, one.base, contestant, self._around())
        try:
            found = await asyncio.to_thread(tree.difference)
            ignored = await asyncio.to_thread(tree.ignored)
        except GitFailed as failed:
            return ContestantChanges(branch=contestant.branch, files=[], problem=str(failed))
        problem = None
        if found.nested:
            names = ", ".join(found.nested[:5])
            problem = f"{names}: a repository of its own, so its files are not part of these changes."
        return ContestantChanges(
            branch=contestant.branch, files=found.files, cut=found.cut, problem=problem, ignored=ignored
        )

    def _gone(self, contestant: Contestant) -> str:
        if contestant.state == "removed":
            return "The work tree was removed."
        return f"The work tree {contestant.tree} is not there."

    # Keeping one -----------------------------------------------------------------------------------------

    async def _keep(self, envelope: Envelope[KeepContestant]) -> Kept:
        async with self._turn:
            command = envelope.command
            return await self._take_over(command.comparison_id, command.session_id, envelope.by)

    async def _take_over(self, comparison_id: str, session_id: str, by: Actor) -> Kept:
        one, contestant = await self._find(comparison_id, session_id)
        self._check_idle(contestant, "before its changes are taken over")
        if contestant.state != "there":
            raise InvalidInput(f"{self._gone(contestant)} Its work is on the branch {contestant.branch}.")
        tree = Tree(one.top, one.base, contestant, self._around())
        name = os.path.basename(one.top)
        try:
            found = await asyncio.to_thread(tree.difference)
            if not found.files:
                raise InvalidInput(f"{contestant.agent} changed no file, so there is nothing to take over.")
            await asyncio.to_thread(tree.store, _words(one, contestant))
            patch = await asyncio.to_thread(tree.patch)
        except GitFailed as failed:
            raise InvalidInput(f"git could not read the work tree: {failed} Nothing was changed.") from failed
        try:
            await asyncio.to_thread(tree.take_over, patch)
        except DoesNotApply as failed:
            raise DoesNotApply(
                f"Nothing was changed in {name}, because it does not fit there: {failed.message}. "
                f"The work is on the branch {contestant.branch}: commit or stash your own changes, "
                f"then run `git merge {contestant.branch}` in {one.top}.",
                branch=contestant.branch,
            ) from failed
        kept = replace(one, kept=contestant.session_id, kept_at=timestamp(self._clock()))
        detail = f"{contestant.branch} taken over into {one.top}"
        await self._book.change(kept, by, detail)
        count = f"{len(found.files)} file{'' if len(found.files) == 1 else 's'}"
        return Kept(
            len(found.files), f"{count} changed in {name}, not committed. Look at them, then commit them."
        )

    # Removing --------------------------------------------------------------------------------------------

    async def _remove(self, envelope: Envelope[RemoveTrees]) -> TreesRemoved:
        if not envelope.command.confirm:
            raise InvalidInput("Work trees are removed only when that is confirmed (`confirm`: true).")
        async with self._turn:
            return await self._remove_trees(envelope.command, envelope.by)

    async def _remove_trees(self, command: RemoveTrees, by: Actor) -> TreesRemoved:
        one = await self._book.get(command.comparison_id)
        known = {contestant.session_id for contestant in one.contestants}
        for session_id in command.session_ids:
            if session_id not in known:
                raise SessionNotFound(session_id)
        removals: list[TreeRemoval] = []
        after: list[Contestant] = []
        for contestant in one.contestants:
            if contestant.session_id not in command.session_ids or contestant.state == "removed":
                after.append(contestant)
                continue
            removal = await self._remove_one(one, contestant, by.name)
            removals.append(removal)
            after.append(replace(contestant, state="removed") if removal.removed else contestant)
        changed = replace(one, contestants=tuple(after))
        gone = [removal for removal in removals if removal.removed]
        detail = f"{len(gone)} work trees of {one.top} removed; their work is on their branches"
        await self._book.change(changed, by if gone else None, detail)
        return TreesRemoved(removals, changed)

    async def _remove_one(self, one: Comparison, contestant: Contestant, by: str) -> TreeRemoval:
        """Commits its files to its branch first. If that fails, the tree stays."""
        sid, branch = contestant.session_id, contestant.branch
        await self._end(sid, by)
        if not os.path.isdir(contestant.tree):
            return TreeRemoval(sid, True, branch, f"The work tree was gone already; see the branch {branch}.")
        tree = Tree(one.top, one.base, contestant, self._around())
        try:
            found = await asyncio.to_thread(tree.difference)
            if found.nested:
                names = ", ".join(found.nested[:5])
                text = f"It stays at {contestant.tree}: it holds a repository of its own ({names}), "
                text += "which no branch would keep."
                return TreeRemoval(sid, False, branch, text)
            holds = await asyncio.to_thread(tree.store, _words(one, contestant))
            await asyncio.to_thread(tree.remove, branch_too=not holds)
        except GitFailed as failed:
            return TreeRemoval(sid, False, branch, f"It stays at {contestant.tree}: {failed}")
        if holds:
            return TreeRemoval(sid, True, branch, f"Its work stays on the branch {branch}.")
        return TreeRemoval(sid, True, None, "It had changed nothing.")

    async def _end(self, session_id: str, by: str) -> None:
        live = self._sessions.live.get(session_id)
        if live is not None:
            live.end("closed", by)
            await self._sessions.wait_ended(session_id, END_SECONDS)

    def _check_idle(self, contestant: Contestant, why: str) -> None:
        live = self._sessions.live.get(contestant.session_id)
        if live is not None and live.ledger.record.phase in BUSY:
            raise InvalidInput(f"{contestant.agent} is still working. Stop its turn or wait, {why}.")

    async def _find(self, comparison_id: str, session_id: str) -> tuple[Comparison, Contestant]:
        one = await self._book.get(comparison_id)
        for contestant in one.contestants:
            if contestant.session_id == session_id:
                return one, contestant
        raise SessionNotFound(session_id)

    def _around(self) -> Surroundings:
        os.makedirs(self._scratch, mode=0o700, exist_ok=True)
        return Surroundings(os.environ.get("PATH", os.defpath), os.path.expanduser("~"), self._scratch)


def _words(one: Comparison, contestant: Contestant) -> str:
    """The commit message on the branch."""
    return f"{one.title}\n\nThe work of {contestant.agent}, as it was left in its work tree.\n"
