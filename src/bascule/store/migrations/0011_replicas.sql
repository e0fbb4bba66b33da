-- Copies of other machines' logs. Their rows stand in `events` like ours, and are folded by the same code.
CREATE TABLE replicas (
    session_id TEXT PRIMARY KEY,
    device TEXT NOT NULL, -- that sends the log; what the rows say of it does not count
    copy_of TEXT, -- an earlier copy that was set aside: the session whose log it was
    gone INTEGER NOT NULL DEFAULT 0, -- the device no longer has this session
    fold_version TEXT -- the events that were known when some of its rows were not understood
) WITHOUT ROWID;
CREATE INDEX replicas_by_device ON replicas (device, session_id) WHERE copy_of IS NULL;
CREATE INDEX replicas_set_aside ON replicas (copy_of) WHERE copy_of IS NOT NULL;
CREATE INDEX replicas_not_understood ON replicas (session_id) WHERE fold_version IS NOT NULL;

-- How many rows were ever taken in from each device. It never falls, so that a hub that counts fewer than it has
-- acknowledged is known to be an older copy.
CREATE TABLE replica_rows (
    device TEXT PRIMARY KEY,
    rows INTEGER NOT NULL
) WITHOUT ROWID;

-- The other half: how many of our rows each hub has acknowledged.
CREATE TABLE links (
    hub TEXT PRIMARY KEY,
    rows INTEGER NOT NULL
) WITHOUT ROWID;

-- The rows of a copy may leave its log when the same bytes stand under the id of the copy set aside.
DROP TRIGGER events_are_never_deleted;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM sessions WHERE session_id = old.session_id AND found = 1)
    AND NOT EXISTS (
        SELECT 1 FROM replicas AS copy JOIN events AS kept ON kept.session_id = copy.session_id
        WHERE copy.copy_of = old.session_id AND kept.seq = old.seq AND kept.body = old.body
    )
BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
