-- Requests that people were notified of outside the page, and the tag of the notice that says so; and which channels have
-- that notice, or have still to send it. Both are gone once the request is over and every channel knows.
CREATE TABLE sent_notices (
    session_id TEXT NOT NULL,
    request_id TEXT NOT NULL, -- or what a guard rail asks
    tag TEXT NOT NULL,
    PRIMARY KEY (session_id, request_id)
) WITHOUT ROWID;
CREATE TABLE sent_channels (
    tag TEXT NOT NULL,
    channel TEXT NOT NULL,
    shown INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tag, channel)
) WITHOUT ROWID;
