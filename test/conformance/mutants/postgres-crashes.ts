/** What can go wrong with crashed jobs, lone runs and crashing types in the store on PostgreSQL. */
import type { Faults } from "./all.ts";

export const POSTGRES_CRASH_FAULTS: Faults = {
  claim: {
    "functions/claim.sql": [
      ["a successor is not known", "(job.retry_of IS NOT NULL)::integer", "0"],
    ],
  },
  "claim of crashed jobs": {
    "functions/claim.sql": [
      ["a prefetch takes crashed jobs", "IF asker.has_crashed AND NOT to_prefetch\n", "IF true\n"],
      ["crashed jobs are forgotten", "IF asker.has_crashed AND NOT to_prefetch\n", "IF false\n"],
    ],
    "functions/claim-crashed.sql": [
      [
        "a job at the cap runs beside others",
        "WHERE cap IS NULL OR range.crashes < cap",
        "WHERE true",
      ],
      [
        "a job with one crash counts as one with more",
        "WHEN range.crashes = 1 THEN once_limit",
        "WHEN range.crashes = 1 THEN often_limit",
      ],
      [
        "limits count each lane apart",
        "LIMIT width * once_limit\n            )",
        "LIMIT 1000\n            )",
      ],
      [
        "limits count each number of crashes apart",
        "LIMIT width * often_limit\n            )",
        "LIMIT 1000\n            )",
      ],
      [
        "without limits there is still one",
        "once_limit  integer := CASE WHEN cap IS NULL THEN most",
        "once_limit  integer := CASE WHEN cap IS NULL THEN 1",
      ],
      ["only the fewest crashes are looked for", "AND ready.crashes > range.crashes", "AND false"],
      ["the filter of types is dropped", "of_types IS NULL OR", "true OR"],
      ["the filter of tenants is dropped", "of_tenants IS NULL OR", "true OR"],
      ["a closed lane is not looked at", "WHERE named.lane <> ALL (closed)", ""],
      ["a closed type is not looked at", "AND type <> ALL (closed)", ""],
      ["a closed tenant is not looked at", "AND tenant <> ALL (closed)", ""],
      ["a taken key is not looked at", "concurrency IS NULL OR NOT EXISTS (", "true OR EXISTS ("],
      ["a key is locked twice", "WHERE turn = 1", "WHERE turn >= 1"],
      [
        "crashed jobs come last",
        "WHERE turn = 1\n            ORDER BY priority, crashed = 0, rank, key",
        "WHERE turn = 1\n            ORDER BY crashed, priority, rank, key",
      ],
      ["crashed jobs come on top", "LIMIT most\n", "\n"],
      ["no lock is taken", "is_keyed := batch.is_keyed;", "is_keyed := false;"],
    ],
  },
  "claim beside a job that must run alone": {
    "functions/claim.sql": [["nothing is said", "SELECT 'alone'", "SELECT NULL"]],
  },
  "claim of a key that a job at the cap awaits": {
    "functions/claim.sql": [
      ["fresh jobs take the key", "awaited IS NULL\n", "true\n"],
      ["every key is left", "OR tenant || ' ' || concurrency <> awaited", ""],
      ["more urgent jobs wait as well", "OR priority < awaited_priority", ""],
      [
        "the key is left in every tenant",
        "concurrency <> awaited",
        "concurrency NOT LIKE '% account'",
      ],
    ],
    "functions/claim-crashed.sql": [
      ["crashed jobs take the key", "awaited IS NULL\n", "true\n"],
      ["more urgent crashed jobs wait as well", "OR priority < awaited_priority", ""],
    ],
    "functions/claim-alone.sql": [
      ["a job below the cap keeps the key", "AND ready.crashes >= cap AND", "AND"],
      [
        "the key is left while another job runs alone",
        "IF EXISTS (SELECT FROM millrace.lease WHERE alone) THEN",
        "IF false THEN",
      ],
    ],
  },
  claimAlone: {
    "functions/claim-alone.sql": [
      ["a worker whose lease has run out claims on", "AND worker.until > moment", ""],
      ["the protocol is not looked at", "worker.protocol >= (", "0 <= ("],
      ["a quiet worker claims on", "IF lost OR asker.quiet OR", "IF lost OR"],
      ["the cap is not looked at", "AND ready.crashes >= cap AND", "AND"],
      ["the job of the fewest crashes is taken", "WHERE range.crashes IS NOT NULL", "WHERE false"],
      ["the filter of types is dropped", "(of_types IS NULL OR type = ANY (of_types))", "true"],
      [
        "the filter of tenants is dropped",
        "AND (of_tenants IS NULL OR tenant = ANY (of_tenants))\n          AND type",
        "AND type",
      ],
      ["a closed lane is not looked at", "WHERE lane <> ALL (closed)", ""],
      ["a closed type is not looked at", "AND type <> ALL (closed)", ""],
      [
        "a closed tenant is not looked at",
        "AND tenant <> ALL (closed)\n          AND (tenant::bigint",
        "AND (tenant::bigint",
      ],
      [
        "a taken key is not looked at",
        "WHERE lock.tenant = ready.tenant AND lock.name = ready.concurrency",
        "WHERE false",
      ],
      [
        "the least urgent job is taken",
        "ORDER BY front.priority, front.rank, front.key\n    LIMIT 1;",
        "ORDER BY front.priority DESC, front.rank, front.key\n    LIMIT 1;",
      ],
      ["the run starts with the claim", "NULL, moment, true", "moment, moment, true"],
      ["the lease is one of many", "moment, true\n", "moment, false\n"],
      ["the key is not locked", "IF place.concurrency IS NOT NULL THEN", "IF false THEN"],
      [
        "the job stays claimable",
        "DELETE FROM millrace.ready AS ready WHERE ready.key = place.key;",
        "",
      ],
    ],
    "runs/prefetch.ts": [["the key stays locked", "await releaseLocks(transaction, jobs);", ""]],
  },
  "claimAlone of a probe, after the clock was ahead": {
    "functions/claim-alone.sql": [
      [
        "the probe waits for the wrong time",
        "OR streak.probe_at - streak.probe_ms * interval '1 millisecond' > moment",
        "",
      ],
    ],
  },
  "claimAlone of a probe": {
    "functions/claim-alone.sql": [
      [
        "a probe does not wait",
        "SELECT streak.probe_at <= moment\n",
        "SELECT streak.probe_at > '-infinity'\n",
      ],
      [
        "the filter of types is dropped",
        "(of_types IS NULL OR streak.type = ANY (of_types))",
        "true",
      ],
      ["the jobs behind other gates are tried", "WHERE gate = streak.type", "WHERE gate > 0"],
      [
        "the least urgent job is tried",
        "ORDER BY waiting.priority, waiting.rank, waiting.key",
        "ORDER BY waiting.priority DESC, waiting.rank, waiting.key",
      ],
      ["the filter of lanes is dropped", "AND lane = ANY (open_lanes)", ""],
      ["its key is not left", "first.tenant, first.concurrency", "first.tenant, NULL"],
      [
        "the filter of tenants is dropped behind the gate",
        "AND (of_tenants IS NULL OR tenant = ANY (of_tenants))\n                      AND",
        "AND",
      ],
      [
        "a closed tenant is not looked at behind the gate",
        "AND tenant <> ALL (closed)\n                      AND NOT EXISTS (",
        "AND NOT EXISTS (",
      ],
      [
        "a taken key is not looked at behind the gate",
        "WHERE lock.tenant = blocked.tenant AND lock.name = blocked.concurrency",
        "WHERE false",
      ],
      ["jobs of any type are tried", "WHERE front.type = streak.type", "WHERE true"],
      [
        "the filter of tenants is dropped",
        "(of_tenants IS NULL OR front.tenant",
        "(true OR front.tenant",
      ],
      ["a closed tenant is not looked at", "AND front.tenant <> ALL (closed)", ""],
      [
        "a taken key is not looked at",
        "WHERE lock.tenant = front.tenant AND lock.name = front.concurrency",
        "WHERE false",
      ],
      ["fresh jobs are not tried", "lane = named.lane AND crashes = 0", "false"],
      ["crashed jobs are not tried", "lane = named.lane AND crashes > 0\n", "false\n"],
      ["a probe comes last", "IF cardinality(closed) > 0 THEN", "IF false THEN"],
      [
        "a probe stays behind the gate",
        "DELETE FROM millrace.blocked AS blocked WHERE blocked.key = place.key;",
        "",
      ],
    ],
    "functions/claim.sql": [
      ["nothing is said of probes", "(asker.has_crashed OR asker.has_probe)", "asker.has_crashed"],
    ],
    close_crash_gate: [["a probe is never due", "WHERE streak.type = closed.name", "WHERE false"]],
    set_next_probe: [
      [
        "the next probe does not wait",
        "+ :probe_ms::bigint * interval '1 millisecond'",
        "- :probe_ms::bigint * interval '1 millisecond'",
      ],
      ["all waits are the same", "probe_ms = :probe_ms::bigint", "probe_ms = probe_ms"],
      ["the probes of all types wait", "type = :type::integer", ":type::integer > 0"],
    ],
    close_gate: [
      ["a pause of an operator allows probes", "WHERE type = :name::integer", "WHERE false"],
    ],
    "queue/crash-streaks.ts": [
      ["the dead probe is not counted", 'await transaction.run("set_gate_reason", named);', ""],
    ],
  },
  "rescue of runs that died alone": {
    count_lone_death: [
      ["a lone death is forgotten", "SET ended = known.ended + 1", "SET ended = 1"],
    ],
    "functions/reset-streaks.sql": [
      ["a success does not end the streak", "SET ended = 0", "SET ended = ended"],
      ["successes of any type count", "WHERE job.key = ANY (jobs)", ""],
    ],
    "functions/settle.sql": [
      ["a plain success counts for nothing", "PERFORM millrace.reset_streaks(accepted);", ""],
    ],
    "runs/attempts.ts": [
      [
        "a success with a note counts for nothing",
        "return isSuccess(settlement);",
        "return false;",
      ],
      ["every end counts as a success", "return isSuccess(settlement);", "return true;"],
    ],
    close_crash_gate: [
      [
        "a pause of an operator is replaced",
        "WHERE known.until <= millrace.clock_at(:now::timestamptz)",
        "",
      ],
      [
        "a pause that has ended stays",
        "WHERE known.until <= millrace.clock_at(:now::timestamptz)",
        "WHERE false",
      ],
    ],
    open_gate: [
      ["a resume of an operator forgets nothing", "WHERE type = :name::integer", "WHERE false"],
    ],
    "runs/rescue.ts": [
      ["every crash counts", "if (hasDiedAlone) await", "await"],
      ["no crash counts", "if (hasDiedAlone) await", "if (false) await"],
    ],
  },
  endCrashStreak: {
    end_crash_streak: [
      ["the streak stays", "WHERE type = :type::integer", "WHERE false"],
      ["the streaks of all types end", "WHERE type = :type::integer", "WHERE type > 0"],
      ["every gate opens", "WHERE name = :type::integer", "WHERE :type::integer > 0"],
      [
        "a pause of an operator ends",
        "EXISTS (SELECT 1 FROM ended WHERE probe_at IS NOT NULL)",
        "(SELECT count(*) FROM ended) >= 0",
      ],
    ],
    "queue/crash-streaks.ts": [["no worker is woken", 'notifier.wake("work");', ""]],
  },
};
