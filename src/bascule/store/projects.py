"""Projects: the folders of the sidebar, in the order they were added. Removing one keeps its sessions."""

import secrets

from bascule.model.codec import timestamp
from bascule.model.errors import CallerError
from bascule.model.projects import Project
from bascule.store.connection import Connection
from bascule.store.protocols import BookStore
from bascule.store.transaction import Transaction

COLUMNS = "id, device, path, name, collapsed, added_at, added_by"
ALL = f"SELECT {COLUMNS} FROM projects ORDER BY n LIMIT ?"
ONE = f"SELECT {COLUMNS} FROM projects WHERE id = ?"
SAME = "SELECT name FROM projects WHERE device = ? AND path = ?"
COUNT = "SELECT count(*) FROM projects"
INSERT = f"INSERT INTO projects ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"
CHANGE = "UPDATE projects SET name = ?, collapsed = ? WHERE id = ?"
REMOVE = "DELETE FROM projects WHERE id = ?"
MAX_PROJECTS = 1000


class ProjectDuplicate(CallerError):
    code = "PROJECT_DUPLICATE"


class ProjectNotFound(CallerError):
    code = "PROJECT_NOT_FOUND"


class TooManyProjects(CallerError):
    code = "LIMIT_REACHED"


class ProjectBook:
    """Over the same database as the logs; every change is on disk before it is reported."""

    def __init__(self, store: BookStore) -> None:
        self._store = store

    async def list(self) -> list[Project]:
        return await self._store.query(_all)

    async def get(self, project_id: str) -> Project:
        """Raises `ProjectNotFound`."""
        return await self._store.query(lambda connection: _one(connection, project_id))

    async def add(self, device: str, path: str, name: str, by: str) -> Project:
        """Raises `ProjectDuplicate`. The path is one that the device found to be real."""
        now = timestamp(self._store.clock())
        project = Project(secrets.token_hex(8), device, path, name, False, now, by)

        def write(transaction: Transaction) -> None:
            known = transaction.connection.execute(SAME, (device, path)).fetchone()
            if known is not None:
                raise ProjectDuplicate(f"{path} is already here, as {known[0]}.", path=path)
            if transaction.connection.execute(COUNT).fetchone()[0] >= MAX_PROJECTS:
                raise TooManyProjects(f"There are {MAX_PROJECTS} projects already; remove one first.")
            transaction.connection.execute(INSERT, _values(project))

        await self._store.transact(write)
        return project

    async def change(self, project_id: str, name: str | None, collapsed: bool | None) -> Project:
        def write(transaction: Transaction) -> Project:
            before = _one(transaction.connection, project_id)
            after = Project(
                before.id,
                before.device,
                before.path,
                before.name if name is None else name,
                before.collapsed if collapsed is None else collapsed,
                before.added_at,
                before.added_by,
            )
            transaction.connection.execute(CHANGE, (after.name, int(after.collapsed), project_id))
            return after

        return await self._store.transact(write, sync=name is not None)

    async def remove(self, project_id: str) -> Project:
        """Only the entry: its sessions stay where they are."""

        def write(transaction: Transaction) -> Project:
            project = _one(transaction.connection, project_id)
            transaction.connection.execute(REMOVE, (project_id,))
            return project

        return await self._store.transact(write)


def _all(connection: Connection) -> list[Project]:
    return [_project(values) for values in connection.execute(ALL, (MAX_PROJECTS,))]


def _one(connection: Connection, project_id: str) -> Project:
    values = connection.execute(ONE, (project_id,)).fetchone()
    if values is None:
        raise ProjectNotFound("There is no such project.")
    return _project(values)


def _project(values: tuple[str, str, str, str, int, str, str]) -> Project:
    project_id, device, path, name, collapsed, added_at, added_by = values
    return Project(project_id, device, path, name, bool(collapsed), added_at, added_by)


def _values(project: Project) -> tuple[str, str, str, str, int, str, str]:
    collapsed = int(project.collapsed)
    return (
        project.id,
        project.device,
        project.path,
        project.name,
        collapsed,
        project.added_at,
        project.added_by,
    )
