/** What can go wrong in the store on PostgreSQL, except in what workers do. */
import type { Faults } from "./all.ts";

export const POSTGRES_FAULTS: Faults = {
  enqueue: {
    insert_jobs: [
      ["a known id is an error", "ON CONFLICT (id) DO NOTHING", ""],
      ["a job with a key waits too long", "run_at > created_at AS waits", "true AS waits"],
    ],
    "functions/enqueue.sql": [
      ["a job waits too long", "item.run_at > moment AS waits", "true AS waits"],
      ["jobs that differ change places", "ORDER BY job.turn", "ORDER BY job.turn DESC"],
      ["the due time is no rank", "SELECT key, millrace.ms_of(run_at) * 1000", "SELECT key, 0"],
      ["tags are lost", "WHERE fresh.tags IS NOT NULL", "WHERE false"],
      [
        "no event is written",
        "SELECT moment, 1, array_agg(key) FROM fresh",
        "SELECT moment, 1, array_agg(key) FROM fresh HAVING false",
      ],
      ["jobs that are alike wait too long", "IF run_at > moment THEN", "IF true THEN"],
      ["jobs that are alike do not wait", "IF run_at > moment THEN", "IF false THEN"],
      ["jobs that are alike are said to be due", "RETURN run_at > moment", "RETURN false"],
      [
        "the due time of jobs that are alike is no rank",
        "SELECT item.key, millrace.ms_of(run_at) * 1000",
        "SELECT item.key, 0",
      ],
      ["tags of jobs that are alike are lost", "IF tags IS NOT NULL THEN", "IF false THEN"],
      [
        "no event is written for jobs that are alike",
        "VALUES (moment, 1, keys)",
        "SELECT moment, 1, keys WHERE false",
      ],
      [
        "jobs that are alike change places",
        "SELECT nextval('millrace.job_key_seq') FROM generate_subscripts(ids, 1)",
        "SELECT nextval('millrace.job_key_seq') AS key FROM generate_subscripts(ids, 1)\n" +
          "        ORDER BY key DESC",
      ],
    ],
    "functions/settle.sql": [
      ["a success frees no dedup key", "dedup WHERE job = ANY (accepted)", "dedup WHERE false"],
    ],
    find_bodies: [["payloads are not compared", "tenant, payload", "tenant, NULL AS payload"]],
    take_idempotency: [
      ["tenants share idempotency keys", "SELECT wanted.tenant", "SELECT 1"],
      ["the body is forgotten", "decode(wanted.body, 'hex')", "sha256('')"],
    ],
    take_dedup: [
      [
        "a dedup key is never found again",
        "wanted.key, wanted.job",
        "md5(random()::text), wanted.job",
      ],
    ],
    lock_dedup: [
      [
        "callers change the holder of one dedup key at the same time",
        "count(pg_advisory_xact_lock(key.hash))",
        "count(key.hash)",
      ],
    ],
    delete_dedup: [["a dedup key is never freed", "WHERE", "WHERE false AND"]],
    prune_jobs: [
      [
        "an idempotency key never goes",
        "SET expires_at = expired",
        "SET expires_at = NULL + expired",
      ],
    ],
  },
  "order of one enqueue": {
    "jobs/enqueue-order.ts": [
      ["a job does not see what an earlier one disturbs", "reads ? afterChange : 0", "0"],
      ["a job sees what a later one disturbs", "changes ? afterRead : 0", "0"],
    ],
    "jobs/enqueue-keyed.ts": [
      [
        "jobs with keys change places",
        "jobs.map((interned, index) => ({ interned, key: rows[index]!.key }))",
        "jobs.map((interned, index) => ({ interned, key: rows.at(-1 - index)!.key }))",
      ],
    ],
  },
  enqueueInTransaction: {
    enqueue_at_home: [
      [
        "any database will do",
        "(pg_control_system()).system_identifier || ' ' || current_database() = :home::text",
        ":home::text IS NOT NULL",
      ],
    ],
    "transactions/enqueue.ts": [
      ["any database will do for a job with a key", "here?.home !== home", "false"],
      [
        "what went wrong ends the transaction",
        "inSavepoint(sql, () => writeKeyed(session, sql, batches, refused))",
        "writeKeyed(session, sql, batches, refused)",
      ],
      ["no event is written for jobs with keys", "await outbox.write(sql);", ""],
      [
        "a job is there before the commit",
        'sql.tuples("enqueue_at_home"',
        'session.write.tuples("enqueue_at_home"',
      ],
      ["a job whose names are not interned is left out", "interned.length === jobs.length", "true"],
    ],
  },
  promote: {
    promote_due: [
      ["SKIP LOCKED is dropped", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"],
      [
        "jobs are moved before they are due",
        "run_at <= (SELECT",
        "run_at IS NOT NULL OR now() = (SELECT",
      ],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
      ["the due time is no rank", "millrace.ms_of(run_at) * 1000", "0"],
      ["no claimable job is told", "EXISTS (SELECT 1 FROM millrace.ready)", "false"],
      ["a moved job is not told", "OR EXISTS (SELECT 1 FROM due)\n", ""],
      ["a closed gate counts as open", "closed.until IS NULL OR closed.until > moment.at", "false"],
      ["locks are not told", "EXISTS (SELECT 1 FROM millrace.lock)", "false"],
      ["a gate is not told", "EXISTS (SELECT 1 FROM millrace.closed_gate)\n", "false\n"],
      ["dependencies are not told", "EXISTS (SELECT 1 FROM millrace.blocked)", "false"],
    ],
  },
  cancel: {
    take_waiting: [
      [
        "a due job is not found",
        "FROM millrace.ready AS place\n    USING wanted\n    WHERE",
        "FROM millrace.ready AS place\n    USING wanted\n    WHERE false AND",
      ],
    ],
    own_lease_of_job: [["a settle under way is not waited for", "FOR UPDATE", ""]],
    insert_cancel_request: [
      ["the last asker's reason counts", "DO NOTHING", "DO UPDATE SET reason = excluded.reason"],
    ],
    end_unstarted: [["the reason is lost", "           job.reason\n", "           NULL\n"]],
  },
  hurry: {
    hurry_job: [
      [
        "it keeps its due time",
        "SELECT key, millrace.ms_of(millrace.clock_at(:now::timestamptz)) * 1000, lane",
        "SELECT key, millrace.ms_of(run_at) * 1000, lane",
      ],
      ["every job is hurried", "WHERE scheduled.key = (", "WHERE 0 < ("],
    ],
  },
  intervene: {
    own_lease_of_job: [["the oldest lease is taken", "lease.number DESC", "lease.number"]],
    insert_attempts: [["the run is not charged", "ended.n, ended.tries", "ended.n, 0"]],
    worker_lives: [
      [
        "a silent worker counts as alive",
        "until > millrace.clock_at(:now::timestamptz)",
        "until IS NOT NULL",
      ],
    ],
    "jobs/intervene.ts": [
      [
        "a lease without runs stays",
        'await transaction.run("delete_leases"',
        'void ("delete_leases"',
      ],
    ],
  },
  pause: {
    close_gate: [
      ["a repeated pause begins anew", "WHEN known.until <= excluded.closed_at", "WHEN true"],
      [
        "a gate never opens by itself",
        "+ :for_ms::bigint * interval '1 millisecond'",
        "+ 0 * :for_ms::bigint * interval '1 millisecond' + interval '9 years'",
      ],
    ],
  },
  resume: {
    open_gate: [["every gate opens", "name = :name::integer", ":name::integer > 0"]],
  },
  countBehind: {
    count_behind_gate: [
      [
        "the limit is dropped",
        "FROM millrace.ready LIMIT :rows::bigint)\n    UNION",
        "FROM millrace.ready)\n    UNION",
      ],
      ["other gates are not looked at", "WHERE other.name IN", "WHERE false AND other.name IN"],
      ["the tenant is not looked at", ":tenant::integer IS NULL", "true"],
      [
        "a cut count is exact",
        "FROM millrace.ready LIMIT 1 OFFSET :rows::bigint)",
        "FROM millrace.ready LIMIT 0)",
      ],
      [
        "jobs that another gate holds do not count",
        "WHERE gate = ANY (ARRAY(SELECT DISTINCT gate FROM other))\n        LIMIT :rows::bigint",
        "WHERE false LIMIT :rows::bigint",
      ],
    ],
  },
  gates: {
    closed_gates: [["open gates are listed, too", "until IS NULL OR until >", "true OR until >"]],
  },
  hold: {
    hold_jobs: [
      ["SKIP LOCKED is dropped", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"],
      ["tenants are not looked at", "OR front.tenant = ANY (shut.targets)\n       OR", "OR"],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
      ["only the first lane is looked at", "WHERE lane.id IS NOT NULL", "WHERE false"],
      [
        "only the first lane and number of crashes is looked at",
        "(ready.lane, ready.crashes) > (part.lane, part.crashes)",
        "false",
      ],
      ["jobs that have crashed stay", "ready.crashes = part.crashes", "false"],
    ],
  },
  release: {
    release_jobs: [
      [
        "SKIP LOCKED is dropped",
        "blocked.key\n        LIMIT :limit::integer\n        FOR UPDATE SKIP LOCKED",
        "blocked.key\n        LIMIT :limit::integer\n        FOR UPDATE",
      ],
      ["closed gates let go", "WHERE closed.gate = gate.id", "WHERE false"],
      ["the place in the order is lost", "SELECT key, rank,", "SELECT key, 0,"],
    ],
  },
  get: {
    "functions/find-job.sql": [["any job is shown", "WHERE shown.key = (", "WHERE 0 < ("]],
    "migrations/0001_tables.sql": [
      ["the first lease that names a job tells its start", "lease.number DESC", "lease.number"],
      ["the first of a lease is not found", "SELECT min(key)", "SELECT max(key)"],
      ["the last of a lease is not found", "SELECT max(key)", "SELECT min(key)"],
    ],
  },
  attempts: {
    attempts_of_job: [["any ledger is shown", "WHERE attempt.key = (", "WHERE 0 < ("]],
  },
  groupedStats: {
    count_groups: [
      ["an ended run counts", "AND ended.n = run.n", "AND false"],
      [
        "a place is read as a whole",
        "FROM millrace.blocked LIMIT :rows::bigint",
        "FROM millrace.blocked",
      ],
      ["the smallest groups come first", "count(*) DESC", "count(*)"],
      ["the youngest job tells the age", "- min(rank) / 1000", "- max(rank) / 1000"],
      ["a turn counts as a due time", "coalesce(due * 1000, rank)", "rank"],
      ["each end counts as failed", "state = 6 AND state > 4", "true"],
      ["the tenant is not looked at", ":tenant::integer IS NULL", "true"],
    ],
  },
  tenantsOf: {
    tenants_of_ids: [
      [
        "aliases are not looked at",
        "FROM millrace.job_name WHERE id",
        "FROM millrace.job WHERE id",
      ],
      ["dead letters are not looked at", "OR letter.id IS NOT NULL", ""],
    ],
  },
  idsBetween: {
    ids_between: [
      ["aliases are not looked at", "AND job IS NOT NULL", "AND job IS NULL"],
      ["the limit is dropped", "ORDER BY id\nLIMIT :limit::integer", "ORDER BY id"],
      [
        "the first id is left out",
        "FROM millrace.job\n    WHERE id",
        "FROM millrace.job\n    WHERE id > :first::uuid AND id",
      ],
      [
        "dead letters are not looked at",
        "FROM millrace.dead_letter\n    WHERE id",
        "FROM millrace.dead_letter\n    WHERE false AND id",
      ],
    ],
  },
  list: {
    match_jobs: [
      ["the state is not looked at", ":states::integer[] IS NULL", "true"],
      ["the tenant is not looked at", ":tenant::integer IS NULL", "true"],
      ["the first moment does not count", "created_at >= millrace", "created_at > millrace"],
      ["the last moment counts", "created_at < millrace", "created_at <= millrace"],
      ["a page has the oldest of its jobs", "ORDER BY key DESC LIMIT", "ORDER BY key LIMIT"],
      [
        "one tag of several is enough",
        "FROM json_each_text(:tags::json) AS wanted",
        "FROM (SELECT * FROM json_each_text(:tags::json) LIMIT 1) AS wanted",
      ],
      ["the oldest comes first", "ORDER BY job.key DESC", "ORDER BY job.key"],
      ["the first lease that names a job tells its start", "lease.number DESC", "lease.number"],
      ["the lease of the last job is not found", "lease.low <=", "lease.low <"],
      ["the lease of the first job is not found", "lease.high >=", "lease.high >"],
    ],
    keys_of_all: [["a page repeats a job", "key <", "key <="]],
    keys_of_states: [
      ["no running job is found", "3 = ANY", "9 = ANY"],
      ["no completed job is found", "4 = ANY", "9 = ANY"],
      ["leases that name a job hide others", "SELECT DISTINCT claimed", "SELECT claimed"],
      [
        "ledger rows of a job hide others",
        "SELECT DISTINCT key\n        FROM",
        "SELECT key\n        FROM",
      ],
    ],
    "inspect/jobs.ts": [
      [
        "a page that is cut short is the last one",
        "next: reached, isCutShort: reached",
        "next: null, isCutShort: reached",
      ],
    ],
    keys_of_tag: [["no tag is found", "key <", "false AND key <"]],
    keys_of_parent: [["no child is found", "key <", "false AND key <"]],
  },
  count: {
    count_matching: [["the type is not looked at", ":type::integer IS NULL", "true"]],
    count_places: [
      [
        "ended runs count as running",
        "WHERE ended.key = run.key",
        "WHERE false AND ended.key = run.key",
      ],
    ],
    count_ended: [
      ["the state is not looked at", "state = :state::smallint", ":state::smallint > 0"],
    ],
  },
  stats: {
    count_due: [
      ["gates are not looked at", "WHERE closed.name IN", "WHERE false AND closed.name IN"],
      ["open gates count", "until IS NULL OR until >", "true OR until >"],
      ["a job behind a gate is the oldest", "min(rank) FILTER (WHERE NOT behind)", "min(rank)"],
    ],
    longest_due: [
      [
        "only the first lane is looked at",
        "FROM fresh\n",
        "FROM (SELECT * FROM fresh WHERE false) AS fresh\n",
      ],
      ["crashed jobs are not old", "(SELECT rank FROM crashed LIMIT", "(SELECT 9e15 LIMIT"],
    ],
    count_places: [
      ["held jobs do not count", "FROM millrace.blocked", "FROM millrace.blocked WHERE false"],
      ["each scheduled job is retrying", "n > 1", "n > 0"],
    ],
  },
  deadLetter: {
    find_dead_letter: [["any letter is shown", "id = :id::uuid", ":id::uuid IS NOT NULL"]],
  },
  deadLetters: {
    list_dead_letters: [
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
      ["the status is not looked at", ":status::smallint IS NULL", "true"],
    ],
  },
  review: {
    review_dead_letter: [["closed letters change", "AND status IN (1, 2)", ""]],
  },
  annotate: {
    annotate_dead_letter: [["entries are not bounded", ">= 100", ">= 1000"]],
    insert_dead_letters: [["old runs are forgotten", "LIMIT 50", "LIMIT 1"]],
  },
  reprocess: {
    review_dead_letter: [
      [
        "the successor is not noted",
        ":successor::uuid",
        "NULLIF(:successor::uuid, :successor::uuid)",
      ],
    ],
    lock_dead_letter: [["two successors are made", "FOR UPDATE", ""]],
  },
  feedEnd: {
    number_events: [["who numbers is not waited for", "FOR UPDATE", "FOR UPDATE SKIP LOCKED"]],
    "events/feed.ts": [
      [
        "what has no position yet does not count",
        "await numberAll(session);\n  return (",
        "return (",
      ],
    ],
  },
  feedStart: {
    feed_start: [
      ["it is the first position", "min(position) - 1", "min(position)"],
      ["it is the last position", "min(position)", "max(position)"],
      ["an empty feed begins at 0", "head.position", "0 * head.position"],
    ],
  },
  feed: {
    number_events: [
      ["the order is lost", "OVER (ORDER BY number)", "OVER (ORDER BY number DESC)"],
      [
        "positions are given twice",
        "SET position = head.position + taken.count",
        "SET position = head.position + 0 * taken.count",
      ],
    ],
    feed_after: [
      ["the position itself is repeated", ":position::bigint,", ":position::bigint - 1,"],
      ["the limit is dropped", "turn < :limit::integer", "turn < :limit::integer + 1000"],
      ["a full page is empty", "page.total <= :bytes", "page.total < 0 * :bytes"],
    ],
    facts_of_keys: [
      ["others are taken for them", "job.key = named.key", "job.key = named.key + 1"],
      ["a type stands for the tenant", "job.tenant", "job.type AS tenant"],
      ["correlations are forgotten", "job.correlation", "NULL::text AS correlation"],
    ],
    "events/feed.ts": [["tenants are not looked up", "[type, tenant]", "[type]"]],
  },
  prune: {
    prune_jobs: [
      ["parents are not looked at", "parent.id = child.parent", "false"],
      ["SKIP LOCKED is dropped", "FOR UPDATE SKIP LOCKED", "FOR UPDATE"],
      [
        "the ledger stays",
        "DELETE FROM millrace.attempt\n    WHERE",
        "DELETE FROM millrace.attempt\n    WHERE false AND",
      ],
      ["other jobs lose their tags", "AND tag.key = gone.key", ""],
      [
        "a removed job has another tenant",
        "ON tenant.id = gone.tenant",
        "ON tenant.id = gone.type",
      ],
      ["a removed job has no correlation", "coalesce(gone.correlation, ", "coalesce(NULL, "],
      [
        "details are those of other jobs",
        "array_agg(named.detail ORDER BY named.turn)",
        "array_agg(named.detail ORDER BY named.turn DESC)",
      ],
    ],
    expired_keys: [
      ["parents are not looked at", "parent.id = child.parent", "false"],
      ["children stay for ever", "AND last.state IS NOT NULL", "AND false"],
      ["age does not matter", "age.ms * interval '1 millisecond'", "age.ms * interval '0'"],
      ["all states have one age", "attempt.state = age.state", "attempt.state IS NOT NULL"],
      ["what a lease names goes", "WHERE walked.key NOT IN (", "WHERE -1 NOT IN ("],
    ],
    "retention/expired.ts": [["what came late stays", "[...late, ...found]", "[...found]"]],
    "retention/prune.ts": [
      ["a shared batch counts as the last", "[found, ...records", "[jobs, ...records"],
      ["more keys that came late go than asked", "limit - count))", "limit))"],
    ],
    prune_idempotency: [
      ["more go than asked", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
    prune_dead_letters: [
      ["a dead letter goes with its job", "WHERE died_at <= ", "WHERE now() <> "],
    ],
    prune_events: [
      ["young events go, too", "WHERE at > ", "WHERE now() = "],
      [
        "old events go from between young ones",
        "WHERE oldest.position < coalesce(young.position, 9223372036854775807)",
        "WHERE oldest.position < coalesce(young.position, 9223372036854775807)\n" +
          "       OR oldest.at < (SELECT max(at) FROM oldest)",
      ],
    ],
  },
  watch: {
    "events/notify.ts": [
      ["no other process is notified", "pg_notify($1, $2)", "$1::text, $2::text"],
    ],
    enqueue_alike: [
      [
        "no other process is notified of a lone job",
        "pg_notify(:channel::text, :word::text)",
        "NULL::void",
      ],
    ],
    settle_done: [
      [
        "no other process is notified of a lone end",
        "pg_notify(:channel::text, :word::text)",
        "NULL::void",
      ],
    ],
  },
};
