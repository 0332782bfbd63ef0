/**
 * Queries with a fault in them. For each, the suite of its verb must fail: a suite that stays green
 * when the fence, a limit or an order is gone proves nothing. `scripts/show/mutants.ts` tries them
 * all.
 */
export interface Mutant {
  /** The `describe` that must notice. */
  readonly verb: string;
  /** What is wrong. */
  readonly mutant: string;
  /** In `sql/sqlite/queries`. */
  readonly file: string;
  readonly query: string;
  /** A text that occurs once in the query, and what stands there instead. */
  readonly replace: readonly [from: string, to: string];
}

type Fault = readonly [mutant: string, from: string, to: string];

export const mutants: readonly Mutant[] = [
  ...inQuery("enqueue", "enqueue.sql", "insert_job", [
    "a known id is an error",
    "ON CONFLICT (id) DO NOTHING",
    "",
  ]),
  ...inQuery("enqueue", "enqueue.sql", "insert_ready", [
    "the due time is no rank",
    ":rank,",
    ":rank * 0,",
  ]),
  ...inQuery("enqueue", "enqueue.sql", "find_idempotency", [
    "tenants share idempotency keys",
    "tenant = :tenant",
    ":tenant IS NOT NULL",
  ]),
  ...inQuery(
    "enqueue",
    "enqueue.sql",
    "find_dedup",
    ["tenants share dedup keys", "dedup.tenant = :tenant", ":tenant IS NOT NULL"],
    ["types share dedup keys", "dedup.type = :type", ":type IS NOT NULL"],
  ),
  ...inQuery("enqueue", "enqueue.sql", "delete_dedup", [
    "a dedup key is never freed",
    "WHERE job IN",
    "WHERE 0 AND job IN",
  ]),
  ...inQuery("enqueue", "places.sql", "take_scheduled", [
    "an extended holder loses its count of runs",
    "concurrency, n, tries",
    "concurrency, 1 AS n, tries",
  ]),
  ...inQuery("enqueue", "prune.sql", "delete_expired_idempotency", [
    "an idempotency key goes with its job",
    "expires_at <= :now",
    "expires_at IS NOT NULL AND :now",
  ]),
  ...inQuery("enqueue", "prune.sql", "expire_idempotency", [
    "an idempotency key never goes",
    "SET expires_at = :expires_at",
    "SET expires_at = NULLIF(:expires_at, :expires_at)",
  ]),
  ...inQuery(
    "claim",
    "claim.sql",
    "worker_may_claim",
    ["a worker whose lease has run out claims on", "until > :now", ":now IS NOT NULL"],
    ["the protocol is not looked at", "protocol >= (", "0 <= ("],
  ),
  ...inQuery(
    "claim",
    "claim.sql",
    "claim_candidates",
    [
      "due time goes before priority",
      "ORDER BY priority, rank, key",
      "ORDER BY rank, priority, key",
    ],
    ["due time does not matter", "ORDER BY priority, rank, key", "ORDER BY priority, key"],
    ["the filter of types is dropped", ":types IS NULL OR", "1 OR"],
    ["the filter of tenants is dropped", ":tenants IS NULL OR", "1 OR"],
    ["a closed lane is not looked at", "AND lane NOT IN", "AND 0 NOT IN"],
    ["a closed type is not looked at", "AND type NOT IN", "AND 0 NOT IN"],
    ["a closed tenant is not looked at", "AND tenant NOT IN", "AND 0 NOT IN"],
    ["a buffer takes jobs that have crashed", ":buffer = 0 OR", "1 OR"],
    ["other lanes are taken along", "lane = :lane", ":lane IS NOT NULL"],
  ),
  ...inQuery("claim", "claim.sql", "delete_ready", [
    "a claimed job stays claimable",
    "WHERE key IN",
    "WHERE 0 AND key IN",
  ]),
  ...inQuery("start", "lease.sql", "find_lease", [
    "the secret is not looked at",
    "secret = :secret",
    ":secret IS NOT NULL",
  ]),
  ...inQuery(
    "start",
    "lease.sql",
    "start_lease",
    [
      "a buffer starts when it was claimed",
      "SET started_at = :now",
      "SET started_at = claimed_at + 0 * :now",
    ],
    ["every buffer starts", "number = :number", ":number IS NOT NULL"],
  ),
  ...inQuery("start", "places.sql", "find_cancel_requests", [
    "requests to cancel are not seen",
    "asked.key = named.value",
    "asked.key = named.value AND 0",
  ]),
  ...inQuery("handBack", "lease.sql", "find_lease", [
    "the secret is not looked at",
    "secret = :secret",
    ":secret IS NOT NULL",
  ]),
  ...inQuery("handBack", "lease.sql", "unfinished_jobs", [
    "the place in the order is lost",
    "* 1000 AS rank",
    "* 0 AS rank",
  ]),
  ...inQuery("handBack", "lease.sql", "set_lease_keys", [
    "what was given back stays in the lease",
    "keys = :keys",
    "keys = coalesce(keys, :keys)",
  ]),
  ...inQuery("handBack", "lease.sql", "delete_lease", [
    "an empty lease stays",
    "WHERE number",
    "WHERE 0 AND number",
  ]),
  ...inQuery("settle", "lease.sql", "find_lease", [
    "the secret is not looked at",
    "secret = :secret",
    ":secret IS NOT NULL",
  ]),
  ...inQuery(
    "settle",
    "settle.sql",
    "insert_attempt",
    [
      "a second settlement overwrites the first",
      "DO NOTHING",
      "DO UPDATE SET result = excluded.result",
    ],
    ["the ledger forgets the fence", ":fence, ", "NULLIF(:fence, :fence), "],
  ),
  ...inQuery("settle", "lease.sql", "lease_is_open", [
    "the lease goes with its first job",
    "WHERE NOT EXISTS",
    "WHERE 0 AND NOT EXISTS",
  ]),
  ...inQuery("settle", "lease.sql", "delete_lease", [
    "the lease never goes",
    "WHERE number",
    "WHERE 0 AND number",
  ]),
  ...inQuery("settle", "settle.sql", "waiting_fields", [
    "a retry forgets its priority",
    "lane, priority,",
    "lane, 100 AS priority,",
  ]),
  ...inQuery("settle", "settle.sql", "insert_dead_letter", [
    "a dead letter forgets its attempts",
    ":attempts",
    ":attempts * 0",
  ]),
  ...inQuery("settle", "inspect.sql", "attempts_of_job", [
    "the ledger is told backwards",
    "ORDER BY attempt.n",
    "ORDER BY attempt.n DESC",
  ]),
  ...inQuery(
    "join",
    "worker.sql",
    "join_worker",
    ["joining again does not renew", "SET until = :until", "SET until = until"],
    ["joining again is no beat", "beats = beats + 1", "beats = beats"],
  ),
  ...inQuery("renew", "worker.sql", "renew_worker", [
    "a heartbeat does not extend the lease",
    "SET until = :until",
    "SET until = coalesce(until, :until)",
  ]),
  ...inQuery("renew", "worker.sql", "cancel_requests_of_worker", [
    "every worker hears every request",
    "lease.worker = :worker",
    ":worker IS NOT NULL",
  ]),
  ...inQuery(
    "silent",
    "worker.sql",
    "silent_workers",
    ["the living are silent, too", "until <= :now", ":now IS NOT NULL"],
    ["the shortest silence comes first", "ORDER BY until", "ORDER BY until DESC"],
    ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 100"],
  ),
  ...inQuery("silent", "worker.sql", "renew_worker", [
    "beats are not counted",
    "beats = beats + 1",
    "beats = beats",
  ]),
  ...inQuery("leave", "worker.sql", "expire_worker", [
    "what it holds must be waited for",
    "SET until = :now",
    "SET until = coalesce(until, :now)",
  ]),
  ...inQuery(
    "leave",
    "worker.sql",
    "delete_worker",
    ["the worker stays", "WHERE id", "WHERE 0 AND id"],
    ["every worker leaves", "id = :id", ":id IS NOT NULL"],
  ),
  ...inQuery(
    "rescue",
    "worker.sql",
    "worker_is_silent",
    ["beats are not compared", "beats = :beats", ":beats IS NOT NULL"],
    ["a living worker is rescued", "until <= :now", ":now IS NOT NULL"],
  ),
  ...inQuery("rescue", "worker.sql", "leases_of_worker", [
    "leases of others are taken",
    "worker = :worker",
    ":worker IS NOT NULL",
  ]),
  ...inQuery(
    "rescue",
    "lease.sql",
    "unfinished_jobs",
    ["settled jobs are settled again", "WHERE NOT EXISTS", "WHERE 1 OR NOT EXISTS"],
    ["earlier attempts are forgotten", "coalesce(last.tries, 0)", "0"],
    ["earlier crashes are forgotten", "coalesce(last.crashes, 0)", "0"],
  ),
  ...inQuery("rescue", "worker.sql", "delete_worker", [
    "the worker stays",
    "WHERE id",
    "WHERE 0 AND id",
  ]),
  ...inQuery(
    "promote",
    "places.sql",
    "due_keys",
    ["jobs are moved before they are due", "run_at <= :now", ":now IS NOT NULL"],
    ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 100"],
    ["the oldest job goes first, not the earliest due", "ORDER BY run_at, key", "ORDER BY key"],
  ),
  ...inQuery("promote", "places.sql", "copy_scheduled_to_ready", [
    "the due time is no rank",
    "run_at * 1000",
    "0",
  ]),
  ...inQuery("promote", "places.sql", "delete_scheduled", [
    "the job stays scheduled, too",
    "WHERE key IN",
    "WHERE 0 AND key IN",
  ]),
  ...inQuery("cancel", "places.sql", "take_blocked", [
    "a held job is not found",
    "key = :key",
    "0 AND key = :key",
  ]),
  ...inQuery("cancel", "places.sql", "take_scheduled", [
    "a scheduled job is not found",
    "key = :key",
    "0 AND key = :key",
  ]),
  ...inQuery("cancel", "places.sql", "delete_cancel_requests", [
    "a request outlives its run",
    "WHERE key IN",
    "WHERE 0 AND key IN",
  ]),
  ...inQuery("pause", "gate.sql", "close_gate", [
    "a closed gate keeps its old reason",
    "DO UPDATE SET until = :until, reason = :reason, by = :by",
    "DO NOTHING",
  ]),
  ...inQuery("pause", "claim.sql", "claim_candidates", [
    "a gate never opens by itself",
    "AND type NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)",
    "AND type NOT IN (SELECT name FROM millrace_gate)",
  ]),
  ...inQuery(
    "resume",
    "gate.sql",
    "open_gate",
    ["every gate opens", "name = :name", ":name IS NOT NULL"],
    ["the gate stays closed", "SET until = :now", "SET until = NULLIF(:now, :now)"],
  ),
  ...inQuery("gates", "gate.sql", "closed_gates", [
    "open gates are listed, too",
    "until IS NULL OR until > :now",
    ":now IS NOT NULL",
  ]),
  ...inQuery(
    "hold",
    "gate.sql",
    "jobs_behind_gates",
    ["open gates hold, too", "gate.until IS NULL OR gate.until > :now", ":now IS NOT NULL"],
    [
      "tenants are not looked at",
      "(front.lane, front.type, front.tenant)",
      "(front.lane, front.type)",
    ],
    ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 100"],
  ),
  ...inQuery("release", "gate.sql", "open_gates", [
    "closed gates let go",
    "until <= :now",
    ":now IS NOT NULL",
  ]),
  ...inQuery(
    "release",
    "gate.sql",
    "blocked_keys",
    ["other gates let go", "gate = :gate", ":gate IS NOT NULL"],
    ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 100"],
  ),
  ...inQuery("release", "places.sql", "take_blocked", [
    "the place in the order is lost",
    "key, rank,",
    "key, 0 AS rank,",
  ]),
  ...inQuery("get", "inspect.sql", "started_at_of_running", [
    "the first lease that names a job tells its start",
    "lease.number DESC",
    "lease.number",
  ]),
  ...inQuery("attempts", "inspect.sql", "attempts_of_job", [
    "the ledger of every job is shown",
    "job.id = :id",
    ":id IS NOT NULL",
  ]),
  ...inQuery("deadLetter", "settle.sql", "insert_dead_letter", [
    "the copy of the spec is empty",
    ":spec",
    "iif(:spec = '', :spec, '{}')",
  ]),
  ...inQuery(
    "list",
    "inspect.sql",
    "match_jobs",
    ["the state is not looked at", ":states IS NULL OR", "1 OR"],
    ["the type is not looked at", ":type IS NULL OR", "1 OR"],
    ["the tenant is not looked at", ":tenant IS NULL OR", "1 OR"],
    ["the category is not looked at", ":category IS NULL OR", "1 OR"],
    ["the parent is not looked at", ":parent IS NULL OR", "1 OR"],
    [
      "one tag of several is enough",
      "FROM json_each(:tags) AS wanted",
      "FROM (SELECT key, value FROM json_each(:tags) LIMIT 1) AS wanted",
    ],
    ["the oldest comes first", "ORDER BY now.key DESC", "ORDER BY now.key"],
  ),
  ...inQuery("list", "inspect.sql", "keys_of_parent", [
    "children are not found by their parent",
    "parent = :parent",
    "0 AND parent = :parent",
  ]),
  ...inQuery("list", "inspect.sql", "keys_of_all", [
    "a page repeats the last job of the one before",
    "key < :before",
    "key <= :before",
  ]),
  ...inQuery("list", "inspect.sql", "keys_of_type", [
    "a page of a type repeats a job",
    "key < :before",
    "key <= :before",
  ]),
  ...inQuery("list", "inspect.sql", "keys_blocked", [
    "held jobs are not found by state",
    "key < :before",
    "0 AND key < :before",
  ]),
  ...inQuery("list", "inspect.sql", "keys_of_correlation", [
    "a job is not found by its own correlation",
    "correlation IS NULL",
    "correlation IS NOT NULL",
  ]),
  ...inQuery("count", "inspect.sql", "match_jobs", [
    "the state is not looked at",
    ":states IS NULL OR",
    "1 OR",
  ]),
  ...inQuery(
    "feed",
    "inspect.sql",
    "feed_after",
    ["the position itself is repeated", "position > :position", "position >= :position"],
    ["the newest comes first", "ORDER BY position", "ORDER BY position DESC"],
    ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 100"],
  ),
  ...inQuery("feed", "inspect.sql", "ids_of_keys", [
    "jobs are named backwards",
    "ORDER BY named.key",
    "ORDER BY named.key DESC",
  ]),
  ...inQuery(
    "prune",
    "prune.sql",
    "finished_before",
    ["age does not matter", "attempt.finished_at <= :before", ":before IS NOT NULL"],
    ["all states have one age", "attempt.state = :state", "attempt.state IS NOT NULL AND :state"],
    [
      "the youngest goes first",
      "ORDER BY attempt.finished_at",
      "ORDER BY attempt.finished_at DESC",
    ],
  ),
  ...inQuery("prune", "prune.sql", "delete_jobs", [
    "nothing goes",
    "WHERE key IN",
    "WHERE 0 AND key IN",
  ]),
  ...inQuery(
    "prune",
    "prune.sql",
    "delete_dead_letters",
    ["a dead letter goes with its job", "died_at <= :before", ":before IS NOT NULL"],
    ["the limit of dead letters is dropped", "LIMIT :limit", "LIMIT :limit + 100"],
  ),
  ...inQuery(
    "prune",
    "prune.sql",
    "delete_events",
    ["young events go, too", "at <= :before", ":before IS NOT NULL"],
    ["the limit of events is dropped", "LIMIT :limit", "LIMIT :limit + 100"],
  ),
  ...inQuery("prune", "prune.sql", "delete_expired_idempotency", [
    "the limit of keys is dropped",
    "LIMIT :limit",
    "LIMIT :limit + 100",
  ]),
];

function inQuery(
  verb: string,
  file: string,
  query: string,
  ...faults: readonly Fault[]
): readonly Mutant[] {
  return faults.map(([mutant, from, to]) => ({ verb, mutant, file, query, replace: [from, to] }));
}
