"""Negotiates the link's version between two sides, or says which of them must be updated."""

from bascule.link.frames import LineRefused, Versions

UPDATE_RETRY = 600.0  # seconds; an update is not a matter of moments


def agree(ours: Versions, theirs: Versions) -> int | LineRefused:
    """The highest version that both speak; `ours` are the hub's, `theirs` a daemon's."""
    version = min(ours.highest, theirs.highest)
    if version >= max(ours.lowest, theirs.lowest):
        return version
    spoken = f"The hub speaks {_range(ours)} of the link, this daemon {_range(theirs)}"
    if theirs.highest <= ours.highest:
        return LineRefused("UPDATE_DAEMON", f"{spoken}: update Bascule on its machine.", UPDATE_RETRY)
    return LineRefused("UPDATE_HUB", f"{spoken}: update Bascule on the hub.", UPDATE_RETRY)


def _range(versions: Versions) -> str:
    if versions.lowest == versions.highest:
        return f"version {versions.lowest}"
    return f"versions {versions.lowest} to {versions.highest}"
