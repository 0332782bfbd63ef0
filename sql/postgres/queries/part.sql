-- name: save_part
-- Begins a part of a transaction that can be rolled back by itself.
SAVEPOINT part;

-- name: undo_part
-- Rolls the part back. It stays open, empty, until `keep_part`.
ROLLBACK TO part;

-- name: keep_part
-- Ends the part.
RELEASE part;
