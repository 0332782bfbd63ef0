-- Takes a job as the probe of services whose breaker is due: the breakers are half-open from now
-- on, and the run is theirs. The rows of the breakers are locked first, so that one call of the
-- fleet takes a probe at a time; a breaker that another call has locked is left to that call. The
-- job waits behind the gate of a due service, or at the front of its lane, nothing else blocks the
-- job, and its key has a token. The run has started, as by `claim_batch`.
--
-- The rows are those of `claim_batch`. In the first row `kind` has the ids of the services.
CREATE FUNCTION millrace.claim_probe(
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
    moment    timestamptz := millrace.clock_at(given);
    asker     record;
    due       integer[];
    types     integer[];
    found_key bigint;
    place     record;
    permits   record;
    has_rate  boolean;
    used_up   integer[] := '{}';
    front_max CONSTANT integer := 1000;
BEGIN
    SELECT worker.quiet,
           EXISTS (SELECT FROM millrace.limit_setting) AS has_limits,
           ARRAY(
               SELECT gate.name FROM millrace.gate WHERE gate.until IS NULL OR gate.until > moment
           ) AS paused,
           ARRAY(
               SELECT (parked.tenant::bigint << 32) + parked.type
               FROM millrace.tenant_barrier AS parked
               WHERE parked.until > moment
           ) AS parked,
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
    IF lost OR asker.quiet OR -2 = ANY (asker.paused) THEN
        RETURN NEXT;
        RETURN;
    END IF;

    -- Jobs without a permit are passed: otherwise the probe of one service would wait for another.
    IF asker.has_limits THEN
        used_up := ARRAY(
            SELECT limited.target
            FROM millrace.limit_rooms(claimer, lent, lent_counts, false, moment) AS rooms
            JOIN millrace.limit_target AS limited ON limited.limit_id = rooms.id
            WHERE rooms.room = 0
        );
    END IF;

    SELECT array_agg(service)
    INTO due
    FROM (
        SELECT breaker.service
        FROM millrace.breaker AS breaker
        WHERE breaker.state <> 1
          AND (
              breaker.probe_at <= moment
              -- As in probeAt: the clock was ahead and went back.
              OR (breaker.probe_at IS NOT NULL AND breaker.opened_at > moment)
              OR EXISTS (
                  SELECT 1
                  FROM millrace.attempt AS ended
                  WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n
              )
              OR (breaker.state = 3 AND NOT EXISTS (
                  SELECT 1 FROM millrace.job AS job WHERE job.key = breaker.probe_key
              ))
          )
          AND breaker.service <> ALL (asker.paused)
          AND NOT EXISTS (
              SELECT 1
              FROM millrace.service_park AS park
              WHERE park.gate = breaker.service AND park.until > moment
          )
        ORDER BY breaker.service
        FOR UPDATE SKIP LOCKED
    ) AS locked;
    -- A type that uses another closed service is not tried.
    SELECT array_agg(DISTINCT uses.type)
    INTO types
    FROM millrace.service_use AS uses
    WHERE uses.service = ANY (due)
      AND (of_types IS NULL OR uses.type = ANY (of_types))
      AND uses.type <> ALL (used_up)
      AND NOT EXISTS (
          SELECT 1
          FROM millrace.barrier AS barrier
          WHERE barrier.target = uses.type
            AND (barrier.until IS NULL OR barrier.until > moment)
            AND barrier.gate <> ALL (due)
      );
    IF types IS NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    SELECT waiting.key
    INTO found_key
    FROM (
        (
            SELECT key, priority, rank
            FROM millrace.blocked
            WHERE gate = ANY (due)
              AND type = ANY (types)
              AND lane = ANY (asker.lanes)
              AND lane <> ALL (asker.paused)
              AND (of_tenants IS NULL OR tenant = ANY (of_tenants))
              AND tenant <> ALL (asker.paused)
              AND tenant <> ALL (used_up)
              AND (tenant::bigint << 32) + type <> ALL (asker.parked)
              AND crashes < cap
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
        SELECT front.key, front.priority, front.rank
        FROM unnest(asker.lanes) AS named (lane)
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
        WHERE front.type = ANY (types)
          AND front.lane <> ALL (asker.paused)
          AND (of_tenants IS NULL OR front.tenant = ANY (of_tenants))
          AND front.tenant <> ALL (asker.paused)
          AND front.tenant <> ALL (used_up)
          AND (front.tenant::bigint << 32) + front.type <> ALL (asker.parked)
          AND front.crashes < cap
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
    LIMIT 1;
    -- A job that another transaction is moving is left to a later call.
    SELECT ready.key, coalesce(ready.due * 1000, ready.rank) AS rank, ready.n, ready.tries,
           ready.crashes, ready.tenant, ready.type, ready.concurrency
    INTO place
    FROM millrace.ready AS ready
    WHERE ready.key = found_key
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT blocked.key, blocked.rank, blocked.n, blocked.tries, blocked.crashes, blocked.tenant,
               blocked.type, blocked.concurrency
        INTO place
        FROM millrace.blocked AS blocked
        WHERE blocked.key = found_key AND blocked.gate = ANY (due)
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
            tags := NULL;
            RETURN NEXT;
            RETURN;
    END;

    INSERT INTO millrace.lease (secret, worker, keys, ns, ranks, started_at, claimed_at)
    VALUES (
        proof, claimer, ARRAY[place.key], ARRAY[place.n], ARRAY[place.rank], moment, moment
    )
    RETURNING number INTO key;
    DELETE FROM millrace.ready AS ready WHERE ready.key = place.key;
    DELETE FROM millrace.blocked AS blocked WHERE blocked.key = place.key;
    INSERT INTO millrace.event_outbox (at, kind, keys) VALUES (moment, 2, ARRAY[place.key]);
    WITH probed AS (
        UPDATE millrace.breaker AS breaker
        SET state = 3, half_opened_at = moment, updated_at = moment, probe_at = NULL,
            probe_key = place.key, probe_n = place.n
        FROM millrace.service_use AS uses
        WHERE breaker.service = ANY (due)
          AND uses.service = breaker.service
          AND uses.type = place.type
        RETURNING breaker.service, breaker.failure_count, breaker.reason
    ),
    changes AS (
        INSERT INTO millrace.breaker_change (service, n, at, state, failure_count, reason)
        SELECT probed.service,
               (
                   SELECT coalesce(max(known.n), 0) + 1
                   FROM millrace.breaker_change AS known
                   WHERE known.service = probed.service
               ),
               moment, 3, probed.failure_count, probed.reason
        FROM probed
    )
    SELECT string_agg(service::text, ' ' ORDER BY service) INTO kind FROM probed;

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
        DELETE FROM millrace.lease WHERE number = claim_probe.key;
        DELETE FROM millrace.lock AS lock WHERE lock.job = place.key;
    END IF;
END
$claim$;
