-- Copies of other machines' audit chains. A machine whose chain is another one than was copied before (restored from
-- a backup, or its records were rewritten) begins a new chain here; the one of before stays as it is.
CREATE TABLE device_audit (
    device TEXT NOT NULL,
    chain INTEGER NOT NULL,
    n INTEGER NOT NULL,
    body BLOB NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (device, chain, n)
);
CREATE TRIGGER device_audit_is_never_changed BEFORE UPDATE ON device_audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER device_audit_is_never_deleted BEFORE DELETE ON device_audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;

-- Where each copy ends, kept apart so that records cut off the end are missed. `broken_at` is the number of a record
-- that came and was not taken.
CREATE TABLE device_chains (
    device TEXT NOT NULL,
    chain INTEGER NOT NULL,
    began_at TEXT NOT NULL,
    copied_at TEXT NOT NULL,
    n INTEGER NOT NULL,
    hash TEXT NOT NULL,
    broken_at INTEGER,
    fault TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (device, chain)
) WITHOUT ROWID;
