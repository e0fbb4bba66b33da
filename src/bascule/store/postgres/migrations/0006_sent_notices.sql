-- Requests that people were notified of outside the page, the tag of the notice that says so, and the node that sent it and
-- says what became of the request; and which channels have that notice from that node, or have still to get it. When the
-- node is gone, another one takes its rows over. Hashed where a text may be longer than an index has room for.
CREATE TABLE sent_notices (
    session_id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    tag text COLLATE "C" NOT NULL,
    node text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX sent_notices_once ON sent_notices (session_id, md5(request_id));
CREATE TABLE sent_channels (
    tag text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    shown bigint NOT NULL DEFAULT 0,
    node text COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX sent_channels_once ON sent_channels (md5(tag), channel, node);
