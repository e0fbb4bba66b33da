-- Words are made by `store/tokenizer.py` for every database. This tokenizer of FTS5 leaves them as they are: it parts
-- at spaces and knows no letter but those of ASCII. The store that is opened sees that the index is of no version yet
-- and fills it. An index that is damaged can't be dropped before it is empty.
DELETE FROM search_text_data;
DELETE FROM search_text_idx;
INSERT INTO search_text_data (id, block) VALUES (1, x''), (10, zeroblob(7));
DROP TABLE search_text;
CREATE VIRTUAL TABLE search_text USING fts5(words, content='', columnsize=0, tokenize='ascii');
DELETE FROM search_titles_data;
DELETE FROM search_titles_idx;
INSERT INTO search_titles_data (id, block) VALUES (1, x''), (10, zeroblob(7));
DROP TABLE search_titles;
CREATE VIRTUAL TABLE search_titles USING fts5(words, content='', columnsize=0, tokenize='ascii');

-- `body` is the text that `words` were taken from.
CREATE TABLE prompt_bodies AS SELECT rowid AS n, words AS body FROM prompt_words;
DROP TABLE prompt_words;
CREATE VIRTUAL TABLE prompt_words USING fts5(words, body UNINDEXED, tokenize='ascii');
INSERT INTO prompt_words (rowid, words, body) SELECT n, '', body FROM prompt_bodies;
DROP TABLE prompt_bodies;
