-- Ends runs that have succeeded: writes their ledger rows, fenced by a share lock on the leases, in
-- the order of their numbers. The function waits for a rescuer that has locked a lease, and then
-- finds the lease deleted. A lease is deleted with its last open run, and its starts with it; two
-- settlers that end its last runs at the same moment do not see each other, and a later heartbeat
-- deletes the lease. A run that another settler has ended under the same lease fails the whole
-- batch: that is rare, and looking for it in every row would cost a third more. Returns the keys of
-- the accepted runs, whether locks were released, whether other jobs wait for one of these jobs,
-- the keys of jobs without a row, whose runs end without a ledger row, and the time of the end. One
-- look at the range of their keys saves most batches a look for each key. The runs are counted in
-- `minute_outbox`, which also tells whether each job has a row. After a clock was set back, a run
-- begins and ends at the end. `expiry` is the end of a lease that was taken from SQL.
CREATE FUNCTION millrace.settle_done(
    leases bigint[], secrets text[], places integer[], keys bigint[], ns integer[], tries integer[],
    crashes integer[], states smallint[], results text[], given timestamptz,
    expiry timestamptz DEFAULT NULL,
    OUT accepted bigint[], OUT freed boolean, OUT awaited boolean, OUT missing bigint[],
    OUT ended_at bigint
)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_nestloop = off
SET enable_mergejoin = off
SET jit = off
AS $settle$
#variable_conflict use_column
DECLARE
    moment timestamptz := millrace.clock_at(given);
    held   record;
    done   bigint[];
    waits  integer[];
    runs   integer[];
    waited integer[] := '{}';
    ran    integer[] := '{}';
    present bigint;
    low    bigint;
    high   bigint;
    durable text := millrace.sync_commit();
BEGIN
    accepted := '{}';
    freed := false;
    awaited := false;
    missing := '{}';
    ended_at := millrace.ms_of(moment);
    FOR held IN
        SELECT lease.number, lease.worker, lease.claimed_at, lease.keys, lease.ns, lease.ranks,
               lease.started_at, proof.place
        FROM unnest(leases, secrets) WITH ORDINALITY AS proof (number, secret, place)
        JOIN millrace.lease AS lease
            ON lease.number = proof.number AND lease.secret = proof.secret
        WHERE lease.number = ANY (leases)
        ORDER BY lease.number
        FOR KEY SHARE OF lease
    LOOP
        WITH item AS MATERIALIZED (
            SELECT item.*, run.rank
            FROM (
                SELECT item.*, coalesce(held.started_at, (
                           SELECT start.at
                           FROM millrace.run_start AS start
                           WHERE start.lease = held.number AND start.key = item.key
                       )) AS start
                FROM unnest(places, keys, ns, tries, crashes, states, results)
                    AS item (place, key, n, tries, crashes, state, result)
                WHERE item.place = held.place
                -- Keeps the planner from looking each start up twice.
                OFFSET 0
            ) AS item
            JOIN unnest(held.keys, held.ns, held.ranks) AS run (key, n, rank)
                ON run.key = item.key AND run.n = item.n
            WHERE item.start IS NOT NULL
        ),
        fresh AS (
            INSERT INTO millrace.attempt (
                key, finished_at, n, tries, crashes, outcome, state, claimed_at, started_at, fence,
                worker, result, expires_at
            )
            SELECT item.key, moment, item.n, item.tries, item.crashes, 1, item.state,
                   least(held.claimed_at, moment), least(item.start, moment), held.number,
                   held.worker, item.result::json, expiry
            FROM item
            ORDER BY item.key
        )
        SELECT array_agg(key),
               array_agg(millrace.duration_ms(millrace.ms_of(start) - rank / 1000)),
               array_agg(millrace.duration_ms(millrace.ms_of(moment) - millrace.ms_of(start)))
        INTO done, waits, runs
        FROM item;
        accepted := accepted || done;
        waited := waited || waits;
        ran := ran || runs;
        -- When a part of the lease was settled before, its last runs are looked at first: they are
        -- the most likely to be open.
        DELETE FROM millrace.lease
        WHERE number = held.number
          AND (cardinality(held.keys) = cardinality(done) OR NOT EXISTS (
              SELECT 1
              FROM (
                  SELECT *
                  FROM unnest(held.keys, held.ns) WITH ORDINALITY AS run (key, n, turn)
                  ORDER BY turn DESC
              ) AS run
              WHERE (
                  SELECT true
                  FROM millrace.attempt AS attempt
                  WHERE attempt.key = run.key AND attempt.n = run.n
              ) IS NULL
          ));
        IF FOUND AND held.started_at IS NULL THEN
            DELETE FROM millrace.run_start WHERE lease = held.number;
        END IF;
    END LOOP;

    IF cardinality(accepted) > 0 THEN
        WITH counted AS (
            INSERT INTO millrace.minute_outbox (at, type, lane, outcome, waits, runs)
            SELECT moment, job.type, job.lane, 1, array_agg(ended.wait), array_agg(ended.run)
            FROM unnest(accepted, waited, ran) AS ended (key, wait, run)
            JOIN millrace.job AS job ON job.key = ended.key
            WHERE job.key = ANY (accepted)
            GROUP BY job.type, job.lane
            RETURNING cardinality(waits) AS size
        )
        SELECT sum(size) INTO present FROM counted;
    END IF;

    -- The row of a job may have been deleted by hand while the job ran.
    IF cardinality(accepted) > coalesce(present, 0) THEN
        missing := ARRAY(
            SELECT ended.key
            FROM unnest(accepted) AS ended (key)
            WHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = ended.key)
        );
        accepted := ARRAY(
            SELECT ended.key FROM unnest(accepted) AS ended (key) WHERE ended.key <> ALL (missing)
        );
        DELETE FROM millrace.attempt WHERE key = ANY (missing);
        DELETE FROM millrace.dedup WHERE job = ANY (missing);
        DELETE FROM millrace.dependency WHERE job = ANY (missing);
        DELETE FROM millrace.cancel_request WHERE key = ANY (missing);
        freed := millrace.release_job_locks(missing);
    END IF;

    IF cardinality(accepted) > 0 THEN
        WITH events AS (
            INSERT INTO millrace.event_outbox (at, kind, keys) VALUES (moment, 3, accepted)
        ),
        deleted_dedup AS (
            DELETE FROM millrace.dedup WHERE job = ANY (accepted)
        )
        DELETE FROM millrace.cancel_request WHERE key = ANY (accepted);

        low := millrace.least_of(accepted);
        high := millrace.greatest_of(accepted);
        IF EXISTS (SELECT 1 FROM millrace.lock WHERE job BETWEEN low AND high) THEN
            freed := millrace.release_job_locks(accepted) OR freed;
        END IF;
        IF EXISTS (SELECT 1 FROM millrace.dependency WHERE depends_on BETWEEN low AND high) THEN
            awaited := millrace.end_jobs(accepted);
        END IF;
        PERFORM millrace.reset_streaks(accepted);
    END IF;
END
$settle$;
