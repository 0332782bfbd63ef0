-- The limits as a claim of a worker sees them. `lent` and `counts` are the free permits of the
-- worker: it may have lost some of them meanwhile, so what it holds bounds them. `room` is how many
-- jobs of the limit the claim may take; `src/core/permits.ts` has the same arithmetic.
CREATE FUNCTION millrace.limit_rooms(
    claimer uuid, lent integer[], counts integer[], to_prefetch boolean, moment timestamptz
)
RETURNS TABLE (
    id integer, name integer, used integer, held integer, free integer, room integer,
    has_rate boolean, tokens double precision, retry_ms bigint, wanted_at timestamptz
)
LANGUAGE sql STABLE
AS $rooms$
    SELECT setting.id, setting.name, setting.used, own.held, own.free,
           CASE
               WHEN to_prefetch AND setting.rate_count IS NOT NULL THEN 0
               ELSE greatest(0, least(
                   CASE
                       WHEN setting.cap IS NULL THEN 2147483647
                       WHEN to_prefetch THEN setting.cap / 2 - (setting.used - own.free)
                       ELSE setting.cap - (setting.used - own.free)
                   END,
                   floor(bucket.tokens)::bigint
               ))::integer
           END,
           setting.rate_count IS NOT NULL,
           bucket.tokens,
           CASE
               WHEN bucket.tokens < 1
                   THEN ceil((1 - bucket.tokens) * setting.rate_ms / setting.rate_count)::bigint
           END,
           setting.wanted_at
    FROM millrace.limit_setting AS setting
    LEFT JOIN millrace.permit AS permit
        ON permit.worker = claimer AND permit.limit_id = setting.id
    LEFT JOIN unnest(lent, counts) AS given (id, count) ON given.id = setting.id
    CROSS JOIN LATERAL (
        SELECT coalesce(permit.held, 0) AS held,
               greatest(0, least(coalesce(permit.held, 0), coalesce(given.count, 0))) AS free
    ) AS own
    CROSS JOIN LATERAL (
        SELECT least(
            setting.burst::double precision,
            CASE
                -- As in tokensAt: the clock was ahead and went back.
                WHEN (millrace.ms_of(setting.refilled_at) - millrace.ms_of(moment))
                    ::double precision * setting.rate_count
                    > setting.burst::double precision * setting.rate_ms
                    THEN setting.burst::double precision
                ELSE setting.tokens + greatest(
                    0, millrace.ms_of(moment) - millrace.ms_of(setting.refilled_at)
                )::double precision * setting.rate_count / setting.rate_ms
            END
        ) AS tokens
        WHERE setting.rate_count IS NOT NULL
        UNION ALL
        SELECT NULL
        WHERE setting.rate_count IS NULL
    ) AS bucket
$rooms$;

-- How many jobs of each limited type and tenant a worker without permits could claim.
CREATE FUNCTION millrace.target_rooms(moment timestamptz)
RETURNS TABLE (target integer, room integer)
LANGUAGE sql STABLE
AS $rooms$
    SELECT limited.target, min(limits.room)
    FROM millrace.limit_rooms(NULL, NULL, NULL, false, moment) AS limits
    JOIN millrace.limit_target AS limited ON limited.limit_id = limits.id
    WHERE limited.target > 0
    GROUP BY limited.target
$rooms$;

-- What a claim has to know about limits before it looks for jobs: the types and tenants of which it
-- may take no job, whether it may take any job at all, the types and tenants whose limits all have
-- a permit left with the number of jobs that the claim may take of each, the limits that are used
-- up and that the workers which hold their permits have not heard of, and the words for the worker.
CREATE FUNCTION millrace.look_at_limits(
    claimer uuid, lent integer[], counts integer[], to_prefetch boolean, moment timestamptz,
    OUT closed integer[], OUT is_closed boolean, OUT queues integer[], OUT rooms integer[],
    OUT unheard integer[], OUT words json
)
LANGUAGE plpgsql STABLE
AS $look$
#variable_conflict use_column
BEGIN
    WITH limits AS MATERIALIZED (
        SELECT * FROM millrace.limit_rooms(claimer, lent, counts, to_prefetch, moment)
    ),
    queue AS MATERIALIZED (
        SELECT limited.target, min(limits.room) AS room
        FROM limits
        JOIN millrace.limit_target AS limited ON limited.limit_id = limits.id
        WHERE limited.target > 0
        GROUP BY limited.target
    )
    SELECT coalesce((SELECT array_agg(target) FROM queue WHERE queue.room = 0), '{}'),
           bool_or(room = 0 AND name = 0),
           (SELECT array_agg(target) FROM queue WHERE queue.room > 0),
           (SELECT array_agg(queue.room) FROM queue WHERE queue.room > 0),
           array_agg(id ORDER BY id) FILTER (
               WHERE room = 0
                 AND used > held
                 AND (wanted_at IS NULL OR wanted_at <= moment - interval '1 second')
           ),
           json_build_object(
               'full',
               coalesce(
                   json_agg(json_build_array(id, retry_ms) ORDER BY id) FILTER (WHERE room = 0),
                   '[]'
               ),
               'wanted',
               coalesce(
                   json_agg(json_build_array(id, millrace.ms_of(wanted_at)) ORDER BY id) FILTER (
                       WHERE held > 0 AND wanted_at > moment - interval '2 seconds'
                   ),
                   '[]'
               )
           )
    INTO closed, is_closed, queues, rooms, unheard, words
    FROM limits;
END
$look$;

-- Tells the workers that hold permits of these limits that others want them. Rows that another
-- transaction has locked are skipped: a later claim tells them.
CREATE FUNCTION millrace.want_limits(limits integer[], moment timestamptz)
RETURNS void
LANGUAGE sql VOLATILE
AS $want$
    UPDATE millrace.limit_setting
    SET wanted_at = moment
    WHERE id = ANY (ARRAY(
        SELECT id FROM millrace.limit_setting WHERE id = ANY (limits) ORDER BY id
        FOR UPDATE SKIP LOCKED
    ));
$want$;

-- Takes permits for the jobs of a claim, in their order. `kept` are the positions of the jobs that
-- get all their permits; null: all jobs do. The free permits of the worker are used first. If they
-- do not suffice, the rows of the limits are locked in their order and read after that, so that two
-- claims cannot get the same permit. The services of the types are read once: a deploy may change
-- them meanwhile, and each job must get the permits that the worker is told of. The row of the
-- worker is locked before. `of_places` are the
-- rows of the jobs in `ready`, and `is_queued` says that some jobs are in the queue of a limit.
CREATE FUNCTION millrace.take_permits(
    claimer uuid, of_keys bigint[], of_places tid[], is_queued boolean, lent integer[],
    counts integer[], to_prefetch boolean, moment timestamptz, OUT kept integer[],
    OUT granted json, OUT limits json
)
LANGUAGE plpgsql VOLATILE
AS $take$
#variable_conflict use_column
DECLARE
    of_names integer[];
    of_jobs integer[];
    types   integer[];
    tenants integer[];
    callers integer[];
    called  integer[];
    wanted  integer[];
    ids     integer[];
    names   integer[];
    rooms   integer[];
    needs   integer[];
    is_cut  boolean;
    spots   integer[];
    spot    integer;
    fits    boolean;
BEGIN
    SELECT array_agg(uses.type), array_agg(uses.service)
    INTO callers, called
    FROM millrace.service_use AS uses
    WHERE uses.service IN (SELECT setting.name FROM millrace.limit_setting AS setting);

    -- Only the free permits of the worker are sure, of a limit that is not locked.
    WITH need AS MATERIALIZED (
        SELECT each.name, sum(place.jobs)::integer AS jobs
        FROM (
            SELECT type, tenant, count(*) AS jobs
            FROM millrace.ready
            WHERE ctid = ANY (of_places)
            GROUP BY type, tenant
            UNION ALL
            SELECT type, tenant, 1
            FROM millrace.blocked
            WHERE is_queued AND key = ANY (of_keys)
        ) AS place
        CROSS JOIN LATERAL (
            VALUES (place.type), (place.tenant)
            UNION ALL
            SELECT uses.service
            FROM unnest(callers, called) AS uses (type, service)
            WHERE uses.type = place.type
        ) AS each (name)
        GROUP BY each.name
        UNION ALL
        SELECT 0, cardinality(of_keys)
    )
    SELECT (SELECT array_agg(need.name) FROM need), (SELECT array_agg(need.jobs) FROM need),
           array_agg(known.id), array_agg(known.name), array_agg(known.room),
           array_agg(known.jobs), json_agg(json_build_array(known.id, known.name)),
           array_agg(known.id) FILTER (WHERE known.jobs > known.free OR known.has_rate),
           bool_or(known.jobs > known.room)
    INTO of_names, of_jobs, ids, names, rooms, needs, limits, wanted, is_cut
    FROM (
        SELECT limits.id, limits.name, limits.free, limits.has_rate, need.jobs,
               least(limits.room, limits.free) AS room
        FROM millrace.limit_rooms(claimer, lent, counts, to_prefetch, moment) AS limits
        JOIN need ON need.name = limits.name
        ORDER BY limits.id
    ) AS known;
    IF ids IS NULL THEN
        RETURN;
    END IF;
    IF wanted IS NOT NULL THEN
        PERFORM FROM millrace.limit_setting WHERE id = ANY (wanted) ORDER BY id FOR UPDATE;
        SELECT array_agg(known.id), array_agg(known.name), array_agg(known.room),
               array_agg(known.jobs), json_agg(json_build_array(known.id, known.name)),
               bool_or(known.jobs > known.room)
        INTO ids, names, rooms, needs, limits, is_cut
        FROM (
            SELECT limits.id, limits.name, need.jobs,
                   CASE
                       WHEN limits.id = ANY (wanted) THEN limits.room
                       ELSE least(limits.room, limits.free)
                   END AS room
            FROM millrace.limit_rooms(claimer, lent, counts, to_prefetch, moment) AS limits
            JOIN unnest(of_names, of_jobs) AS need (name, jobs) ON need.name = limits.name
            ORDER BY limits.id
        ) AS known;
        IF ids IS NULL THEN
            RETURN;
        END IF;
    END IF;
    IF callers IS NOT NULL THEN
        SELECT json_agg(json_build_array(known.id, applies.target)) INTO limits
        FROM unnest(ids, names) AS known (id, name)
        CROSS JOIN LATERAL (
            SELECT known.name
            UNION ALL
            SELECT uses.type
            FROM unnest(callers, called) AS uses (type, service)
            WHERE uses.service = known.name
        ) AS applies (target);
    END IF;

    IF is_cut THEN
        SELECT array_agg(place.type ORDER BY due.turn), array_agg(place.tenant ORDER BY due.turn)
        INTO types, tenants
        FROM unnest(of_keys) WITH ORDINALITY AS due (key, turn)
        CROSS JOIN LATERAL (
            SELECT ready.type, ready.tenant FROM millrace.ready AS ready WHERE ready.key = due.key
            UNION ALL
            SELECT blocked.type, blocked.tenant
            FROM millrace.blocked AS blocked
            WHERE blocked.key = due.key
            LIMIT 1
        ) AS place;
        needs := array_fill(0, ARRAY[cardinality(ids)]);
        kept := '{}';
        FOR turn IN 1 .. cardinality(of_keys) LOOP
            spots := array_remove(ARRAY[
                array_position(names, types[turn]), array_position(names, tenants[turn]),
                array_position(names, 0)
            ] || ARRAY(
                SELECT array_position(names, uses.service)
                FROM unnest(callers, called) AS uses (type, service)
                WHERE uses.type = types[turn]
            ), NULL);
            fits := true;
            FOREACH spot IN ARRAY spots LOOP
                fits := fits AND needs[spot] < rooms[spot];
            END LOOP;
            CONTINUE WHEN NOT fits;
            kept := kept || turn;
            FOREACH spot IN ARRAY spots LOOP
                needs[spot] := needs[spot] + 1;
            END LOOP;
        END LOOP;
    END IF;
    IF wanted IS NULL THEN
        RETURN;
    END IF;

    WITH taken AS MATERIALIZED (
        SELECT limits.id, limits.has_rate, limits.tokens - need.jobs AS tokens,
               need.jobs - limits.free AS more
        FROM unnest(ids, needs) AS need (id, jobs)
        JOIN millrace.limit_rooms(claimer, lent, counts, to_prefetch, moment) AS limits
            ON limits.id = need.id
        WHERE need.jobs > 0
    ),
    tokens AS (
        UPDATE millrace.limit_setting AS setting
        SET used = setting.used + greatest(0, taken.more),
            tokens = CASE WHEN taken.has_rate THEN taken.tokens ELSE setting.tokens END,
            refilled_at = CASE WHEN taken.has_rate THEN moment ELSE setting.refilled_at END
        FROM taken
        WHERE setting.id = taken.id
          AND (taken.more > 0 OR taken.has_rate)
    ),
    noted AS (
        INSERT INTO millrace.permit AS permit (worker, limit_id, held)
        SELECT claimer, id, more
        FROM taken
        WHERE more > 0
        ON CONFLICT (worker, limit_id) DO UPDATE SET held = permit.held + excluded.held
    )
    SELECT json_agg(json_build_array(id, more) ORDER BY id) INTO granted
    FROM taken
    WHERE more > 0;
END
$take$;

-- The most urgent jobs in the queues of limits that have a permit left, up to the room of each,
-- that nothing else blocks. `in_lanes` are all lanes of the claim, and `closed` has the limits
-- that are used up. A recursive hop finds the lanes of a queue, so jobs of other lanes are not met.
-- The settings are those of `claim_batch`.
CREATE FUNCTION millrace.find_limited(
    queues integer[], rooms integer[], in_lanes integer[], of_types integer[],
    of_tenants integer[], closed integer[], parked bigint[], to_prefetch boolean, most integer,
    only_priority integer, awaited text, awaited_priority integer,
    OUT keys bigint[], OUT urgency integer[], OUT ranks bigint[], OUT ns integer[],
    OUT tries integer[], OUT crashes integer[], OUT is_keyed boolean
)
LANGUAGE plpgsql VOLATILE
AS $find$
#variable_conflict use_column
BEGIN
    IF NOT EXISTS (SELECT FROM millrace.blocked WHERE gate < -2) THEN
        RETURN;
    END IF;
    SELECT array_agg(key), array_agg(priority), array_agg(rank), array_agg(n), array_agg(tries),
           array_agg(crashes), bool_or(has_key)
    INTO keys, urgency, ranks, ns, tries, crashes, is_keyed
    FROM (
        SELECT front.*
        FROM unnest(queues, rooms) AS queue (name, room)
        CROSS JOIN LATERAL (
            SELECT first.*
            FROM (
                WITH RECURSIVE hop (lane) AS (
                    SELECT min(lane)
                    FROM millrace.blocked
                    WHERE gate = -3 - queue.name AND gate < -2
                    UNION ALL
                    SELECT (
                        SELECT min(next.lane)
                        FROM millrace.blocked AS next
                        WHERE next.gate = -3 - queue.name
                          AND next.gate < -2
                          AND next.lane > hop.lane
                    )
                    FROM hop
                    WHERE hop.lane IS NOT NULL
                )
                SELECT hop.lane
                FROM hop
                WHERE hop.lane = ANY (in_lanes) AND hop.lane <> ALL (closed)
            ) AS own
            CROSS JOIN LATERAL (
                SELECT key, priority, turn_or_rank AS rank, n, tries, crashes,
                       concurrency IS NOT NULL AS has_key
                FROM millrace.blocked
                WHERE gate = -3 - queue.name
                  AND gate < -2
                  AND lane = own.lane
                  AND priority BETWEEN coalesce(only_priority, 0)
                      AND coalesce(only_priority, 2147483647)
                  AND (of_types IS NULL OR type = ANY (of_types))
                  AND (of_tenants IS NULL OR tenant = ANY (of_tenants))
                  AND type <> ALL (closed)
                  AND tenant <> ALL (closed)
                  AND (tenant::bigint << 32) + type <> ALL (parked)
                  AND (concurrency IS NULL OR (
                      NOT to_prefetch
                      AND NOT EXISTS (
                          SELECT 1
                          FROM millrace.lock AS lock
                          WHERE lock.tenant = blocked.tenant AND lock.name = blocked.concurrency
                      )
                      AND (
                          awaited IS NULL
                          OR priority < awaited_priority
                          OR tenant || ' ' || concurrency <> awaited
                      )
                  ))
                ORDER BY priority, turn_or_rank, key
                LIMIT least(most, queue.room)
                FOR UPDATE SKIP LOCKED
            ) AS first
            ORDER BY first.priority, first.rank, first.key
            LIMIT least(most, queue.room)
        ) AS front
    ) AS row;
END
$find$;
