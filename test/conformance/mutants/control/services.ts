/** What can go wrong with declared types, and with the breakers of services. */
import type { Faults } from "../all.ts";

export const SQLITE_SERVICE_FAULTS: Faults = {
  overrideType: {
    put_type_override: [
      ["what is not named is removed", "coalesce(excluded.lane, lane)", "excluded.lane"],
    ],
  },
  declareTypes: {
    put_type_setting: [
      ["the first declaration stays", "DO UPDATE\nSET", "DO UPDATE\nSET lane = lane WHERE 0 AND"],
      ["a time-out of the past stays", "timeout_ms = :timeout_ms,", ""],
    ],
    delete_service_uses: [["services are never forgotten", "WHERE", "WHERE 0 AND"]],
    insert_service_use: [["a repeated service is an error", "ON CONFLICT DO NOTHING", ""]],
    put_worker_type: [["any worker counts", "WHERE id = :worker", "WHERE :worker IS NOT NULL"]],
    "services/types.ts": [
      ["services are not stored", "of declaration.services)", "of [].slice(0))"],
    ],
  },
  types: {
    list_types: [
      ["one type is all types", ":only IS NULL OR setting.type = :only", ":only IS NULL OR 1"],
      [
        "dead workers disagree",
        "count(DISTINCT declared.hash)",
        "2 * count(DISTINCT declared.hash)",
      ],
    ],
    "runs/workers.ts": [
      [
        "a worker that has left counts again",
        'sql.run("delete_worker_types", { worker: id });',
        "",
      ],
    ],
  },
  reportCalls: {
    put_breaker: [
      ["the first state stays", "DO UPDATE\nSET", "DO UPDATE\nSET by = by WHERE 0 AND"],
    ],
    insert_breaker_change: [["there is no history", "WHERE service", "WHERE 0 AND service"]],
    put_park: [
      [
        "the last end counts",
        "until = CASE WHEN :until > until OR asked_at > :now THEN :until ELSE until END",
        "until = :until",
      ],
      [
        "a pause of a clock that was ahead stays",
        "until = CASE WHEN :until > until OR asked_at > :now",
        "until = CASE WHEN :until > until",
      ],
    ],
    parked_until: [
      ["no tenant has to wait", "tenant IS NULL OR tenant = :tenant", "tenant IS NULL AND :tenant"],
      ["every tenant has to wait", "tenant IS NULL OR tenant = :tenant", "1 OR :tenant"],
    ],
    delete_breaker_changes: [["history is never removed", "WHERE at", "WHERE 0 AND at"]],
    "services/breakers.ts": [
      ["a closed breaker keeps its jobs", "if (next === before) return;", "return;"],
    ],
  },
  promote: {
    end_parks_ahead: [
      ["a pause of a clock that was ahead stays", "WHERE asked_at", "WHERE 0 AND asked_at"],
    ],
    any_park_ahead: [
      ["a pause of a clock that was ahead is not seen", "WHERE asked_at", "WHERE 0 AND asked_at"],
    ],
  },
  callServices: {
    run_has_ended: [["a probe is never replaced", "SELECT EXISTS", "SELECT 0 AND EXISTS"]],
    paused_until: [["a pause does not count", "WHERE name", "WHERE 0 AND name"]],
    "services/breakers.ts": [
      ["every run is a probe", "if (id !== undefined) putBreaker(session, id, breaker, next);", ""],
      ["a run that is over is the probe", "hasEnded(session, asked)", "asked.n < 0"],
    ],
  },
  claimProbe: {
    due_breakers: [
      ["a probe comes too soon", "breaker.probe_at <= :now", "breaker.probe_at <= :now + 1"],
      [
        "a breaker of the future stays open",
        "breaker.opened_at > :now",
        "breaker.opened_at > 2 * :now",
      ],
      [
        "a breaker that an operator keeps open is tried",
        "(breaker.probe_at IS NOT NULL AND",
        "(1 AND",
      ],
      ["a probe is never replaced", "OR EXISTS (", "OR 0 AND EXISTS ("],
      ["a pause does not count", "gate.until IS NULL OR", "0 AND gate.until IS NULL AND"],
      ["a service that asked for a pause is tried", "park.until > :now", "park.until < 0 * :now"],
    ],
    probe_types: [
      ["another closed service does not count", "AND NOT EXISTS (", "AND 1 OR NOT EXISTS ("],
      ["a type without a permit is first", "AND uses.type NOT IN (SELECT", "AND -1 NOT IN (SELECT"],
    ],
    service_probe_in_blocked: [
      ["any lane will do", ":lanes IS NULL OR lane IN", "1 OR :lanes OR lane IN"],
      ["jobs with crashes are probes", "AND crashes < :cap", "AND :cap > 0"],
      [
        "a tenant that has to wait is tried",
        "AND (tenant, type) NOT IN",
        "AND 1 OR (tenant, type) IN",
      ],
      ["the least urgent job is tried", "ORDER BY priority, rank", "ORDER BY priority DESC, rank"],
    ],
    service_probe_in_ready: [
      ["the least urgent job is tried", "ORDER BY front.priority", "ORDER BY front.priority DESC"],
      [
        "a taken key does not count",
        "AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_lock",
        "AND 1 OR NOT EXISTS (\n      SELECT 1\n      FROM millrace_lock",
      ],
      ["a closed lane does not count", "AND front.lane NOT IN", "AND -1 NOT IN"],
      [
        "a closed tenant does not count",
        "AND front.tenant NOT IN (SELECT name",
        "AND -1 NOT IN (SELECT name",
      ],
      [
        "a tenant without a permit is first",
        "AND front.tenant NOT IN (SELECT value FROM json_each(:full",
        "AND -1 NOT IN (SELECT value FROM json_each(:full",
      ],
    ],
    "services/claim-probe.ts": [
      [
        "the breaker does not know its probe",
        "putBreaker(session, service, breaker, startProbe(breaker, candidate, now));",
        "",
      ],
      ["the key is not taken", "acquireKeys(session, [candidate]);", ""],
      ["the start is not told", 'outbox.add({ kind: "job:started", jobs: [key] });', ""],
    ],
  },
  gates: {
    claim_candidates: [
      [
        "an open breaker is not obeyed",
        "SELECT target FROM millrace_barrier",
        "SELECT name FROM millrace_gate",
      ],
      [
        "a tenant that has to wait is served",
        "AND (tenant, type) NOT IN (SELECT",
        "AND (-1, -1) NOT IN (SELECT",
      ],
    ],
    open_gates: [
      ["an open breaker lets jobs go", "WHERE name NOT IN", "WHERE 1 OR name NOT IN"],
      [
        "jobs of a service that works again stay",
        "FROM millrace_service_park WHERE until <= :now",
        "FROM millrace_service_park WHERE 0",
      ],
    ],
    "services/types.ts": [["claims do not look back", "state.claimCursors.forget();", ""]],
    jobs_behind_gates: [
      ["all tenants wait for one", "closed.tenant IS NULL OR", "1 OR closed.tenant IS NULL OR"],
    ],
    count_due: [["a parked tenant is not held", ") OR EXISTS (", ") OR 0 AND EXISTS ("]],
  },
  "a type that does not use a service any more": {
    misplaced_types: [
      [
        "jobs wait for a service of the past",
        "FROM millrace_misplaced\n",
        "FROM millrace_misplaced\nWHERE 0\n",
      ],
    ],
    misplaced_keys: [["jobs of all types return", "AND type = :type", "AND :type > 0"]],
  },
  "settle of a job that a service has sent back": {
    "services/breakers.ts": [
      ["the job waits for nothing", "return isOpenTo(", "return false && isOpenTo("],
      ["the job does not wait", "return isOpenTo(", "return true || isOpenTo("],
      [
        "the parks of tenants are not known",
        "tenant: tenant ?? null, now }",
        "tenant: null, now }",
      ],
    ],
  },
  openBreaker: {
    "services/breakers.ts": [
      ["nothing is opened", "forceOpen(before, { ...why, nowMs: clock.now() })", "before"],
    ],
  },
  resetBreaker: {
    end_parks: [["pauses go on", "AND until > :now", "AND until < 0 * :now"]],
    sent_back_keys: [
      [
        "jobs of all services are due",
        "WHERE last.error ->> '$.service' = :service",
        "WHERE :service <> ''",
      ],
      ["no job is due", "waiting.n - 1", "waiting.n"],
    ],
    "services/breakers.ts": [["nothing is closed", "reset(breaker, by)", "breaker"]],
  },
  breakers: {
    list_breakers: [
      [
        "services without a breaker are missing",
        "SELECT service FROM millrace_service_use\n",
        "SELECT service FROM millrace_breaker\n",
      ],
    ],
  },
  breakerChanges: {
    list_breaker_changes: [
      ["the oldest come first", "ORDER BY n DESC", "ORDER BY n"],
      ["all services are one", "WHERE service = :service", "WHERE :service > 0"],
    ],
  },
};

export const POSTGRES_SERVICE_FAULTS: Faults = {
  overrideType: {
    put_type_override: [
      ["what is not named is removed", "coalesce(excluded.lane, known.lane)", "excluded.lane"],
    ],
  },
  declareTypes: {
    put_type_settings: [
      ["a time-out of the past stays", "timeout_ms = excluded.timeout_ms,", ""],
      ["the time of the first declaration stays", ",\n    declared_at = excluded.declared_at", ""],
      ["the flags of the past stay", "flags = excluded.flags, ", ""],
    ],
    delete_services_of: [["services are never forgotten", "WHERE", "WHERE false AND"]],
    insert_services_of: [["services are not stored", "ORDER BY", "WHERE false ORDER BY"]],
  },
  types: {
    put_worker_types: [
      ["a second hash is an error", "DO UPDATE SET hash = excluded.hash", "DO NOTHING"],
    ],
    list_types: [
      [
        "one type is all types",
        ":only::integer IS NULL OR setting.type = :only::integer",
        ":only::integer IS NULL OR true",
      ],
      [
        "a dead worker counts",
        "AND worker.until > millrace.clock_at(:now::timestamptz)",
        "AND millrace.clock_at(:now::timestamptz) IS NOT NULL",
      ],
    ],
    "runs/workers.ts": [
      [
        "a worker that has left counts again",
        'await transaction.run("delete_worker_types", { worker });',
        "",
      ],
    ],
  },
  reportCalls: {
    lock_breakers: [["breakers are not locked", "FOR UPDATE", ""]],
    put_parks: [
      ["the last end counts", "ELSE greatest(known.until, excluded.until)", "ELSE excluded.until"],
      [
        "a pause of a clock that was ahead stays",
        "WHEN known.asked_at > excluded.asked_at THEN excluded.until",
        "WHEN false THEN excluded.until",
      ],
    ],
    delete_breaker_changes: [["history is never removed", "WHERE at", "WHERE false AND at"]],
    "services/service-rows.ts": [
      ["there is no history", "if (told.length > 0)", "if (told.length < 0)"],
      ["states are not stored", "if (changed.length > 0)", "if (changed.length < 0)"],
    ],
    "services/breakers.ts": [
      [
        "successes are always written",
        'reports.every(({ outcome }) => outcome === "succeeded")',
        "reports.length < 0",
      ],
    ],
  },
  promote: {
    promote_due: [
      [
        "a pause of a clock that was ahead stays",
        "WHERE park.asked_at",
        "WHERE false AND park.asked_at",
      ],
      ["a pause that has ended is not told", "OR EXISTS (SELECT 1 FROM ended_parks)", ""],
    ],
  },
  callServices: {
    find_breakers: [
      [
        "a probe is never replaced",
        "EXISTS (\n           SELECT 1\n           FROM millrace.attempt",
        "false AND EXISTS (\n           SELECT 1\n           FROM millrace.attempt",
      ],
      ["a pause does not count", "gate.name IS NOT NULL AS is_paused", "false AS is_paused"],
    ],
    lock_breakers: [["every process has a probe", "FOR UPDATE", ""]],
    ended_runs: [
      ["a run that is over is the probe", "WHERE EXISTS", "WHERE false AND EXISTS"],
      ["the run of a removed job is the probe", "OR NOT EXISTS", "OR false AND NOT EXISTS"],
    ],
  },
  claimProbe: {
    "functions/claim-probe.sql": [
      ["a probe in spite of a pause of all jobs", " OR -2 = ANY (asker.paused) THEN", " THEN"],
      [
        "every process has a probe",
        "        ORDER BY breaker.service\n        FOR UPDATE SKIP LOCKED\n",
        "        ORDER BY breaker.service\n",
      ],
      [
        "a probe comes too soon",
        "breaker.probe_at <= moment",
        "breaker.probe_at <= moment + interval '1 ms'",
      ],
      [
        "a breaker of the future stays open",
        "AND breaker.opened_at > moment",
        "AND breaker.opened_at > moment + interval '1 day'",
      ],
      [
        "a breaker that an operator keeps open is tried",
        "(breaker.probe_at IS NOT NULL AND",
        "(true AND",
      ],
      ["a pause does not count", "          AND breaker.service <> ALL (asker.paused)\n", ""],
      [
        "a service that asked for a pause is tried",
        "park.gate = breaker.service AND park.until > moment",
        "false",
      ],
      [
        "another closed service does not count",
        "            AND barrier.gate <> ALL (due)\n",
        "            AND false\n",
      ],
      ["jobs with crashes are probes", "          AND front.crashes < cap\n", ""],
      ["a closed lane does not count", "          AND front.lane <> ALL (asker.paused)\n", ""],
      ["a closed tenant does not count", "          AND front.tenant <> ALL (asker.paused)\n", ""],
      ["a type without a permit is first", "      AND uses.type <> ALL (used_up)\n", ""],
      ["a tenant without a permit is first", "          AND front.tenant <> ALL (used_up)\n", ""],
      [
        "a tenant that has to wait is tried",
        "          AND (front.tenant::bigint << 32) + front.type <> ALL (asker.parked)\n",
        "",
      ],
      [
        "the least urgent job is tried",
        "    ORDER BY waiting.priority, waiting.rank",
        "    ORDER BY waiting.priority DESC, waiting.rank",
      ],
      [
        "the breaker does not know its probe",
        "probe_key = place.key, probe_n = place.n",
        "probe_key = place.key, probe_n = place.n + 1",
      ],
      [
        "the start is not told",
        "VALUES (moment, 2, ARRAY[place.key]);",
        "SELECT moment, 2, ARRAY[place.key] WHERE false;",
      ],
      ["a quiet worker claims", "IF lost OR asker.quiet OR", "IF lost OR"],
    ],
  },
  gates: {
    "functions/claim.sql": [
      [
        "an open breaker is not obeyed",
        "SELECT barrier.target\n               FROM millrace.barrier\n",
        "SELECT barrier.name\n               FROM millrace.gate AS barrier\n",
      ],
      ["a tenant that has to wait is served", "cardinality(asker.parked) = 0", "true"],
    ],
    "functions/claim-crashed.sql": [
      [
        "a crashed job of a tenant that has to wait runs",
        "                  AND (tenant::bigint << 32) + type <> ALL (parked)\n",
        "",
      ],
    ],
    release_jobs: [
      [
        "an open breaker lets jobs go",
        "FROM millrace.closed_gate AS closed\n          WHERE closed.gate = gate.id",
        "FROM millrace.gate AS closed\n          WHERE closed.name = gate.id",
      ],
    ],
    hold_jobs: [["all tenants wait for one", "closed WHERE tenant IS NULL", "closed"]],
    count_due: [["a parked tenant is not held", ") OR EXISTS (", ") OR false AND EXISTS ("]],
  },
  "a type that does not use a service any more": {
    release_jobs: [
      [
        "jobs wait for a service of the past",
        "FROM millrace.misplaced AS",
        "FROM (SELECT * FROM millrace.misplaced WHERE false) AS",
      ],
      ["jobs of all types return", "AND blocked.type = misplaced.type", ""],
    ],
  },
  "settle of a job that a service has sent back": {
    keep_breakers: [["a reset comes in between", "FOR SHARE OF breaker", ""]],
    jobs_of_open_services: [
      ["an open breaker is not obeyed", "breaker.state <> 1", "breaker.state = 9"],
      ["a pause of an operator is not obeyed", "gate.name = name.id", "gate.name = -9"],
      ["a pause of the service is not obeyed", "park.service = name.id", "park.service = -9"],
      ["all tenants wait for one", "(park.tenant IS NULL OR park.tenant = job.tenant)", "true"],
    ],
    "services/vain-waits.ts": [
      ["the job waits for nothing", "if (!open.has(item.key)) return each;", "return each;"],
    ],
    "runs/settle.ts": [
      [
        "the job waits for nothing in a batch that is bisected",
        "settleBisecting(transaction, await withoutVainWaits(transaction, items))",
        "settleBisecting(transaction, items)",
      ],
    ],
  },
  openBreaker: {
    "services/breakers.ts": [
      ["nothing is opened", "forceOpen(before, { ...why, nowMs })", "before"],
    ],
  },
  resetBreaker: {
    delete_parks: [["pauses go on", "WHERE", "WHERE false AND"]],
    hurry_sent_back: [
      [
        "jobs of all services are due",
        "WHERE last.error ->> 'service' = :service::text",
        "WHERE :service::text IS NOT NULL",
      ],
      ["no job is due", "waiting.n - 1", "waiting.n"],
    ],
    "services/breakers.ts": [["nothing is closed", "reset(before, by)", "before"]],
  },
  breakers: {
    list_breakers: [
      [
        "services without a breaker are missing",
        "SELECT service FROM millrace.service_use\n",
        "SELECT service FROM millrace.breaker\n",
      ],
    ],
  },
  breakerChanges: {
    list_breaker_changes: [
      ["the oldest come first", "ORDER BY n DESC", "ORDER BY n"],
      ["all services are one", "WHERE service = :service::integer", "WHERE :service::integer > 0"],
    ],
  },
};
