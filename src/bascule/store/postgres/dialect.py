"""Says SQLite's statements to PostgreSQL. What no rule covers is listed by the statement."""

import re
from functools import cache
from typing import NamedTuple

from bascule.store import device_audit, devices, edits, usage

# The key of each table that rows are replaced in.
KEYS = {
    "meta": ("name",),
    "pending": ("session_id",),
    "driver_states": ("session_id",),
    "session_index": ("session_id",),
    "requests": ("session_id", "md5(request_id)"),
    "replies": ("key",),
    "replicas": ("session_id",),
    "device_chains": ("device", "chain"),
    "choices": ("name",),
}

OTHERS = {
    "BEGIN IMMEDIATE": "BEGIN",
    # The log itself refuses where it must be kept.
    "DELETE FROM events WHERE session_id = ?": "SELECT drop_log(?)",
    edits.KEEP: """
INSERT INTO edits (session_id, path, first_seq, added, removed) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (session_id, first_seq, md5(path))
DO UPDATE SET added = excluded.added, removed = excluded.removed
""",
    # A command that replaces another stands behind those that were given since.
    devices.STAND: """
INSERT INTO standing_commands (device, kind, command, by, at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (device, kind) DO UPDATE
SET n = excluded.n, command = excluded.command, by = excluded.by, at = excluded.at
""",
    device_audit.PARTED: device_audit.PARTED.replace("IS NOT held", "IS DISTINCT FROM held"),
    usage.SUMS: """
SELECT agent, count(*), CAST(coalesce(sum(CAST(json ->> 'turns' AS bigint)), 0) AS bigint),
    sum(CAST(json ->> 'cost_usd' AS double precision)), device
FROM (SELECT agent, device, json_of(record) AS json FROM sessions JOIN session_index USING (session_id)
      WHERE sessions.found = 0
      AND session_id NOT IN (SELECT session_id FROM replicas WHERE copy_of IS NOT NULL)
     ) AS ours
GROUP BY agent, device ORDER BY agent, device
""",
    usage.COSTLIEST: """
SELECT session_id, seq, record, crc
FROM (SELECT *, CAST(json_of(record) ->> 'cost_usd' AS double precision) AS cost FROM sessions
      WHERE found = 0 AND session_id NOT IN (SELECT session_id FROM replicas WHERE copy_of IS NOT NULL)
     ) AS ours
WHERE cost IS NOT NULL ORDER BY cost DESC, updated_at DESC, session_id LIMIT ?
""",
}

_replace = re.compile(r"INSERT OR REPLACE INTO (\w+)\s+\(([^)]*)\)(.*)", re.DOTALL)
_value = re.compile(r"'[^']*'|\?|(?<![:\w]):([a-z]\w*)")


class Translated(NamedTuple):
    """`names` has the names of its values, in their order; None when they come without."""

    text: str
    names: tuple[str, ...] | None


@cache
def translated(statement: str) -> Translated:
    text = OTHERS.get(statement) or _rewritten(statement)
    names: list[str] = []
    plain = 0

    def numbered(found: re.Match[str]) -> str:
        nonlocal plain
        if found[0] == "?":
            plain += 1
            return f"${plain}"
        if found[1] is None:
            return found[0]  # a text between quotes
        if found[1] not in names:
            names.append(found[1])
        return f"${names.index(found[1]) + 1}"

    return Translated(_value.sub(numbered, text), tuple(names) if names else None)


def _rewritten(statement: str) -> str:
    text = re.sub(r"CROSS JOIN (\w+) USING", r"JOIN \1 USING", statement).replace("IN ()", "IN (NULL)")
    if found := _replace.match(text.strip()):
        return _upsert(found[1], found[2], found[3])
    if "INSERT OR IGNORE" in text:
        return text.replace("INSERT OR IGNORE", "INSERT").rstrip() + " ON CONFLICT DO NOTHING"
    return text


def _upsert(table: str, columns: str, values: str) -> str:
    key = KEYS[table]
    rest = [name.strip() for name in columns.split(",") if name.strip() not in key]
    kept = ", ".join(f"{name} = excluded.{name}" for name in rest)
    target = ", ".join(key)
    return f"INSERT INTO {table} ({columns}){values.rstrip()} ON CONFLICT ({target}) DO UPDATE SET {kept}"
