-- How often the log of a session was begun again: a reader's position is of one of them.
ALTER TABLE replicas ADD COLUMN generation bigint NOT NULL DEFAULT 0;

-- Never filled: a grant names its device, and who made it.
ALTER TABLE devices DROP COLUMN grant_id;
ALTER TABLE devices DROP COLUMN added_by;
