-- What people are told of a restore is added to by each node that a machine reports it to.
INSERT INTO book_changes (book, n) VALUES ('restores', 0);
CREATE TRIGGER counted AFTER INSERT OR UPDATE ON meta
FOR EACH ROW WHEN (new.name = 'restored') EXECUTE FUNCTION count_change('restores');
