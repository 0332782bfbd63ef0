-- Whether a job of a type may be tried whose gate is closed because of crashes: the wait is over,
-- or it began while the clock was ahead, which went back.
CREATE FUNCTION millrace.is_streak_due(streak millrace.crash_streak, moment timestamptz)
RETURNS boolean
LANGUAGE sql STABLE
AS $due$
    SELECT streak.probe_at <= moment
        OR streak.probe_at - streak.probe_ms * interval '1 millisecond' > moment
$due$;

-- The job that `claim_alone` would take now, if there is one. A due probe comes first: a job of a
-- type whose gate is closed because of crashes; `probe` is this type. Otherwise it is the most
-- urgent due job with at least `cap` crashes. Of the jobs that are not behind the gate yet, only
-- the front of each lane is searched for a probe. Jobs of the types and tenants in `used_up`, whose
-- limits are used up, are passed, and so are jobs whose key has no token: the job that is answered
-- must be able to run. The lease of one job that runs alone excludes all others. The settings are
-- those of the caller.
CREATE FUNCTION millrace.find_lone(
    in_lanes integer[], of_types integer[], of_tenants integer[], closed integer[],
    used_up integer[], parked bigint[], cap integer, moment timestamptz
)
RETURNS TABLE (key bigint, probe integer, priority integer, tenant integer, concurrency text)
LANGUAGE plpgsql STABLE
AS $find$
#variable_conflict use_column
DECLARE
    open_lanes integer[] := ARRAY(
        SELECT lane FROM unnest(in_lanes) AS named (lane) WHERE lane <> ALL (closed)
    );
    front_max  CONSTANT integer := 1000;
BEGIN
    IF EXISTS (SELECT FROM millrace.lease WHERE alone) THEN
        RETURN;
    END IF;
    IF cardinality(closed) > 0 THEN
        RETURN QUERY
        SELECT first.key, streak.type, first.priority, first.tenant, first.concurrency
        FROM millrace.crash_streak AS streak
        CROSS JOIN LATERAL (
            SELECT waiting.key, waiting.priority, waiting.tenant, waiting.concurrency
            FROM (
                (
                    SELECT key, priority, rank, tenant, concurrency
                    FROM millrace.blocked
                    WHERE gate = streak.type
                      AND lane = ANY (open_lanes)
                      AND (of_tenants IS NULL OR tenant = ANY (of_tenants))
                      AND tenant <> ALL (used_up)
                      AND tenant <> ALL (closed)
                      AND NOT EXISTS (
                          SELECT 1
                          FROM millrace.lock AS lock
                          WHERE lock.tenant = blocked.tenant AND lock.name = blocked.concurrency
                      )
                      AND NOT EXISTS (
                          SELECT 1
                          FROM millrace.key_rate AS rate
                          WHERE rate.tenant = blocked.tenant
                            AND rate.name = blocked.concurrency
                            AND millrace.key_tokens(rate, moment) < 1
                      )
                    ORDER BY priority, rank, key
                    LIMIT 1
                )
                UNION ALL
                SELECT front.key, front.priority, front.rank, front.tenant, front.concurrency
                FROM unnest(open_lanes) AS named (lane)
                CROSS JOIN LATERAL (
                    (
                        SELECT *
                        FROM millrace.ready
                        WHERE lane = named.lane AND crashes = 0
                        ORDER BY priority, rank, key
                        LIMIT front_max
                    )
                    UNION ALL
                    (
                        SELECT *
                        FROM millrace.ready
                        WHERE lane = named.lane AND crashes > 0
                        ORDER BY crashes, priority, rank, key
                        LIMIT front_max
                    )
                ) AS front
                WHERE front.type = streak.type
                  AND (of_tenants IS NULL OR front.tenant = ANY (of_tenants))
                  AND front.tenant <> ALL (used_up)
                  AND front.tenant <> ALL (closed)
                  AND NOT EXISTS (
                      SELECT 1
                      FROM millrace.lock AS lock
                      WHERE lock.tenant = front.tenant AND lock.name = front.concurrency
                  )
                  AND NOT EXISTS (
                      SELECT 1
                      FROM millrace.key_rate AS rate
                      WHERE rate.tenant = front.tenant
                        AND rate.name = front.concurrency
                        AND millrace.key_tokens(rate, moment) < 1
                  )
            ) AS waiting
            ORDER BY waiting.priority, waiting.rank, waiting.key
            LIMIT 1
        ) AS first
        WHERE millrace.is_streak_due(streak, moment)
          AND (of_types IS NULL OR streak.type = ANY (of_types))
          AND streak.type = ANY (closed)
          AND streak.type <> ALL (used_up)
          -- A closed service of the type allows no probe.
          AND NOT EXISTS (
              SELECT 1
              FROM millrace.service_use AS uses
              WHERE uses.type = streak.type AND uses.service = ANY (closed)
          )
        ORDER BY streak.probe_at, streak.type
        LIMIT 1;
        IF FOUND THEN
            RETURN;
        END IF;
    END IF;

    RETURN QUERY
    WITH RECURSIVE range (lane, crashes) AS (
        SELECT named.lane, (
            SELECT min(ready.crashes)
            FROM millrace.ready AS ready
            WHERE ready.lane = named.lane AND ready.crashes >= cap AND ready.crashes > 0
        )
        FROM unnest(open_lanes) AS named (lane)
        UNION ALL
        SELECT range.lane, (
            SELECT min(ready.crashes)
            FROM millrace.ready AS ready
            WHERE ready.lane = range.lane
              AND ready.crashes > range.crashes
              AND ready.crashes > 0
        )
        FROM range
        WHERE range.crashes IS NOT NULL
    )
    SELECT front.key, NULL::integer, front.priority, front.tenant, front.concurrency
    FROM range
    CROSS JOIN LATERAL (
        SELECT key, priority, rank, tenant, concurrency
        FROM millrace.ready
        WHERE lane = range.lane
          AND crashes = range.crashes
          AND crashes > 0
          AND (of_types IS NULL OR type = ANY (of_types))
          AND (of_tenants IS NULL OR tenant = ANY (of_tenants))
          AND type <> ALL (used_up)
          AND tenant <> ALL (used_up)
          AND type <> ALL (closed)
          AND tenant <> ALL (closed)
          AND (tenant::bigint << 32) + type <> ALL (parked)
          AND NOT EXISTS (
              SELECT 1
              FROM millrace.lock AS lock
              WHERE lock.tenant = ready.tenant AND lock.name = ready.concurrency
          )
          AND NOT EXISTS (
              SELECT 1
              FROM millrace.key_rate AS rate
              WHERE rate.tenant = ready.tenant
                AND rate.name = ready.concurrency
                AND millrace.key_tokens(rate, moment) < 1
          )
        ORDER BY priority, rank, key
        LIMIT 1
    ) AS front
    ORDER BY front.priority, front.rank, front.key
    LIMIT 1;
END
$find$;

-- Takes the job of `find_lone` and writes a lease for this job alone, without a start. The unique
-- index of such leases decides between concurrent callers: the lease is written before any other
-- row is changed, and a caller that loses changes nothing. The lock of the job follows, as in
-- `claim_batch`, after the row of the worker was locked.
--
-- The rows are those of `claim_batch`. In the first row `kind` has the type of a probe and the wait
-- that came before it; null: the job is no probe.
CREATE FUNCTION millrace.claim_alone(
    claimer uuid, proof text, in_lanes integer[], of_types integer[], of_tenants integer[],
    cap integer, lent integer[], lent_counts integer[], given timestamptz
)
RETURNS TABLE (
    lost boolean, key bigint, id uuid, created_at bigint, kind text, payload json,
    payload_version text, correlation text, parent uuid, concurrency text, tags json
)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $claim$
#variable_conflict use_column
DECLARE
    moment timestamptz := millrace.clock_at(given);
    asker  record;
    lone   record;
    place  record;
    limits record;
    permits record;
    used_up integer[] := '{}';
    has_rate boolean;
BEGIN
    SELECT worker.quiet,
           EXISTS (SELECT FROM millrace.limit_setting) AS has_limits,
           CASE WHEN EXISTS (SELECT FROM millrace.closed_gate) THEN ARRAY(
               SELECT barrier.target
               FROM millrace.barrier
               WHERE barrier.until IS NULL OR barrier.until > moment
           ) ELSE '{}' END AS closed,
           CASE WHEN EXISTS (SELECT FROM millrace.service_park) THEN ARRAY(
               SELECT (parked.tenant::bigint << 32) + parked.type
               FROM millrace.tenant_barrier AS parked
               WHERE parked.until > moment
           ) ELSE '{}' END AS parked,
           coalesce(in_lanes, ARRAY(
               SELECT name.id FROM millrace.interned_name AS name WHERE name.kind = 3
           )) AS lanes
    INTO asker
    FROM millrace.worker AS worker
    WHERE worker.id = claimer
      AND worker.until > moment
      AND worker.protocol >= (
          SELECT meta.value::integer FROM millrace.meta AS meta WHERE meta.name = 'min_protocol'
      );
    lost := NOT FOUND;
    -- Gate -2 is closed while the installation is paused.
    IF lost OR asker.quiet OR -2 = ANY (asker.closed) THEN
        RETURN NEXT;
        RETURN;
    END IF;

    -- Jobs without a permit are passed: otherwise the first of them would stop all others.
    IF asker.has_limits THEN
        SELECT * INTO limits
        FROM millrace.look_at_limits(claimer, lent, lent_counts, false, moment);
        IF limits.is_closed THEN
            RETURN NEXT;
            RETURN;
        END IF;
        used_up := limits.closed;
    END IF;
    SELECT found.key, found.probe
    INTO lone
    FROM millrace.find_lone(
        asker.lanes, of_types, of_tenants, asker.closed, used_up, asker.parked, cap, moment
    ) AS found;
    -- A job that another transaction is moving is left to a later call.
    SELECT ready.key, coalesce(ready.due * 1000, ready.rank) AS rank, ready.n, ready.tries,
           ready.crashes, ready.tenant, ready.concurrency
    INTO place
    FROM millrace.ready AS ready
    WHERE ready.key = lone.key
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT blocked.key, blocked.rank, blocked.n, blocked.tries, blocked.crashes, blocked.tenant,
               blocked.concurrency
        INTO place
        FROM millrace.blocked AS blocked
        WHERE blocked.key = lone.key AND blocked.gate = lone.probe
        FOR UPDATE SKIP LOCKED;
    END IF;
    -- Waits for a rescuer that has locked the worker, and then claims nothing.
    PERFORM FROM millrace.worker WHERE id = claimer AND place.key IS NOT NULL FOR KEY SHARE;
    IF NOT FOUND THEN
        RETURN NEXT;
        RETURN;
    END IF;

    -- Another claim may have taken the last token of the key meanwhile.
    has_rate := place.concurrency IS NOT NULL AND EXISTS (SELECT FROM millrace.key_rate);
    IF has_rate AND millrace.hold_spent_keys(ARRAY[place.key], moment) IS NOT NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    INSERT INTO millrace.lease (secret, worker, keys, ns, ranks, started_at, claimed_at, alone)
    VALUES (
        proof, claimer, ARRAY[place.key], ARRAY[place.n], ARRAY[place.rank], NULL, moment, true
    )
    ON CONFLICT (alone) WHERE alone DO NOTHING
    RETURNING number INTO key;
    IF key IS NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    -- The permits come after the lock, as in `claim_batch`, which is undone if there is none.
    BEGIN
        IF place.concurrency IS NOT NULL THEN
            INSERT INTO millrace.lock (job, n, tenant, name)
            VALUES (place.key, place.n, place.tenant, place.concurrency)
            ON CONFLICT (tenant, name) DO NOTHING;
            IF NOT FOUND THEN
                RAISE EXCEPTION SQLSTATE 'MR001';
            END IF;
            IF has_rate THEN
                PERFORM millrace.take_key_tokens(ARRAY[place.key], moment);
            END IF;
        END IF;
        IF asker.has_limits THEN
            SELECT * INTO permits
            FROM millrace.take_permits(
                claimer, ARRAY[place.key],
                ARRAY(SELECT ready.ctid FROM millrace.ready AS ready WHERE ready.key = place.key),
                true, lent, lent_counts, false, moment
            );
            IF permits.kept IS NOT NULL THEN
                RAISE EXCEPTION SQLSTATE 'MR001';
            END IF;
            tags := json_build_object('granted', permits.granted, 'limits', permits.limits);
        END IF;
    EXCEPTION
        WHEN SQLSTATE 'MR001' THEN
            DELETE FROM millrace.lease WHERE number = claim_alone.key;
            key := NULL;
            tags := NULL;
            RETURN NEXT;
            RETURN;
    END;
    DELETE FROM millrace.ready AS ready WHERE ready.key = place.key;
    DELETE FROM millrace.blocked AS blocked WHERE blocked.key = place.key;

    SELECT streak.type || ' ' || streak.probe_ms
    INTO kind
    FROM millrace.crash_streak AS streak
    WHERE streak.type = lone.probe;
    payload := json_build_array(
        ARRAY[place.key], ARRAY[place.rank], ARRAY[place.n], ARRAY[place.tries],
        ARRAY[place.crashes]
    );
    RETURN NEXT;
    tags := NULL;
    RETURN QUERY
    SELECT false, job.key, job.id, millrace.ms_of(job.created_at),
           concat_ws(
               ' ', job.type, job.tenant, job.lane, job.priority, job.max_attempts, job.flags,
               (job.retry_of IS NOT NULL)::integer, job.timeout_ms
           ),
           job.payload, job.payload_version, job.correlation, job.parent, job.concurrency, job.tags
    FROM millrace.job AS job
    WHERE job.key = place.key;

    -- A place without a job, which only a manual change can cause, gets no lease.
    IF NOT FOUND THEN
        DELETE FROM millrace.lease WHERE number = claim_alone.key;
        DELETE FROM millrace.lock AS lock WHERE lock.job = place.key;
    END IF;
END
$claim$;
