-- The machines whose sessions this hub shows, also while they are away. `name` is what a machine calls itself,
-- `given_name` what a person calls it. `epoch` counts its connections; `boot` and `attempt` are the last one's.
-- `store` names the machine's own database and `rows` counts what was copied from it.
CREATE TABLE devices (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    given_name TEXT NOT NULL DEFAULT '',
    grant_id TEXT NOT NULL DEFAULT '',
    store TEXT NOT NULL DEFAULT '',
    rows INTEGER NOT NULL DEFAULT 0,
    epoch INTEGER NOT NULL DEFAULT 0,
    boot TEXT NOT NULL DEFAULT '',
    attempt INTEGER NOT NULL DEFAULT 0,
    heard_at TEXT NOT NULL DEFAULT '',
    skew_ms INTEGER NOT NULL DEFAULT 0,
    version TEXT NOT NULL DEFAULT '',
    agents BLOB NOT NULL,
    state BLOB NOT NULL,
    added_at TEXT NOT NULL,
    added_by TEXT NOT NULL DEFAULT '',
    replaced_by TEXT NOT NULL DEFAULT '',
    forgotten INTEGER NOT NULL DEFAULT 0
);

-- Commands that a machine gets first when it connects again; a newer one of a kind takes the older one's place.
CREATE TABLE standing_commands (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    device TEXT NOT NULL,
    kind TEXT NOT NULL,
    command BLOB NOT NULL,
    by BLOB NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (device, kind)
);

