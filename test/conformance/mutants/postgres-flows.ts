/** What can go wrong with locks, dependencies, logs and stale marks in the store on PostgreSQL. */
import type { Faults } from "./all.ts";

export const POSTGRES_FLOW_FAULTS: Faults = {
  lock: {
    "functions/claim.sql": [
      [
        "a taken key is not looked at",
        "WHERE lock.tenant = ready.tenant AND lock.name = ready.concurrency\n",
        "WHERE false\n",
      ],
      [
        "tenants share keys",
        "WHERE lock.tenant = ready.tenant AND lock.name = ready.concurrency\n",
        "WHERE lock.name = ready.concurrency\n",
      ],
      [
        "a prefetch takes keys",
        "NOT to_prefetch\n                      AND (clock_timestamp()",
        "(clock_timestamp()",
      ],
      ["a batch takes a key twice", "array_agg(key) FILTER (WHERE turn = 1),", "array_agg(key),"],
      ["two jobs of a key are not noticed", "cardinality(marks) = (", "0 < ("],
      ["a claim gives up at once", "FOR round IN 1 .. 4 LOOP", "FOR round IN 1 .. 1 LOOP"],
    ],
    "functions/locks.sql": [
      [
        "the least urgent is next",
        "ORDER BY blocked.priority, blocked.rank, blocked.key",
        "ORDER BY blocked.priority DESC",
      ],
      ["another tenant is next", "AND blocked.tenant = free.tenant\n", ""],
      ["another key is next", "AND blocked.concurrency = free.name\n", ""],
      ["locks outlive their run", "WHERE job = ANY (jobs)", "WHERE job = ANY (jobs) AND false"],
    ],
    hold_jobs: [
      // The list of taken keys is compared with both: a change of the other one has no effect.
      [
        "tenants share keys",
        "(front.tenant, front.concurrency) IN (\n           SELECT taken_key.tenant, ",
        "front.concurrency IN (\n           SELECT ",
      ],
      ["a taken key comes before a gate", "SELECT min(closed.gate)", "SELECT -1"],
    ],
    release_keys: [
      ["a taken key is free", "lock.name = hop.name", "false"],
      [
        "the least urgent comes back",
        "ORDER BY blocked.priority, blocked.rank, blocked.key",
        "ORDER BY blocked.priority DESC",
      ],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
  },
  acquireLocks: {
    "runs/locks.ts": [
      ["any caller acquires locks", 'if (!isOpen) return { status: "stale" };', ""],
      ["a run that has ended acquires locks", "&& !run.ended", ""],
      ["a job that has not started acquires locks", "run.started_at !== null && ", ""],
    ],
    acquire_locks: [["tenants share locks", "job.tenant, wanted.name", "1, wanted.name"]],
    locks_of_run: [["locks of other runs count as held", "job = :key::bigint", ":key::bigint > 0"]],
    release_locks: [
      ["a run gives up its own key", "AND lock.name IS DISTINCT FROM job.concurrency", ""],
      ["locks of other runs are released", "lock.job = given.key", "true"],
    ],
    "runs/record-notes.ts": [
      [
        "locks are never released",
        "if (released.length === 0) return;",
        "if (released.length >= 0) return;",
      ],
      [
        "no worker is woken",
        "if ((row?.count ?? 0) > 0) transaction.outbox.wakeForReturned();",
        "",
      ],
    ],
  },
  lockHolder: {
    lock_holder: [
      ["tenants share locks", "lock.tenant = :tenant::integer", ":tenant::integer > 0"],
      ["any lock will do", "lock.name = :name::text", ":name::text <> ''"],
    ],
  },
  after: {
    "jobs/enqueue-after.ts": [
      ["a duplicate does not stand for its key holder", "keyHolders.get(id) ?? id", "id"],
      [
        "who is gone is still waited for",
        "keys.has(named) || keyHolders.has(id)",
        "keys.has(named)",
      ],
      [
        "who gave way to one is waited for twice",
        "new Set(job.after.map((id) => keys.get(id) ?? null))",
        "job.after.map((id) => keys.get(id) ?? null)",
      ],
      ["every wait is tolerant", 'job.onFailed === "run" ? 1 : 0', "1"],
      ["no wait is tolerant", 'job.onFailed === "run" ? 1 : 0', "0"],
      ["any number is waited for", "if (job.after.length > AFTER_MAX) return refusal(job);", ""],
    ],
    "jobs/enqueue-order.ts": [
      ["later jobs of a call are known", "named.get(idKey(numbered.interned.job.id)) ?? 0", "0"],
    ],
    "jobs/enqueue-keyed.ts": [
      [
        "a duplicate is not mapped to its key holder",
        "noteKeyHolder(keyHolders, interned.job.id, answer);",
        "",
      ],
    ],
    "jobs/enqueue.ts": [
      [
        "a refused neighbour makes them forget who gave way",
        "noteKeyHolders(keyHolders, part, answers);",
        "",
      ],
      [
        "a job that goes by itself does not hear who gave way",
        "if (answer !== null) noteKeyHolder(keyHolders, id, answer);",
        "",
      ],
      ["a heavy call forgets who gave way", "noteKeyHolders(earlier, requests, own);", ""],
    ],
    "transactions/enqueue.ts": [
      ["a caller's heavy call forgets", "noteKeyHolders(keyHolders, batch, own);", ""],
    ],
    spoilt_dependants: [
      ["errors in units are a failure", "IN (6, 7)", "IN (5, 6, 7)"],
      ["a cancelled parent is none", "IN (6, 7)", "IN (6)"],
      ["a failed parent is none", "IN (6, 7)", "IN (7)"],
    ],
    let_go_on: [
      ["one parent is enough", "WHERE link.job = blocked.key", "WHERE false"],
      ["all are due at once", "WHERE rank / 1000 <= millrace.ms_of(moment.at)", ""],
    ],
    insert_finished_dependencies: [
      ["old ends are not heard of", "WHERE dependency.job", "WHERE false AND dependency.job"],
    ],
    drop_dependencies: [
      [
        "dependencies stay",
        "dependency.depends_on = ANY (:keys::bigint[])",
        "dependency.depends_on = ANY (:keys::bigint[]) AND false",
      ],
    ],
  },
  children: {
    "batching/fallback.ts": [
      ["a refused child takes all ends with it", "items.length === 1 ? items", "true ? items"],
    ],
    "jobs/enqueue.ts": [
      ["a refused child is lost", "throwIfRefused(children, ", "void [throwIfRefused]; ("],
    ],
    "runs/settle.ts": [
      ["an end does not say why", "(_, error) => refusalBy(error)", '() => "refused"'],
    ],
    "runs/record.ts": [
      ["a note does not say why", "(_, error) => refusalBy(error)", '() => "refused"'],
    ],
  },
  resolveDependencies: {
    "functions/dependencies.sql": [
      [
        "no dependant learns of an end",
        "WHERE depends_on = ANY (keys)\n    ORDER",
        "WHERE false ORDER",
      ],
    ],
    take_finished_dependencies: [
      ["a dead end stops all", "FOR UPDATE OF ended SKIP LOCKED", "FOR UPDATE OF ended NOWAIT"],
    ],
    put_waiting: [
      [
        "a job that goes round again waits no more",
        "IS NOT NULL AS awaits",
        "IS NULL AND false AS awaits",
      ],
    ],
    hurry_job: [["a hurried job keeps its time", "AND blocked.gate = 0", "AND blocked.gate = -5"]],
  },
  aliases: {
    "jobs/enqueue.ts": [
      ["none is written", "aliasesOf(children, answers);", "aliasesOf(children, []);"],
    ],
    find_dependencies: [
      ["they are unknown in after", "FROM millrace.job_name", "FROM millrace.job"],
    ],
    "functions/find-job.sql": [["they name no job", "FROM millrace.job_name", "FROM millrace.job"]],
    state_of: [["no operator moves them", "FROM millrace.job_name", "FROM millrace.job"]],
    hurry_job: [
      [
        "they are never hurried",
        "WHERE scheduled.key = (SELECT key FROM millrace.job_name",
        "WHERE scheduled.key = (SELECT key FROM millrace.job",
      ],
    ],
    attempts_of_job: [["they have no ledger", "FROM millrace.job_name", "FROM millrace.job"]],
    progress_of_job: [["they have no progress", "FROM millrace.job_name", "FROM millrace.job"]],
    "functions/list-units.sql": [
      ["they have no units", "FROM millrace.job_name", "FROM millrace.job"],
    ],
    log_after: [["they have no log", "FROM millrace.job_name", "FROM millrace.job"]],
    newest_log: [["they have no newest log", "FROM millrace.job_name", "FROM millrace.job"]],
    open_dependencies: [["they wait for nothing", "FROM millrace.job_name", "FROM millrace.job"]],
    find_aliases: [
      ["a repeated note creates the child", "WHERE id = ANY (:ids::uuid[])", "WHERE false"],
    ],
    insert_aliases: [["they forget the holder", "holder.id = given.holder", "false"]],
    expired_keys: [["their holder goes", "alias.job = walked.key", "false"]],
    prune_jobs: [
      ["their holder goes", "alias.job = attempt.key", "false"],
      [
        "they outlive their holder",
        "DELETE FROM millrace.alias\n    WHERE job = ANY",
        "DELETE FROM millrace.alias\n    WHERE -1 = ANY",
      ],
      ["they outlive their parent", "OR parent = ANY (ARRAY(SELECT key FROM expired))", ""],
    ],
  },
  dependants: {
    dependants_of_job: [
      [
        "the jobs that wait for any job are shown",
        "WHERE dependency.depends_on IN (",
        "WHERE true OR dependency.depends_on IN (",
      ],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
  },
  holder: {
    holder_of_job: [
      ["a run that has ended has a holder", "WHERE NOT EXISTS (", "WHERE true OR NOT EXISTS ("],
      ["the holder of any job is shown", "AND lease.keys @> ARRAY[named.key]", ""],
    ],
  },
  openDependencies: {
    open_dependencies: [
      ["the waits of all are shown", "dependency.job = (", "0 < ("],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
  },
  logs: {
    put_logs: [
      ["numbers begin anew", "ORDER BY log.line DESC", "ORDER BY log.line"],
      ["the run is forgotten", "SELECT key, line, n, turn,", "SELECT key, line, 1, turn,"],
      ["the level is forgotten", "at_ms(at), level,", "at_ms(at), 2,"],
      ["fields are forgotten", "message, fields::json", "message, NULL"],
      ["the lines of a repeated note are stored again", "last.turn >= said.turn", "false"],
      ["the lines of the next run count as repeated", "last.n = said.n AND ", ""],
    ],
    trim_logs: [
      [
        "lines have no bound",
        "weighed.lines > :lines_max::integer OR ",
        ":lines_max::integer < 0 OR ",
      ],
      [
        "characters have no bound",
        " OR weighed.chars > :chars_max::integer",
        " OR :chars_max::integer < 0",
      ],
      ["fields weigh nothing", " + coalesce(length(kept.fields::text), 0)", ""],
      ["jobs weigh together", "PARTITION BY kept.key ", ""],
      ["the newest go", "ORDER BY kept.line DESC", "ORDER BY kept.line"],
    ],
    log_after: [
      ["pages repeat", "line > :after::bigint", ":after::bigint > -1"],
      ["the limit is dropped", "LIMIT :limit::integer", "LIMIT :limit::integer + 1000"],
    ],
    newest_log: [["the oldest are shown", "ORDER BY line DESC", "ORDER BY line"]],
    "runs/record-notes.ts": [
      ["what is said at once is numbered alike", 'if (logs.length > 0) subjects.push("log");', ""],
    ],
  },
  expired: {
    expired_keys: [
      ["leases are not looked at", "WHERE walked.key NOT IN (", "WHERE -1 NOT IN ("],
      ["marked ones are fresh", "NOT :fresh::boolean", "NOT :fresh::boolean OR true"],
      ["the period does not matter", "age.ms * interval '1 millisecond'", "age.ms * interval '0'"],
      [
        "the youngest come first",
        "BY walked.turn ORDER BY walked.finished_at",
        "BY walked.turn ORDER BY walked.finished_at DESC",
      ],
    ],
  },
  markStale: {
    insert_stale: [
      ["what goes on is marked", "AND over.state IS NOT NULL", ""],
      ["a mark is told of twice", "DO NOTHING", "DO UPDATE SET at = excluded.at"],
    ],
    "migrations/0001_tables.sql": [
      ["the mark is not shown", "stale.key IS NOT NULL AS is_stale", "false AS is_stale"],
    ],
    match_jobs: [["lists show no mark", "stale.key IS NOT NULL", "false"]],
  },
  remove: {
    prune_jobs: [
      ["what goes on is removed", "AND attempt.state IS NOT NULL", ""],
      [
        "leases are not looked at",
        "AND attempt.key NOT IN (SELECT leased.key",
        "AND -1 NOT IN (SELECT leased.key",
      ],
    ],
  },
  types: {
    expired_keys: [
      ["they go with all others", "AND job.type <> ALL (walked.others)", ""],
      ["all others go with them", "walked.type IS NULL OR job.type = walked.type", "true"],
    ],
    "retention/expired.ts": [
      [
        "it always begins in front",
        "from: cursor.reached,\n    end: END",
        "from: START,\n    end: END",
      ],
      ["what was passed is never found", "[...late, ...found]", "[...found]"],
    ],
  },
  repair: {
    expired_keys: [["awaited jobs go", "link.depends_on = walked.key", "link.depends_on = -1"]],
    sweep_dependencies: [
      [
        "it scans the same dependencies again",
        "(dependency.job, dependency.depends_on) > (:job::bigint, :depends_on::bigint)",
        ":job::bigint + :depends_on::bigint > -1",
      ],
      ["it sees no ends", "AND over.state IS NOT NULL", "AND false"],
      ["it sees not who is gone", "WHERE job.key = seen.depends_on", ""],
    ],
    free_dead_locks: [
      ["locks of ended runs stay", "over.n = lock.n", "false"],
      [
        "locks of jobs that are gone stay",
        "WHERE job.key = lock.job) IS NULL",
        "WHERE job.key = lock.job) = -1",
      ],
    ],
    open_dependencies: [["final jobs are awaited", "AND over.state IS NOT NULL", "AND false"]],
    delete_finished_dependency: [
      ["ends stay", "WHERE (\n      ended.key", "WHERE (\n      false AND ended.key"],
    ],
    prune_jobs: [
      ["awaited jobs go", "link.depends_on = attempt.key", "link.depends_on = -1"],
      [
        "logs outlive their job",
        "DELETE FROM millrace.log\n    WHERE",
        "DELETE FROM millrace.log\n    WHERE false AND",
      ],
      [
        "marks outlive their job",
        "DELETE FROM millrace.stale\n    WHERE",
        "DELETE FROM millrace.stale\n    WHERE false AND",
      ],
    ],
    "functions/dependencies.sql": [
      [
        "dependencies outlive their job",
        "DELETE FROM millrace.dependency WHERE",
        "DELETE FROM millrace.dependency WHERE false AND",
      ],
    ],
  },
  sweep: {
    "retention/expired.ts": [
      ["each page begins anew", "later(from, cursor.reached)", "cursor.reached"],
      ["a page ends the sweep", "last?.is_cut === true ? reached : null", "null"],
      ["what is left is lost", "if (start === cursor.reached) cursor", "cursor"],
      ["there is no second look", "if (from === null) await", "if (false) await"],
      [
        "the second look goes no further",
        "cursor.rescanned = stoppedAt ?? START;",
        "cursor.rescanned = START;",
      ],
      ["the second look finds nothing", "if (jobs.length > 0) cursor", "if (false) cursor"],
    ],
    expired_keys: [
      [
        "ends at one instant repeat",
        "(attempt.finished_at, attempt.key) > (age.from_at, age.from_key)",
        "age.from_key >= 0",
      ],
    ],
  },
};
