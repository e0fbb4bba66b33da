"""The books that a hub reads and changes beside the sessions' logs: grants, devices, projects and so on."""

from dataclasses import dataclass

from bascule.store.answers import AnswerBook
from bascule.store.devices import DeviceBook
from bascule.store.grants import GrantBook
from bascule.store.limits import LimitsBook
from bascule.store.projects import ProjectBook
from bascule.store.prompts import PromptBook
from bascule.store.protocols import BookStore
from bascule.store.restores import RestoreBook


@dataclass(frozen=True, kw_only=True)
class Books:
    grants: GrantBook
    devices: DeviceBook
    projects: ProjectBook
    prompts: PromptBook
    answers: AnswerBook
    restores: RestoreBook
    limits: LimitsBook

    @classmethod
    async def open(cls, store: BookStore, grants: GrantBook, limits: LimitsBook) -> "Books":
        """Opens the others, which need the store alone; grants need a clock, limits a file."""
        return cls(
            grants=grants,
            devices=await DeviceBook.open(store),
            projects=ProjectBook(store),
            prompts=PromptBook(store),
            answers=await AnswerBook.open(store),
            restores=await RestoreBook.open(store),
            limits=limits,
        )
