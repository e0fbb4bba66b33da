-- Several hubs ("nodes") on one database: who they are, which machine is attached to which, and what they share.
INSERT INTO meta (name, value)
VALUES ('hub', convert_to(replace(gen_random_uuid()::text, '-', ''), 'UTF8')),
       ('node_key', convert_to(encode(sha256(convert_to(
           gen_random_uuid()::text || gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')), 'hex'), 'UTF8'))
ON CONFLICT DO NOTHING;

-- Nodes write one after the other: each transaction that writes locks this row, and sees who wrote before it.
CREATE TABLE writing (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    node text COLLATE "C" NOT NULL
);
INSERT INTO writing (node) VALUES ('');

-- The node that last wrote to the sessions of a device; what any other has of them in memory is out of date.
CREATE TABLE device_writers (
    device text COLLATE "C" PRIMARY KEY,
    node text COLLATE "C" NOT NULL
);

CREATE TABLE nodes (
    node text COLLATE "C" PRIMARY KEY,
    url text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    heard_at timestamptz NOT NULL DEFAULT now()
);

-- The connection of each machine: the node that holds it, and its epoch. The highest epoch counts.
CREATE TABLE attachments (
    device text COLLATE "C" PRIMARY KEY,
    node text COLLATE "C" NOT NULL DEFAULT '',
    epoch bigint NOT NULL DEFAULT 0,
    counted bigint NOT NULL DEFAULT 0
);

CREATE UNLOGGED TABLE tickets (
    secret_sha256 text COLLATE "C" PRIMARY KEY,
    grant_id text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    ends timestamptz NOT NULL
);

-- One row for each notification that some node sends, so that no other does.
CREATE TABLE claimed_notices (
    what text COLLATE "C" PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT now()
);

-- Counts the changes of what every node has in memory: one that misses a notification sees it here.
CREATE TABLE book_changes (
    book text COLLATE "C" PRIMARY KEY,
    n bigint NOT NULL
);
INSERT INTO book_changes (book, n) VALUES ('grants', 0), ('devices', 0), ('answers', 0), ('choices', 0);

CREATE FUNCTION count_change() RETURNS trigger LANGUAGE plpgsql SET search_path = bascule, pg_temp AS $$
BEGIN
    UPDATE book_changes SET n = n + 1 WHERE book = tg_argv[0];
    RETURN NULL;
END $$;

CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON grants
FOR EACH STATEMENT EXECUTE FUNCTION count_change('grants');
CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON devices
FOR EACH STATEMENT EXECUTE FUNCTION count_change('devices');
CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON standing_commands
FOR EACH STATEMENT EXECUTE FUNCTION count_change('devices');
CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON answers_waiting
FOR EACH STATEMENT EXECUTE FUNCTION count_change('answers');

-- What people choose for all nodes, such as the channels of notifications; and the keys that belong to them.
CREATE TABLE choices (
    name text COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL
);
CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON choices
FOR EACH STATEMENT EXECUTE FUNCTION count_change('choices');
