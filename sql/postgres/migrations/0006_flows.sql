-- Who has an exclusive name, which jobs wait for others, what handlers have logged, and which jobs
-- will be removed soon.

-- One row per name that is taken: the concurrency key of a job that runs, or a name that a run has
-- taken for one of its units. A tenant has one space for both. A row goes with its run. Whoever
-- locks several does so in the order of tenant and name.
CREATE TABLE millrace.lock (
    job    bigint  NOT NULL,
    n      integer NOT NULL CHECK (n >= 1),
    tenant integer NOT NULL,
    name   text    NOT NULL COLLATE "C" CHECK (length(name) BETWEEN 1 AND 500),
    PRIMARY KEY (tenant, name)
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX lock_job ON millrace.lock (job);

-- What runs already has its key from now on; of two that run under one, the first.
INSERT INTO millrace.lock (job, n, tenant, name)
SELECT job.key, run.n, job.tenant, job.concurrency
FROM millrace.lease AS lease
CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)
JOIN millrace.job AS job ON job.key = run.key
WHERE job.concurrency IS NOT NULL
  AND NOT EXISTS (
      SELECT 1 FROM millrace.attempt AS ended WHERE ended.key = run.key AND ended.n = run.n
  )
ORDER BY lease.number
ON CONFLICT (tenant, name) DO NOTHING;

-- Jobs whose key is taken lie behind gate -1. The most urgent of each key goes first.
CREATE INDEX blocked_key ON millrace.blocked (tenant, concurrency, priority, rank, key)
    WHERE gate = -1;

-- One row per job that a job waits for; such a job lies behind gate 0, and its rank there is its
-- due time. `tolerant`: it runs also when that one fails.
CREATE TABLE millrace.dependency (
    job      bigint   NOT NULL,
    depends_on    bigint   NOT NULL,
    tolerant smallint NOT NULL CHECK (tolerant IN (0, 1)),
    PRIMARY KEY (job, depends_on)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX dependency_on ON millrace.dependency (depends_on, job);

-- Jobs that are over, and whose end those that wait for them have yet to hear of.
CREATE TABLE millrace.finished_dependency (
    key bigint PRIMARY KEY
) WITH (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

-- The newest lines of each job, numbered from its first. Level 1 is the least.
CREATE TABLE millrace.log (
    key     bigint   NOT NULL,
    at      timestamptz(3) NOT NULL,
    line    integer  NOT NULL CHECK (line >= 1),
    n       integer  NOT NULL CHECK (n >= 1),
    level   smallint NOT NULL CHECK (level BETWEEN 1 AND 4),
    message text     NOT NULL,
    fields  json     CHECK (json_typeof(fields) = 'object'),
    PRIMARY KEY (key, line)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0
);

-- Jobs that ended long ago, of which the feed has been told that they will be removed.
CREATE TABLE millrace.stale (
    key bigint PRIMARY KEY,
    at  timestamptz(3) NOT NULL
);

-- Names are free again, whose rows are locked: of the jobs that were moved away for the sake of
-- each, the most urgent comes back. They are looked for after the rows are gone, because who moves
-- a job away holds the row of its key meanwhile.
CREATE FUNCTION millrace.free_locks(tenants integer[], names text[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $free$
#variable_conflict use_column
BEGIN
    DELETE FROM millrace.lock AS lock
    USING unnest(tenants, names) AS free (tenant, name)
    WHERE lock.tenant = free.tenant AND lock.name = free.name;

    WITH next AS MATERIALIZED (
        SELECT first.key
        FROM unnest(tenants, names) AS free (tenant, name)
        CROSS JOIN LATERAL (
            SELECT blocked.key
            FROM millrace.blocked AS blocked
            WHERE blocked.gate = -1
              AND blocked.tenant = free.tenant
              AND blocked.concurrency = free.name
            ORDER BY blocked.priority, blocked.rank, blocked.key
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) AS first
    ),
    taken AS (
        DELETE FROM millrace.blocked AS blocked
        USING next
        WHERE blocked.key = next.key
        RETURNING blocked.*
    )
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    FROM taken;
END
$free$;

-- Runs have ended, and with them everything that they had. Answers whether they had anything.
CREATE FUNCTION millrace.release_job_locks(jobs bigint[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $end$
#variable_conflict use_column
DECLARE
    tenants integer[];
    names   text[];
BEGIN
    SELECT array_agg(tenant), array_agg(name)
    INTO tenants, names
    FROM (
        SELECT tenant, name
        FROM millrace.lock
        WHERE job = ANY (jobs)
        ORDER BY tenant, name
        FOR UPDATE
    ) AS own;
    IF tenants IS NULL THEN
        RETURN false;
    END IF;
    PERFORM millrace.free_locks(tenants, names);
    RETURN true;
END
$end$;

-- Jobs are over: they wait for nobody, and those that wait for them have yet to hear of it. Answers
-- whether anybody does.
CREATE FUNCTION millrace.end_jobs(keys bigint[])
RETURNS boolean
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
SET jit = off
AS $end$
#variable_conflict use_column
BEGIN
    DELETE FROM millrace.dependency WHERE job = ANY (keys);
    INSERT INTO millrace.finished_dependency (key)
    SELECT DISTINCT depends_on
    FROM millrace.dependency
    WHERE depends_on = ANY (keys)
    ORDER BY depends_on
    ON CONFLICT (key) DO NOTHING;
    RETURN FOUND;
END
$end$;

-- Takes a batch of due jobs and writes its lease. Candidates are locked where they lie and in their
-- order, never more than asked of a lane; SKIP LOCKED lets workers claim side by side. What a lane
-- offers beyond the limit is let go at the commit, untouched.
--
-- A job whose concurrency key is taken is passed over, and so are all but the most urgent of a key
-- that is free. Where that leaves room, the lanes are looked at again, further each time, but not
-- for ever: without what was found before, and without keys whose most urgent job is known, because
-- it comes before all that was not looked at. The keys are taken at last and in their order, after
-- the worker's row was locked; who was a moment too late goes without. A claim that meets no key
-- pays nothing for all this.
--
-- A scan begins at the low-water marks that the caller knows: each stretch of the index goes from
-- its mark to the next marked priority, and the first of a lane from its beginning. A lane without
-- marks is looked at as a whole.
--
-- The first row is about the batch and has no id: the number of the lease as its key, the lists of
-- the lease in its order as its payload, or only whether the worker is lost. The others are its
-- jobs, in any order. What many of them have in common comes as one text, so that the caller reads
-- it once.
CREATE OR REPLACE FUNCTION millrace.claim_batch(
    claimer uuid, proof text, in_lanes integer[], of_types integer[], of_tenants integer[],
    to_prefetch boolean, most integer, mark_lanes integer[], mark_priorities integer[],
    mark_ranks bigint[], mark_keys bigint[], mark_ends integer[], given timestamptz
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
    ns         integer[];
    tries      integer[];
    crashes    integer[];
    taken      integer;
    is_keyed   boolean := false;
    is_cut     boolean;
    width      integer := most;
    passed     bigint[] := '{}';
    known      text[];
    others     bigint[];
    far_urgent integer;
    far_rank   bigint;
    far_key    bigint;
BEGIN
    SELECT worker.quiet,
           ARRAY(
               SELECT gate.name FROM millrace.gate WHERE gate.until IS NULL OR gate.until > moment
           ) AS closed,
           CASE
               WHEN in_lanes IS NULL THEN ARRAY(
                   SELECT name.id FROM millrace.interned_name AS name WHERE name.kind = 3
               )
               -- What this transaction has locked is not skipped: no lane may be looked at twice.
               ELSE ARRAY(SELECT DISTINCT named.lane FROM unnest(in_lanes) AS named (lane))
           END AS lanes
    INTO asker
    FROM millrace.worker AS worker
    WHERE worker.id = claimer
      AND worker.until > moment
      AND worker.protocol >= (
          SELECT meta.value::integer FROM millrace.meta AS meta WHERE meta.name = 'min_protocol'
      );
    lost := NOT FOUND;
    IF lost OR asker.quiet THEN
        RETURN NEXT;
        RETURN;
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
            SELECT lane, 0, 0, 0, 2147483647
            FROM unnest(asker.lanes) AS other (lane)
            WHERE lane <> ALL (mark_lanes)
            ORDER BY lane, priority
        ) AS stretch;
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
            SELECT array_agg(place) AS places, array_agg(key) AS keys,
                   array_agg(priority) AS urgency, array_agg(rank) AS ranks, array_agg(n) AS ns,
                   array_agg(tries) AS tries, array_agg(crashes) AS crashes,
                   bool_or(has_key) AS is_keyed
            INTO due
            FROM (
                SELECT ctid AS place, key, priority, rank, n, tries, crashes,
                       concurrency IS NOT NULL AS has_key
                FROM millrace.ready
                WHERE lane = lanes[turn]
                  AND (priority, rank, key) >= (
                      coalesce(priorities[turn], 0), coalesce(from_ranks[turn], 0),
                      coalesce(from_keys[turn], 0)
                  )
                  AND priority < coalesce(ends[turn], 2147483647)
                  AND (of_types IS NULL OR type = ANY (of_types))
                  AND (of_tenants IS NULL OR tenant = ANY (of_tenants))
                  AND (NOT to_prefetch OR crashes = 0)
                  AND type <> ALL (asker.closed)
                  AND tenant <> ALL (asker.closed)
                  AND (concurrency IS NULL OR (
                      NOT to_prefetch
                      AND NOT EXISTS (
                          SELECT 1
                          FROM millrace.lock AS lock
                          WHERE lock.tenant = ready.tenant AND lock.name = ready.concurrency
                      )
                      AND (known IS NULL OR tenant || ' ' || concurrency <> ALL (known))
                  ))
                  AND (round = 1 OR key <> ALL (passed))
                ORDER BY priority, rank, key
                LIMIT room
                FOR UPDATE SKIP LOCKED
            ) AS row;
            CONTINUE WHEN due.keys IS NULL;
            lane_count := lane_count + (room = width)::integer;
            room := room - cardinality(due.keys);
            is_keyed := is_keyed OR due.is_keyed;
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
        EXIT WHEN NOT is_keyed;

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
            JOIN millrace.ready AS ready ON ready.key = due.key
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
    -- An idle worker writes nothing.
    IF keys IS NULL THEN
        RETURN NEXT;
        RETURN;
    END IF;

    IF lane_count > 1 OR is_keyed THEN
        SELECT array_agg(place), array_agg(key), array_agg(rank), array_agg(n), array_agg(tried),
               array_agg(crashed)
        INTO places, keys, ranks, ns, tries, crashes
        FROM (
            SELECT *
            FROM unnest(places, urgency, keys, ranks, ns, tries, crashes)
                AS due (place, priority, key, rank, n, tried, crashed)
            ORDER BY priority, rank, key
            LIMIT most
        ) AS due;
    END IF;

    -- Payloads beyond what a worker can bear at once stay where they are, but one job always goes.
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

    -- A rescuer that has taken the worker away is waited for, and then nothing is claimed in its
    -- name: what was locked above is let go at the commit.
    IF is_keyed THEN
        PERFORM FROM millrace.worker WHERE id = claimer FOR KEY SHARE;
        IF NOT FOUND THEN
            RETURN NEXT;
            RETURN;
        END IF;
        WITH taken AS (
            INSERT INTO millrace.lock (job, n, tenant, name)
            SELECT due.key, due.n, ready.tenant, ready.concurrency
            FROM unnest(keys, ns) AS due (key, n)
            JOIN millrace.ready AS ready ON ready.key = due.key
            WHERE ready.concurrency IS NOT NULL
            ORDER BY ready.tenant, ready.concurrency COLLATE "C"
            ON CONFLICT (tenant, name) DO NOTHING
            RETURNING job
        )
        SELECT array_agg(place), array_agg(key), array_agg(rank), array_agg(n), array_agg(tried),
               array_agg(crashed)
        INTO places, keys, ranks, ns, tries, crashes
        FROM (
            SELECT due.*
            FROM unnest(places, keys, ranks, ns, tries, crashes)
                WITH ORDINALITY AS due (place, key, rank, n, tried, crashed, turn)
            JOIN millrace.ready AS ready ON ready.key = due.key
            LEFT JOIN taken ON taken.job = due.key
            WHERE ready.concurrency IS NULL OR taken.job IS NOT NULL
            ORDER BY due.turn
        ) AS due;
        IF keys IS NULL THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END IF;
    WITH alive AS MATERIALIZED (
        SELECT FROM millrace.worker WHERE id = claimer FOR KEY SHARE
    ),
    leased AS (
        INSERT INTO millrace.lease (secret, worker, keys, ns, ranks, starts, claimed_at)
        SELECT proof, claimer, keys, ns, ranks,
               array_fill(CASE WHEN NOT to_prefetch THEN moment END, ARRAY[cardinality(keys)]),
               moment
        FROM alive
        RETURNING number
    ),
    gone AS (
        DELETE FROM millrace.ready
        WHERE ctid = ANY (places)
          AND EXISTS (SELECT FROM leased)
    ),
    told AS (
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

    payload := json_build_array(keys, ranks, ns, tries, crashes);
    RETURN NEXT;
    RETURN QUERY
    SELECT false, job.key, job.id, millrace.ms_of(job.created_at),
           concat_ws(
               ' ', job.type, job.tenant, job.lane, job.priority, job.max_attempts, job.flags,
               job.timeout_ms
           ),
           job.payload, job.payload_version, job.correlation, job.parent, job.concurrency, job.tags
    FROM millrace.job AS job
    WHERE job.key = ANY (keys);

    -- A place without a job, which only a foreign hand can make: it must not stay in the lease.
    GET DIAGNOSTICS taken = ROW_COUNT;
    IF taken < cardinality(keys) THEN
        UPDATE millrace.lease AS lease
        SET keys = real.keys, ns = real.ns, ranks = real.ranks, starts = real.starts
        FROM (
            SELECT array_agg(run.key) AS keys, array_agg(run.n) AS ns, array_agg(run.rank) AS ranks,
                   array_fill(
                       CASE WHEN NOT to_prefetch THEN moment END, ARRAY[count(*)::integer]
                   ) AS starts
            FROM unnest(keys, ns, ranks) AS run (key, n, rank)
            JOIN millrace.job AS job ON job.key = run.key
        ) AS real
        WHERE lease.number = claim_batch.key
          AND real.keys IS NOT NULL;
        IF NOT FOUND THEN
            DELETE FROM millrace.lease WHERE number = claim_batch.key;
        END IF;
    END IF;
END
$claim$;

-- Ends runs that have succeeded: the ledger rows, fenced by a share lock on the leases, in the
-- order of their numbers. A rescuer that holds a lease is waited for and then found to have deleted
-- it. A lease goes with its last open run; of two settlers that end its last runs at the same
-- moment neither sees the other, and a later heartbeat takes the lease away. A run that somebody
-- else has ended under the same lease makes the whole batch fail: it hardly ever happens, and to
-- look for it with every row would cost a third more. Answers the keys of those that were accepted,
-- whether exclusive names have become free, and whether others wait for one of these jobs. One look
-- at the stretch in which their keys lie spares most batches the looks for each of them.
CREATE FUNCTION millrace.settle_done(
    leases bigint[], secrets text[], places integer[], keys bigint[], ns integer[], tries integer[],
    crashes integer[], states smallint[], results text[], given timestamptz,
    OUT accepted bigint[], OUT freed boolean, OUT awaited boolean
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
    low    bigint;
    high   bigint;
BEGIN
    accepted := '{}';
    freed := false;
    awaited := false;
    FOR held IN
        SELECT lease.number, lease.worker, lease.claimed_at, lease.keys, lease.ns, lease.starts,
               proof.place
        FROM unnest(leases, secrets) WITH ORDINALITY AS proof (number, secret, place)
        JOIN millrace.lease AS lease
            ON lease.number = proof.number AND lease.secret = proof.secret
        WHERE lease.number = ANY (leases)
        ORDER BY lease.number
        FOR KEY SHARE OF lease
    LOOP
        WITH fresh AS (
            INSERT INTO millrace.attempt (
                key, finished_at, n, tries, crashes, outcome, state, claimed_at, started_at, fence,
                worker, result
            )
            SELECT item.key, moment, item.n, item.tries, item.crashes, 1, item.state,
                   held.claimed_at, run.start, held.number, held.worker, item.result::json
            FROM unnest(places, keys, ns, tries, crashes, states, results)
                AS item (place, key, n, tries, crashes, state, result)
            JOIN unnest(held.keys, held.ns, held.starts) AS run (key, n, start)
                ON run.key = item.key AND run.n = item.n
            WHERE item.place = held.place
              AND run.start IS NOT NULL
            ORDER BY item.key
            RETURNING key
        )
        SELECT array_agg(key) INTO done FROM fresh;
        accepted := accepted || done;
        -- When more of it was settled before, its last runs are looked at first, because they are
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
    END LOOP;

    IF cardinality(accepted) > 0 THEN
        WITH told AS (
            INSERT INTO millrace.event_outbox (at, kind, keys) VALUES (moment, 3, accepted)
        ),
        unkeyed AS (
            DELETE FROM millrace.dedup WHERE job = ANY (accepted)
        )
        DELETE FROM millrace.cancel_request WHERE key = ANY (accepted);

        low := millrace.least_of(accepted);
        high := millrace.greatest_of(accepted);
        IF EXISTS (SELECT 1 FROM millrace.lock WHERE job BETWEEN low AND high) THEN
            freed := millrace.release_job_locks(accepted);
        END IF;
        IF EXISTS (SELECT 1 FROM millrace.dependency WHERE depends_on BETWEEN low AND high) THEN
            awaited := millrace.end_jobs(accepted);
        END IF;
    END IF;
END
$settle$;

-- Workers of the release before end what they have through this one.
CREATE OR REPLACE FUNCTION millrace.settle_batch(
    leases bigint[], secrets text[], places integer[], keys bigint[], ns integer[], tries integer[],
    crashes integer[], states smallint[], results text[], given timestamptz
)
RETURNS bigint[]
LANGUAGE sql VOLATILE
RETURN (
    millrace.settle_done(
        leases, secrets, places, keys, ns, tries, crashes, states, results, given
    )
).accepted;

-- They would not see which keys are taken, so they are given no more work.
UPDATE millrace.meta SET value = '2' WHERE name = 'min_protocol';
