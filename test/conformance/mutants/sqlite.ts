/** What can go wrong in the store on SQLite. */
import type { Faults } from "./all.ts";

export const SQLITE_FAULTS: Faults = {
  enqueue: {
    insert_job: [["a known id is an error", "ON CONFLICT (id) DO NOTHING", ""]],
    insert_ready: [["the due time is no rank", ":rank", "0"]],
    insert_scheduled: [["a job waits too long", ":run_at", ":run_at + 1"]],
    find_body: [["payloads are not compared", "tenant, payload", "tenant, NULL AS payload"]],
    find_idempotency: [["tenants share idempotency keys", "tenant = :tenant", "1"]],
    insert_idempotency: [["the body is forgotten", ":body", "zeroblob(32)"]],
    find_dedup: [
      ["tenants share dedup keys", "dedup.tenant = :tenant", "1"],
      ["types share dedup keys", "dedup.type = :type", "1"],
    ],
    insert_dedup: [["a dedup key is never found again", ":type", "0"]],
    delete_dedup: [["a dedup key is never freed", "WHERE", "WHERE 0 AND"]],
    job_by_key: [["the state is that of any job", "key = :key", "1"]],
    take_scheduled: [
      [
        "an extended holder loses its count of runs",
        "concurrency, n, tries",
        "concurrency, 1 AS n, tries",
      ],
    ],
    delete_expired_idempotency: [
      ["an idempotency key goes with its job", "expires_at <= :now", "expires_at IS NOT NULL"],
    ],
    expire_idempotency: [
      ["an idempotency key never goes", "expires_at = :expires_at", "expires_at = NULL"],
    ],
    "runs/attempts.ts": [
      [
        "a retry frees its dedup key",
        "filter(({ state }) => state !== null)",
        "filter(() => true)",
      ],
    ],
  },
  enqueueInTransaction: {
    "transactions/enqueue.ts": [
      ["any file will do", "identity(file) !== home", "false"],
      ["what went wrong stays", 'database.exec("ROLLBACK TO millrace_call");', ""],
      ["no event is written", "session.outbox.write();", ""],
    ],
  },
  blockWrites: {
    "copy/write-block.ts": [
      ["inserts are let through", '"INSERT", "UPDATE", "DELETE"', '"UPDATE", "DELETE"'],
      ["updates are let through", '"INSERT", "UPDATE", "DELETE"', '"INSERT", "DELETE"'],
      ["deletes are let through", '"INSERT", "UPDATE", "DELETE"', '"INSERT", "UPDATE"'],
      ["some tables are open", "AND name GLOB 'millrace_*' ", "AND name GLOB 'millrace_job*' "],
      ["the file is opened again", "if (moveRecord !== null) throw", "if (false) throw"],
      ["no event is written", "  outbox.write();", ""],
      ["the fence stays", "database.exec(`DROP TRIGGER ${name}`)", "void name"],
      ["the mark stays", "WHERE name = 'moved_to'\");\n    database", 'WHERE 0");\n    database'],
    ],
    all_leases: [["what runs is left behind", "ORDER BY", "WHERE 0 ORDER BY"]],
    delete_workers: [["its workers stay", "millrace_worker", "millrace_worker WHERE 0"]],
  },
  claim: {
    worker_may_claim: [
      ["a worker whose lease has run out claims on", "AND until > :now", ""],
      ["the protocol is not looked at", "protocol >= (", "0 <= ("],
      ["an unknown worker claims as another", "id = :worker", "1"],
      ["a quiet worker claims on", "SELECT quiet OR EXISTS", "SELECT EXISTS"],
    ],
    claim_candidates: [
      ["due time goes before priority", "BY priority, rank, key", "BY rank, priority, key"],
      ["due time does not matter", "BY priority, rank, key", "BY priority, key"],
      ["the filter of types is dropped", ":types IS NULL", "1"],
      ["the filter of tenants is dropped", ":tenants IS NULL", "1"],
      ["a closed lane is not looked at", "AND lane NOT IN", "AND 0 NOT IN"],
      ["a closed type is not looked at", "AND type NOT IN", "AND 0 NOT IN"],
      ["a closed tenant is not looked at", "AND tenant NOT IN", "AND 0 NOT IN"],
      ["other lanes are taken along", "lane = :lane", "1"],
    ],
    ready_lanes: [["only the first lane is looked at", "hop.lane IS NOT NULL", "0"]],
    look_for_ready: [
      ["jobs that are left are not seen", "SELECT CASE", "SELECT 0 * CASE"],
      ["jobs of other lanes count", "ready.lane = named.value", "1"],
    ],
    payload_sizes: [["payloads weigh nothing", "coalesce(octet_length(job.payload), 0)", "0"]],
    delete_ready: [["a claimed job stays claimable", "WHERE", "WHERE 0 AND"]],
    claimed_jobs: [["the timeout is lost", "job.timeout_ms", "NULL AS timeout_ms"]],
    "runs/claim.ts": [
      ["a prefetch starts with its claim", "request.prefetch ? null : now", "now"],
      ["every lease has the same secret", "dice.bytes(SECRET_BYTES)", "Array(8)"],
      ["a full claim looks for more", "taken >= bounded(request.limit, BATCH_MAX)", "false"],
      ["a prefetch looks for more", "request.prefetch || taken", "taken"],
    ],
    "runs/claim-candidates.ts": [
      ["lanes are not merged", "found.flat().toSorted(byClaimOrder)", "found.flat()"],
      ["a lane named twice gives twice", "[...new Set(lanes)]", "[...lanes]"],
      ["a payload too heavy is never taken", "index > 0 && weight", "weight"],
    ],
  },
  startPrefetched: {
    find_lease: [["the secret is not looked at", "secret = :secret", "1"]],
    insert_lease: [["the time of the claim is lost", ":claimed_at", "0"]],
    set_starts: [["a start is not written down", "starts = :starts", "starts = starts"]],
    find_cancel_requests: [
      ["requests to cancel are not seen", "JOIN", "JOIN (SELECT 0 AS no) ON no JOIN"],
    ],
    "runs/prefetch.ts": [
      ["a start is repeated", "open.filter(isPrefetched)", "open"],
      ["all jobs of the prefetch begin", "runs.filter(({ key }) => wanted.has(key))", "runs"],
      ["a cancelled job is named", ".filter((key) => !ended.has(key))", ""],
    ],
  },
  overdue: {
    leases_of_worker: [["the runs of others are named", "worker = :worker", "1"]],
    job_facts: [["limits are forgotten", "job.timeout_ms", "NULL AS timeout_ms"]],
    "runs/overdue.ts": [
      ["unstarted jobs are overdue", "job.startedAt ?? now", "job.startedAt ?? 0"],
      ["the slack is not granted", "limitMs + slackMs", "limitMs"],
    ],
  },
  feedEnd: {
    feed_end: [
      ["it is the first position", "max(seq)", "min(seq, 1)"],
      ["the end of another table is taken", "name = 'millrace_event'", "name <> 'millrace_event'"],
    ],
  },
  feedStart: {
    feed_start: [
      ["it is the first position", "min(position) - 1", "min(position)"],
      ["it is the last position", "min(position)", "max(position)"],
      ["an empty feed begins at 0", "max(seq), 0)", "0 * max(seq), 0)"],
    ],
  },
  hurry: {
    insert_ready: [["it comes last", ":rank", "9000000000000000"]],
  },
  intervene: {
    lease_of_job: [["the oldest lease is taken", "lease.number DESC", "lease.number"]],
    insert_attempt: [["the run is not charged", ":tries", "0"]],
    worker_lives: [["a silent worker counts as alive", "until > :now", "until > 0"]],
    "jobs/intervene.ts": [
      ["a lease without runs stays", "  closeIfDone(session, lease);", "  void closeIfDone;"],
    ],
  },
  deadLetters: {
    list_dead_letters: [
      ["oldest first", "ORDER BY died_at DESC, id DESC", "ORDER BY died_at, id"],
      ["the limit is dropped", "LIMIT :limit", ""],
      ["the status is not looked at", "status = :status)", "1)"],
      ["pages repeat", "(died_at, id) < (:before_at, :before_id)", "1"],
    ],
  },
  review: {
    review_dead_letter: [
      ["closed letters change", "AND status IN (1, 2)", ""],
      ["every letter is reviewed", "id = :id", "1"],
      ["notes are lost", "notes       = :notes,", "notes       = NULL,"],
    ],
  },
  annotate: {
    annotate_dead_letter: [
      ["closed letters are assigned", "AND (status IN (1, 2) OR :act = 'noted')", ""],
      ["a note takes the letter away", "iif(:act = 'assigned', :assigned_to, assigned_to)", "NULL"],
      ["entries are not bounded", ">= 100", ">= 1000"],
    ],
    insert_dead_letter: [["old runs are forgotten", "LIMIT 50", "LIMIT 1"]],
  },
  reprocess: {
    review_dead_letter: [["the successor is not noted", ":successor", "NULL"]],
  },
  successor: {
    find_successor: [["a final successor stands in the way", "AND NOT EXISTS (", "AND EXISTS ("]],
  },
  returnPrefetched: {
    find_lease: [["the secret is not looked at", "secret = :secret", "1"]],
    job_facts: [
      ["earlier attempts are forgotten", "coalesce(last.tries, 0)", "0"],
      ["jobs change places", "job.lane, job.priority", "job.lane, 100 AS priority"],
    ],
    set_lease_jobs: [
      ["other leases lose their jobs", "number = :number", "1"],
      [
        "what stays loses its rank",
        "= :ranks",
        "= (SELECT json_group_array(0) FROM json_each(:ranks))",
      ],
      [
        "what stays loses its number",
        "= :ns",
        "= (SELECT json_group_array(1) FROM json_each(:ns))",
      ],
    ],
    delete_lease: [["an empty lease stays", "WHERE", "WHERE 0 AND"]],
    "runs/prefetch.ts": [
      ["running jobs are taken back", "isPrefetched(run) && wanted", "wanted"],
      [
        "all of the prefetch goes back",
        "isPrefetched(run) && wanted.has(run.key)",
        "isPrefetched(run)",
      ],
      ["what was given back stays in the lease", "filter(({ key }) => !gone.has(key))", "slice()"],
    ],
    "runs/lease.ts": [
      ["a cancelled job waits again", "runs.filter(({ key }) => !requests.has(key))", "runs"],
      ["the place in the order is lost", "first + (ranks?.[index] ?? 0)", "0"],
    ],
  },
  settle: {
    find_lease: [["the secret is not looked at", "secret = :secret", "1"]],
    insert_attempt: [
      ["the ledger forgets the fence", ":fence", "NULL"],
      ["results are lost", ":result", "NULL"],
    ],
    last_runs: [["a run ends twice", "max(attempt.n)", "0"]],
    delete_lease: [["the lease never goes", "WHERE", "WHERE 0 AND"]],
    waiting_fields: [["a retry forgets its priority", "lane, priority", "lane, 100 AS priority"]],
    insert_dead_letter: [
      [
        "a dead letter forgets its attempts",
        ":attempts, :died_at, :spec, :cause",
        "0, :died_at, :spec, :cause",
      ],
    ],
    attempts_of_job: [
      ["the ledger is told backwards", "ORDER BY attempt.n", "ORDER BY attempt.n DESC"],
    ],
    "runs/settle.ts": [
      ["a job ends twice in one call", "lease.open.delete(key);", ""],
      ["a lease goes before its last job", "lease.open.size === 0", "lease !== null"],
      ["the lease never goes", "lease.open.size === 0", "lease.open.size === -1"],
      ["a job waits again though it was to be cancelled", "requests.get(run.key)", "undefined"],
      ["the next run bears an old number", "n: n + 1", "n"],
    ],
    "runs/lease-proof.ts": [
      ["the number of the run is not looked at", "held?.n === n", "held !== undefined"],
      ["a job that has not begun can end", "run.startedAt !== null", "run.startedAt !== 0"],
      ["one good proof vouches for a bad one", "`${number}.${secret}`", "`${number}`"],
    ],
    "runs/lease.ts": [["a run that has ended is open", "?? 0) < n", "?? 0) <= n"]],
  },
  register: {
    register_worker: [
      ["joining again does not renew", "SET until = :until", "SET until = until"],
      ["joining again is no beat", "beats = beats + 1", "beats = beats"],
    ],
  },
  silent: {
    silent_workers: [
      ["the living are silent, too", "until <= :now", "1"],
      ["the shortest silence comes first", "ORDER BY until", "ORDER BY until DESC"],
      ["the limit is dropped", "LIMIT :limit", ""],
    ],
    renew_worker: [["beats are not counted", "beats = beats + 1", "beats = beats"]],
  },
  deregister: {
    expire_worker: [["what it holds must be waited for", "until = :now", "until = until"]],
    leases_of_worker: [["what it holds is lost", "WHERE", "WHERE 0 AND"]],
    delete_worker: [
      ["the worker stays", "WHERE", "WHERE 0 AND"],
      ["every worker leaves", "id = :id", "1"],
    ],
  },
  rescue: {
    worker_is_silent: [
      ["beats are not compared", "beats = :beats", "1"],
      ["a living worker is rescued", "until <= :now", "1"],
    ],
    leases_of_worker: [["others are rescued, too", "worker = :worker", "1"]],
    leases_of_process: [
      ["all processes die together", "worker.process = :process", "1"],
      [
        "the verdict is computed per worker",
        "worker.process = :process",
        "worker.id = (SELECT min(id) FROM millrace_worker WHERE process = :process)",
      ],
    ],
    set_died_with: [
      ["the verdict is computed per chunk", "WHERE", "WHERE 0 AND"],
      ["every process gets the verdict", "process = :process", "1"],
    ],
    register_worker: [
      ["a worker that joins again keeps its verdict", "died_with = NULL", "died_with = died_with"],
      ["every worker is a process", ":process,", ":id,"],
    ],
    renew_worker: [
      ["a renewed worker keeps its verdict", "died_with = NULL", "died_with = died_with"],
    ],
    last_runs: [
      ["settled jobs are settled again", "max(attempt.n)", "0"],
      ["the first run counts, not the last", "max(attempt.n)", "min(attempt.n)"],
    ],
    job_facts: [
      ["earlier attempts are forgotten", "coalesce(last.tries, 0)", "0"],
      ["earlier crashes are forgotten", "coalesce(last.crashes, 0)", "0"],
      ["the first run counts, not the last", "max(n)", "min(n)"],
    ],
    job_by_key: [["the state is that of any job", "key = :key", "1"]],
    delete_worker: [["the worker stays", "WHERE", "WHERE 0 AND"]],
    "runs/lease.ts": [["settled jobs are open", "?? 0) < n", "?? 0) <= n"]],
    "runs/rescue.ts": [
      ["the limit of a lease is dropped", "open.slice(0, room)", "open"],
      ["the limit is counted per lease", "RESCUE_MAX) - moved", "RESCUE_MAX)"],
      ["a prefetch is charged", "if (startedAt === null) return [];", "startedAt ??= 0;"],
      ["one of two runs was alone", "silent) === 1", "silent) <= 2"],
      [
        "a prefetched job had begun",
        "open.filter(({ startedAt }) => startedAt !== null).length",
        "open.length",
      ],
      ["the rest of a lease is lost", "open.filter(({ key }) => !taken.has(key))", "[]"],
      [
        "the worker goes before its jobs",
        "{ worker: id }) !== undefined",
        "{ worker: id }) === null",
      ],
    ],
  },
  promote: {
    due_keys: [
      ["jobs are moved before they are due", "run_at <= :now", "1"],
      ["the limit is dropped", "LIMIT :limit", ""],
      ["the oldest job goes first, not the earliest due", "ORDER BY run_at, key", "ORDER BY key"],
    ],
    copy_scheduled_to_ready: [["the due time is no rank", "run_at * 1000", "0"]],
    delete_scheduled: [["the job stays scheduled", "WHERE", "WHERE 0 AND"]],
    next_due: [["the last due time is told", "min(", "max("]],
  },
  cancel: {
    take_ready: [["a due job is not found", "WHERE", "WHERE 0 AND"]],
    take_blocked: [["a held job is not found", "WHERE", "WHERE 0 AND"]],
    take_scheduled: [["a waiting job is not found", "WHERE", "WHERE 0 AND"]],
    insert_cancel_request: [
      ["the last asker's reason counts", "DO NOTHING", "DO UPDATE SET reason = excluded.reason"],
    ],
    delete_cancel_requests: [["a request outlives its run", "WHERE", "WHERE 0 AND"]],
    "runs/settle.ts": [
      ["a request outlives its run", "dropCancelRequests(session, [...requests.keys()]);", ""],
    ],
    "jobs/cancel.ts": [
      ["a job that has ended is asked to stop", "if (isFinal(state))", "if (false)"],
    ],
    "runs/attempts.ts": [
      ["the charges of earlier runs are lost", "      tries,\n", "      tries: 0,\n"],
      ["the reason is lost", "      reason,\n", "      reason: null,\n"],
      ["no event is written", 'outbox.add({ kind: "job:cancelled", jobs: keys });', ""],
    ],
  },
  pause: {
    close_gate: [
      ["a repeated pause begins anew", "WHEN until <= :now THEN :now", "WHEN 1 THEN :now"],
      ["a pause goes on after its end", "WHEN until <= :now THEN :now", "WHEN 0 THEN :now"],
      [
        "a closed gate keeps its old reason",
        "until = :until, reason = :reason, by = :by",
        "until = :until",
      ],
    ],
    find_name: [["kinds share names", "kind = :kind", "1"]],
    claim_candidates: [
      [
        "a gate never opens by itself",
        "AND type NOT IN (SELECT target FROM millrace_barrier WHERE until IS NULL OR until > :now)",
        "AND type NOT IN (SELECT target FROM millrace_barrier)",
      ],
    ],
  },
  resume: {
    open_gate: [
      ["every gate opens", "name = :name", "1"],
      ["the gate stays closed", "until = 0", "until = NULL"],
    ],
    closed_gates: [["an open gate was closed", "until IS NULL OR until > :now", "1"]],
  },
  gates: {
    closed_gates: [["open gates are listed, too", "until IS NULL OR until > :now", "1"]],
    insert_name: [["every name is that of a tenant", ":kind", "2"]],
    name_by_id: [["every gate is a type", "SELECT kind", "SELECT 1 AS kind"]],
  },
  hold: {
    jobs_behind_gates: [
      ["open gates hold, too", "until IS NULL OR until > :now", "1"],
      ["paused lanes do not hold", "OR front.lane IN (SELECT target FROM closed)", ""],
      ["paused tenants do not hold", "OR front.tenant IN (SELECT target FROM closed)", ""],
      ["paused types do not hold", "front.type IN (SELECT target FROM closed)", "0"],
      ["tenants are not looked at", "front.type, front.tenant", "front.type"],
    ],
    ready_lanes: [["only the first lane is looked at", "hop.lane IS NOT NULL", "0"]],
    "queue/gates.ts": [
      [
        "jobs that have crashed stay",
        "const crashNumbers = [0, ...crashNumbersOf(session, lanes)];",
        "const crashNumbers = [0];",
      ],
    ],
  },
  release: {
    insert_blocked: [["runs are forgotten", ":n, :tries", "1, :tries"]],
    open_gates: [
      ["closed gates let go", "FROM millrace_gate WHERE until <= :now", "FROM millrace_gate"],
    ],
    delete_gate: [["other gates let go, too", "name = :name", "1"]],
    blocked_keys: [
      ["other gates let go", "gate = :gate", "1"],
      ["the limit is dropped", "LIMIT :limit", ""],
    ],
    take_blocked: [["the place is lost", "key, rank", "key, 0 AS rank"]],
    "queue/gates.ts": [
      [
        "the limit is counted per gate",
        '"blocked_keys", { gate: name, limit: limit - moved }',
        '"blocked_keys", { gate: name, limit }',
      ],
    ],
  },
  get: {
    job_by_id: [["any job is shown", "WHERE now.key = (", "WHERE 0 < ("]],
    starts_of_runs: [
      ["the first lease that names a job tells its start", "lease.number;", "lease.number DESC;"],
    ],
  },
  attempts: {
    attempts_of_job: [["any ledger is shown", "WHERE attempt.key = (", "WHERE 0 < ("]],
  },
  deadLetter: {
    find_dead_letter: [["any letter is shown", "id = :id", "1"]],
    insert_dead_letter: [
      ["the copy of the spec is empty", ":died_at, :spec, :cause", ":died_at, '{}', :cause"],
    ],
  },
  feed: {
    feed_after: [
      ["the position itself is repeated", "position > :position", "position >= :position"],
      ["the newest comes first", "ORDER BY position", "ORDER BY position DESC"],
      ["the limit is dropped", "LIMIT :limit", ""],
    ],
    append_event: [["the time is lost", ":at", "0"]],
    ids_of_keys: [
      ["jobs are taken for others", "job.key = named.value", "job.key = named.value + 1"],
    ],
    facts_of_keys: [
      ["jobs are taken for others", "now.key = named.value", "now.key = named.value + 1"],
      ["what goes on has an end", "now.state >= 4", "now.state >= 1"],
      ["a type stands for the tenant", "now.tenant", "now.type AS tenant"],
      ["correlations are forgotten", "now.correlation", "NULL AS correlation"],
    ],
  },
  prune: {
    removable_jobs: [["parents are not looked at", "parent.id = job.parent", "0"]],
    expired_jobs: [
      ["a removed job has another tenant", "job.tenant", "1 AS tenant"],
      ["a removed job has no correlation", "job.correlation", "NULL AS correlation"],
      ["parents are not looked at", "parent.id = job.parent", "0"],
      ["children stay for ever", "AND last.state IS NOT NULL", "AND 0"],
      ["a job goes that a lease names", "AND job.key NOT IN (\n", "AND 0 NOT IN (\n"],
      ["all states have one age", "ended.state = :state", "ended.state > 0 * :state"],
      ["the youngest goes first", "BY ended.finished_at", "BY ended.finished_at DESC"],
    ],
    "retention/expired.ts": [["age does not matter", "before: now - each.ms", "before: now"]],
    delete_jobs: [["nothing goes", "WHERE", "WHERE 0 AND"]],
    delete_attempts: [["the ledger stays", "WHERE", "WHERE 0 AND"]],
    delete_tags: [["other jobs lose their tags", "key = :key", "1"]],
    delete_dead_letters: [
      ["a dead letter goes with its job", "died_at <= :before", "1"],
      ["the limit of dead letters is dropped", "LIMIT :limit", ""],
    ],
    delete_events: [
      ["young events go, too", "young.at > :before", "0"],
      [
        "old events go from between young ones",
        "position < coalesce(",
        "at <= :before OR 0 * coalesce(",
      ],
      ["the limit of events is dropped", "LIMIT :limit", ""],
    ],
    delete_expired_idempotency: [["the limit of keys is dropped", "LIMIT :limit", ""]],
  },
};
