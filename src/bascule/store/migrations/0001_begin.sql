-- The log is the truth; everything else in here is folded from it or waits beside it.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value BLOB NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    updated_at TEXT NOT NULL,
    archived INTEGER NOT NULL,
    phase TEXT NOT NULL,
    record BLOB NOT NULL,
    crc INTEGER NOT NULL,
    folded_seq INTEGER NOT NULL,
    out_offset INTEGER NOT NULL,
    err_offset INTEGER NOT NULL,
    parked BLOB NOT NULL,
    driver_state BLOB,
    resume_crc INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX sessions_by_activity ON sessions (archived, updated_at DESC, session_id);
CREATE INDEX sessions_by_phase ON sessions (phase, session_id);

CREATE TABLE events (
    session_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;

CREATE TABLE entries (
    session_id TEXT NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    open INTEGER NOT NULL,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (session_id, first_seq)
) WITHOUT ROWID;
CREATE INDEX entries_still_open ON entries (session_id, first_seq) WHERE open = 1;

CREATE TABLE requests (
    session_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    opened_at TEXT NOT NULL,
    state TEXT NOT NULL,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL,
    PRIMARY KEY (session_id, request_id)
) WITHOUT ROWID;
CREATE INDEX requests_open ON requests (opened_at, session_id, seq) WHERE state = 'open';
CREATE INDEX requests_waiting ON requests (session_id, seq) WHERE state IN ('open', 'answered');
CREATE INDEX requests_delivered ON requests (session_id, seq) WHERE state = 'delivered';

CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    write_id TEXT NOT NULL,
    data BLOB NOT NULL,
    crc INTEGER NOT NULL,
    UNIQUE (session_id, write_id)
);
CREATE INDEX outbox_in_order ON outbox (session_id, id);

CREATE TABLE replies (
    key TEXT PRIMARY KEY,
    body_sha256 TEXT NOT NULL,
    reply BLOB NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX replies_by_age ON replies (at);

CREATE TABLE audit (
    n INTEGER PRIMARY KEY,
    body BLOB NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_is_never_deleted BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    secret_sha256 TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL,
    crc INTEGER NOT NULL
) WITHOUT ROWID;
