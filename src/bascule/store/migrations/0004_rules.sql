-- Lasting rules: what people want answered without being asked. Few, read whole at the start.
CREATE TABLE rules (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL,
    used INTEGER NOT NULL DEFAULT 0,
    used_at TEXT
);

-- Prompts given to several agents, each in a git work tree of its own. One record each, changed as a whole.
CREATE TABLE comparisons (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT UNIQUE,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL
);
