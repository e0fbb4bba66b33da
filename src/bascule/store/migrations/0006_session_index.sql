-- What lists choose sessions by, beside their records: one row each, written only when one of these changes.
-- Records are JSON; a list of one folder, or the number of sessions in each, must not parse them all.
CREATE TABLE session_index (
    session_id TEXT PRIMARY KEY,
    found INTEGER NOT NULL,
    archived INTEGER NOT NULL,
    home TEXT NOT NULL, -- the folder its work is meant for, also when it works in a tree beside it
    device TEXT NOT NULL,
    agent TEXT NOT NULL,
    conversation TEXT NOT NULL, -- the agent's own name of it
    end_reason TEXT NOT NULL
) WITHOUT ROWID;

INSERT INTO session_index
SELECT session_id, found, archived,
    coalesce(json_extract(record, '$.worktree_of'), json_extract(record, '$.cwd'), ''),
    coalesce(json_extract(record, '$.device'), ''),
    coalesce(json_extract(record, '$.agent'), ''),
    coalesce(json_extract(record, '$.agent_session_id'), ''),
    coalesce(json_extract(record, '$.end_reason'), '')
FROM (
    SELECT session_id, found, archived, -- a damaged record is listed as such, and chosen by nothing
        CASE WHEN json_valid(CAST(record AS TEXT)) THEN CAST(record AS TEXT) ELSE '{}' END AS record
    FROM sessions
);

CREATE INDEX sessions_by_folder ON session_index (found, archived, home, device);
CREATE INDEX sessions_by_conversation ON session_index (agent, conversation) WHERE conversation <> '';
CREATE INDEX sessions_without_agent ON session_index (end_reason)
WHERE end_reason IN ('disconnected', 'could_not_connect');
