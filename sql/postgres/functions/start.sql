-- Starts prefetched runs of a lease, and the run of a job that runs alone. The share lock on the
-- lease is that of a settle: it waits for a rescuer, for a cancel request and for runs that leave
-- the lease, and excludes them until the commit. The second statement reads with a snapshot of its
-- own, after the lock: it sees the cancel requests that were committed while the first one waited.
-- A run starts once: a repeated call writes no row and no event. Two calls that start the same runs
-- at the same moment write them in one order, and the second one waits for the first.
--
-- Returns whether number and secret name a lease, the keys of the runs that are open and have
-- started, now or earlier, and the keys of the runs that did not start because of a cancel request.
CREATE FUNCTION millrace.start_runs(
    fence bigint, proof text, wanted bigint[], given timestamptz,
    OUT held boolean, OUT begun bigint[], OUT asked bigint[]
)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $start$
#variable_conflict use_column
DECLARE
    moment  timestamptz := millrace.clock_at(given);
    durable text := millrace.sync_commit();
    claim   record;
BEGIN
    begun := '{}';
    asked := '{}';
    SELECT lease.keys, lease.ns, lease.started_at
    INTO claim
    FROM millrace.lease AS lease
    WHERE lease.number = fence AND lease.secret = proof
    FOR KEY SHARE;
    held := FOUND;
    IF NOT held THEN
        RETURN;
    END IF;

    WITH run AS MATERIALIZED (
        SELECT run.key, run.turn,
               coalesce(claim.started_at, (
                   SELECT start.at
                   FROM millrace.run_start AS start
                   WHERE start.lease = fence AND start.key = run.key
               )) IS NOT NULL AS has_started,
               EXISTS (
                   SELECT 1 FROM millrace.cancel_request AS request WHERE request.key = run.key
               ) AS is_asked
        FROM unnest(claim.keys, claim.ns) WITH ORDINALITY AS run (key, n, turn)
        WHERE run.key = ANY (wanted)
          AND NOT EXISTS (
              SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
          )
    ),
    started AS (
        INSERT INTO millrace.run_start (lease, key, at)
        SELECT fence, run.key, moment
        FROM run
        WHERE NOT run.has_started AND NOT run.is_asked
        ORDER BY run.key
        ON CONFLICT DO NOTHING
        RETURNING key
    ),
    events AS (
        INSERT INTO millrace.event_outbox (at, kind, keys)
        SELECT moment, 2, array_agg(run.key ORDER BY run.turn)
        FROM started
        JOIN run ON run.key = started.key
        HAVING count(*) > 0
    )
    SELECT coalesce(
               array_agg(run.key ORDER BY run.turn)
                   FILTER (WHERE run.has_started OR NOT run.is_asked),
               '{}'
           ),
           coalesce(
               array_agg(run.key ORDER BY run.turn)
                   FILTER (WHERE NOT run.has_started AND run.is_asked),
               '{}'
           )
    INTO begun, asked
    FROM run;
END
$start$;
