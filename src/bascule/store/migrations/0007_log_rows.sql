-- A piece of output is stored as rows of the log and nothing else. Each step's last row says how far the agent's
-- output had been read; the session's row is written only now and then, and brought up to date from the log.
ALTER TABLE events ADD COLUMN offsets BLOB; -- "stdout stderr", on the last row of a step that moved one of them

-- Queued prompts and rules, written when one of them changes: they may be large, and wait for hours.
CREATE TABLE pending (
    session_id TEXT PRIMARY KEY,
    body BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO pending SELECT session_id, parked FROM sessions;

-- The driver's state and the offset it had read up to. Output after it is read again to bring a driver up to date.
CREATE TABLE driver_states (
    session_id TEXT PRIMARY KEY,
    out_offset INTEGER NOT NULL,
    state BLOB NOT NULL
) WITHOUT ROWID;
INSERT INTO driver_states
SELECT session_id, out_offset, driver_state FROM sessions WHERE driver_state IS NOT NULL;

-- A row whose checksum did not hold before must not hold now.
UPDATE sessions SET resume_crc = CASE
    WHEN resume_crc = resume_crc_0001(session_id, seq, folded_seq, out_offset, err_offset, parked, driver_state)
    THEN resume_crc_0007(session_id, seq, folded_seq, out_offset, err_offset, parked, driver_state)
    ELSE -1 END;
ALTER TABLE sessions DROP COLUMN parked;
ALTER TABLE sessions DROP COLUMN driver_state;
