-- What people search for. The index holds no text of its own: it is filled from the entries, a little at a
-- time, and can be made again from them. `rowid` is a session's number and the entry's first_seq together.

CREATE TABLE search_sessions (
    n INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL DEFAULT ''
);

-- What is folded and not yet in the index. first_seq 0 stands for the session's title.
CREATE TABLE search_owed (
    session_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    PRIMARY KEY (session_id, first_seq)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE search_text USING fts5(
    words, content='', columnsize=0, tokenize="unicode61 remove_diacritics 2"
);
CREATE VIRTUAL TABLE search_titles USING fts5(
    words, content='', columnsize=0, tokenize="unicode61 remove_diacritics 2"
);

INSERT INTO search_owed (session_id, first_seq) SELECT session_id, 0 FROM sessions;
INSERT INTO search_owed (session_id, first_seq) SELECT session_id, first_seq FROM entries WHERE open = 0;

-- Files that a session's own tools changed, one row for each tool call and file.
CREATE TABLE edits (
    session_id TEXT NOT NULL,
    path TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    added INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    PRIMARY KEY (session_id, first_seq, path)
) WITHOUT ROWID;

-- Folders people keep in their sidebar, in the order they were added.
CREATE TABLE projects (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    device TEXT NOT NULL,
    path TEXT NOT NULL,
    name TEXT NOT NULL,
    collapsed INTEGER NOT NULL DEFAULT 0,
    added_at TEXT NOT NULL,
    added_by TEXT NOT NULL,
    UNIQUE (device, path)
);
