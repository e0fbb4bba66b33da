-- The words of a text as they stand in it, with a space before, between and after them: phrases are looked for here. A
-- vector counts no further than 255 places of a word. Rows without are of an older version, or of a node that still
-- runs one: whoever opens the database next has them made again.
ALTER TABLE search_text ADD COLUMN said text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE search_titles ADD COLUMN said text COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX search_text_older ON search_text (n) WHERE said = '';
CREATE INDEX search_titles_older ON search_titles (n) WHERE said = '';
-- The version of the tokenizer that made the words of a prompt.
ALTER TABLE prompt_words ADD COLUMN tokenizer bigint NOT NULL DEFAULT 0;
