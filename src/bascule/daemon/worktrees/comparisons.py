"""One prompt for several agents, each in its own work tree: begun together, compared, one kept."""

import asyncio
import os
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from bascule.daemon.files.directories import check_directory
from bascule.daemon.files.git import GitFailed
from bascule.daemon.launching import Launching
from bascule.daemon.live_sessions import LiveSessions
from bascule.daemon.starting import Starter, tidy_title
from bascule.daemon.worktrees import trees as worktrees
from bascule.daemon.worktrees.trees import DoesNotApply, Repository, Surroundings, Tree
from bascule.link.comparisons import (
    ComparisonCommand,
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
from bascule.model.codec import encode, timestamp
from bascule.model.commands import StartSession
from bascule.model.comparisons import MAX_CONTESTANTS, Comparison, Contestant
from bascule.model.errors import BasculeError, InvalidInput, SessionNotFound
from bascule.model.lifecycle import Phase
from bascule.model.records import title_from
from bascule.model.settings import Settings
from bascule.store.base import EventStore
from bascule.store.comparisons import ComparisonBook

END_SECONDS = 30.0
BUSY = frozenset({Phase.STARTING, Phase.RUNNING, Phase.INTERRUPTED})


class Comparing:
    def __init__(
        self,
        store: EventStore,
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

    async def answer(self, command: ComparisonCommand) -> bytes:
        match command:
            case StartComparison():
                return encode(await self.start(command))
            case ListComparisons():
                return encode(Comparisons(await self._book.list()))
            case ReadComparison():
                return encode(await self._book.get(command.comparison_id))
            case ReadContestant():
                return encode(await self._changes(command))
            case KeepContestant():
                async with self._turn:
                    return encode(await self._keep(command))
            case RemoveTrees():
                async with self._turn:
                    return encode(await self._remove(command))

    # The start -------------------------------------------------------------------------------------------

    async def start(self, command: StartComparison) -> Comparison:
        """Everything that can be refused is refused before anything is made."""
        if not 2 <= len(command.entrants) <= MAX_CONTESTANTS:
            raise InvalidInput(f"A prompt is compared between 2 to {MAX_CONTESTANTS} agents.")
        key = f"{command.by.grant_id}:{command.key}" if command.key else None
        before = await self._book.with_key(key) if key else None
        if before is not None:
            return before
        sessions = [
            StartSession(
                session_id=one.session_id,
                by=command.by,
                agent=one.agent,
                cwd=command.folder,
                model=one.model,
                permission_mode=command.permission_mode,
                prompt=command.prompt,
                images=command.images,
                title=command.title,
            )
            for one in command.entrants
        ]
        return await self._begin(command.comparison_id, sessions, command.prompt, command.title, key)

    async def start_one(self, command: StartSession, body_sha256: str) -> bytes:
        """A single session in a work tree of its own."""
        alone = replace(command, worktree=False)
        await self._begin(command.session_id, [alone], command.prompt or "", command.title, None, body_sha256)
        record = await self._store.session(command.session_id)
        assert record is not None, "a session that was begun is stored"
        return encode({"session_id": command.session_id, "seq": record.seq})

    async def _begin(
        self,
        comparison_id: str,
        sessions: list[StartSession],
        prompt: str,
        title: str | None,
        key: str | None,
        body_sha256: str = "",
    ) -> Comparison:
        await self._starter.check_all(sessions)
        folder = check_directory(sessions[0].cwd, self._launcher.roots, self._launcher.own)[0]
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
        return await self._start_sessions(made, sessions, body_sha256)

    def _planned(
        self, repository: Repository, sessions: list[StartSession], title: str
    ) -> tuple[Contestant, ...]:
        place = worktrees.beside(repository.top)
        # Its folder may not be there yet, but the one it will be in must be allowed.
        check_directory(os.path.dirname(place), self._launcher.roots, self._launcher.own)
        name = worktrees.name_for(title)
        return tuple(
            Contestant(
                session_id=session.session_id,
                agent=session.agent,
                model=session.model,
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

    async def _start_sessions(
        self, one: Comparison, sessions: list[StartSession], body_sha256: str
    ) -> Comparison:
        begun: list[Contestant] = []
        failed: BasculeError | None = None
        for contestant, session in zip(one.contestants, sessions, strict=True):
            try:
                await self._starter.start(
                    replace(session, cwd=contestant.cwd, worktree_of=one.folder), body_sha256
                )
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

    async def _changes(self, command: ReadContestant) -> ContestantChanges:
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

    async def _keep(self, command: KeepContestant) -> Kept:
        one, contestant = await self._find(command.comparison_id, command.session_id)
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
        await self._book.change(kept, command.by, detail)
        count = f"{len(found.files)} file{'' if len(found.files) == 1 else 's'}"
        return Kept(
            len(found.files), f"{count} changed in {name}, not committed. Look at them, then commit them."
        )

    # Removing --------------------------------------------------------------------------------------------

    async def _remove(self, command: RemoveTrees) -> TreesRemoved:
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
            removal = await self._remove_one(one, contestant, command.by.name)
            removals.append(removal)
            after.append(replace(contestant, state="removed") if removal.removed else contestant)
        changed = replace(one, contestants=tuple(after))
        gone = [removal for removal in removals if removal.removed]
        detail = f"{len(gone)} work trees of {one.top} removed; their work is on their branches"
        await self._book.change(changed, command.by if gone else None, detail)
        return TreesRemoved(removals, changed)

    async def _remove_one(self, one: Comparison, contestant: Contestant, by: str) -> TreeRemoval:
        """What it holds goes on its branch first. When that can't be done, the tree stays."""
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
            await self._sessions.gone(session_id, END_SECONDS)

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
    """What the commit on the branch says."""
    return f"{one.title}\n\nThe work of {contestant.agent}, as it was left in its work tree.\n"
