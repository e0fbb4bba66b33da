-- Sessions found on this machine are read from the agents' own files and listed apart from ours. What is read
-- of them can be read again, so they may be forgotten; the logs of our own sessions never are.

ALTER TABLE sessions ADD COLUMN found INTEGER NOT NULL DEFAULT 0;

DROP INDEX sessions_by_activity;
CREATE INDEX sessions_by_activity ON sessions (found, archived, updated_at DESC, session_id);

DROP TRIGGER events_are_never_deleted;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM sessions WHERE session_id = old.session_id AND found = 1)
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
