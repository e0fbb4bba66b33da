-- Who sends a notification: that node may claim it again when the answer to its claim was lost.
ALTER TABLE claimed_notices ADD COLUMN node text COLLATE "C" NOT NULL DEFAULT '';

-- Requests are claimed from here on, and a request that nobody has claimed is told: those that are open were told.
INSERT INTO claimed_notices (what)
SELECT 'request ' || encode(sha256(convert_to(session_id || ' ' || request_id, 'UTF8')), 'hex')
FROM requests WHERE state = 'open'
ON CONFLICT DO NOTHING;
