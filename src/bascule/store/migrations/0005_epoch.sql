-- The epoch names one history of this log. Numbers of events mean the same only within one epoch; it is made
-- anew with every new file, and whenever the file is found to be older than what was read from it before.
INSERT OR REPLACE INTO meta (name, value) VALUES ('epoch', CAST(lower(hex(randomblob(8))) AS BLOB));
