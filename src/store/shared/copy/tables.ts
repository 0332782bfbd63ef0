/**
 * The tables of a copy from one database to another. A row is copied as one line of canonical JSON:
 * its columns in the order given here, instants as milliseconds, ids and bytes as hexadecimal
 * digits, lists as PostgreSQL writes them. The same line serves to compare source and target.
 */

import { changing, GOVERNANCE_TABLES } from "./governance-tables.ts";

type ColumnKind =
  | "number"
  | "real"
  | "moment"
  | "text"
  | "json"
  | "id"
  | "bytes"
  | "keys"
  | "ids"
  /** A list of texts, as JSON. */
  | "texts";

export interface CopiedTable {
  readonly name: TableName;
  /** The columns that order the table. */
  readonly key: readonly string[];
  readonly columns: Readonly<Record<string, ColumnKind>>;
  /** Its rows are never updated, so they can be copied while workers run. */
  readonly isWrittenOnce: boolean;
}

export type TableName =
  | "interned_name"
  | "job"
  | "tag"
  | "scheduled"
  | "ready"
  | "blocked"
  | "attempt"
  | "gate"
  | "type_setting"
  | "type_override"
  | "service_use"
  | "breaker"
  | "breaker_change"
  | "service_park"
  | "limit_setting"
  | "key_rate"
  | "fair_lane"
  | "fair_turn"
  | "intake"
  | "payload_rule"
  | "quota"
  | "quota_use"
  | "tenant_removal"
  | "crash_streak"
  | "idempotency"
  | "dedup"
  /** Successors that are not final: a query on SQLite, rows of `dedup` on PostgreSQL. */
  | "successor"
  | "alias"
  | "cancel_request"
  | "run"
  | "phase"
  | "unit"
  | "dependency"
  | "finished_dependency"
  | "log"
  | "stale"
  | "event"
  | "dead_letter"
  | "failure_group"
  | "api_token"
  /** Figures. The source folds its outbox before it is blocked. */
  | "minute"
  | "deploy"
  | "saved_view"
  | "schedule"
  | "schedule_tick"
  | "audit"
  | "audit_seal"
  | "audit_start"
  | "operation"
  | "operation_item";

const WAITING = {
  lane: "number",
  priority: "number",
  type: "number",
  tenant: "number",
  concurrency: "text",
  n: "number",
  tries: "number",
  crashes: "number",
} as const;

const HELD_KEY = { tenant: "number", type: "number", key: "text", job: "number" } as const;

/**
 * In the order of copying. Leases, workers and locks are not copied: they end before the copy is
 * finished.
 */
export const COPIED_TABLES: readonly CopiedTable[] = [
  {
    name: "job",
    key: ["key"],
    isWrittenOnce: true,
    columns: {
      key: "number",
      id: "id",
      type: "number",
      tenant: "number",
      lane: "number",
      category: "number",
      priority: "number",
      run_at: "moment",
      max_attempts: "number",
      timeout_ms: "number",
      payload: "json",
      payload_version: "text",
      correlation: "text",
      parent: "id",
      retry_of: "id",
      concurrency: "text",
      idempotency: "text",
      dedup: "text",
      webhook: "text",
      tags: "json",
      created_by: "text",
      created_at: "moment",
      flags: "number",
    },
  },
  {
    name: "attempt",
    key: ["key", "n"],
    isWrittenOnce: true,
    columns: {
      key: "number",
      n: "number",
      tries: "number",
      crashes: "number",
      worker: "id",
      fence: "number",
      claimed_at: "moment",
      started_at: "moment",
      finished_at: "moment",
      outcome: "number",
      state: "number",
      error_class: "number",
      error: "json",
      result: "json",
      reason: "text",
      next_run_at: "moment",
    },
  },
  {
    name: "event",
    key: ["position"],
    isWrittenOnce: true,
    columns: {
      position: "number",
      kind: "number",
      at: "moment",
      keys: "keys",
      ids: "ids",
      details: "texts",
    },
  },
  changing("interned_name", ["id"], { id: "number", kind: "number", text: "text" }),
  changing("tag", ["name", "value", "key"], { name: "text", value: "text", key: "number" }),
  changing("scheduled", ["key"], { key: "number", run_at: "moment", ...WAITING }),
  changing("ready", ["key"], {
    key: "number",
    rank: "number",
    due: "number",
    ...WAITING,
  }),
  changing("blocked", ["key"], {
    key: "number",
    gate: "number",
    rank: "number",
    turn: "number",
    ...WAITING,
  }),
  changing("gate", ["name"], {
    name: "number",
    closed_at: "moment",
    until: "moment",
    reason: "text",
    by: "text",
  }),
  changing("type_setting", ["type"], {
    type: "number",
    lane: "text",
    priority: "number",
    max_attempts: "number",
    timeout_ms: "number",
    category: "text",
    payload_version: "text",
    payload_schema: "json",
    app_version: "text",
    flags: "number",
    hash: "text",
    declared_at: "moment",
  }),
  changing("type_override", ["type"], {
    type: "number",
    lane: "text",
    priority: "number",
    max_attempts: "number",
    timeout_ms: "number",
    by: "text",
    set_at: "moment",
  }),
  changing("saved_view", ["tenant", "name"], {
    tenant: "text",
    name: "text",
    screen: "text",
    query: "text",
    by: "text",
    saved_at: "moment",
  }),
  changing("deploy", ["n"], { n: "number", app_version: "text", at: "moment" }),
  changing("service_use", ["service", "type"], { service: "number", type: "number" }),
  changing("breaker", ["service"], {
    service: "number",
    state: "number",
    failure_count: "number",
    success_count: "number",
    last_failure_at: "moment",
    opened_at: "moment",
    half_opened_at: "moment",
    updated_at: "moment",
    probe_at: "moment",
    probe_key: "number",
    probe_n: "number",
    reason: "text",
    by: "text",
  }),
  changing("breaker_change", ["service", "n"], {
    service: "number",
    n: "number",
    at: "moment",
    state: "number",
    failure_count: "number",
    reason: "text",
    by: "text",
  }),
  changing("service_park", ["gate"], {
    gate: "number",
    service: "number",
    tenant: "number",
    asked_at: "moment",
    until: "moment",
    reason: "text",
  }),
  // The workers of the copy hold no permits, and its rates begin without tokens.
  changing("limit_setting", ["name"], {
    name: "number",
    cap: "number",
    rate_count: "number",
    rate_ms: "number",
    burst: "number",
    refilled_at: "moment",
    code_rule: "text",
    owner: "number",
    by: "text",
    set_at: "moment",
  }),
  changing("key_rate", ["tenant", "name"], {
    tenant: "number",
    name: "text",
    rate_count: "number",
    rate_ms: "number",
    burst: "number",
    refilled_at: "moment",
    by: "text",
    set_at: "moment",
  }),
  changing("fair_lane", ["lane"], {
    lane: "number",
    weights: "json",
    code_weights: "json",
    owner: "number",
    by: "text",
    set_at: "moment",
  }),
  changing("fair_turn", ["lane", "priority", "queue", "tenant"], {
    lane: "number",
    priority: "number",
    queue: "number",
    tenant: "number",
    tag: "number",
    due: "number",
    back_tag: "number",
  }),
  changing("intake", ["name"], {
    name: "number",
    closed_at: "moment",
    reason: "text",
    by: "text",
  }),
  changing("payload_rule", ["scope", "name"], {
    scope: "text",
    name: "text",
    rule: "json",
    owner: "text",
    by: "text",
    reason: "text",
    set_at: "moment",
  }),
  changing("quota", ["tenant"], {
    tenant: "number",
    waiting: "number",
    rate_count: "number",
    rate_ms: "number",
    burst: "number",
    payload_bytes: "number",
    reason: "text",
    by: "text",
    set_at: "moment",
  }),
  changing("quota_use", ["tenant"], {
    tenant: "number",
    tokens: "number",
    refilled_at: "moment",
  }),
  changing("tenant_removal", ["tenant"], {
    tenant: "text",
    reason: "text",
    by: "text",
    removed: "number",
    begun_at: "moment",
    done_at: "moment",
  }),
  changing("crash_streak", ["type"], {
    type: "number",
    ended: "number",
    probe_at: "moment",
    probe_ms: "number",
  }),
  changing("idempotency", ["tenant", "key"], {
    tenant: "number",
    key: "text",
    job_id: "id",
    body: "bytes",
    expires_at: "moment",
  }),
  changing("dedup", ["tenant", "type", "key"], HELD_KEY),
  changing("successor", ["job"], HELD_KEY),
  changing("alias", ["id"], { id: "id", job: "number", parent: "number" }),
  changing("cancel_request", ["key"], { key: "number", by: "text", reason: "text", at: "moment" }),
  changing("run", ["key"], {
    key: "number",
    n: "number",
    phase: "text",
    phases: "json",
    percent: "real",
    overall: "real",
    data: "json",
    at: "moment",
  }),
  changing("phase", ["key", "name"], {
    key: "number",
    name: "text",
    n: "number",
    result: "json",
    at: "moment",
  }),
  changing("unit", ["key", "phase", "unit"], {
    key: "number",
    phase: "text",
    unit: "text",
    turn: "number",
    n: "number",
    state: "number",
    result: "json",
    error: "json",
    at: "moment",
  }),
  changing("dependency", ["job", "depends_on"], {
    job: "number",
    depends_on: "number",
    tolerant: "number",
  }),
  changing("finished_dependency", ["key"], { key: "number" }),
  changing("log", ["key", "line"], {
    key: "number",
    line: "number",
    n: "number",
    turn: "number",
    at: "moment",
    level: "number",
    message: "text",
    fields: "json",
  }),
  changing("stale", ["key"], { key: "number", at: "moment" }),
  changing("dead_letter", ["id"], {
    id: "id",
    type: "number",
    tenant: "number",
    status: "number",
    error: "json",
    attempts: "number",
    died_at: "moment",
    reviewed_by: "text",
    reviewed_at: "moment",
    notes: "text",
    successor: "id",
    spec: "json",
    cause: "text",
    assigned_to: "text",
    history: "json",
    reviews: "json",
  }),
  changing("failure_group", ["tenant", "cause"], {
    tenant: "number",
    cause: "text",
    decision: "number",
    decided_at: "moment",
    until: "moment",
    by: "text",
    notes: "text",
  }),
  changing("api_token", ["id"], {
    id: "id",
    hash: "bytes",
    kind: "number",
    name: "text",
    actor: "text",
    roles: "number",
    tenant: "text",
    types: "json",
    job_id: "id",
    parent: "id",
    created_by: "text",
    created_at: "moment",
    expires_at: "moment",
    last_used_at: "moment",
    revoked_at: "moment",
  }),
  changing("minute", ["span", "start", "type", "lane", "outcome"], {
    span: "number",
    start: "moment",
    type: "number",
    lane: "number",
    outcome: "number",
    count: "number",
    wait_ms: "number",
    run_ms: "number",
    waits: "json",
    runs: "json",
  }),
  changing("schedule", ["name"], {
    name: "text",
    owner: "number",
    tenant: "text",
    cron: "text",
    time_zone: "text",
    missed_max: "number",
    overlap: "number",
    jitter_ms: "number",
    starts_at: "moment",
    ends_at: "moment",
    job: "json",
    next_slot: "moment",
    last_slot: "moment",
    last_job: "id",
    paused_at: "moment",
    paused_by: "text",
    pause_reason: "text",
    declared_at: "moment",
    created_by: "text",
    created_at: "moment",
    updated_at: "moment",
    revision: "number",
  }),
  changing("schedule_tick", ["schedule", "slot"], {
    schedule: "text",
    slot: "moment",
    since: "moment",
    job: "id",
    outcome: "number",
    at: "moment",
  }),
  ...GOVERNANCE_TABLES,
];
