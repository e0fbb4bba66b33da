"""A project: a folder in the sidebar."""

from msgspec import Struct


class Project(Struct, frozen=True, rename="camel"):
    """A folder on a device. `path` is its real path there."""

    id: str
    device: str
    path: str
    name: str
    collapsed: bool
    added_at: str
    added_by: str
