-- name: save_part
-- Begins a part of a transaction that may be undone by itself.
SAVEPOINT part;

-- name: undo_part
-- Takes the part back. It stays open until it is kept, empty.
ROLLBACK TO part;

-- name: keep_part
-- Ends the part.
RELEASE part;
