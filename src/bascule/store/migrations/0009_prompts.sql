-- The prompt library. A row holds what lists show; the text of every version stands beside it.
CREATE TABLE prompts (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT UNIQUE,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL
);

CREATE TABLE prompt_versions (
    prompt_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    title TEXT NOT NULL,
    at TEXT NOT NULL,
    by TEXT NOT NULL,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (prompt_id, version)
);

CREATE TABLE prompt_uses (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    prompt_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT,
    at TEXT NOT NULL,
    by TEXT NOT NULL
);
CREATE INDEX prompt_uses_of ON prompt_uses (prompt_id, n);

-- Title, tags and text of the newest version, by the prompt's number.
CREATE VIRTUAL TABLE prompt_words USING fts5(words, tokenize="unicode61 remove_diacritics 2");
