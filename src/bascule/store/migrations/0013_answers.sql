-- Answers to requests that were given while the request's machine was away. One waits for each request; what
-- became of the others stays for a while, to be shown. `body` is the command, `by` who gave it.
CREATE TABLE answers_waiting (
    n INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    device TEXT NOT NULL,
    session_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    input_sha256 TEXT NOT NULL,
    decision TEXT NOT NULL,
    body BLOB NOT NULL,
    by BLOB NOT NULL,
    made_at TEXT NOT NULL,
    expires_at REAL, -- an allow is not applied after this
    sent_at TEXT NOT NULL DEFAULT '', -- it left for the machine; perhaps without being heard
    state TEXT NOT NULL,
    outcome TEXT NOT NULL DEFAULT '', -- in words
    settled_at TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX answers_one_waits ON answers_waiting (session_id, request_id) WHERE state = 'waiting';
