/** What can go wrong with crashed jobs, lone runs and crashing types in the store on SQLite. */
import type { Faults } from "./all.ts";

const CLOSED = "(SELECT name FROM millrace_gate WHERE until IS NULL OR until > :now)";

export const SQLITE_CRASH_FAULTS: Faults = {
  claim: {
    claimed_jobs: [["a successor is not known", "job.retry_of IS NOT NULL", "0"]],
  },
  "claim of crashed jobs": {
    claim_candidates: [["the number of crashes is not looked at", "crashes = :crashes", "1"]],
    look_for_crashed: [
      [
        "only the first lane is looked at",
        "json_each(:lanes) AS named",
        "(SELECT value FROM json_each(:lanes) LIMIT 1) AS named",
      ],
    ],
    crash_numbers: [
      ["only the fewest crashes are looked for", "WHERE hop.crashes IS NOT NULL", "WHERE 0"],
    ],
    "runs/claim-candidates.ts": [
      [
        "crashed jobs are not limited",
        "prefetch || limits !== undefined ? [] : scan",
        "prefetch ? [] : scan",
      ],
      ["limits count each lane apart", ".jobs.slice(0, limit)", ".jobs"],
      ["a prefetch takes crashed jobs", "prefetch || limits !== undefined", "limits !== undefined"],
      [
        "a job with one crash counts as one with more",
        "single, bounded(once,",
        "single, bounded(often,",
      ],
      ["a job at the cap runs beside others", "crashes < cap", "crashes < 99"],
      [
        "crashed jobs come last",
        "[...jobs, ...others].toSorted(byClaimOrder)",
        "[...jobs, ...others]",
      ],
      ["a backlog goes before crashed jobs", "isFresh(left) - isFresh(right)", "0"],
      [
        "crashed jobs further back are not looked for",
        "ends.toSorted(byClaimOrder)",
        "ends.toSorted(byUrgency)",
      ],
      ["a key is locked twice", "const first = oneOfEachKey(all);", "const first = all;"],
    ],
  },
  "claim beside a job that must run alone": {
    "runs/claim.ts": [
      ["nothing is said", "findLone(session, scan, crashed) !== null", "false"],
      [
        "nothing is said with jobs",
        "const alone = awaitsAlone(session, scan, request);",
        "const alone = false;",
      ],
      [
        "nothing is said without jobs",
        "const answer = { ...EMPTY, awaitsAlone: awaitsAlone(session, scan, request) };",
        "const answer = EMPTY;",
      ],
    ],
    claim_candidates: [
      ["the filter of types is dropped", ":types IS NULL", "1"],
      ["the filter of tenants is dropped", ":tenants IS NULL", "1"],
    ],
  },
  "claim of a key that a job at the cap awaits": {
    claim_candidates: [
      ["the key is not left", ":awaited IS NULL", "1"],
      ["every key is left", "OR concurrency <> :awaited", ""],
      ["the key is left in every tenant", "OR tenant <> :awaited_tenant", ""],
      ["more urgent jobs wait as well", "OR priority < :awaited_priority", ""],
    ],
    lone_lease: [["the key is left while another job runs alone", "alone = 1", "0"]],
    "runs/claim.ts": [
      [
        "the key is left only when it is not needed",
        "const others = leaveKey(session, scan, request);\n  const take",
        "const others = scan;\n  const take",
      ],
    ],
    "runs/lone-candidates.ts": [
      ["a job below the cap keeps the key", "crashes >= cap", "crashes > 0"],
    ],
  },
  claimAlone: {
    worker_may_claim: [
      ["a worker whose lease has run out claims on", "AND until > :now", ""],
      ["the protocol is not looked at", "protocol >= (", "0 <= ("],
      ["an unknown worker claims as another", "id = :worker", "1"],
      ["a quiet worker claims on", "SELECT quiet OR EXISTS", "SELECT EXISTS"],
    ],
    lone_lease: [["two lone leases at once", "alone = 1", "0"]],
    claim_candidates: [
      ["the filter of types is dropped", ":types IS NULL", "1"],
      ["the filter of tenants is dropped", ":tenants IS NULL", "1"],
      ["a closed lane is not looked at", "AND lane NOT IN", "AND 0 NOT IN"],
      ["a closed type is not looked at", "AND type NOT IN", "AND 0 NOT IN"],
      ["a closed tenant is not looked at", "AND tenant NOT IN", "AND 0 NOT IN"],
      ["a taken key is not looked at", "NOT EXISTS (", "1 OR NOT EXISTS ("],
    ],
    take_ready: [["the job stays claimable", "WHERE", "WHERE 0 AND"]],
    "runs/lone-candidates.ts": [["the cap is not looked at", "crashes >= cap", "crashes > 0"]],
    "runs/lone-claim.ts": [
      ["the run starts with the claim", "startedAt: null", "startedAt: now"],
      ["the key is not locked", "acquireKeys(session, [candidate]);", ""],
      ["the lease is one of many", "alone: 1", "alone: 0"],
    ],
    "runs/prefetch.ts": [
      [
        "the key stays locked",
        "for (const job of others) putBack(session, job);\n",
        "for (const job of others) putBack(session, job);\n  return others.length;\n",
      ],
    ],
  },
  "claimAlone of a probe, after the clock was ahead": {
    due_probes: [
      [
        "the probe waits for the wrong time",
        "streak.probe_at - streak.probe_ms > :now",
        "streak.probe_at < 0 * :now",
      ],
    ],
  },
  "claimAlone of a probe": {
    due_probes: [
      ["a probe does not wait", "streak.probe_at <= :now", "streak.probe_at IS NOT NULL"],
      ["the filter of types is dropped", ":types IS NULL", "1"],
    ],
    probe_in_blocked: [
      ["its key is not left", "rank, tenant, concurrency\nFROM", "rank, tenant, NULL\nFROM"],
      ["the jobs behind other gates are tried", "gate = :type", "gate = gate OR 0 = :type"],
      ["the least urgent job is tried", "BY priority, rank, key", "BY priority DESC, rank, key"],
      ["the filter of lanes is dropped", ":lanes IS NULL", "1"],
      ["the filter of tenants is dropped", ":tenants IS NULL", "1"],
      ["a closed lane is not looked at", `lane NOT IN ${CLOSED}`, "1"],
      ["a closed tenant is not looked at", `tenant NOT IN ${CLOSED}`, "1"],
      ["a taken key is not looked at", "NOT EXISTS (", "1 OR NOT EXISTS ("],
    ],
    probe_in_ready: [
      ["its key is not left", "front.tenant, front.concurrency\nFROM", "front.tenant, NULL\nFROM"],
      ["jobs of any type are tried", "front.type = :type", "1"],
      ["the filter of tenants is dropped", ":tenants IS NULL", "1"],
      ["a closed lane is not looked at", `front.lane NOT IN ${CLOSED}`, "1"],
      ["a closed tenant is not looked at", `front.tenant NOT IN ${CLOSED}`, "1"],
      ["a taken key is not looked at", "NOT EXISTS (", "1 OR NOT EXISTS ("],
    ],
    set_next_probe: [
      ["the next probe does not wait", "probe_at = :probe_at", "probe_at = probe_at"],
      ["all waits are the same", "probe_ms = :probe_ms", "probe_ms = probe_ms"],
      ["the probes of all types wait", "type = :type", "1"],
    ],
    delete_streak: [["a pause of an operator allows probes", "WHERE", "WHERE 0 AND"]],
    "runs/lone-candidates.ts": [
      [
        "a probe comes last",
        "findProbe(session, scan) ?? findAtCap(session, scan, cap)",
        "findAtCap(session, scan, cap) ?? findProbe(session, scan)",
      ],
      ["crashed jobs are not tried", "[0, ...crashNumbers].map", "[0].map"],
      ["fresh jobs are not tried", "[0, ...crashNumbers].map", "crashNumbers.map"],
    ],
    "queue/crash-streaks.ts": [
      ["a death ends the probes", "(streak?.probe_at ?? null)", "null"],
      ["the dead probe is not counted", "closes || (isClosed && ", "closes || (false && "],
    ],
    "queue/gates.ts": [
      [
        "a lane of the same name ends the probes",
        'if (gate.kind === "type") sql.get("delete_streak", { type: id });\n  outbox',
        'sql.get("delete_streak", { type: session.names.find("type", gate.name) ?? 0 });\n  outbox',
      ],
    ],
  },
  "rescue of runs that died alone": {
    reset_streaks: [
      ["a success does not end the streak", "SET ended = 0", "SET ended = ended"],
      ["successes of any type count", "AND type IN (", "AND 0 NOT IN ("],
    ],
    find_streak: [["types are counted together", "type = :type", "1"]],
    gate_is_closed: [["an open gate is closed", "until IS NULL OR until > :now", "1"]],
    "queue/crash-streaks.ts": [
      ["a lone death is forgotten", "(streak?.ended ?? 0) + 1", "1"],
      ["a pause of an operator is replaced", "!isPaused(session, type, now)", "true"],
    ],
    "queue/gates.ts": [
      [
        "a resume of an operator forgets nothing",
        'if (gate.kind === "type") sql.get("delete_streak", { type: id });\n  outbox',
        "outbox",
      ],
    ],
    "runs/settle.ts": [
      [
        "a success with errors counts for nothing",
        "runs.filter(({ settlement }) => isSuccess(settlement)).map",
        'runs.filter(({ settlement }) => settlement.to === "completed").map',
      ],
      [
        "every end counts as a success",
        "runs.filter(({ settlement }) => isSuccess(settlement)).map",
        "runs.map",
      ],
    ],
    "runs/rescue.ts": [
      ["every crash counts", 'settlement.to === "failed" && settlement.hasDiedAlone', "true"],
    ],
  },
  endCrashStreak: {
    delete_streak: [
      ["the streak stays", "WHERE", "WHERE 0 AND"],
      ["the streaks of all types end", "type = :type", "1"],
    ],
    open_gate: [["every gate opens", "name = :name", "1"]],
    "queue/crash-streaks.ts": [
      ["a pause of an operator ends", "if (streak?.probe_at == null) return;", ""],
      ["no worker is woken", "outbox.wake();", ""],
    ],
  },
};
