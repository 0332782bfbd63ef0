/** What can go wrong with claims, leases and settlements in the store on PostgreSQL. */
import type { Faults } from "./all.ts";

export const POSTGRES_RUN_FAULTS: Faults = {
  claim: {
    "functions/claim.sql": [
      [
        "SKIP LOCKED is dropped",
        "LIMIT room\n                FOR UPDATE SKIP LOCKED",
        "LIMIT room\n                FOR UPDATE",
      ],
      ["the limit is dropped", "LIMIT room\n", "\n"],
      [
        "due time goes before priority",
        "ORDER BY priority, rank, key\n                LIMIT room",
        "ORDER BY rank, key\n                LIMIT room",
      ],
      ["a closed type is not looked at", "AND type <> ALL (asker.closed)", ""],
      ["a closed tenant is not looked at", "AND tenant <> ALL (asker.closed)", ""],
      ["a closed lane is not looked at", "CONTINUE WHEN lanes[turn] = ANY (asker.closed);", ""],
      ["the filter of types is dropped", "of_types IS NULL OR", "true OR"],
      ["the filter of tenants is dropped", "of_tenants IS NULL OR", "true OR"],
      ["a quiet worker claims on", "IF lost OR asker.quiet OR", "IF lost OR"],
      ["a worker whose lease has run out claims on", "AND worker.until > moment", ""],
      ["the protocol is not looked at", "worker.protocol >= (", "0 <= ("],
      ["an unknown worker is not lost", "lost := NOT FOUND", "lost := false"],
      [
        "jobs that are left are not seen",
        "SELECT FROM millrace.ready WHERE crashes = 0 AND",
        "SELECT FROM millrace.ready WHERE crashes < 0 AND",
      ],
      [
        "crashed jobs that are left are not seen",
        "SELECT FROM millrace.ready WHERE crashes > 0 AND",
        "SELECT FROM millrace.ready WHERE crashes < 0 AND",
      ],
      ["a full claim looks for more", "AND cardinality(keys) < most\n", "\n"],
      ["a prefetch looks for more", "IS NULL AND NOT to_prefetch AND card", "IS NULL AND card"],
      ["a crashed job is one of many", "AND crashes = 0\n", ""],
      ["a lane named twice gives twice", "SELECT DISTINCT named.lane", "SELECT named.lane"],
      ["a lane without marks is forgotten", "WHERE lane <> ALL (mark_lanes)", "WHERE false"],
      ["a stretch begins before its mark", "(priority, rank, key) >= (", "(priority, 0, 0) >= ("],
      ["a stretch has no end", "AND priority < coalesce(ends[turn], 2147483647)", ""],
      ["lanes are not merged", "IF lane_count > 1 OR is_mixed THEN", "IF is_mixed THEN"],
      [
        "lanes are merged by age alone",
        "ORDER BY priority, rank, key\n            LIMIT most",
        "ORDER BY key\n            LIMIT most",
      ],
      ["each lane gives all it may", "LIMIT most\n", "\n"],
      ["payloads weigh nothing", ") > 8000000 THEN", ") > 8000000000 THEN"],
      ["a payload too heavy is never taken", "WHERE turn = 1 OR weight", "WHERE weight"],
      ["a rescuer is not waited for", "WHERE id = claimer FOR KEY SHARE\n", "WHERE id = claimer\n"],
      ["jobs go though no lease has them", "AND EXISTS (SELECT FROM leased)", ""],
      [
        "a claimed job stays claimable",
        "WHERE ctid = ANY (places)\n          AND",
        "WHERE false AND",
      ],
      ["a prefetch starts with its claim", "CASE WHEN NOT to_prefetch THEN moment END", "moment"],
      [
        "a place without a job stays in the lease",
        "IF taken < cardinality(keys) THEN",
        "IF false THEN",
      ],
      [
        "a lease without jobs stays",
        "DELETE FROM millrace.lease WHERE number = claim_batch.key",
        "DELETE FROM millrace.lease WHERE false",
      ],
      [
        "the feed takes a prefetch for a start",
        "FROM leased\n        WHERE NOT to_prefetch",
        "FROM leased",
      ],
      [
        "the timeout is lost",
        "job.timeout_ms\n           ),\n           job.payload",
        "NULL\n           ),\n           job.payload",
      ],
    ],
  },
  startPrefetched: {
    "functions/start.sql": [
      ["the secret is not looked at", "AND lease.secret = proof", ""],
      ["requests to cancel are not seen", "request.key = run.key", "false"],
      ["an ended run starts again", "done.n = run.n", "false"],
      ["a run that started with its claim starts again", "claim.started_at, (", "NULL, ("],
      ["the lock on the lease is dropped", "\n    FOR KEY SHARE;", ";"],
      ["settles are waited for", "\n    FOR KEY SHARE;", "\n    FOR UPDATE;"],
      [
        "a repeated start is told again",
        "FROM started\n        JOIN run ON run.key = started.key",
        "FROM run\n        WHERE NOT run.is_asked",
      ],
      [
        "a start that another call has written is written again",
        "ON CONFLICT DO NOTHING",
        "ON CONFLICT (lease, key) DO UPDATE SET at = excluded.at",
      ],
    ],
  },
  returnPrefetched: {
    narrow_lease: [
      ["the starts of ended runs stay", "AND key <> ALL (:keys::bigint[])", "AND false"],
      ["the starts of runs that stay go", "AND key <> ALL (:keys::bigint[])", ""],
    ],
    own_lease: [["the secret is not looked at", "AND secret = :secret", "AND :secret <> ''"]],
    put_back: [["the place in the order is lost", "job.rank, job.lane", "0, job.lane"]],
  },
  settle: {
    "functions/settle.sql": [
      ["a success ends before its start", "least(item.start, moment)", "item.start"],
      ["the fence is dropped", "FOR KEY SHARE OF lease", ""],
      [
        "leases are locked in another order",
        "ORDER BY lease.number\n        FOR KEY SHARE",
        "ORDER BY lease.number DESC\n        FOR KEY SHARE",
      ],
      ["the secret is not looked at", "AND lease.secret = proof.secret", ""],
      ["any proof will do for any run", "WHERE item.place = held.place", "WHERE true"],
      ["a job that has not begun can succeed", "WHERE item.start IS NOT NULL", ""],
      [
        "the starts of a lease stay",
        "DELETE FROM millrace.run_start WHERE lease = held.number",
        "DELETE FROM millrace.run_start WHERE false",
      ],
      ["the number of the run is not looked at", "AND run.n = item.n", ""],
      ["results are lost", "item.result::json", "NULL"],
      [
        "a lease goes before its last job",
        "cardinality(held.keys) = cardinality(done)",
        "cardinality(done) > 0",
      ],
      [
        "the lease never goes",
        "WHERE number = held.number",
        "WHERE false AND number = held.number",
      ],
      [
        "a lease that is settled in parts never goes",
        "cardinality(done) OR NOT EXISTS (",
        "cardinality(done) OR false AND NOT EXISTS (",
      ],
      [
        "no event is written",
        "VALUES (moment, 3, accepted)",
        "SELECT moment, 3, accepted WHERE false",
      ],
      [
        "a request to cancel outlives its run",
        "DELETE FROM millrace.cancel_request WHERE key = ANY (accepted)",
        "DELETE FROM millrace.cancel_request WHERE false",
      ],
    ],
    "runs/lease-proof.ts": [
      ["a job that has not begun can end", "&& held.started_at !== null", ""],
      [
        "the secret of a retry is not looked at",
        "return `${number} ${secret}`",
        "return `${number}`",
      ],
    ],
    delete_leases: [
      ["the starts of failed runs stay", "WHERE lease = ANY (:numbers::bigint[])", "WHERE false"],
    ],
    lock_leases: [
      ["the fence of a retry is dropped", "FOR KEY SHARE", ""],
      ["a retry locks leases in another order", "ORDER BY number", "ORDER BY number DESC"],
    ],
    runs_of_leases: [["a run ends twice", "done.n = run.n", "false"]],
    insert_attempts: [
      ["a failure ends before its start", "millrace.at_ms(ended.started_at) > moment.at", "false"],
      ["the ledger forgets the fence", "lease.worker, ended.fence", "lease.worker, NULL"],
    ],
    put_waiting: [["a retry is due at once", "WHERE run_at > now", "WHERE false"]],
  },
  overdue: {
    overdue_runs: [
      ["the runs of others are named", "run.worker = :worker::uuid", ":worker::uuid IS NOT NULL"],
      ["the slack is not granted", "+ :slack_ms::bigint", "+ 0 * :slack_ms::bigint"],
    ],
  },
  register: {
    register_worker: [
      ["no beat when it returns", "beats = known.beats + 1", "beats = known.beats"],
    ],
  },
  renew: {
    insert_ended_runs: [["an end is not stored for the worker", "WHERE", "WHERE false AND"]],
    "jobs/intervene.ts": [
      [
        "the end of an unstarted run is not told",
        "if (fence === null || holder === null) return;",
        "if (fence === null || holder?.runs[0]?.started_at == null) return;",
      ],
    ],
    delete_ended_runs: [["the ended runs of a removed worker stay", "WHERE", "WHERE false AND"]],
    renew_worker: [
      [
        "a delay that is not known is lost",
        "coalesce(:loop_lag_ms::bigint, worker.loop_lag_ms)",
        ":loop_lag_ms::bigint",
      ],
      ["the former holder hears the request", "WHERE run.finished_at IS NULL", ""],
      ["every worker hears every request", "WHERE lease.worker = :id::uuid", ""],
      ["an old protocol is never too old", "beat.protocol <", "0 >"],
      [
        "the requests of every second lease are forgotten",
        "WHERE lease.worker = :id::uuid",
        "WHERE lease.worker = :id::uuid AND lease.number % 2 = 0",
      ],
      [
        "the requests of the first two leases are told",
        "WHERE lease.worker = :id::uuid",
        `WHERE lease.number IN (
           SELECT number FROM millrace.lease WHERE worker = :id::uuid ORDER BY number LIMIT 2)`,
      ],
      [
        "the requests of every second job of a lease are forgotten",
        "WHERE run.finished_at IS NULL",
        "WHERE run.finished_at IS NULL AND run.turn % 2 = 1",
      ],
      [
        "no worker learns what has ended",
        "FROM millrace.ended_run AS ended\n           WHERE",
        "FROM millrace.ended_run AS ended\n           WHERE false AND",
      ],
      [
        "every worker learns what has ended",
        "FROM millrace.ended_run AS ended\n           WHERE",
        "FROM millrace.ended_run AS ended\n           WHERE true OR",
      ],
      ["a lease of ended runs stays", "- interval '1 minute'", "- interval '9 years'"],
      ["a lease of ended runs goes at once", "- interval '1 minute'", "+ interval '1 minute'"],
      [
        "a lease whose claim commits late is passed",
        "worker.leases_seen, seen.lowest) END",
        "worker.leases_seen) END",
      ],
      ["leases are passed too soon", "WHEN worker.leases_before IS NULL THEN", "WHEN false THEN"],
      ["leases that have gone are never passed", "interval '60 s'", "interval '9 years'"],
      [
        "the starts of a lease of ended runs stay",
        "ARRAY(SELECT number FROM deleted_leases)",
        "ARRAY[]::bigint[]",
      ],
      [
        "a heartbeat does not extend the lease",
        "SET until = moment.at",
        "SET until = worker.until - :lease_ms::bigint * interval '1 millisecond'",
      ],
    ],
  },
  silent: {
    silent_workers: [
      ["the living are silent, too", "worker.until <= moment.at", "true"],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
  },
  deregister: {
    expire_worker: [["what it holds must be waited for", "WHERE", "WHERE false AND"]],
    delete_worker: [["the worker stays", "WHERE worker.id", "WHERE false AND worker.id"]],
  },
  stopWorker: {
    stop_worker: [
      ["every worker is asked to stop", "id = :id::uuid", ":id::uuid IS NOT NULL"],
      ["a stopping worker gets jobs", "SET quiet = true, stopping = true", "SET quiet = quiet"],
      ["a worker is only asked to be quiet", ", stopping = true", ""],
    ],
    quiet_worker: [
      ["a quiet worker is asked to stop", "quiet = true", "quiet = true, stopping = true"],
    ],
    renew_worker: [["no renewal reports the request", "beat.stopping,", "false AS stopping,"]],
    list_workers: [
      ["the list does not show the request", "worker.stopping,", "false AS stopping,"],
    ],
  },
  time: {
    store_time: [
      ["the store has a clock of its own", "clock_at(:now::timestamptz)", "clock_at(NULL)"],
    ],
  },
  resumeWorker: {
    resume_worker: [
      ["every worker is resumed", "id = :id::uuid", ":id::uuid IS NOT NULL"],
      ["a worker that is to stop takes jobs", "AND NOT stopping", ""],
      ["no worker is resumed", "SET quiet = false", "SET quiet = true"],
    ],
    is_stopping: [
      ["a worker that is to stop is resumed", "SELECT stopping", "SELECT false AS stopping"],
    ],
  },
  quiet: {
    quiet_worker: [
      ["every worker is asked to take nothing", "id = :id::uuid", ":id::uuid IS NOT NULL"],
    ],
  },
  workers: {
    register_worker: [
      ["a worker that was asked to be quiet joins awake", ":quiet::boolean", "false"],
    ],
    list_workers: [
      ["youngest first", "ORDER BY worker.joined_at", "ORDER BY worker.joined_at DESC"],
      ["what has ended is running", "done.key = run.key", "false"],
    ],
    renew_worker: [
      ["a renewal is no heartbeat", "renewed_at = moment.at", "renewed_at = worker.renewed_at"],
    ],
  },
  rescue: {
    lock_process: [
      ["a living worker is rescued", "AND until <= ", "AND now() <> "],
      [
        "the verdict is computed per worker",
        "WHERE process = (",
        "WHERE id = :id::uuid AND process = (",
      ],
    ],
    set_died_with: [
      ["all processes die together", "run.worker = ANY (:workers::uuid[])", "true"],
      ["every process gets the verdict", "worker.id = ANY (:workers::uuid[])", "true"],
      ["a prefetched job had begun", "AND run.started_at IS NOT NULL", ""],
      ["an ended run counts", "AND done.n = run.n", "AND false"],
    ],
    register_worker: [
      ["every worker is a process", ":process::uuid", ":id::uuid"],
      [
        "a worker that joins again keeps its verdict",
        "died_with = NULL",
        "died_with = known.died_with",
      ],
    ],
    renew_worker: [
      ["a renewed worker keeps its verdict", "died_with = NULL", "died_with = worker.died_with"],
    ],
    "runs/rescue.ts": [
      [
        "the verdict is computed per chunk",
        "if (own.died_with !== null) return",
        "if (1 > 2) return",
      ],
      ["one of two runs was alone", "begun === 1", "begun <= 2"],
    ],
    own_leases_of_worker: [
      ["others are rescued, too", "worker = :worker::uuid", ":worker::uuid IS NOT NULL"],
    ],
    job_facts: [["earlier attempts are forgotten", "coalesce(last.tries, 0)", "0"]],
  },
  "rescue while the worker renews": {
    "runs/rescue.ts": [
      [
        "beats are not compared",
        "if (own === undefined || own.beats !== beats) return null;",
        "if (own === undefined) return null;",
      ],
    ],
  },
};
