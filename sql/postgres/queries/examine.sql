-- apart: a server is examined for what slows it down, a file for what it has lost.

-- name: table_health
-- How many rows of each table live and are dead, what they weigh, and when they were last cleared.
SELECT stat.relname AS name, stat.n_live_tup AS live, stat.n_dead_tup AS dead,
       pg_table_size(stat.relid) AS bytes, pg_indexes_size(stat.relid) AS index_bytes,
       (date_part('epoch', clock_timestamp() - greatest(stat.last_vacuum, stat.last_autovacuum))
           * 1000)::bigint AS vacuumed_ms
FROM pg_stat_user_tables AS stat
WHERE stat.schemaname = :schema::text
ORDER BY stat.relname;

-- name: oldest_transaction
-- Who keeps dead rows from being cleared, wherever in the cluster it is.
SELECT pid, coalesce(state, 'unknown') AS state, coalesce(application_name, '') AS application,
       (date_part('epoch', clock_timestamp() - xact_start) * 1000)::bigint AS ms
FROM pg_stat_activity
WHERE pid <> pg_backend_pid()
  AND xact_start IS NOT NULL
  AND backend_type = 'client backend'
ORDER BY xact_start
LIMIT 1;

-- name: schema_objects
-- What the schema is made of; an index may be there and be of no use.
SELECT class.relname AS name, coalesce(index.indisvalid, true) AS valid
FROM pg_class AS class
LEFT JOIN pg_index AS index ON index.indexrelid = class.oid
WHERE class.relnamespace = to_regnamespace(quote_ident(:schema::text))
UNION ALL
SELECT proc.proname, true
FROM pg_proc AS proc
WHERE proc.pronamespace = to_regnamespace(quote_ident(:schema::text));

-- name: server_settings
-- What the server is, and whether it clears dead rows by itself.
SELECT current_setting('server_version') AS version,
       current_setting('autovacuum')::boolean AS autovacuum;
