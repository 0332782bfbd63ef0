-- name: run_function
-- Calls a registered function with the rights of this role, and answers its JSON.
-- only: postgres, because SQLite has no functions of the application.
-- returns: answer text?
-- timeout: reader
-- rights: caller
SELECT millrace.run_function(:name::text, :payload::jsonb)::text AS answer;
