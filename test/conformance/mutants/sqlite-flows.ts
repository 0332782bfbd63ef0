/** What can go wrong with locks, dependencies, logs and stale marks in the store on SQLite. */
import type { Faults } from "./all.ts";

export const SQLITE_FLOW_FAULTS: Faults = {
  promote: {
    waiting_jobs: [
      ["no claimable job is told", "EXISTS (SELECT 1 FROM millrace_ready)", "0"],
      [
        "a closed gate counts as open",
        "FROM millrace_gate WHERE until <= :now",
        "FROM millrace_gate WHERE :now > 0",
      ],
      [
        "a gate that has opened is not told",
        "FROM millrace_gate WHERE until <= :now",
        "FROM millrace_gate WHERE 0",
      ],
      ["locks are not told", "EXISTS (SELECT 1 FROM millrace_lock)", "0"],
    ],
  },
  lock: {
    claim_candidates: [
      ["a taken key is not looked at", "NOT EXISTS (", "1 OR NOT EXISTS ("],
      ["tenants share keys", "lock.tenant = millrace_ready.tenant AND ", ""],
      ["a prefetch takes keys", ":prefetch = 0 OR concurrency IS NULL", "1"],
    ],
    "runs/claim-candidates.ts": [
      ["a batch takes a key twice", "return isFirst;", "return true;"],
      ["what a lane hides is not looked for", "sure.length >= limit", "first.length >= limit"],
      ["a key goes to the first that is seen", "keyed = sure.filter(", "keyed = first.filter("],
      ["a claim gives up at once", "reach >= REACH_MAX", "true"],
    ],
    insert_lock: [
      [
        "the lock of a key is not written",
        "VALUES (:tenant, :name, :job, :n)",
        "SELECT :tenant, :name, :job, :n WHERE 0",
      ],
    ],
    delete_locks: [
      ["locks outlive their run", "WHERE", "WHERE 0 AND"],
      ["all locks are released with a run", "job IN (", "0 NOT IN ("],
    ],
    next_of_key: [
      ["the least urgent is next", "ORDER BY priority,", "ORDER BY priority DESC,"],
      ["another tenant is next", "AND tenant = :tenant", ""],
      ["another key is next", "AND concurrency = :name", ""],
      ["a job behind a gate is next", "gate = -1", "1"],
    ],
    "runs/locks.ts": [["no job is next", "if (next !== undefined) unblock", "if (false) unblock"]],
    jobs_of_taken_keys: [
      ["tenants share keys", "lock.tenant = front.tenant AND ", ""],
      ["any key is taken", " AND lock.name = front.concurrency", ""],
    ],
    "queue/gates.ts": [
      ["a taken key comes before a gate", "gateOf.set(key, gate);", "gateOf.set(key, GATE_KEY);"],
    ],
    jobs_of_free_keys: [
      ["a taken key is free", "WHERE NOT EXISTS (", "WHERE 1 OR NOT EXISTS ("],
      ["one key comes back", "AS place ON place.key", "AS place ON 0 AND place.key"],
      ["the limit is dropped", ")\nLIMIT :limit", ")\nLIMIT :limit + 1000"],
    ],
  },
  acquireLocks: {
    "runs/locks.ts": [
      ["any caller acquires locks", 'return { status: "stale" };', ";"],
      [
        "no job learns of a free lock",
        'unblockNext(session, session.sql.all("r',
        'void (session.sql.all("r',
      ],
    ],
    acquire_lock: [["tenants share locks", "SELECT tenant, :name", "SELECT 1, :name"]],
    locks_of_run: [["locks of other runs count as held", "lock.job = :key", ":key > 0"]],
    release_locks: [
      ["a run gives up its own key", "name IS NOT (SELECT", "0 IS NOT (SELECT"],
      ["locks of other runs are released", "WHERE job = :key", "WHERE 1"],
      ["all locks are released", "name IN (SELECT", "'' NOT IN (SELECT"],
    ],
    "runs/record.ts": [["locks are never released", "if (releases !== undefined)", "if (false)"]],
  },
  lockHolder: {
    lock_holder: [
      ["tenants share locks", "lock.tenant = :tenant", ":tenant > 0"],
      ["any lock will do", "lock.name = :name", ":name <> ''"],
    ],
  },
  after: {
    "queue/dependencies.ts": [
      ["a missing job is waited for", "if (isUnknown) return", "if (isUnknown && !id) return"],
      [
        "a duplicate does not stand for its key holder",
        "idBytes(keyHolders.get(id) ?? id)",
        "idBytes(id)",
      ],
      [
        "who is gone is still waited for",
        "row === undefined && !keyHolders.has(id)",
        "row === undefined",
      ],
      ["every wait is tolerant", 'onFailed === "run" || depends_on < 0 ? 1 : 0', "1"],
      ["no wait is tolerant", 'onFailed === "run" || depends_on < 0 ? 1 : 0', "0"],
      [
        "one parent is enough",
        '"has_dependencies", { job }) !== undefined',
        '"has_dependencies", { job }) === null',
      ],
      ["errors in units are a failure", 'word !== "failed" &&', 'word === "completed" &&'],
      ["no failure is one", 'if (word !== "failed"', 'if (true || word !== "failed"'],
      ["all are due at once", "Math.floor(waiting.rank / 1000), clock", "0, clock"],
      [
        "a cancellation goes no further",
        "if (dependency === undefined) return moved;",
        "if (dependency === undefined || moved > 0) return moved;",
      ],
    ],
    "jobs/enqueue.ts": [
      [
        "a duplicate is not mapped to its key holder",
        "noteKeyHolder(call.keyHolders, job.id, answer);",
        "",
      ],
      [
        "a refused neighbour makes them forget who gave way",
        "enqueueAll(session, part, call)",
        "enqueueAll(session, part, { ...call, keyHolders: new Map() })",
      ],
    ],
    insert_finished_dependencies: [
      ["old ends are not heard of", "WHERE dependency.job", "WHERE 0 AND dependency.job"],
    ],
  },
  children: {
    insert_job: [["the parent is forgotten", ":parent", "NULL"]],
    "batching/fallback.ts": [
      ["a refused child is not undone", 'sql.run("undo_part", {});', ""],
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
    insert_finished_dependency: [["no dependant learns of an end", "WHERE true", "WHERE false"]],
    "queue/dependencies.ts": [
      [
        "a job that goes round again waits no more",
        'return false;\n  sql.run("insert_blocked"',
        'return false;\n  return false;\n  sql.run("insert_blocked"',
      ],
    ],
    set_rank_of_dependant: [
      ["a hurried job keeps its time", "SET rank = :rank", "SET rank = rank"],
    ],
    expired_jobs: [["awaited jobs go", "link.depends_on = job.key", "0"]],
    removable_jobs: [["awaited jobs go", "link.depends_on = job.key", "0"]],
  },
  aliases: {
    "jobs/enqueue.ts": [
      ["none is written", "of aliasesOf(children, answers)", "of aliasesOf(children, [])"],
    ],
    find_key: [["they are unknown in after", "FROM millrace_job_name", "FROM millrace_job"]],
    job_by_id: [["they name no job", "FROM millrace_job_name", "FROM millrace_job"]],
    attempts_of_job: [["they have no ledger", "FROM millrace_job_name", "FROM millrace_job"]],
    progress_of_job: [["they have no progress", "FROM millrace_job_name", "FROM millrace_job"]],
    units_of_job: [["they have no units", "FROM millrace_job_name", "FROM millrace_job"]],
    log_after: [["they have no log", "FROM millrace_job_name", "FROM millrace_job"]],
    newest_log: [["they have no newest log", "FROM millrace_job_name", "FROM millrace_job"]],
    open_dependencies: [["they wait for nothing", "FROM millrace_job_name", "FROM millrace_job"]],
    find_alias: [["a repeated note creates the child", "WHERE id = :id", "WHERE 0"]],
    insert_alias: [["they forget the holder", "WHERE id = :holder)", "WHERE id = :holder AND 0)"]],
    expired_jobs: [["their holder goes", "alias.job = job.key", "0"]],
    removable_jobs: [["their holder goes", "alias.job = job.key", "0"]],
    delete_aliases: [
      ["they outlive their holder", "WHERE job IN (SELECT", "WHERE 0 IN (SELECT"],
      ["they outlive their parent", "OR parent IN (SELECT", "OR 0 IN (SELECT"],
    ],
  },
  dependants: {
    dependants_of_job: [
      [
        "the jobs that wait for any job are shown",
        "WHERE dependency.depends_on IN (",
        "WHERE true OR dependency.depends_on IN (",
      ],
      ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 1000"],
    ],
  },
  holder: {
    holder_of_job: [
      [
        "a run that has ended has a holder",
        "AND NOT EXISTS (",
        "AND EXISTS (SELECT 1) OR EXISTS (",
      ],
      ["the holder of any job is shown", "claimed.value = (", "0 < ("],
    ],
  },
  openDependencies: {
    open_dependencies: [
      ["the waits of all are shown", "dependency.job = (", "0 < ("],
      ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 1000"],
    ],
  },
  logs: {
    last_line: [
      ["numbers begin anew", "ORDER BY line DESC", "ORDER BY line"],
      ["all jobs share numbers", "key = :key", ":key > 0"],
    ],
    insert_log: [
      ["the run is forgotten", ":line, :n, :turn", ":line, 1, :turn"],
      ["the level is forgotten", ":level", "2"],
      ["fields are forgotten", ":fields", "NULL"],
    ],
    "inspect/logs.ts": [
      ["the lines of a repeated note are stored again", "turn > lastTurn", "turn > 0"],
      [
        "the lines of the next run count as repeated",
        "last?.n === n ? last.turn : 0",
        "last?.turn ?? 0",
      ],
    ],
    trim_log: [
      ["lines have no bound", "lines > :lines_max OR ", ""],
      ["characters have no bound", " OR chars > :chars_max", ""],
      ["fields weigh nothing", " + coalesce(length(fields), 0)", ""],
      ["the newest go", "ORDER BY line DESC", "ORDER BY line"],
    ],
    log_after: [
      ["pages repeat", "line > :after", ":after > -1"],
      ["the limit is dropped", "LIMIT :limit", "LIMIT :limit + 1000"],
    ],
    newest_log: [["the oldest are shown", "ORDER BY line DESC", "ORDER BY line"]],
  },
  expired: {
    expired_jobs: [
      ["leases are not looked at", "AND job.key NOT IN (\n", "AND 0 NOT IN (\n"],
      ["marked ones are fresh", ":fresh = 0 OR", "1 OR"],
      ["the youngest come first", "BY ended.finished_at", "BY ended.finished_at DESC"],
    ],
    "retention/expired.ts": [
      ["the period does not matter", "before: now - each.ms", "before: now"],
    ],
  },
  markStale: {
    insert_stale: [
      ["what goes on is marked", "AND ended.state IS NOT NULL", ""],
      ["a mark is told of twice", "DO NOTHING", "DO UPDATE SET at = :at"],
    ],
    job_by_id: [["the mark is not shown", "stale.key IS NOT NULL", "0"]],
    match_jobs: [["lists show no mark", "stale.key IS NOT NULL", "0"]],
  },
  remove: {
    removable_jobs: [
      ["what goes on is removed", " AND ended.state IS NOT NULL", ""],
      ["leases are not looked at", "AND job.key NOT IN (\n", "AND 0 NOT IN (\n"],
      ["a removed job has another tenant", "job.tenant", "1 AS tenant"],
    ],
  },
  types: {
    expired_jobs: [
      ["they go with all others", "AND job.type NOT IN (SELECT", "AND 0 NOT IN (SELECT"],
      ["all others go with them", ":type IS NULL OR job.type = :type", ":type IS NULL OR 1"],
    ],
    "retention/expired.ts": [
      ["it always begins in front", "from === null ? cursor.reached", "from === null ? START"],
      ["what was passed is never found", "[...behind.jobs, ...ahead.jobs]", "[...ahead.jobs]"],
    ],
  },
  repair: {
    dependencies_after: [
      [
        "it scans the same dependencies again",
        "(dependency.job, dependency.depends_on) > (:job, :depends_on)",
        ":job + :depends_on > -1",
      ],
      ["it sees no ends", "AND ended.state IS NOT NULL", "AND 0"],
      [
        "it sees not who is gone",
        ") OR (\n           NOT EXISTS",
        ") OR (\n           0 AND NOT EXISTS",
      ],
    ],
    locks_after: [
      ["locks of ended runs stay", "ended.n = lock.n", "0"],
      ["locks of jobs that are gone stay", "WHERE job.key = lock.job)", "WHERE 1)"],
      ["every lock is dead", "AS is_dead", "OR 1 AS is_dead"],
    ],
    open_dependencies: [["final jobs are awaited", "AND ended.state IS NOT NULL", "AND 0"]],
    delete_dependencies: [["dependencies outlive their job", "WHERE", "WHERE 0 AND"]],
    delete_logs: [["logs outlive their job", "LIMIT :limit", "LIMIT 0"]],
    delete_stale: [["marks outlive their job", "WHERE", "WHERE 0 AND"]],
  },
  sweep: {
    "retention/expired.ts": [
      ["each page begins anew", "later(from, cursor.reached)", "cursor.reached"],
      ["a page ends the sweep", "key })), stoppedAt }", "key })), stoppedAt: null }"],
      ["what is left is lost", "if (start === cursor.reached) cursor", "cursor"],
      ["there is no second look", "if (from === null) for", "if (false) for"],
      ["the second look goes no further", "behind.stoppedAt ?? START;", "START;"],
      [
        "the second look finds nothing",
        "beforeFirst(behind) ?? cursor.reached;",
        "cursor.reached;",
      ],
    ],
    expired_jobs: [
      [
        "ends at one instant are lost",
        "(ended.finished_at, ended.key) >",
        "(ended.finished_at, 0) >",
      ],
    ],
  },
};
