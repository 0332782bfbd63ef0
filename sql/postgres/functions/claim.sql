-- Claims a batch of due jobs and writes its lease. Candidates are locked in their order, never more
-- than the limit per lane; SKIP LOCKED lets workers claim concurrently. Candidates of a lane beyond
-- the limit are unlocked by the commit, untouched.
--
-- A job whose lock is taken is skipped, and so are all but the most urgent job of a free lock. If
-- that leaves room, the lanes are scanned again, further each time, for a limited number of rounds:
-- without the candidates of earlier rounds, and without keys whose most urgent job is known,
-- because it comes before everything that was not scanned. A scan looks up the lock of each keyed
-- job in the index, and after 5 ms in a hash of the locks: by then a long front of jobs whose lock
-- is taken is in its way. The locks are acquired in their order, after the row of the worker was
-- locked; a job whose lock another claim has acquired meanwhile is left out. A claim without keys
-- pays nothing for this.
--
-- A scan starts at the low-water marks of the caller's claim cursor: each range of the index goes
-- from its mark to the next marked priority, and the first range of a lane from the beginning. A
-- lane without marks is scanned as a whole.
--
-- Jobs that have crashed before are in an index of their own, which the scans of the lanes do not
-- meet. If there are any, `add_crashed` merges them into the batch, and `find_lone` looks for a job
-- that must run alone. The key of this job is left to it, except for more urgent jobs: otherwise
-- other jobs would lock the key again and again. Without `cap` any number of crashed jobs is
-- claimed. A prefetch takes none.
--
-- If there are limits, the jobs of limits that are used up are skipped, and the jobs in the queues
-- of the others are candidates as well, of all priorities or of `queue_priority`. `lent` are the
-- free permits of the worker. The permits come after the locks, in all claims: a job that its key
-- holds back must take no token of a rate. Candidates that get no permit are left out last: the
-- caller claims again, and then the limit is used up.
--
-- The first row describes the batch and has no id: its key is the number of the lease, its payload
-- has the lists of the lease in their order; or it only says that the worker is lost. Its kind has
-- the word `alone` if a job waits that must run alone, the word `all` if the lanes are empty now,
-- and the word `spent` if jobs were left out because of the rate of their key. Its creation time is
-- how many microseconds the scan has taken: the caller bounds the time of its scans from the
-- beginning, and must not count the commit. Its tags are what the worker must know about limits;
-- null: there are none. The other rows are the jobs, in any order. What many jobs have in common is
-- one text (`kind`), so that the caller parses it once.
--
-- Whether the lanes are empty is looked up only by a scan from the beginning that found few jobs:
-- it has walked over all dead entries of the index already. Rows that another claim has locked
-- count, because that claim may leave them, and so do jobs that this claim does not take.
CREATE FUNCTION millrace.claim_batch(
    claimer uuid, proof text, in_lanes integer[], of_types integer[], of_tenants integer[],
    to_prefetch boolean, most integer, mark_lanes integer[], mark_priorities integer[],
    mark_ranks bigint[], mark_keys bigint[], mark_ends integer[], most_once integer,
    most_often integer, cap integer, lent integer[], lent_counts integer[],
    queue_priority integer, given timestamptz
)
RETURNS TABLE (
    lost boolean, key bigint, id uuid, created_at bigint, kind text, payload json,
    payload_version text, correlation text, parent uuid, concurrency text, tags json
)
LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_sort = off
SET jit = off
AS $claim$
#variable_conflict use_column
DECLARE
    moment     timestamptz := millrace.clock_at(given);
    began      timestamptz := clock_timestamp();
    asker      record;
    due        record;
    scanned    integer;
    room       integer;
    lane_count integer := 0;
    lanes      integer[];
    priorities integer[] := mark_priorities;
    from_ranks bigint[] := mark_ranks;
    from_keys  bigint[] := mark_keys;
    ends       integer[] := mark_ends;
    places     tid[];
    urgency    integer[];
    keys       bigint[];
    ranks      bigint[];
    turns      bigint[];
    ns         integer[];
    tries      integer[];
    crashes    integer[];
    taken      integer;
    is_keyed   boolean := false;
    is_cut     boolean;
    is_mixed   boolean := false;
    marks      text[];
    width      integer := most;
    passed     bigint[] := '{}';
    known      text[];
    patience   timestamptz;
    others     bigint[];
    far_urgent integer;
    far_rank   bigint;
    far_key    bigint;
    awaited    text;
    awaited_priority integer;
    limits     record;
    used_up    integer[] := '{}';
    permits    record;
    has_queued boolean := false;
    has_rates  boolean := false;
    durable    text := millrace.sync_commit();
    locks_max  CONSTANT integer := 5000;
BEGIN
    SELECT worker.quiet,
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
           CASE
               WHEN in_lanes IS NULL THEN ARRAY(
                   SELECT name.id FROM millrace.interned_name AS name WHERE name.kind = 3
               )
               -- Rows that this transaction has locked are not skipped: no lane may be scanned
               -- twice.
               ELSE ARRAY(SELECT DISTINCT named.lane FROM unnest(in_lanes) AS named (lane))
           END AS lanes,
           EXISTS (SELECT FROM millrace.ready WHERE crashes > 0) AS has_crashed,
           EXISTS (
               SELECT
               FROM millrace.crash_streak AS streak
               WHERE millrace.is_streak_due(streak, moment)
           ) AS has_probe,
           EXISTS (SELECT FROM millrace.limit_setting) AS has_limits
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

    IF asker.has_limits THEN
        SELECT * INTO limits
        FROM millrace.look_at_limits(claimer, lent, lent_counts, to_prefetch, moment);
        tags := limits.words;
        used_up := limits.closed;
    END IF;

    IF cap IS NOT NULL AND (asker.has_crashed OR asker.has_probe) THEN
        SELECT 'alone', lone.tenant || ' ' || lone.concurrency, lone.priority
        INTO kind, awaited, awaited_priority
        FROM millrace.find_lone(
            asker.lanes, of_types, of_tenants, asker.closed, used_up, asker.parked, cap, moment
        ) AS lone;
    END IF;

    IF asker.has_limits THEN
        asker.closed := asker.closed || limits.closed;
        IF limits.is_closed THEN
            PERFORM millrace.want_limits(limits.unheard, moment);
            RETURN NEXT;
            RETURN;
        END IF;
        -- A limit that has a permit left is looked for in its own queue as well.
        SELECT * INTO due
        FROM millrace.find_limited(
            limits.queues, limits.rooms, asker.lanes, of_types, of_tenants, asker.closed,
            asker.parked, to_prefetch, most, queue_priority, awaited, awaited_priority
        );
        IF due.keys IS NOT NULL THEN
            has_queued := true;
            is_keyed := due.is_keyed;
            lane_count := 2;
            places := array_fill(NULL::tid, ARRAY[cardinality(due.keys)]);
            urgency := due.urgency;
            keys := due.keys;
            ranks := due.ranks;
            ns := due.ns;
            tries := due.tries;
            crashes := due.crashes;
        END IF;
    END IF;

    lanes := asker.lanes;
    IF mark_lanes IS NOT NULL THEN
        SELECT array_agg(lane), array_agg(priority), array_agg(rank), array_agg(key),
               array_agg("end")
        INTO lanes, priorities, from_ranks, from_keys, ends
        FROM (
            SELECT *
            FROM unnest(mark_lanes, mark_priorities, mark_ranks, mark_keys, mark_ends)
                AS mark (lane, priority, rank, key, "end")
            WHERE lane = ANY (asker.lanes)
            UNION ALL
            SELECT lane, 0, -4000000000000000, 0, 2147483647
            FROM unnest(asker.lanes) AS other (lane)
            WHERE lane <> ALL (mark_lanes)
            ORDER BY lane, priority
        ) AS range;
    END IF;
    FOR round IN 1 .. 4 LOOP
        is_cut := false;
        scanned := NULL;
        FOR turn IN 1 .. coalesce(cardinality(lanes), 0) LOOP
            CONTINUE WHEN lanes[turn] = ANY (asker.closed);
            IF lanes[turn] IS DISTINCT FROM scanned THEN
                room := width;
                scanned := lanes[turn];
            END IF;
            patience := clock_timestamp() + interval '5 milliseconds';
            SELECT array_agg(place) AS places, array_agg(key) AS keys,
                   array_agg(priority) AS urgency, array_agg(rank) AS ranks, array_agg(n) AS ns,
                   array_agg(tries) AS tries, array_agg(crashes) AS crashes,
                   array_agg(mark) FILTER (WHERE mark IS NOT NULL) AS marks
            INTO due
            FROM (
                SELECT ctid AS place, key, priority, rank, n, tries, crashes,
                       tenant || ' ' || concurrency AS mark
                FROM millrace.ready
                WHERE lane = lanes[turn]
                  AND crashes = 0
                  AND (priority, rank, key) >= (
                      coalesce(priorities[turn], 0),
                      coalesce(from_ranks[turn], -4000000000000000), coalesce(from_keys[turn], 0)
                  )
                  AND priority < coalesce(ends[turn], 2147483647)
                  AND (of_types IS NULL OR type = ANY (of_types))
                  AND (of_tenants IS NULL OR tenant = ANY (of_tenants))
                  AND type <> ALL (asker.closed)
                  AND tenant <> ALL (asker.closed)
                  AND (
                      cardinality(asker.parked) = 0
                      OR (tenant::bigint << 32) + type <> ALL (asker.parked)
                  )
                  AND (concurrency IS NULL OR (
                      NOT to_prefetch
                      AND (clock_timestamp() < patience OR (tenant, concurrency) NOT IN (
                          SELECT taken.tenant, taken.name
                          FROM millrace.lock AS taken
                          LIMIT locks_max
                      ))
                      AND NOT EXISTS (
                          SELECT 1
                          FROM millrace.lock AS lock
                          WHERE lock.tenant = ready.tenant AND lock.name = ready.concurrency
                      )
                      AND (known IS NULL OR tenant || ' ' || concurrency <> ALL (known))
                      AND (
                          awaited IS NULL
                          OR priority < awaited_priority
                          OR tenant || ' ' || concurrency <> awaited
                      )
                  ))
                  AND (round = 1 OR key <> ALL (passed))
                ORDER BY priority, rank, key
                LIMIT room
                FOR UPDATE SKIP LOCKED
            ) AS row;
            CONTINUE WHEN due.keys IS NULL;
            lane_count := lane_count + (room = width)::integer;
            room := room - cardinality(due.keys);
            marks := marks || due.marks;
            IF room = 0 THEN
                taken := cardinality(due.keys);
                IF NOT is_cut OR (due.urgency[taken], due.ranks[taken], due.keys[taken])
                        < (far_urgent, far_rank, far_key) THEN
                    far_urgent := due.urgency[taken];
                    far_rank := due.ranks[taken];
                    far_key := due.keys[taken];
                END IF;
                is_cut := true;
            END IF;
            places := places || due.places;
            urgency := urgency || due.urgency;
            keys := keys || due.keys;
            ranks := ranks || due.ranks;
            ns := ns || due.ns;
            tries := tries || due.tries;
            crashes := crashes || due.crashes;
        END LOOP;
        is_keyed := is_keyed OR marks IS NOT NULL;
        EXIT WHEN NOT is_keyed;
        -- Most claims find no two jobs with the same key.
        EXIT WHEN round = 1 AND NOT has_queued AND cardinality(marks) = (
            SELECT count(DISTINCT mark) FROM unnest(marks) AS own (mark)
        );

        is_mixed := true;
        taken := cardinality(keys);
        SELECT array_agg(place) FILTER (WHERE turn = 1),
               array_agg(key) FILTER (WHERE turn = 1),
               array_agg(priority) FILTER (WHERE turn = 1),
               array_agg(rank) FILTER (WHERE turn = 1),
               array_agg(n) FILTER (WHERE turn = 1),
               array_agg(tried) FILTER (WHERE turn = 1),
               array_agg(crashed) FILTER (WHERE turn = 1),
               array_agg(mark) FILTER (WHERE turn = 1 AND is_known AND mark IS NOT NULL),
               array_agg(key) FILTER (WHERE turn = 1 OR NOT is_known)
        INTO places, keys, urgency, ranks, ns, tries, crashes, known, others
        FROM (
            SELECT due.*, ready.tenant || ' ' || ready.concurrency AS mark,
                   row_number() OVER own AS turn,
                   first_value(
                       (due.priority, due.rank, due.key) <= (far_urgent, far_rank, far_key)
                   ) OVER own AS is_known
            FROM unnest(places, urgency, keys, ranks, ns, tries, crashes)
                AS due (place, priority, key, rank, n, tried, crashed)
            CROSS JOIN LATERAL (
                SELECT tenant, concurrency FROM millrace.ready WHERE key = due.key
                UNION ALL
                SELECT tenant, concurrency FROM millrace.blocked WHERE has_queued AND key = due.key
            ) AS ready
            WINDOW own AS (
                PARTITION BY ready.tenant, ready.concurrency,
                             CASE WHEN ready.concurrency IS NULL THEN due.key END
                ORDER BY due.priority, due.rank, due.key
            )
        ) AS due;
        EXIT WHEN NOT is_cut OR cardinality(keys) = taken;
        passed := passed || others;
        width := least(4 * width, 2000);
    END LOOP;
    IF lane_count > 1 OR is_mixed THEN
        SELECT array_agg(place), array_agg(priority), array_agg(key), array_agg(rank), array_agg(n),
               array_agg(tried), array_agg(crashed)
        INTO places, urgency, keys, ranks, ns, tries, crashes
        FROM (
            SELECT *
            FROM unnest(places, urgency, keys, ranks, ns, tries, crashes)
                AS due (place, priority, key, rank, n, tried, crashed)
            ORDER BY priority, rank, key
            LIMIT most
        ) AS due;
    END IF;
    IF asker.has_crashed AND NOT to_prefetch
            AND (cap IS NULL OR most_once > 0 OR most_often > 0) THEN
        SELECT batch.*
        INTO places, keys, ranks, ns, tries, crashes, is_keyed
        FROM millrace.add_crashed(
            asker.lanes, of_types, of_tenants, asker.closed, asker.parked, most, most_once,
            most_often, cap, awaited, awaited_priority, places, urgency, keys, ranks, ns, tries,
            crashes, is_keyed
        ) AS batch;
    END IF;
    created_at := 1000000 * extract(epoch FROM clock_timestamp() - began);
    -- A claim that finds no job writes nothing, unless it wants permits of other workers.
    IF keys IS NULL THEN
        IF asker.has_limits THEN
            PERFORM millrace.want_limits(limits.unheard, moment);
        END IF;
        RETURN NEXT;
        RETURN;
    END IF;

    -- Jobs beyond 8 MB of payload stay where they are, but one job is always claimed.
    IF cardinality(keys) > 1 AND (
        SELECT sum(octet_length(payload::text)) FROM millrace.job WHERE key = ANY (keys)
    ) > 8000000 THEN
        SELECT count(*) INTO taken
        FROM (
            SELECT turn, sum(octet_length(payload::text)) OVER (ORDER BY turn) AS weight
            FROM unnest(keys) WITH ORDINALITY AS named (key, turn)
            JOIN millrace.job AS job ON job.key = named.key
        ) AS weighed
        WHERE turn = 1 OR weight <= 8000000;
        places := places[:taken];
        keys := keys[:taken];
        ranks := ranks[:taken];
        ns := ns[:taken];
        tries := tries[:taken];
        crashes := crashes[:taken];
    END IF;

    -- Waits for a rescuer that has locked the worker, and then claims nothing: the rows locked
    -- above are unlocked by the commit.
    IF asker.has_limits OR is_keyed THEN
        PERFORM FROM millrace.worker WHERE id = claimer FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    IF is_keyed THEN
        has_rates := EXISTS (SELECT FROM millrace.key_rate);
        IF has_rates THEN
            others := millrace.hold_spent_keys(keys, moment);
        END IF;
        IF has_rates AND others IS NOT NULL THEN
            SELECT array_agg(place), array_agg(key), array_agg(rank), array_agg(n),
                   array_agg(tried), array_agg(crashed)
            INTO places, keys, ranks, ns, tries, crashes
            FROM (
                SELECT *
                FROM unnest(places, keys, ranks, ns, tries, crashes)
                    WITH ORDINALITY AS due (place, key, rank, n, tried, crashed, turn)
                WHERE key <> ALL (others)
                ORDER BY turn
            ) AS due;
            kind := concat_ws(' ', kind, 'spent');
        END IF;
        WITH due AS MATERIALIZED (
            SELECT key, n, tenant, concurrency
            FROM millrace.ready
            WHERE ctid = ANY (places) AND concurrency IS NOT NULL
            UNION ALL
            SELECT key, n, tenant, concurrency
            FROM millrace.blocked
            WHERE has_queued AND key = ANY (keys) AND concurrency IS NOT NULL
        ),
        taken AS (
            INSERT INTO millrace.lock (job, n, tenant, name)
            SELECT key, n, tenant, concurrency
            FROM due
            ORDER BY tenant, concurrency COLLATE "C"
            ON CONFLICT (tenant, name) DO NOTHING
            RETURNING job
        )
        SELECT array_agg(key) INTO others
        FROM due
        WHERE key NOT IN (SELECT job FROM taken);
        IF others IS NOT NULL THEN
            SELECT array_agg(place), array_agg(key), array_agg(rank), array_agg(n),
                   array_agg(tried), array_agg(crashed)
            INTO places, keys, ranks, ns, tries, crashes
            FROM (
                SELECT *
                FROM unnest(places, keys, ranks, ns, tries, crashes)
                    WITH ORDINALITY AS due (place, key, rank, n, tried, crashed, turn)
                WHERE key <> ALL (others)
                ORDER BY turn
            ) AS due;
        END IF;
        IF keys IS NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    -- The permits come after the keys: a job that its key holds back takes no token of a rate. A
    -- job that gets no permit gives its lock back.
    IF asker.has_limits THEN
        SELECT * INTO permits
        FROM millrace.take_permits(
            claimer, keys, places, has_queued, lent, lent_counts, to_prefetch, moment
        );
        tags := json_build_object(
            'full', limits.words -> 'full', 'wanted', limits.words -> 'wanted',
            'granted', permits.granted, 'limits', permits.limits,
            'cut', permits.kept IS NOT NULL
        );
        IF permits.kept IS NOT NULL THEN
            IF is_keyed THEN
                DELETE FROM millrace.lock AS lock
                USING unnest(keys, ns) WITH ORDINALITY AS due (key, n, turn)
                WHERE lock.job = due.key
                  AND lock.n = due.n
                  AND due.turn <> ALL (permits.kept);
            END IF;
            SELECT array_agg(places[turn]), array_agg(keys[turn]), array_agg(ranks[turn]),
                   array_agg(ns[turn]), array_agg(tries[turn]), array_agg(crashes[turn])
            INTO places, keys, ranks, ns, tries, crashes
            FROM unnest(permits.kept) AS kept (turn);
        END IF;
        IF keys IS NULL THEN
            PERFORM millrace.want_limits(limits.unheard, moment);
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    IF has_rates THEN
        PERFORM millrace.take_key_tokens(keys, moment);
    END IF;
    -- The lease has due times. The caller must know which jobs had turns: they set no marks.
    IF 0 > ANY (ranks) THEN
        turns := ranks;
        ranks := millrace.ranks_without_turns(keys, ranks);
    END IF;
    WITH alive AS MATERIALIZED (
        SELECT FROM millrace.worker WHERE id = claimer FOR KEY SHARE
    ),
    leased AS (
        INSERT INTO millrace.lease (secret, worker, keys, ns, ranks, started_at, claimed_at)
        SELECT proof, claimer, keys, ns, ranks, CASE WHEN NOT to_prefetch THEN moment END, moment
        FROM alive
        RETURNING number
    ),
    gone AS (
        DELETE FROM millrace.ready
        WHERE ctid = ANY (places)
          AND EXISTS (SELECT FROM leased)
    ),
    events AS (
        INSERT INTO millrace.event_outbox (at, kind, keys)
        SELECT moment, 2, keys
        FROM leased
        WHERE NOT to_prefetch
    )
    SELECT number INTO key FROM leased;
    IF key IS NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;
    IF has_queued THEN
        DELETE FROM millrace.blocked AS blocked WHERE blocked.key = ANY (keys);
    END IF;

    payload := json_build_array(
        keys, ranks, ns, tries, crashes, turns, millrace.ms_of(moment)
    );
    IF mark_lanes IS NULL AND NOT to_prefetch AND cardinality(keys) < most
            AND NOT asker.has_limits
            AND NOT EXISTS (
                SELECT FROM millrace.ready WHERE crashes = 0 AND lane = ANY (asker.lanes)
            )
            AND NOT EXISTS (
                SELECT FROM millrace.ready WHERE crashes > 0 AND lane = ANY (asker.lanes)
            ) THEN
        kind := concat_ws(' ', kind, 'all');
    END IF;
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
    WHERE job.key = ANY (keys);

    -- A place without a job, which only a manual change can cause, must not stay in the lease.
    GET DIAGNOSTICS taken = ROW_COUNT;
    IF taken < cardinality(keys) THEN
        UPDATE millrace.lease AS lease
        SET keys = real.keys, ns = real.ns, ranks = real.ranks
        FROM (
            SELECT array_agg(run.key) AS keys, array_agg(run.n) AS ns, array_agg(run.rank) AS ranks
            FROM unnest(keys, ns, ranks) AS run (key, n, rank)
            JOIN millrace.job AS job ON job.key = run.key
        ) AS real
        WHERE lease.number = claim_batch.key
          AND real.keys IS NOT NULL;
        IF NOT FOUND THEN
            DELETE FROM millrace.lease WHERE number = claim_batch.key;
        END IF;
    END IF;
    IF asker.has_limits THEN
        IF limits.unheard IS NOT NULL THEN
            PERFORM millrace.want_limits(limits.unheard, moment);
        END IF;
    END IF;
END
$claim$;
