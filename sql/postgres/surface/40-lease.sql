-- A task that a session takes is a worker with one lease: its row in `worker` has the role of the
-- session in `taken_by`, and `until` is the end of the lease (decision 38).

-- Refuses the length of a lease that is too short or too long.
CREATE FUNCTION millrace.check_lease(lease interval) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $check$
BEGIN
    IF lease IS NULL OR NOT lease BETWEEN interval '1 second' AND interval '1 day' THEN
        RAISE EXCEPTION 'lease must be an interval from 1 second to 1 day' USING ERRCODE = '22023';
    END IF;
END
$check$;

-- Bounds how long the client of this transaction may idle. A call about a lease locks rows that
-- other claims wait for, such as those of limits and keys, until its transaction ends: one session
-- that forgets its transaction would stop the claims of the installation. The server then ends the
-- session (25P03), and its transaction is undone. Local to the transaction; a shorter limit of the
-- session stays.
CREATE FUNCTION millrace.bound_idle_time() RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $bound$
DECLARE
    longest CONSTANT interval := '10 seconds';
    own     interval := current_setting('idle_in_transaction_session_timeout')::interval;
BEGIN
    IF own = '0' OR own > longest THEN
        PERFORM set_config(
            'idle_in_transaction_session_timeout',
            1000 * extract(epoch FROM longest)::integer || 'ms', true
        );
    END IF;
END
$bound$;

-- Removes workers that hold nothing any more, with their permits. Their rows and the rows of the
-- limits are locked.
CREATE FUNCTION millrace.drop_taken(gone uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $drop$
BEGIN
    IF EXISTS (SELECT FROM millrace.permit AS permit WHERE permit.worker = ANY (gone)) THEN
        UPDATE millrace.limit_setting AS setting
        SET used = greatest(0, setting.used - own.held)
        FROM (
            SELECT permit.limit_id, sum(permit.held) AS held
            FROM millrace.permit AS permit
            WHERE permit.worker = ANY (gone)
            GROUP BY permit.limit_id
        ) AS own
        WHERE setting.id = own.limit_id;
        DELETE FROM millrace.permit AS permit WHERE permit.worker = ANY (gone);
        PERFORM millrace.wake_listeners('ready');
    END IF;
    DELETE FROM millrace.worker AS worker WHERE worker.id = ANY (gone);
END
$drop$;

-- Locks the limits of which these workers hold permits, in the order of all transactions.
CREATE FUNCTION millrace.lock_taken_permits(holders uuid[]) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $lock$
    SELECT FROM millrace.limit_setting AS setting
    WHERE setting.id = ANY (ARRAY(
        SELECT permit.limit_id FROM millrace.permit AS permit WHERE permit.worker = ANY (holders)
    ))
    ORDER BY setting.id
    FOR UPDATE
$lock$;

-- Ends the runs of leases from SQL that have expired: each run is a crash in the ledger that costs
-- no attempt and is not counted among the crashes of the job, and its task is available at once; a
-- task with a cancel request is cancelled. Leases of jobs that a crash must end (`onOrphan`) are
-- left to the rescuer of a registered worker. Returns how many tasks were ended. The only place
-- where a lease from SQL expires. `given` is the clock of tests: who may pass one ends living
-- leases, so no role but the owner may call this.
CREATE FUNCTION millrace.end_expired_leases(most integer, given timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $sweep$
#variable_conflict use_column
DECLARE
    moment  timestamptz(3) := millrace.clock_at(given);
    durable text := millrace.sync_commit();
    gone    uuid[];
    ended   bigint[];
    over    bigint[];
BEGIN
    IF NOT EXISTS (
        SELECT FROM millrace.worker AS worker
        WHERE worker.taken_by IS NOT NULL AND worker.until <= moment
    ) THEN
        RETURN 0;
    END IF;
    SELECT array_agg(expired.id) INTO gone
    FROM (
        SELECT worker.id
        FROM millrace.worker AS worker
        WHERE worker.taken_by IS NOT NULL
          AND worker.until <= moment
          AND NOT EXISTS (
              SELECT
              FROM millrace.lease AS lease
              JOIN millrace.job AS job ON job.key = lease.low
              WHERE lease.worker = worker.id AND job.flags & 1 = 1
          )
        ORDER BY worker.until, worker.id
        LIMIT least(greatest(most, 0), 1000)
        FOR UPDATE SKIP LOCKED
    ) AS expired;
    IF gone IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM millrace.lock_taken_permits(gone);
    PERFORM FROM millrace.lease WHERE worker = ANY (gone) ORDER BY number FOR UPDATE;

    WITH run AS MATERIALIZED (
        SELECT run.lease, run.key, run.n, run.rank, run.claimed_at, run.started_at, run.worker,
               worker.until, job.lane, job.priority, job.type, job.tenant, job.concurrency,
               coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes,
               request.key IS NOT NULL AS is_asked, request.reason
        FROM millrace.leased_run AS run
        JOIN millrace.worker AS worker ON worker.id = run.worker
        JOIN millrace.job AS job ON job.key = run.key
        LEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1
        LEFT JOIN millrace.cancel_request AS request ON request.key = run.key
        WHERE run.worker = ANY (gone)
          AND NOT EXISTS (
              SELECT FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n
          )
    ),
    written AS (
        INSERT INTO millrace.attempt (
            key, finished_at, n, tries, crashes, outcome, state, claimed_at, started_at, expires_at,
            fence, worker, next_run_at, error_class, error, reason
        )
        SELECT run.key, moment, run.n, run.tries, run.crashes, 4,
               CASE WHEN run.is_asked THEN 7 END, run.claimed_at,
               coalesce(run.started_at, run.claimed_at), run.until, run.lease, run.worker,
               CASE WHEN NOT run.is_asked THEN moment END, 2,
               '{"class":"retryable","name":"LeaseExpired","message":"The lease expired."}',
               CASE WHEN run.is_asked THEN run.reason END
        FROM run
        ORDER BY run.key
    ),
    counted AS (
        INSERT INTO millrace.minute_outbox (at, type, lane, outcome, waits, runs)
        SELECT moment, run.type, run.lane, 4,
               array_agg(millrace.duration_ms(millrace.ms_of(run.claimed_at) - run.rank / 1000)),
               array_agg(millrace.duration_ms(
                   millrace.ms_of(moment) - millrace.ms_of(run.claimed_at)
               ))
        FROM run
        GROUP BY run.type, run.lane
    ),
    returned AS (
        INSERT INTO millrace.ready (
            key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
        )
        SELECT run.key, run.rank, run.lane, run.priority, run.type, run.tenant, run.n + 1,
               run.tries, run.crashes, run.concurrency
        FROM run
        WHERE NOT run.is_asked
    )
    SELECT array_agg(run.key ORDER BY run.key),
           array_agg(run.key ORDER BY run.key) FILTER (WHERE run.is_asked)
    INTO ended, over
    FROM run;

    DELETE FROM millrace.run_start
    WHERE lease IN (SELECT number FROM millrace.lease WHERE worker = ANY (gone));
    DELETE FROM millrace.lease WHERE worker = ANY (gone);
    IF ended IS NOT NULL THEN
        PERFORM millrace.release_job_locks(ended);
        INSERT INTO millrace.event_outbox (at, kind, keys)
        SELECT moment, told.kind, told.keys
        FROM (
            VALUES (4, ARRAY(
                SELECT key FROM unnest(ended) AS key WHERE key <> ALL (coalesce(over, '{}'))
            )), (6, over)
        ) AS told (kind, keys)
        WHERE cardinality(told.keys) > 0;
    END IF;
    IF over IS NOT NULL THEN
        DELETE FROM millrace.dedup WHERE job = ANY (over);
        DELETE FROM millrace.cancel_request WHERE key = ANY (over);
        PERFORM millrace.end_jobs(over);
    END IF;
    PERFORM millrace.drop_taken(gone);
    PERFORM millrace.wake_listeners('ready');
    RETURN coalesce(cardinality(ended), 0);
END
$sweep$;

-- Ends leases that have expired by the clock of the server.
CREATE FUNCTION millrace.sweep_expired_leases(most integer DEFAULT 100) RETURNS integer
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN millrace.end_expired_leases(most, NULL);

-- Moves due tasks from `scheduled` to `ready`, longest overdue first, as the promoter of a
-- registered worker does, without tasks that are left to it. Returns how many. `given` is the
-- clock of tests, as above.
CREATE FUNCTION millrace.move_due_tasks(most integer, given timestamptz) RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $promote$
#variable_conflict use_column
DECLARE
    moment timestamptz := millrace.clock_at(given);
    moved  integer;
BEGIN
    WITH due AS MATERIALIZED (
        SELECT scheduled.key
        FROM millrace.scheduled AS scheduled
        WHERE scheduled.run_at <= moment AND NOT millrace.is_left(scheduled.key)
        ORDER BY scheduled.run_at, scheduled.key
        LIMIT least(greatest(most, 0), 1000)
        FOR UPDATE SKIP LOCKED
    ),
    taken AS (
        DELETE FROM millrace.scheduled AS scheduled
        USING due
        WHERE scheduled.key = due.key
        RETURNING scheduled.*
    )
    INSERT INTO millrace.ready (
        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, n, tries, crashes,
           concurrency
    FROM taken
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS moved = ROW_COUNT;
    RETURN moved;
END
$promote$;

-- Moves tasks that are due by the clock of the server.
CREATE FUNCTION millrace.promote_due_tasks(most integer DEFAULT 50) RETURNS integer
    LANGUAGE sql VOLATILE SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp
    RETURN millrace.move_due_tasks(most, NULL);

-- Claims the most urgent task that is available for a new worker with one lease. The answer has its
-- id, fence and token; null: there is none.
CREATE FUNCTION millrace.claim_task(
    lease interval, own text, of_types integer[], of_tenants integer[]
) RETURNS millrace.leased_task
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $claim$
#variable_conflict use_column
DECLARE
    length    CONSTANT interval := claim_task.lease;
    moment    timestamptz := millrace.clock_at(NULL);
    claimer   uuid := gen_random_uuid();
    proof     text := replace(gen_random_uuid()::text, '-', '');
    fence     bigint;
    task_key  bigint;
    task      millrace.leased_task;
BEGIN
    INSERT INTO millrace.worker (
        id, process, joined_at, until, renewed_at, beat_ms, beats, leases_at, pid, protocol, quiet,
        host, version, types, lanes, slots, lane_slots, tenant, taken_by
    )
    VALUES (
        claimer, claimer, moment, moment + length, moment, extract(epoch FROM length) * 1000, 0,
        moment, pg_backend_pid(), 1, false, 'sql', 'sql', '[]', '[]', 1, '{}', own, session_user
    );
    FOR fence, task_key IN
        SELECT CASE WHEN batch.id IS NULL THEN batch.key END,
               CASE WHEN batch.id IS NOT NULL THEN batch.key END
        FROM millrace.claim_batch(
            claimer, proof, NULL, of_types, of_tenants, false, 1, NULL, NULL, NULL, NULL, NULL,
            NULL, NULL, NULL, NULL, NULL, NULL, NULL
        ) AS batch
    LOOP
        IF task_key IS NOT NULL THEN
            task.task_id := task_key;
        ELSIF fence IS NOT NULL THEN
            task.fence := fence;
        END IF;
    END LOOP;
    IF task.task_id IS NULL OR task.fence IS NULL THEN
        PERFORM millrace.lock_taken_permits(ARRAY[claimer]);
        PERFORM millrace.drop_taken(ARRAY[claimer]);
        RETURN NULL;
    END IF;
    -- The claim may have waited for a limit. The lease begins now.
    UPDATE millrace.worker AS worker
    SET until = millrace.clock_at(NULL) + length
    WHERE worker.id = claimer;
    task.token := task.fence || '-' || proof;
    RETURN task;
END
$claim$;

-- Leaves a task to workers in TypeScript, because jsonb cannot hold its payload. The task is put
-- off for a minute, and a note says why; move_due_tasks passes a task with such a note, which has
-- no lease (0), so that only the promoter of a registered worker moves it. A dead letter would need
-- the payload in its request, where the same text cannot be read either.
CREATE FUNCTION millrace.leave_task(task bigint, problem text) RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $leave$
#variable_conflict use_column
DECLARE
    moment timestamptz(3) := millrace.clock_at(NULL);
BEGIN
    WITH from_ready AS (
        DELETE FROM millrace.ready AS place
        WHERE place.key = leave_task.task
        RETURNING place.key, place.lane, place.priority, place.type, place.tenant, place.n,
                  place.tries, place.crashes, place.concurrency
    ),
    from_blocked AS (
        DELETE FROM millrace.blocked AS place
        WHERE place.key = leave_task.task
        RETURNING place.key, place.lane, place.priority, place.type, place.tenant, place.n,
                  place.tries, place.crashes, place.concurrency
    )
    INSERT INTO millrace.scheduled (
        key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency
    )
    SELECT place.key, moment + interval '1 minute', place.lane, place.priority, place.type,
           place.tenant, place.n, place.tries, place.crashes, place.concurrency
    FROM (SELECT * FROM from_ready UNION ALL SELECT * FROM from_blocked) AS place;
    IF FOUND AND NOT millrace.is_left(leave_task.task) THEN
        INSERT INTO millrace.task_error (task_id, failed_at, error_message, fence, by)
        VALUES (
            leave_task.task, moment,
            'a worker in TypeScript must run this task: jsonb cannot hold its payload: ' || problem,
            0, session_user
        );
    END IF;
END
$leave$;

-- Whether a task was left to workers in TypeScript.
CREATE FUNCTION millrace.is_left(task bigint) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path = pg_catalog, pg_temp
    RETURN EXISTS (
        SELECT FROM millrace.task_error AS noted
        WHERE noted.task_id = is_left.task AND noted.fence = 0
    );

-- Takes the most urgent task that is available, for the length of a lease: by priority, due time
-- and id. Null: there is none. Gates, limits, keys, breakers and fair lanes count as for all
-- workers. The transaction should end before the work begins. A payload that jsonb cannot hold
-- undoes its claim, and the next task is looked for.
CREATE FUNCTION millrace.dequeue_next_available_task(
    types text[] DEFAULT NULL, lease interval DEFAULT '5 minutes'
) RETURNS millrace.leased_task
LANGUAGE plpgsql VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $dequeue$
#variable_conflict use_column
DECLARE
    passed_max CONSTANT integer := 20;
    durable   text := millrace.sync_commit();
    own       text := millrace.session_tenant();
    of_types  integer[];
    of_tenants integer[];
    problem   text;
    task      millrace.leased_task;
BEGIN
    PERFORM millrace.check_lease(dequeue_next_available_task.lease);
    PERFORM millrace.bound_idle_time();
    PERFORM millrace.end_expired_leases(20, NULL);
    PERFORM millrace.move_due_tasks(50, NULL);
    IF NOT EXISTS (SELECT FROM millrace.ready)
            AND NOT EXISTS (SELECT FROM millrace.blocked WHERE gate < -2) THEN
        RETURN NULL;
    END IF;
    IF types IS NOT NULL THEN
        of_types := ARRAY(
            SELECT name.id
            FROM millrace.interned_name AS name
            WHERE name.kind = 1 AND name.text = ANY (types)
        );
    END IF;
    IF own IS NOT NULL THEN
        of_tenants := ARRAY(
            SELECT name.id
            FROM millrace.interned_name AS name
            WHERE name.kind = 2 AND name.text = own
        );
    END IF;
    FOR turn IN 1 .. passed_max LOOP
        task := NULL;
        BEGIN
            task := millrace.claim_task(
                dequeue_next_available_task.lease, own, of_types, of_tenants
            );
            IF task.task_id IS NULL THEN
                RETURN NULL;
            END IF;
            SELECT type.text, job.payload::jsonb, job.created_at, job.run_at
            INTO task.task_type, task.payload, task.enqueued_at, task.scheduled_at
            FROM millrace.job AS job
            JOIN millrace.interned_name AS type ON type.id = job.type
            WHERE job.key = task.task_id;
            RETURN task;
        EXCEPTION
            WHEN data_exception OR statement_too_complex THEN
                IF task.task_id IS NULL THEN
                    RAISE;
                END IF;
                problem := SQLERRM;
        END;
        PERFORM millrace.leave_task(task.task_id, problem);
    END LOOP;
    RETURN NULL;
END
$dequeue$;

-- The living lease by which this session may act on a task, with its worker locked. With a token:
-- the lease that the token proves. Without one: a lease that a session of the same role has taken
-- with dequeue_next_available_task. Null: there is no such lease, or it has expired.
CREATE FUNCTION millrace.own_lease(
    task bigint, proof text, OUT number bigint, OUT secret text, OUT worker uuid, OUT n integer,
    OUT taken_by text, OUT until timestamptz
)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $own$
#variable_conflict use_column
DECLARE
    fence bigint;
BEGIN
    IF proof ~ '^[0-9]{1,18}-[0-9a-f]{32}$' THEN
        fence := split_part(proof, '-', 1)::bigint;
    ELSIF proof IS NOT NULL THEN
        RAISE EXCEPTION 'the token is none that dequeue_next_available_task has answered'
            USING ERRCODE = '22023';
    END IF;
    IF fence IS NOT NULL THEN
        SELECT holder.id, holder.taken_by, holder.until
        INTO worker, taken_by, until
        FROM millrace.lease AS lease
        JOIN millrace.worker AS holder ON holder.id = lease.worker
        WHERE lease.number = fence
          AND lease.secret = split_part(proof, '-', 2)
          AND lease.keys @> ARRAY[task]
        FOR UPDATE OF holder;
    ELSE
        SELECT holder.id, holder.taken_by, holder.until
        INTO worker, taken_by, until
        FROM millrace.worker AS holder
        JOIN millrace.lease AS lease ON lease.worker = holder.id
        WHERE holder.taken_by = session_user AND lease.low = task AND lease.high = task
        ORDER BY lease.number DESC
        LIMIT 1
        FOR UPDATE OF holder;
    END IF;
    IF worker IS NULL OR until <= millrace.clock_at(NULL) THEN
        number := NULL;
        RETURN;
    END IF;
    -- A statement of its own, after the lock: a sweep may have ended the lease meanwhile.
    SELECT lease.number, lease.secret, lease.ns[array_position(lease.keys, task)]
    INTO number, secret, n
    FROM millrace.lease AS lease
    WHERE lease.worker = own_lease.worker
      AND lease.keys @> ARRAY[task]
      AND (fence IS NULL OR lease.number = fence)
    ORDER BY lease.number DESC
    LIMIT 1;
END
$own$;

-- Says why a session may not act on a task.
CREATE FUNCTION millrace.refuse_lease(task bigint) RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $refuse$
BEGIN
    IF NOT EXISTS (SELECT FROM millrace.job AS job WHERE job.key = task) THEN
        RAISE EXCEPTION 'there is no task %', task USING ERRCODE = 'MR016';
    END IF;
    RAISE EXCEPTION 'this session holds no living lease of task %', task
        USING ERRCODE = 'MR015',
              HINT = 'The lease has expired, or another worker holds it. Leases of registered '
                  || 'workers need their token.';
END
$refuse$;

-- Completes a task, with a result. A completed task stays as it is, so that a repetition is
-- harmless.
CREATE FUNCTION millrace.complete_task(
    task_id bigint, token text DEFAULT NULL, result jsonb DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET jit = off
AS $complete$
#variable_conflict use_column
DECLARE
    held     record;
    before   record;
    settled  record;
BEGIN
    IF octet_length(complete_task.result::text) > 1000000 THEN
        RAISE EXCEPTION 'the result has more than 1000000 bytes' USING ERRCODE = '22023';
    END IF;
    PERFORM millrace.bound_idle_time();
    SELECT * INTO held FROM millrace.own_lease(complete_task.task_id, complete_task.token);
    IF held.number IS NULL THEN
        IF EXISTS (
            SELECT
            FROM millrace.attempt AS done
            WHERE done.key = complete_task.task_id AND done.state IN (4, 5)
        ) THEN
            RETURN;
        END IF;
        PERFORM millrace.refuse_lease(complete_task.task_id);
    END IF;
    PERFORM millrace.lock_taken_permits(ARRAY[held.worker]);
    SELECT last.tries, last.crashes INTO before
    FROM millrace.attempt AS last
    WHERE last.key = complete_task.task_id AND last.n = held.n - 1;
    SELECT * INTO settled
    FROM millrace.settle_done(
        ARRAY[held.number], ARRAY[held.secret], ARRAY[1], ARRAY[complete_task.task_id],
        ARRAY[held.n], ARRAY[coalesce(before.tries, 0) + 1], ARRAY[coalesce(before.crashes, 0)],
        ARRAY[4::smallint],
        CASE WHEN complete_task.result IS NOT NULL THEN ARRAY[complete_task.result::text] END,
        NULL, CASE WHEN held.taken_by IS NOT NULL THEN held.until END
    );
    IF cardinality(settled.accepted) = 0 THEN
        PERFORM millrace.refuse_lease(complete_task.task_id);
    END IF;
    IF held.taken_by IS NOT NULL THEN
        PERFORM millrace.drop_taken(ARRAY[held.worker]);
    END IF;
    IF settled.freed THEN
        PERFORM millrace.wake_listeners('ready');
    END IF;
    PERFORM millrace.wake_listeners('final');
END
$complete$;

-- Notes an error of a task, which goes on. A longer message is cut.
CREATE FUNCTION millrace.fail_task(
    task_id bigint, error_message text, token text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $fail$
#variable_conflict use_column
DECLARE
    held record;
BEGIN
    IF coalesce(fail_task.error_message, '') = '' THEN
        RAISE EXCEPTION 'error_message is missing' USING ERRCODE = '22004';
    END IF;
    PERFORM millrace.bound_idle_time();
    SELECT * INTO held FROM millrace.own_lease(fail_task.task_id, fail_task.token);
    IF held.number IS NULL THEN
        PERFORM millrace.refuse_lease(fail_task.task_id);
    END IF;
    INSERT INTO millrace.task_error (task_id, failed_at, error_message, fence, by)
    VALUES (
        fail_task.task_id, millrace.clock_at(NULL),
        CASE WHEN length(fail_task.error_message) > 10000
             THEN left(fail_task.error_message, 9999) || '…' ELSE fail_task.error_message END,
        held.number, session_user
    );
END
$fail$;

-- Extends the lease of a task that was taken from SQL, and returns its new end.
CREATE FUNCTION millrace.heartbeat(
    task_id bigint, lease interval DEFAULT '5 minutes', token text DEFAULT NULL
) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $beat$
#variable_conflict use_column
DECLARE
    held   record;
    moment timestamptz;
    ends   timestamptz;
BEGIN
    PERFORM millrace.check_lease(heartbeat.lease);
    PERFORM millrace.bound_idle_time();
    SELECT * INTO held FROM millrace.own_lease(heartbeat.task_id, heartbeat.token);
    IF held.number IS NULL THEN
        PERFORM millrace.refuse_lease(heartbeat.task_id);
    END IF;
    IF held.taken_by IS NULL THEN
        RAISE EXCEPTION 'a registered worker renews its leases itself' USING ERRCODE = 'MR019';
    END IF;
    moment := millrace.clock_at(NULL);
    UPDATE millrace.worker AS worker
    SET until = moment + heartbeat.lease, renewed_at = moment, beats = worker.beats + 1
    WHERE worker.id = held.worker
    RETURNING worker.until INTO ends;
    RETURN ends;
END
$beat$;

-- Cancels a task: a waiting one at once; of a running one its worker is asked. Answers `cancelled`,
-- `requested`, or the final state that the task already has.
CREATE FUNCTION millrace.cancel(task_id bigint, reason text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql VOLATILE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $cancel$
#variable_conflict use_column
DECLARE
    words   CONSTANT text[] := ARRAY[
        'scheduled', 'queued', 'running', 'completed', 'completed_with_errors', 'failed',
        'cancelled'
    ];
    moment  timestamptz(3) := millrace.clock_at(NULL);
    durable text := millrace.sync_commit();
    own     text := millrace.session_tenant();
    job     record;
    place   record;
    asked   bigint;
BEGIN
    IF length(cancel.reason) NOT BETWEEN 1 AND 2000 THEN
        RAISE EXCEPTION 'reason must have 1 to 2000 characters' USING ERRCODE = '22023';
    END IF;
    SELECT now.key, now.id, now.state, tenant.text AS tenant INTO job
    FROM millrace.job_now AS now
    JOIN millrace.interned_name AS tenant ON tenant.id = now.tenant
    WHERE now.key = cancel.task_id;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no task %', cancel.task_id USING ERRCODE = 'MR016';
    END IF;
    IF job.tenant <> own THEN
        RAISE EXCEPTION 'the role % acts for the tenant % only', session_user, own
            USING ERRCODE = 'MR017';
    END IF;
    IF job.state > 3 THEN
        RETURN words[job.state];
    END IF;
    WITH from_ready AS (
        DELETE FROM millrace.ready AS place WHERE place.key = cancel.task_id
        RETURNING place.n, place.tries, place.crashes
    ),
    from_scheduled AS (
        DELETE FROM millrace.scheduled AS place WHERE place.key = cancel.task_id
        RETURNING place.n, place.tries, place.crashes
    ),
    from_blocked AS (
        DELETE FROM millrace.blocked AS place WHERE place.key = cancel.task_id
        RETURNING place.n, place.tries, place.crashes
    )
    SELECT * INTO place FROM (
        SELECT * FROM from_ready
        UNION ALL SELECT * FROM from_scheduled
        UNION ALL SELECT * FROM from_blocked
    ) AS taken;
    IF FOUND THEN
        INSERT INTO millrace.attempt (
            key, n, tries, crashes, finished_at, outcome, state, reason
        )
        VALUES (
            cancel.task_id, place.n, place.tries, place.crashes, moment, 5, 7, cancel.reason
        );
        DELETE FROM millrace.dedup AS held WHERE held.job = cancel.task_id;
        DELETE FROM millrace.cancel_request AS request WHERE request.key = cancel.task_id;
        PERFORM millrace.end_jobs(ARRAY[cancel.task_id]);
        INSERT INTO millrace.event_outbox (at, kind, keys)
        VALUES (moment, 6, ARRAY[cancel.task_id]);
        PERFORM millrace.note_cancel(job.id, job.tenant, words[job.state], cancel.reason, false);
        PERFORM millrace.wake_listeners('final');
        RETURN 'cancelled';
    END IF;
    -- Its lease, as every cancel request locks it: a settle under way ends first.
    PERFORM FROM millrace.lease AS lease
    WHERE cancel.task_id BETWEEN lease.low AND lease.high
      AND lease.keys @> ARRAY[cancel.task_id]
    ORDER BY lease.number
    FOR UPDATE;
    SELECT now.state INTO place FROM millrace.job_now AS now WHERE now.key = cancel.task_id;
    IF place.state > 3 THEN
        RETURN words[place.state];
    END IF;
    IF place.state < 3 THEN
        RAISE EXCEPTION 'the task was moving' USING ERRCODE = '40001', HINT = 'Repeat the call.';
    END IF;
    INSERT INTO millrace.cancel_request (key, by, reason, at)
    VALUES (cancel.task_id, session_user, cancel.reason, moment)
    ON CONFLICT (key) DO NOTHING
    RETURNING key INTO asked;
    IF asked IS NOT NULL THEN
        PERFORM millrace.note_cancel(job.id, job.tenant, 'running', cancel.reason, true);
    END IF;
    RETURN 'requested';
END
$cancel$;

-- The audit entry of a cancel, as other callers write it.
CREATE FUNCTION millrace.note_cancel(
    id uuid, tenant text, state text, reason text, is_requested boolean
) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $note$
    INSERT INTO millrace.audit (
        at, tenant, name, actor, reason, subject_kind, subject, before, after
    )
    VALUES (
        millrace.clock_at(NULL), note_cancel.tenant, 'job_cancel_requested', session_user,
        note_cancel.reason, 'job', millrace.job_id_text(note_cancel.id),
        json_build_object('state', note_cancel.state)::text,
        CASE WHEN note_cancel.is_requested
             THEN json_build_object('state', note_cancel.state, 'cancelRequested', true)::text
             ELSE '{"state":"cancelled"}' END
    )
$note$;
