"""`bascule doctor` on the log: damaged sessions, quarantined files, processes without a log."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from bascule.commands.doctor_line import Finding
from bascule.store.examining import examined, processes
from bascule.store.health import quarantined
from bascule.store.reader import connect_read_only
from bascule.store.schema import VERSION, version_of
from bascule.store.search_index import MAX_OWED, owed_to_search

MAX_NAMED = 5


def log_findings(database: Path, kept: list[str]) -> Iterator[Finding]:
    """`kept`: the keeper's names of what it holds."""
    for moved in quarantined(database)[:MAX_NAMED]:
        yield Finding(
            "warn", f"log: a damaged database was put aside as {moved.name}", "keep it, or delete it"
        )
    if not database.exists():
        if kept:
            yield _without_log(kept)
        return
    try:
        with closing(connect_read_only(database)) as connection:
            if version_of(connection) < VERSION:
                yield Finding("ok", "log: of an earlier version; the next start brings it up to date")
                return
            damaged, known, owed = examined(connection), processes(connection), owed_to_search(connection)
    except sqlite3.Error as error:
        yield Finding("fail", f"log: {database} can't be read ({error})", "start the server")
        return
    for damage in damaged[:MAX_NAMED]:
        yield Finding(
            "fail", f"log: {damage.message}", "keep a copy of the state folder; its agent keeps running"
        )
    if len(damaged) > MAX_NAMED:
        yield Finding("fail", f"log: {len(damaged) - MAX_NAMED} more sessions are damaged")
    if not damaged:
        yield Finding("ok", f"log: {len(known)} sessions can be read")
    if owed:
        yield _not_searchable(owed)
    unknown = [name for name in kept if not is_known(name, known)]
    if unknown:
        yield _without_log(unknown)


def is_known(name: str, known: dict[str, str]) -> bool:
    """Whether a process is one of a session's: its agent, an earlier run of it, or a program it started."""
    return name in known.values() or name.rpartition("-")[0] in known or name.partition(".")[0] in known


def _not_searchable(owed: int) -> Finding:
    if owed <= MAX_OWED:
        return Finding("ok", f"search: {owed} entries are not in the index yet")
    return Finding(
        "warn", f"search: more than {MAX_OWED} entries are not in the index yet", "let the server run"
    )


def _without_log(names: list[str]) -> Finding:
    words = f"log: {len(names)} processes are running and not in it ({', '.join(names[:MAX_NAMED])})"
    return Finding("warn", words, "bascule sessions unlogged")
