-- name: home
-- only: postgres, whose connections may lead to any server.
-- Which database this is: the identity of the cluster, and the name of the database. Makes the
-- commit of a caller's transaction wait for the disk: jobs with keys follow. Uses no function of
-- the schema, which another database may not have.
-- returns: home text, commit text?
SELECT (pg_control_system()).system_identifier || ' ' || current_database() AS home,
       CASE WHEN current_setting('synchronous_commit') = 'off'
            THEN set_config('synchronous_commit', 'on', true) END AS commit;

-- name: enqueue_at_home
-- only: postgres, whose connections may lead to any server.
-- The same as `enqueue`, if this is the database that the interned names come from. Otherwise
-- writes nothing.
-- returns tuples: here boolean, later uuid[]?
SELECT place.here,
       CASE WHEN place.here
            THEN millrace.enqueue_batch(
                :kinds::json, :ids::uuid[], :payloads::text[], :kind_of::integer[],
                :now::timestamptz, :protocol::integer, :quotas::bigint
            ) END AS later
FROM (
    SELECT (pg_control_system()).system_identifier || ' ' || current_database() = :home::text
               AS here
) AS place;
