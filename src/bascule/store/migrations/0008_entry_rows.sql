-- A table WITHOUT ROWID keeps whole rows in its search tree, and SQLite reads all of a row to compare its key:
-- one entry of two megabytes made every insertion beside it read two megabytes. Here the tree holds keys alone.
CREATE TABLE entry_rows (
    session_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    open INTEGER NOT NULL,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (session_id, first_seq)
);
INSERT INTO entry_rows SELECT session_id, first_seq, last_seq, open, body, crc FROM entries ORDER BY 1, 2;
DROP TABLE entries;
ALTER TABLE entry_rows RENAME TO entries;
CREATE INDEX entries_still_open ON entries (session_id, first_seq) WHERE open = 1;
