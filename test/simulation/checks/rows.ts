/** The rows of the tables that the simulation watches, and how they are read. */

export interface JobRow {
  readonly key: number;
  readonly id: string;
  readonly type: number;
  readonly tenant: number;
  readonly lane: number;
  readonly category: number | null;
  readonly priority: number;
  readonly run_at: number;
  readonly max_attempts: number;
  readonly timeout_ms: number | null;
  readonly payload: string | null;
  readonly parent: string | null;
  readonly retry_of: string | null;
  readonly concurrency: string | null;
  readonly idempotency: string | null;
  readonly dedup: string | null;
  readonly created_at: number;
  readonly created_by: string | null;
}

export interface AttemptRow {
  readonly key: number;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  readonly worker: string | null;
  readonly fence: number | null;
  readonly started_at: number | null;
  readonly finished_at: number;
  readonly outcome: number;
  readonly state: number | null;
  readonly result: string | null;
  readonly reason: string | null;
  readonly next_run_at: number | null;
}

export interface PlaceRow {
  readonly place: "scheduled" | "ready" | "blocked";
  readonly key: number;
  /** Microseconds, in all three places. */
  readonly rank: number;
  readonly lane: number;
  readonly priority: number;
  readonly type: number;
  readonly tenant: number;
  readonly concurrency: string | null;
  readonly n: number;
  readonly tries: number;
  readonly crashes: number;
  /** The name of a gate; 0: open dependencies; -1: a taken key. */
  readonly gate: number | null;
}

/** One run of a lease that is still open. */
export interface HeldRow {
  readonly key: number;
  readonly n: number;
  readonly rank: number;
  readonly start: number | null;
  readonly fence: number;
  readonly worker: string;
}

export interface LeaseRow {
  readonly number: number;
  readonly secret: string;
  readonly worker: string;
  readonly keys: string;
  readonly ns: string;
  readonly ranks: string;
  readonly starts: string;
  /** 1: its one job runs alone. */
  readonly alone: number;
  /** Its runs, whether they are still open or not. */
  readonly runs: readonly HeldRow[];
}

export interface EventRow {
  readonly position: number;
  readonly kind: number;
  readonly at: number;
  readonly keys: string | null;
  readonly ids: string | null;
}

export interface WorkerRow {
  readonly until: number;
  readonly beats: number;
  readonly quiet: number;
  /** When the worker registered. */
  readonly joined_at: number;
}

export interface GateRow {
  readonly name: number;
  readonly until: number | null;
  readonly reason: string;
  readonly by: string | null;
}

export interface LetterRow {
  readonly status: number;
  readonly died_at: number;
  readonly successor: string | null;
}

/** The run that holds a lock. */
export interface LockRow {
  readonly job: number;
  readonly n: number;
}

export interface CodeRow {
  readonly key: number;
  readonly n: number;
}

export interface DependencyRow {
  /** The job that waits. */
  readonly key: number;
  readonly depends_on: number;
  readonly tolerant: number;
}

/** How far a job has come. */
export interface RunRow {
  readonly n: number;
  readonly phase: string | null;
  readonly phases: string;
  readonly percent: number;
  readonly overall: number;
  readonly data: string | null;
}

export interface PhaseRow {
  readonly key: number;
  readonly name: string;
  readonly n: number;
  readonly result: string | null;
}

export interface UnitRow {
  readonly key: number;
  readonly phase: string;
  readonly unit: string;
  readonly n: number;
  readonly state: number;
  readonly result: string | null;
  readonly at: number;
}

/** The size of a job's log. */
export interface LogRow {
  readonly lines: number;
  readonly first: number;
  readonly last: number;
  readonly chars: number;
  /** How many of the lines are different ones of their run. */
  readonly different: number;
  /** The run that logged the last line. */
  readonly n: number;
}

export interface ScheduleRow {
  readonly name: string;
  readonly owner: number;
  readonly cron: string;
  readonly missed_max: number;
  readonly overlap: number;
  readonly next_slot: number | null;
  readonly last_slot: number | null;
  readonly last_job: string | null;
  readonly paused_at: number | null;
  readonly revision: number;
}

/** What came of a slot. */
export interface TickRow {
  readonly schedule: string;
  readonly slot: number;
  readonly since: number | null;
  readonly job: string | null;
  readonly outcome: number;
}

export interface BreakerRow {
  readonly service: number;
  readonly state: number;
  readonly failure_count: number;
  readonly opened_at: number | null;
  readonly probe_at: number | null;
  readonly probe_key: number | null;
  readonly probe_n: number | null;
  readonly by: string | null;
}

/** A pause that a service has asked for. */
export interface ParkRow {
  readonly gate: number;
  readonly service: number;
  readonly tenant: number | null;
  readonly asked_at: number;
  readonly until: number;
}

/** A type uses a service. */
export interface UseRow {
  readonly key: number;
  readonly service: number;
}

export interface LimitSettingRow {
  readonly id: number;
  readonly name: number;
  readonly cap: number | null;
  readonly rate_count: number | null;
  readonly rate_ms: number | null;
  readonly burst: number | null;
  readonly tokens: number;
  readonly refilled_at: number;
  readonly used: number;
}

export interface PermitRow {
  readonly worker: string;
  readonly limit_id: number;
  readonly held: number;
}

/** One table: what is read of a row, and how the row is named. */
export interface Table {
  readonly from: string;
  readonly columns: string;
  /** Several rows are read as one. */
  readonly group?: string;
  /** The column, or what is made of several, that names a row; `new.` or `old.` stand for `@`. */
  readonly name: string;
}

export const TABLES = {
  jobs: {
    from: "millrace_job",
    columns: `key, hex(id) AS id, type, tenant, lane, category, priority, run_at, max_attempts,
      timeout_ms, payload, hex(parent) AS parent, hex(retry_of) AS retry_of, concurrency,
      idempotency, dedup, created_at, created_by`,
    name: "@key",
  },
  attempts: {
    from: "millrace_attempt",
    columns: `key, n, tries, crashes, hex(worker) AS worker, fence, started_at, finished_at,
      outcome, state, result, reason, next_run_at`,
    name: "@key",
  },
  scheduled: {
    from: "millrace_scheduled",
    columns: `'scheduled' AS place, key, run_at * 1000 AS rank, lane, priority, type, tenant,
      concurrency, n, tries, crashes, NULL AS gate`,
    name: "@key",
  },
  ready: {
    from: "millrace_ready",
    columns: `'ready' AS place, key, rank, lane, priority, type, tenant, concurrency, n, tries,
      crashes, NULL AS gate`,
    name: "@key",
  },
  blocked: {
    from: "millrace_blocked",
    columns: `'blocked' AS place, key, rank, lane, priority, type, tenant, concurrency, n,
      tries, crashes, gate`,
    name: "@key",
  },
  leases: {
    from: "millrace_lease",
    columns: "number, secret, hex(worker) AS worker, keys, ns, ranks, starts, alone",
    name: "@number",
  },
  workers: {
    from: "millrace_worker",
    columns: "hex(id) AS id, until, beats, quiet, joined_at",
    name: "hex(@id)",
  },
  dedup: {
    from: "millrace_dedup",
    columns: "tenant || '.' || type || '.' || key AS name, job",
    name: "@tenant || '.' || @type || '.' || @key",
  },
  idempotency: {
    from: "millrace_idempotency",
    columns: "tenant || '.' || key AS name, hex(job_id) AS job_id, expires_at",
    name: "@tenant || '.' || @key",
  },
  gates: { from: "millrace_gate", columns: "name, until, reason, by", name: "@name" },
  asked: { from: "millrace_cancel_request", columns: "key", name: "@key" },
  letters: {
    from: "millrace_dead_letter",
    columns: "hex(id) AS id, status, died_at, hex(successor) AS successor",
    name: "hex(@id)",
  },
  names: { from: "millrace_interned_name", columns: "id, text", name: "@id" },
  locks: {
    from: "millrace_lock",
    columns: "tenant || '.' || name AS name, job, n",
    name: "@tenant || '.' || @name",
  },
  dependencies: {
    from: "millrace_dependency",
    columns: "job AS key, depends_on, tolerant",
    name: "@job",
  },
  finished: { from: "millrace_finished_dependency", columns: "key", name: "@key" },
  code: { from: "millrace_ended_run", columns: "key, n", name: "@key" },
  runs: {
    from: "millrace_run",
    columns: "key, n, phase, phases, percent, overall, data",
    name: "@key",
  },
  phases: { from: "millrace_phase", columns: "key, name, n, result", name: "@key" },
  units: { from: "millrace_unit", columns: "key, phase, unit, n, state, result, at", name: "@key" },
  logs: {
    from: "millrace_log",
    columns: `key, count(*) AS lines, min(line) AS first, max(line) AS last,
      count(DISTINCT n || ' ' || turn) AS different,
      sum(length(message) + coalesce(length(fields), 0)) AS chars,
      (SELECT newest.n FROM millrace_log AS newest WHERE newest.key = millrace_log.key
       ORDER BY newest.line DESC LIMIT 1) AS n`,
    group: "key",
    name: "@key",
  },
  stale: { from: "millrace_stale", columns: "key, at", name: "@key" },
  schedules: {
    from: "millrace_schedule",
    columns: `name, owner, cron, missed_max, overlap, next_slot, last_slot,
      nullif(hex(last_job), '') AS last_job, paused_at, revision`,
    name: "@name",
  },
  ticks: {
    from: "millrace_schedule_tick",
    columns: `schedule || ' ' || slot AS name, schedule, slot, since,
      nullif(hex(job), '') AS job, outcome`,
    name: "@schedule || ' ' || @slot",
  },
  breakers: {
    from: "millrace_breaker",
    columns: "service, state, failure_count, opened_at, probe_at, probe_key, probe_n, by",
    name: "@service",
  },
  parks: {
    from: "millrace_service_park",
    columns: "gate, service, tenant, asked_at, until",
    name: "@gate",
  },
  uses: { from: "millrace_service_use", columns: "type AS key, service", name: "@type" },
  limits: {
    from: "millrace_limit_setting",
    columns: "id, name, cap, rate_count, rate_ms, burst, tokens, refilled_at, used",
    name: "@id",
  },
  permits: {
    from: "millrace_permit",
    columns: "hex(worker) || '.' || limit_id AS name, hex(worker) AS worker, limit_id, held",
    name: "hex(@worker) || '.' || @limit_id",
  },
} satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;
