// Generated from sql/postgres by scripts/embed-sql.ts. Do not edit.
import type { JobId } from "../../../core/job.ts";
import type { TimeoutClass } from "./statement-timeouts.ts";

export interface AuditRow { readonly id: number; readonly at: number; readonly tenant: string; readonly name: string; readonly actor: string | null; readonly reason: string | null; readonly subject_kind: string; readonly subject: string; readonly before: string | null; readonly after: string | null; }

export type ClaimTuple = readonly [lost: boolean, key: number | null, id: JobId | null, created_at: number, kind: string, payload: string | null, payload_version: string | null, correlation: string | null, parent: JobId | null, concurrency: string | null, tags: string | null];

export interface DeadLetterRow { readonly id: JobId; readonly type: number; readonly tenant: number; readonly status: number; readonly error: string; readonly attempts: number; readonly died_at: number; readonly reviewed_by: string | null; readonly reviewed_at: number | null; readonly notes: string | null; readonly successor: JobId | null; readonly spec: string; readonly cause: string; readonly assigned_to: string | null; readonly history: string; readonly reviews: string; }

export interface BodyRow { readonly id: JobId; readonly type: number; readonly tenant: number; readonly payload: string | null; readonly state: number; }

export interface TableHealth { readonly name: string; readonly live: number; readonly dead: number; readonly bytes: number; readonly index_bytes: number; readonly vacuumed_ms: number | null; readonly enabled: boolean; readonly threshold: number; }

export interface VacuumHolder { readonly kind: "session" | "prepared" | "slot"; readonly name: string; readonly owner: string | null; readonly application: string; readonly state: string; readonly since: number | null; readonly held_ms: number | null; readonly age: number; }

export interface SchemaObject { readonly kind: "table" | "column" | "constraint" | "index" | "view" | "function"; readonly home: string; readonly name: string; readonly definition: string; readonly valid: boolean; }

export interface FairLaneRow { readonly lane: number; readonly weights: string; readonly code_weights: string | null; readonly owner: number; readonly by: string | null; readonly set_at: number; }

export interface FairJobRow { readonly key: number; readonly priority: number; readonly rank: number; readonly tenant: number; readonly queue: number; }

export interface LaterJobRow { readonly key: number; readonly priority: number; readonly rank: number; readonly tenant: number; readonly queue: number; readonly place: number; }

export interface Barriers { readonly gates: boolean; readonly held: boolean; readonly names: boolean; readonly wanted: boolean; readonly full: boolean; readonly queued: boolean; readonly spent: boolean; }

export interface ShownJobRow { readonly key: number; readonly id: JobId; readonly state: number; readonly type: number; readonly tenant: number; readonly lane: number; readonly category: number | null; readonly priority: number; readonly payload: string | null; readonly payload_version: string | null; readonly correlation: string | null; readonly parent: JobId | null; readonly retry_of: JobId | null; readonly concurrency: string | null; readonly idempotency: string | null; readonly dedup: string | null; readonly webhook: string | null; readonly flags: number; readonly tags: string | null; readonly created_by: string | null; readonly max_attempts: number; readonly timeout_ms: number | null; readonly tries: number; readonly crashes: number; readonly outcome: number | null; readonly result: string | null; readonly error: string | null; readonly cancel_reason: string | null; readonly gate: number | null; readonly cancel_requested: boolean; readonly created_at: number; readonly run_at: number; readonly next_run_at: number | null; readonly finished_at: number | null; readonly last_started_at: number | null; readonly phase: string | null; readonly overall: number | null; readonly is_stale: boolean; readonly started_at: number | null; }

export interface OffendingRow { readonly key: number | null; readonly id: JobId | null; }

export interface FactsRow { readonly id: JobId; readonly type_name: string; readonly max_attempts: number; readonly flags: number; readonly tries: number; readonly crashes: number; }

export interface RunRow { readonly fence: number; readonly key: number; readonly n: number; readonly rank: number; readonly claimed_at: number; readonly started_at: number | null; readonly ended: boolean; readonly missing: boolean; }

export interface LimitRow { readonly id: number; readonly name: number; readonly cap: number | null; readonly rate_count: number | null; readonly rate_ms: number | null; readonly burst: number | null; readonly tokens: number; readonly refilled_at: number; readonly used: number; readonly code_rule: string | null; readonly owner: number; readonly by: string | null; readonly set_at: number; readonly now: number; }

export interface LogRow { readonly line: number; readonly n: number; readonly at: number; readonly level: number; readonly message: string; readonly fields: string | null; }

export interface MinuteRow { readonly span: number; readonly start: number; readonly type: number; readonly lane: number; readonly outcome: number; readonly count: number; readonly wait_ms: number; readonly run_ms: number; readonly waits: string; readonly runs: string; }

export interface NameRow { readonly id: number; readonly kind: number; readonly text: string; }

export interface OperationRow { readonly id: JobId; readonly status: number; readonly tenant: string | null; readonly plan: string; readonly actor: string; readonly reason: string; readonly rate: number; readonly chunk: number; readonly expected: number; readonly expected_at_least: number; readonly cursor: string; readonly done: number; readonly failed: number; readonly skipped: string; readonly items: number; readonly created_at: number; readonly started_at: number | null; readonly finished_at: number | null; readonly next_ms: number; readonly runner: string | null; readonly stopped_by: string | null; readonly error: string | null; }

export interface WaitingRow { readonly key: number; readonly rank: number; readonly lane: number; readonly priority: number; readonly type: number; readonly tenant: number; readonly concurrency: string | null; readonly n: number; readonly tries: number; readonly crashes: number; }

export interface StateRow { readonly key: number; readonly state: number; readonly runs: number; readonly lease: number | null; readonly at: number; readonly tenant: number; }

export interface QuotaRow { readonly tenant: number; readonly waiting: number | null; readonly rate_count: number | null; readonly rate_ms: number | null; readonly burst: number | null; readonly payload_bytes: number | null; readonly reason: string; readonly by: string | null; readonly set_at: number; readonly revision: number; }

export interface OffendingNameRow { readonly key: number | null; readonly id: JobId | null; readonly name: string; }

export interface ScheduleRow { readonly name: string; readonly owner: number; readonly tenant: string; readonly cron: string; readonly time_zone: string; readonly missed_max: number; readonly overlap: number; readonly jitter_ms: number; readonly starts_at: number | null; readonly ends_at: number | null; readonly job: string; readonly next_slot: number | null; readonly last_slot: number | null; readonly last_job: JobId | null; readonly paused_at: number | null; readonly paused_by: string | null; readonly pause_reason: string | null; readonly declared_at: number | null; readonly created_by: string | null; readonly created_at: number; readonly updated_at: number; readonly revision: number; }

export interface RemovalRow { readonly tenant: string; readonly reason: string; readonly by: string | null; readonly removed: number; readonly begun_at: number; readonly done_at: number | null; }

export interface TokenRow { readonly id: JobId; readonly kind: number; readonly name: string; readonly actor: string; readonly roles: number; readonly tenant: string | null; readonly types: string | null; readonly job_id: JobId | null; readonly parent: JobId | null; readonly created_by: string; readonly created_at: number; readonly expires_at: number; readonly last_used_at: number | null; readonly revoked_at: number | null; }

export interface TypeRow { readonly type: number; readonly lane: string; readonly priority: number; readonly max_attempts: number; readonly timeout_ms: number | null; readonly category: string | null; readonly payload_version: string | null; readonly payload_schema: string | null; readonly app_version: string | null; readonly flags: number; readonly declared_at: number; readonly services: string; readonly workers: number; readonly hashes: number; readonly own_lane: string | null; readonly own_priority: number | null; readonly own_attempts: number | null; readonly own_timeout_ms: number | null; readonly own_by: string | null; readonly own_set_at: number | null; }

/** The rows of each query that returns some. */
export interface QueryRows {
  find_same_audit: { readonly id: number; };
  list_audits: AuditRow;
  list_audits_forwards: AuditRow;
  lock_sealer: { readonly name: string; };
  newest_sealed: { readonly at: number | null; };
  entries_to_seal: AuditRow;
  chain_head: { readonly day: number; readonly position: number; readonly hash: string; };
  chain_start: { readonly day: number; readonly position: number; readonly hash: string; };
  list_seals: { readonly tenant: string; readonly day: number; readonly position: number; readonly audit_id: number; readonly previous: string; readonly hash: string; readonly sealed_at: number; readonly start_day: number | null; readonly start_position: number | null; readonly start_hash: string | null; readonly id: number | null; readonly at: number | null; readonly entry_tenant: string | null; readonly name: string | null; readonly actor: string | null; readonly reason: string | null; readonly subject_kind: string | null; readonly subject: string | null; readonly before: string | null; readonly after: string | null; };
  sealed_or_not: { readonly id: number; readonly at: number; readonly tenant: string; readonly is_sealed: boolean; };
  expired_seals: { readonly tenant: string; readonly day: number; readonly position: number; readonly audit_id: number; readonly hash: string; };
  find_breakers: { readonly service: number; readonly now: number; readonly ended: boolean; readonly is_paused: boolean; readonly paused_until: number | null; readonly pause_reason: string | null; readonly parks: string; readonly state: number; readonly failure_count: number; readonly success_count: number; readonly last_failure_at: number | null; readonly opened_at: number | null; readonly half_opened_at: number | null; readonly probe_at: number | null; readonly probe_key: number | null; readonly probe_n: number | null; readonly reason: string | null; readonly by: string | null; };
  ended_runs: { readonly key: number; readonly n: number; };
  lock_breakers: { readonly service: number; };
  keep_breakers: { readonly service: number; };
  jobs_of_open_services: { readonly key: number; };
  list_breakers: { readonly service: number; readonly now: number; readonly types: string; readonly updated_at: number | null; readonly probe_id: JobId | null; readonly state: number | null; readonly failure_count: number | null; readonly success_count: number | null; readonly last_failure_at: number | null; readonly opened_at: number | null; readonly half_opened_at: number | null; readonly probe_at: number | null; readonly probe_n: number | null; readonly reason: string | null; readonly by: string | null; };
  list_parks: { readonly service: number; readonly tenant: number | null; readonly until: number; readonly reason: string; };
  list_breaker_changes: { readonly at: number; readonly state: number; readonly failure_count: number; readonly reason: string | null; readonly by: string | null; };
  lock_process: { readonly id: JobId; readonly beats: number; readonly died_with: number | null; };
  set_died_with: { readonly id: JobId; readonly died_with: number; };
  count_lone_death: { readonly ended: number; readonly is_closed: boolean; };
  find_dead_letter: DeadLetterRow;
  lock_dead_letter: { readonly id: JobId; };
  list_dead_letters: DeadLetterRow;
  count_dead_letters: { readonly letters: number; };
  group_dead_letters: { readonly status: number; readonly type: number; readonly category: string | null; readonly error_class: string | null; readonly letters: number; readonly oldest_at: number; readonly recent: number; };
  find_dependencies: { readonly key: number | null; readonly id: JobId; };
  awaited_code: { readonly id: JobId; readonly key: number; };
  dependencies_in_use: { readonly waiting: boolean; readonly ended: boolean; };
  sweep_dependencies: { readonly job: number; readonly depends_on: number; };
  take_finished_dependencies: { readonly key: number; readonly is_over: boolean; };
  dependants_of: { readonly key: number; };
  lock_dependants: { readonly key: number; };
  spoilt_dependants: { readonly key: number; readonly id: JobId | null; readonly state: number | null; };
  let_go_on: { readonly count: number; };
  dependants_of_job: { readonly id: JobId; };
  open_dependencies: { readonly id: JobId; };
  find_bodies: BodyRow;
  states_of: { readonly id: JobId; readonly state: number; };
  draw_keys: { readonly key: number; readonly protocol: number; readonly closed: boolean; readonly quotas: number | null; };
  take_idempotency: { readonly job_id: JobId; };
  find_idempotency: { readonly seeker: JobId; readonly holder: JobId; readonly same: boolean; };
  take_dedup: { readonly type: number; readonly job: number; };
  lock_dedup: { readonly locked: number; };
  find_dedup: { readonly type: number; readonly seeker: number; readonly holder: number; readonly id: JobId | null; };
  find_aliases: { readonly id: JobId; };
  table_health: TableHealth;
  vacuum_holders: VacuumHolder;
  server_settings: { readonly version: string; readonly autovacuum: boolean; readonly fsync: boolean; readonly full_page_writes: boolean; readonly synchronous_commit: string; };
  schema_objects: SchemaObject;
  schema_version: { readonly version: number; };
  lost_jobs: { readonly id: JobId; };
  ownerless_leases: { readonly number: number; readonly worker: JobId; readonly id: JobId | null; };
  starts_without_lease: { readonly count: number; };
  places_without_job: { readonly place: "scheduled" | "ready" | "blocked"; readonly key: number; };
  places_against_ledger: { readonly place: "scheduled" | "ready" | "blocked"; readonly key: number; readonly id: JobId; readonly is_over: boolean; readonly is_held: boolean; readonly is_twin: boolean; readonly next_n: number; };
  examined_tables: { readonly first_key: number; readonly last_key: number; readonly scheduled: number; readonly ready: number; readonly blocked: number; readonly dedup: number; readonly cancel_request: number; readonly lock: number; readonly dependency: number; readonly failed: number; readonly dead_letter: number; readonly ended_run: number; };
  prefer_lookups: { readonly hash: string; readonly merge: string; readonly scan: string; };
  role_findings: { readonly found: string; readonly fix: string; };
  role_statements: { readonly statement: string; };
  role_databases: { readonly name: string; };
  second_line: { readonly active: boolean; };
  dump_roles: { readonly name: string; };
  installation: { readonly name: string; readonly value: string; };
  list_routines: { readonly name: string; readonly takes: string; readonly digest: string; readonly sound: boolean; readonly allowed: boolean; };
  failure_causes: { readonly cause: string; readonly last_at: number; };
  failure_hours: { readonly type: number; readonly hour: number; readonly letters: number; };
  first_failure: { readonly first_at: number; };
  letters_of_cause: DeadLetterRow;
  failure_causes_of_tenant: { readonly cause: string; readonly last_at: number; };
  failure_hours_of_tenant: { readonly type: number; readonly hour: number; readonly letters: number; };
  first_failure_of_tenant: { readonly first_at: number; };
  letters_of_cause_of_tenant: DeadLetterRow;
  failure_decisions: { readonly cause: string; readonly decision: number; readonly decided_at: number; readonly until: number | null; readonly by: string; readonly notes: string | null; };
  find_failure_group: { readonly decision: number; readonly decided_at: number; readonly until: number | null; readonly by: string; readonly notes: string | null; };
  lock_dead_letters: { readonly id: JobId; readonly status: number; readonly successor: JobId | null; readonly tenant: number; readonly assigned_to: string | null; };
  all_fair_lanes: FairLaneRow;
  find_fair_lane: FairLaneRow;
  fair_lane_for_turns: FairLaneRow;
  lanes_without_turns: { readonly lane: number; };
  jobs_without_turn: FairJobRow;
  newest_without_turn: FairJobRow;
  later_without_turn: LaterJobRow;
  queued_without_turn: FairJobRow;
  newest_queued: FairJobRow;
  later_queued: LaterJobRow;
  first_turns: { readonly priority: number; readonly queue: number; readonly rank: number | null; };
  first_queue_turns: { readonly priority: number; readonly queue: number; readonly rank: number | null; };
  fair_turns: { readonly priority: number; readonly queue: number; readonly tenant: number; readonly tag: number; readonly due: number; readonly back_tag: number; };
  set_turns: { readonly given: string; };
  longest_due_classes: { readonly lane: number; readonly priority: number; readonly ms: number; };
  number_events: { readonly more: boolean; };
  feed_end: { readonly position: number; };
  feed_start: { readonly position: number; };
  feed_after: { readonly position: number; readonly kind: number; readonly at: number; readonly keys: readonly number[] | null; readonly ids: readonly JobId[] | null; readonly details: string | null; readonly total: number; readonly named: number; };
  run_function: { readonly answer: string | null; };
  promote_due: { readonly moved: number; readonly next_due_ms: number | null; readonly ready: boolean; readonly released: boolean; readonly blocked: boolean; readonly slot_due: boolean; readonly fair: boolean; readonly probe_ms: number | null; };
  closed_gates: { readonly name: number; readonly closed_at: number; readonly until: number | null; readonly reason: string; readonly by: string | null; };
  closed_targets: { readonly name: number; readonly tenant: number | null; readonly gate: number; };
  count_behind_gate: { readonly jobs: number; readonly shared: number; readonly exact: boolean; readonly shared_exact: boolean; };
  count_ahead: { readonly jobs: number; readonly exact: boolean; };
  barriers_in_use: Barriers;
  job_by_id: ShownJobRow;
  tenants_of_ids: { readonly asked: JobId; readonly tenant: number; };
  ids_between: { readonly id: JobId; };
  ends_of_jobs: { readonly asked: JobId; readonly id: JobId; readonly type: number; readonly state: number | null; readonly result: string | null; readonly error: string | null; readonly reason: string | null; };
  match_jobs: ShownJobRow;
  count_matching: { readonly count: number; };
  count_places: { readonly scheduled: number; readonly retrying: number; readonly ready: number; readonly blocked: number; readonly running: number; };
  count_ended: { readonly count: number; };
  count_groups: { readonly type: number; readonly lane: number; readonly tenant: number; readonly category: number | null; readonly scheduled: number; readonly retrying: number; readonly queued: number; readonly held: number; readonly running: number; readonly failed: number; readonly oldest_ms: number | null; };
  claims_under_way: { readonly name: string; };
  count_running: { readonly count: number; };
  ids_of_running: { readonly id: JobId; };
  count_due: { readonly queued: number; readonly behind: number; readonly ms: number | null; readonly exact: boolean; };
  longest_due: { readonly ms: number | null; readonly hops: number; };
  key_at: { readonly key: number; };
  keys_of_all: { readonly key: number; };
  keys_of_type: { readonly key: number; };
  keys_of_tenant: { readonly key: number; };
  keys_of_category: { readonly key: number; };
  keys_of_correlation: { readonly key: number; };
  keys_of_parent: { readonly key: number; };
  keys_of_tag: { readonly key: number; };
  keys_of_long_runs: { readonly key: number; };
  keys_of_states: { readonly key: number; };
  attempts_of_job: { readonly n: number; readonly tries: number; readonly crashes: number; readonly fence: number | null; readonly worker: JobId | null; readonly outcome: number; readonly error_class: number | null; readonly error: string | null; readonly reason: string | null; readonly claimed_at: number | null; readonly started_at: number | null; readonly finished_at: number; readonly next_run_at: number | null; };
  attempts_of_jobs: { readonly key: number; readonly n: number; readonly tries: number; readonly crashes: number; readonly fence: number | null; readonly worker: JobId | null; readonly outcome: number; readonly error_class: number | null; readonly error: string | null; readonly reason: string | null; readonly claimed_at: number | null; readonly started_at: number | null; readonly finished_at: number; readonly next_run_at: number | null; };
  ids_of_keys: { readonly key: number; readonly id: JobId; };
  facts_of_keys: { readonly key: number; readonly id: JobId; readonly type: number; readonly tenant: number; readonly correlation: string | null; readonly state: number; readonly tries: number; readonly next_run_at: number | null; readonly finished_at: number | null; readonly error: string | null; readonly phase: string | null; readonly overall: number | null; };
  closed_intakes: { readonly name: number; readonly closed_at: number; readonly reason: string; readonly by: string | null; };
  find_intakes: { readonly name: number; readonly closed_at: number; readonly reason: string; readonly by: string | null; };
  two_leases: OffendingRow;
  leases_against_ledger: OffendingRow;
  places_against_job: OffendingRow;
  overdue_promotions: OffendingRow;
  stale_dedup: OffendingRow;
  unheld_dedup: OffendingRow;
  shared_dedup: OffendingRow;
  stale_cancel_requests: OffendingRow;
  locks_without_run: OffendingRow;
  runs_without_lock: OffendingRow;
  waits_without_dependencies: OffendingRow;
  dependencies_without_wait: OffendingRow;
  failed_without_letter: OffendingRow;
  letters_without_failure: OffendingRow;
  runs_after_end: OffendingRow;
  run_gaps: OffendingRow;
  wrong_charges: OffendingRow;
  ledger_without_job: OffendingRow;
  ended_runs_without_worker: OffendingRow;
  jobs_without_name: OffendingRow;
  notes_without_job: OffendingRow;
  tags_without_job: OffendingRow;
  aliases_without_job: OffendingRow;
  endless_idempotency: OffendingRow;
  lost_idempotency: OffendingRow;
  untold_changes: OffendingRow;
  permits_against_limits: OffendingRow;
  recount: { readonly scheduled: number; readonly queued: number; readonly held: number; readonly running: number; readonly failed: number; };
  all_key_rates: { readonly tenant: number; readonly name: string; readonly rate_count: number; readonly rate_ms: number; readonly burst: number; readonly tokens: number; readonly refilled_at: number; readonly by: string | null; readonly set_at: number; readonly waiting: number; readonly now: number; };
  find_key_rate: { readonly tenant: number; readonly name: string; readonly rate_count: number; readonly rate_ms: number; readonly burst: number; readonly tokens: number; readonly refilled_at: number; readonly by: string | null; readonly set_at: number; readonly waiting: number; readonly now: number; };
  count_key_rates: { readonly rates: number; };
  lock_key_rate: { readonly rate_count: number; readonly rate_ms: number; readonly burst: number; };
  free_spent_key: { readonly count: number; readonly done: string | null; };
  free_refilled_keys: { readonly count: number; readonly done: string | null; };
  lock_leases: { readonly number: number; readonly secret: string; };
  own_lease: { readonly number: number; };
  own_lease_of_job: { readonly number: number; readonly worker: JobId; };
  own_leases_of_worker: { readonly number: number; };
  runs_of_leases: RunRow;
  job_facts: { readonly key: number; readonly lane: number; readonly priority: number; readonly type: number; readonly tenant: number; readonly concurrency: string | null; readonly id: JobId; readonly type_name: string; readonly max_attempts: number; readonly flags: number; readonly tries: number; readonly crashes: number; };
  own_leases: { readonly number: number; };
  leases_to_repair: { readonly number: number; };
  unsound_runs: { readonly key: number; };
  drop_missing_jobs: { readonly freed: boolean; };
  start_runs: { readonly held: boolean; readonly begun: readonly number[]; readonly asked: readonly number[]; };
  all_limits: LimitRow;
  lock_limit: LimitRow;
  count_limits: { readonly limits: number; };
  limit_targets: { readonly limit_id: number; readonly target: number; };
  lock_permits: { readonly id: number; };
  keep_permits: { readonly freed: number; };
  locks_of_run: { readonly name: string; };
  release_locks: { readonly count: number; readonly done: string | null; };
  free_dead_locks: { readonly count: number; readonly done: string | null; };
  lock_holder: { readonly id: JobId; };
  log_after: LogRow;
  newest_log: LogRow;
  newest_logs_of_jobs: { readonly key: number; readonly line: number; readonly n: number; readonly at: number; readonly level: number; readonly message: string; readonly fields: string | null; };
  lock_fold: { readonly name: string; };
  any_minutes: { readonly found: boolean; };
  take_minutes: { readonly at: number; readonly type: number; readonly lane: number; readonly outcome: number; readonly waits: readonly number[]; readonly runs: readonly number[]; };
  find_minutes: MinuteRow;
  minutes_between: MinuteRow;
  lock_deploys: { readonly name: string; };
  list_deploys: { readonly app_version: string; readonly at: number; };
  find_names: NameRow;
  names_by_id: NameRow;
  count_open_operations: { readonly count: number; };
  claimable_operations: { readonly id: JobId; };
  hold_operations: OperationRow;
  find_operation: OperationRow;
  lock_operation: { readonly id: JobId; };
  list_operations: OperationRow;
  list_operation_items: { readonly n: number; readonly job_id: JobId; readonly outcome: number; readonly code: string | null; readonly successor: JobId | null; };
  set_priorities: { readonly key: number; };
  other_successors: { readonly id: JobId; readonly successor: JobId; };
  states_of_jobs: { readonly id: JobId; readonly key: number; readonly state: number; readonly tenant: number; };
  jobs_left: { readonly key: number; };
  payload_rules: { readonly scope: string; readonly name: string; readonly rule: string; readonly owner: string; readonly by: string | null; readonly reason: string | null; readonly set_at: number; };
  take_waiting: WaitingRow;
  put_waiting: { readonly key: number; readonly waits: boolean; };
  end_unstarted: { readonly awaited: boolean; };
  still_waiting: { readonly key: number; };
  hurry_job: { readonly moved: number; readonly put_forward: number; };
  state_of: StateRow;
  expired_keys: { readonly turn: number; readonly key: number; readonly at: number; readonly is_found: boolean; readonly is_cut: boolean; };
  jobs_by_keys: ShownJobRow;
  insert_stale: { readonly key: number; };
  prune_jobs: { readonly count: number; readonly waiting: number; };
  prune_idempotency: { readonly count: number; readonly last: number; };
  declared_periods: { readonly value: string; };
  lock_declared_periods: { readonly value: string; };
  all_quotas: QuotaRow;
  find_quotas: QuotaRow;
  quota_uses: { readonly tenant: number; readonly tokens: number; readonly refilled_at: number; };
  take_quota_tokens: { readonly granted: number; readonly tokens: number; readonly at: number; };
  count_of_tenant: { readonly count: number; };
  put_units: { readonly key: number; readonly phase: string; readonly unit: string | null; };
  crowded_phases: { readonly key: number; readonly phase: string; };
  insert_phases: { readonly key: number; readonly name: string; };
  phases_of_job: { readonly name: string; readonly result: string | null; readonly n: number; readonly at: number; readonly run_started_at: number | null; };
  ended_units: { readonly phase: string; readonly unit: string; readonly state: number; readonly result: string | null; readonly error: string | null; };
  checkpoints_of_job: { readonly failed: string | null; readonly tries: number | null; };
  progress_of_job: { readonly key: number; readonly phase: string | null; readonly phases: string | null; readonly percent: number | null; readonly overall: number | null; readonly data: string | null; readonly at: number | null; readonly n: number | null; readonly run_started_at: number | null; readonly run_finished_at: number | null; readonly last_outcome: number | null; };
  progress_of_jobs: { readonly id: JobId; readonly key: number; readonly phase: string | null; readonly phases: string | null; readonly percent: number | null; readonly overall: number | null; readonly data: string | null; readonly at: number | null; readonly n: number | null; readonly run_started_at: number | null; readonly run_finished_at: number | null; readonly last_outcome: number | null; };
  phases_of_jobs: { readonly key: number; readonly name: string; readonly result: string | null; readonly n: number; readonly at: number; readonly run_started_at: number | null; };
  unit_counts_of_jobs: { readonly key: number; readonly phase: string; readonly planned: number; readonly running: number; readonly completed: number; readonly failed: number; };
  first_units_of_jobs: { readonly key: number; readonly phase: string; readonly unit: string; readonly turn: number; readonly state: number; readonly result: string | null; readonly error: string | null; readonly n: number; readonly at: number; };
  unit_counts: { readonly phase: string; readonly planned: number; readonly running: number; readonly completed: number; readonly failed: number; };
  units_of_job: { readonly phase: string; readonly unit: string; readonly turn: number; readonly state: number; readonly result: string | null; readonly error: string | null; readonly n: number; readonly at: number; };
  holders_of_unit: { readonly id: JobId; readonly phase: string; readonly unit: string; readonly at: number; };
  count_saved_views: { readonly count: number; };
  find_saved_view: { readonly screen: string; readonly query: string; };
  list_saved_views: { readonly name: string; readonly screen: string; readonly query: string; readonly by: string | null; readonly saved_at: number; };
  overdue_schedules: OffendingNameRow;
  unfolded_minutes: OffendingNameRow;
  ticks_without_schedule: OffendingNameRow;
  minutes_without_name: OffendingNameRow;
  find_schedule: ScheduleRow;
  lock_schedule: { readonly revision: number; };
  read_clock: { readonly now: number; };
  list_schedules: ScheduleRow;
  list_due_schedules: { readonly name: string; readonly next_slot: number; readonly now: number; };
  lock_new_schedules: { readonly locked: number; };
  count_schedules: { readonly total: number; readonly of_tenant: number; };
  list_missing_schedules: { readonly name: string; };
  list_ticks: { readonly slot: number; readonly since: number | null; readonly job: JobId | null; readonly outcome: number; readonly at: number; };
  find_ticks: { readonly slot: number; };
  find_made_ticks: { readonly slot: number; };
  insert_attempts: { readonly key: number; readonly next_run_at: number | null; };
  end_runs: { readonly freed: boolean; readonly awaited: boolean; readonly done: string | null; };
  find_fences: { readonly key: number; readonly n: number; readonly fence: number | null; readonly outcome: number; };
  find_cancel_requests: { readonly key: number; readonly reason: string | null; };
  specs_of: { readonly key: number; readonly id: JobId; readonly type: string; readonly tenant: string; readonly lane: string; readonly category: string | null; readonly priority: number; readonly payload: string | null; readonly payload_version: string | null; readonly correlation: string | null; readonly parent: JobId | null; readonly retry_of: JobId | null; readonly concurrency: string | null; readonly idempotency: string | null; readonly dedup: string | null; readonly webhook: string | null; readonly tags: string | null; readonly created_by: string | null; readonly created_at: number; readonly run_at: number; readonly max_attempts: number; readonly timeout_ms: number | null; readonly flags: number; };
  tenant_names: { readonly name: string; };
  removal_of: RemovalRow;
  open_removals: RemovalRow;
  lock_open_removal: { readonly tenant: string; };
  keys_to_remove: { readonly key: number; };
  rows_of_tenant: { readonly job_rows: number; readonly ready_rows: number; readonly scheduled_rows: number; readonly blocked_rows: number; readonly idempotency_rows: number; readonly dead_letter_rows: number; readonly dedup_rows: number; readonly failure_group_rows: number; readonly lock_rows: number; readonly key_rate_rows: number; readonly fair_turn_rows: number; readonly service_park_rows: number; readonly quota_rows: number; readonly quota_use_rows: number; readonly gate_rows: number; readonly limit_setting_rows: number; readonly schedule_rows: number; readonly api_token_rows: number; readonly operation_rows: number; readonly operation_item_rows: number; readonly saved_view_rows: number; };
  find_same_token: { readonly id: JobId; };
  find_parent_token: { readonly expires_at: number; };
  find_usable_token: TokenRow;
  find_token: TokenRow;
  list_tokens: TokenRow;
  revoke_children: { readonly id: JobId; };
  home: { readonly home: string; readonly commit: string | null; };
  list_types: TypeRow;
  renew_worker: { readonly now: number; readonly busy: boolean; readonly quiet: boolean; readonly stopping: boolean; readonly outdated: boolean; readonly cancel: string | null; readonly ended: string | null; };
  delete_ended_runs: { readonly key: number; };
  lock_worker: { readonly id: JobId; };
  silent_workers: { readonly id: JobId; readonly beats: number; readonly silent_ms: number; };
  sweep_expired_leases: { readonly ended: number; };
  worker_lives: { readonly lives: boolean; };
  is_stopping: { readonly stopping: boolean; };
  holder_of_job: { readonly id: JobId; readonly host: string; readonly pid: number; readonly until: number; readonly beat_ms: number; readonly beat_ago_ms: number; };
  store_time: { readonly at: number; };
  list_workers: { readonly id: JobId; readonly host: string; readonly pid: number; readonly version: string; readonly types: string; readonly lanes: string; readonly slots: number; readonly lane_slots: string; readonly tenant: string | null; readonly app: string | null; readonly joined_at: number; readonly until: number; readonly lease_left_ms: number; readonly beat_ms: number; readonly beat_ago_ms: number; readonly beats: number; readonly memory_bytes: number | null; readonly loop_lag_ms: number | null; readonly quiet: boolean; readonly stopping: boolean; readonly taken_by: string | null; readonly running: number; readonly buffered: number; readonly running_by_lane: string; readonly crashed_once: number; readonly crashed_often: number; };
  overdue_runs: { readonly number: number; readonly secret: string; readonly key: number; readonly n: number; readonly limit_ms: number; readonly ran_ms: number; readonly id: JobId; readonly type_name: string; readonly max_attempts: number; readonly flags: number; readonly tries: number; readonly crashes: number; };
}

/** The rows of queries that are read as arrays, in the order of the columns. */
export interface QueryTuples {
  claim_probe: ClaimTuple;
  claim: ClaimTuple;
  claimed_by: ClaimTuple;
  claim_alone: ClaimTuple;
  enqueue_alike: readonly [later: boolean | null, told: string | null];
  enqueue: readonly [later: readonly JobId[] | null];
  insert_jobs: readonly [made: number, scheduled: readonly JobId[] | null, ids: readonly JobId[] | null, keys: readonly number[] | null];
  settle_done: readonly [accepted: readonly number[], freed: boolean, awaited: boolean, missing: readonly number[], ended_at: number, told: string | null];
  enqueue_at_home: readonly [here: boolean, later: readonly JobId[] | null];
}

/** The parameters of each named query, in the order in which they are bound. */
export interface QueryParameters {
  insert_audits: readonly ["now", "entries"];
  find_same_audit: readonly ["subject", "name", "actor", "after", "now"];
  list_audits: readonly ["after", "tenant", "name", "actor", "kind", "subject", "since_at", "until_at", "limit"];
  list_audits_forwards: readonly ["after", "tenant", "name", "actor", "kind", "subject", "since_at", "until_at", "limit"];
  lock_sealer: readonly [];
  newest_sealed: readonly ["tenant"];
  entries_to_seal: readonly ["since", "limit"];
  chain_head: readonly ["tenant"];
  chain_start: readonly ["tenant"];
  insert_seals: readonly ["seals"];
  list_seals: readonly ["after_tenant", "after_day", "after_position", "tenant", "limit"];
  sealed_or_not: readonly ["after", "tenant", "limit"];
  expired_seals: readonly ["day", "limit"];
  put_chain_start: readonly ["tenant", "day", "position", "hash"];
  delete_audits: readonly ["ids"];
  delete_seals: readonly ["ids"];
  find_breakers: readonly ["now", "services"];
  ended_runs: readonly ["keys", "ns"];
  insert_breakers: readonly ["now", "services"];
  lock_breakers: readonly ["services"];
  keep_breakers: readonly ["services"];
  jobs_of_open_services: readonly ["keys", "services", "now"];
  put_breakers: readonly ["now", "breakers"];
  insert_breaker_changes: readonly ["now", "changes"];
  put_parks: readonly ["now", "parks"];
  delete_parks: readonly ["service"];
  hurry_sent_back: readonly ["now", "depth", "service", "limit"];
  claim_probe: readonly ["worker", "secret", "lanes", "types", "tenants", "cap", "lent", "lent_counts", "now"];
  list_breakers: readonly ["now", "limit"];
  list_parks: readonly ["now", "limit"];
  list_breaker_changes: readonly ["service", "limit"];
  delete_breaker_changes: readonly ["now", "age", "limit"];
  claim: readonly ["worker", "secret", "lanes", "types", "tenants", "prefetch", "limit", "mark_lanes", "mark_priorities", "mark_ranks", "mark_keys", "mark_ends", "once", "often", "cap", "lent", "lent_counts", "priority", "now"];
  claimed_by: readonly ["worker", "secret"];
  claim_alone: readonly ["worker", "secret", "lanes", "types", "tenants", "cap", "lent", "lent_counts", "now"];
  set_next_probe: readonly ["now", "probe_ms", "type"];
  lock_process: readonly ["id", "beats", "now"];
  set_died_with: readonly ["workers"];
  count_lone_death: readonly ["type"];
  close_crash_gate: readonly ["type", "now", "reason", "by", "probe_ms"];
  set_gate_reason: readonly ["reason", "type"];
  end_crash_streak: readonly ["type"];
  find_dead_letter: readonly ["id"];
  lock_dead_letter: readonly ["id"];
  list_dead_letters: readonly ["before_at", "before_id", "status", "type", "tenant", "category", "error_class", "cause", "assigned_to", "correlation", "created_from", "created_before", "limit"];
  count_dead_letters: readonly ["status", "type", "tenant", "category", "error_class", "cause", "assigned_to", "correlation", "created_from", "created_before", "max"];
  group_dead_letters: readonly ["now", "since_ms", "tenant", "rows", "groups"];
  review_dead_letter: readonly ["status", "reviewed_by", "now", "notes", "successor", "act", "changes", "id"];
  annotate_dead_letter: readonly ["act", "assigned_to", "now", "by", "notes", "id"];
  find_dependencies: readonly ["ids"];
  awaited_code: readonly ["ids", "depth", "limit"];
  insert_ended_code: readonly ["keys"];
  insert_finished_dependencies: readonly ["jobs"];
  dependencies_in_use: readonly [];
  sweep_dependencies: readonly ["job", "depends_on", "limit"];
  take_finished_dependencies: readonly ["limit"];
  dependants_of: readonly ["keys", "limit"];
  lock_dependants: readonly ["keys"];
  spoilt_dependants: readonly ["jobs", "keys"];
  drop_dependencies: readonly ["keys", "jobs", "others"];
  let_go_on: readonly ["now", "jobs"];
  delete_finished_dependency: readonly ["keys", "strays"];
  dependants_of_job: readonly ["id", "limit"];
  open_dependencies: readonly ["id", "limit"];
  enqueue_alike: readonly ["ids", "payloads", "type", "tenant", "lane", "category", "priority", "due_at", "delay_ms", "max_attempts", "timeout_ms", "payload_version", "correlation", "parent", "concurrency", "webhook", "tags", "created_by", "flags", "now", "protocol", "quotas", "word", "channel"];
  enqueue: readonly ["kinds", "ids", "payloads", "kind_of", "now", "protocol", "quotas"];
  insert_jobs: readonly ["now", "dependencies", "jobs", "asked"];
  find_bodies: readonly ["ids"];
  states_of: readonly ["ids"];
  draw_keys: readonly ["count"];
  take_idempotency: readonly ["wanted"];
  find_idempotency: readonly ["wanted"];
  return_idempotency: readonly ["taken"];
  take_dedup: readonly ["wanted"];
  lock_dedup: readonly ["wanted"];
  find_dedup: readonly ["wanted"];
  delete_dedup: readonly ["jobs"];
  append_events: readonly ["now", "batches"];
  find_aliases: readonly ["ids"];
  insert_aliases: readonly ["given"];
  table_health: readonly ["schema"];
  vacuum_holders: readonly ["limit"];
  server_settings: readonly [];
  schema_objects: readonly ["schema"];
  schema_version: readonly [];
  lost_jobs: readonly ["last_key", "limit"];
  ownerless_leases: readonly ["limit"];
  starts_without_lease: readonly [];
  places_without_job: readonly ["examined", "limit"];
  places_against_ledger: readonly ["examined", "limit"];
  examined_tables: readonly ["max"];
  prefer_lookups: readonly [];
  role_findings: readonly ["limit"];
  role_statements: readonly [];
  role_databases: readonly [];
  second_line: readonly ["schema"];
  dump_roles: readonly ["limit"];
  installation: readonly [];
  list_routines: readonly ["settings", "schema", "mark"];
  failure_causes: readonly ["max"];
  failure_hours: readonly ["now", "cause", "max"];
  first_failure: readonly ["cause"];
  letters_of_cause: readonly ["cause", "before_at", "before_id", "limit"];
  failure_causes_of_tenant: readonly ["tenant", "max"];
  failure_hours_of_tenant: readonly ["now", "tenant", "cause", "max"];
  first_failure_of_tenant: readonly ["tenant", "cause"];
  letters_of_cause_of_tenant: readonly ["tenant", "cause", "before_at", "before_id", "limit"];
  failure_decisions: readonly ["tenant", "after", "limit"];
  find_failure_group: readonly ["tenant", "cause"];
  decide_failure_group: readonly ["tenant", "cause", "decision", "now", "for_ms", "by", "notes"];
  lock_dead_letters: readonly ["ids"];
  review_dead_letters: readonly ["status", "reviewed_by", "now", "notes", "act", "letters"];
  all_fair_lanes: readonly [];
  find_fair_lane: readonly ["lane"];
  fair_lane_for_turns: readonly ["lane"];
  put_fair_lane: readonly ["lane", "weights", "code_weights", "owner", "by", "now"];
  set_code_weights: readonly ["code_weights", "lane"];
  delete_fair_lane: readonly ["lane"];
  lanes_without_turns: readonly [];
  jobs_without_turn: readonly ["lane", "limit"];
  newest_without_turn: readonly ["lane", "limit", "tenants"];
  later_without_turn: readonly ["lane", "priority", "rank", "key", "limit", "tenants"];
  queued_without_turn: readonly ["lane", "limit"];
  newest_queued: readonly ["lane", "limit", "tenants"];
  later_queued: readonly ["lane", "priority", "rank", "key", "limit", "tenants"];
  first_turns: readonly ["lane", "priorities"];
  first_queue_turns: readonly ["lane", "priorities", "queues"];
  fair_turns: readonly ["lane", "priorities"];
  delete_fair_turns: readonly ["lane", "priorities"];
  delete_turns_of_lane: readonly ["lane"];
  put_fair_turns: readonly ["lane", "turns"];
  set_turns: readonly ["turns"];
  longest_due_classes: readonly ["lanes", "hops", "now", "older", "classes"];
  number_events: readonly ["limit", "bytes"];
  feed_end: readonly [];
  feed_start: readonly [];
  feed_after: readonly ["position", "limit", "bytes", "jobs"];
  run_function: readonly ["schema", "name", "payload"];
  promote_due: readonly ["now", "limit", "look", "declared_ms"];
  close_gate: readonly ["now", "name", "for_ms", "reason", "by"];
  open_gate: readonly ["name"];
  closed_gates: readonly ["now"];
  closed_targets: readonly ["now"];
  count_behind_gate: readonly ["name", "now", "rows", "tenant"];
  count_ahead: readonly ["id", "now", "rows", "tenant"];
  barriers_in_use: readonly [];
  hold_jobs: readonly ["now", "depth", "key_depth", "limit"];
  release_jobs: readonly ["now", "limit"];
  job_by_id: readonly ["id"];
  tenants_of_ids: readonly ["ids"];
  ids_between: readonly ["first", "last", "limit"];
  ends_of_jobs: readonly ["ids"];
  match_jobs: readonly ["keys", "states", "type", "tenant", "category", "lane", "error", "payload_text", "payload", "correlation", "correlation_uuid", "correlation_id", "parent", "created_from", "created_before", "tags", "limit"];
  count_matching: readonly ["keys", "states", "type", "tenant", "category", "lane", "error", "payload_text", "payload", "correlation", "correlation_uuid", "correlation_id", "parent", "created_from", "created_before", "tags"];
  count_places: readonly ["max"];
  count_ended: readonly ["state", "max"];
  count_groups: readonly ["rows", "now", "categories", "tenant", "groups"];
  claims_under_way: readonly ["claims"];
  count_running: readonly ["gate", "worker", "rows"];
  ids_of_running: readonly ["gate", "worker", "limit"];
  count_due: readonly ["now", "rows"];
  longest_due: readonly ["now", "hops"];
  key_at: readonly ["at"];
  keys_of_all: readonly ["before", "limit"];
  keys_of_type: readonly ["type", "before", "limit"];
  keys_of_tenant: readonly ["tenant", "before", "limit"];
  keys_of_category: readonly ["category", "before", "limit"];
  keys_of_correlation: readonly ["correlation", "correlation_uuid", "before", "correlation_id", "limit"];
  keys_of_parent: readonly ["parent", "before", "limit"];
  keys_of_tag: readonly ["name", "value", "before", "limit"];
  keys_of_long_runs: readonly ["now", "running_ms", "before", "limit"];
  keys_of_states: readonly ["states", "before", "limit"];
  attempts_of_job: readonly ["id"];
  attempts_of_jobs: readonly ["keys"];
  ids_of_keys: readonly ["keys"];
  facts_of_keys: readonly ["keys"];
  close_intake: readonly ["name", "now", "reason", "by"];
  open_intake: readonly ["name"];
  closed_intakes: readonly [];
  find_intakes: readonly ["names"];
  two_leases: readonly ["limit"];
  leases_against_ledger: readonly ["limit"];
  places_against_job: readonly ["examined", "limit"];
  overdue_promotions: readonly ["now", "limit"];
  stale_dedup: readonly ["examined", "limit"];
  unheld_dedup: readonly ["examined", "limit"];
  shared_dedup: readonly ["examined", "limit"];
  stale_cancel_requests: readonly ["examined", "limit"];
  locks_without_run: readonly ["examined", "limit"];
  runs_without_lock: readonly ["limit"];
  waits_without_dependencies: readonly ["examined", "limit"];
  dependencies_without_wait: readonly ["examined", "limit"];
  failed_without_letter: readonly ["examined", "limit"];
  letters_without_failure: readonly ["examined", "limit"];
  runs_after_end: readonly ["limit"];
  run_gaps: readonly ["limit"];
  wrong_charges: readonly ["limit"];
  ledger_without_job: readonly ["limit"];
  ended_runs_without_worker: readonly ["examined", "limit"];
  jobs_without_name: readonly ["limit"];
  notes_without_job: readonly ["limit"];
  tags_without_job: readonly ["limit"];
  aliases_without_job: readonly ["limit"];
  endless_idempotency: readonly ["limit"];
  lost_idempotency: readonly ["limit"];
  untold_changes: readonly ["limit"];
  permits_against_limits: readonly ["limit"];
  recount: readonly [];
  all_key_rates: readonly ["waiting", "now"];
  find_key_rate: readonly ["waiting", "now", "tenant", "name"];
  count_key_rates: readonly [];
  lock_key_rate: readonly ["tenant", "name"];
  put_key_rate: readonly ["tenant", "name", "rate_count", "rate_ms", "burst", "by", "now"];
  delete_key_rate: readonly ["tenant", "name"];
  free_spent_key: readonly ["tenant", "name"];
  free_refilled_keys: readonly ["now", "limit"];
  lock_leases: readonly ["numbers"];
  own_lease: readonly ["number", "secret"];
  own_lease_of_job: readonly ["key"];
  own_leases_of_worker: readonly ["worker", "limit"];
  runs_of_leases: readonly ["numbers"];
  job_facts: readonly ["keys"];
  own_leases: readonly ["numbers"];
  leases_to_repair: readonly ["limit"];
  unsound_runs: readonly ["numbers"];
  drop_missing_jobs: readonly ["keys"];
  start_runs: readonly ["number", "secret", "keys", "now"];
  narrow_lease: readonly ["number", "keys"];
  delete_leases: readonly ["numbers"];
  all_limits: readonly ["now"];
  lock_limit: readonly ["now", "name"];
  count_limits: readonly [];
  limit_targets: readonly [];
  put_limit: readonly ["name", "cap", "rate_count", "rate_ms", "burst", "code_rule", "owner", "by", "now"];
  set_code_rule: readonly ["code_rule", "id"];
  delete_limit: readonly ["id"];
  lock_permits: readonly ["limits", "counts", "worker"];
  keep_permits: readonly ["limits", "counts", "worker"];
  note_permits: readonly ["worker", "limits", "counts"];
  hold_limited: readonly ["now", "depth", "limit"];
  rehome_limited: readonly ["now", "depth", "limit"];
  acquire_locks: readonly ["n", "names", "key"];
  locks_of_run: readonly ["key", "n", "names"];
  release_locks: readonly ["names"];
  free_dead_locks: readonly ["limit"];
  release_keys: readonly ["limit"];
  lock_holder: readonly ["tenant", "name"];
  put_logs: readonly ["relaxed", "lines"];
  trim_logs: readonly ["keys", "lines_max", "chars_max"];
  log_after: readonly ["id", "after", "limit"];
  newest_log: readonly ["id", "limit"];
  newest_logs_of_jobs: readonly ["keys", "limit"];
  lock_fold: readonly [];
  any_minutes: readonly [];
  take_minutes: readonly ["limit"];
  find_minutes: readonly ["keys"];
  put_minutes: readonly ["rows"];
  minutes_between: readonly ["since", "hours_from", "type", "lane", "limit", "hours_to", "until"];
  lock_deploys: readonly [];
  insert_deploy: readonly ["app", "now", "worker"];
  list_deploys: readonly ["since", "until", "limit"];
  delete_deploys: readonly ["now", "age", "limit"];
  intern_names: readonly ["wanted"];
  find_names: readonly ["wanted"];
  names_by_id: readonly ["ids"];
  insert_operation: readonly ["id", "tenant", "plan", "actor", "reason", "rate", "chunk", "expected", "expected_at_least", "walks_jobs", "walks_letters", "now"];
  count_open_operations: readonly ["tenant", "max"];
  claimable_operations: readonly ["max", "runner", "now"];
  hold_operations: readonly ["runner", "lease_ms", "now", "ids"];
  find_operation: readonly ["now", "id"];
  lock_operation: readonly ["id"];
  list_operations: readonly ["now", "before", "status", "tenant", "limit"];
  advance_operation: readonly ["now", "cost_ms", "id", "cursor", "done", "failed", "skipped", "items", "is_last", "lease_ms"];
  stop_operation: readonly ["by", "now", "id"];
  fail_operation: readonly ["error", "now", "id", "runner"];
  insert_operation_items: readonly ["id", "items"];
  list_operation_items: readonly ["id", "after", "outcome", "limit"];
  delete_operation_items: readonly ["now", "age", "limit"];
  delete_operations: readonly ["now", "age", "limit"];
  set_priorities: readonly ["keys", "priority"];
  other_successors: readonly ["ids", "depth"];
  states_of_jobs: readonly ["ids"];
  jobs_left: readonly ["keys"];
  save_part: readonly [];
  undo_part: readonly [];
  keep_part: readonly [];
  put_payload_rule: readonly ["scope", "name", "rule", "by", "reason", "now"];
  declare_payload_rule: readonly ["scope", "name", "rule", "now"];
  empty_payload_rule: readonly ["by", "reason", "now", "scope", "name"];
  delete_payload_rule: readonly ["scope", "name"];
  payload_rules: readonly [];
  take_waiting: readonly ["keys"];
  put_waiting: readonly ["now", "jobs"];
  put_back: readonly ["jobs"];
  end_unstarted: readonly ["now", "jobs"];
  still_waiting: readonly ["keys"];
  hurry_job: readonly ["now", "id"];
  state_of: readonly ["now", "id"];
  insert_cancel_request: readonly ["key", "by", "reason", "now"];
  expired_keys: readonly ["now", "ages", "depth", "fresh", "limit"];
  jobs_by_keys: readonly ["keys"];
  insert_stale: readonly ["now", "keys"];
  prune_jobs: readonly ["now", "keys", "units", "idempotency_ms"];
  prune_idempotency: readonly ["since", "now", "limit"];
  prune_dead_letters: readonly ["now", "age", "limit"];
  prune_tokens: readonly ["now", "age", "limit"];
  prune_events: readonly ["limit", "now", "age"];
  prune_minutes: readonly ["now", "age", "limit"];
  delete_failure_groups: readonly ["now", "age", "limit"];
  declared_periods: readonly [];
  lock_declared_periods: readonly [];
  put_declared_periods: readonly ["value"];
  put_quota: readonly ["tenant", "waiting", "rate_count", "rate_ms", "burst", "payload_bytes", "reason", "by", "now"];
  delete_quota: readonly ["tenant"];
  delete_quota_use: readonly ["tenant"];
  all_quotas: readonly ["limit"];
  find_quotas: readonly ["tenants"];
  quota_uses: readonly ["tenants"];
  take_quota_tokens: readonly ["tenant", "wanted", "rate_count", "rate_ms", "burst", "now"];
  count_of_tenant: readonly ["rows", "tenant", "max"];
  forget_notes: readonly ["runs"];
  put_progress: readonly ["now", "relaxed", "told"];
  put_units: readonly ["now", "moves"];
  crowded_phases: readonly ["phases", "max"];
  insert_phases: readonly ["now", "phases"];
  take_over: readonly ["keys"];
  phases_of_job: readonly ["key"];
  ended_units: readonly ["key"];
  checkpoints_of_job: readonly ["key"];
  progress_of_job: readonly ["id"];
  progress_of_jobs: readonly ["ids"];
  phases_of_jobs: readonly ["keys"];
  unit_counts_of_jobs: readonly ["keys"];
  first_units_of_jobs: readonly ["keys", "limit"];
  unit_counts: readonly ["key"];
  units_of_job: readonly ["id", "after_phase", "after_turn", "after_unit", "last_phase", "state", "limit"];
  holders_of_unit: readonly ["unit", "limit"];
  put_saved_view: readonly ["tenant", "name", "screen", "query", "by", "now"];
  count_saved_views: readonly ["tenant", "name", "max"];
  find_saved_view: readonly ["tenant", "name"];
  delete_saved_view: readonly ["tenant", "name"];
  list_saved_views: readonly ["tenant", "max"];
  overdue_schedules: readonly ["now", "limit"];
  unfolded_minutes: readonly ["examined", "now", "limit"];
  ticks_without_schedule: readonly ["limit"];
  minutes_without_name: readonly ["limit"];
  find_schedule: readonly ["name"];
  lock_schedule: readonly ["name"];
  read_clock: readonly ["now"];
  list_schedules: readonly ["after", "tenant", "limit"];
  list_due_schedules: readonly ["now", "declared", "limit"];
  lock_new_schedules: readonly [];
  count_schedules: readonly ["tenant"];
  insert_schedule: readonly ["name", "owner", "tenant", "cron", "time_zone", "missed_max", "overlap", "jitter_ms", "starts_at", "ends_at", "job", "next_slot", "created_by", "now"];
  update_schedule: readonly ["owner", "tenant", "cron", "time_zone", "missed_max", "overlap", "jitter_ms", "starts_at", "ends_at", "job", "next_slot", "now", "name"];
  confirm_schedules: readonly ["now", "names"];
  list_missing_schedules: readonly ["names"];
  list_ticks: readonly ["name", "before", "limit"];
  find_ticks: readonly ["name", "slots"];
  find_made_ticks: readonly ["name", "after", "limit"];
  set_schedule_back: readonly ["next_slot", "name", "now"];
  insert_tick: readonly ["name", "slot", "since", "job", "outcome", "now"];
  advance_schedule: readonly ["next_slot", "last_slot", "last_job", "name"];
  prune_ticks: readonly ["now", "name", "kept"];
  pause_schedule: readonly ["now", "by", "reason", "name"];
  resume_schedule: readonly ["next_slot", "name"];
  delete_schedule: readonly ["name"];
  delete_ticks: readonly ["name"];
  settle_done: readonly ["word", "channel", "leases", "secrets", "places", "keys", "ns", "tries", "crashes", "states", "results", "now"];
  insert_attempts: readonly ["ends", "now"];
  end_runs: readonly ["over", "jobs", "succeeded"];
  find_fences: readonly ["runs"];
  find_cancel_requests: readonly ["keys"];
  delete_cancel_requests: readonly ["keys"];
  specs_of: readonly ["keys"];
  insert_dead_letters: readonly ["letters"];
  tenant_names: readonly ["kind", "after", "limit"];
  begin_removal: readonly ["tenant", "reason", "by", "now"];
  removal_of: readonly ["tenant"];
  open_removals: readonly ["limit"];
  lock_open_removal: readonly ["tenant"];
  note_removed: readonly ["count", "tenant"];
  end_removal: readonly ["now", "tenant"];
  keys_to_remove: readonly ["tenant", "limit"];
  clear_idempotency: readonly ["tenant", "limit"];
  clear_dead_letters: readonly ["tenant", "limit"];
  clear_permits: readonly ["tenant"];
  clear_limits: readonly ["tenant"];
  clear_ticks: readonly ["name"];
  clear_schedules: readonly ["name"];
  clear_tokens: readonly ["name"];
  stop_operations_of: readonly ["now", "name"];
  clear_operation_items: readonly ["name", "limit"];
  clear_operations: readonly ["name"];
  clear_views: readonly ["name"];
  clear_dedup: readonly ["tenant"];
  clear_failure_group: readonly ["tenant"];
  clear_lock: readonly ["tenant"];
  clear_key_rate: readonly ["tenant"];
  clear_fair_turn: readonly ["tenant"];
  clear_service_park: readonly ["tenant"];
  clear_quota: readonly ["tenant"];
  clear_quota_use: readonly ["tenant"];
  clear_gate: readonly ["tenant"];
  clear_weights: readonly ["tenant"];
  rows_of_tenant: readonly ["tenant", "max", "name"];
  find_same_token: readonly ["id", "hash"];
  find_parent_token: readonly ["id", "now"];
  insert_token: readonly ["id", "hash", "kind", "name", "actor", "roles", "tenant", "types", "job_id", "parent", "created_by", "ttl_ms", "until", "now"];
  find_usable_token: readonly ["now", "hash"];
  find_token: readonly ["id"];
  list_tokens: readonly ["before", "kinds", "tenant", "with_ended", "now", "limit"];
  mark_tokens_used: readonly ["now", "ids"];
  revoke_token: readonly ["now", "id"];
  revoke_children: readonly ["now", "parents"];
  home: readonly [];
  enqueue_at_home: readonly ["kinds", "ids", "payloads", "kind_of", "now", "protocol", "quotas", "home"];
  put_type_settings: readonly ["now", "types"];
  put_type_override: readonly ["lane", "priority", "max_attempts", "timeout_ms", "by", "now", "type"];
  delete_type_override: readonly ["type"];
  delete_services_of: readonly ["types"];
  insert_services_of: readonly ["services", "types"];
  put_worker_types: readonly ["worker", "types"];
  delete_worker_types: readonly ["worker"];
  list_types: readonly ["now", "only", "limit"];
  register_worker: readonly ["id", "process", "host", "pid", "version", "protocol", "types", "lanes", "slots", "lane_slots", "tenant", "app", "lease_ms", "beat_ms", "quiet", "now"];
  renew_worker: readonly ["now", "id", "lease_ms", "memory_bytes", "loop_lag_ms"];
  insert_ended_runs: readonly ["runs", "worker"];
  delete_ended_runs: readonly ["worker", "runs"];
  lock_worker: readonly ["id"];
  delete_worker: readonly ["id"];
  expire_worker: readonly ["now", "id"];
  silent_workers: readonly ["now", "limit"];
  sweep_expired_leases: readonly ["limit", "now"];
  worker_lives: readonly ["now", "id"];
  quiet_worker: readonly ["id"];
  resume_worker: readonly ["id"];
  is_stopping: readonly ["id"];
  stop_worker: readonly ["id"];
  holder_of_job: readonly ["now", "id"];
  store_time: readonly ["now"];
  list_workers: readonly ["now", "limit"];
  overdue_runs: readonly ["now", "worker", "slack_ms"];
}

export const queries: {
  readonly [Name in keyof QueryParameters]: {
    readonly text: string;
    readonly parameters: QueryParameters[Name];
    readonly timeout: TimeoutClass;
    readonly routine: { readonly takes: string; readonly gives: string | null } | null;
  };
} = {
  insert_audits: {
    text: "INSERT INTO millrace.audit (\n    at, tenant, name, actor, reason, subject_kind, subject, before, after\n)\nSELECT moment.at,\n       coalesce(\n           entry.tenant,\n           (SELECT text FROM millrace.interned_name WHERE id = entry.tenant_id),\n           ''\n       ),\n       entry.name, entry.actor, entry.reason, entry.kind, entry.subject, entry.before, entry.after\nFROM (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nCROSS JOIN ROWS FROM (\n    json_to_recordset($2::json) AS (\n        tenant text, tenant_id integer, name text, actor text, reason text, kind text, subject text,\n        before text, after text\n    )\n) WITH ORDINALITY AS entry (\n    tenant, tenant_id, name, actor, reason, kind, subject, before, after, turn\n)\nORDER BY entry.turn",
    parameters: ["now","entries"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":null},
  },
  find_same_audit: {
    text: "SELECT id\nFROM millrace.audit\nWHERE subject = $1::text\n  AND name = $2::text\n  AND actor IS NOT DISTINCT FROM $3::text\n  AND after IS NOT DISTINCT FROM $4::text\n  AND at > millrace.clock_at($5::timestamptz) - interval '1 minute'\nORDER BY id DESC\nLIMIT 1",
    parameters: ["subject","name","actor","after","now"],
    timeout: "answer",
    routine: {"takes":"text, text, text, text, timestamp with time zone","gives":"id bigint"},
  },
  list_audits: {
    text: "SELECT id, millrace.ms_of(at) AS at, tenant, name, actor, reason, subject_kind, subject, before,\n       after\nFROM millrace.audit\nWHERE id < $1::bigint\n  AND ($2::text IS NULL OR tenant = $2::text)\n  AND ($3::text IS NULL OR name = $3::text)\n  AND ($4::text IS NULL OR actor = $4::text)\n  AND ($5::text IS NULL OR subject_kind = $5::text)\n  AND ($6::text IS NULL OR subject = $6::text)\n  AND ($7::bigint IS NULL OR at >= millrace.at_ms($7::bigint))\n  AND ($8::bigint IS NULL OR at < millrace.at_ms($8::bigint))\nORDER BY id DESC\nLIMIT $9::integer",
    parameters: ["after","tenant","name","actor","kind","subject","since_at","until_at","limit"],
    timeout: "reader",
    routine: {"takes":"bigint, text, text, text, text, text, bigint, bigint, integer","gives":"id bigint, at bigint, tenant text, name text, actor text, reason text, subject_kind text, subject text, before text, after text"},
  },
  list_audits_forwards: {
    text: "SELECT id, millrace.ms_of(at) AS at, tenant, name, actor, reason, subject_kind, subject, before,\n       after\nFROM millrace.audit\nWHERE id > $1::bigint\n  AND ($2::text IS NULL OR tenant = $2::text)\n  AND ($3::text IS NULL OR name = $3::text)\n  AND ($4::text IS NULL OR actor = $4::text)\n  AND ($5::text IS NULL OR subject_kind = $5::text)\n  AND ($6::text IS NULL OR subject = $6::text)\n  AND ($7::bigint IS NULL OR at >= millrace.at_ms($7::bigint))\n  AND ($8::bigint IS NULL OR at < millrace.at_ms($8::bigint))\nORDER BY id\nLIMIT $9::integer",
    parameters: ["after","tenant","name","actor","kind","subject","since_at","until_at","limit"],
    timeout: "reader",
    routine: {"takes":"bigint, text, text, text, text, text, bigint, bigint, integer","gives":"id bigint, at bigint, tenant text, name text, actor text, reason text, subject_kind text, subject text, before text, after text"},
  },
  lock_sealer: {
    text: "SELECT name\nFROM millrace.meta\nWHERE name = 'audit_seal'\nFOR UPDATE SKIP LOCKED",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"name text"},
  },
  newest_sealed: {
    text: "SELECT max(millrace.ms_of(newest.at)) AS at\nFROM (\n    SELECT audit.at\n    FROM (\n        SELECT audit_id\n        FROM millrace.audit_seal\n        WHERE $1::text IS NULL\n           OR tenant = $1::text\n        ORDER BY audit_id DESC\n        LIMIT 100\n    ) AS seal\n    JOIN millrace.audit AS audit ON audit.id = seal.audit_id\n) AS newest",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"text","gives":"at bigint"},
  },
  entries_to_seal: {
    text: "SELECT audit.id, millrace.ms_of(audit.at) AS at, audit.tenant, audit.name, audit.actor,\n       audit.reason, audit.subject_kind, audit.subject, audit.before, audit.after\nFROM millrace.audit AS audit\nWHERE audit.at >= millrace.at_ms($1::bigint)\n  AND NOT EXISTS (SELECT 1 FROM millrace.audit_seal AS seal WHERE seal.audit_id = audit.id)\nORDER BY audit.at, audit.id\nLIMIT $2::integer",
    parameters: ["since","limit"],
    timeout: "answer",
    routine: {"takes":"bigint, integer","gives":"id bigint, at bigint, tenant text, name text, actor text, reason text, subject_kind text, subject text, before text, after text"},
  },
  chain_head: {
    text: "SELECT head.day, head.position, head.hash\nFROM (\n    (\n        SELECT day, position, hash\n        FROM millrace.audit_seal\n        WHERE tenant = $1::text\n        ORDER BY day DESC, position DESC\n        LIMIT 1\n    )\n    UNION ALL\n    SELECT day, position, hash\n    FROM millrace.audit_start\n    WHERE tenant = $1::text\n) AS head\nORDER BY head.day DESC, head.position DESC\nLIMIT 1",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"text","gives":"day integer, position integer, hash text"},
  },
  chain_start: {
    text: "SELECT day, position, hash\nFROM millrace.audit_start\nWHERE tenant = $1::text",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"text","gives":"day integer, position integer, hash text"},
  },
  insert_seals: {
    text: "INSERT INTO millrace.audit_seal (tenant, day, position, audit_id, previous, hash, sealed_at)\nSELECT seal.tenant, seal.day, seal.position, seal.\"auditId\", seal.previous, seal.hash,\n       millrace.at_ms(seal.\"sealedAt\")\nFROM json_to_recordset($1::json) AS seal (\n    tenant text, day integer, position integer, \"auditId\" bigint, previous text, hash text,\n    \"sealedAt\" bigint\n)",
    parameters: ["seals"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  list_seals: {
    text: "SELECT seal.tenant, seal.day, seal.position, seal.audit_id, seal.previous, seal.hash,\n       millrace.ms_of(seal.sealed_at) AS sealed_at, start.day AS start_day,\n       start.position AS start_position, start.hash AS start_hash, audit.id,\n       millrace.ms_of(audit.at) AS at, audit.tenant AS entry_tenant, audit.name, audit.actor,\n       audit.reason, audit.subject_kind, audit.subject, audit.before, audit.after\nFROM millrace.audit_seal AS seal\nLEFT JOIN millrace.audit AS audit ON audit.id = seal.audit_id\nLEFT JOIN millrace.audit_start AS start ON start.tenant = seal.tenant\nWHERE (seal.tenant, seal.day, seal.position)\n    > ($1::text, $2::integer, $3::integer)\n  AND ($4::text IS NULL OR seal.tenant = $4::text)\nORDER BY seal.tenant, seal.day, seal.position\nLIMIT $5::integer",
    parameters: ["after_tenant","after_day","after_position","tenant","limit"],
    timeout: "reader",
    routine: {"takes":"text, integer, integer, text, integer","gives":"tenant text, day integer, position integer, audit_id bigint, previous text, hash text, sealed_at bigint, start_day integer, start_position integer, start_hash text, id bigint, at bigint, entry_tenant text, name text, actor text, reason text, subject_kind text, subject text, before text, after text"},
  },
  sealed_or_not: {
    text: "SELECT audit.id, millrace.ms_of(audit.at) AS at, audit.tenant,\n       seal.audit_id IS NOT NULL AS is_sealed\nFROM millrace.audit AS audit\nLEFT JOIN millrace.audit_seal AS seal ON seal.audit_id = audit.id\nWHERE audit.id > $1::bigint\n  AND ($2::text IS NULL OR audit.tenant = $2::text)\nORDER BY audit.id\nLIMIT $3::integer",
    parameters: ["after","tenant","limit"],
    timeout: "reader",
    routine: {"takes":"bigint, text, integer","gives":"id bigint, at bigint, tenant text, is_sealed boolean"},
  },
  expired_seals: {
    text: "SELECT tenant, day, position, audit_id, hash\nFROM millrace.audit_seal\nWHERE day < $1::integer\nORDER BY day, tenant, position\nLIMIT $2::integer",
    parameters: ["day","limit"],
    timeout: "reader",
    routine: {"takes":"integer, integer","gives":"tenant text, day integer, position integer, audit_id bigint, hash text"},
  },
  put_chain_start: {
    text: "INSERT INTO millrace.audit_start (tenant, day, position, hash)\nVALUES ($1::text, $2::integer, $3::integer, $4::text)\nON CONFLICT (tenant) DO UPDATE\nSET day = excluded.day, position = excluded.position, hash = excluded.hash",
    parameters: ["tenant","day","position","hash"],
    timeout: "answer",
    routine: {"takes":"text, integer, integer, text","gives":null},
  },
  delete_audits: {
    text: "DELETE FROM millrace.audit\nWHERE id = ANY ($1::bigint[])",
    parameters: ["ids"],
    timeout: "reader",
    routine: {"takes":"bigint[]","gives":null},
  },
  delete_seals: {
    text: "DELETE FROM millrace.audit_seal\nWHERE audit_id = ANY ($1::bigint[])",
    parameters: ["ids"],
    timeout: "reader",
    routine: {"takes":"bigint[]","gives":null},
  },
  find_breakers: {
    text: "SELECT named.service, millrace.ms_of(moment.at) AS now,\n       EXISTS (\n           SELECT 1\n           FROM millrace.attempt AS ended\n           WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n\n       ) OR (breaker.state = 3 AND NOT EXISTS (\n           SELECT 1 FROM millrace.job AS job WHERE job.key = breaker.probe_key\n       )) IS TRUE AS ended,\n       gate.name IS NOT NULL AS is_paused, millrace.ms_of(gate.until) AS paused_until,\n       gate.reason AS pause_reason,\n       (\n           SELECT coalesce(\n               json_agg(json_build_array(park.tenant, millrace.ms_of(park.until))), '[]'\n           )\n           FROM millrace.service_park AS park\n           WHERE park.service = named.service\n             AND park.until > moment.at\n             AND park.asked_at <= moment.at\n       ) AS parks,\n       coalesce(breaker.state, 1::smallint) AS state,\n       coalesce(breaker.failure_count, 0) AS failure_count,\n       coalesce(breaker.success_count, 0) AS success_count,\n       millrace.ms_of(breaker.last_failure_at) AS last_failure_at,\n       millrace.ms_of(breaker.opened_at) AS opened_at,\n       millrace.ms_of(breaker.half_opened_at) AS half_opened_at,\n       millrace.ms_of(breaker.probe_at) AS probe_at, breaker.probe_key, breaker.probe_n,\n       breaker.reason, breaker.by\nFROM (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nCROSS JOIN unnest($2::integer[]) AS named (service)\nLEFT JOIN millrace.breaker AS breaker ON breaker.service = named.service\nLEFT JOIN millrace.gate AS gate\n    ON gate.name = named.service AND (gate.until IS NULL OR gate.until > moment.at)",
    parameters: ["now","services"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer[]","gives":"service integer, now bigint, ended boolean, is_paused boolean, paused_until bigint, pause_reason text, parks json, state smallint, failure_count integer, success_count bigint, last_failure_at bigint, opened_at bigint, half_opened_at bigint, probe_at bigint, probe_key bigint, probe_n integer, reason text, by text"},
  },
  ended_runs: {
    text: "SELECT asked.key, asked.n\nFROM unnest($1::bigint[], $2::integer[]) AS asked (key, n)\nWHERE EXISTS (\n          SELECT 1\n          FROM millrace.attempt AS ended\n          WHERE ended.key = asked.key AND ended.n = asked.n\n      )\n   OR NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = asked.key)",
    parameters: ["keys","ns"],
    timeout: "answer",
    routine: {"takes":"bigint[], integer[]","gives":"key bigint, n integer"},
  },
  insert_breakers: {
    text: "INSERT INTO millrace.breaker (service, state, failure_count, success_count, updated_at)\nSELECT named.service, 1, 0, 0, millrace.clock_at($1::timestamptz)\nFROM unnest($2::integer[]) AS named (service)\nORDER BY named.service\nON CONFLICT DO NOTHING",
    parameters: ["now","services"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer[]","gives":null},
  },
  lock_breakers: {
    text: "SELECT service\nFROM millrace.breaker\nWHERE service = ANY ($1::integer[])\nORDER BY service\nFOR UPDATE",
    parameters: ["services"],
    timeout: "answer",
    routine: {"takes":"integer[]","gives":"service integer"},
  },
  keep_breakers: {
    text: "SELECT breaker.service\nFROM millrace.interned_name AS name\nJOIN millrace.breaker AS breaker ON breaker.service = name.id\nWHERE name.kind = 5\n  AND name.text = ANY ($1::text[])\nORDER BY breaker.service\nFOR SHARE OF breaker",
    parameters: ["services"],
    timeout: "answer",
    routine: {"takes":"text[]","gives":"service integer"},
  },
  jobs_of_open_services: {
    text: "SELECT asked.key\nFROM unnest($1::bigint[], $2::text[]) AS asked (key, service)\nJOIN millrace.job AS job ON job.key = asked.key\nLEFT JOIN millrace.interned_name AS name ON name.kind = 5 AND name.text = asked.service\nCROSS JOIN (SELECT millrace.clock_at($3::timestamptz) AS at) AS moment\nWHERE NOT EXISTS (\n          SELECT 1\n          FROM millrace.breaker AS breaker\n          WHERE breaker.service = name.id AND breaker.state <> 1\n      )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.gate AS gate\n      WHERE gate.name = name.id AND (gate.until IS NULL OR gate.until > moment.at)\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.service_park AS park\n      WHERE park.service = name.id\n        AND (park.tenant IS NULL OR park.tenant = job.tenant)\n        AND park.until > moment.at\n        AND park.asked_at <= moment.at\n  )",
    parameters: ["keys","services","now"],
    timeout: "answer",
    routine: {"takes":"bigint[], text[], timestamp with time zone","gives":"key bigint"},
  },
  put_breakers: {
    text: "UPDATE millrace.breaker AS breaker\nSET state = given.state, failure_count = given.failure_count, success_count = given.success_count,\n    last_failure_at = millrace.at_ms(given.last_failure_at),\n    opened_at = millrace.at_ms(given.opened_at),\n    half_opened_at = millrace.at_ms(given.half_opened_at),\n    probe_at = millrace.at_ms(given.probe_at), probe_key = given.probe_key,\n    probe_n = given.probe_n, reason = given.reason, by = given.by,\n    updated_at = millrace.clock_at($1::timestamptz)\nFROM json_to_recordset($2::json) AS given (\n    service integer, state smallint, failure_count integer, success_count bigint,\n    last_failure_at bigint, opened_at bigint, half_opened_at bigint, probe_at bigint,\n    probe_key bigint, probe_n integer, reason text, by text\n)\nWHERE breaker.service = given.service",
    parameters: ["now","breakers"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":null},
  },
  insert_breaker_changes: {
    text: "INSERT INTO millrace.breaker_change (service, n, at, state, failure_count, reason, by)\nSELECT given.service,\n       (\n           SELECT coalesce(max(n), 0) + 1\n           FROM millrace.breaker_change AS known\n           WHERE known.service = given.service\n       ),\n       millrace.clock_at($1::timestamptz), given.state, given.failure_count, given.reason,\n       given.by\nFROM json_to_recordset($2::json) AS given (\n    service integer, state smallint, failure_count integer, reason text, by text\n)",
    parameters: ["now","changes"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":null},
  },
  put_parks: {
    text: "INSERT INTO millrace.service_park AS known (gate, service, tenant, asked_at, until, reason)\nSELECT given.gate, given.service, given.tenant, millrace.clock_at($1::timestamptz),\n       millrace.at_ms(given.until), given.reason\nFROM json_to_recordset($2::json) AS given (\n    gate integer, service integer, tenant integer, until bigint, reason text\n)\nORDER BY given.gate\nON CONFLICT (gate) DO UPDATE\nSET reason = CASE\n        WHEN excluded.until > known.until OR known.asked_at > excluded.asked_at\n            THEN excluded.reason\n        ELSE known.reason\n    END,\n    until = CASE\n        WHEN known.asked_at > excluded.asked_at THEN excluded.until\n        ELSE greatest(known.until, excluded.until)\n    END,\n    asked_at = excluded.asked_at",
    parameters: ["now","parks"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":null},
  },
  delete_parks: {
    text: "DELETE FROM millrace.service_park\nWHERE service = $1::integer",
    parameters: ["service"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  hurry_sent_back: {
    text: "WITH waiting AS MATERIALIZED (\n    SELECT key, n\n    FROM millrace.scheduled\n    WHERE run_at > millrace.clock_at($1::timestamptz)\n    ORDER BY run_at, key\n    LIMIT $2::integer\n),\nsent_back AS MATERIALIZED (\n    SELECT waiting.key\n    FROM waiting\n    JOIN millrace.attempt AS last ON last.key = waiting.key AND last.n = waiting.n - 1\n    WHERE last.error ->> 'service' = $3::text\n    LIMIT $4::integer\n),\nlocked AS MATERIALIZED (\n    SELECT scheduled.key\n    FROM millrace.scheduled AS scheduled\n    WHERE scheduled.key = ANY (ARRAY(SELECT key FROM sent_back))\n    ORDER BY scheduled.key\n    FOR UPDATE SKIP LOCKED\n),\ntaken AS (\n    DELETE FROM millrace.scheduled AS scheduled\n    WHERE scheduled.key = ANY (ARRAY(SELECT key FROM locked))\n    RETURNING scheduled.*\n)\nINSERT INTO millrace.ready (\n    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n)\nSELECT key, millrace.ms_of(millrace.clock_at($1::timestamptz)) * 1000, lane, priority, type,\n       tenant, n, tries, crashes, concurrency\nFROM taken",
    parameters: ["now","depth","service","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer, text, integer","gives":null},
  },
  claim_probe: {
    text: "SELECT *\nFROM millrace.claim_probe(\n    $1::uuid, $2::text, $3::integer[], $4::integer[], $5::integer[],\n    $6::integer, $7::integer[], $8::integer[], $9::timestamptz\n)",
    parameters: ["worker","secret","lanes","types","tenants","cap","lent","lent_counts","now"],
    timeout: "answer",
    routine: {"takes":"uuid, text, integer[], integer[], integer[], integer, integer[], integer[], timestamp with time zone","gives":"lost boolean, key bigint, id uuid, created_at bigint, kind text, payload json, payload_version text, correlation text, parent uuid, concurrency text, tags json"},
  },
  list_breakers: {
    text: "SELECT known.service, millrace.ms_of(millrace.clock_at($1::timestamptz)) AS now,\n       (\n           SELECT coalesce(json_agg(name.text ORDER BY name.text COLLATE \"C\"), '[]')\n           FROM millrace.service_use AS uses\n           JOIN millrace.interned_name AS name ON name.id = uses.type\n           WHERE uses.service = known.service\n       ) AS types,\n       millrace.ms_of(breaker.updated_at) AS updated_at,\n       (SELECT id FROM millrace.job WHERE key = breaker.probe_key) AS probe_id, breaker.state,\n       breaker.failure_count, breaker.success_count,\n       millrace.ms_of(breaker.last_failure_at) AS last_failure_at,\n       millrace.ms_of(breaker.opened_at) AS opened_at,\n       millrace.ms_of(breaker.half_opened_at) AS half_opened_at,\n       millrace.ms_of(breaker.probe_at) AS probe_at, breaker.probe_n, breaker.reason, breaker.by\nFROM (\n    SELECT service FROM millrace.breaker\n    UNION\n    SELECT service FROM millrace.service_use\n    UNION\n    SELECT service\n    FROM millrace.service_park\n    WHERE until > millrace.clock_at($1::timestamptz)\n) AS known\nJOIN millrace.interned_name AS name ON name.id = known.service\nLEFT JOIN millrace.breaker AS breaker ON breaker.service = known.service\nORDER BY name.text COLLATE \"C\"\nLIMIT $2::bigint",
    parameters: ["now","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint","gives":"service integer, now bigint, types json, updated_at bigint, probe_id uuid, state smallint, failure_count integer, success_count bigint, last_failure_at bigint, opened_at bigint, half_opened_at bigint, probe_at bigint, probe_n integer, reason text, by text"},
  },
  list_parks: {
    text: "SELECT service, tenant, millrace.ms_of(until) AS until, reason\nFROM millrace.service_park\nWHERE until > millrace.clock_at($1::timestamptz)\n  AND asked_at <= millrace.clock_at($1::timestamptz)\nORDER BY until, gate\nLIMIT $2::bigint",
    parameters: ["now","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint","gives":"service integer, tenant integer, until bigint, reason text"},
  },
  list_breaker_changes: {
    text: "SELECT millrace.ms_of(at) AS at, state, failure_count, reason, by\nFROM millrace.breaker_change\nWHERE service = $1::integer\nORDER BY n DESC\nLIMIT $2::bigint",
    parameters: ["service","limit"],
    timeout: "answer",
    routine: {"takes":"integer, bigint","gives":"at bigint, state smallint, failure_count integer, reason text, by text"},
  },
  delete_breaker_changes: {
    text: "DELETE FROM millrace.breaker_change\nWHERE (service, n) IN (\n    SELECT service, n\n    FROM millrace.breaker_change\n    WHERE at <= millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond'\n    LIMIT $3::integer\n)",
    parameters: ["now","age","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  claim: {
    text: "SELECT *\nFROM millrace.claim_batch(\n    $1::uuid, $2::text, $3::integer[], $4::integer[], $5::integer[],\n    $6::boolean, $7::integer, $8::integer[], $9::integer[],\n    $10::bigint[], $11::bigint[], $12::integer[], $13::integer,\n    $14::integer, $15::integer, $16::integer[], $17::integer[], $18::integer,\n    $19::timestamptz\n)",
    parameters: ["worker","secret","lanes","types","tenants","prefetch","limit","mark_lanes","mark_priorities","mark_ranks","mark_keys","mark_ends","once","often","cap","lent","lent_counts","priority","now"],
    timeout: "answer",
    routine: {"takes":"uuid, text, integer[], integer[], integer[], boolean, integer, integer[], integer[], bigint[], bigint[], integer[], integer, integer, integer, integer[], integer[], integer, timestamp with time zone","gives":"lost boolean, key bigint, id uuid, created_at bigint, kind text, payload json, payload_version text, correlation text, parent uuid, concurrency text, tags json"},
  },
  claimed_by: {
    text: "WITH run AS MATERIALIZED (\n    SELECT lease.number, run.turn, run.key, run.n, run.rank,\n           coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys, lease.ns, lease.ranks)\n        WITH ORDINALITY AS run (key, n, rank, turn)\n    LEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1\n    WHERE lease.worker = $1::uuid\n      AND lease.secret = $2::text\n      AND NOT EXISTS (\n          SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n      )\n)\nSELECT false AS lost, number AS key, NULL::uuid AS id, NULL::bigint AS created_at,\n       NULL::text AS kind,\n       json_build_array(\n           array_agg(key ORDER BY turn), array_agg(rank ORDER BY turn), array_agg(n ORDER BY turn),\n           array_agg(tries ORDER BY turn), array_agg(crashes ORDER BY turn)\n       ) AS payload,\n       NULL::text AS payload_version, NULL::text AS correlation, NULL::uuid AS parent,\n       NULL::text AS concurrency, NULL::json AS tags\nFROM run\nGROUP BY number\nUNION ALL\nSELECT false, job.key, job.id, millrace.ms_of(job.created_at),\n       concat_ws(\n           ' ', job.type, job.tenant, job.lane, job.priority, job.max_attempts, job.flags,\n           (job.retry_of IS NOT NULL)::integer, job.timeout_ms\n       ),\n       job.payload, job.payload_version, job.correlation, job.parent, job.concurrency, job.tags\nFROM run\nJOIN millrace.job AS job ON job.key = run.key\nORDER BY id NULLS FIRST",
    parameters: ["worker","secret"],
    timeout: "answer",
    routine: {"takes":"uuid, text","gives":"lost boolean, key bigint, id uuid, created_at bigint, kind text, payload json, payload_version text, correlation text, parent uuid, concurrency text, tags json"},
  },
  claim_alone: {
    text: "SELECT *\nFROM millrace.claim_alone(\n    $1::uuid, $2::text, $3::integer[], $4::integer[], $5::integer[],\n    $6::integer, $7::integer[], $8::integer[], $9::timestamptz\n)",
    parameters: ["worker","secret","lanes","types","tenants","cap","lent","lent_counts","now"],
    timeout: "answer",
    routine: {"takes":"uuid, text, integer[], integer[], integer[], integer, integer[], integer[], timestamp with time zone","gives":"lost boolean, key bigint, id uuid, created_at bigint, kind text, payload json, payload_version text, correlation text, parent uuid, concurrency text, tags json"},
  },
  set_next_probe: {
    text: "UPDATE millrace.crash_streak\nSET probe_at = millrace.clock_at($1::timestamptz) + $2::bigint * interval '1 millisecond',\n    probe_ms = $2::bigint\nWHERE type = $3::integer",
    parameters: ["now","probe_ms","type"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  lock_process: {
    text: "SELECT id, beats, died_with\nFROM millrace.worker\nWHERE process = (\n    SELECT process\n    FROM millrace.worker\n    WHERE id = $1::uuid\n      AND beats = $2::bigint\n      AND until <= millrace.clock_at($3::timestamptz)\n)\nORDER BY id\nFOR UPDATE",
    parameters: ["id","beats","now"],
    timeout: "answer",
    routine: {"takes":"uuid, bigint, timestamp with time zone","gives":"id uuid, beats bigint, died_with integer"},
  },
  set_died_with: {
    text: "WITH begun AS MATERIALIZED (\n    SELECT count(*)::integer AS count\n    FROM millrace.leased_run AS run\n    WHERE run.worker = ANY ($1::uuid[])\n      AND run.started_at IS NOT NULL\n      AND NOT EXISTS (\n          SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n      )\n)\nUPDATE millrace.worker AS worker\nSET died_with = begun.count\nFROM begun\nWHERE worker.id = ANY ($1::uuid[])\n  AND worker.died_with IS NULL\nRETURNING worker.id, worker.died_with",
    parameters: ["workers"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"id uuid, died_with integer"},
  },
  count_lone_death: {
    text: "INSERT INTO millrace.crash_streak AS known (type, ended, probe_at, probe_ms)\nVALUES ($1::integer, 1, NULL, 0)\nON CONFLICT (type) DO UPDATE\nSET ended = known.ended + 1\nRETURNING ended, probe_at IS NOT NULL AS is_closed",
    parameters: ["type"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"ended integer, is_closed boolean"},
  },
  close_crash_gate: {
    text: "WITH closed AS (\n    INSERT INTO millrace.gate AS known (name, closed_at, until, reason, by)\n    VALUES (\n        $1::integer, millrace.clock_at($2::timestamptz), NULL, $3::text, $4::text\n    )\n    ON CONFLICT (name) DO UPDATE\n    SET closed_at = excluded.closed_at, until = excluded.until, reason = excluded.reason,\n        by = excluded.by\n    WHERE known.until <= millrace.clock_at($2::timestamptz)\n    RETURNING name\n)\nUPDATE millrace.crash_streak AS streak\nSET probe_at = millrace.clock_at($2::timestamptz) + $5::bigint * interval '1 millisecond',\n    probe_ms = $5::bigint\nFROM closed\nWHERE streak.type = closed.name",
    parameters: ["type","now","reason","by","probe_ms"],
    timeout: "answer",
    routine: {"takes":"integer, timestamp with time zone, text, text, bigint","gives":null},
  },
  set_gate_reason: {
    text: "UPDATE millrace.gate\nSET reason = $1::text\nWHERE name = $2::integer",
    parameters: ["reason","type"],
    timeout: "answer",
    routine: {"takes":"text, integer","gives":null},
  },
  end_crash_streak: {
    text: "WITH ended AS (\n    DELETE FROM millrace.crash_streak\n    WHERE type = $1::integer\n    RETURNING probe_at\n)\nDELETE FROM millrace.gate\nWHERE name = $1::integer\n  AND EXISTS (SELECT 1 FROM ended WHERE probe_at IS NOT NULL)",
    parameters: ["type"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  find_dead_letter: {
    text: "SELECT id, type, tenant, status, error, attempts, millrace.ms_of(died_at) AS died_at, reviewed_by,\n       millrace.ms_of(reviewed_at) AS reviewed_at, notes, successor, spec, cause,\n       assigned_to, history, reviews\nFROM millrace.dead_letter\nWHERE id = $1::uuid",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"id uuid, type integer, tenant integer, status smallint, error json, attempts integer, died_at bigint, reviewed_by text, reviewed_at bigint, notes text, successor uuid, spec json, cause text, assigned_to text, history json, reviews json"},
  },
  lock_dead_letter: {
    text: "SELECT id\nFROM millrace.dead_letter\nWHERE id = $1::uuid\nFOR UPDATE",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"id uuid"},
  },
  list_dead_letters: {
    text: "SELECT letter.id, letter.type, letter.tenant, letter.status, letter.error, letter.attempts,\n       millrace.ms_of(letter.died_at) AS died_at, letter.reviewed_by,\n       millrace.ms_of(letter.reviewed_at) AS reviewed_at, letter.notes, letter.successor,\n       letter.spec, letter.cause, letter.assigned_to, letter.history, letter.reviews\nFROM (\n    SELECT id\n    FROM millrace.dead_letter\n    WHERE (died_at, id) < (millrace.at_ms($1::bigint), $2::uuid)\n      AND ($3::smallint IS NULL OR status = $3::smallint)\n      AND ($4::integer IS NULL OR type = $4::integer)\n      AND ($5::integer IS NULL OR tenant = $5::integer)\n      AND ($6::text IS NULL OR category = $6::text)\n      AND ($7::text IS NULL OR error_class = $7::text)\n      AND ($8::text IS NULL OR cause = $8::text)\n      AND ($9::text IS NULL OR assigned_to = $9::text)\n      AND ($10::text IS NULL OR correlation = $10::text)\n      AND ($11::bigint IS NULL OR created_at >= $11::bigint)\n      AND ($12::bigint IS NULL OR created_at < $12::bigint)\n    ORDER BY died_at DESC, id DESC\n    LIMIT $13::integer\n) AS page\nJOIN millrace.dead_letter AS letter ON letter.id = page.id\nORDER BY letter.died_at DESC, letter.id DESC",
    parameters: ["before_at","before_id","status","type","tenant","category","error_class","cause","assigned_to","correlation","created_from","created_before","limit"],
    timeout: "reader",
    routine: {"takes":"bigint, uuid, smallint, integer, integer, text, text, text, text, text, bigint, bigint, integer","gives":"id uuid, type integer, tenant integer, status smallint, error json, attempts integer, died_at bigint, reviewed_by text, reviewed_at bigint, notes text, successor uuid, spec json, cause text, assigned_to text, history json, reviews json"},
  },
  count_dead_letters: {
    text: "SELECT count(*) AS letters\nFROM (\n    SELECT 1\n    FROM millrace.dead_letter\n    WHERE true\n      AND ($1::smallint IS NULL OR status = $1::smallint)\n      AND ($2::integer IS NULL OR type = $2::integer)\n      AND ($3::integer IS NULL OR tenant = $3::integer)\n      AND ($4::text IS NULL OR category = $4::text)\n      AND ($5::text IS NULL OR error_class = $5::text)\n      AND ($6::text IS NULL OR cause = $6::text)\n      AND ($7::text IS NULL OR assigned_to = $7::text)\n      AND ($8::text IS NULL OR correlation = $8::text)\n      AND ($9::bigint IS NULL OR created_at >= $9::bigint)\n      AND ($10::bigint IS NULL OR created_at < $10::bigint)\n    LIMIT $11::integer\n) AS few",
    parameters: ["status","type","tenant","category","error_class","cause","assigned_to","correlation","created_from","created_before","max"],
    timeout: "reader",
    routine: {"takes":"smallint, integer, integer, text, text, text, text, text, bigint, bigint, integer","gives":"letters bigint"},
  },
  group_dead_letters: {
    text: "SELECT status, type, category, error_class, count(*) AS letters,\n       millrace.ms_of(min(died_at)) AS oldest_at,\n       count(*) FILTER (\n           WHERE died_at >= millrace.clock_at($1::timestamptz)\n                          - $2::bigint * interval '1 millisecond'\n       ) AS recent\nFROM (\n    SELECT status, type, category, error_class, died_at\n    FROM millrace.dead_letter\n    WHERE $3::integer IS NULL OR tenant = $3::integer\n    ORDER BY died_at DESC\n    LIMIT $4::integer\n) AS letter\nGROUP BY status, type, category, error_class\nORDER BY letters DESC, status, type, category, error_class\nLIMIT $5::integer",
    parameters: ["now","since_ms","tenant","rows","groups"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, integer, integer, integer","gives":"status smallint, type integer, category text, error_class text, letters bigint, oldest_at bigint, recent bigint"},
  },
  review_dead_letter: {
    text: "UPDATE millrace.dead_letter\nSET status      = $1::smallint,\n    reviewed_by = $2::text,\n    reviewed_at = millrace.clock_at($3::timestamptz),\n    notes       = $4::text,\n    successor   = $5::uuid,\n    reviews     = (\n        CASE\n            WHEN json_array_length(reviews) >= 100 THEN reviews::jsonb - 0\n            ELSE reviews::jsonb\n        END || jsonb_build_object(\n            'at', millrace.ms_of(millrace.clock_at($3::timestamptz)), 'by', $2::text,\n            'act', $6::text, 'notes', $4::text, 'changes', $7::json\n        )\n    )::json\nWHERE id = $8::uuid\n  AND status IN (1, 2)",
    parameters: ["status","reviewed_by","now","notes","successor","act","changes","id"],
    timeout: "answer",
    routine: {"takes":"smallint, text, timestamp with time zone, text, uuid, text, json, uuid","gives":null},
  },
  annotate_dead_letter: {
    text: "UPDATE millrace.dead_letter\nSET assigned_to = CASE WHEN $1::text = 'assigned' THEN $2::text ELSE assigned_to END,\n    reviews     = (\n        CASE\n            WHEN json_array_length(reviews) >= 100 THEN reviews::jsonb - 0\n            ELSE reviews::jsonb\n        END || jsonb_build_object(\n            'at', millrace.ms_of(millrace.clock_at($3::timestamptz)), 'by', $4::text,\n            'act', $1::text, 'notes', $5::text, 'to', $2::text\n        )\n    )::json\nWHERE id = $6::uuid\n  AND (status IN (1, 2) OR $1::text = 'noted')",
    parameters: ["act","assigned_to","now","by","notes","id"],
    timeout: "answer",
    routine: {"takes":"text, text, timestamp with time zone, text, text, uuid","gives":null},
  },
  find_dependencies: {
    text: "SELECT key, id\nFROM millrace.job_name\nWHERE id = ANY ($1::uuid[])",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"key bigint, id uuid"},
  },
  awaited_code: {
    text: "SELECT named.id, code.key\nFROM unnest($1::uuid[]) AS named (id)\nCROSS JOIN LATERAL (\n    WITH RECURSIVE up (id, depth) AS (\n        SELECT named.id, 1\n        UNION ALL\n        SELECT job.retry_of, up.depth + 1\n        FROM up\n        JOIN millrace.job AS job ON job.id = up.id AND job.retry_of IS NOT NULL\n        WHERE up.depth < $2::integer\n    ),\n    family (id, depth) AS (\n        SELECT up.id, 1 FROM up WHERE up.depth = (SELECT max(up.depth) FROM up)\n        UNION ALL\n        SELECT job.id, family.depth + 1\n        FROM family\n        JOIN millrace.job AS job ON job.retry_of = family.id\n        WHERE family.depth <= $2::integer\n    )\n    SELECT DISTINCT job.key\n    FROM family\n    JOIN millrace.job AS job ON job.id = family.id\n    JOIN millrace.ended_run AS left_code ON left_code.key = job.key\n    JOIN millrace.worker AS worker ON worker.id = left_code.worker\n    JOIN millrace.attempt AS ended ON ended.key = left_code.key AND ended.n = left_code.n\n    WHERE ended.started_at IS NOT NULL\n    ORDER BY job.key\n    LIMIT $3::integer\n) AS code\nWHERE EXISTS (SELECT 1 FROM millrace.ended_run)\nORDER BY named.id, code.key",
    parameters: ["ids","depth","limit"],
    timeout: "answer",
    routine: {"takes":"uuid[], integer, integer","gives":"id uuid, key bigint"},
  },
  insert_ended_code: {
    text: "INSERT INTO millrace.finished_dependency (key)\nSELECT DISTINCT dependency.depends_on\nFROM unnest($1::bigint[]) AS over (key)\nJOIN millrace.dependency AS dependency ON dependency.depends_on = -over.key\nWHERE NOT EXISTS (SELECT 1 FROM millrace.ended_run AS code WHERE code.key = over.key)\nORDER BY dependency.depends_on\nON CONFLICT (key) DO NOTHING",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":null},
  },
  insert_finished_dependencies: {
    text: "INSERT INTO millrace.finished_dependency (key)\nSELECT DISTINCT dependency.depends_on\nFROM millrace.dependency AS dependency\nJOIN millrace.attempt AS over ON over.key = dependency.depends_on AND over.state IS NOT NULL\nWHERE dependency.job = ANY ($1::bigint[])\nORDER BY dependency.depends_on\nON CONFLICT (key) DO UPDATE SET key = excluded.key",
    parameters: ["jobs"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":null},
  },
  dependencies_in_use: {
    text: "SELECT EXISTS (SELECT 1 FROM millrace.dependency) AS waiting,\n       EXISTS (SELECT 1 FROM millrace.finished_dependency) AS ended",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"waiting boolean, ended boolean"},
  },
  sweep_dependencies: {
    text: "WITH seen AS MATERIALIZED (\n    SELECT dependency.job, dependency.depends_on\n    FROM millrace.dependency AS dependency\n    WHERE (dependency.job, dependency.depends_on) > ($1::bigint, $2::bigint)\n    ORDER BY dependency.job, dependency.depends_on\n    LIMIT $3::integer\n),\nfound AS (\n    INSERT INTO millrace.finished_dependency (key)\n    SELECT DISTINCT seen.depends_on\n    FROM seen\n    WHERE (\n        SELECT over.state\n        FROM millrace.attempt AS over\n        WHERE over.key = seen.depends_on AND over.state IS NOT NULL\n        LIMIT 1\n    ) IS NOT NULL\n       OR (\n           (SELECT job.key FROM millrace.job AS job WHERE job.key = seen.depends_on) IS NULL\n           AND (\n               SELECT code.key\n               FROM millrace.ended_run AS code\n               JOIN millrace.worker AS worker ON worker.id = code.worker\n               WHERE code.key = -seen.depends_on\n               LIMIT 1\n           ) IS NULL\n       )\n    ORDER BY seen.depends_on\n    ON CONFLICT (key) DO NOTHING\n)\nSELECT job, depends_on\nFROM seen\nORDER BY job DESC, depends_on DESC\nOFFSET greatest($3::integer - 1, 0)\nLIMIT 1",
    parameters: ["job","depends_on","limit"],
    timeout: "answer",
    routine: {"takes":"bigint, bigint, integer","gives":"job bigint, depends_on bigint"},
  },
  take_finished_dependencies: {
    text: "SELECT ended.key,\n       (\n           SELECT over.state\n           FROM millrace.attempt AS over\n           WHERE over.key = ended.key AND over.state IS NOT NULL\n           LIMIT 1\n       ) IS NOT NULL OR (\n           SELECT job.key FROM millrace.job AS job WHERE job.key = ended.key\n       ) IS NULL AS is_over\nFROM millrace.finished_dependency AS ended\nORDER BY ended.key\nLIMIT $1::integer\nFOR UPDATE OF ended SKIP LOCKED",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"key bigint, is_over boolean"},
  },
  dependants_of: {
    text: "SELECT DISTINCT job AS key\nFROM millrace.dependency\nWHERE depends_on = ANY ($1::bigint[])\nORDER BY job\nLIMIT $2::integer",
    parameters: ["keys","limit"],
    timeout: "answer",
    routine: {"takes":"bigint[], integer","gives":"key bigint"},
  },
  lock_dependants: {
    text: "SELECT key\nFROM millrace.blocked\nWHERE key = ANY ($1::bigint[])\n  AND gate = 0\nORDER BY key\nFOR UPDATE",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint"},
  },
  spoilt_dependants: {
    text: "SELECT DISTINCT ON (dependency.job) dependency.job AS key, parent.id, over.state\nFROM millrace.dependency AS dependency\nLEFT JOIN millrace.job AS parent ON parent.key = dependency.depends_on\nLEFT JOIN millrace.attempt AS over ON over.key = dependency.depends_on AND over.state IS NOT NULL\nWHERE dependency.job = ANY ($1::bigint[])\n  AND dependency.depends_on = ANY ($2::bigint[])\n  AND dependency.tolerant = 0\n  AND (parent.key IS NULL OR over.state IN (6, 7))\nORDER BY dependency.job, dependency.depends_on",
    parameters: ["jobs","keys"],
    timeout: "answer",
    routine: {"takes":"bigint[], bigint[]","gives":"key bigint, id uuid, state smallint"},
  },
  drop_dependencies: {
    text: "DELETE FROM millrace.dependency AS dependency\nWHERE dependency.depends_on = ANY ($1::bigint[])\n  AND (\n      dependency.job = ANY ($2::bigint[])\n      OR (\n          dependency.job = ANY ($3::bigint[])\n          AND (\n              SELECT blocked.key\n              FROM millrace.blocked AS blocked\n              WHERE blocked.key = dependency.job AND blocked.gate = 0\n          ) IS NULL\n      )\n  )",
    parameters: ["keys","jobs","others"],
    timeout: "answer",
    routine: {"takes":"bigint[], bigint[], bigint[]","gives":null},
  },
  let_go_on: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\ntaken AS (\n    DELETE FROM millrace.blocked AS blocked\n    WHERE blocked.key = ANY ($2::bigint[])\n      AND blocked.gate = 0\n      AND NOT EXISTS (SELECT 1 FROM millrace.dependency AS link WHERE link.job = blocked.key)\n    RETURNING blocked.*\n),\nwaiting AS (\n    INSERT INTO millrace.scheduled (\n        key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, millrace.at_ms(rank / 1000), lane, priority, type, tenant, n, tries, crashes,\n           concurrency\n    FROM moment\n    CROSS JOIN taken\n    WHERE rank / 1000 > millrace.ms_of(moment.at)\n),\ndue AS (\n    INSERT INTO millrace.ready (\n        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n    FROM moment\n    CROSS JOIN taken\n    WHERE rank / 1000 <= millrace.ms_of(moment.at)\n)\nSELECT count(*) AS count\nFROM taken",
    parameters: ["now","jobs"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint[]","gives":"count bigint"},
  },
  delete_finished_dependency: {
    text: "DELETE FROM millrace.finished_dependency AS ended\nWHERE (\n      ended.key = ANY ($1::bigint[])\n      AND (\n          SELECT link.job FROM millrace.dependency AS link WHERE link.depends_on = ended.key LIMIT 1\n      ) IS NULL\n  )\n   OR ended.key = ANY ($2::bigint[])",
    parameters: ["keys","strays"],
    timeout: "answer",
    routine: {"takes":"bigint[], bigint[]","gives":null},
  },
  dependants_of_job: {
    text: "SELECT waiting.id\nFROM millrace.dependency AS dependency\nJOIN millrace.job AS waiting ON waiting.key = dependency.job\nWHERE dependency.depends_on IN (\n    SELECT key FROM millrace.job_name WHERE id = $1::uuid\n    UNION ALL\n    SELECT -key FROM millrace.job_name WHERE id = $1::uuid\n)\nORDER BY dependency.job\nLIMIT $2::integer",
    parameters: ["id","limit"],
    timeout: "answer",
    routine: {"takes":"uuid, integer","gives":"id uuid"},
  },
  open_dependencies: {
    text: "SELECT parent.id\nFROM millrace.dependency AS dependency\nJOIN millrace.job AS parent ON parent.key = abs(dependency.depends_on)\nWHERE dependency.job = (SELECT key FROM millrace.job_name WHERE id = $1::uuid)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.attempt AS over\n      WHERE over.key = dependency.depends_on AND over.state IS NOT NULL\n  )\nORDER BY abs(dependency.depends_on)\nLIMIT $2::integer",
    parameters: ["id","limit"],
    timeout: "answer",
    routine: {"takes":"uuid, integer","gives":"id uuid"},
  },
  enqueue_alike: {
    text: "SELECT millrace.enqueue_alike(\n    $1::uuid[], $2::text[], $3::integer, $4::integer, $5::integer,\n    $6::integer, $7::integer, $8::bigint, $9::bigint,\n    $10::integer, $11::bigint, $12::text, $13::text,\n    $14::uuid, $15::text, $16::text, $17::json, $18::text,\n    $19::smallint, $20::timestamptz, $21::integer, $22::bigint\n) AS later,\n    CASE WHEN $23::text IS NOT NULL THEN pg_notify($24::text, $23::text)::text END AS told",
    parameters: ["ids","payloads","type","tenant","lane","category","priority","due_at","delay_ms","max_attempts","timeout_ms","payload_version","correlation","parent","concurrency","webhook","tags","created_by","flags","now","protocol","quotas","word","channel"],
    timeout: "answer",
    routine: {"takes":"uuid[], text[], integer, integer, integer, integer, integer, bigint, bigint, integer, bigint, text, text, uuid, text, text, json, text, smallint, timestamp with time zone, integer, bigint, text, text","gives":"later boolean, told text"},
  },
  enqueue: {
    text: "SELECT millrace.enqueue_batch(\n    $1::json, $2::uuid[], $3::text[], $4::integer[], $5::timestamptz,\n    $6::integer, $7::bigint\n) AS later",
    parameters: ["kinds","ids","payloads","kind_of","now","protocol","quotas"],
    timeout: "answer",
    routine: {"takes":"json, uuid[], text[], integer[], timestamp with time zone, integer, bigint","gives":"later uuid[]"},
  },
  insert_jobs: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\nasked_dependency AS MATERIALIZED (\n    SELECT link.job, link.depends_on, link.tolerant\n    FROM json_to_recordset($2::json) AS link (\n        job bigint, depends_on bigint, tolerant smallint\n    )\n),\nmade AS (\n    INSERT INTO millrace.job (\n        key, id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms, payload,\n        payload_version, correlation, parent, retry_of, concurrency, idempotency, dedup, webhook,\n        tags, created_by, created_at, flags\n    )\n    SELECT coalesce(asked.key, nextval('millrace.job_key_seq')), asked.id, asked.type,\n           asked.tenant, asked.lane, asked.category, asked.priority,\n           coalesce(\n               millrace.at_ms(asked.due_at),\n               moment.at + asked.delay_ms * interval '1 millisecond'\n           ),\n           asked.max_attempts, asked.timeout_ms, asked.payload::json, asked.payload_version,\n           asked.correlation, asked.parent, asked.retry_of, asked.concurrency, asked.idempotency,\n           asked.dedup, asked.webhook, asked.tags, asked.created_by, moment.at, asked.flags\n    FROM moment\n    CROSS JOIN json_to_recordset($3::json) AS asked (\n        key bigint, id uuid, type integer, tenant integer, lane integer, category integer,\n        priority integer, due_at bigint, delay_ms bigint, max_attempts integer, timeout_ms bigint,\n        payload text, payload_version text, correlation text, parent uuid, retry_of uuid,\n        concurrency text, idempotency text, dedup text, webhook text, tags json, created_by text,\n        flags smallint\n    )\n    ON CONFLICT (id) DO NOTHING\n    RETURNING key, id, type, tenant, lane, priority, concurrency, run_at, tags,\n              run_at > created_at AS waits\n),\nplaced AS MATERIALIZED (\n    SELECT made.*, made.key IN (SELECT job FROM asked_dependency) AS awaits FROM made\n),\nwaiting AS (\n    INSERT INTO millrace.scheduled (\n        key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, run_at, lane, priority, type, tenant, 1, 0, 0, concurrency\n    FROM placed\n    WHERE waits AND NOT awaits\n),\ndue AS (\n    INSERT INTO millrace.ready (\n        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, 1, 0, 0, concurrency\n    FROM placed\n    WHERE NOT waits AND NOT awaits\n),\nheld AS (\n    INSERT INTO millrace.blocked (\n        key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, millrace.ms_of(run_at) * 1000, 0, lane, priority, type, tenant, 1, 0, 0, concurrency\n    FROM placed\n    WHERE awaits\n),\ndependencies AS (\n    INSERT INTO millrace.dependency (job, depends_on, tolerant)\n    SELECT asked_dependency.job, asked_dependency.depends_on, asked_dependency.tolerant\n    FROM placed\n    JOIN asked_dependency ON asked_dependency.job = placed.key\n),\ntagged AS (\n    INSERT INTO millrace.tag (name, value, key)\n    SELECT tag.key, tag.value, made.key\n    FROM made\n    CROSS JOIN LATERAL json_each_text(made.tags) AS tag\n    WHERE made.tags IS NOT NULL\n)\nSELECT count(*) AS made,\n       array_agg(id) FILTER (WHERE waits AND NOT awaits) AS scheduled,\n       CASE WHEN count(*) < $4::integer THEN coalesce(array_agg(id), '{}') END AS ids,\n       array_agg(key ORDER BY key) AS keys\nFROM placed",
    parameters: ["now","dependencies","jobs","asked"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json, json, integer","gives":"made bigint, scheduled uuid[], ids uuid[], keys bigint[]"},
  },
  find_bodies: {
    text: "SELECT id, type, tenant, payload, state\nFROM millrace.job_now\nWHERE id = ANY ($1::uuid[])",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"id uuid, type integer, tenant integer, payload json, state integer"},
  },
  states_of: {
    text: "SELECT id, state\nFROM millrace.job_now\nWHERE id = ANY ($1::uuid[])",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"id uuid, state integer"},
  },
  draw_keys: {
    text: "SELECT nextval('millrace.job_key_seq') AS key,\n       (SELECT value::integer FROM millrace.meta WHERE name = 'min_protocol') AS protocol,\n       (SELECT EXISTS (SELECT 1 FROM millrace.intake)) AS closed,\n       (SELECT max(revision) FROM millrace.quota) AS quotas\nFROM generate_series(1, $1::integer)",
    parameters: ["count"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"key bigint, protocol integer, closed boolean, quotas bigint"},
  },
  take_idempotency: {
    text: "INSERT INTO millrace.idempotency (tenant, key, job_id, body)\nSELECT wanted.tenant, wanted.key, wanted.job_id, decode(wanted.body, 'hex')\nFROM json_to_recordset($1::json) AS wanted (\n    tenant integer, key text, job_id uuid, body text\n)\nORDER BY wanted.tenant, wanted.key\nON CONFLICT (tenant, key) DO NOTHING\nRETURNING job_id",
    parameters: ["wanted"],
    timeout: "answer",
    routine: {"takes":"json","gives":"job_id uuid"},
  },
  find_idempotency: {
    text: "SELECT wanted.job_id AS seeker, held.job_id AS holder,\n       held.body = decode(wanted.body, 'hex') AS same\nFROM json_to_recordset($1::json) AS wanted (\n    tenant integer, key text, job_id uuid, body text\n)\nJOIN millrace.idempotency AS held ON held.tenant = wanted.tenant AND held.key = wanted.key",
    parameters: ["wanted"],
    timeout: "answer",
    routine: {"takes":"json","gives":"seeker uuid, holder uuid, same boolean"},
  },
  return_idempotency: {
    text: "DELETE FROM millrace.idempotency AS held\nUSING json_to_recordset($1::json) AS taken (tenant integer, key text, job_id uuid)\nWHERE held.tenant = taken.tenant\n  AND held.key = taken.key\n  AND held.job_id = taken.job_id",
    parameters: ["taken"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  take_dedup: {
    text: "INSERT INTO millrace.dedup (tenant, type, key, job)\nSELECT wanted.tenant, wanted.type, wanted.key, wanted.job\nFROM json_to_recordset($1::json) AS wanted (\n    tenant integer, type integer, key text, job bigint\n)\nORDER BY wanted.tenant, wanted.type, wanted.key\nON CONFLICT (tenant, type, key) DO NOTHING\nRETURNING type, job",
    parameters: ["wanted"],
    timeout: "answer",
    routine: {"takes":"json","gives":"type integer, job bigint"},
  },
  lock_dedup: {
    text: "SELECT count(pg_advisory_xact_lock(key.hash)) AS locked\nFROM (\n    SELECT hashtextextended(\n               concat_ws(\n                   ' ', 'millrace.dedup'::regclass::oid, wanted.tenant, wanted.type, wanted.key\n               ),\n               0\n           ) AS hash\n    FROM json_to_recordset($1::json) AS wanted (tenant integer, type integer, key text)\n    ORDER BY hash\n    OFFSET 0\n) AS key",
    parameters: ["wanted"],
    timeout: "answer",
    routine: {"takes":"json","gives":"locked bigint"},
  },
  find_dedup: {
    text: "SELECT wanted.type, wanted.job AS seeker, held.job AS holder, job.id\nFROM json_to_recordset($1::json) AS wanted (\n    tenant integer, type integer, key text, job bigint\n)\nJOIN millrace.dedup AS held\n    ON held.tenant = wanted.tenant AND held.type = wanted.type AND held.key = wanted.key\nLEFT JOIN millrace.job AS job ON job.key = held.job",
    parameters: ["wanted"],
    timeout: "answer",
    routine: {"takes":"json","gives":"type integer, seeker bigint, holder bigint, id uuid"},
  },
  delete_dedup: {
    text: "DELETE FROM millrace.dedup\nWHERE job = ANY ($1::bigint[])",
    parameters: ["jobs"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":null},
  },
  append_events: {
    text: "INSERT INTO millrace.event_outbox (at, kind, keys, ids, details)\nSELECT millrace.clock_at($1::timestamptz), told.kind,\n       CASE WHEN told.keys IS NOT NULL\n            THEN ARRAY(SELECT value::bigint FROM json_array_elements_text(told.keys)) END,\n       CASE WHEN told.ids IS NOT NULL\n            THEN ARRAY(SELECT value::uuid FROM json_array_elements_text(told.ids)) END,\n       CASE WHEN told.details IS NOT NULL\n            THEN ARRAY(SELECT value FROM json_array_elements_text(told.details)) END\nFROM json_to_recordset($2::json) AS told (kind smallint, keys json, ids json, details json)",
    parameters: ["now","batches"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":null},
  },
  find_aliases: {
    text: "SELECT id\nFROM millrace.alias\nWHERE id = ANY ($1::uuid[])",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"id uuid"},
  },
  insert_aliases: {
    text: "INSERT INTO millrace.alias (id, job, parent)\nSELECT given.id, holder.key, parent.key\nFROM json_to_recordset($1::json) AS given (id uuid, holder uuid, parent uuid)\nJOIN millrace.job AS parent ON parent.id = given.parent\nLEFT JOIN millrace.job AS holder ON holder.id = given.holder\nORDER BY given.id\nON CONFLICT (id) DO NOTHING",
    parameters: ["given"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  table_health: {
    text: "SELECT stat.relname AS name, stat.n_live_tup AS live, stat.n_dead_tup AS dead,\n       pg_table_size(stat.relid) AS bytes, pg_indexes_size(stat.relid) AS index_bytes,\n       (date_part('epoch', clock_timestamp() - greatest(stat.last_vacuum, stat.last_autovacuum))\n           * 1000)::bigint AS vacuumed_ms,\n       coalesce(own.enabled, true) AS enabled,\n       (\n           coalesce(own.threshold, current_setting('autovacuum_vacuum_threshold')::float8)\n           + coalesce(own.factor, current_setting('autovacuum_vacuum_scale_factor')::float8)\n           * stat.n_live_tup\n       )::bigint AS threshold\nFROM pg_stat_user_tables AS stat\nJOIN pg_class AS class ON class.oid = stat.relid\nCROSS JOIN LATERAL (\n    SELECT max(option_value) FILTER (WHERE option_name = 'autovacuum_vacuum_threshold')::float8\n               AS threshold,\n           max(option_value) FILTER (WHERE option_name = 'autovacuum_vacuum_scale_factor')::float8\n               AS factor,\n           bool_and(option_value::boolean) FILTER (WHERE option_name = 'autovacuum_enabled')\n               AS enabled\n    FROM pg_options_to_table(class.reloptions)\n) AS own\nWHERE stat.schemaname = $1::text\nORDER BY stat.relname",
    parameters: ["schema"],
    timeout: "doctor",
    routine: null,
  },
  vacuum_holders: {
    text: "SELECT 'session' AS kind, pid::text AS name, usename::text AS owner,\n       coalesce(application_name, '') AS application, coalesce(state, 'unknown') AS state,\n       millrace.ms_of(xact_start) AS since,\n       millrace.ms_of(clock_timestamp()) - millrace.ms_of(xact_start) AS held_ms,\n       greatest(age(backend_xid), age(backend_xmin)) AS age\nFROM pg_stat_activity AS session\nWHERE datname = current_database()\n  AND pid <> pg_backend_pid()\n  AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)\n  AND usesysid IS NOT NULL\n  AND backend_type IS DISTINCT FROM 'parallel worker'\n  AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_vacuum AS vacuum WHERE vacuum.pid = session.pid)\nUNION ALL\nSELECT 'prepared', gid, owner::text, '', 'prepared', millrace.ms_of(prepared),\n       millrace.ms_of(clock_timestamp()) - millrace.ms_of(prepared), age(transaction)\nFROM pg_prepared_xacts\nWHERE database = current_database()\nUNION ALL\nSELECT 'slot', slot_name::text, NULL, '', CASE WHEN active THEN 'active' ELSE 'inactive' END,\n       NULL, NULL, age(xmin)\nFROM pg_replication_slots\nWHERE xmin IS NOT NULL\nORDER BY held_ms DESC NULLS LAST, age DESC, name\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"kind text, name text, owner text, application text, state text, since bigint, held_ms bigint, age integer"},
  },
  server_settings: {
    text: "SELECT current_setting('server_version') AS version,\n       current_setting('autovacuum')::boolean AS autovacuum,\n       current_setting('fsync')::boolean AS fsync,\n       current_setting('full_page_writes')::boolean AS full_page_writes,\n       current_setting('synchronous_commit') AS synchronous_commit",
    parameters: [],
    timeout: "answer",
    routine: null,
  },
  schema_objects: {
    text: "WITH class AS MATERIALIZED (\n    SELECT oid, relname, relkind\n    FROM pg_class\n    WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1::text)\n)\nSELECT 'table' AS kind, relname AS home, relname AS name, '' AS definition, true AS valid\nFROM class\nWHERE relkind IN ('r', 'p')\nUNION ALL\nSELECT 'column', class.relname, field.attname,\n       concat_ws(\n           ' ', format_type(field.atttypid, field.atttypmod),\n           CASE WHEN field.attidentity = 'd' THEN 'GENERATED BY DEFAULT AS IDENTITY' END,\n           CASE WHEN field.attgenerated = 's' THEN\n               'GENERATED ALWAYS AS (' || pg_get_expr(made.adbin, made.adrelid) || ') STORED'\n           END,\n           CASE WHEN field.attnotnull THEN 'NOT NULL' END\n       ),\n       true\nFROM class\nJOIN pg_attribute AS field ON field.attrelid = class.oid\nLEFT JOIN pg_attrdef AS made ON made.adrelid = class.oid AND made.adnum = field.attnum\nWHERE class.relkind IN ('r', 'p')\n  AND field.attnum > 0\n  AND NOT field.attisdropped\nUNION ALL\nSELECT 'constraint', class.relname, made.conname, pg_get_constraintdef(made.oid), made.convalidated\nFROM class\nJOIN pg_constraint AS made ON made.conrelid = class.oid\nWHERE made.contype IN ('p', 'u', 'c', 'f', 'x')\nUNION ALL\nSELECT 'index', home.relname, class.relname, pg_get_indexdef(class.oid), index.indisvalid\nFROM class\nJOIN pg_index AS index ON index.indexrelid = class.oid\nJOIN pg_class AS home ON home.oid = index.indrelid\nWHERE NOT EXISTS (SELECT 1 FROM pg_constraint AS made WHERE made.conindid = class.oid)\nUNION ALL\nSELECT 'view', relname, relname, pg_get_viewdef(oid), true\nFROM class\nWHERE relkind = 'v'\nUNION ALL\nSELECT 'function', proname, proname, pg_get_functiondef(oid), true\nFROM pg_proc\nWHERE pronamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1::text)\n  AND prokind = 'f'",
    parameters: ["schema"],
    timeout: "doctor",
    routine: null,
  },
  schema_version: {
    text: "SELECT value::integer AS version\nFROM millrace.meta\nWHERE name = 'schema'",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"version integer"},
  },
  lost_jobs: {
    text: "WITH held AS MATERIALIZED (\n    SELECT DISTINCT run.key, run.n\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\n)\nSELECT job.id\nFROM millrace.job AS job\nWHERE job.key <= $1::bigint\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.attempt AS last\n      WHERE last.key = job.key AND last.key <= $1::bigint AND last.state IS NOT NULL\n  )\n  AND NOT EXISTS (SELECT 1 FROM millrace.scheduled AS place WHERE place.key = job.key)\n  AND NOT EXISTS (SELECT 1 FROM millrace.ready AS place WHERE place.key = job.key)\n  AND NOT EXISTS (SELECT 1 FROM millrace.blocked AS place WHERE place.key = job.key)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM held\n      WHERE held.key = job.key\n        AND held.n > (\n            SELECT coalesce(max(done.n), 0) FROM millrace.attempt AS done WHERE done.key = job.key\n        )\n  )\nORDER BY job.key\nLIMIT $2::integer",
    parameters: ["last_key","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"id uuid"},
  },
  ownerless_leases: {
    text: "SELECT lease.number, lease.worker, job.id\nFROM millrace.lease AS lease\nLEFT JOIN LATERAL (\n    SELECT run.key\n    FROM unnest(lease.keys, lease.ns) AS run (key, n)\n    WHERE NOT EXISTS (\n        SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n >= run.n\n    )\n) AS held ON true\nLEFT JOIN millrace.job AS job ON job.key = held.key\nWHERE NOT EXISTS (SELECT 1 FROM millrace.worker AS worker WHERE worker.id = lease.worker)\nORDER BY lease.number, job.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"number bigint, worker uuid, id uuid"},
  },
  starts_without_lease: {
    text: "SELECT count(*) AS count\nFROM millrace.run_start AS start\nWHERE NOT EXISTS (\n    SELECT 1\n    FROM millrace.lease AS lease\n    WHERE lease.number = start.lease AND start.key = ANY (lease.keys)\n)",
    parameters: [],
    timeout: "doctor",
    routine: {"takes":"","gives":"count bigint"},
  },
  places_without_job: {
    text: "WITH waiting (place, key) AS (\n    (SELECT 'scheduled', key FROM millrace.scheduled ORDER BY key LIMIT $1::bigint)\n    UNION ALL\n    (SELECT 'ready', key FROM millrace.ready ORDER BY key LIMIT $1::bigint)\n    UNION ALL\n    (SELECT 'blocked', key FROM millrace.blocked ORDER BY key LIMIT $1::bigint)\n)\nSELECT place, key\nFROM waiting\nWHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = waiting.key)\nORDER BY place, key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"place text, key bigint"},
  },
  places_against_ledger: {
    text: "WITH held AS MATERIALIZED (\n    SELECT DISTINCT run.key, run.n\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\n),\nwaiting (place, key, n) AS (\n    (SELECT 'scheduled', key, n FROM millrace.scheduled ORDER BY key LIMIT $1::bigint)\n    UNION ALL\n    (SELECT 'blocked', key, n FROM millrace.blocked ORDER BY key LIMIT $1::bigint)\n    UNION ALL\n    (SELECT 'ready', key, n FROM millrace.ready ORDER BY key LIMIT $1::bigint)\n),\njudged AS (\n    SELECT waiting.place, waiting.key, job.id, waiting.n,\n           waiting.place <> 'scheduled'\n           AND EXISTS (SELECT 1 FROM millrace.scheduled AS twin WHERE twin.key = waiting.key)\n           OR waiting.place = 'ready'\n           AND EXISTS (SELECT 1 FROM millrace.blocked AS twin WHERE twin.key = waiting.key)\n               AS is_twin,\n           last.state IS NOT NULL AS is_over,\n           held.key IS NOT NULL AS is_held,\n           coalesce(last.n, 0) + 1 AS next_n\n    FROM waiting\n    JOIN millrace.job AS job ON job.key = waiting.key\n    LEFT JOIN LATERAL (\n        SELECT attempt.n, attempt.state\n        FROM millrace.attempt AS attempt\n        WHERE attempt.key = waiting.key\n        ORDER BY attempt.n DESC\n        LIMIT 1\n    ) AS last ON true\n    LEFT JOIN held ON held.key = waiting.key AND held.n = waiting.n\n)\nSELECT place, key, id, is_over, is_held, is_twin, next_n\nFROM judged\nWHERE is_over OR is_held OR is_twin OR n <> next_n\nORDER BY key, place\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"place text, key bigint, id uuid, is_over boolean, is_held boolean, is_twin boolean, next_n integer"},
  },
  examined_tables: {
    text: "SELECT coalesce((SELECT min(key) FROM millrace.job), 0) AS first_key,\n       coalesce((SELECT max(key) FROM millrace.job), 0) AS last_key,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.scheduled LIMIT $1::bigint) AS few)\n           AS scheduled,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.ready LIMIT $1::bigint) AS few) AS ready,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.blocked LIMIT $1::bigint) AS few) AS blocked,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.dedup LIMIT $1::bigint) AS few) AS dedup,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.cancel_request LIMIT $1::bigint) AS few)\n           AS cancel_request,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.lock LIMIT $1::bigint) AS few) AS lock,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.dependency LIMIT $1::bigint) AS few)\n           AS dependency,\n       (\n           SELECT count(*)\n           FROM (\n               SELECT 1 FROM millrace.attempt WHERE state = 6 AND state > 4 LIMIT $1::bigint\n           ) AS few\n       ) AS failed,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.dead_letter LIMIT $1::bigint) AS few)\n           AS dead_letter,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.ended_run LIMIT $1::bigint) AS few)\n           AS ended_run",
    parameters: ["max"],
    timeout: "doctor",
    routine: {"takes":"bigint","gives":"first_key bigint, last_key bigint, scheduled bigint, ready bigint, blocked bigint, dedup bigint, cancel_request bigint, lock bigint, dependency bigint, failed bigint, dead_letter bigint, ended_run bigint"},
  },
  prefer_lookups: {
    text: "SELECT set_config('enable_hashjoin', 'off', true) AS hash,\n       set_config('enable_mergejoin', 'off', true) AS merge,\n       set_config('enable_seqscan', 'off', true) AS scan",
    parameters: [],
    timeout: "answer",
    routine: null,
  },
  role_findings: {
    text: "SELECT found, fix\nFROM millrace.role_findings()\nORDER BY found\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"found text, fix text"},
  },
  role_statements: {
    text: "SELECT statement\nFROM millrace.role_statements() WITH ORDINALITY AS made (statement, turn)\nORDER BY turn",
    parameters: [],
    timeout: "answer",
    routine: null,
  },
  role_databases: {
    text: "SELECT name::text AS name\nFROM millrace.role_databases() AS name",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"name text"},
  },
  second_line: {
    text: "SELECT EXISTS (\n    SELECT 1\n    FROM pg_policies AS policy\n    WHERE policy.schemaname = $1::text\n      AND policy.tablename = 'job'\n      AND policy.policyname = 'tenant'\n) AND EXISTS (\n    SELECT 1\n    FROM pg_roles AS role\n    WHERE role.rolname = 'millrace_tenant'\n      AND pg_has_role(\n              current_user, role.oid,\n              CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER'\n                   ELSE 'SET' END\n          )\n      AND has_table_privilege(role.oid, 'millrace.job'::regclass, 'SELECT')\n) AS active",
    parameters: ["schema"],
    timeout: "answer",
    routine: null,
  },
  dump_roles: {
    text: "SELECT role.rolname::text AS name\nFROM pg_roles AS role\nJOIN pg_class AS class ON class.oid = 'millrace.job'::regclass\nWHERE class.relrowsecurity\n  AND role.rolcanlogin\n  AND NOT role.rolsuper\n  AND NOT role.rolbypassrls\n  AND pg_has_role(role.oid, 'pg_read_all_data', 'USAGE')\n  AND NOT pg_has_role(role.oid, class.relowner, 'USAGE')\nORDER BY role.rolname\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"name text"},
  },
  installation: {
    text: "SELECT name, value\nFROM millrace.meta",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"name text, value text"},
  },
  list_routines: {
    text: "SELECT proc.proname::text AS name,\n       (\n           SELECT coalesce(string_agg(format_type(given.type, NULL), ', ' ORDER BY given.turn), '')\n           FROM unnest(proc.proargtypes) WITH ORDINALITY AS given (type, turn)\n       ) AS takes,\n       encode(sha256(convert_to(proc.prosrc, 'UTF8')), 'hex') AS digest,\n       proc.prosecdef\n       AND proc.proowner = space.nspowner\n       AND proc.proconfig = $1::text[] AS sound,\n       EXISTS (\n           SELECT FROM aclexplode(coalesce(proc.proacl, acldefault('f', proc.proowner))) AS grant_of\n           JOIN pg_roles AS role ON role.oid = grant_of.grantee\n           WHERE role.rolname = $2::text || '_engine'\n       ) AS allowed\nFROM pg_proc AS proc\nJOIN pg_namespace AS space ON space.oid = proc.pronamespace\nWHERE space.nspname = $2::text\n  AND starts_with(proc.proname, 'run_')\n  AND starts_with(proc.prosrc, $3::text)\nORDER BY proc.proname, takes",
    parameters: ["settings","schema","mark"],
    timeout: "answer",
    routine: null,
  },
  failure_causes: {
    text: "WITH RECURSIVE found (cause, n) AS (\n    SELECT (\n        SELECT cause\n        FROM millrace.dead_letter\n        WHERE status IN (1, 2)\n        ORDER BY cause\n        LIMIT 1\n    ), 1\n    UNION ALL\n    SELECT (\n        SELECT letter.cause\n        FROM millrace.dead_letter AS letter\n        WHERE letter.cause > found.cause AND letter.status IN (1, 2)\n        ORDER BY letter.cause\n        LIMIT 1\n    ), n + 1\n    FROM found\n    WHERE found.cause IS NOT NULL AND n < $1::integer\n)\nSELECT found.cause, (\n    SELECT millrace.ms_of(letter.died_at)\n    FROM millrace.dead_letter AS letter\n    WHERE letter.cause = found.cause AND letter.status IN (1, 2)\n    ORDER BY letter.died_at DESC\n    LIMIT 1\n) AS last_at\nFROM found\nWHERE found.cause IS NOT NULL\nORDER BY last_at DESC, found.cause",
    parameters: ["max"],
    timeout: "reader",
    routine: {"takes":"integer","gives":"cause text, last_at bigint"},
  },
  failure_hours: {
    text: "SELECT type, hour, count(*) AS letters\nFROM (\n    SELECT type, greatest(\n               millrace.ms_of(millrace.clock_at($1::timestamptz)) - millrace.ms_of(died_at), 0\n           ) / 3600000 AS age\n    FROM millrace.dead_letter\n    WHERE cause = $2::text AND status IN (1, 2)\n    ORDER BY died_at DESC\n    LIMIT $3::integer\n) AS letter\nCROSS JOIN LATERAL (SELECT CASE WHEN age < 24 THEN 23 - age ELSE -1 END AS hour) AS time\nGROUP BY type, hour\nORDER BY type, hour",
    parameters: ["now","cause","max"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, text, integer","gives":"type integer, hour bigint, letters bigint"},
  },
  first_failure: {
    text: "SELECT millrace.ms_of(died_at) AS first_at\nFROM millrace.dead_letter\nWHERE cause = $1::text AND status IN (1, 2)\nORDER BY millrace.dead_letter.died_at\nLIMIT 1",
    parameters: ["cause"],
    timeout: "answer",
    routine: {"takes":"text","gives":"first_at bigint"},
  },
  letters_of_cause: {
    text: "SELECT id, type, tenant, status, error, attempts, millrace.ms_of(died_at) AS died_at, reviewed_by,\n       millrace.ms_of(reviewed_at) AS reviewed_at, notes, successor, spec, cause,\n       assigned_to, history, reviews\nFROM millrace.dead_letter\nWHERE cause = $1::text AND status IN (1, 2)\n  AND (died_at, id) < (millrace.at_ms($2::bigint), $3::uuid)\nORDER BY millrace.dead_letter.died_at DESC, millrace.dead_letter.id DESC\nLIMIT $4::integer",
    parameters: ["cause","before_at","before_id","limit"],
    timeout: "reader",
    routine: {"takes":"text, bigint, uuid, integer","gives":"id uuid, type integer, tenant integer, status smallint, error json, attempts integer, died_at bigint, reviewed_by text, reviewed_at bigint, notes text, successor uuid, spec json, cause text, assigned_to text, history json, reviews json"},
  },
  failure_causes_of_tenant: {
    text: "WITH RECURSIVE found (cause, n) AS (\n    SELECT (\n        SELECT cause\n        FROM millrace.dead_letter\n        WHERE tenant = $1::integer AND status IN (1, 2)\n        ORDER BY cause\n        LIMIT 1\n    ), 1\n    UNION ALL\n    SELECT (\n        SELECT letter.cause\n        FROM millrace.dead_letter AS letter\n        WHERE letter.tenant = $1::integer\n          AND letter.cause > found.cause\n          AND letter.status IN (1, 2)\n        ORDER BY letter.cause\n        LIMIT 1\n    ), n + 1\n    FROM found\n    WHERE found.cause IS NOT NULL AND n < $2::integer\n)\nSELECT found.cause, (\n    SELECT millrace.ms_of(letter.died_at)\n    FROM millrace.dead_letter AS letter\n    WHERE letter.tenant = $1::integer\n      AND letter.cause = found.cause\n      AND letter.status IN (1, 2)\n    ORDER BY letter.died_at DESC\n    LIMIT 1\n) AS last_at\nFROM found\nWHERE found.cause IS NOT NULL\nORDER BY last_at DESC, found.cause",
    parameters: ["tenant","max"],
    timeout: "reader",
    routine: {"takes":"integer, integer","gives":"cause text, last_at bigint"},
  },
  failure_hours_of_tenant: {
    text: "SELECT type, hour, count(*) AS letters\nFROM (\n    SELECT type, greatest(\n               millrace.ms_of(millrace.clock_at($1::timestamptz)) - millrace.ms_of(died_at), 0\n           ) / 3600000 AS age\n    FROM millrace.dead_letter\n    WHERE tenant = $2::integer AND cause = $3::text AND status IN (1, 2)\n    ORDER BY died_at DESC\n    LIMIT $4::integer\n) AS letter\nCROSS JOIN LATERAL (SELECT CASE WHEN age < 24 THEN 23 - age ELSE -1 END AS hour) AS time\nGROUP BY type, hour\nORDER BY type, hour",
    parameters: ["now","tenant","cause","max"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, integer, text, integer","gives":"type integer, hour bigint, letters bigint"},
  },
  first_failure_of_tenant: {
    text: "SELECT millrace.ms_of(died_at) AS first_at\nFROM millrace.dead_letter\nWHERE tenant = $1::integer AND cause = $2::text AND status IN (1, 2)\nORDER BY millrace.dead_letter.died_at\nLIMIT 1",
    parameters: ["tenant","cause"],
    timeout: "answer",
    routine: {"takes":"integer, text","gives":"first_at bigint"},
  },
  letters_of_cause_of_tenant: {
    text: "SELECT id, type, tenant, status, error, attempts, millrace.ms_of(died_at) AS died_at, reviewed_by,\n       millrace.ms_of(reviewed_at) AS reviewed_at, notes, successor, spec, cause,\n       assigned_to, history, reviews\nFROM millrace.dead_letter\nWHERE tenant = $1::integer AND cause = $2::text AND status IN (1, 2)\n  AND (died_at, id) < (millrace.at_ms($3::bigint), $4::uuid)\nORDER BY millrace.dead_letter.died_at DESC, millrace.dead_letter.id DESC\nLIMIT $5::integer",
    parameters: ["tenant","cause","before_at","before_id","limit"],
    timeout: "reader",
    routine: {"takes":"integer, text, bigint, uuid, integer","gives":"id uuid, type integer, tenant integer, status smallint, error json, attempts integer, died_at bigint, reviewed_by text, reviewed_at bigint, notes text, successor uuid, spec json, cause text, assigned_to text, history json, reviews json"},
  },
  failure_decisions: {
    text: "SELECT cause, decision, millrace.ms_of(decided_at) AS decided_at, millrace.ms_of(until) AS until,\n       by, notes\nFROM millrace.failure_group\nWHERE tenant = $1::integer AND cause > $2::text\nORDER BY cause\nLIMIT $3::integer",
    parameters: ["tenant","after","limit"],
    timeout: "answer",
    routine: {"takes":"integer, text, integer","gives":"cause text, decision smallint, decided_at bigint, until bigint, by text, notes text"},
  },
  find_failure_group: {
    text: "SELECT decision, millrace.ms_of(decided_at) AS decided_at, millrace.ms_of(until) AS until, by, notes\nFROM millrace.failure_group\nWHERE tenant = $1::integer AND cause = $2::text",
    parameters: ["tenant","cause"],
    timeout: "answer",
    routine: {"takes":"integer, text","gives":"decision smallint, decided_at bigint, until bigint, by text, notes text"},
  },
  decide_failure_group: {
    text: "INSERT INTO millrace.failure_group (tenant, cause, decision, decided_at, until, by, notes)\nSELECT $1::integer, $2::text, $3::smallint,\n       millrace.clock_at($4::timestamptz),\n       millrace.clock_at($4::timestamptz) + $5::bigint * interval '1 millisecond',\n       $6::text, $7::text\nON CONFLICT (tenant, cause) DO UPDATE\nSET decision = excluded.decision, decided_at = excluded.decided_at, until = excluded.until,\n    by = excluded.by, notes = excluded.notes",
    parameters: ["tenant","cause","decision","now","for_ms","by","notes"],
    timeout: "answer",
    routine: {"takes":"integer, text, smallint, timestamp with time zone, bigint, text, text","gives":null},
  },
  lock_dead_letters: {
    text: "SELECT id, status, successor, tenant, assigned_to\nFROM millrace.dead_letter\nWHERE id = ANY ($1::uuid[])\nORDER BY id\nFOR UPDATE",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"id uuid, status smallint, successor uuid, tenant integer, assigned_to text"},
  },
  review_dead_letters: {
    text: "UPDATE millrace.dead_letter AS letter\nSET status      = $1::smallint,\n    reviewed_by = $2::text,\n    reviewed_at = millrace.clock_at($3::timestamptz),\n    notes       = $4::text,\n    successor   = closed.successor,\n    reviews     = (\n        CASE\n            WHEN json_array_length(letter.reviews) >= 100 THEN letter.reviews::jsonb - 0\n            ELSE letter.reviews::jsonb\n        END || jsonb_build_object(\n            'at', millrace.ms_of(millrace.clock_at($3::timestamptz)), 'by', $2::text,\n            'act', $5::text, 'notes', $4::text\n        )\n    )::json\nFROM json_to_recordset($6::json) AS closed (id uuid, successor uuid)\nWHERE letter.id = closed.id\n  AND letter.status IN (1, 2)",
    parameters: ["status","reviewed_by","now","notes","act","letters"],
    timeout: "answer",
    routine: {"takes":"smallint, text, timestamp with time zone, text, text, json","gives":null},
  },
  all_fair_lanes: {
    text: "SELECT lane, weights::text AS weights, code_weights::text AS code_weights,\n       owner::integer AS owner, by, millrace.ms_of(set_at) AS set_at\nFROM millrace.fair_lane\nORDER BY lane",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"lane integer, weights text, code_weights text, owner integer, by text, set_at bigint"},
  },
  find_fair_lane: {
    text: "SELECT lane, weights::text AS weights, code_weights::text AS code_weights,\n       owner::integer AS owner, by, millrace.ms_of(set_at) AS set_at\nFROM millrace.fair_lane\nWHERE lane = $1::integer\nFOR UPDATE",
    parameters: ["lane"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"lane integer, weights text, code_weights text, owner integer, by text, set_at bigint"},
  },
  fair_lane_for_turns: {
    text: "SELECT lane, weights::text AS weights, code_weights::text AS code_weights,\n       owner::integer AS owner, by, millrace.ms_of(set_at) AS set_at\nFROM millrace.fair_lane\nWHERE lane = $1::integer\nFOR UPDATE SKIP LOCKED",
    parameters: ["lane"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"lane integer, weights text, code_weights text, owner integer, by text, set_at bigint"},
  },
  put_fair_lane: {
    text: "INSERT INTO millrace.fair_lane (lane, weights, code_weights, owner, by, set_at)\nVALUES (\n    $1::integer, $2::json, $3::json, $4::smallint, $5::text,\n    millrace.clock_at($6::timestamptz)\n)\nON CONFLICT (lane) DO UPDATE\nSET weights = excluded.weights, code_weights = excluded.code_weights, owner = excluded.owner,\n    by = excluded.by, set_at = excluded.set_at",
    parameters: ["lane","weights","code_weights","owner","by","now"],
    timeout: "answer",
    routine: {"takes":"integer, json, json, smallint, text, timestamp with time zone","gives":null},
  },
  set_code_weights: {
    text: "UPDATE millrace.fair_lane\nSET code_weights = $1::json\nWHERE lane = $2::integer",
    parameters: ["code_weights","lane"],
    timeout: "answer",
    routine: {"takes":"json, integer","gives":null},
  },
  delete_fair_lane: {
    text: "DELETE FROM millrace.fair_lane\nWHERE lane = $1::integer",
    parameters: ["lane"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  lanes_without_turns: {
    text: "SELECT lane FROM millrace.lane_without_turns ORDER BY lane",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"lane integer"},
  },
  jobs_without_turn: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace.ready WHERE lane = $1::integer AND crashes = 0\n    UNION ALL\n    SELECT (\n        SELECT min(ready.priority)\n        FROM millrace.ready AS ready\n        WHERE ready.lane = $1::integer\n          AND ready.crashes = 0\n          AND ready.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT first.key, first.priority, first.rank, first.tenant, 0 AS queue\nFROM class\nCROSS JOIN LATERAL (\n    SELECT ready.key, ready.priority, ready.rank, ready.tenant\n    FROM millrace.ready AS ready\n    WHERE ready.lane = $1::integer\n      AND ready.crashes = 0\n      AND ready.priority = class.priority\n      AND ready.rank >= 0\n    ORDER BY ready.rank, ready.key\n    LIMIT $2::integer\n) AS first\nLIMIT $2::integer",
    parameters: ["lane","limit"],
    timeout: "answer",
    routine: {"takes":"integer, integer","gives":"key bigint, priority integer, rank bigint, tenant integer, queue integer"},
  },
  newest_without_turn: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace.ready WHERE lane = $1::integer AND crashes = 0\n    UNION ALL\n    SELECT (\n        SELECT min(ready.priority)\n        FROM millrace.ready AS ready\n        WHERE ready.lane = $1::integer\n          AND ready.crashes = 0\n          AND ready.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT last.key, last.priority, last.rank, last.tenant, 0 AS queue\nFROM class\nCROSS JOIN LATERAL (\n    SELECT ready.key, ready.priority, ready.rank, ready.tenant\n    FROM millrace.ready AS ready\n    WHERE ready.lane = $1::integer\n      AND ready.crashes = 0\n      AND ready.priority = class.priority\n      AND ready.rank >= 0\n    ORDER BY ready.rank DESC, ready.key DESC\n    LIMIT $2::integer\n) AS last\nWHERE last.tenant <> ALL ($3::integer[])\nORDER BY last.priority, last.rank, last.key\nLIMIT $2::integer",
    parameters: ["lane","limit","tenants"],
    timeout: "answer",
    routine: {"takes":"integer, integer, integer[]","gives":"key bigint, priority integer, rank bigint, tenant integer, queue integer"},
  },
  later_without_turn: {
    text: "SELECT key, priority, rank, tenant, 0 AS queue, place::integer AS place\nFROM (\n    SELECT key, priority, rank, tenant,\n           row_number() OVER (ORDER BY priority, rank, key) AS place\n    FROM (\n        SELECT key, priority, rank, tenant\n        FROM millrace.ready\n        WHERE lane = $1::integer\n          AND crashes = 0\n          AND (priority, rank, key) > ($2::integer, $3::bigint, $4::bigint)\n          AND rank >= 0\n        ORDER BY priority, rank, key\n        LIMIT $5::integer\n    ) AS later\n) AS later\nWHERE place = $5::integer\n   OR tenant <> ALL ($6::integer[])\nORDER BY place",
    parameters: ["lane","priority","rank","key","limit","tenants"],
    timeout: "answer",
    routine: {"takes":"integer, integer, bigint, bigint, integer, integer[]","gives":"key bigint, priority integer, rank bigint, tenant integer, queue integer, place integer"},
  },
  queued_without_turn: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace.blocked WHERE lane = $1::integer AND gate < -2\n    UNION ALL\n    SELECT (\n        SELECT min(blocked.priority)\n        FROM millrace.blocked AS blocked\n        WHERE blocked.lane = $1::integer\n          AND blocked.gate < -2\n          AND blocked.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT first.key, first.priority, first.rank, first.tenant, first.gate AS queue\nFROM class\nCROSS JOIN LATERAL (\n    SELECT blocked.key, blocked.priority, blocked.rank, blocked.tenant, blocked.gate\n    FROM millrace.blocked AS blocked\n    WHERE blocked.lane = $1::integer\n      AND blocked.gate < -2\n      AND blocked.priority = class.priority\n      AND blocked.turn_or_rank >= 0\n    ORDER BY blocked.turn_or_rank, blocked.key\n    LIMIT $2::integer\n) AS first\nLIMIT $2::integer",
    parameters: ["lane","limit"],
    timeout: "answer",
    routine: {"takes":"integer, integer","gives":"key bigint, priority integer, rank bigint, tenant integer, queue integer"},
  },
  newest_queued: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace.blocked WHERE lane = $1::integer AND gate < -2\n    UNION ALL\n    SELECT (\n        SELECT min(blocked.priority)\n        FROM millrace.blocked AS blocked\n        WHERE blocked.lane = $1::integer\n          AND blocked.gate < -2\n          AND blocked.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT last.key, last.priority, last.rank, last.tenant, last.gate AS queue\nFROM class\nCROSS JOIN LATERAL (\n    SELECT blocked.key, blocked.priority, blocked.rank, blocked.tenant, blocked.gate\n    FROM millrace.blocked AS blocked\n    WHERE blocked.lane = $1::integer\n      AND blocked.gate < -2\n      AND blocked.priority = class.priority\n      AND blocked.turn_or_rank >= 0\n    ORDER BY blocked.turn_or_rank DESC, blocked.key DESC\n    LIMIT $2::integer\n) AS last\nWHERE last.tenant <> ALL ($3::integer[])\nORDER BY last.priority, last.rank, last.key\nLIMIT $2::integer",
    parameters: ["lane","limit","tenants"],
    timeout: "answer",
    routine: {"takes":"integer, integer, integer[]","gives":"key bigint, priority integer, rank bigint, tenant integer, queue integer"},
  },
  later_queued: {
    text: "SELECT key, priority, rank, tenant, gate AS queue, place::integer AS place\nFROM (\n    SELECT key, priority, rank, tenant, gate,\n           row_number() OVER (ORDER BY priority, rank, key) AS place\n    FROM (\n        SELECT key, priority, rank, tenant, gate\n        FROM millrace.blocked\n        WHERE lane = $1::integer\n          AND gate < -2\n          AND (priority, turn_or_rank, key)\n              > ($2::integer, $3::bigint, $4::bigint)\n          AND turn_or_rank >= 0\n        ORDER BY priority, turn_or_rank, key\n        LIMIT $5::integer\n    ) AS later\n) AS later\nWHERE place = $5::integer\n   OR tenant <> ALL ($6::integer[])\nORDER BY place",
    parameters: ["lane","priority","rank","key","limit","tenants"],
    timeout: "answer",
    routine: {"takes":"integer, integer, bigint, bigint, integer, integer[]","gives":"key bigint, priority integer, rank bigint, tenant integer, queue integer, place integer"},
  },
  first_turns: {
    text: "SELECT class.priority, 0 AS queue,\n       (\n           SELECT min(ready.rank)\n           FROM millrace.ready AS ready\n           WHERE ready.lane = $1::integer\n             AND ready.crashes = 0\n             AND ready.priority = class.priority\n             AND ready.rank < 0\n       ) AS rank\nFROM unnest($2::integer[]) AS class (priority)",
    parameters: ["lane","priorities"],
    timeout: "answer",
    routine: {"takes":"integer, integer[]","gives":"priority integer, queue integer, rank bigint"},
  },
  first_queue_turns: {
    text: "SELECT class.priority, own.queue,\n       (\n           SELECT min(blocked.turn_or_rank)\n           FROM millrace.blocked AS blocked\n           WHERE blocked.gate = own.queue\n             AND blocked.gate < -2\n             AND blocked.lane = $1::integer\n             AND blocked.priority = class.priority\n             AND blocked.turn_or_rank < 0\n       ) AS rank\nFROM unnest($2::integer[]) AS class (priority)\nCROSS JOIN unnest($3::integer[]) AS own (queue)\nUNION ALL\nSELECT class.priority, -1,\n       (\n           SELECT min(blocked.turn_or_rank)\n           FROM millrace.blocked AS blocked\n           WHERE blocked.gate < -2\n             AND blocked.lane = $1::integer\n             AND blocked.priority = class.priority\n             AND blocked.turn_or_rank < 0\n       )\nFROM unnest($2::integer[]) AS class (priority)",
    parameters: ["lane","priorities","queues"],
    timeout: "answer",
    routine: {"takes":"integer, integer[], integer[]","gives":"priority integer, queue integer, rank bigint"},
  },
  fair_turns: {
    text: "SELECT priority, queue, tenant, tag, due, back_tag\nFROM millrace.fair_turn\nWHERE lane = $1::integer\n  AND priority = ANY ($2::integer[])",
    parameters: ["lane","priorities"],
    timeout: "answer",
    routine: {"takes":"integer, integer[]","gives":"priority integer, queue integer, tenant integer, tag bigint, due bigint, back_tag bigint"},
  },
  delete_fair_turns: {
    text: "DELETE FROM millrace.fair_turn\nWHERE lane = $1::integer\n  AND priority = ANY ($2::integer[])",
    parameters: ["lane","priorities"],
    timeout: "answer",
    routine: {"takes":"integer, integer[]","gives":null},
  },
  delete_turns_of_lane: {
    text: "DELETE FROM millrace.fair_turn\nWHERE lane = $1::integer",
    parameters: ["lane"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  put_fair_turns: {
    text: "INSERT INTO millrace.fair_turn (lane, priority, queue, tenant, tag, due, back_tag)\nSELECT $1::integer, (turn.value ->> 0)::integer, (turn.value ->> 1)::integer,\n       (turn.value ->> 2)::integer, (turn.value ->> 3)::bigint, (turn.value ->> 4)::bigint,\n       (turn.value ->> 5)::bigint\nFROM json_array_elements($2::json) AS turn (value)",
    parameters: ["lane","turns"],
    timeout: "answer",
    routine: {"takes":"integer, json","gives":null},
  },
  set_turns: {
    text: "SELECT millrace.set_turns($1::json)::text AS given",
    parameters: ["turns"],
    timeout: "answer",
    routine: {"takes":"json","gives":"given text"},
  },
  longest_due_classes: {
    text: "WITH RECURSIVE lane (id) AS (\n    SELECT min(lane) FROM millrace.ready\n    UNION ALL\n    SELECT (\n        SELECT min(next.lane)\n        FROM millrace.ready AS next\n        WHERE next.lane > lane.id\n    )\n    FROM lane\n    WHERE lane.id IS NOT NULL\n),\nclass (lane, priority) AS (\n    SELECT lane.id,\n           (\n               SELECT min(first.priority)\n               FROM millrace.ready AS first\n               WHERE first.lane = lane.id AND first.crashes = 0\n           )\n    FROM lane\n    WHERE lane.id IS NOT NULL\n      AND ($1::integer[] IS NULL OR lane.id = ANY ($1::integer[]))\n    UNION ALL\n    SELECT class.lane,\n           (\n               SELECT min(next.priority)\n               FROM millrace.ready AS next\n               WHERE next.lane = class.lane\n                 AND next.crashes = 0\n                 AND next.priority > class.priority\n           )\n    FROM class\n    WHERE class.priority IS NOT NULL\n),\nqueue_lane (id) AS (\n    SELECT min(lane) FROM millrace.blocked WHERE gate < -2\n    UNION ALL\n    SELECT (\n        SELECT min(next.lane)\n        FROM millrace.blocked AS next\n        WHERE next.lane > queue_lane.id AND next.gate < -2\n    )\n    FROM queue_lane\n    WHERE queue_lane.id IS NOT NULL\n),\nqueued (lane, priority) AS (\n    SELECT queue_lane.id,\n           (\n               SELECT min(first.priority)\n               FROM millrace.blocked AS first\n               WHERE first.lane = queue_lane.id AND first.gate < -2\n           )\n    FROM queue_lane\n    WHERE queue_lane.id IS NOT NULL\n      AND ($1::integer[] IS NULL OR queue_lane.id = ANY ($1::integer[]))\n    UNION ALL\n    SELECT queued.lane,\n           (\n               SELECT min(next.priority)\n               FROM millrace.blocked AS next\n               WHERE next.lane = queued.lane\n                 AND next.gate < -2\n                 AND next.priority > queued.priority\n           )\n    FROM queued\n    WHERE queued.priority IS NOT NULL\n),\nwaiting (lane, priority, due) AS (\n    SELECT class.lane, class.priority,\n           least(\n               (\n                   SELECT min(turn.due)\n                   FROM millrace.ready AS turn\n                   WHERE turn.lane = class.lane\n                     AND turn.priority = class.priority\n                     AND turn.due IS NOT NULL\n               ),\n               (\n                   SELECT min(ready.rank)\n                   FROM millrace.ready AS ready\n                   WHERE ready.lane = class.lane\n                     AND ready.crashes = 0\n                     AND ready.priority = class.priority\n                     AND ready.rank >= 0\n               ) / 1000\n           )\n    FROM (SELECT * FROM class LIMIT $2::integer) AS class\n    WHERE class.priority IS NOT NULL\n    UNION ALL\n    SELECT queued.lane, queued.priority,\n           least(\n               (\n                   SELECT min(turn.rank)\n                   FROM millrace.blocked AS turn\n                   WHERE turn.lane = queued.lane\n                     AND turn.priority = queued.priority\n                     AND turn.turn IS NOT NULL\n               ) / 1000,\n               (\n                   SELECT min(blocked.turn_or_rank)\n                   FROM millrace.blocked AS blocked\n                   WHERE blocked.lane = queued.lane\n                     AND blocked.gate < -2\n                     AND blocked.priority = queued.priority\n                     AND blocked.turn_or_rank >= 0\n               ) / 1000\n           )\n    FROM (SELECT * FROM queued LIMIT $2::integer) AS queued\n    WHERE queued.priority IS NOT NULL\n)\nSELECT lane, priority, millrace.ms_of(millrace.clock_at($3::timestamptz)) - min(due) AS ms\nFROM waiting\nGROUP BY lane, priority\nHAVING millrace.ms_of(millrace.clock_at($3::timestamptz)) - min(due) > $4::bigint\nORDER BY ms DESC, priority, lane\nLIMIT $5::integer",
    parameters: ["lanes","hops","now","older","classes"],
    timeout: "reader",
    routine: {"takes":"integer[], integer, timestamp with time zone, bigint, integer","gives":"lane integer, priority integer, ms bigint"},
  },
  number_events: {
    text: "WITH front AS MATERIALIZED (\n    SELECT ctid AS place, number,\n           coalesce(pg_column_size(keys), 0) + coalesce(pg_column_size(ids), 0)\n               + coalesce(pg_column_size(details), 0) AS bytes\n    FROM millrace.event_outbox\n    ORDER BY number\n    LIMIT $1::integer\n),\nseen AS MATERIALIZED (\n    SELECT measured.place\n    FROM (\n        SELECT place, bytes, sum(bytes) OVER turns AS total\n        FROM front\n        WINDOW turns AS (ORDER BY number)\n    ) AS measured\n    WHERE measured.total <= greatest($2::bigint, (\n        SELECT first.bytes FROM front AS first ORDER BY first.number LIMIT 1\n    ))\n),\nhead AS MATERIALIZED (\n    SELECT position\n    FROM millrace.feed_head\n    WHERE EXISTS (SELECT 1 FROM seen)\n    FOR UPDATE\n),\ntaken AS (\n    DELETE FROM millrace.event_outbox AS told\n    USING head\n    WHERE told.ctid = ANY (ARRAY(SELECT place FROM seen))\n    RETURNING told.number, told.at, told.kind, told.keys, told.ids, told.details,\n              head.position AS head\n),\nnumbered AS (\n    INSERT INTO millrace.event (position, at, kind, keys, ids, details)\n    SELECT head + row_number() OVER (ORDER BY number), at, kind, keys, ids, details\n    FROM taken\n),\nmoved AS (\n    UPDATE millrace.feed_head AS head\n    SET position = head.position + taken.count\n    FROM (SELECT count(*) AS count FROM taken) AS taken\n    WHERE taken.count > 0\n)\nSELECT (SELECT count(*) FROM front) = $1::integer\n           OR (SELECT count(*) FROM seen) < (SELECT count(*) FROM front) AS more",
    parameters: ["limit","bytes"],
    timeout: "answer",
    routine: {"takes":"integer, bigint","gives":"more boolean"},
  },
  feed_end: {
    text: "SELECT position\nFROM millrace.feed_head",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"position bigint"},
  },
  feed_start: {
    text: "SELECT coalesce((SELECT min(position) - 1 FROM millrace.event), head.position) AS position\nFROM millrace.feed_head AS head",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"position bigint"},
  },
  feed_after: {
    text: "WITH RECURSIVE page (position, kind, at, keys, ids, details, turn, total, named) AS (\n    SELECT $1::bigint, 0::smallint, NULL::timestamptz(3), NULL::bigint[], NULL::uuid[],\n           NULL::json, 0, 0::bigint, 0\n    UNION ALL\n    SELECT next.position, next.kind, next.at, next.keys, next.ids, next.details, page.turn + 1,\n           page.total + 8 * coalesce(cardinality(next.keys), 0)\n               + 16 * coalesce(cardinality(next.ids), 0)\n               + coalesce(octet_length(next.details::text), 0),\n           page.named + coalesce(cardinality(next.keys), cardinality(next.ids), 0)\n    FROM page\n    CROSS JOIN LATERAL (\n        SELECT event.position, event.kind, event.at, event.keys, event.ids,\n               to_json(event.details) AS details\n        FROM millrace.event AS event\n        WHERE event.position > page.position\n        ORDER BY event.position\n        LIMIT 1\n    ) AS next\n    WHERE page.turn < $2::integer AND page.total <= $3::bigint\n      AND page.named <= $4::integer\n)\nSELECT position, kind, millrace.ms_of(at) AS at, keys, ids, details, total, named\nFROM page\nWHERE turn > 0\nORDER BY position",
    parameters: ["position","limit","bytes","jobs"],
    timeout: "answer",
    routine: {"takes":"bigint, integer, bigint, integer","gives":"position bigint, kind smallint, at bigint, keys bigint[], ids uuid[], details json, total bigint, named integer"},
  },
  run_function: {
    text: "WITH taken AS MATERIALIZED (\n    SELECT max(set_config('role', role.rolname, true)) AS role\n    FROM pg_roles AS role\n    WHERE role.rolname = $1::text || '_worker'\n      AND pg_has_role(\n              current_user, role.oid,\n              CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER'\n                   ELSE 'SET' END\n          )\n)\nSELECT millrace.run_function($2::text, $3::jsonb)::text AS answer\nFROM taken\nWHERE taken.role IS DISTINCT FROM ''",
    parameters: ["schema","name","payload"],
    timeout: "reader",
    routine: null,
  },
  promote_due: {
    text: "WITH RECURSIVE moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\ndue AS MATERIALIZED (\n    SELECT scheduled.key\n    FROM millrace.scheduled AS scheduled\n    WHERE scheduled.run_at <= (SELECT at FROM moment)\n    ORDER BY scheduled.run_at, scheduled.key\n    LIMIT $2::integer\n    FOR UPDATE SKIP LOCKED\n),\ntaken AS (\n    DELETE FROM millrace.scheduled AS scheduled\n    USING due\n    WHERE scheduled.key = due.key\n    RETURNING scheduled.*\n),\nmoved AS (\n    INSERT INTO millrace.ready (\n        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, n, tries, crashes,\n           concurrency\n    FROM taken\n    ON CONFLICT DO NOTHING\n),\nended_parks AS (\n    UPDATE millrace.service_park AS park\n    SET asked_at = moment.at, until = moment.at\n    FROM moment\n    WHERE park.asked_at > moment.at\n    RETURNING park.gate\n),\ngate (id) AS (\n    SELECT min(gate)\n    FROM millrace.blocked\n    UNION ALL\n    SELECT (SELECT min(blocked.gate) FROM millrace.blocked AS blocked WHERE blocked.gate > gate.id)\n    FROM gate\n    WHERE gate.id IS NOT NULL\n)\nSELECT (SELECT count(*) FROM due) AS moved,\n       least(\n           (\n               SELECT greatest(0, millrace.ms_of(scheduled.run_at) - millrace.ms_of(moment.at))\n               FROM millrace.scheduled AS scheduled\n               WHERE NOT EXISTS (SELECT 1 FROM due WHERE due.key = scheduled.key)\n               ORDER BY scheduled.run_at, scheduled.key\n               LIMIT 1\n           ),\n           (\n               SELECT millrace.ms_of(min(rate.held_until)) - millrace.ms_of(moment.at)\n               FROM millrace.key_rate AS rate\n               WHERE rate.held_until > moment.at\n           )\n       ) AS next_due_ms,\n       NOT $3::boolean\n           OR EXISTS (SELECT 1 FROM due)\n           OR EXISTS (SELECT 1 FROM millrace.ready)\n           OR EXISTS (SELECT 1 FROM millrace.blocked WHERE gate < -2)\n           OR EXISTS (SELECT 1 FROM millrace.crash_streak WHERE probe_at IS NOT NULL) AS ready,\n       EXISTS (\n           SELECT 1\n           FROM gate\n           WHERE gate.id NOT IN (-1, 0)\n             AND NOT EXISTS (\n                 SELECT 1\n                 FROM millrace.closed_gate AS closed\n                 WHERE closed.gate = gate.id\n                   AND (closed.until IS NULL OR closed.until > moment.at)\n             )\n             AND NOT EXISTS (\n                 SELECT 1 FROM millrace.limit_target AS limited WHERE limited.target = -3 - gate.id\n             )\n       )\n           OR EXISTS (\n               SELECT 1\n               FROM millrace.key_rate AS rate\n               WHERE rate.held_until IS NOT NULL AND millrace.is_refilled(rate, moment.at)\n           )\n           OR EXISTS (SELECT 1 FROM ended_parks) AS released,\n       EXISTS (SELECT 1 FROM millrace.closed_gate)\n           OR EXISTS (SELECT 1 FROM millrace.limit_setting)\n           OR EXISTS (SELECT 1 FROM millrace.lock)\n           OR EXISTS (SELECT 1 FROM millrace.blocked)\n           OR EXISTS (SELECT 1 FROM millrace.finished_dependency) AS blocked,\n       EXISTS (\n           SELECT 1\n           FROM millrace.schedule AS schedule\n           WHERE schedule.paused_at IS NULL\n             AND schedule.next_slot IS NOT NULL\n             AND schedule.next_slot <= moment.at\n             AND (\n                 schedule.owner = 2\n                 OR schedule.declared_at\n                     > moment.at - $4::bigint * interval '1 millisecond'\n             )\n       ) AS slot_due,\n       EXISTS (SELECT 1 FROM millrace.lane_without_turns)\n           OR EXISTS (\n               SELECT 1 FROM taken JOIN millrace.fair_lane AS fair ON fair.lane = taken.lane\n           ) AS fair,\n       (\n           SELECT min(CASE\n               WHEN breaker.opened_at > moment.at THEN 0\n               ELSE greatest(\n                   0, coalesce(millrace.ms_of(breaker.probe_at) - millrace.ms_of(moment.at), 0)\n               )\n           END)\n           FROM millrace.breaker AS breaker\n           WHERE breaker.state <> 1\n             AND (\n                 breaker.probe_at IS NOT NULL\n                 OR EXISTS (\n                     SELECT 1\n                     FROM millrace.attempt AS ended\n                     WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n\n                 )\n                 OR (breaker.state = 3 AND NOT EXISTS (\n                     SELECT 1 FROM millrace.job AS job WHERE job.key = breaker.probe_key\n                 ))\n             )\n       ) AS probe_ms\nFROM moment",
    parameters: ["now","limit","look","declared_ms"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer, boolean, bigint","gives":"moved bigint, next_due_ms bigint, ready boolean, released boolean, blocked boolean, slot_due boolean, fair boolean, probe_ms bigint"},
  },
  close_gate: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\nended AS (\n    DELETE FROM millrace.crash_streak\n    WHERE type = $2::integer\n    RETURNING type\n)\nINSERT INTO millrace.gate AS known (name, closed_at, until, reason, by)\nSELECT $2::integer, moment.at,\n       moment.at + $3::bigint * interval '1 millisecond',\n       $4::text, $5::text\nFROM moment\nCROSS JOIN (SELECT count(*) FROM ended) AS first\nON CONFLICT (name) DO UPDATE\nSET closed_at = CASE\n        WHEN known.until <= excluded.closed_at THEN excluded.closed_at\n        ELSE known.closed_at\n    END,\n    until = excluded.until, reason = excluded.reason, by = excluded.by",
    parameters: ["now","name","for_ms","reason","by"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer, bigint, text, text","gives":null},
  },
  open_gate: {
    text: "WITH ended AS (\n    DELETE FROM millrace.crash_streak\n    WHERE type = $1::integer\n    RETURNING type\n)\nDELETE FROM millrace.gate\nWHERE name = $1::integer\n  AND (SELECT count(*) FROM ended) >= 0",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  closed_gates: {
    text: "SELECT name, millrace.ms_of(closed_at) AS closed_at, millrace.ms_of(until) AS until, reason, by\nFROM millrace.gate\nWHERE until IS NULL OR until > millrace.clock_at($1::timestamptz)\nORDER BY name",
    parameters: ["now"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone","gives":"name integer, closed_at bigint, until bigint, reason text, by text"},
  },
  closed_targets: {
    text: "SELECT target AS name, NULL::integer AS tenant, gate\nFROM millrace.barrier\nWHERE until IS NULL OR until > millrace.clock_at($1::timestamptz)\nUNION ALL\nSELECT type, tenant, gate\nFROM millrace.tenant_barrier\nWHERE until > millrace.clock_at($1::timestamptz)",
    parameters: ["now"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone","gives":"name integer, tenant integer, gate integer"},
  },
  count_behind_gate: {
    text: "WITH own (name) AS MATERIALIZED (\n    SELECT $1::integer\n    UNION ALL\n    SELECT type FROM millrace.service_use WHERE service = $1::integer\n),\nother (name, gate) AS MATERIALIZED (\n    SELECT target, gate\n    FROM millrace.barrier\n    WHERE gate <> $1::integer\n      AND (until IS NULL OR until > millrace.clock_at($2::timestamptz))\n),\nwaiting (lane, type, tenant) AS (\n    (\n        SELECT lane, type, tenant\n        FROM millrace.blocked\n        WHERE gate = $1::integer\n        LIMIT $3::bigint\n    )\n    UNION ALL\n    (SELECT lane, type, tenant FROM millrace.ready LIMIT $3::bigint)\n    UNION ALL\n    (SELECT lane, type, tenant FROM millrace.blocked WHERE gate < -2 LIMIT $3::bigint)\n    UNION ALL\n    (\n        SELECT lane, type, tenant\n        FROM millrace.blocked\n        WHERE gate = ANY (ARRAY(SELECT DISTINCT gate FROM other))\n        LIMIT $3::bigint\n    )\n),\nbehind (shared) AS (\n    SELECT EXISTS (\n        SELECT 1\n        FROM other\n        WHERE other.name IN (waiting.lane, waiting.type, waiting.tenant, -2)\n    )\n    FROM waiting\n    WHERE EXISTS (\n        SELECT 1 FROM own WHERE own.name IN (waiting.lane, waiting.type, waiting.tenant, -2)\n    )\n      AND ($4::integer IS NULL OR waiting.tenant = $4::integer)\n),\nplace (exact, shared_exact) AS (\n    SELECT NOT EXISTS (\n               SELECT 1\n               FROM millrace.blocked\n               WHERE gate = $1::integer\n               LIMIT 1 OFFSET $3::bigint\n           )\n               AND NOT EXISTS (SELECT 1 FROM millrace.ready LIMIT 1 OFFSET $3::bigint)\n               AND NOT EXISTS (\n                   SELECT 1 FROM millrace.blocked WHERE gate < -2 LIMIT 1 OFFSET $3::bigint\n               ),\n           NOT EXISTS (\n               SELECT 1\n               FROM millrace.blocked\n               WHERE gate = ANY (ARRAY(SELECT DISTINCT gate FROM other))\n               LIMIT 1 OFFSET $3::bigint\n           )\n)\nSELECT count(*) FILTER (WHERE NOT shared) AS jobs,\n       count(*) FILTER (WHERE shared) AS shared,\n       (SELECT exact FROM place) AS exact,\n       (SELECT exact AND shared_exact FROM place) AS shared_exact\nFROM behind",
    parameters: ["name","now","rows","tenant"],
    timeout: "reader",
    routine: {"takes":"integer, timestamp with time zone, bigint, integer","gives":"jobs bigint, shared bigint, exact boolean, shared_exact boolean"},
  },
  count_ahead: {
    text: "WITH own AS MATERIALIZED (\n    SELECT key, lane, priority, rank\n    FROM millrace.ready\n    WHERE key = (SELECT key FROM millrace.job_name WHERE id = $1::uuid)\n),\nclosed (name) AS MATERIALIZED (\n    SELECT target\n    FROM millrace.barrier\n    WHERE until IS NULL OR until > millrace.clock_at($2::timestamptz)\n),\nfront (before, lane, type, tenant, concurrency) AS MATERIALIZED (\n    SELECT true, clean.*\n    FROM own\n    CROSS JOIN LATERAL (\n        SELECT ready.lane, ready.type, ready.tenant, ready.concurrency\n        FROM millrace.ready AS ready\n        WHERE ready.lane = own.lane\n          AND ready.crashes = 0\n          AND (ready.priority, ready.rank, ready.key) < (own.priority, own.rank, own.key)\n        ORDER BY ready.priority, ready.rank, ready.key\n        LIMIT $3::bigint\n    ) AS clean\n    UNION ALL\n    SELECT crashed.*\n    FROM own\n    CROSS JOIN LATERAL (\n        SELECT (ready.priority, ready.rank, ready.key) < (own.priority, own.rank, own.key),\n               ready.lane, ready.type, ready.tenant, ready.concurrency\n        FROM millrace.ready AS ready\n        WHERE ready.lane = own.lane AND ready.crashes > 0\n        ORDER BY ready.crashes, ready.priority, ready.rank, ready.key\n        LIMIT $3::bigint\n    ) AS crashed\n)\nSELECT (\n           SELECT count(*)\n           FROM front\n           WHERE front.before\n             AND ($4::integer IS NULL OR front.tenant = $4::integer)\n             AND NOT EXISTS (\n                 SELECT 1\n                 FROM closed\n                 WHERE closed.name IN (front.lane, front.type, front.tenant, -2)\n             )\n             AND (front.tenant, front.type) NOT IN (\n                 SELECT tenant, type\n                 FROM millrace.tenant_barrier\n                 WHERE until > millrace.clock_at($2::timestamptz)\n             )\n             AND NOT EXISTS (\n                 SELECT 1\n                 FROM millrace.lock AS lock\n                 WHERE lock.tenant = front.tenant AND lock.name = front.concurrency\n             )\n       ) AS jobs,\n       (SELECT count(*) FROM front) < $3::bigint AS exact\nFROM own",
    parameters: ["id","now","rows","tenant"],
    timeout: "reader",
    routine: {"takes":"uuid, timestamp with time zone, bigint, integer","gives":"jobs bigint, exact boolean"},
  },
  barriers_in_use: {
    text: "SELECT EXISTS (SELECT 1 FROM millrace.closed_gate) AS gates,\n       coalesce((SELECT max(gate) FROM millrace.blocked) > 0, false)\n           OR coalesce((SELECT min(gate) FROM millrace.blocked) < -2, false) AS held,\n       EXISTS (SELECT 1 FROM millrace.lock) AS names,\n       EXISTS (SELECT 1 FROM millrace.blocked WHERE gate = -1) AS wanted,\n       EXISTS (\n           SELECT 1 FROM millrace.limit_setting WHERE rate_count IS NOT NULL OR used >= cap\n       ) AS full,\n       coalesce((SELECT min(gate) FROM millrace.blocked) < -2, false) AS queued,\n       EXISTS (SELECT 1 FROM millrace.key_rate WHERE held_until IS NOT NULL) AS spent",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"gates boolean, held boolean, names boolean, wanted boolean, full boolean, queued boolean, spent boolean"},
  },
  hold_jobs: {
    text: "WITH RECURSIVE closed AS MATERIALIZED (\n    SELECT target, NULL::integer AS tenant, gate\n    FROM millrace.barrier\n    WHERE until IS NULL OR until > millrace.clock_at($1::timestamptz)\n    UNION ALL\n    SELECT type, tenant, gate\n    FROM millrace.tenant_barrier\n    WHERE until > millrace.clock_at($1::timestamptz)\n),\nshut AS MATERIALIZED (\n    SELECT ARRAY(SELECT target FROM closed WHERE tenant IS NULL) AS targets,\n           ARRAY(\n               SELECT (tenant::bigint << 32) + target FROM closed WHERE tenant IS NOT NULL\n           ) AS parked\n),\nlane (id) AS (\n    SELECT min(lane)\n    FROM millrace.ready\n    WHERE crashes = 0\n      AND (EXISTS (SELECT 1 FROM closed) OR EXISTS (SELECT 1 FROM millrace.lock))\n    UNION ALL\n    SELECT (\n        SELECT min(ready.lane)\n        FROM millrace.ready AS ready\n        WHERE ready.lane > lane.id AND ready.crashes = 0\n    )\n    FROM lane\n    WHERE lane.id IS NOT NULL\n),\ncrashed_part (lane, crashes) AS (\n    SELECT first.lane, first.crashes\n    FROM (\n        SELECT lane, crashes\n        FROM millrace.ready\n        WHERE crashes > 0\n          AND (EXISTS (SELECT 1 FROM closed) OR EXISTS (SELECT 1 FROM millrace.lock))\n        ORDER BY lane, crashes\n        LIMIT 1\n    ) AS first\n    UNION ALL\n    SELECT next.lane, next.crashes\n    FROM crashed_part AS part\n    CROSS JOIN LATERAL (\n        SELECT ready.lane, ready.crashes\n        FROM millrace.ready AS ready\n        WHERE (ready.lane, ready.crashes) > (part.lane, part.crashes)\n          AND ready.crashes > 0\n        ORDER BY ready.lane, ready.crashes\n        LIMIT 1\n    ) AS next\n),\nfront AS MATERIALIZED (\n    SELECT front.key, front.tenant, front.concurrency,\n           front.lane = ANY (shut.targets)\n               OR front.type = ANY (shut.targets)\n               OR front.tenant = ANY (shut.targets)\n               OR (front.tenant::bigint << 32) + front.type = ANY (shut.parked) AS is_gated\n    FROM shut\n    CROSS JOIN (\n        SELECT front.*\n        FROM lane\n        CROSS JOIN LATERAL (\n            SELECT ready.key, ready.lane, ready.type, ready.tenant, ready.concurrency\n            FROM millrace.ready AS ready\n            WHERE ready.lane = lane.id\n              AND ready.crashes = 0\n            ORDER BY ready.priority, ready.rank, ready.key\n            LIMIT CASE\n                WHEN EXISTS (SELECT 1 FROM closed) THEN $2::integer\n                ELSE $3::integer\n            END\n        ) AS front\n        UNION ALL\n        SELECT front.*\n        FROM crashed_part AS part\n        CROSS JOIN LATERAL (\n            SELECT ready.key, ready.lane, ready.type, ready.tenant, ready.concurrency\n            FROM millrace.ready AS ready\n            WHERE ready.lane = part.lane\n              AND ready.crashes = part.crashes\n              AND ready.crashes > 0\n            ORDER BY ready.priority, ready.rank, ready.key\n            LIMIT CASE\n                WHEN EXISTS (SELECT 1 FROM closed) THEN $2::integer\n                ELSE $3::integer\n            END\n        ) AS front\n    ) AS front\n    WHERE front.concurrency IS NOT NULL\n       OR front.lane = ANY (shut.targets)\n       OR front.type = ANY (shut.targets)\n       OR front.tenant = ANY (shut.targets)\n       OR (front.tenant::bigint << 32) + front.type = ANY (shut.parked)\n),\ntaken_key AS MATERIALIZED (\n    SELECT taken.tenant, taken.name\n    FROM (\n        SELECT DISTINCT keyed.tenant, keyed.concurrency\n        FROM (\n            SELECT front.tenant, front.concurrency\n            FROM front\n            WHERE front.concurrency IS NOT NULL\n            LIMIT $3::integer\n        ) AS keyed\n    ) AS wanted\n    CROSS JOIN LATERAL (\n        SELECT lock.tenant, lock.name\n        FROM millrace.lock AS lock\n        WHERE lock.tenant = wanted.tenant AND lock.name = wanted.concurrency\n        FOR KEY SHARE SKIP LOCKED\n    ) AS taken\n),\nbehind AS MATERIALIZED (\n    SELECT front.key\n    FROM front\n    WHERE front.is_gated\n       OR (front.tenant, front.concurrency) IN (\n           SELECT taken_key.tenant, taken_key.name FROM taken_key\n       )\n    LIMIT $4::integer\n),\nlocked AS MATERIALIZED (\n    SELECT ready.key\n    FROM millrace.ready AS ready\n    WHERE ready.key = ANY (ARRAY(SELECT key FROM behind))\n    ORDER BY ready.key\n    FOR UPDATE SKIP LOCKED\n),\ntaken AS (\n    DELETE FROM millrace.ready AS ready\n    WHERE ready.key = ANY (ARRAY(SELECT key FROM locked))\n    RETURNING ready.*\n)\nINSERT INTO millrace.blocked (\n    key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency\n)\nSELECT taken.key, coalesce(taken.due * 1000, taken.rank),\n       coalesce((\n           SELECT min(closed.gate)\n           FROM closed\n           WHERE closed.target IN (taken.lane, taken.type, taken.tenant)\n             AND (closed.tenant IS NULL OR closed.tenant = taken.tenant)\n       ), -1),\n       taken.lane, taken.priority, taken.type, taken.tenant, taken.n, taken.tries, taken.crashes,\n       taken.concurrency\nFROM taken\nON CONFLICT DO NOTHING",
    parameters: ["now","depth","key_depth","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer, integer, integer","gives":null},
  },
  release_jobs: {
    text: "WITH RECURSIVE gate (id) AS (\n    SELECT min(gate)\n    FROM millrace.blocked\n    UNION ALL\n    SELECT (SELECT min(blocked.gate) FROM millrace.blocked AS blocked WHERE blocked.gate > gate.id)\n    FROM gate\n    WHERE gate.id IS NOT NULL\n),\nopen AS MATERIALIZED (\n    SELECT gate.id\n    FROM gate\n    WHERE gate.id NOT IN (-1, 0)\n      AND NOT EXISTS (\n          SELECT 1\n          FROM millrace.closed_gate AS closed\n          WHERE closed.gate = gate.id\n            AND (closed.until IS NULL OR closed.until > millrace.clock_at($1::timestamptz))\n      )\n      AND NOT EXISTS (\n          SELECT 1 FROM millrace.limit_target AS limited WHERE limited.target = -3 - gate.id\n      )\n),\nfree AS MATERIALIZED (\n    SELECT front.key\n    FROM open\n    CROSS JOIN LATERAL (\n        SELECT blocked.key\n        FROM millrace.blocked AS blocked\n        WHERE blocked.gate = open.id\n        ORDER BY blocked.priority, blocked.rank, blocked.key\n        LIMIT $2::integer\n        FOR UPDATE SKIP LOCKED\n    ) AS front\n    LIMIT $2::integer\n),\nmisplaced_type AS MATERIALIZED (\n    SELECT misplaced.gate, misplaced.type FROM millrace.misplaced AS misplaced\n),\nmisplaced AS MATERIALIZED (\n    SELECT front.key\n    FROM misplaced_type AS misplaced\n    CROSS JOIN LATERAL (\n        SELECT blocked.key\n        FROM millrace.blocked AS blocked\n        WHERE blocked.gate = misplaced.gate\n          AND blocked.gate > 0\n          AND blocked.type = misplaced.type\n        LIMIT $2::integer\n        FOR UPDATE SKIP LOCKED\n    ) AS front\n    LIMIT $2::integer\n),\ntaken AS (\n    DELETE FROM millrace.blocked AS blocked\n    WHERE blocked.key = ANY (ARRAY(\n        SELECT key FROM (SELECT key FROM free UNION SELECT key FROM misplaced) AS found\n        LIMIT $2::integer\n    ))\n    RETURNING blocked.*\n),\ndeleted_gates AS (\n    DELETE FROM millrace.gate\n    WHERE until <= millrace.clock_at($1::timestamptz)\n),\ndeleted_parks AS (\n    DELETE FROM millrace.service_park\n    WHERE until <= millrace.clock_at($1::timestamptz)\n)\nINSERT INTO millrace.ready (\n    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n)\nSELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\nFROM taken\nON CONFLICT DO NOTHING",
    parameters: ["now","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer","gives":null},
  },
  job_by_id: {
    text: "SELECT * FROM millrace.find_job($1::uuid)",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"key bigint, id uuid, state integer, type integer, tenant integer, lane integer, category integer, priority integer, payload json, payload_version text, correlation text, parent uuid, retry_of uuid, concurrency text, idempotency text, dedup text, webhook text, flags smallint, tags json, created_by text, max_attempts integer, timeout_ms bigint, tries integer, crashes integer, outcome smallint, result json, error json, cancel_reason text, gate integer, cancel_requested boolean, created_at bigint, run_at bigint, next_run_at bigint, finished_at bigint, last_started_at bigint, phase text, overall double precision, is_stale boolean, started_at bigint"},
  },
  tenants_of_ids: {
    text: "SELECT asked.id AS asked, coalesce(job.tenant, letter.tenant) AS tenant\nFROM unnest($1::uuid[]) AS asked (id)\nLEFT JOIN LATERAL (SELECT key FROM millrace.job_name WHERE id = asked.id) AS named ON true\nLEFT JOIN millrace.job AS job ON job.key = named.key\nLEFT JOIN millrace.dead_letter AS letter ON letter.id = asked.id\nWHERE job.key IS NOT NULL OR letter.id IS NOT NULL",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"asked uuid, tenant integer"},
  },
  ids_between: {
    text: "(\n    SELECT id\n    FROM millrace.job\n    WHERE id BETWEEN $1::uuid AND $2::uuid\n    ORDER BY id\n    LIMIT $3::integer\n)\nUNION\n(\n    SELECT id\n    FROM millrace.alias\n    WHERE id BETWEEN $1::uuid AND $2::uuid AND job IS NOT NULL\n    ORDER BY id\n    LIMIT $3::integer\n)\nUNION\n(\n    SELECT id\n    FROM millrace.dead_letter\n    WHERE id BETWEEN $1::uuid AND $2::uuid\n    ORDER BY id\n    LIMIT $3::integer\n)\nORDER BY id\nLIMIT $3::integer",
    parameters: ["first","last","limit"],
    timeout: "reader",
    routine: {"takes":"uuid, uuid, integer","gives":"id uuid"},
  },
  ends_of_jobs: {
    text: "SELECT * FROM millrace.find_ends($1::uuid[])",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"asked uuid, id uuid, type integer, state smallint, result json, error json, reason text"},
  },
  match_jobs: {
    text: "WITH passed AS MATERIALIZED (\n    SELECT job.key\n    FROM unnest($1::bigint[]) AS candidate (key)\n    JOIN millrace.job_now AS job ON job.key = candidate.key\n    WHERE ($2::integer[] IS NULL OR job.state = ANY ($2::integer[]))\n      AND ($3::integer IS NULL OR job.type = $3::integer)\n      AND ($4::integer IS NULL OR job.tenant = $4::integer)\n      AND ($5::integer IS NULL OR job.category = $5::integer)\n      AND ($6::integer IS NULL OR job.lane = $6::integer)\n      AND ($7::text IS NULL OR millrace.error_has(job.last_error, $7::text))\n      AND (\n          $8::text IS NULL\n          OR strpos(job.payload::text COLLATE \"C\", $8::text) > 0\n      )\n      AND ($9::json IS NULL OR millrace.payload_has(job.payload, $9::json))\n      AND (\n          $10::text IS NULL\n          OR job.correlation IN ($10::text, $11::text)\n          OR (job.correlation IS NULL AND job.id = $12::uuid)\n      )\n      AND ($13::uuid IS NULL OR job.parent = $13::uuid)\n      AND (\n          $14::bigint IS NULL\n          OR job.created_at >= millrace.at_ms($14::bigint)\n      )\n      AND (\n          $15::bigint IS NULL\n          OR job.created_at < millrace.at_ms($15::bigint)\n      )\n      AND NOT EXISTS (\n          SELECT 1\n          FROM json_each_text($16::json) AS wanted\n          WHERE NOT EXISTS (\n              SELECT 1\n              FROM millrace.tag AS tag\n              WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = job.key\n          )\n      )\n),\nnewest AS MATERIALIZED (\n    SELECT key FROM passed ORDER BY key DESC LIMIT $17::integer\n),\nrun AS MATERIALIZED (\n    SELECT DISTINCT ON (run.key) run.key,\n           coalesce(lease.started_at, (\n               SELECT start.at\n               FROM millrace.run_start AS start\n               WHERE start.lease = lease.number AND start.key = run.key\n           )) AS start\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys) AS run (key)\n    WHERE lease.low <= (SELECT max(key) FROM newest)\n      AND lease.high >= (SELECT min(key) FROM newest)\n      AND run.key IN (SELECT key FROM newest)\n    ORDER BY run.key, lease.number DESC\n)\nSELECT job.*, told.phase, told.overall, stale.key IS NOT NULL AS is_stale,\n       CASE\n           WHEN job.state = 3 THEN millrace.ms_of(run.start)\n           ELSE job.last_started_at\n       END AS started_at\nFROM newest\nJOIN millrace.job_record AS job ON job.key = newest.key\nLEFT JOIN run ON run.key = job.key\nLEFT JOIN millrace.run AS told ON told.key = job.key\nLEFT JOIN millrace.stale AS stale ON stale.key = job.key\nORDER BY job.key DESC",
    parameters: ["keys","states","type","tenant","category","lane","error","payload_text","payload","correlation","correlation_uuid","correlation_id","parent","created_from","created_before","tags","limit"],
    timeout: "reader",
    routine: {"takes":"bigint[], integer[], integer, integer, integer, integer, text, text, json, text, text, uuid, uuid, bigint, bigint, json, integer","gives":"key bigint, id uuid, state integer, type integer, tenant integer, lane integer, category integer, priority integer, payload json, payload_version text, correlation text, parent uuid, retry_of uuid, concurrency text, idempotency text, dedup text, webhook text, flags smallint, tags json, created_by text, max_attempts integer, timeout_ms bigint, tries integer, crashes integer, outcome smallint, result json, error json, cancel_reason text, gate integer, cancel_requested boolean, created_at bigint, run_at bigint, next_run_at bigint, finished_at bigint, last_started_at bigint, phase text, overall double precision, is_stale boolean, started_at bigint"},
  },
  count_matching: {
    text: "SELECT count(*) AS count\nFROM unnest($1::bigint[]) AS candidate (key)\nJOIN millrace.job_now AS job ON job.key = candidate.key\nWHERE ($2::integer[] IS NULL OR job.state = ANY ($2::integer[]))\n  AND ($3::integer IS NULL OR job.type = $3::integer)\n  AND ($4::integer IS NULL OR job.tenant = $4::integer)\n  AND ($5::integer IS NULL OR job.category = $5::integer)\n  AND ($6::integer IS NULL OR job.lane = $6::integer)\n  AND ($7::text IS NULL OR millrace.error_has(job.last_error, $7::text))\n  AND (\n      $8::text IS NULL\n      OR strpos(job.payload::text COLLATE \"C\", $8::text) > 0\n  )\n  AND ($9::json IS NULL OR millrace.payload_has(job.payload, $9::json))\n  AND (\n      $10::text IS NULL\n      OR job.correlation IN ($10::text, $11::text)\n      OR (job.correlation IS NULL AND job.id = $12::uuid)\n  )\n  AND ($13::uuid IS NULL OR job.parent = $13::uuid)\n  AND (\n      $14::bigint IS NULL\n      OR job.created_at >= millrace.at_ms($14::bigint)\n  )\n  AND (\n      $15::bigint IS NULL\n      OR job.created_at < millrace.at_ms($15::bigint)\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM json_each_text($16::json) AS wanted\n      WHERE NOT EXISTS (\n          SELECT 1\n          FROM millrace.tag AS tag\n          WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = job.key\n      )\n  )",
    parameters: ["keys","states","type","tenant","category","lane","error","payload_text","payload","correlation","correlation_uuid","correlation_id","parent","created_from","created_before","tags"],
    timeout: "reader",
    routine: {"takes":"bigint[], integer[], integer, integer, integer, integer, text, text, json, text, text, uuid, uuid, bigint, bigint, json","gives":"count bigint"},
  },
  count_places: {
    text: "SELECT (SELECT count(*) FROM (SELECT 1 FROM millrace.scheduled LIMIT $1::bigint) AS few)\n           AS scheduled,\n       (\n           SELECT count(*)\n           FROM (SELECT n FROM millrace.scheduled LIMIT $1::bigint) AS few\n           WHERE n > 1\n       ) AS retrying,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.ready LIMIT $1::bigint) AS few) AS ready,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace.blocked LIMIT $1::bigint) AS few)\n           AS blocked,\n       (\n           SELECT count(*)\n           FROM (\n               SELECT 1\n               FROM millrace.lease AS lease\n               CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\n               WHERE NOT EXISTS (\n                   SELECT 1\n                   FROM millrace.attempt AS ended\n                   WHERE ended.key = run.key AND ended.n = run.n\n               )\n               LIMIT $1::bigint\n           ) AS few\n       ) AS running",
    parameters: ["max"],
    timeout: "reader",
    routine: {"takes":"bigint","gives":"scheduled bigint, retrying bigint, ready bigint, blocked bigint, running bigint"},
  },
  count_ended: {
    text: "SELECT count(*) AS count\nFROM (\n    SELECT 1 FROM millrace.attempt WHERE state = $1::smallint LIMIT $2::bigint\n) AS few",
    parameters: ["state","max"],
    timeout: "reader",
    routine: {"takes":"smallint, bigint","gives":"count bigint"},
  },
  count_groups: {
    text: "WITH counted (place, type, lane, tenant, rank, key) AS (\n    (\n        SELECT CASE WHEN n > 1 THEN 6 ELSE 1 END, type, lane, tenant, NULL::bigint, key\n        FROM millrace.scheduled\n        LIMIT $1::bigint\n    )\n    UNION ALL\n    (\n        SELECT 2, type, lane, tenant, coalesce(due * 1000, rank), key\n        FROM millrace.ready\n        LIMIT $1::bigint\n    )\n    UNION ALL\n    (SELECT 3, type, lane, tenant, NULL, key FROM millrace.blocked LIMIT $1::bigint)\n    UNION ALL\n    SELECT 4, job.type, job.lane, job.tenant, NULL, job.key\n    FROM (\n        SELECT run.key\n        FROM millrace.lease AS lease\n        CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\n        WHERE NOT EXISTS (\n            SELECT 1\n            FROM millrace.attempt AS ended\n            WHERE ended.key = run.key AND ended.n = run.n\n        )\n        LIMIT $1::bigint\n    ) AS run\n    JOIN millrace.job AS job ON job.key = run.key\n    UNION ALL\n    SELECT 5, job.type, job.lane, job.tenant, NULL, job.key\n    FROM (\n        SELECT key\n        FROM millrace.attempt\n        WHERE state = 6 AND state > 4\n        ORDER BY key DESC\n        LIMIT $1::bigint\n    ) AS failed\n    JOIN millrace.job AS job ON job.key = failed.key\n)\nSELECT type, lane, tenant, category,\n       count(*) FILTER (WHERE place IN (1, 6)) AS scheduled,\n       count(*) FILTER (WHERE place = 6) AS retrying,\n       count(*) FILTER (WHERE place = 2) AS queued,\n       count(*) FILTER (WHERE place = 3) AS held,\n       count(*) FILTER (WHERE place = 4) AS running,\n       count(*) FILTER (WHERE place = 5) AS failed,\n       CASE WHEN min(rank) IS NOT NULL THEN greatest(\n           0,\n           millrace.ms_of(millrace.clock_at($2::timestamptz)) - min(rank) / 1000\n       ) END AS oldest_ms\nFROM counted\nCROSS JOIN LATERAL (\n    SELECT CASE WHEN $3::boolean THEN (\n        SELECT job.category FROM millrace.job AS job WHERE job.key = counted.key\n    ) END AS category\n) AS of_job\nWHERE $4::integer IS NULL OR tenant = $4::integer\nGROUP BY type, lane, tenant, category\nORDER BY count(*) DESC, type, lane, tenant, category\nLIMIT $5::integer",
    parameters: ["rows","now","categories","tenant","groups"],
    timeout: "reader",
    routine: {"takes":"bigint, timestamp with time zone, boolean, integer, integer","gives":"type integer, lane integer, tenant integer, category integer, scheduled bigint, retrying bigint, queued bigint, held bigint, running bigint, failed bigint, oldest_ms bigint"},
  },
  claims_under_way: {
    text: "SELECT DISTINCT held.virtualtransaction AS name\nFROM pg_locks AS held\nWHERE held.locktype = 'relation'\n  AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())\n  AND held.relation = 'millrace.gate'::regclass\n  AND held.pid <> pg_backend_pid()\n  AND ($1::text[] IS NULL OR held.virtualtransaction = ANY ($1::text[]))",
    parameters: ["claims"],
    timeout: "answer",
    routine: {"takes":"text[]","gives":"name text"},
  },
  count_running: {
    text: "WITH own (name) AS MATERIALIZED (\n    VALUES ($1::integer)\n    UNION ALL\n    SELECT type FROM millrace.service_use WHERE service = $1::integer\n)\nSELECT count(*) AS count\nFROM (\n    SELECT 1\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\n    JOIN millrace.job AS job ON job.key = run.key\n    WHERE ($2::uuid IS NULL OR lease.worker = $2::uuid)\n      AND EXISTS (\n          SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2)\n      )\n      AND NOT EXISTS (\n          SELECT 1\n          FROM millrace.attempt AS ended\n          WHERE ended.key = run.key AND ended.n = run.n\n      )\n    LIMIT $3::bigint\n) AS held",
    parameters: ["gate","worker","rows"],
    timeout: "reader",
    routine: {"takes":"integer, uuid, bigint","gives":"count bigint"},
  },
  ids_of_running: {
    text: "WITH own (name) AS MATERIALIZED (\n    VALUES ($1::integer)\n    UNION ALL\n    SELECT type FROM millrace.service_use WHERE service = $1::integer\n)\nSELECT job.id\nFROM millrace.lease AS lease\nCROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\nJOIN millrace.job AS job ON job.key = run.key\nWHERE ($2::uuid IS NULL OR lease.worker = $2::uuid)\n  AND EXISTS (SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2))\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.attempt AS ended\n      WHERE ended.key = run.key AND ended.n = run.n\n  )\nLIMIT $3::bigint",
    parameters: ["gate","worker","limit"],
    timeout: "reader",
    routine: {"takes":"integer, uuid, bigint","gives":"id uuid"},
  },
  count_due: {
    text: "WITH closed (name) AS MATERIALIZED (\n    SELECT target\n    FROM millrace.barrier\n    WHERE until IS NULL OR until > millrace.clock_at($1::timestamptz)\n),\nparked (tenant, type) AS MATERIALIZED (\n    SELECT tenant, type\n    FROM millrace.tenant_barrier\n    WHERE until > millrace.clock_at($1::timestamptz)\n),\ndue (jobs, rank, behind) AS (\n    SELECT alike.jobs, alike.rank, EXISTS (\n        SELECT 1 FROM closed WHERE closed.name IN (alike.lane, alike.type, alike.tenant, -2)\n    ) OR EXISTS (\n        SELECT 1 FROM parked WHERE parked.type = alike.type AND parked.tenant = alike.tenant\n    )\n    FROM (\n        SELECT lane, type, tenant, count(*) AS jobs, min(coalesce(due * 1000, rank)) AS rank\n        FROM (\n            SELECT lane, type, tenant, rank, due FROM millrace.ready LIMIT $2::bigint\n        ) AS ready\n        GROUP BY lane, type, tenant\n    ) AS alike\n)\nSELECT coalesce(sum(jobs) FILTER (WHERE NOT behind), 0)::bigint AS queued,\n       coalesce(sum(jobs) FILTER (WHERE behind), 0)::bigint AS behind,\n       CASE WHEN bool_or(NOT behind) THEN greatest(\n           0,\n           millrace.ms_of(millrace.clock_at($1::timestamptz))\n               - min(rank) FILTER (WHERE NOT behind) / 1000\n       ) END AS ms,\n       NOT EXISTS (SELECT 1 FROM millrace.ready LIMIT 1 OFFSET $2::bigint) AS exact\nFROM due",
    parameters: ["now","rows"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint","gives":"queued bigint, behind bigint, ms bigint, exact boolean"},
  },
  longest_due: {
    text: "WITH RECURSIVE fresh (lane, priority, rank) AS (\n    (\n        SELECT lane, priority, rank\n        FROM millrace.ready\n        WHERE crashes = 0\n        ORDER BY lane, priority, rank, key\n        LIMIT 1\n    )\n    UNION ALL\n    SELECT next.lane, next.priority, next.rank\n    FROM fresh\n    CROSS JOIN LATERAL (\n        SELECT ready.lane, ready.priority, ready.rank\n        FROM millrace.ready AS ready\n        WHERE ready.crashes = 0\n          AND (ready.lane, ready.priority) > (fresh.lane, fresh.priority)\n        ORDER BY ready.lane, ready.priority, ready.rank, ready.key\n        LIMIT 1\n    ) AS next\n),\ncrashed (lane, crashes, priority, rank) AS (\n    (\n        SELECT lane, crashes, priority, rank\n        FROM millrace.ready\n        WHERE crashes > 0\n        ORDER BY lane, crashes, priority, rank, key\n        LIMIT 1\n    )\n    UNION ALL\n    SELECT next.lane, next.crashes, next.priority, next.rank\n    FROM crashed\n    CROSS JOIN LATERAL (\n        SELECT ready.lane, ready.crashes, ready.priority, ready.rank\n        FROM millrace.ready AS ready\n        WHERE ready.crashes > 0\n          AND (ready.lane, ready.crashes, ready.priority)\n              > (crashed.lane, crashed.crashes, crashed.priority)\n        ORDER BY ready.lane, ready.crashes, ready.priority, ready.rank, ready.key\n        LIMIT 1\n    ) AS next\n)\nSELECT greatest(0, millrace.ms_of(millrace.clock_at($1::timestamptz)) - min(rank) / 1000) AS ms,\n       count(*) AS hops\nFROM (\n    (\n        SELECT CASE WHEN fresh.rank >= 0 THEN fresh.rank ELSE least(\n                   (\n                       SELECT min(turn.due) * 1000\n                       FROM millrace.ready AS turn\n                       WHERE turn.lane = fresh.lane\n                         AND turn.priority = fresh.priority\n                         AND turn.due IS NOT NULL\n                   ),\n                   (\n                       SELECT min(ready.rank)\n                       FROM millrace.ready AS ready\n                       WHERE ready.lane = fresh.lane\n                         AND ready.crashes = 0\n                         AND ready.priority = fresh.priority\n                         AND ready.rank >= 0\n                   )\n               ) END AS rank\n        FROM (SELECT * FROM fresh LIMIT $2::integer) AS fresh\n    )\n    UNION ALL\n    (SELECT rank FROM crashed LIMIT $2::integer)\n) AS first\nHAVING count(*) > 0",
    parameters: ["now","hops"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, integer","gives":"ms bigint, hops bigint"},
  },
  key_at: {
    text: "WITH RECURSIVE search (low, high) AS (\n    SELECT coalesce(min(key), 0), coalesce(max(key), 0) + 1\n    FROM millrace.job\n    UNION ALL\n    SELECT CASE WHEN middle.is_older THEN middle.key + 1 ELSE low END,\n           CASE WHEN middle.is_older THEN high ELSE (low + high) / 2 END\n    FROM search\n    CROSS JOIN LATERAL (\n        SELECT job.key, job.created_at < millrace.at_ms($1::bigint) AS is_older\n        FROM millrace.job AS job\n        WHERE job.key >= (search.low + search.high) / 2\n        ORDER BY job.key\n        LIMIT 1\n    ) AS middle\n    WHERE low < high\n)\nSELECT low AS key FROM search WHERE low = high",
    parameters: ["at"],
    timeout: "reader",
    routine: {"takes":"bigint","gives":"key bigint"},
  },
  keys_of_all: {
    text: "SELECT key\nFROM millrace.job\nWHERE key < $1::bigint\nORDER BY key DESC\nLIMIT $2::integer",
    parameters: ["before","limit"],
    timeout: "reader",
    routine: {"takes":"bigint, integer","gives":"key bigint"},
  },
  keys_of_type: {
    text: "SELECT key\nFROM millrace.job\nWHERE type = $1::integer\n  AND key < $2::bigint\nORDER BY key DESC\nLIMIT $3::integer",
    parameters: ["type","before","limit"],
    timeout: "reader",
    routine: {"takes":"integer, bigint, integer","gives":"key bigint"},
  },
  keys_of_tenant: {
    text: "SELECT key\nFROM millrace.job\nWHERE tenant = $1::integer\n  AND tenant <> 1\n  AND key < $2::bigint\nORDER BY key DESC\nLIMIT $3::integer",
    parameters: ["tenant","before","limit"],
    timeout: "reader",
    routine: {"takes":"integer, bigint, integer","gives":"key bigint"},
  },
  keys_of_category: {
    text: "SELECT key\nFROM millrace.job\nWHERE category = $1::integer\n  AND key < $2::bigint\nORDER BY key DESC\nLIMIT $3::integer",
    parameters: ["category","before","limit"],
    timeout: "reader",
    routine: {"takes":"integer, bigint, integer","gives":"key bigint"},
  },
  keys_of_correlation: {
    text: "SELECT key\nFROM millrace.job\nWHERE correlation IN ($1::text, $2::text)\n  AND key < $3::bigint\nUNION ALL\nSELECT key\nFROM millrace.job\nWHERE id = $4::uuid\n  AND correlation IS NULL\n  AND key < $3::bigint\nORDER BY key DESC\nLIMIT $5::integer",
    parameters: ["correlation","correlation_uuid","before","correlation_id","limit"],
    timeout: "reader",
    routine: {"takes":"text, text, bigint, uuid, integer","gives":"key bigint"},
  },
  keys_of_parent: {
    text: "SELECT key\nFROM millrace.job\nWHERE parent = $1::uuid\n  AND key < $2::bigint\nORDER BY key DESC\nLIMIT $3::integer",
    parameters: ["parent","before","limit"],
    timeout: "reader",
    routine: {"takes":"uuid, bigint, integer","gives":"key bigint"},
  },
  keys_of_tag: {
    text: "SELECT key\nFROM millrace.tag\nWHERE name = $1::text\n  AND value = $2::text\n  AND key < $3::bigint\nORDER BY key DESC\nLIMIT $4::integer",
    parameters: ["name","value","before","limit"],
    timeout: "reader",
    routine: {"takes":"text, text, bigint, integer","gives":"key bigint"},
  },
  keys_of_long_runs: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond'\n               AS at\n)\nSELECT DISTINCT run.key\nFROM moment\nJOIN millrace.lease AS lease ON lease.claimed_at <= moment.at\nCROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\nWHERE run.key < $3::bigint\n  AND coalesce(lease.started_at, (\n      SELECT start.at\n      FROM millrace.run_start AS start\n      WHERE start.lease = lease.number AND start.key = run.key\n  )) <= moment.at\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.attempt AS ended\n      WHERE ended.key = run.key AND ended.n = run.n\n  )\nORDER BY run.key DESC\nLIMIT $4::integer",
    parameters: ["now","running_ms","before","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, bigint, integer","gives":"key bigint"},
  },
  keys_of_states: {
    text: "SELECT DISTINCT key\nFROM (\n    (\n        SELECT key\n        FROM millrace.scheduled\n        WHERE 1 = ANY ($1::integer[]) AND key < $2::bigint\n        ORDER BY key DESC\n        LIMIT $3::integer\n    )\n    UNION ALL\n    (\n        SELECT key\n        FROM millrace.ready\n        WHERE 2 = ANY ($1::integer[]) AND key < $2::bigint\n        ORDER BY key DESC\n        LIMIT $3::integer\n    )\n    UNION ALL\n    (\n        SELECT key\n        FROM millrace.blocked\n        WHERE 2 = ANY ($1::integer[]) AND key < $2::bigint\n        ORDER BY key DESC\n        LIMIT $3::integer\n    )\n    UNION ALL\n    (\n        SELECT DISTINCT claimed.key\n        FROM millrace.lease AS lease\n        CROSS JOIN LATERAL unnest(lease.keys) AS claimed (key)\n        WHERE 3 = ANY ($1::integer[]) AND claimed.key < $2::bigint\n        ORDER BY claimed.key DESC\n        LIMIT $3::integer\n    )\n    UNION ALL\n    (\n        SELECT DISTINCT key\n        FROM millrace.attempt\n        WHERE 4 = ANY ($1::integer[]) AND key < $2::bigint\n        ORDER BY key DESC\n        LIMIT $3::integer\n    )\n    UNION ALL\n    SELECT ended.key\n    FROM unnest($1::integer[]) AS wanted (state)\n    CROSS JOIN LATERAL (\n        SELECT DISTINCT attempt.key\n        FROM millrace.attempt AS attempt\n        WHERE attempt.state = wanted.state\n          AND attempt.state > 4\n          AND attempt.key < $2::bigint\n        ORDER BY attempt.key DESC\n        LIMIT $3::integer\n    ) AS ended\n) AS candidate\nORDER BY key DESC\nLIMIT $3::integer",
    parameters: ["states","before","limit"],
    timeout: "reader",
    routine: {"takes":"integer[], bigint, integer","gives":"key bigint"},
  },
  attempts_of_job: {
    text: "SELECT attempt.n, attempt.tries, attempt.crashes, attempt.fence, attempt.worker,\n       attempt.outcome, attempt.error_class, attempt.error, attempt.reason,\n       millrace.ms_of(attempt.claimed_at) AS claimed_at,\n       millrace.ms_of(attempt.started_at) AS started_at,\n       millrace.ms_of(attempt.finished_at) AS finished_at,\n       millrace.ms_of(attempt.next_run_at) AS next_run_at\nFROM millrace.attempt AS attempt\nWHERE attempt.key = (SELECT key FROM millrace.job_name WHERE id = $1::uuid)\nORDER BY attempt.n",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"n integer, tries integer, crashes integer, fence bigint, worker uuid, outcome smallint, error_class smallint, error json, reason text, claimed_at bigint, started_at bigint, finished_at bigint, next_run_at bigint"},
  },
  attempts_of_jobs: {
    text: "SELECT attempt.key, attempt.n, attempt.tries, attempt.crashes, attempt.fence, attempt.worker,\n       attempt.outcome, attempt.error_class, attempt.error, attempt.reason,\n       millrace.ms_of(attempt.claimed_at) AS claimed_at,\n       millrace.ms_of(attempt.started_at) AS started_at,\n       millrace.ms_of(attempt.finished_at) AS finished_at,\n       millrace.ms_of(attempt.next_run_at) AS next_run_at\nFROM millrace.attempt AS attempt\nWHERE attempt.key = ANY ($1::bigint[])\nORDER BY attempt.key, attempt.n",
    parameters: ["keys"],
    timeout: "reader",
    routine: {"takes":"bigint[]","gives":"key bigint, n integer, tries integer, crashes integer, fence bigint, worker uuid, outcome smallint, error_class smallint, error json, reason text, claimed_at bigint, started_at bigint, finished_at bigint, next_run_at bigint"},
  },
  ids_of_keys: {
    text: "SELECT job.key, job.id\nFROM unnest($1::bigint[]) AS named (key)\nJOIN millrace.job AS job ON job.key = named.key",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint, id uuid"},
  },
  facts_of_keys: {
    text: "SELECT job.key, job.id, job.type, job.tenant, job.correlation, job.state, job.tries,\n       job.next_run_at, job.finished_at, job.error, run.phase, run.overall\nFROM unnest($1::bigint[]) AS named (key)\nJOIN millrace.job_record AS job ON job.key = named.key\nLEFT JOIN millrace.run AS run ON run.key = named.key",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint, id uuid, type integer, tenant integer, correlation text, state integer, tries integer, next_run_at bigint, finished_at bigint, error json, phase text, overall double precision"},
  },
  close_intake: {
    text: "INSERT INTO millrace.intake AS known (name, closed_at, reason, by)\nSELECT $1::integer, millrace.clock_at($2::timestamptz), $3::text, $4::text\nON CONFLICT (name) DO UPDATE\nSET reason = excluded.reason, by = excluded.by",
    parameters: ["name","now","reason","by"],
    timeout: "answer",
    routine: {"takes":"integer, timestamp with time zone, text, text","gives":null},
  },
  open_intake: {
    text: "DELETE FROM millrace.intake\nWHERE name = $1::integer",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  closed_intakes: {
    text: "SELECT name, millrace.ms_of(closed_at) AS closed_at, reason, by\nFROM millrace.intake\nORDER BY name",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"name integer, closed_at bigint, reason text, by text"},
  },
  find_intakes: {
    text: "SELECT name, millrace.ms_of(closed_at) AS closed_at, reason, by\nFROM millrace.intake\nWHERE name = ANY ($1::integer[])",
    parameters: ["names"],
    timeout: "answer",
    routine: {"takes":"integer[]","gives":"name integer, closed_at bigint, reason text, by text"},
  },
  two_leases: {
    text: "SELECT run.key, job.id\nFROM millrace.lease AS lease\nCROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\nLEFT JOIN millrace.job AS job ON job.key = run.key\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n)\nGROUP BY run.key, job.id\nHAVING count(*) > 1\nORDER BY run.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  leases_against_ledger: {
    text: "SELECT DISTINCT run.key, job.id\nFROM millrace.lease AS lease\nCROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\nLEFT JOIN millrace.job AS job ON job.key = run.key\nLEFT JOIN LATERAL (\n    SELECT attempt.n, attempt.state\n    FROM millrace.attempt AS attempt\n    WHERE attempt.key = run.key\n    ORDER BY attempt.n DESC\n    LIMIT 1\n) AS last ON true\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n)\n  AND (\n      job.key IS NULL\n      OR run.n IS NULL\n      OR last.state IS NOT NULL\n      OR run.n <> coalesce(last.n, 0) + 1\n  )\nORDER BY run.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  places_against_job: {
    text: "WITH waiting (key, lane, type, tenant, concurrency, tries, crashes) AS (\n    (\n        SELECT key, lane, type, tenant, concurrency, tries, crashes\n        FROM millrace.scheduled\n        ORDER BY key\n        LIMIT $1::bigint\n    )\n    UNION ALL\n    (\n        SELECT key, lane, type, tenant, concurrency, tries, crashes\n        FROM millrace.ready\n        ORDER BY key\n        LIMIT $1::bigint\n    )\n    UNION ALL\n    (\n        SELECT key, lane, type, tenant, concurrency, tries, crashes\n        FROM millrace.blocked\n        ORDER BY key\n        LIMIT $1::bigint\n    )\n)\nSELECT DISTINCT job.key, job.id\nFROM waiting\nJOIN millrace.job AS job ON job.key = waiting.key\nLEFT JOIN LATERAL (\n    SELECT attempt.state, attempt.tries, attempt.crashes\n    FROM millrace.attempt AS attempt\n    WHERE attempt.key = waiting.key\n    ORDER BY attempt.n DESC\n    LIMIT 1\n) AS last ON true\nWHERE last.state IS NULL\n  AND (\n      waiting.lane <> job.lane\n      OR waiting.type <> job.type\n      OR waiting.tenant <> job.tenant\n      OR waiting.concurrency IS DISTINCT FROM job.concurrency\n      OR waiting.tries <> coalesce(last.tries, 0)\n      OR waiting.crashes <> coalesce(last.crashes, 0)\n      OR waiting.tries >= job.max_attempts\n  )\nORDER BY job.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  overdue_promotions: {
    text: "SELECT place.key, job.id\nFROM millrace.scheduled AS place\nLEFT JOIN millrace.job AS job ON job.key = place.key\nWHERE place.run_at < millrace.clock_at($1::timestamptz) - interval '5 minutes'\n  AND EXISTS (\n      SELECT 1\n      FROM millrace.worker AS worker\n      WHERE worker.until > millrace.clock_at($1::timestamptz)\n        AND worker.joined_at < millrace.clock_at($1::timestamptz) - interval '5 minutes'\n  )\nORDER BY place.run_at, place.key\nLIMIT $2::integer",
    parameters: ["now","limit"],
    timeout: "doctor",
    routine: {"takes":"timestamp with time zone, integer","gives":"key bigint, id uuid"},
  },
  stale_dedup: {
    text: "SELECT held.job AS key, job.id\nFROM (\n    SELECT tenant, type, key, job FROM millrace.dedup ORDER BY job LIMIT $1::bigint\n) AS held\nLEFT JOIN millrace.job AS job ON job.key = held.job\nWHERE job.key IS NULL\n   OR EXISTS (\n      SELECT 1 FROM millrace.attempt AS done WHERE done.key = held.job AND done.state IS NOT NULL\n   )\n   OR CASE\n      WHEN held.tenant = 0 THEN job.retry_of::text = held.key\n      ELSE job.tenant = held.tenant AND job.type = held.type AND job.dedup = held.key\n   END IS NOT TRUE\nORDER BY held.job\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  unheld_dedup: {
    text: "WITH live (key) AS (\n    (SELECT key FROM millrace.scheduled ORDER BY key LIMIT $1::bigint)\n    UNION\n    (SELECT key FROM millrace.ready ORDER BY key LIMIT $1::bigint)\n    UNION\n    (SELECT key FROM millrace.blocked ORDER BY key LIMIT $1::bigint)\n    UNION\n    SELECT unnest(keys) FROM millrace.lease\n)\nSELECT job.key, job.id\nFROM live\nJOIN millrace.job AS job ON job.key = live.key\nWHERE job.dedup IS NOT NULL\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.dedup AS held\n      WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup\n  )\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace.attempt AS done WHERE done.key = job.key AND done.state IS NOT NULL\n  )\nORDER BY job.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  shared_dedup: {
    text: "WITH live (key) AS (\n    (SELECT key FROM millrace.scheduled ORDER BY key LIMIT $1::bigint)\n    UNION\n    (SELECT key FROM millrace.ready ORDER BY key LIMIT $1::bigint)\n    UNION\n    (SELECT key FROM millrace.blocked ORDER BY key LIMIT $1::bigint)\n    UNION\n    SELECT unnest(keys) FROM millrace.lease\n),\nkeyed AS MATERIALIZED (\n    SELECT job.key, job.id, job.tenant, job.type, job.dedup, (\n               SELECT held.job\n               FROM millrace.dedup AS held\n               WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup\n           ) AS holder\n    FROM live\n    JOIN millrace.job AS job ON job.key = live.key\n    WHERE job.dedup IS NOT NULL\n)\nSELECT keyed.key, keyed.id\nFROM keyed\nWHERE keyed.holder <> keyed.key\n  AND EXISTS (\n      SELECT 1\n      FROM millrace.job AS holder\n      WHERE holder.key = keyed.holder\n        AND holder.tenant = keyed.tenant\n        AND holder.type = keyed.type\n        AND holder.dedup = keyed.dedup\n  )\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace.attempt AS done WHERE done.key = keyed.key AND done.state IS NOT NULL\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.attempt AS done\n      WHERE done.key = keyed.holder AND done.state IS NOT NULL\n  )\nORDER BY keyed.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  stale_cancel_requests: {
    text: "SELECT asked.key, job.id\nFROM (SELECT key FROM millrace.cancel_request ORDER BY key LIMIT $1::bigint) AS asked\nLEFT JOIN millrace.job AS job ON job.key = asked.key\nWHERE job.key IS NULL\n   OR EXISTS (\n      SELECT 1 FROM millrace.attempt AS done WHERE done.key = asked.key AND done.state IS NOT NULL\n   )\n   OR EXISTS (SELECT 1 FROM millrace.scheduled AS place WHERE place.key = asked.key)\n   OR EXISTS (SELECT 1 FROM millrace.ready AS place WHERE place.key = asked.key)\n   OR EXISTS (SELECT 1 FROM millrace.blocked AS place WHERE place.key = asked.key)\nORDER BY asked.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  locks_without_run: {
    text: "SELECT DISTINCT held.job AS key, job.id\nFROM (SELECT job, n FROM millrace.lock WHERE job > 0 ORDER BY job LIMIT $1::bigint) AS held\nLEFT JOIN millrace.job AS job ON job.key = held.job\nWHERE job.key IS NULL\n   OR EXISTS (SELECT 1 FROM millrace.attempt AS run WHERE run.key = held.job AND run.n = held.n)\n   OR EXISTS (SELECT 1 FROM millrace.scheduled AS place WHERE place.key = held.job)\n   OR EXISTS (SELECT 1 FROM millrace.ready AS place WHERE place.key = held.job)\n   OR EXISTS (SELECT 1 FROM millrace.blocked AS place WHERE place.key = held.job)\nORDER BY held.job\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  runs_without_lock: {
    text: "SELECT DISTINCT job.key, job.id\nFROM millrace.lease AS lease\nCROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\nJOIN millrace.job AS job ON job.key = run.key\nWHERE job.concurrency IS NOT NULL\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.lock AS held\n      WHERE held.tenant = job.tenant AND held.name = job.concurrency AND held.job = job.key\n  )\nORDER BY job.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  waits_without_dependencies: {
    text: "SELECT place.key, job.id\nFROM (\n    SELECT key\n    FROM millrace.blocked\n    WHERE gate = 0\n    ORDER BY priority, rank, key\n    LIMIT $1::bigint\n) AS place\nLEFT JOIN millrace.job AS job ON job.key = place.key\nWHERE NOT EXISTS (SELECT 1 FROM millrace.dependency AS dependency WHERE dependency.job = place.key)\nORDER BY place.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  dependencies_without_wait: {
    text: "SELECT DISTINCT dependency.job AS key, job.id\nFROM (SELECT job FROM millrace.dependency ORDER BY job LIMIT $1::bigint) AS dependency\nLEFT JOIN millrace.job AS job ON job.key = dependency.job\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace.blocked AS place WHERE place.key = dependency.job AND place.gate = 0\n)\n  AND (\n      job.key IS NULL\n      OR EXISTS (\n          SELECT 1\n          FROM millrace.attempt AS done\n          WHERE done.key = dependency.job AND done.state IS NOT NULL\n      )\n      OR EXISTS (SELECT 1 FROM millrace.scheduled AS place WHERE place.key = dependency.job)\n      OR EXISTS (SELECT 1 FROM millrace.ready AS place WHERE place.key = dependency.job)\n      OR EXISTS (SELECT 1 FROM millrace.blocked AS place WHERE place.key = dependency.job)\n  )\nORDER BY dependency.job\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  failed_without_letter: {
    text: "SELECT job.key, job.id\nFROM (\n    SELECT key, finished_at\n    FROM millrace.attempt\n    WHERE state = 6 AND state > 4\n    ORDER BY key DESC\n    LIMIT $1::bigint\n) AS done\nJOIN millrace.job AS job ON job.key = done.key\nWHERE done.finished_at > (SELECT min(died_at) FROM millrace.dead_letter)\n  AND NOT EXISTS (SELECT 1 FROM millrace.dead_letter AS letter WHERE letter.id = job.id)\nORDER BY job.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  letters_without_failure: {
    text: "WITH lettered AS MATERIALIZED (\n    SELECT job.key, job.id\n    FROM (\n        SELECT id FROM millrace.dead_letter ORDER BY died_at DESC, id DESC LIMIT $1::bigint\n    ) AS letter\n    JOIN millrace.job AS job ON job.id = letter.id\n)\nSELECT lettered.key, lettered.id\nFROM lettered\nWHERE (\n    SELECT last.state\n    FROM millrace.attempt AS last\n    WHERE last.key = lettered.key\n    ORDER BY last.n DESC\n    LIMIT 1\n) IS DISTINCT FROM 6\nORDER BY lettered.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  runs_after_end: {
    text: "SELECT DISTINCT late.key, job.id\nFROM millrace.attempt AS ended\nJOIN millrace.attempt AS late ON late.key = ended.key AND late.n > ended.n\nLEFT JOIN millrace.job AS job ON job.key = late.key\nWHERE ended.state IS NOT NULL\nORDER BY late.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  run_gaps: {
    text: "SELECT DISTINCT run.key, job.id\nFROM millrace.attempt AS run\nLEFT JOIN millrace.job AS job ON job.key = run.key\nWHERE run.n > 1\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace.attempt AS before WHERE before.key = run.key AND before.n = run.n - 1\n  )\nORDER BY run.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  wrong_charges: {
    text: "SELECT DISTINCT job.key, job.id\nFROM millrace.attempt AS run\nJOIN millrace.job AS job ON job.key = run.key\nLEFT JOIN millrace.attempt AS before ON before.key = run.key AND before.n = run.n - 1\nWHERE run.tries > job.max_attempts\n   OR run.crashes > run.n\n   OR (run.state IS NULL AND run.tries >= job.max_attempts)\n   OR (\n      (run.n = 1 OR before.key IS NOT NULL)\n      AND (\n          run.tries - coalesce(before.tries, 0) NOT BETWEEN 0 AND 1\n          OR run.crashes - coalesce(before.crashes, 0) NOT BETWEEN 0 AND 1\n      )\n   )\nORDER BY job.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  ledger_without_job: {
    text: "SELECT DISTINCT run.key, NULL::uuid AS id\nFROM millrace.attempt AS run\nWHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = run.key)\nORDER BY run.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  ended_runs_without_worker: {
    text: "SELECT DISTINCT ended.key, job.id\nFROM (\n    SELECT worker, key FROM millrace.ended_run ORDER BY worker, key LIMIT $1::bigint\n) AS ended\nLEFT JOIN millrace.job AS job ON job.key = ended.key\nWHERE job.key IS NULL\n   OR NOT EXISTS (SELECT 1 FROM millrace.worker AS worker WHERE worker.id = ended.worker)\nORDER BY ended.key\nLIMIT $2::integer",
    parameters: ["examined","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, integer","gives":"key bigint, id uuid"},
  },
  jobs_without_name: {
    text: "SELECT job.key, job.id\nFROM millrace.job AS job\nWHERE NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.type)\n   OR NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.tenant)\n   OR NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.lane)\n   OR (\n      job.category IS NOT NULL\n      AND NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = job.category)\n   )\nORDER BY job.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  notes_without_job: {
    text: "SELECT DISTINCT note.key, NULL::uuid AS id\nFROM (\n    SELECT key FROM millrace.run\n    UNION\n    SELECT key FROM millrace.phase\n    UNION\n    SELECT key FROM millrace.unit\n    UNION\n    SELECT key FROM millrace.log\n    UNION\n    SELECT key FROM millrace.stale\n) AS note\nWHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = note.key)\nORDER BY note.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  tags_without_job: {
    text: "SELECT DISTINCT tag.key, NULL::uuid AS id\nFROM millrace.tag AS tag\nWHERE NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = tag.key)\nORDER BY tag.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  aliases_without_job: {
    text: "SELECT alias.job AS key, alias.id\nFROM millrace.alias AS alias\nWHERE NOT EXISTS (SELECT 1 FROM millrace.job AS parent WHERE parent.key = alias.parent)\n   OR (\n       alias.job IS NOT NULL\n       AND NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.key = alias.job)\n   )\nORDER BY alias.id\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  endless_idempotency: {
    text: "SELECT NULL::bigint AS key, held.job_id AS id\nFROM millrace.idempotency AS held\nWHERE held.expires_at IS NULL\n  AND NOT EXISTS (SELECT 1 FROM millrace.job AS job WHERE job.id = held.job_id)\nORDER BY held.job_id\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  lost_idempotency: {
    text: "SELECT job.key, job.id\nFROM millrace.job AS job\nWHERE job.idempotency IS NOT NULL\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.idempotency AS held\n      WHERE held.tenant = job.tenant\n        AND held.key = job.idempotency\n        AND held.job_id = job.id\n        AND held.expires_at IS NULL\n  )\nORDER BY job.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  untold_changes: {
    text: "WITH reach AS MATERIALIZED (\n    SELECT CASE\n               WHEN head.position = 0 OR first.position = 1 THEN '-infinity'::timestamptz\n               WHEN first.position IS NULL THEN 'infinity'::timestamptz\n               ELSE first.at + interval '1 minute'\n           END AS at\n    FROM millrace.feed_head AS head\n    LEFT JOIN (SELECT position, at FROM millrace.event ORDER BY position LIMIT 1) AS first ON true\n),\ntold AS (\n    SELECT named.key, entry.kind::integer AS kind, count(*) AS times\n    FROM (\n        SELECT kind, keys FROM millrace.event\n        UNION ALL\n        SELECT kind, keys FROM millrace.event_outbox\n    ) AS entry\n    CROSS JOIN LATERAL unnest(entry.keys) AS named (key)\n    WHERE entry.kind IN (1, 3, 4, 5, 6)\n    GROUP BY named.key, entry.kind\n),\ndue AS (\n    SELECT job.key, 1 AS kind, 1::bigint AS times\n    FROM millrace.job AS job\n    CROSS JOIN reach\n    WHERE job.created_at > reach.at\n    UNION ALL\n    SELECT run.key,\n           CASE run.state WHEN 4 THEN 3 WHEN 5 THEN 3 WHEN 6 THEN 5 WHEN 7 THEN 6 ELSE 4 END,\n           count(*)\n    FROM millrace.attempt AS run\n    CROSS JOIN reach\n    WHERE run.finished_at > reach.at\n    GROUP BY 1, 2\n)\nSELECT DISTINCT due.key, job.id\nFROM due\nLEFT JOIN told ON told.key = due.key AND told.kind = due.kind\nLEFT JOIN millrace.job AS job ON job.key = due.key\nWHERE coalesce(told.times, 0) < due.times\n   OR (due.kind <> 4 AND told.times > due.times)\nORDER BY due.key\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  permits_against_limits: {
    text: "SELECT NULL::bigint AS key, NULL::uuid AS id\nFROM millrace.limit_setting AS setting\nWHERE setting.used <> (\n    SELECT coalesce(sum(permit.held), 0)\n    FROM millrace.permit AS permit\n    WHERE permit.limit_id = setting.id\n)\nUNION ALL\nSELECT NULL, NULL\nFROM millrace.permit AS permit\nWHERE NOT EXISTS (SELECT 1 FROM millrace.worker AS worker WHERE worker.id = permit.worker)\n   OR NOT EXISTS (\n       SELECT 1 FROM millrace.limit_setting AS setting WHERE setting.id = permit.limit_id\n   )\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"key bigint, id uuid"},
  },
  recount: {
    text: "SELECT count(*) FILTER (WHERE state = 1) AS scheduled,\n       count(*) FILTER (WHERE state = 2 AND gate IS NULL) AS queued,\n       count(*) FILTER (WHERE state = 2 AND gate IS NOT NULL) AS held,\n       count(*) FILTER (WHERE state = 3) AS running,\n       count(*) FILTER (WHERE state = 6) AS failed\nFROM millrace.job_now",
    parameters: [],
    timeout: "doctor",
    routine: {"takes":"","gives":"scheduled bigint, queued bigint, held bigint, running bigint, failed bigint"},
  },
  all_key_rates: {
    text: "SELECT rate.tenant, rate.name, rate.rate_count, rate.rate_ms, rate.burst, rate.tokens,\n       millrace.ms_of(rate.refilled_at) AS refilled_at, rate.by,\n       millrace.ms_of(rate.set_at) AS set_at,\n       (\n           SELECT count(*)\n           FROM (\n               SELECT 1\n               FROM millrace.blocked AS blocked\n               WHERE blocked.gate = -1\n                 AND blocked.tenant = rate.tenant\n                 AND blocked.concurrency = rate.name COLLATE \"default\"\n               LIMIT $1::bigint\n           ) AS few\n       ) AS waiting,\n       millrace.ms_of(millrace.clock_at($2::timestamptz)) AS now\nFROM millrace.key_rate AS rate\nORDER BY rate.tenant, rate.name",
    parameters: ["waiting","now"],
    timeout: "answer",
    routine: {"takes":"bigint, timestamp with time zone","gives":"tenant integer, name text, rate_count integer, rate_ms bigint, burst integer, tokens double precision, refilled_at bigint, by text, set_at bigint, waiting bigint, now bigint"},
  },
  find_key_rate: {
    text: "SELECT rate.tenant, rate.name, rate.rate_count, rate.rate_ms, rate.burst, rate.tokens,\n       millrace.ms_of(rate.refilled_at) AS refilled_at, rate.by,\n       millrace.ms_of(rate.set_at) AS set_at,\n       (\n           SELECT count(*)\n           FROM (\n               SELECT 1\n               FROM millrace.blocked AS blocked\n               WHERE blocked.gate = -1\n                 AND blocked.tenant = rate.tenant\n                 AND blocked.concurrency = rate.name COLLATE \"default\"\n               LIMIT $1::bigint\n           ) AS few\n       ) AS waiting,\n       millrace.ms_of(millrace.clock_at($2::timestamptz)) AS now\nFROM millrace.key_rate AS rate\nWHERE rate.tenant = $3::integer\n  AND rate.name = $4::text",
    parameters: ["waiting","now","tenant","name"],
    timeout: "answer",
    routine: {"takes":"bigint, timestamp with time zone, integer, text","gives":"tenant integer, name text, rate_count integer, rate_ms bigint, burst integer, tokens double precision, refilled_at bigint, by text, set_at bigint, waiting bigint, now bigint"},
  },
  count_key_rates: {
    text: "SELECT count(*) AS rates FROM millrace.key_rate",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"rates bigint"},
  },
  lock_key_rate: {
    text: "SELECT rate_count, rate_ms, burst\nFROM millrace.key_rate\nWHERE tenant = $1::integer\n  AND name = $2::text\nFOR UPDATE",
    parameters: ["tenant","name"],
    timeout: "answer",
    routine: {"takes":"integer, text","gives":"rate_count integer, rate_ms bigint, burst integer"},
  },
  put_key_rate: {
    text: "INSERT INTO millrace.key_rate AS known (\n    tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at\n)\nSELECT $1::integer, $2::text, $3::integer, $4::bigint, $5::integer,\n       $5::integer, moment.at, $6::text, moment.at\nFROM (SELECT millrace.clock_at($7::timestamptz) AS at) AS moment\nON CONFLICT (tenant, name) DO UPDATE\nSET tokens = CASE\n        WHEN (known.rate_count, known.rate_ms, known.burst)\n                = (excluded.rate_count, excluded.rate_ms, excluded.burst)\n            THEN known.tokens\n        ELSE excluded.tokens\n    END,\n    refilled_at = CASE\n        WHEN (known.rate_count, known.rate_ms, known.burst)\n                = (excluded.rate_count, excluded.rate_ms, excluded.burst)\n            THEN known.refilled_at\n        ELSE excluded.refilled_at\n    END,\n    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,\n    held_until = NULL, by = excluded.by, set_at = excluded.set_at",
    parameters: ["tenant","name","rate_count","rate_ms","burst","by","now"],
    timeout: "answer",
    routine: {"takes":"integer, text, integer, bigint, integer, text, timestamp with time zone","gives":null},
  },
  delete_key_rate: {
    text: "DELETE FROM millrace.key_rate\nWHERE tenant = $1::integer\n  AND name = $2::text",
    parameters: ["tenant","name"],
    timeout: "answer",
    routine: {"takes":"integer, text","gives":null},
  },
  free_spent_key: {
    text: "WITH own AS MATERIALIZED (\n    SELECT lock.tenant, lock.name\n    FROM millrace.lock AS lock\n    WHERE lock.tenant = $1::integer\n      AND lock.name = $2::text\n      AND lock.job = 0\n    FOR UPDATE\n)\nSELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done\nFROM own",
    parameters: ["tenant","name"],
    timeout: "answer",
    routine: {"takes":"integer, text","gives":"count bigint, done text"},
  },
  free_refilled_keys: {
    text: "WITH due AS MATERIALIZED (\n    SELECT rate.tenant, rate.name\n    FROM millrace.key_rate AS rate\n    WHERE rate.held_until IS NOT NULL\n      AND millrace.is_refilled(rate, millrace.clock_at($1::timestamptz))\n    ORDER BY rate.tenant, rate.name\n    LIMIT $2::integer\n    FOR UPDATE SKIP LOCKED\n),\ncleared AS (\n    UPDATE millrace.key_rate AS rate\n    SET held_until = NULL\n    FROM due\n    WHERE rate.tenant = due.tenant AND rate.name = due.name\n),\nown AS MATERIALIZED (\n    SELECT lock.tenant, lock.name\n    FROM due\n    JOIN millrace.lock AS lock ON lock.tenant = due.tenant AND lock.name = due.name\n    WHERE lock.job = 0\n    ORDER BY lock.tenant, lock.name\n    FOR UPDATE OF lock\n)\nSELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done\nFROM own",
    parameters: ["now","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer","gives":"count bigint, done text"},
  },
  lock_leases: {
    text: "SELECT number, secret\nFROM millrace.lease\nWHERE number = ANY ($1::bigint[])\nORDER BY number\nFOR KEY SHARE",
    parameters: ["numbers"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"number bigint, secret text"},
  },
  own_lease: {
    text: "SELECT number\nFROM millrace.lease\nWHERE number = $1::bigint\n  AND secret = $2::text\nFOR UPDATE",
    parameters: ["number","secret"],
    timeout: "answer",
    routine: {"takes":"bigint, text","gives":"number bigint"},
  },
  own_lease_of_job: {
    text: "SELECT lease.number, lease.worker\nFROM millrace.lease AS lease\nWHERE $1::bigint BETWEEN lease.low AND lease.high\n  AND lease.keys @> ARRAY[$1::bigint]\nORDER BY lease.number DESC\nLIMIT 1\nFOR UPDATE",
    parameters: ["key"],
    timeout: "answer",
    routine: {"takes":"bigint","gives":"number bigint, worker uuid"},
  },
  own_leases_of_worker: {
    text: "SELECT number\nFROM millrace.lease\nWHERE worker = $1::uuid\nORDER BY number\nLIMIT $2::integer\nFOR UPDATE",
    parameters: ["worker","limit"],
    timeout: "answer",
    routine: {"takes":"uuid, integer","gives":"number bigint"},
  },
  runs_of_leases: {
    text: "SELECT run.lease AS fence, coalesce(run.key, 0) AS key, coalesce(run.n, 0) AS n,\n       coalesce(run.rank, millrace.ms_of(run.claimed_at) * 1000) AS rank,\n       millrace.ms_of(run.claimed_at) AS claimed_at, millrace.ms_of(run.started_at) AS started_at,\n       EXISTS (\n           SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n       ) AS ended,\n       run.n IS NULL OR NOT EXISTS (\n           SELECT 1 FROM millrace.job AS job WHERE job.key = run.key\n       ) AS missing\nFROM millrace.leased_run AS run\nWHERE run.lease = ANY ($1::bigint[])\nORDER BY run.lease, run.turn",
    parameters: ["numbers"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"fence bigint, key bigint, n integer, rank bigint, claimed_at bigint, started_at bigint, ended boolean, missing boolean"},
  },
  job_facts: {
    text: "SELECT job.key, job.lane, job.priority, job.type, job.tenant, job.concurrency,\n       job.id, coalesce(name.text, 'unknown name ' || job.type) AS type_name, job.max_attempts,\n       job.flags, coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes\nFROM unnest($1::bigint[]) AS named (key)\nJOIN millrace.job AS job ON job.key = named.key\nLEFT JOIN millrace.interned_name AS name ON name.id = job.type\nLEFT JOIN LATERAL (\n    SELECT attempt.tries, attempt.crashes\n    FROM millrace.attempt AS attempt\n    WHERE attempt.key = job.key\n    ORDER BY attempt.n DESC\n    LIMIT 1\n) AS last ON true",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint, lane integer, priority integer, type integer, tenant integer, concurrency text, id uuid, type_name text, max_attempts integer, flags smallint, tries integer, crashes integer"},
  },
  own_leases: {
    text: "SELECT number\nFROM millrace.lease\nWHERE number = ANY ($1::bigint[])\nORDER BY number\nFOR UPDATE",
    parameters: ["numbers"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"number bigint"},
  },
  leases_to_repair: {
    text: "SELECT DISTINCT lease.number\nFROM millrace.lease AS lease\nCROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\nLEFT JOIN millrace.job AS job ON job.key = run.key\nLEFT JOIN LATERAL (\n    SELECT attempt.n, attempt.state\n    FROM millrace.attempt AS attempt\n    WHERE attempt.key = run.key\n    ORDER BY attempt.n DESC\n    LIMIT 1\n) AS last ON true\nWHERE run.n IS NULL\n   OR job.key IS NULL\n   OR (run.n > coalesce(last.n, 0) AND (last.state IS NOT NULL OR run.n > coalesce(last.n, 0) + 1))\nORDER BY lease.number\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"number bigint"},
  },
  unsound_runs: {
    text: "SELECT coalesce(run.key, 0) AS key\nFROM millrace.lease AS lease\nCROSS JOIN LATERAL unnest(lease.keys, lease.ns) AS run (key, n)\nLEFT JOIN millrace.job AS job ON job.key = run.key\nLEFT JOIN LATERAL (\n    SELECT attempt.n, attempt.state\n    FROM millrace.attempt AS attempt\n    WHERE attempt.key = run.key\n    ORDER BY attempt.n DESC\n    LIMIT 1\n) AS last ON true\nWHERE lease.number = ANY ($1::bigint[])\n  AND (\n      run.n IS NULL\n      OR job.key IS NULL\n      OR last.state IS NOT NULL\n      OR run.n <> coalesce(last.n, 0) + 1\n  )",
    parameters: ["numbers"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint"},
  },
  drop_missing_jobs: {
    text: "WITH deleted_requests AS (\n    DELETE FROM millrace.cancel_request WHERE key = ANY ($1::bigint[])\n),\ndeleted_dedup AS (\n    DELETE FROM millrace.dedup WHERE job = ANY ($1::bigint[])\n),\ndeleted_dependencies AS (\n    DELETE FROM millrace.dependency WHERE job = ANY ($1::bigint[])\n)\nSELECT millrace.release_job_locks($1::bigint[]) AS freed",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"freed boolean"},
  },
  start_runs: {
    text: "SELECT held, begun, asked\nFROM millrace.start_runs(\n    $1::bigint, $2::text, $3::bigint[], $4::timestamptz\n)",
    parameters: ["number","secret","keys","now"],
    timeout: "answer",
    routine: {"takes":"bigint, text, bigint[], timestamp with time zone","gives":"held boolean, begun bigint[], asked bigint[]"},
  },
  narrow_lease: {
    text: "WITH left_starts AS (\n    DELETE FROM millrace.run_start\n    WHERE lease = $1::bigint\n      AND key <> ALL ($2::bigint[])\n)\nUPDATE millrace.lease AS lease\nSET keys  = kept.keys,\n    ns    = kept.ns,\n    ranks = kept.ranks\nFROM (\n    SELECT array_agg(run.key ORDER BY run.turn) AS keys,\n           array_agg(run.n ORDER BY run.turn) AS ns,\n           array_agg(run.rank ORDER BY run.turn) AS ranks\n    FROM millrace.lease AS wide\n    CROSS JOIN LATERAL unnest(wide.keys, wide.ns, wide.ranks)\n        WITH ORDINALITY AS run (key, n, rank, turn)\n    WHERE wide.number = $1::bigint\n      AND run.key = ANY ($2::bigint[])\n) AS kept\nWHERE lease.number = $1::bigint",
    parameters: ["number","keys"],
    timeout: "answer",
    routine: {"takes":"bigint, bigint[]","gives":null},
  },
  delete_leases: {
    text: "WITH left_starts AS (\n    DELETE FROM millrace.run_start\n    WHERE lease = ANY ($1::bigint[])\n)\nDELETE FROM millrace.lease\nWHERE number = ANY ($1::bigint[])",
    parameters: ["numbers"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":null},
  },
  all_limits: {
    text: "SELECT id, name, cap, rate_count, rate_ms, burst, tokens,\n       millrace.ms_of(refilled_at) AS refilled_at, used, code_rule, owner::integer AS owner, by,\n       millrace.ms_of(set_at) AS set_at,\n       millrace.ms_of(millrace.clock_at($1::timestamptz)) AS now\nFROM millrace.limit_setting\nORDER BY id",
    parameters: ["now"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone","gives":"id integer, name integer, cap integer, rate_count integer, rate_ms bigint, burst integer, tokens double precision, refilled_at bigint, used integer, code_rule text, owner integer, by text, set_at bigint, now bigint"},
  },
  lock_limit: {
    text: "SELECT id, name, cap, rate_count, rate_ms, burst, tokens,\n       millrace.ms_of(refilled_at) AS refilled_at, used, code_rule, owner::integer AS owner, by,\n       millrace.ms_of(set_at) AS set_at,\n       millrace.ms_of(millrace.clock_at($1::timestamptz)) AS now\nFROM millrace.limit_setting\nWHERE name = $2::integer\nFOR UPDATE",
    parameters: ["now","name"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer","gives":"id integer, name integer, cap integer, rate_count integer, rate_ms bigint, burst integer, tokens double precision, refilled_at bigint, used integer, code_rule text, owner integer, by text, set_at bigint, now bigint"},
  },
  count_limits: {
    text: "SELECT count(*) AS limits FROM millrace.limit_setting",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"limits bigint"},
  },
  limit_targets: {
    text: "SELECT limit_id, target\nFROM millrace.limit_target\nORDER BY limit_id, target",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"limit_id integer, target integer"},
  },
  put_limit: {
    text: "INSERT INTO millrace.limit_setting AS known (\n    name, cap, rate_count, rate_ms, burst, tokens, refilled_at, code_rule, owner, by, set_at\n)\nSELECT $1::integer, $2::integer, $3::integer, $4::bigint, $5::integer,\n       coalesce($5::integer, 0), moment.at, $6::text, $7::smallint, $8::text,\n       moment.at\nFROM (SELECT millrace.clock_at($9::timestamptz) AS at) AS moment\nON CONFLICT (name) DO UPDATE\nSET cap = excluded.cap,\n    tokens = CASE\n        WHEN (known.rate_count, known.rate_ms, known.burst)\n                IS NOT DISTINCT FROM (excluded.rate_count, excluded.rate_ms, excluded.burst)\n            THEN known.tokens\n        ELSE excluded.tokens\n    END,\n    refilled_at = CASE\n        WHEN (known.rate_count, known.rate_ms, known.burst)\n                IS NOT DISTINCT FROM (excluded.rate_count, excluded.rate_ms, excluded.burst)\n            THEN known.refilled_at\n        ELSE excluded.refilled_at\n    END,\n    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,\n    code_rule = excluded.code_rule, owner = excluded.owner, by = excluded.by,\n    set_at = excluded.set_at",
    parameters: ["name","cap","rate_count","rate_ms","burst","code_rule","owner","by","now"],
    timeout: "answer",
    routine: {"takes":"integer, integer, integer, bigint, integer, text, smallint, text, timestamp with time zone","gives":null},
  },
  set_code_rule: {
    text: "UPDATE millrace.limit_setting\nSET code_rule = $1::text\nWHERE id = $2::integer",
    parameters: ["code_rule","id"],
    timeout: "answer",
    routine: {"takes":"text, integer","gives":null},
  },
  delete_limit: {
    text: "WITH gone AS (\n    DELETE FROM millrace.permit\n    WHERE limit_id = $1::integer\n)\nDELETE FROM millrace.limit_setting\nWHERE id = $1::integer",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  lock_permits: {
    text: "SELECT setting.id\nFROM millrace.limit_setting AS setting\nWHERE setting.id = ANY (ARRAY(\n    SELECT permit.limit_id\n    FROM millrace.permit AS permit\n    LEFT JOIN unnest($1::integer[], $2::integer[]) AS kept (id, count)\n        ON kept.id = permit.limit_id\n    WHERE permit.worker = $3::uuid\n      AND permit.held > coalesce(kept.count, 0)\n))\nORDER BY setting.id\nFOR UPDATE",
    parameters: ["limits","counts","worker"],
    timeout: "answer",
    routine: {"takes":"integer[], integer[], uuid","gives":"id integer"},
  },
  keep_permits: {
    text: "WITH own AS MATERIALIZED (\n    SELECT permit.limit_id, permit.held,\n           greatest(0, least(permit.held, coalesce(kept.count, 0))) AS rest,\n           setting.used >= setting.cap AS was_full\n    FROM millrace.permit AS permit\n    JOIN millrace.limit_setting AS setting ON setting.id = permit.limit_id\n    LEFT JOIN unnest($1::integer[], $2::integer[]) AS kept (id, count)\n        ON kept.id = permit.limit_id\n    WHERE permit.worker = $3::uuid\n),\nlowered AS (\n    UPDATE millrace.limit_setting AS setting\n    SET used = greatest(0, setting.used - (own.held - own.rest))\n    FROM own\n    WHERE setting.id = own.limit_id\n      AND own.rest < own.held\n),\ngone AS (\n    DELETE FROM millrace.permit AS permit\n    USING own\n    WHERE permit.worker = $3::uuid\n      AND permit.limit_id = own.limit_id\n      AND own.rest = 0\n),\nchanged AS (\n    UPDATE millrace.permit AS permit\n    SET held = own.rest\n    FROM own\n    WHERE permit.worker = $3::uuid\n      AND permit.limit_id = own.limit_id\n      AND own.rest > 0\n      AND own.rest < own.held\n)\nSELECT coalesce(sum(held - rest) FILTER (WHERE was_full), 0)::bigint AS freed FROM own",
    parameters: ["limits","counts","worker"],
    timeout: "answer",
    routine: {"takes":"integer[], integer[], uuid","gives":"freed bigint"},
  },
  note_permits: {
    text: "WITH claimer AS MATERIALIZED (\n    SELECT id FROM millrace.worker WHERE id = $1::uuid FOR KEY SHARE\n),\ngiven AS MATERIALIZED (\n    SELECT setting.id, noted.count\n    FROM millrace.limit_setting AS setting\n    JOIN unnest($2::integer[], $3::integer[]) AS noted (id, count)\n        ON noted.id = setting.id\n    WHERE EXISTS (SELECT 1 FROM claimer)\n    ORDER BY setting.id\n    FOR UPDATE OF setting\n),\nraised AS (\n    UPDATE millrace.limit_setting AS setting\n    SET used = setting.used + given.count\n    FROM given\n    WHERE setting.id = given.id\n)\nINSERT INTO millrace.permit AS permit (worker, limit_id, held)\nSELECT claimer.id, given.id, given.count\nFROM given\nCROSS JOIN claimer\nON CONFLICT (worker, limit_id) DO UPDATE SET held = permit.held + excluded.held",
    parameters: ["worker","limits","counts"],
    timeout: "answer",
    routine: {"takes":"uuid, integer[], integer[]","gives":null},
  },
  hold_limited: {
    text: "WITH RECURSIVE used_up AS MATERIALIZED (\n    SELECT target\n    FROM millrace.target_rooms(millrace.clock_at($1::timestamptz))\n    WHERE room = 0\n),\nlane (id) AS (\n    SELECT min(lane)\n    FROM millrace.ready\n    WHERE crashes = 0\n      AND EXISTS (SELECT 1 FROM used_up)\n    UNION ALL\n    SELECT (\n        SELECT min(ready.lane)\n        FROM millrace.ready AS ready\n        WHERE ready.lane > lane.id AND ready.crashes = 0\n    )\n    FROM lane\n    WHERE lane.id IS NOT NULL\n),\nfront AS MATERIALIZED (\n    SELECT front.key, front.type, front.tenant\n    FROM lane\n    CROSS JOIN LATERAL (\n        SELECT ready.key, ready.type, ready.tenant\n        FROM millrace.ready AS ready\n        WHERE ready.lane = lane.id\n          AND ready.crashes = 0\n        ORDER BY ready.priority, ready.rank, ready.key\n        LIMIT $2::integer\n    ) AS front\n),\nbehind AS MATERIALIZED (\n    SELECT front.key\n    FROM front\n    WHERE EXISTS (SELECT 1 FROM used_up WHERE used_up.target IN (front.type, front.tenant))\n    LIMIT $3::integer\n),\nlocked AS MATERIALIZED (\n    SELECT ready.key\n    FROM millrace.ready AS ready\n    WHERE ready.key = ANY (ARRAY(SELECT key FROM behind))\n    ORDER BY ready.key\n    FOR UPDATE SKIP LOCKED\n),\ntaken AS (\n    DELETE FROM millrace.ready AS ready\n    WHERE ready.key = ANY (ARRAY(SELECT key FROM locked))\n    RETURNING ready.*\n)\nINSERT INTO millrace.blocked (\n    key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency\n)\nSELECT taken.key, coalesce(taken.due * 1000, taken.rank),\n       (\n           SELECT -3 - min(used_up.target)\n           FROM used_up\n           WHERE used_up.target IN (taken.type, taken.tenant)\n       ),\n       taken.lane, taken.priority, taken.type, taken.tenant, taken.n, taken.tries, taken.crashes,\n       taken.concurrency\nFROM taken\nON CONFLICT DO NOTHING",
    parameters: ["now","depth","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer, integer","gives":null},
  },
  rehome_limited: {
    text: "WITH other AS MATERIALIZED (\n    SELECT target AS name, NULL::integer AS tenant, gate\n    FROM millrace.barrier\n    WHERE until IS NULL OR until > millrace.clock_at($1::timestamptz)\n    UNION ALL\n    SELECT type, tenant, gate\n    FROM millrace.tenant_barrier\n    WHERE until > millrace.clock_at($1::timestamptz)\n    UNION ALL\n    SELECT target, NULL, -3 - target\n    FROM millrace.target_rooms(millrace.clock_at($1::timestamptz))\n    WHERE room = 0\n),\nfront AS MATERIALIZED (\n    SELECT front.key, front.lane, front.type, front.tenant, front.concurrency\n    FROM millrace.target_rooms(millrace.clock_at($1::timestamptz)) AS queue\n    CROSS JOIN LATERAL (\n        WITH RECURSIVE hop (lane) AS (\n            SELECT min(lane)\n            FROM millrace.blocked\n            WHERE gate = -3 - queue.target AND gate < -2\n            UNION ALL\n            SELECT (\n                SELECT min(next.lane)\n                FROM millrace.blocked AS next\n                WHERE next.gate = -3 - queue.target AND next.gate < -2 AND next.lane > hop.lane\n            )\n            FROM hop\n            WHERE hop.lane IS NOT NULL\n        )\n        SELECT lane FROM hop WHERE lane IS NOT NULL\n    ) AS own\n    CROSS JOIN LATERAL (\n        SELECT blocked.key, blocked.lane, blocked.type, blocked.tenant, blocked.concurrency\n        FROM millrace.blocked AS blocked\n        WHERE blocked.gate = -3 - queue.target\n          AND blocked.gate < -2\n          AND blocked.lane = own.lane\n        ORDER BY blocked.priority, blocked.turn_or_rank, blocked.key\n        LIMIT $2::integer\n    ) AS front\n    WHERE queue.room > 0\n      AND (EXISTS (SELECT 1 FROM other) OR EXISTS (SELECT 1 FROM millrace.lock))\n),\nbehind AS MATERIALIZED (\n    SELECT blocking.key, max(blocking.gate) AS gate\n    FROM (\n        SELECT front.key, other.gate\n        FROM front\n        JOIN other\n            ON other.name IN (front.lane, front.type, front.tenant)\n            AND (other.tenant IS NULL OR other.tenant = front.tenant)\n        UNION ALL\n        SELECT front.key, -1\n        FROM front\n        JOIN millrace.lock AS lock\n            ON lock.tenant = front.tenant AND lock.name = front.concurrency\n    ) AS blocking\n    GROUP BY blocking.key\n    LIMIT $3::integer\n),\nlocked AS MATERIALIZED (\n    SELECT blocked.key\n    FROM millrace.blocked AS blocked\n    WHERE blocked.key = ANY (ARRAY(SELECT key FROM behind))\n    ORDER BY blocked.key\n    FOR UPDATE SKIP LOCKED\n)\nUPDATE millrace.blocked AS blocked\nSET gate = behind.gate, turn = NULL\nFROM behind\nWHERE blocked.key = behind.key\n  AND blocked.key = ANY (ARRAY(SELECT key FROM locked))",
    parameters: ["now","depth","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer, integer","gives":null},
  },
  acquire_locks: {
    text: "INSERT INTO millrace.lock (job, n, tenant, name)\nSELECT job.key, $1::integer, job.tenant, wanted.name\nFROM millrace.job AS job\nCROSS JOIN unnest($2::text[]) AS wanted (name)\nWHERE job.key = $3::bigint\nORDER BY wanted.name COLLATE \"C\"\nON CONFLICT (tenant, name) DO UPDATE SET job = excluded.job, n = excluded.n WHERE lock.job = 0",
    parameters: ["n","names","key"],
    timeout: "answer",
    routine: {"takes":"integer, text[], bigint","gives":null},
  },
  locks_of_run: {
    text: "SELECT name\nFROM millrace.lock\nWHERE job = $1::bigint\n  AND n = $2::integer\n  AND name = ANY ($3::text[])",
    parameters: ["key","n","names"],
    timeout: "answer",
    routine: {"takes":"bigint, integer, text[]","gives":"name text"},
  },
  release_locks: {
    text: "WITH own AS MATERIALIZED (\n    SELECT lock.tenant, lock.name\n    FROM (\n        SELECT DISTINCT key, n, name\n        FROM json_to_recordset($1::json) AS note (key bigint, n integer, name text)\n    ) AS given\n    JOIN millrace.job AS job ON job.key = given.key\n    JOIN millrace.lock AS lock ON lock.tenant = job.tenant AND lock.name = given.name\n    WHERE lock.job = given.key\n      AND lock.n = given.n\n      AND lock.name IS DISTINCT FROM job.concurrency\n    ORDER BY lock.tenant, lock.name\n    FOR UPDATE OF lock\n)\nSELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done\nFROM own",
    parameters: ["names"],
    timeout: "answer",
    routine: {"takes":"json","gives":"count bigint, done text"},
  },
  free_dead_locks: {
    text: "WITH dead AS MATERIALIZED (\n    SELECT lock.tenant, lock.name\n    FROM millrace.lock AS lock\n    WHERE (\n        SELECT over.n FROM millrace.attempt AS over WHERE over.key = lock.job AND over.n = lock.n\n    ) IS NOT NULL\n       OR (\n           (SELECT job.key FROM millrace.job AS job WHERE job.key = lock.job) IS NULL\n           AND (\n               SELECT rate.held_until\n               FROM millrace.key_rate AS rate\n               WHERE lock.job = 0 AND rate.tenant = lock.tenant AND rate.name = lock.name\n           ) IS NULL\n       )\n       OR (SELECT place.key FROM millrace.ready AS place WHERE place.key = lock.job) IS NOT NULL\n       OR (\n           SELECT place.key FROM millrace.scheduled AS place WHERE place.key = lock.job\n       ) IS NOT NULL\n       OR (SELECT place.key FROM millrace.blocked AS place WHERE place.key = lock.job) IS NOT NULL\n    ORDER BY lock.tenant, lock.name\n    LIMIT $1::integer\n    FOR UPDATE OF lock SKIP LOCKED\n)\nSELECT count(*) AS count, millrace.free_locks(array_agg(tenant), array_agg(name))::text AS done\nFROM dead",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"count bigint, done text"},
  },
  release_keys: {
    text: "WITH RECURSIVE hop (tenant, name) AS (\n    (\n        SELECT tenant, concurrency\n        FROM millrace.blocked\n        WHERE gate = -1\n        ORDER BY tenant, concurrency\n        LIMIT 1\n    )\n    UNION ALL\n    SELECT next.tenant, next.concurrency\n    FROM hop\n    CROSS JOIN LATERAL (\n        SELECT blocked.tenant, blocked.concurrency\n        FROM millrace.blocked AS blocked\n        WHERE blocked.gate = -1\n          AND (blocked.tenant, blocked.concurrency) > (hop.tenant, hop.name)\n        ORDER BY blocked.tenant, blocked.concurrency\n        LIMIT 1\n    ) AS next\n),\nopen AS MATERIALIZED (\n    SELECT hop.tenant, hop.name\n    FROM hop\n    WHERE NOT EXISTS (\n        SELECT 1\n        FROM millrace.lock AS lock\n        WHERE lock.tenant = hop.tenant AND lock.name = hop.name\n    )\n    LIMIT $1::integer\n),\nfree AS MATERIALIZED (\n    SELECT first.key\n    FROM open\n    CROSS JOIN LATERAL (\n        SELECT blocked.key\n        FROM millrace.blocked AS blocked\n        WHERE blocked.gate = -1\n          AND blocked.tenant = open.tenant\n          AND blocked.concurrency = open.name\n        ORDER BY blocked.priority, blocked.rank, blocked.key\n        LIMIT 1\n        FOR UPDATE SKIP LOCKED\n    ) AS first\n),\ntaken AS (\n    DELETE FROM millrace.blocked AS blocked\n    USING free\n    WHERE blocked.key = free.key\n    RETURNING blocked.*\n)\nINSERT INTO millrace.ready (\n    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n)\nSELECT key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\nFROM taken",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  lock_holder: {
    text: "SELECT job.id\nFROM millrace.lock AS lock\nJOIN millrace.job AS job ON job.key = lock.job\nWHERE lock.tenant = $1::integer\n  AND lock.name = $2::text",
    parameters: ["tenant","name"],
    timeout: "answer",
    routine: {"takes":"integer, text","gives":"id uuid"},
  },
  put_logs: {
    text: "WITH said AS MATERIALIZED (\n    SELECT line.*,\n           CASE WHEN $1::boolean\n                THEN set_config('synchronous_commit', 'off', true) END AS setting\n    FROM json_to_recordset($2::json) AS line (\n        key bigint, n integer, place integer, turn integer, at bigint, level smallint, message text,\n        fields text\n    )\n)\nINSERT INTO millrace.log (key, line, n, turn, at, level, message, fields)\nSELECT key, line, n, turn, millrace.at_ms(at), level, message, fields::json\nFROM (\n    SELECT told.*,\n           last_line + place - count(*) FILTER (WHERE is_known) OVER (PARTITION BY key) AS line\n    FROM (\n        SELECT said.*, coalesce(last.line, 0) AS last_line,\n               coalesce(last.n = said.n AND last.turn >= said.turn, false) AS is_known\n        FROM said\n        LEFT JOIN (\n            SELECT newest.*\n            FROM (SELECT DISTINCT key FROM said) AS named\n            CROSS JOIN LATERAL (\n                SELECT log.key, log.line, log.n, log.turn\n                FROM millrace.log AS log\n                WHERE log.key = named.key\n                ORDER BY log.line DESC\n                LIMIT 1\n            ) AS newest\n        ) AS last ON last.key = said.key\n    ) AS told\n) AS numbered\nWHERE NOT is_known\nORDER BY key, place",
    parameters: ["relaxed","lines"],
    timeout: "answer",
    routine: {"takes":"boolean, json","gives":null},
  },
  trim_logs: {
    text: "DELETE FROM millrace.log AS log\nUSING (\n    SELECT weighed.key, max(weighed.line) AS line\n    FROM (\n        SELECT kept.key, kept.line,\n               row_number() OVER newer AS lines,\n               sum(length(kept.message) + coalesce(length(kept.fields::text), 0)) OVER newer\n                   AS chars\n        FROM millrace.log AS kept\n        WHERE kept.key = ANY ($1::bigint[])\n        WINDOW newer AS (PARTITION BY kept.key ORDER BY kept.line DESC)\n    ) AS weighed\n    WHERE weighed.lines > 1\n      AND (weighed.lines > $2::integer OR weighed.chars > $3::integer)\n    GROUP BY weighed.key\n) AS old\nWHERE log.key = old.key\n  AND log.line <= old.line",
    parameters: ["keys","lines_max","chars_max"],
    timeout: "answer",
    routine: {"takes":"bigint[], integer, integer","gives":null},
  },
  log_after: {
    text: "SELECT line, n, millrace.ms_of(at) AS at, level, message, fields\nFROM millrace.log\nWHERE key = (SELECT key FROM millrace.job_name WHERE id = $1::uuid)\n  AND line > $2::bigint\nORDER BY line\nLIMIT $3::integer",
    parameters: ["id","after","limit"],
    timeout: "answer",
    routine: {"takes":"uuid, bigint, integer","gives":"line integer, n integer, at bigint, level smallint, message text, fields json"},
  },
  newest_log: {
    text: "SELECT line, n, millrace.ms_of(at) AS at, level, message, fields\nFROM millrace.log\nWHERE key = (SELECT key FROM millrace.job_name WHERE id = $1::uuid)\nORDER BY line DESC\nLIMIT $2::integer",
    parameters: ["id","limit"],
    timeout: "answer",
    routine: {"takes":"uuid, integer","gives":"line integer, n integer, at bigint, level smallint, message text, fields json"},
  },
  newest_logs_of_jobs: {
    text: "SELECT newest.key, newest.line, newest.n, millrace.ms_of(newest.at) AS at, newest.level,\n       newest.message, newest.fields\nFROM unnest($1::bigint[]) AS named (key)\nCROSS JOIN LATERAL (\n    SELECT log.*\n    FROM millrace.log AS log\n    WHERE log.key = named.key\n    ORDER BY log.line DESC\n    LIMIT $2::integer\n) AS newest\nORDER BY newest.key, newest.line",
    parameters: ["keys","limit"],
    timeout: "reader",
    routine: {"takes":"bigint[], integer","gives":"key bigint, line integer, n integer, at bigint, level smallint, message text, fields json"},
  },
  lock_fold: {
    text: "SELECT name\nFROM millrace.meta\nWHERE name = 'minute_fold'\nFOR UPDATE SKIP LOCKED",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"name text"},
  },
  any_minutes: {
    text: "SELECT EXISTS (SELECT 1 FROM millrace.minute_outbox) AS found",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"found boolean"},
  },
  take_minutes: {
    text: "DELETE FROM millrace.minute_outbox\nWHERE ctid = ANY (ARRAY(SELECT ctid FROM millrace.minute_outbox LIMIT $1::integer))\nRETURNING millrace.ms_of(at) AS at, type, lane, outcome, waits, runs",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"at bigint, type integer, lane integer, outcome smallint, waits integer[], runs integer[]"},
  },
  find_minutes: {
    text: "SELECT minute.span, millrace.ms_of(minute.start) AS start, minute.type, minute.lane,\n       minute.outcome, minute.count, minute.wait_ms, minute.run_ms, minute.waits, minute.runs\nFROM json_to_recordset($1::json) AS wanted (\n    span smallint, start bigint, type integer, lane integer, outcome smallint\n)\nJOIN millrace.minute AS minute\n    ON minute.span = wanted.span\n    AND minute.start = millrace.at_ms(wanted.start)\n    AND minute.type = wanted.type\n    AND minute.lane = wanted.lane\n    AND minute.outcome = wanted.outcome",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"json","gives":"span smallint, start bigint, type integer, lane integer, outcome smallint, count bigint, wait_ms bigint, run_ms bigint, waits json, runs json"},
  },
  put_minutes: {
    text: "INSERT INTO millrace.minute (\n    span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs\n)\nSELECT given.span, millrace.at_ms(given.start), given.type, given.lane, given.outcome, given.count,\n       given.wait_ms, given.run_ms, given.waits::json, given.runs::json\nFROM json_to_recordset($1::json) AS given (\n    span smallint, start bigint, type integer, lane integer, outcome smallint, count bigint,\n    wait_ms bigint, run_ms bigint, waits text, runs text\n)\nON CONFLICT (span, start, type, lane, outcome) DO UPDATE\nSET count = excluded.count, wait_ms = excluded.wait_ms, run_ms = excluded.run_ms,\n    waits = excluded.waits, runs = excluded.runs",
    parameters: ["rows"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  minutes_between: {
    text: "(\n    SELECT span, millrace.ms_of(start) AS start, type, lane, outcome, count, wait_ms, run_ms,\n           waits, runs\n    FROM millrace.minute\n    WHERE span = 1\n      AND start >= millrace.at_ms($1::bigint)\n      AND start < millrace.at_ms($2::bigint)\n      AND ($3::integer IS NULL OR type = $3::integer)\n      AND ($4::integer IS NULL OR lane = $4::integer)\n    ORDER BY minute.start DESC\n    LIMIT $5::integer\n)\nUNION ALL\n(\n    SELECT span, millrace.ms_of(start) AS start, type, lane, outcome, count, wait_ms, run_ms,\n           waits, runs\n    FROM millrace.minute\n    WHERE span = 60\n      AND start >= millrace.at_ms($2::bigint)\n      AND start < millrace.at_ms($6::bigint)\n      AND ($3::integer IS NULL OR type = $3::integer)\n      AND ($4::integer IS NULL OR lane = $4::integer)\n    ORDER BY minute.start DESC\n    LIMIT $5::integer\n)\nUNION ALL\n(\n    SELECT span, millrace.ms_of(start) AS start, type, lane, outcome, count, wait_ms, run_ms,\n           waits, runs\n    FROM millrace.minute\n    WHERE span = 1\n      AND start >= millrace.at_ms($6::bigint)\n      AND start < millrace.at_ms($7::bigint)\n      AND ($3::integer IS NULL OR type = $3::integer)\n      AND ($4::integer IS NULL OR lane = $4::integer)\n    ORDER BY minute.start DESC\n    LIMIT $5::integer\n)\nUNION ALL\n(\n    SELECT 0::smallint, millrace.ms_of(at), type, lane, outcome, 0, 0, 0, to_json(waits),\n           to_json(runs)\n    FROM millrace.minute_outbox\n    WHERE at >= millrace.at_ms($1::bigint)\n      AND at < millrace.at_ms($7::bigint)\n      AND ($3::integer IS NULL OR type = $3::integer)\n      AND ($4::integer IS NULL OR lane = $4::integer)\n    LIMIT $5::integer\n)",
    parameters: ["since","hours_from","type","lane","limit","hours_to","until"],
    timeout: "reader",
    routine: {"takes":"bigint, bigint, integer, integer, integer, bigint, bigint","gives":"span smallint, start bigint, type integer, lane integer, outcome smallint, count bigint, wait_ms bigint, run_ms bigint, waits json, runs json"},
  },
  lock_deploys: {
    text: "SELECT name\nFROM millrace.meta\nWHERE name = 'deploy'\nFOR UPDATE",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"name text"},
  },
  insert_deploy: {
    text: "INSERT INTO millrace.deploy (n, app_version, at)\nSELECT coalesce(max(n), 0) + 1, $1::text, millrace.clock_at($2::timestamptz)\nFROM millrace.deploy\nHAVING $1::text IS DISTINCT FROM (\n        SELECT app_version FROM millrace.deploy ORDER BY n DESC LIMIT 1\n    )\n   AND NOT EXISTS (\n       SELECT 1 FROM millrace.worker WHERE app = $1::text AND id <> $3::uuid\n   )",
    parameters: ["app","now","worker"],
    timeout: "answer",
    routine: {"takes":"text, timestamp with time zone, uuid","gives":null},
  },
  list_deploys: {
    text: "SELECT app_version, millrace.ms_of(at) AS at\nFROM millrace.deploy\nWHERE at >= millrace.at_ms($1::bigint) AND at < millrace.at_ms($2::bigint)\nORDER BY n DESC\nLIMIT $3::integer",
    parameters: ["since","until","limit"],
    timeout: "reader",
    routine: {"takes":"bigint, bigint, integer","gives":"app_version text, at bigint"},
  },
  delete_deploys: {
    text: "DELETE FROM millrace.deploy\nWHERE n IN (\n    SELECT n\n    FROM millrace.deploy\n    WHERE at <= millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond'\n      AND n < (SELECT max(n) FROM millrace.deploy)\n    LIMIT $3::integer\n)",
    parameters: ["now","age","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  intern_names: {
    text: "INSERT INTO millrace.interned_name (kind, text)\nSELECT wanted.kind, wanted.text\nFROM json_to_recordset($1::json) AS wanted (kind smallint, text text)\nORDER BY wanted.kind, wanted.text\nON CONFLICT (kind, text) DO NOTHING",
    parameters: ["wanted"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  find_names: {
    text: "SELECT name.id, name.kind, name.text\nFROM json_to_recordset($1::json) AS wanted (kind smallint, text text)\nJOIN millrace.interned_name AS name ON name.kind = wanted.kind AND name.text = wanted.text",
    parameters: ["wanted"],
    timeout: "answer",
    routine: {"takes":"json","gives":"id integer, kind smallint, text text"},
  },
  names_by_id: {
    text: "SELECT id, kind, text\nFROM millrace.interned_name\nWHERE id = ANY ($1::integer[])",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"integer[]","gives":"id integer, kind smallint, text text"},
  },
  insert_operation: {
    text: "INSERT INTO millrace.operation (\n    id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,\n    created_at, next_at\n)\nSELECT $1::uuid, 1, $2::text, $3::json, $4::text, $5::text,\n       $6::double precision, $7::smallint, $8::bigint, $9::smallint,\n       CASE\n           WHEN $10::boolean\n               THEN (SELECT (coalesce(max(key), 0) + 1)::text FROM millrace.job)\n           WHEN $11::boolean\n               THEN (1 + millrace.ms_of(\n                   greatest(moment.at, (SELECT max(died_at) FROM millrace.dead_letter))\n               ))::text\n           ELSE ''\n       END,\n       moment.at, moment.at - interval '1 second'\nFROM (SELECT millrace.clock_at($12::timestamptz) AS at) AS moment\nON CONFLICT (id) DO NOTHING",
    parameters: ["id","tenant","plan","actor","reason","rate","chunk","expected","expected_at_least","walks_jobs","walks_letters","now"],
    timeout: "answer",
    routine: {"takes":"uuid, text, json, text, text, double precision, smallint, bigint, smallint, boolean, boolean, timestamp with time zone","gives":null},
  },
  count_open_operations: {
    text: "SELECT count(*) AS count\nFROM (\n    SELECT 1\n    FROM millrace.operation\n    WHERE status <= 2 AND tenant IS NOT DISTINCT FROM $1::text\n    LIMIT $2::integer\n) AS open",
    parameters: ["tenant","max"],
    timeout: "answer",
    routine: {"takes":"text, integer","gives":"count bigint"},
  },
  claimable_operations: {
    text: "SELECT id\nFROM (\n    SELECT id, runner, lease_until, next_at\n    FROM millrace.operation\n    WHERE status <= 2\n    ORDER BY next_at, id\n    LIMIT $1::integer\n) AS due_first\nWHERE runner IS NULL OR runner = $2::text\n   OR lease_until <= millrace.clock_at($3::timestamptz)\nORDER BY next_at, id",
    parameters: ["max","runner","now"],
    timeout: "answer",
    routine: {"takes":"integer, text, timestamp with time zone","gives":"id uuid"},
  },
  hold_operations: {
    text: "UPDATE millrace.operation AS held\nSET status = 2, runner = $1::text,\n    lease_until = greatest(moment.at, next_at) + $2::bigint * interval '1 millisecond',\n    started_at = coalesce(started_at, moment.at)\nFROM (SELECT millrace.clock_at($3::timestamptz) AS at) AS moment\nWHERE held.id = ANY ($4::uuid[])\n  AND held.status <= 2\n  AND (held.runner IS NULL OR held.runner = $1::text OR held.lease_until <= moment.at)\nRETURNING held.id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least,\n          cursor, done, failed, skipped, items, millrace.ms_of(created_at) AS created_at,\n          millrace.ms_of(started_at) AS started_at, millrace.ms_of(finished_at) AS finished_at,\n          greatest(0, millrace.ms_of(next_at) - millrace.ms_of(moment.at)) AS next_ms, runner,\n          stopped_by, error",
    parameters: ["runner","lease_ms","now","ids"],
    timeout: "answer",
    routine: {"takes":"text, bigint, timestamp with time zone, uuid[]","gives":"id uuid, status smallint, tenant text, plan json, actor text, reason text, rate double precision, chunk smallint, expected bigint, expected_at_least smallint, cursor text, done bigint, failed bigint, skipped json, items bigint, created_at bigint, started_at bigint, finished_at bigint, next_ms bigint, runner text, stopped_by text, error json"},
  },
  find_operation: {
    text: "SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,\n       done, failed, skipped, items, millrace.ms_of(created_at) AS created_at,\n       millrace.ms_of(started_at) AS started_at, millrace.ms_of(finished_at) AS finished_at,\n       greatest(\n           0, millrace.ms_of(next_at) - millrace.ms_of(millrace.clock_at($1::timestamptz))\n       ) AS next_ms, runner, stopped_by, error\nFROM millrace.operation\nWHERE id = $2::uuid",
    parameters: ["now","id"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid","gives":"id uuid, status smallint, tenant text, plan json, actor text, reason text, rate double precision, chunk smallint, expected bigint, expected_at_least smallint, cursor text, done bigint, failed bigint, skipped json, items bigint, created_at bigint, started_at bigint, finished_at bigint, next_ms bigint, runner text, stopped_by text, error json"},
  },
  lock_operation: {
    text: "SELECT id FROM millrace.operation WHERE id = $1::uuid FOR UPDATE",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"id uuid"},
  },
  list_operations: {
    text: "SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,\n       done, failed, skipped, items, millrace.ms_of(created_at) AS created_at,\n       millrace.ms_of(started_at) AS started_at, millrace.ms_of(finished_at) AS finished_at,\n       greatest(\n           0, millrace.ms_of(next_at) - millrace.ms_of(millrace.clock_at($1::timestamptz))\n       ) AS next_ms, runner, stopped_by, error\nFROM millrace.operation\nWHERE id < $2::uuid\n  AND ($3::smallint IS NULL OR status = $3::smallint)\n  AND ($4::text IS NULL OR tenant = $4::text)\nORDER BY id DESC\nLIMIT $5::integer",
    parameters: ["now","before","status","tenant","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, uuid, smallint, text, integer","gives":"id uuid, status smallint, tenant text, plan json, actor text, reason text, rate double precision, chunk smallint, expected bigint, expected_at_least smallint, cursor text, done bigint, failed bigint, skipped json, items bigint, created_at bigint, started_at bigint, finished_at bigint, next_ms bigint, runner text, stopped_by text, error json"},
  },
  advance_operation: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\npaid AS MATERIALIZED (\n    SELECT greatest(operation.next_at, moment.at - interval '1 second')\n               + $2::bigint * interval '1 millisecond' AS until\n    FROM millrace.operation AS operation\n    CROSS JOIN moment\n    WHERE operation.id = $3::uuid\n)\nUPDATE millrace.operation\nSET cursor = $4::text, done = $5::bigint, failed = $6::bigint,\n    skipped = $7::json, items = $8::bigint,\n    next_at = paid.until,\n    lease_until = CASE\n        WHEN NOT $9::boolean\n            THEN greatest(moment.at, paid.until) + $10::bigint * interval '1 millisecond'\n    END,\n    runner = CASE WHEN NOT $9::boolean THEN runner END,\n    status = CASE WHEN $9::boolean THEN 3 ELSE status END,\n    finished_at = CASE WHEN $9::boolean THEN moment.at END\nFROM moment\nCROSS JOIN paid\nWHERE id = $3::uuid",
    parameters: ["now","cost_ms","id","cursor","done","failed","skipped","items","is_last","lease_ms"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint, uuid, text, bigint, bigint, json, bigint, boolean, bigint","gives":null},
  },
  stop_operation: {
    text: "UPDATE millrace.operation\nSET status = 4, stopped_by = $1::text, finished_at = millrace.clock_at($2::timestamptz),\n    runner = NULL, lease_until = NULL\nWHERE id = $3::uuid AND status <= 2",
    parameters: ["by","now","id"],
    timeout: "answer",
    routine: {"takes":"text, timestamp with time zone, uuid","gives":null},
  },
  fail_operation: {
    text: "UPDATE millrace.operation\nSET status = 5, error = $1::json, finished_at = millrace.clock_at($2::timestamptz),\n    runner = NULL, lease_until = NULL\nWHERE id = $3::uuid AND status = 2 AND runner = $4::text",
    parameters: ["error","now","id","runner"],
    timeout: "answer",
    routine: {"takes":"json, timestamp with time zone, uuid, text","gives":null},
  },
  insert_operation_items: {
    text: "INSERT INTO millrace.operation_item (operation, n, job_id, outcome, code, successor)\nSELECT $1::uuid, item.n, item.id, item.outcome, item.code, item.successor\nFROM json_to_recordset($2::json) AS item (\n    n bigint, id uuid, outcome smallint, code text, successor uuid\n)",
    parameters: ["id","items"],
    timeout: "answer",
    routine: {"takes":"uuid, json","gives":null},
  },
  list_operation_items: {
    text: "SELECT n, job_id, outcome, code, successor\nFROM millrace.operation_item\nWHERE operation = $1::uuid AND n > $2::bigint\n  AND ($3::smallint IS NULL OR outcome = $3::smallint)\nORDER BY n\nLIMIT $4::integer",
    parameters: ["id","after","outcome","limit"],
    timeout: "reader",
    routine: {"takes":"uuid, bigint, smallint, integer","gives":"n bigint, job_id uuid, outcome smallint, code text, successor uuid"},
  },
  delete_operation_items: {
    text: "WITH old AS MATERIALIZED (\n    SELECT item.operation, item.n\n    FROM millrace.operation AS ended\n    JOIN millrace.operation_item AS item ON item.operation = ended.id\n    WHERE ended.status >= 3\n      AND ended.finished_at\n          < millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond'\n    LIMIT $3::integer\n    FOR UPDATE OF item SKIP LOCKED\n)\nDELETE FROM millrace.operation_item AS item\nUSING old\nWHERE item.operation = old.operation AND item.n = old.n",
    parameters: ["now","age","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  delete_operations: {
    text: "DELETE FROM millrace.operation\nWHERE id = ANY (ARRAY(\n    SELECT ended.id\n    FROM millrace.operation AS ended\n    WHERE ended.status >= 3\n      AND ended.finished_at\n          < millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond'\n      AND NOT EXISTS (\n          SELECT 1 FROM millrace.operation_item AS item WHERE item.operation = ended.id\n      )\n    LIMIT $3::integer\n))",
    parameters: ["now","age","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  set_priorities: {
    text: "WITH wanted AS MATERIALIZED (\n    SELECT key FROM unnest($1::bigint[]) AS wanted (key) ORDER BY key\n),\nin_ready AS (\n    UPDATE millrace.ready AS place\n    SET priority = $2::integer\n    FROM wanted\n    WHERE place.key = wanted.key\n    RETURNING place.key\n),\nin_scheduled AS (\n    UPDATE millrace.scheduled AS place\n    SET priority = $2::integer\n    FROM wanted\n    WHERE place.key = wanted.key\n    RETURNING place.key\n),\nin_blocked AS (\n    UPDATE millrace.blocked AS place\n    SET priority = $2::integer\n    FROM wanted\n    WHERE place.key = wanted.key\n    RETURNING place.key\n)\nSELECT key FROM in_ready\nUNION ALL\nSELECT key FROM in_scheduled\nUNION ALL\nSELECT key FROM in_blocked",
    parameters: ["keys","priority"],
    timeout: "answer",
    routine: {"takes":"bigint[], integer","gives":"key bigint"},
  },
  other_successors: {
    text: "SELECT named.id, newest.id AS successor\nFROM unnest($1::uuid[]) AS named (id)\nCROSS JOIN LATERAL (\n    WITH RECURSIVE line (id, key, depth) AS (\n        SELECT job.id, job.key, 1 FROM millrace.job AS job WHERE job.retry_of = named.id\n        UNION ALL\n        SELECT job.id, job.key, line.depth + 1\n        FROM line\n        JOIN millrace.job AS job ON job.retry_of = line.id\n        WHERE line.depth < $2::integer\n    )\n    SELECT line.id\n    FROM line\n    WHERE line.id = ANY ($1::uuid[])\n       OR NOT EXISTS (\n           SELECT 1 FROM millrace.attempt AS ended WHERE ended.key = line.key AND ended.state = 6\n       )\n    ORDER BY line.key DESC\n    LIMIT 1\n) AS newest",
    parameters: ["ids","depth"],
    timeout: "answer",
    routine: {"takes":"uuid[], integer","gives":"id uuid, successor uuid"},
  },
  states_of_jobs: {
    text: "SELECT asked.id, now.key, now.state, job.tenant\nFROM unnest($1::uuid[]) AS asked (id)\nCROSS JOIN LATERAL (SELECT key FROM millrace.job_name WHERE id = asked.id) AS named\nJOIN millrace.job_now AS now ON now.key = named.key\nJOIN millrace.job AS job ON job.key = named.key",
    parameters: ["ids"],
    timeout: "answer",
    routine: {"takes":"uuid[]","gives":"id uuid, key bigint, state integer, tenant integer"},
  },
  jobs_left: {
    text: "SELECT key FROM millrace.job WHERE key = ANY ($1::bigint[])",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint"},
  },
  save_part: {
    text: "SAVEPOINT part",
    parameters: [],
    timeout: "answer",
    routine: null,
  },
  undo_part: {
    text: "ROLLBACK TO part",
    parameters: [],
    timeout: "answer",
    routine: null,
  },
  keep_part: {
    text: "RELEASE part",
    parameters: [],
    timeout: "answer",
    routine: null,
  },
  put_payload_rule: {
    text: "INSERT INTO millrace.payload_rule (scope, name, rule, owner, by, reason, set_at)\nVALUES (\n    $1::text, $2::text, $3::json, 'operator', $4::text, $5::text,\n    millrace.clock_at($6::timestamptz)\n)\nON CONFLICT (scope, name) DO UPDATE\nSET rule = excluded.rule, owner = excluded.owner, by = excluded.by, reason = excluded.reason,\n    set_at = excluded.set_at",
    parameters: ["scope","name","rule","by","reason","now"],
    timeout: "answer",
    routine: {"takes":"text, text, json, text, text, timestamp with time zone","gives":null},
  },
  declare_payload_rule: {
    text: "INSERT INTO millrace.payload_rule (scope, name, rule, owner, set_at)\nVALUES (\n    $1::text, $2::text, $3::json, 'code', millrace.clock_at($4::timestamptz)\n)\nON CONFLICT (scope, name) DO UPDATE\nSET rule = excluded.rule, set_at = excluded.set_at\nWHERE payload_rule.owner = 'code' AND payload_rule.rule::text <> excluded.rule::text",
    parameters: ["scope","name","rule","now"],
    timeout: "answer",
    routine: {"takes":"text, text, json, timestamp with time zone","gives":null},
  },
  empty_payload_rule: {
    text: "UPDATE millrace.payload_rule\nSET rule = '{}', owner = 'operator', by = $1::text, reason = $2::text,\n    set_at = millrace.clock_at($3::timestamptz)\nWHERE scope = $4::text AND name = $5::text AND owner = 'code'",
    parameters: ["by","reason","now","scope","name"],
    timeout: "answer",
    routine: {"takes":"text, text, timestamp with time zone, text, text","gives":null},
  },
  delete_payload_rule: {
    text: "DELETE FROM millrace.payload_rule\nWHERE scope = $1::text AND name = $2::text AND owner = 'operator'",
    parameters: ["scope","name"],
    timeout: "answer",
    routine: {"takes":"text, text","gives":null},
  },
  payload_rules: {
    text: "SELECT scope, name, rule::text AS rule, owner, by, reason, millrace.ms_of(set_at) AS set_at\nFROM millrace.payload_rule\nORDER BY scope COLLATE \"C\", name COLLATE \"C\"",
    parameters: [],
    timeout: "reader",
    routine: {"takes":"","gives":"scope text, name text, rule text, owner text, by text, reason text, set_at bigint"},
  },
  take_waiting: {
    text: "WITH wanted AS MATERIALIZED (\n    SELECT key FROM unnest($1::bigint[]) AS wanted (key) ORDER BY key\n),\nfrom_ready AS (\n    DELETE FROM millrace.ready AS place\n    USING wanted\n    WHERE place.key = wanted.key\n    RETURNING place.key, coalesce(place.due * 1000, place.rank) AS rank, place.lane,\n              place.priority, place.type, place.tenant, place.concurrency, place.n, place.tries,\n              place.crashes\n),\nfrom_scheduled AS (\n    DELETE FROM millrace.scheduled AS place\n    USING wanted\n    WHERE place.key = wanted.key\n    RETURNING place.key, millrace.ms_of(place.run_at) * 1000 AS rank, place.lane, place.priority,\n              place.type, place.tenant, place.concurrency, place.n, place.tries, place.crashes\n),\nfrom_blocked AS (\n    DELETE FROM millrace.blocked AS place\n    USING wanted\n    WHERE place.key = wanted.key\n    RETURNING place.key, place.rank, place.lane, place.priority, place.type, place.tenant,\n              place.concurrency, place.n, place.tries, place.crashes\n)\nSELECT * FROM from_ready\nUNION ALL\nSELECT * FROM from_scheduled\nUNION ALL\nSELECT * FROM from_blocked",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint, rank bigint, lane integer, priority integer, type integer, tenant integer, concurrency text, n integer, tries integer, crashes integer"},
  },
  put_waiting: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\njob AS MATERIALIZED (\n    SELECT job.key, job.lane, job.priority, job.type, job.tenant, job.concurrency, job.n,\n           job.tries, job.crashes,\n           date_trunc('milliseconds', coalesce(\n               millrace.at_ms(job.due_at),\n               moment.at + job.delay_ms * interval '1 millisecond'\n           )) AS run_at,\n           moment.at AS now,\n           (\n               SELECT link.job FROM millrace.dependency AS link WHERE link.job = job.key LIMIT 1\n           ) IS NOT NULL AS awaits\n    FROM moment\n    CROSS JOIN json_to_recordset($2::json) AS job (\n        key bigint, lane integer, priority integer, type integer, tenant integer,\n        concurrency text, n integer, tries integer, crashes integer, due_at bigint, delay_ms bigint\n    )\n),\nwaiting AS (\n    INSERT INTO millrace.scheduled (\n        key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, run_at, lane, priority, type, tenant, n, tries, crashes, concurrency\n    FROM job\n    WHERE run_at > now AND NOT awaits\n),\ndue AS (\n    INSERT INTO millrace.ready (\n        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, millrace.ms_of(run_at) * 1000, lane, priority, type, tenant, n, tries, crashes,\n           concurrency\n    FROM job\n    WHERE run_at <= now AND NOT awaits\n),\nheld AS (\n    INSERT INTO millrace.blocked (\n        key, rank, gate, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, millrace.ms_of(run_at) * 1000, 0, lane, priority, type, tenant, n, tries, crashes,\n           concurrency\n    FROM job\n    WHERE awaits\n)\nSELECT key, run_at > now AND NOT awaits AS waits FROM job",
    parameters: ["now","jobs"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":"key bigint, waits boolean"},
  },
  put_back: {
    text: "INSERT INTO millrace.ready (\n    key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n)\nSELECT job.key, job.rank, job.lane, job.priority, job.type, job.tenant, job.n, job.tries,\n       job.crashes, job.concurrency\nFROM json_to_recordset($1::json) AS job (\n    key bigint, rank bigint, lane integer, priority integer, type integer, tenant integer,\n    n integer, tries integer, crashes integer, concurrency text\n)",
    parameters: ["jobs"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  end_unstarted: {
    text: "WITH ended AS (\n    INSERT INTO millrace.attempt (\n        key, n, tries, crashes, finished_at, outcome, state, reason\n    )\n    SELECT job.key, job.n, job.tries, job.crashes, millrace.clock_at($1::timestamptz), 5, 7,\n           job.reason\n    FROM json_to_recordset($2::json) AS job (\n        key bigint, n integer, tries integer, crashes integer, reason text\n    )\n    RETURNING key\n),\ndeleted_dedup AS (\n    DELETE FROM millrace.dedup AS held\n    USING ended\n    WHERE held.job = ended.key\n),\ndeleted_requests AS (\n    DELETE FROM millrace.cancel_request AS request\n    USING ended\n    WHERE request.key = ended.key\n)\nSELECT millrace.end_jobs(array_agg(key)) AS awaited FROM ended",
    parameters: ["now","jobs"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":"awaited boolean"},
  },
  still_waiting: {
    text: "SELECT key FROM millrace.ready WHERE key = ANY ($1::bigint[])\nUNION ALL\nSELECT key FROM millrace.scheduled WHERE key = ANY ($1::bigint[])\nUNION ALL\nSELECT key FROM millrace.blocked WHERE key = ANY ($1::bigint[])",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint"},
  },
  hurry_job: {
    text: "WITH put_forward AS (\n    UPDATE millrace.blocked AS blocked\n    SET rank = millrace.ms_of(millrace.clock_at($1::timestamptz)) * 1000\n    WHERE blocked.key = (SELECT key FROM millrace.job_name WHERE id = $2::uuid)\n      AND blocked.gate = 0\n      AND blocked.rank > millrace.ms_of(millrace.clock_at($1::timestamptz)) * 1000\n    RETURNING blocked.key\n),\ntaken AS (\n    DELETE FROM millrace.scheduled AS scheduled\n    WHERE scheduled.key = (SELECT key FROM millrace.job_name WHERE id = $2::uuid)\n    RETURNING scheduled.*\n),\nmoved AS (\n    INSERT INTO millrace.ready (\n        key, rank, lane, priority, type, tenant, n, tries, crashes, concurrency\n    )\n    SELECT key, millrace.ms_of(millrace.clock_at($1::timestamptz)) * 1000, lane, priority, type,\n           tenant, n, tries, crashes, concurrency\n    FROM taken\n    RETURNING key\n)\nSELECT (SELECT count(*) FROM moved) AS moved, (SELECT count(*) FROM put_forward) AS put_forward",
    parameters: ["now","id"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid","gives":"moved bigint, put_forward bigint"},
  },
  state_of: {
    text: "SELECT now.key, now.state,\n       (SELECT coalesce(max(n), 0) FROM millrace.attempt AS run WHERE run.key = now.key) AS runs,\n       (\n           SELECT max(lease.number)\n           FROM millrace.lease AS lease\n           WHERE now.key BETWEEN lease.low AND lease.high\n             AND lease.keys @> ARRAY[now.key]\n       ) AS lease,\n       millrace.ms_of(millrace.clock_at($1::timestamptz)) AS at, now.tenant\nFROM millrace.job_now AS now\nWHERE now.key = (SELECT key FROM millrace.job_name WHERE id = $2::uuid)",
    parameters: ["now","id"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid","gives":"key bigint, state integer, runs integer, lease bigint, at bigint, tenant integer"},
  },
  insert_cancel_request: {
    text: "INSERT INTO millrace.cancel_request (key, by, reason, at)\nVALUES ($1::bigint, $2::text, $3::text, millrace.clock_at($4::timestamptz))\nON CONFLICT (key) DO NOTHING",
    parameters: ["key","by","reason","now"],
    timeout: "answer",
    routine: {"takes":"bigint, text, text, timestamp with time zone","gives":null},
  },
  expired_keys: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\nleased AS MATERIALIZED (\n    SELECT DISTINCT claimed.key\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys) AS claimed (key)\n),\nage AS MATERIALIZED (\n    SELECT age.turn, age.state, age.type, age.others, age.from_key,\n           millrace.at_ms(age.from_at) AS from_at,\n           least(due.at, millrace.at_ms(age.end_at)) AS end_at,\n           CASE WHEN due.at < millrace.at_ms(age.end_at) THEN 9223372036854775807\n                ELSE age.end_key END AS end_key\n    FROM moment\n    CROSS JOIN json_to_recordset($2::json) AS age (\n        turn integer, state smallint, ms bigint, type integer, others integer[], from_at bigint,\n        from_key bigint, end_at bigint, end_key bigint\n    )\n    CROSS JOIN LATERAL (\n        SELECT moment.at - age.ms * interval '1 millisecond' AS at\n    ) AS due\n),\nwalked AS MATERIALIZED (\n    SELECT age.turn, age.type, age.others, passed.key, passed.finished_at, passed.place\n    FROM age\n    CROSS JOIN LATERAL (\n        SELECT attempt.key, attempt.finished_at,\n               row_number() OVER (ORDER BY attempt.finished_at, attempt.key) AS place\n        FROM millrace.attempt AS attempt\n        WHERE attempt.state = age.state\n          AND attempt.finished_at >= age.from_at\n          AND attempt.finished_at <= age.end_at\n          AND (attempt.finished_at, attempt.key) > (age.from_at, age.from_key)\n          AND (attempt.finished_at, attempt.key) <= (age.end_at, age.end_key)\n        ORDER BY attempt.finished_at, attempt.key\n        LIMIT $3::integer\n    ) AS passed\n),\nfound AS MATERIALIZED (\n    SELECT walked.turn, walked.key, walked.finished_at,\n           row_number() OVER (\n               PARTITION BY walked.turn ORDER BY walked.finished_at, walked.key\n           ) AS place\n    FROM walked\n    WHERE walked.key NOT IN (SELECT leased.key FROM leased)\n      AND walked.key NOT IN (SELECT code.key FROM millrace.job_with_code AS code)\n      AND (\n          SELECT link.job\n          FROM millrace.dependency AS link\n          WHERE link.depends_on = walked.key\n          LIMIT 1\n      ) IS NULL\n      AND (\n          SELECT parent.key\n          FROM millrace.job AS child\n          JOIN millrace.job AS parent ON parent.id = child.parent\n          WHERE child.key = walked.key\n            AND (\n                SELECT last.key\n                FROM millrace.attempt AS last\n                WHERE last.key = parent.key AND last.state IS NOT NULL\n                LIMIT 1\n            ) IS NULL\n          LIMIT 1\n      ) IS NULL\n      AND (\n          SELECT parent.key\n          FROM millrace.alias AS alias\n          JOIN millrace.job AS parent ON parent.key = alias.parent\n          WHERE alias.job = walked.key\n            AND (\n                SELECT over.key\n                FROM millrace.attempt AS over\n                WHERE over.key = parent.key AND over.state IS NOT NULL\n                LIMIT 1\n            ) IS NULL\n          LIMIT 1\n      ) IS NULL\n      AND (\n          (walked.type IS NULL AND walked.others = '{}')\n          OR (\n              SELECT job.type\n              FROM millrace.job AS job\n              WHERE job.key = walked.key\n                AND (walked.type IS NULL OR job.type = walked.type)\n                AND job.type <> ALL (walked.others)\n          ) IS NOT NULL\n      )\n      AND (\n          NOT $4::boolean\n          OR (SELECT stale.key FROM millrace.stale AS stale WHERE stale.key = walked.key) IS NULL\n      )\n)\nSELECT turn, key, millrace.ms_of(finished_at) AS at, true AS is_found, false AS is_cut\nFROM found\nWHERE place <= $5::integer\nUNION ALL\nSELECT age.turn, coalesce(cut.key, 0), millrace.ms_of(coalesce(cut.finished_at, age.end_at)),\n       false, cut.key IS NOT NULL\nFROM age\nLEFT JOIN walked AS cut ON cut.turn = age.turn AND cut.place = $3::integer\nORDER BY at, key",
    parameters: ["now","ages","depth","fresh","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, json, integer, boolean, integer","gives":"turn integer, key bigint, at bigint, is_found boolean, is_cut boolean"},
  },
  jobs_by_keys: {
    text: "SELECT job.*, told.phase, told.overall, stale.key IS NOT NULL AS is_stale,\n       job.last_started_at AS started_at\nFROM unnest($1::bigint[]) WITH ORDINALITY AS named (key, turn)\nJOIN millrace.job_record AS job ON job.key = named.key\nLEFT JOIN millrace.run AS told ON told.key = job.key\nLEFT JOIN millrace.stale AS stale ON stale.key = job.key\nWHERE job.state > 3\nORDER BY named.turn",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint, id uuid, state integer, type integer, tenant integer, lane integer, category integer, priority integer, payload json, payload_version text, correlation text, parent uuid, retry_of uuid, concurrency text, idempotency text, dedup text, webhook text, flags smallint, tags json, created_by text, max_attempts integer, timeout_ms bigint, tries integer, crashes integer, outcome smallint, result json, error json, cancel_reason text, gate integer, cancel_requested boolean, created_at bigint, run_at bigint, next_run_at bigint, finished_at bigint, last_started_at bigint, phase text, overall double precision, is_stale boolean, started_at bigint"},
  },
  insert_stale: {
    text: "INSERT INTO millrace.stale (key, at)\nSELECT DISTINCT over.key, millrace.clock_at($1::timestamptz)\nFROM millrace.attempt AS over\nWHERE over.key = ANY ($2::bigint[])\n  AND over.state IS NOT NULL\nORDER BY over.key\nON CONFLICT (key) DO NOTHING\nRETURNING key",
    parameters: ["now","keys"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, bigint[]","gives":"key bigint"},
  },
  prune_jobs: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\nleased AS MATERIALIZED (\n    SELECT DISTINCT claimed.key\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys) AS claimed (key)\n),\naged AS MATERIALIZED (\n    SELECT attempt.key, attempt.finished_at\n    FROM millrace.attempt AS attempt\n    WHERE attempt.key = ANY ($2::bigint[])\n      AND attempt.state IS NOT NULL\n      AND attempt.key NOT IN (SELECT leased.key FROM leased)\n      AND attempt.key NOT IN (SELECT code.key FROM millrace.job_with_code AS code)\n      AND NOT EXISTS (SELECT 1 FROM millrace.dependency AS link WHERE link.depends_on = attempt.key)\n      AND (\n          SELECT parent.key\n          FROM millrace.job AS child\n          JOIN millrace.job AS parent ON parent.id = child.parent\n          WHERE child.key = attempt.key\n            AND (\n                SELECT last.key\n                FROM millrace.attempt AS last\n                WHERE last.key = parent.key AND last.state IS NOT NULL\n                LIMIT 1\n            ) IS NULL\n          LIMIT 1\n      ) IS NULL\n      AND (\n          SELECT parent.key\n          FROM millrace.alias AS alias\n          JOIN millrace.job AS parent ON parent.key = alias.parent\n          WHERE alias.job = attempt.key\n            AND (\n                SELECT over.key\n                FROM millrace.attempt AS over\n                WHERE over.key = parent.key AND over.state IS NOT NULL\n                LIMIT 1\n            ) IS NULL\n          LIMIT 1\n      ) IS NULL\n    ORDER BY attempt.finished_at, attempt.key\n    FOR UPDATE SKIP LOCKED\n),\nweighed AS (\n    SELECT aged.key, aged.finished_at,\n           sum(unit.count) OVER (ORDER BY aged.finished_at, aged.key) - unit.count AS units_before\n    FROM aged\n    CROSS JOIN LATERAL (\n        SELECT count(*) AS count\n        FROM (\n            SELECT 1 FROM millrace.unit WHERE unit.key = aged.key LIMIT $3::integer\n        ) AS few\n    ) AS unit\n),\nexpired AS MATERIALIZED (\n    SELECT key, finished_at\n    FROM weighed\n    WHERE units_before < $3::integer\n),\ngone AS (\n    DELETE FROM millrace.job\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n    RETURNING key, id, type, tenant, correlation, idempotency, tags\n),\ndeleted_attempts AS (\n    DELETE FROM millrace.attempt\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_progress AS (\n    DELETE FROM millrace.run\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_phases AS (\n    DELETE FROM millrace.phase\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_units AS (\n    DELETE FROM millrace.unit\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_logs AS (\n    DELETE FROM millrace.log\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_errors AS (\n    DELETE FROM millrace.task_error\n    WHERE task_id = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_marks AS (\n    DELETE FROM millrace.stale\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_aliases AS (\n    DELETE FROM millrace.alias\n    WHERE job = ANY (ARRAY(SELECT key FROM expired))\n       OR parent = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_dependencies AS (\n    DELETE FROM millrace.dependency\n    WHERE job = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_finished AS (\n    DELETE FROM millrace.finished_dependency\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\ndeleted_tags AS (\n    DELETE FROM millrace.tag AS tag\n    USING gone\n    CROSS JOIN LATERAL json_each_text(gone.tags) AS old\n    WHERE gone.tags IS NOT NULL\n      AND tag.name = old.key AND tag.value = old.value AND tag.key = gone.key\n),\ndeleted_requests AS (\n    DELETE FROM millrace.cancel_request\n    WHERE key = ANY (ARRAY(SELECT key FROM expired))\n),\nexpiring AS (\n    UPDATE millrace.idempotency AS held\n    SET expires_at = expired.finished_at + $4::bigint * interval '1 millisecond'\n    FROM gone\n    JOIN expired ON expired.key = gone.key\n    WHERE gone.idempotency IS NOT NULL\n      AND held.tenant = gone.tenant AND held.key = gone.idempotency AND held.job_id = gone.id\n),\nnamed AS (\n    SELECT gone.id, row_number() OVER (ORDER BY gone.key) AS turn,\n           json_build_object(\n               'type', coalesce(type.text, 'unknown name ' || gone.type),\n               'tenant', coalesce(tenant.text, 'unknown name ' || gone.tenant),\n               'correlationId', coalesce(gone.correlation, gone.id::text)\n           )::text AS detail\n    FROM gone\n    LEFT JOIN millrace.interned_name AS type ON type.id = gone.type\n    LEFT JOIN millrace.interned_name AS tenant ON tenant.id = gone.tenant\n),\nevents AS (\n    INSERT INTO millrace.event_outbox (at, kind, ids, details)\n    SELECT moment.at, 7, array_agg(named.id ORDER BY named.turn),\n           array_agg(named.detail ORDER BY named.turn)\n    FROM moment\n    CROSS JOIN named\n    GROUP BY moment.at, (named.turn - 1) / 1000\n)\nSELECT (SELECT count(*) FROM expired) AS count,\n       (SELECT count(*) FROM aged) - (SELECT count(*) FROM expired) AS waiting",
    parameters: ["now","keys","units","idempotency_ms"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint[], integer, bigint","gives":"count bigint, waiting bigint"},
  },
  prune_idempotency: {
    text: "WITH expired AS MATERIALIZED (\n    SELECT ctid AS place, expires_at\n    FROM millrace.idempotency\n    WHERE expires_at >= millrace.at_ms($1::bigint)\n      AND expires_at <= millrace.clock_at($2::timestamptz)\n    ORDER BY expires_at\n    LIMIT $3::integer\n    FOR UPDATE SKIP LOCKED\n),\ngone AS (\n    DELETE FROM millrace.idempotency\n    WHERE ctid = ANY (ARRAY(SELECT place FROM expired))\n)\nSELECT count(*) AS count, millrace.ms_of(max(expires_at)) AS last\nFROM expired\nHAVING count(*) > 0",
    parameters: ["since","now","limit"],
    timeout: "reader",
    routine: {"takes":"bigint, timestamp with time zone, integer","gives":"count bigint, last bigint"},
  },
  prune_dead_letters: {
    text: "WITH expired AS MATERIALIZED (\n    SELECT id\n    FROM millrace.dead_letter\n    WHERE died_at <= millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond'\n    ORDER BY died_at, id\n    LIMIT $3::integer\n    FOR UPDATE SKIP LOCKED\n)\nDELETE FROM millrace.dead_letter\nWHERE id = ANY (ARRAY(SELECT id FROM expired))",
    parameters: ["now","age","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  prune_tokens: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\nended AS MATERIALIZED (\n    SELECT id\n    FROM millrace.api_token\n    WHERE (kind IN (4, 5) AND least(expires_at, revoked_at) <= (SELECT at FROM moment))\n       OR (\n           kind IN (1, 2, 3)\n           AND least(expires_at, revoked_at)\n               <= (SELECT at FROM moment) - $2::bigint * interval '1 millisecond'\n       )\n    ORDER BY least(expires_at, revoked_at), id\n    LIMIT $3::integer\n    FOR UPDATE SKIP LOCKED\n)\nDELETE FROM millrace.api_token\nWHERE id = ANY (ARRAY(SELECT id FROM ended))",
    parameters: ["now","age","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  prune_events: {
    text: "WITH oldest AS MATERIALIZED (\n    SELECT position, at\n    FROM millrace.event\n    ORDER BY position\n    LIMIT $1::integer\n),\nyoung AS MATERIALIZED (\n    SELECT min(position) AS position\n    FROM oldest\n    WHERE at > millrace.clock_at($2::timestamptz) - $3::bigint * interval '1 millisecond'\n)\nDELETE FROM millrace.event\nWHERE position = ANY (ARRAY(\n    SELECT oldest.position\n    FROM oldest\n    CROSS JOIN young\n    WHERE oldest.position < coalesce(young.position, 9223372036854775807)\n))",
    parameters: ["limit","now","age"],
    timeout: "reader",
    routine: {"takes":"integer, timestamp with time zone, bigint","gives":null},
  },
  prune_minutes: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond' AS at\n),\nended AS MATERIALIZED (\n    SELECT minute.ctid AS place\n    FROM (VALUES (1::smallint), (60::smallint)) AS kind (span)\n    JOIN millrace.minute AS minute ON minute.span = kind.span\n    WHERE minute.start <= (SELECT at FROM moment) - kind.span * interval '1 minute'\n    LIMIT $3::integer\n    FOR UPDATE OF minute SKIP LOCKED\n)\nDELETE FROM millrace.minute\nWHERE ctid = ANY (ARRAY(SELECT place FROM ended))",
    parameters: ["now","age","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  delete_failure_groups: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) - $2::bigint * interval '1 millisecond' AS before\n),\nexpired AS MATERIALIZED (\n    SELECT old.tenant, old.cause\n    FROM moment\n    CROSS JOIN millrace.failure_group AS old\n    WHERE old.decided_at <= moment.before\n      AND (old.until IS NULL OR old.until <= moment.before)\n      AND NOT EXISTS (\n          SELECT 1\n          FROM millrace.dead_letter AS letter\n          WHERE letter.cause = old.cause\n            AND letter.status IN (1, 2)\n            AND old.tenant IN (0, letter.tenant)\n      )\n    ORDER BY old.decided_at\n    LIMIT $3::integer\n    FOR UPDATE OF old SKIP LOCKED\n)\nDELETE FROM millrace.failure_group AS gone\nUSING expired\nWHERE gone.tenant = expired.tenant AND gone.cause = expired.cause",
    parameters: ["now","age","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, bigint, integer","gives":null},
  },
  declared_periods: {
    text: "SELECT value\nFROM millrace.meta\nWHERE name = 'retention'",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"value text"},
  },
  lock_declared_periods: {
    text: "SELECT value\nFROM millrace.meta\nWHERE name = 'retention'\nFOR UPDATE",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"value text"},
  },
  put_declared_periods: {
    text: "UPDATE millrace.meta SET value = $1::text WHERE name = 'retention'",
    parameters: ["value"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  put_quota: {
    text: "INSERT INTO millrace.quota (\n    tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at\n)\nSELECT $1::integer, $2::bigint, $3::integer, $4::bigint, $5::integer,\n       $6::integer, $7::text, $8::text, millrace.clock_at($9::timestamptz)\nON CONFLICT (tenant) DO UPDATE\nSET waiting = excluded.waiting, rate_count = excluded.rate_count, rate_ms = excluded.rate_ms,\n    burst = excluded.burst, payload_bytes = excluded.payload_bytes, reason = excluded.reason,\n    by = excluded.by, set_at = excluded.set_at, revision = excluded.revision",
    parameters: ["tenant","waiting","rate_count","rate_ms","burst","payload_bytes","reason","by","now"],
    timeout: "answer",
    routine: {"takes":"integer, bigint, integer, bigint, integer, integer, text, text, timestamp with time zone","gives":null},
  },
  delete_quota: {
    text: "DELETE FROM millrace.quota\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  delete_quota_use: {
    text: "DELETE FROM millrace.quota_use\nWHERE $1::integer = 0 OR tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  all_quotas: {
    text: "SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by,\n       millrace.ms_of(set_at) AS set_at, revision\nFROM millrace.quota\nORDER BY tenant\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"tenant integer, waiting bigint, rate_count integer, rate_ms bigint, burst integer, payload_bytes integer, reason text, by text, set_at bigint, revision bigint"},
  },
  find_quotas: {
    text: "SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by,\n       millrace.ms_of(set_at) AS set_at, revision\nFROM millrace.quota\nWHERE tenant = ANY ($1::integer[])",
    parameters: ["tenants"],
    timeout: "answer",
    routine: {"takes":"integer[]","gives":"tenant integer, waiting bigint, rate_count integer, rate_ms bigint, burst integer, payload_bytes integer, reason text, by text, set_at bigint, revision bigint"},
  },
  quota_uses: {
    text: "SELECT tenant, tokens, millrace.ms_of(refilled_at) AS refilled_at\nFROM millrace.quota_use\nWHERE tenant = ANY ($1::integer[])",
    parameters: ["tenants"],
    timeout: "answer",
    routine: {"takes":"integer[]","gives":"tenant integer, tokens double precision, refilled_at bigint"},
  },
  take_quota_tokens: {
    text: "SELECT granted, tokens, at\nFROM millrace.take_quota_tokens(\n    $1::integer, $2::integer, $3::integer, $4::bigint, $5::integer,\n    $6::timestamptz\n)",
    parameters: ["tenant","wanted","rate_count","rate_ms","burst","now"],
    timeout: "answer",
    routine: {"takes":"integer, integer, integer, bigint, integer, timestamp with time zone","gives":"granted integer, tokens double precision, at bigint"},
  },
  count_of_tenant: {
    text: "SELECT (\n    SELECT count(*)\n    FROM (\n        SELECT 1\n        FROM (SELECT tenant FROM millrace.ready LIMIT $1::bigint) AS place\n        WHERE tenant = $2::integer\n        LIMIT $3::bigint\n    ) AS own\n) + (\n    SELECT count(*)\n    FROM (\n        SELECT 1\n        FROM (SELECT tenant FROM millrace.scheduled LIMIT $1::bigint) AS place\n        WHERE tenant = $2::integer\n        LIMIT $3::bigint\n    ) AS own\n) + (\n    SELECT count(*)\n    FROM (\n        SELECT 1\n        FROM (SELECT tenant FROM millrace.blocked LIMIT $1::bigint) AS place\n        WHERE tenant = $2::integer\n        LIMIT $3::bigint\n    ) AS own\n) AS count",
    parameters: ["rows","tenant","max"],
    timeout: "reader",
    routine: {"takes":"bigint, integer, bigint","gives":"count bigint"},
  },
  forget_notes: {
    text: "WITH anew AS MATERIALIZED (\n    SELECT run.key, run.n\n    FROM json_to_recordset($1::json) AS run (key bigint, n integer)\n),\ndeleted_progress AS (\n    DELETE FROM millrace.run AS old\n    USING anew\n    WHERE old.key = anew.key AND old.n <= anew.n\n),\ndeleted_phases AS (\n    DELETE FROM millrace.phase AS old\n    USING anew\n    WHERE old.key = anew.key AND old.n <= anew.n\n)\nDELETE FROM millrace.unit AS old\nUSING anew\nWHERE old.key = anew.key AND old.n <= anew.n",
    parameters: ["runs"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  put_progress: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at,\n           CASE WHEN $2::boolean\n                THEN set_config('synchronous_commit', 'off', true) END AS setting\n)\nINSERT INTO millrace.run AS old (key, at, n, percent, overall, phase, phases, data)\nSELECT told.key, moment.at, told.n, told.percent, told.overall, told.phase, told.phases,\n       told.data::json\nFROM moment\nCROSS JOIN json_to_recordset($3::json) AS told (\n    key bigint, n integer, percent double precision, overall double precision, phase text,\n    phases json, data text\n)\nORDER BY told.key\nON CONFLICT (key) DO UPDATE\nSET at = excluded.at, n = excluded.n, percent = excluded.percent, overall = excluded.overall,\n    phase = excluded.phase, phases = excluded.phases, data = excluded.data\nWHERE old.n <= excluded.n",
    parameters: ["now","relaxed","told"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, boolean, json","gives":null},
  },
  put_units: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\nmove AS MATERIALIZED (\n    SELECT move.*\n    FROM json_to_recordset($2::json) AS move (\n        key bigint, n integer, turn integer, state smallint, phase text, unit text, result text,\n        error text\n    )\n),\nmoved AS (\n    INSERT INTO millrace.unit AS old (key, at, n, turn, state, phase, unit, result, error)\n    SELECT move.key, moment.at, move.n, move.turn, move.state, move.phase, move.unit,\n           move.result::json, move.error::json\n    FROM moment\n    CROSS JOIN move\n    ORDER BY move.key, move.phase COLLATE \"C\", move.unit COLLATE \"C\"\n    ON CONFLICT (key, phase, unit) DO UPDATE\n    SET at = excluded.at, n = excluded.n, state = excluded.state, result = excluded.result,\n        error = excluded.error, turn = coalesce(nullif(excluded.turn, 0), old.turn)\n    WHERE old.n <= excluded.n\n      AND NOT (old.n = excluded.n AND old.state = excluded.state AND old.state > 1)\n    RETURNING old.key, old.phase, old.unit, old.xmax = 0 AS fresh\n)\nSELECT DISTINCT key, phase, NULL AS unit\nFROM moved\nWHERE fresh\nUNION ALL\n(\n    SELECT key, phase, unit FROM move WHERE state > 1\n    EXCEPT\n    SELECT key, phase, unit FROM moved\n)",
    parameters: ["now","moves"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":"key bigint, phase text, unit text"},
  },
  crowded_phases: {
    text: "SELECT named.key, named.phase\nFROM json_to_recordset($1::json) AS named (key bigint, phase text)\nWHERE (\n    SELECT count(*)\n    FROM (\n        SELECT 1\n        FROM millrace.unit AS unit\n        WHERE unit.key = named.key AND unit.phase = named.phase\n        LIMIT $2::integer + 1\n    ) AS few\n) > $2::integer",
    parameters: ["phases","max"],
    timeout: "answer",
    routine: {"takes":"json, integer","gives":"key bigint, phase text"},
  },
  insert_phases: {
    text: "INSERT INTO millrace.phase (key, at, n, name, result)\nSELECT done.key, moment.at, done.n, done.name, done.result::json\nFROM (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nCROSS JOIN json_to_recordset($2::json) AS done (\n    key bigint, n integer, name text, result text\n)\nORDER BY done.key, done.name COLLATE \"C\"\nON CONFLICT (key, name) DO NOTHING\nRETURNING key, name",
    parameters: ["now","phases"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":"key bigint, name text"},
  },
  take_over: {
    text: "WITH heir AS MATERIALIZED (\n    SELECT job.key, old.key AS source\n    FROM millrace.job AS job\n    JOIN millrace.job AS old ON old.id = job.retry_of\n    WHERE job.key = ANY ($1::bigint[])\n      AND old.payload::text IS NOT DISTINCT FROM job.payload::text\n),\nfailed AS MATERIALIZED (\n    SELECT DISTINCT heir.key, unit.phase AS name\n    FROM heir\n    JOIN millrace.unit AS unit ON unit.key = heir.source AND unit.state = 3\n),\nlater AS MATERIALIZED (\n    SELECT DISTINCT heir.key, step.name\n    FROM heir\n    JOIN failed ON failed.key = heir.key\n    JOIN millrace.run AS run ON run.key = heir.source\n    CROSS JOIN LATERAL json_array_elements_text(run.phases) WITH ORDINALITY AS step (name, turn)\n    JOIN LATERAL json_array_elements_text(run.phases) WITH ORDINALITY AS first (name, turn)\n        ON first.name = failed.name AND first.turn < step.turn\n),\nphases AS (\n    INSERT INTO millrace.phase (key, at, n, name, result)\n    SELECT heir.key, phase.at, 0, phase.name, phase.result\n    FROM heir\n    JOIN millrace.phase AS phase ON phase.key = heir.source\n    WHERE (heir.key, phase.name) NOT IN (SELECT key, name FROM failed)\n      AND (heir.key, phase.name) NOT IN (SELECT key, name FROM later)\n)\nINSERT INTO millrace.unit (key, at, n, turn, state, phase, unit, result)\nSELECT heir.key, unit.at, 0, unit.turn, unit.state, unit.phase, unit.unit, unit.result\nFROM heir\nJOIN millrace.unit AS unit ON unit.key = heir.source AND unit.state = 2",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":null},
  },
  phases_of_job: {
    text: "SELECT phase.name, phase.result, phase.n, millrace.ms_of(phase.at) AS at,\n       millrace.ms_of(attempt.started_at) AS run_started_at\nFROM millrace.phase AS phase\nLEFT JOIN millrace.attempt AS attempt ON attempt.key = phase.key AND attempt.n = phase.n\nWHERE phase.key = $1::bigint\nORDER BY phase.at, phase.n, phase.name COLLATE \"C\"",
    parameters: ["key"],
    timeout: "answer",
    routine: {"takes":"bigint","gives":"name text, result json, n integer, at bigint, run_started_at bigint"},
  },
  ended_units: {
    text: "SELECT phase, unit, state, result, error\nFROM millrace.unit\nWHERE key = $1::bigint\n  AND state > 1\n  AND phase NOT IN (SELECT name FROM millrace.phase WHERE key = $1::bigint)\nORDER BY phase, turn, unit",
    parameters: ["key"],
    timeout: "answer",
    routine: {"takes":"bigint","gives":"phase text, unit text, state smallint, result json, error json"},
  },
  checkpoints_of_job: {
    text: "SELECT (\n           SELECT json_object_agg(phase, failed)::text\n           FROM (\n               SELECT unit.phase, count(*) AS failed\n               FROM millrace.unit AS unit\n               JOIN millrace.phase AS phase ON phase.key = unit.key AND phase.name = unit.phase\n               WHERE unit.key = $1::bigint AND unit.state = 3\n               GROUP BY unit.phase\n           ) AS broken\n       ) AS failed,\n       CASE\n           WHEN newest.n = 0 THEN -1\n           WHEN newest.n > 0 THEN coalesce(\n               (\n                   SELECT tries\n                   FROM millrace.attempt\n                   WHERE key = $1::bigint AND n = newest.n - 1\n               ),\n               0\n           )\n       END AS tries\nFROM (\n    SELECT max(n) AS n\n    FROM (\n        SELECT n FROM millrace.phase WHERE key = $1::bigint\n        UNION ALL\n        SELECT n FROM millrace.unit WHERE key = $1::bigint\n    ) AS left_behind\n) AS newest",
    parameters: ["key"],
    timeout: "answer",
    routine: {"takes":"bigint","gives":"failed text, tries integer"},
  },
  progress_of_job: {
    text: "SELECT job.key, run.phase, run.phases, run.percent, run.overall, run.data,\n       millrace.ms_of(run.at) AS at, run.n,\n       millrace.ms_of(told.started_at) AS run_started_at,\n       millrace.ms_of(told.finished_at) AS run_finished_at,\n       (\n           SELECT attempt.outcome\n           FROM millrace.attempt AS attempt\n           WHERE attempt.key = job.key\n           ORDER BY attempt.n DESC\n           LIMIT 1\n       ) AS last_outcome\nFROM millrace.job AS job\nLEFT JOIN millrace.run AS run ON run.key = job.key\nLEFT JOIN millrace.attempt AS told ON told.key = run.key AND told.n = run.n\nWHERE job.key = (SELECT key FROM millrace.job_name WHERE id = $1::uuid)",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"key bigint, phase text, phases json, percent double precision, overall double precision, data json, at bigint, n integer, run_started_at bigint, run_finished_at bigint, last_outcome smallint"},
  },
  progress_of_jobs: {
    text: "SELECT asked.id, job.key, run.phase, run.phases, run.percent, run.overall, run.data,\n       millrace.ms_of(run.at) AS at, run.n,\n       millrace.ms_of(told.started_at) AS run_started_at,\n       millrace.ms_of(told.finished_at) AS run_finished_at,\n       (\n           SELECT attempt.outcome\n           FROM millrace.attempt AS attempt\n           WHERE attempt.key = job.key\n           ORDER BY attempt.n DESC\n           LIMIT 1\n       ) AS last_outcome\nFROM unnest($1::uuid[]) AS asked (id)\nCROSS JOIN LATERAL (SELECT key FROM millrace.job_name WHERE id = asked.id) AS named\nJOIN millrace.job AS job ON job.key = named.key\nLEFT JOIN millrace.run AS run ON run.key = job.key\nLEFT JOIN millrace.attempt AS told ON told.key = run.key AND told.n = run.n",
    parameters: ["ids"],
    timeout: "reader",
    routine: {"takes":"uuid[]","gives":"id uuid, key bigint, phase text, phases json, percent double precision, overall double precision, data json, at bigint, n integer, run_started_at bigint, run_finished_at bigint, last_outcome smallint"},
  },
  phases_of_jobs: {
    text: "SELECT phase.key, phase.name, phase.result, phase.n, millrace.ms_of(phase.at) AS at,\n       millrace.ms_of(attempt.started_at) AS run_started_at\nFROM millrace.phase AS phase\nLEFT JOIN millrace.attempt AS attempt ON attempt.key = phase.key AND attempt.n = phase.n\nWHERE phase.key = ANY ($1::bigint[])\nORDER BY phase.key, phase.at, phase.n, phase.name COLLATE \"C\"",
    parameters: ["keys"],
    timeout: "reader",
    routine: {"takes":"bigint[]","gives":"key bigint, name text, result json, n integer, at bigint, run_started_at bigint"},
  },
  unit_counts_of_jobs: {
    text: "SELECT unit.key, unit.phase,\n       count(*) FILTER (WHERE state = 0 OR (state = 1 AND unit.n <= ended.n)) AS planned,\n       count(*) FILTER (WHERE state = 1 AND unit.n > ended.n) AS running,\n       count(*) FILTER (WHERE state = 2) AS completed,\n       count(*) FILTER (WHERE state = 3) AS failed\nFROM unnest($1::bigint[]) AS named (key)\nCROSS JOIN LATERAL (\n    SELECT coalesce(max(n), 0) AS n\n    FROM millrace.attempt AS attempt\n    WHERE attempt.key = named.key\n) AS ended\nJOIN millrace.unit AS unit ON unit.key = named.key\nGROUP BY unit.key, unit.phase\nORDER BY unit.key, unit.phase",
    parameters: ["keys"],
    timeout: "reader",
    routine: {"takes":"bigint[]","gives":"key bigint, phase text, planned bigint, running bigint, completed bigint, failed bigint"},
  },
  first_units_of_jobs: {
    text: "SELECT first.key, first.phase, first.unit, first.turn,\n       CASE WHEN first.state = 1 AND EXISTS (\n           SELECT 1\n           FROM millrace.attempt AS ended\n           WHERE ended.key = first.key AND ended.n = first.n\n       ) THEN 0::smallint ELSE first.state END AS state,\n       first.result, first.error, first.n, millrace.ms_of(first.at) AS at\nFROM unnest($1::bigint[]) AS named (key)\nCROSS JOIN LATERAL (\n    SELECT unit.*\n    FROM millrace.unit AS unit\n    WHERE unit.key = named.key\n    ORDER BY unit.phase, unit.turn, unit.unit\n    LIMIT $2::integer\n) AS first\nORDER BY first.key, first.phase, first.turn, first.unit",
    parameters: ["keys","limit"],
    timeout: "reader",
    routine: {"takes":"bigint[], integer","gives":"key bigint, phase text, unit text, turn integer, state smallint, result json, error json, n integer, at bigint"},
  },
  unit_counts: {
    text: "SELECT unit.phase,\n       count(*) FILTER (WHERE state = 0 OR (state = 1 AND unit.n <= ended.n)) AS planned,\n       count(*) FILTER (WHERE state = 1 AND unit.n > ended.n) AS running,\n       count(*) FILTER (WHERE state = 2) AS completed,\n       count(*) FILTER (WHERE state = 3) AS failed\nFROM millrace.unit AS unit\nCROSS JOIN (\n    SELECT coalesce(max(n), 0) AS n\n    FROM millrace.attempt\n    WHERE key = $1::bigint\n) AS ended\nWHERE unit.key = $1::bigint\nGROUP BY unit.phase\nORDER BY unit.phase",
    parameters: ["key"],
    timeout: "answer",
    routine: {"takes":"bigint","gives":"phase text, planned bigint, running bigint, completed bigint, failed bigint"},
  },
  units_of_job: {
    text: "SELECT *\nFROM millrace.list_units(\n    $1::uuid, $2::text, $3::integer, $4::text, $5::text,\n    $6::smallint, $7::integer\n)",
    parameters: ["id","after_phase","after_turn","after_unit","last_phase","state","limit"],
    timeout: "answer",
    routine: {"takes":"uuid, text, integer, text, text, smallint, integer","gives":"phase text, unit text, turn integer, state smallint, result json, error json, n integer, at bigint"},
  },
  holders_of_unit: {
    text: "SELECT job.id, unit.phase, unit.unit, millrace.ms_of(unit.at) AS at\nFROM millrace.unit AS unit\nJOIN millrace.job AS job ON job.key = unit.key\nWHERE unit.unit = $1::text\n  AND unit.state = 1\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace.attempt AS ended\n      WHERE ended.key = unit.key AND ended.n = unit.n\n  )\nORDER BY unit.at, unit.key, unit.phase\nLIMIT $2::integer",
    parameters: ["unit","limit"],
    timeout: "answer",
    routine: {"takes":"text, integer","gives":"id uuid, phase text, unit text, at bigint"},
  },
  put_saved_view: {
    text: "INSERT INTO millrace.saved_view (tenant, name, screen, query, by, saved_at)\nVALUES (\n    $1::text, $2::text, $3::text, $4::text, $5::text,\n    millrace.clock_at($6::timestamptz)\n)\nON CONFLICT (tenant, name) DO UPDATE\nSET screen = excluded.screen, query = excluded.query, by = excluded.by,\n    saved_at = excluded.saved_at",
    parameters: ["tenant","name","screen","query","by","now"],
    timeout: "answer",
    routine: {"takes":"text, text, text, text, text, timestamp with time zone","gives":null},
  },
  count_saved_views: {
    text: "SELECT count(*) AS count\nFROM (\n    SELECT 1\n    FROM millrace.saved_view\n    WHERE tenant = $1::text AND name <> $2::text\n    LIMIT $3::integer\n) AS others",
    parameters: ["tenant","name","max"],
    timeout: "answer",
    routine: {"takes":"text, text, integer","gives":"count bigint"},
  },
  find_saved_view: {
    text: "SELECT screen, query\nFROM millrace.saved_view\nWHERE tenant = $1::text AND name = $2::text\nFOR UPDATE",
    parameters: ["tenant","name"],
    timeout: "answer",
    routine: {"takes":"text, text","gives":"screen text, query text"},
  },
  delete_saved_view: {
    text: "DELETE FROM millrace.saved_view\nWHERE tenant = $1::text AND name = $2::text",
    parameters: ["tenant","name"],
    timeout: "answer",
    routine: {"takes":"text, text","gives":null},
  },
  list_saved_views: {
    text: "SELECT name, screen, query, by, millrace.ms_of(saved_at) AS saved_at\nFROM millrace.saved_view\nWHERE tenant = $1::text\nORDER BY name COLLATE \"C\"\nLIMIT $2::integer",
    parameters: ["tenant","max"],
    timeout: "reader",
    routine: {"takes":"text, integer","gives":"name text, screen text, query text, by text, saved_at bigint"},
  },
  overdue_schedules: {
    text: "SELECT NULL::bigint AS key, NULL::uuid AS id, schedule.name\nFROM millrace.schedule AS schedule\nWHERE schedule.paused_at IS NULL\n  AND schedule.next_slot < millrace.clock_at($1::timestamptz) - interval '5 minutes'\n  AND (\n      schedule.owner = 2\n      OR schedule.declared_at > millrace.clock_at($1::timestamptz) - interval '2 minutes'\n  )\n  AND EXISTS (\n      SELECT 1\n      FROM millrace.worker AS worker\n      WHERE worker.until > millrace.clock_at($1::timestamptz)\n        AND worker.joined_at < millrace.clock_at($1::timestamptz) - interval '5 minutes'\n  )\nORDER BY schedule.next_slot, schedule.name\nLIMIT $2::integer",
    parameters: ["now","limit"],
    timeout: "doctor",
    routine: {"takes":"timestamp with time zone, integer","gives":"key bigint, id uuid, name text"},
  },
  unfolded_minutes: {
    text: "SELECT DISTINCT NULL::bigint AS key, NULL::uuid AS id,\n       coalesce(name.text, 'type ' || counted.type) AS name\nFROM (\n    SELECT at, type FROM millrace.minute_outbox LIMIT $1::bigint\n) AS counted\nLEFT JOIN millrace.interned_name AS name ON name.id = counted.type\nWHERE counted.at < millrace.clock_at($2::timestamptz) - interval '5 minutes'\n  AND EXISTS (\n      SELECT 1\n      FROM millrace.worker AS worker\n      WHERE worker.until > millrace.clock_at($2::timestamptz)\n        AND worker.joined_at < millrace.clock_at($2::timestamptz) - interval '5 minutes'\n  )\nORDER BY 3\nLIMIT $3::integer",
    parameters: ["examined","now","limit"],
    timeout: "doctor",
    routine: {"takes":"bigint, timestamp with time zone, integer","gives":"key bigint, id uuid, name text"},
  },
  ticks_without_schedule: {
    text: "SELECT DISTINCT NULL::bigint AS key, NULL::uuid AS id, tick.schedule AS name\nFROM millrace.schedule_tick AS tick\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace.schedule AS schedule WHERE schedule.name = tick.schedule\n)\nORDER BY 3\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid, name text"},
  },
  minutes_without_name: {
    text: "SELECT NULL::bigint AS key, NULL::uuid AS id,\n       'type ' || figure.type || ', lane ' || figure.lane AS name\nFROM (\n    SELECT type, lane FROM millrace.minute\n    UNION\n    SELECT type, lane FROM millrace.minute_outbox\n) AS figure\nWHERE NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = figure.type)\n   OR NOT EXISTS (SELECT 1 FROM millrace.interned_name AS name WHERE name.id = figure.lane)\nORDER BY figure.type, figure.lane\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "doctor",
    routine: {"takes":"integer","gives":"key bigint, id uuid, name text"},
  },
  find_schedule: {
    text: "SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms,\n       millrace.ms_of(starts_at) AS starts_at, millrace.ms_of(ends_at) AS ends_at, job,\n       millrace.ms_of(next_slot) AS next_slot, millrace.ms_of(last_slot) AS last_slot, last_job,\n       millrace.ms_of(paused_at) AS paused_at, paused_by, pause_reason,\n       millrace.ms_of(declared_at) AS declared_at, created_by,\n       millrace.ms_of(created_at) AS created_at, millrace.ms_of(updated_at) AS updated_at, revision\nFROM millrace.schedule\nWHERE name = $1::text",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":"name text, owner smallint, tenant text, cron text, time_zone text, missed_max smallint, overlap smallint, jitter_ms bigint, starts_at bigint, ends_at bigint, job json, next_slot bigint, last_slot bigint, last_job uuid, paused_at bigint, paused_by text, pause_reason text, declared_at bigint, created_by text, created_at bigint, updated_at bigint, revision integer"},
  },
  lock_schedule: {
    text: "SELECT revision\nFROM millrace.schedule\nWHERE name = $1::text\nFOR UPDATE",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":"revision integer"},
  },
  read_clock: {
    text: "SELECT millrace.ms_of(millrace.clock_at($1::timestamptz)) AS now",
    parameters: ["now"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone","gives":"now bigint"},
  },
  list_schedules: {
    text: "SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms,\n       millrace.ms_of(starts_at) AS starts_at, millrace.ms_of(ends_at) AS ends_at, job,\n       millrace.ms_of(next_slot) AS next_slot, millrace.ms_of(last_slot) AS last_slot, last_job,\n       millrace.ms_of(paused_at) AS paused_at, paused_by, pause_reason,\n       millrace.ms_of(declared_at) AS declared_at, created_by,\n       millrace.ms_of(created_at) AS created_at, millrace.ms_of(updated_at) AS updated_at, revision\nFROM millrace.schedule\nWHERE name > $1::text\n  AND ($2::text IS NULL OR tenant = $2::text)\nORDER BY name\nLIMIT $3::integer",
    parameters: ["after","tenant","limit"],
    timeout: "reader",
    routine: {"takes":"text, text, integer","gives":"name text, owner smallint, tenant text, cron text, time_zone text, missed_max smallint, overlap smallint, jitter_ms bigint, starts_at bigint, ends_at bigint, job json, next_slot bigint, last_slot bigint, last_job uuid, paused_at bigint, paused_by text, pause_reason text, declared_at bigint, created_by text, created_at bigint, updated_at bigint, revision integer"},
  },
  list_due_schedules: {
    text: "SELECT name,\n       millrace.ms_of(CASE\n           WHEN greatest(last_slot, updated_at) > moment.at THEN moment.at\n           ELSE next_slot\n       END) AS next_slot, millrace.ms_of(moment.at) AS now\nFROM millrace.schedule,\n     (SELECT millrace.clock_at($1::timestamptz) AS at OFFSET 0) AS moment\nWHERE paused_at IS NULL\n  AND (next_slot IS NOT NULL OR greatest(last_slot, updated_at) > moment.at)\n  AND (owner = 2 OR name = ANY ($2::text[]))\nORDER BY next_slot, name\nLIMIT $3::integer",
    parameters: ["now","declared","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, text[], integer","gives":"name text, next_slot bigint, now bigint"},
  },
  lock_new_schedules: {
    text: "SELECT count(pg_advisory_xact_lock(\n    hashtextextended('millrace new schedules ' || 'millrace.schedule'::regclass::oid, 0)\n)) AS locked",
    parameters: [],
    timeout: "answer",
    routine: {"takes":"","gives":"locked bigint"},
  },
  count_schedules: {
    text: "SELECT count(*) AS total, count(*) FILTER (WHERE tenant = $1::text) AS of_tenant\nFROM millrace.schedule\nWHERE owner = 2",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"text","gives":"total bigint, of_tenant bigint"},
  },
  insert_schedule: {
    text: "INSERT INTO millrace.schedule (\n    name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at, job,\n    next_slot, declared_at, created_by, created_at, updated_at, revision\n)\nSELECT $1::text, $2::smallint, $3::text, $4::text, $5::text,\n       $6::smallint, $7::smallint, $8::bigint,\n       millrace.at_ms($9::bigint), millrace.at_ms($10::bigint), $11::json,\n       millrace.at_ms($12::bigint), CASE WHEN $2::smallint = 1 THEN moment.at END,\n       $13::text, moment.at, moment.at, 1\nFROM (SELECT millrace.clock_at($14::timestamptz) AS at) AS moment\nON CONFLICT DO NOTHING",
    parameters: ["name","owner","tenant","cron","time_zone","missed_max","overlap","jitter_ms","starts_at","ends_at","job","next_slot","created_by","now"],
    timeout: "answer",
    routine: {"takes":"text, smallint, text, text, text, smallint, smallint, bigint, bigint, bigint, json, bigint, text, timestamp with time zone","gives":null},
  },
  update_schedule: {
    text: "UPDATE millrace.schedule\nSET owner = $1::smallint, tenant = $2::text, cron = $3::text,\n    time_zone = $4::text, missed_max = $5::smallint, overlap = $6::smallint,\n    jitter_ms = $7::bigint, starts_at = millrace.at_ms($8::bigint),\n    ends_at = millrace.at_ms($9::bigint), job = $10::json,\n    next_slot = millrace.at_ms($11::bigint),\n    declared_at = CASE WHEN $1::smallint = 1 THEN moment.at END, updated_at = moment.at,\n    revision = revision + 1\nFROM (SELECT millrace.clock_at($12::timestamptz) AS at) AS moment\nWHERE name = $13::text",
    parameters: ["owner","tenant","cron","time_zone","missed_max","overlap","jitter_ms","starts_at","ends_at","job","next_slot","now","name"],
    timeout: "answer",
    routine: {"takes":"smallint, text, text, text, smallint, smallint, bigint, bigint, bigint, json, bigint, timestamp with time zone, text","gives":null},
  },
  confirm_schedules: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\ndeclared AS MATERIALIZED (\n    SELECT name\n    FROM millrace.schedule\n    WHERE name = ANY ($2::text[])\n      AND owner = 1\n      AND declared_at < (SELECT at FROM moment)\n    FOR NO KEY UPDATE SKIP LOCKED\n)\nUPDATE millrace.schedule\nSET declared_at = moment.at\nFROM moment, declared\nWHERE schedule.name = declared.name",
    parameters: ["now","names"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, text[]","gives":null},
  },
  list_missing_schedules: {
    text: "SELECT given.name\nFROM unnest($1::text[]) AS given (name)\nWHERE NOT EXISTS (\n    SELECT 1\n    FROM millrace.schedule AS schedule\n    WHERE schedule.name = given.name\n      AND schedule.owner = 1\n)\nORDER BY given.name COLLATE \"C\"",
    parameters: ["names"],
    timeout: "answer",
    routine: {"takes":"text[]","gives":"name text"},
  },
  list_ticks: {
    text: "SELECT millrace.ms_of(slot) AS slot, millrace.ms_of(since) AS since, job, outcome,\n       millrace.ms_of(at) AS at\nFROM millrace.schedule_tick\nWHERE schedule = $1::text\n  AND slot < millrace.at_ms($2::bigint)\nORDER BY schedule_tick.slot DESC\nLIMIT $3::integer",
    parameters: ["name","before","limit"],
    timeout: "answer",
    routine: {"takes":"text, bigint, integer","gives":"slot bigint, since bigint, job uuid, outcome smallint, at bigint"},
  },
  find_ticks: {
    text: "SELECT millrace.ms_of(slot) AS slot\nFROM millrace.schedule_tick\nWHERE schedule = $1::text\n  AND outcome <> 4\n  AND slot IN (SELECT millrace.at_ms(ms) FROM unnest($2::bigint[]) AS ms)",
    parameters: ["name","slots"],
    timeout: "answer",
    routine: {"takes":"text, bigint[]","gives":"slot bigint"},
  },
  find_made_ticks: {
    text: "SELECT millrace.ms_of(slot) AS slot\nFROM millrace.schedule_tick\nWHERE schedule = $1::text\n  AND slot > millrace.at_ms($2::bigint)\n  AND outcome NOT IN (4, 7)\nORDER BY schedule_tick.slot\nLIMIT $3::integer",
    parameters: ["name","after","limit"],
    timeout: "answer",
    routine: {"takes":"text, bigint, integer","gives":"slot bigint"},
  },
  set_schedule_back: {
    text: "UPDATE millrace.schedule\nSET next_slot = millrace.at_ms($1::bigint), updated_at = least(updated_at, moment.at),\n    last_slot = (\n        SELECT max(tick.slot)\n        FROM millrace.schedule_tick AS tick\n        WHERE tick.schedule = $2::text\n          AND tick.slot <= moment.at\n          AND tick.outcome <> 7\n    )\nFROM (SELECT millrace.clock_at($3::timestamptz) AS at) AS moment\nWHERE name = $2::text",
    parameters: ["next_slot","name","now"],
    timeout: "answer",
    routine: {"takes":"bigint, text, timestamp with time zone","gives":null},
  },
  insert_tick: {
    text: "INSERT INTO millrace.schedule_tick AS known (schedule, slot, since, job, outcome, at)\nVALUES (\n    $1::text, millrace.at_ms($2::bigint), millrace.at_ms($3::bigint), $4::uuid,\n    $5::smallint, millrace.clock_at($6::timestamptz)\n)\nON CONFLICT (schedule, slot) DO UPDATE\nSET since = excluded.since, job = excluded.job, outcome = excluded.outcome, at = excluded.at\nWHERE known.outcome = 4",
    parameters: ["name","slot","since","job","outcome","now"],
    timeout: "answer",
    routine: {"takes":"text, bigint, bigint, uuid, smallint, timestamp with time zone","gives":null},
  },
  advance_schedule: {
    text: "UPDATE millrace.schedule\nSET next_slot = millrace.at_ms($1::bigint),\n    last_slot = greatest(last_slot, millrace.at_ms($2::bigint)),\n    last_job = coalesce($3::uuid, last_job)\nWHERE name = $4::text",
    parameters: ["next_slot","last_slot","last_job","name"],
    timeout: "answer",
    routine: {"takes":"bigint, bigint, uuid, text","gives":null},
  },
  prune_ticks: {
    text: "DELETE FROM millrace.schedule_tick\nUSING (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nWHERE schedule = $2::text\n  AND (\n      slot <= (\n          SELECT kept.slot\n          FROM millrace.schedule_tick AS kept\n          WHERE kept.schedule = $2::text\n            AND kept.slot <= moment.at\n          ORDER BY kept.slot DESC\n          LIMIT 1 OFFSET $3::integer\n      )\n      OR slot >= (\n          SELECT kept.slot\n          FROM millrace.schedule_tick AS kept\n          WHERE kept.schedule = $2::text\n            AND kept.slot > moment.at\n          ORDER BY kept.slot\n          LIMIT 1 OFFSET $3::integer\n      )\n  )",
    parameters: ["now","name","kept"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, text, integer","gives":null},
  },
  pause_schedule: {
    text: "UPDATE millrace.schedule\nSET paused_at = coalesce(paused_at, millrace.clock_at($1::timestamptz)),\n    paused_by = $2::text, pause_reason = $3::text\nWHERE name = $4::text",
    parameters: ["now","by","reason","name"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, text, text, text","gives":null},
  },
  resume_schedule: {
    text: "UPDATE millrace.schedule\nSET paused_at = NULL, paused_by = NULL, pause_reason = NULL,\n    next_slot = millrace.at_ms($1::bigint)\nWHERE name = $2::text",
    parameters: ["next_slot","name"],
    timeout: "answer",
    routine: {"takes":"bigint, text","gives":null},
  },
  delete_schedule: {
    text: "DELETE FROM millrace.schedule\nWHERE name = $1::text",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  delete_ticks: {
    text: "DELETE FROM millrace.schedule_tick\nWHERE schedule = $1::text",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  settle_done: {
    text: "SELECT accepted, freed, awaited, missing, ended_at,\n       CASE WHEN $1::text IS NOT NULL THEN pg_notify($2::text, $1::text)::text END\n           AS told\nFROM millrace.settle_done(\n    $3::bigint[], $4::text[], $5::integer[], $6::bigint[], $7::integer[],\n    $8::integer[], $9::integer[], $10::smallint[], $11::text[],\n    $12::timestamptz\n)",
    parameters: ["word","channel","leases","secrets","places","keys","ns","tries","crashes","states","results","now"],
    timeout: "answer",
    routine: {"takes":"text, text, bigint[], text[], integer[], bigint[], integer[], integer[], integer[], smallint[], text[], timestamp with time zone","gives":"accepted bigint[], freed boolean, awaited boolean, missing bigint[], ended_at bigint, told text"},
  },
  insert_attempts: {
    text: "WITH ended AS MATERIALIZED (\n    SELECT *\n    FROM json_to_recordset($1::json) AS ended (\n        key bigint, n integer, tries integer, crashes integer, fence bigint, rank bigint,\n        started_at bigint, outcome smallint, state smallint, error_class smallint, error text,\n        result text, reason text, delay_ms bigint\n    )\n),\nwritten AS (\n    INSERT INTO millrace.attempt (\n        key, n, tries, crashes, worker, fence, claimed_at, started_at, finished_at, outcome, state,\n        error_class, error, result, reason, next_run_at\n    )\n    SELECT ended.key, ended.n, ended.tries, ended.crashes, lease.worker, ended.fence,\n           CASE WHEN lease.claimed_at > moment.at THEN moment.at ELSE lease.claimed_at END,\n           CASE WHEN millrace.at_ms(ended.started_at) > moment.at THEN moment.at\n                ELSE millrace.at_ms(ended.started_at) END,\n           moment.at, ended.outcome, ended.state, ended.error_class, ended.error::json,\n           ended.result::json, ended.reason,\n           moment.at + ended.delay_ms * interval '1 millisecond'\n    FROM (SELECT millrace.clock_at($2::timestamptz) AS at) AS moment\n    CROSS JOIN ended\n    LEFT JOIN millrace.lease AS lease ON lease.number = ended.fence\n    ORDER BY ended.key\n    RETURNING key, n, finished_at, next_run_at\n),\ncounted AS (\n    INSERT INTO millrace.minute_outbox (at, type, lane, outcome, waits, runs)\n    SELECT written.finished_at, job.type, job.lane, ended.outcome,\n           array_agg(millrace.duration_ms(ended.started_at - ended.rank / 1000)),\n           array_agg(millrace.duration_ms(millrace.ms_of(written.finished_at) - ended.started_at))\n    FROM written\n    JOIN ended ON ended.key = written.key AND ended.n = written.n\n    JOIN millrace.job AS job ON job.key = written.key\n    WHERE ended.started_at IS NOT NULL\n    GROUP BY written.finished_at, job.type, job.lane, ended.outcome\n)\nSELECT key, millrace.ms_of(next_run_at) AS next_run_at\nFROM written",
    parameters: ["ends","now"],
    timeout: "answer",
    routine: {"takes":"json, timestamp with time zone","gives":"key bigint, next_run_at bigint"},
  },
  end_runs: {
    text: "WITH deleted_dedup AS (\n    DELETE FROM millrace.dedup\n    WHERE job = ANY ($1::bigint[])\n)\nSELECT millrace.release_job_locks($2::bigint[]) AS freed,\n       millrace.end_jobs($1::bigint[]) AS awaited,\n       millrace.reset_streaks($3::bigint[])::text AS done",
    parameters: ["over","jobs","succeeded"],
    timeout: "answer",
    routine: {"takes":"bigint[], bigint[], bigint[]","gives":"freed boolean, awaited boolean, done text"},
  },
  find_fences: {
    text: "SELECT attempt.key, attempt.n, attempt.fence, attempt.outcome\nFROM json_to_recordset($1::json) AS run (key bigint, n integer)\nJOIN millrace.attempt AS attempt ON attempt.key = run.key AND attempt.n = run.n",
    parameters: ["runs"],
    timeout: "answer",
    routine: {"takes":"json","gives":"key bigint, n integer, fence bigint, outcome smallint"},
  },
  find_cancel_requests: {
    text: "SELECT key, reason\nFROM millrace.cancel_request\nWHERE key = ANY ($1::bigint[])",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint, reason text"},
  },
  delete_cancel_requests: {
    text: "DELETE FROM millrace.cancel_request\nWHERE key = ANY ($1::bigint[])",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":null},
  },
  specs_of: {
    text: "SELECT job.key, job.id, coalesce(type.text, 'unknown name ' || job.type) AS type,\n       coalesce(tenant.text, 'unknown name ' || job.tenant) AS tenant,\n       coalesce(lane.text, 'unknown name ' || job.lane) AS lane, category.text AS category,\n       job.priority, job.payload, job.payload_version, job.correlation, job.parent, job.retry_of,\n       job.concurrency, job.idempotency, job.dedup, job.webhook, job.tags,\n       job.created_by, millrace.ms_of(job.created_at) AS created_at,\n       millrace.ms_of(job.run_at) AS run_at, job.max_attempts, job.timeout_ms, job.flags\nFROM millrace.job AS job\nLEFT JOIN millrace.interned_name AS type ON type.id = job.type\nLEFT JOIN millrace.interned_name AS tenant ON tenant.id = job.tenant\nLEFT JOIN millrace.interned_name AS lane ON lane.id = job.lane\nLEFT JOIN millrace.interned_name AS category ON category.id = job.category\nWHERE job.key = ANY ($1::bigint[])",
    parameters: ["keys"],
    timeout: "answer",
    routine: {"takes":"bigint[]","gives":"key bigint, id uuid, type text, tenant text, lane text, category text, priority integer, payload json, payload_version text, correlation text, parent uuid, retry_of uuid, concurrency text, idempotency text, dedup text, webhook text, tags json, created_by text, created_at bigint, run_at bigint, max_attempts integer, timeout_ms bigint, flags smallint"},
  },
  insert_dead_letters: {
    text: "INSERT INTO millrace.dead_letter AS letter (\n    id, type, tenant, status, error, attempts, died_at, spec, cause, history\n)\nSELECT job.id, job.type, job.tenant, 1, dead.error::json, dead.attempts,\n       attempt.finished_at, dead.spec::json, dead.cause,\n       coalesce(past.history, '[]')\nFROM json_to_recordset($1::json) AS dead (\n    key bigint, n integer, error text, attempts integer, spec text, cause text\n)\nJOIN millrace.job AS job ON job.key = dead.key\nJOIN millrace.attempt AS attempt ON attempt.key = dead.key AND attempt.n = dead.n\nLEFT JOIN LATERAL (\n    SELECT json_agg(\n               json_build_object(\n                   'n', run.n, 'outcome', run.outcome, 'at', millrace.ms_of(run.finished_at),\n                   'class', run.error ->> 'class', 'name', run.error ->> 'name',\n                   'message', left(run.error ->> 'message', 300), 'cause', run.error ->> 'cause'\n               )\n               ORDER BY run.n\n           ) AS history\n    FROM (\n        SELECT n, outcome, finished_at, error\n        FROM millrace.attempt\n        WHERE key = dead.key AND error IS NOT NULL\n        ORDER BY n DESC\n        LIMIT 50\n    ) AS run\n) AS past ON true\nORDER BY job.id\nON CONFLICT (id) DO UPDATE\nSET type = excluded.type, tenant = excluded.tenant, status = 1, error = excluded.error,\n    attempts = excluded.attempts, died_at = excluded.died_at, reviewed_by = NULL,\n    reviewed_at = NULL, notes = NULL, successor = NULL, spec = excluded.spec,\n    cause = excluded.cause, history = excluded.history, reviews = '[]', assigned_to = NULL",
    parameters: ["letters"],
    timeout: "answer",
    routine: {"takes":"json","gives":null},
  },
  tenant_names: {
    text: "SELECT name\nFROM (\n    SELECT text AS name FROM millrace.interned_name WHERE kind = $1::integer\n    UNION\n    SELECT tenant FROM millrace.schedule\n    UNION\n    SELECT tenant FROM millrace.api_token WHERE tenant IS NOT NULL\n) AS known\nWHERE name COLLATE \"C\" > $2::text\nORDER BY name COLLATE \"C\"\nLIMIT $3::integer",
    parameters: ["kind","after","limit"],
    timeout: "answer",
    routine: {"takes":"integer, text, integer","gives":"name text"},
  },
  begin_removal: {
    text: "INSERT INTO millrace.tenant_removal AS known (tenant, reason, by, begun_at)\nSELECT $1::text, $2::text, $3::text, millrace.clock_at($4::timestamptz)\nON CONFLICT (tenant) DO UPDATE\nSET reason = excluded.reason, by = excluded.by, begun_at = excluded.begun_at, removed = 0,\n    done_at = NULL\nWHERE known.done_at IS NOT NULL",
    parameters: ["tenant","reason","by","now"],
    timeout: "answer",
    routine: {"takes":"text, text, text, timestamp with time zone","gives":null},
  },
  removal_of: {
    text: "SELECT tenant, reason, by, removed, millrace.ms_of(begun_at) AS begun_at,\n       millrace.ms_of(done_at) AS done_at\nFROM millrace.tenant_removal\nWHERE tenant = $1::text",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"text","gives":"tenant text, reason text, by text, removed bigint, begun_at bigint, done_at bigint"},
  },
  open_removals: {
    text: "SELECT tenant, reason, by, removed, millrace.ms_of(begun_at) AS begun_at,\n       millrace.ms_of(done_at) AS done_at\nFROM millrace.tenant_removal\nWHERE done_at IS NULL\nORDER BY tenant_removal.begun_at, tenant COLLATE \"C\"\nLIMIT $1::integer",
    parameters: ["limit"],
    timeout: "answer",
    routine: {"takes":"integer","gives":"tenant text, reason text, by text, removed bigint, begun_at bigint, done_at bigint"},
  },
  lock_open_removal: {
    text: "SELECT tenant\nFROM millrace.tenant_removal\nWHERE tenant = $1::text AND done_at IS NULL\nFOR UPDATE",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"text","gives":"tenant text"},
  },
  note_removed: {
    text: "UPDATE millrace.tenant_removal\nSET removed = removed + $1::bigint\nWHERE tenant = $2::text AND done_at IS NULL",
    parameters: ["count","tenant"],
    timeout: "answer",
    routine: {"takes":"bigint, text","gives":null},
  },
  end_removal: {
    text: "UPDATE millrace.tenant_removal\nSET done_at = millrace.clock_at($1::timestamptz)\nWHERE tenant = $2::text AND done_at IS NULL",
    parameters: ["now","tenant"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, text","gives":null},
  },
  keys_to_remove: {
    text: "SELECT key\nFROM millrace.job\nWHERE tenant = $1::integer\nORDER BY key\nLIMIT $2::integer",
    parameters: ["tenant","limit"],
    timeout: "answer",
    routine: {"takes":"integer, integer","gives":"key bigint"},
  },
  clear_idempotency: {
    text: "DELETE FROM millrace.idempotency\nWHERE (tenant, key) IN (\n    SELECT tenant, key\n    FROM millrace.idempotency\n    WHERE tenant = $1::integer\n    LIMIT $2::integer\n)",
    parameters: ["tenant","limit"],
    timeout: "answer",
    routine: {"takes":"integer, integer","gives":null},
  },
  clear_dead_letters: {
    text: "DELETE FROM millrace.dead_letter\nWHERE id IN (\n    SELECT id\n    FROM millrace.dead_letter\n    WHERE tenant = $1::integer\n    LIMIT $2::integer\n)",
    parameters: ["tenant","limit"],
    timeout: "answer",
    routine: {"takes":"integer, integer","gives":null},
  },
  clear_permits: {
    text: "DELETE FROM millrace.permit\nWHERE limit_id IN (SELECT id FROM millrace.limit_setting WHERE name = $1::integer)",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_limits: {
    text: "DELETE FROM millrace.limit_setting\nWHERE name = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_ticks: {
    text: "DELETE FROM millrace.schedule_tick\nWHERE schedule IN (SELECT name FROM millrace.schedule WHERE tenant = $1::text)",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  clear_schedules: {
    text: "DELETE FROM millrace.schedule\nWHERE tenant = $1::text",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  clear_tokens: {
    text: "DELETE FROM millrace.api_token\nWHERE tenant = $1::text",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  stop_operations_of: {
    text: "UPDATE millrace.operation\nSET status = 4, stopped_by = 'removal of the tenant', runner = NULL, lease_until = NULL,\n    finished_at = millrace.clock_at($1::timestamptz)\nWHERE status <= 2\n  AND (\n      tenant = $2::text\n      OR plan #>> '{jobs,tenant}' = $2::text\n      OR plan #>> '{deadLetters,tenant}' = $2::text\n  )",
    parameters: ["now","name"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, text","gives":null},
  },
  clear_operation_items: {
    text: "DELETE FROM millrace.operation_item AS item\nUSING (\n    SELECT own.operation, own.n\n    FROM millrace.operation AS held\n    JOIN millrace.operation_item AS own ON own.operation = held.id\n    WHERE held.tenant = $1::text\n       OR held.plan #>> '{jobs,tenant}' = $1::text\n       OR held.plan #>> '{deadLetters,tenant}' = $1::text\n    LIMIT $2::integer\n) AS old\nWHERE item.operation = old.operation AND item.n = old.n",
    parameters: ["name","limit"],
    timeout: "answer",
    routine: {"takes":"text, integer","gives":null},
  },
  clear_operations: {
    text: "DELETE FROM millrace.operation\nWHERE status >= 3\n  AND (\n      tenant = $1::text\n      OR plan #>> '{jobs,tenant}' = $1::text\n      OR plan #>> '{deadLetters,tenant}' = $1::text\n  )\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace.operation_item AS item WHERE item.operation = millrace.operation.id\n  )",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  clear_views: {
    text: "DELETE FROM millrace.saved_view\nWHERE tenant = $1::text",
    parameters: ["name"],
    timeout: "answer",
    routine: {"takes":"text","gives":null},
  },
  clear_dedup: {
    text: "DELETE FROM millrace.dedup\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_failure_group: {
    text: "DELETE FROM millrace.failure_group\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_lock: {
    text: "DELETE FROM millrace.lock\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_key_rate: {
    text: "DELETE FROM millrace.key_rate\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_fair_turn: {
    text: "DELETE FROM millrace.fair_turn\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_service_park: {
    text: "DELETE FROM millrace.service_park\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_quota: {
    text: "DELETE FROM millrace.quota\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_quota_use: {
    text: "DELETE FROM millrace.quota_use\nWHERE tenant = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_gate: {
    text: "DELETE FROM millrace.gate\nWHERE name = $1::integer",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  clear_weights: {
    text: "UPDATE millrace.fair_lane\nSET weights = (weights::jsonb - $1::integer::text)::json,\n    code_weights = (code_weights::jsonb - $1::integer::text)::json\nWHERE weights::jsonb ? ($1::integer)::text OR code_weights::jsonb ? ($1::integer)::text",
    parameters: ["tenant"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  rows_of_tenant: {
    text: "SELECT\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.job WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS job_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.ready WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS ready_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.scheduled WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS scheduled_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.blocked WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS blocked_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.idempotency WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS idempotency_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.dead_letter WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS dead_letter_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.dedup WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS dedup_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.failure_group WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS failure_group_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.lock WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS lock_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.key_rate WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS key_rate_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.fair_turn WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS fair_turn_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.service_park WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS service_park_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.quota WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS quota_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.quota_use WHERE tenant = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS quota_use_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.gate WHERE name = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS gate_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.limit_setting WHERE name = $1::integer LIMIT $2::integer\n        ) AS own\n    ) AS limit_setting_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.schedule WHERE tenant = $3::text LIMIT $2::integer\n        ) AS own\n    ) AS schedule_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.api_token WHERE tenant = $3::text LIMIT $2::integer\n        ) AS own\n    ) AS api_token_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1\n            FROM millrace.operation\n            WHERE tenant = $3::text\n               OR plan #>> '{jobs,tenant}' = $3::text\n               OR plan #>> '{deadLetters,tenant}' = $3::text\n            LIMIT $2::integer\n        ) AS own\n    ) AS operation_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1\n            FROM millrace.operation AS held\n            JOIN millrace.operation_item AS item ON item.operation = held.id\n            WHERE held.tenant = $3::text\n               OR held.plan #>> '{jobs,tenant}' = $3::text\n               OR held.plan #>> '{deadLetters,tenant}' = $3::text\n            LIMIT $2::integer\n        ) AS own\n    ) AS operation_item_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace.saved_view WHERE tenant = $3::text LIMIT $2::integer\n        ) AS own\n    ) AS saved_view_rows",
    parameters: ["tenant","max","name"],
    timeout: "answer",
    routine: {"takes":"integer, integer, text","gives":"job_rows bigint, ready_rows bigint, scheduled_rows bigint, blocked_rows bigint, idempotency_rows bigint, dead_letter_rows bigint, dedup_rows bigint, failure_group_rows bigint, lock_rows bigint, key_rate_rows bigint, fair_turn_rows bigint, service_park_rows bigint, quota_rows bigint, quota_use_rows bigint, gate_rows bigint, limit_setting_rows bigint, schedule_rows bigint, api_token_rows bigint, operation_rows bigint, operation_item_rows bigint, saved_view_rows bigint"},
  },
  find_same_token: {
    text: "SELECT id\nFROM millrace.api_token\nWHERE id = $1::uuid\n  AND hash = decode($2::text, 'hex')",
    parameters: ["id","hash"],
    timeout: "answer",
    routine: {"takes":"uuid, text","gives":"id uuid"},
  },
  find_parent_token: {
    text: "SELECT millrace.ms_of(expires_at) AS expires_at\nFROM millrace.api_token\nWHERE id = $1::uuid\n  AND revoked_at IS NULL\n  AND expires_at > millrace.clock_at($2::timestamptz)\nFOR SHARE",
    parameters: ["id","now"],
    timeout: "answer",
    routine: {"takes":"uuid, timestamp with time zone","gives":"expires_at bigint"},
  },
  insert_token: {
    text: "INSERT INTO millrace.api_token (\n    id, hash, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,\n    expires_at\n)\nSELECT $1::uuid, decode($2::text, 'hex'), $3::smallint, $4::text, $5::text,\n       $6::smallint, $7::text, $8::json, $9::uuid, $10::uuid,\n       $11::text, moment.at,\n       least(\n           moment.at + $12::bigint * interval '1 millisecond', millrace.at_ms($13::bigint)\n       )\nFROM (SELECT millrace.clock_at($14::timestamptz) AS at) AS moment\nON CONFLICT DO NOTHING",
    parameters: ["id","hash","kind","name","actor","roles","tenant","types","job_id","parent","created_by","ttl_ms","until","now"],
    timeout: "answer",
    routine: {"takes":"uuid, text, smallint, text, text, smallint, text, json, uuid, uuid, text, bigint, bigint, timestamp with time zone","gives":null},
  },
  find_usable_token: {
    text: "SELECT token.id, token.kind, token.name, token.actor, token.roles, token.tenant, token.types,\n       token.job_id, token.parent, token.created_by, millrace.ms_of(token.created_at) AS created_at,\n       millrace.ms_of(token.expires_at) AS expires_at,\n       millrace.ms_of(token.last_used_at) AS last_used_at,\n       millrace.ms_of(token.revoked_at) AS revoked_at\nFROM (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nCROSS JOIN millrace.api_token AS token\nLEFT JOIN millrace.api_token AS parent ON parent.id = token.parent\nWHERE token.hash = decode($2::text, 'hex')\n  AND token.revoked_at IS NULL\n  AND token.expires_at > moment.at\n  AND (token.parent IS NULL OR (parent.revoked_at IS NULL AND parent.expires_at > moment.at))",
    parameters: ["now","hash"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, text","gives":"id uuid, kind smallint, name text, actor text, roles smallint, tenant text, types json, job_id uuid, parent uuid, created_by text, created_at bigint, expires_at bigint, last_used_at bigint, revoked_at bigint"},
  },
  find_token: {
    text: "SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by,\n       millrace.ms_of(created_at) AS created_at, millrace.ms_of(expires_at) AS expires_at,\n       millrace.ms_of(last_used_at) AS last_used_at, millrace.ms_of(revoked_at) AS revoked_at\nFROM millrace.api_token\nWHERE id = $1::uuid",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"id uuid, kind smallint, name text, actor text, roles smallint, tenant text, types json, job_id uuid, parent uuid, created_by text, created_at bigint, expires_at bigint, last_used_at bigint, revoked_at bigint"},
  },
  list_tokens: {
    text: "SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by,\n       millrace.ms_of(created_at) AS created_at, millrace.ms_of(expires_at) AS expires_at,\n       millrace.ms_of(last_used_at) AS last_used_at, millrace.ms_of(revoked_at) AS revoked_at\nFROM millrace.api_token\nWHERE id < $1::uuid\n  AND ($2::smallint[] IS NULL OR kind = ANY ($2::smallint[]))\n  AND ($3::text IS NULL OR tenant = $3::text)\n  AND (\n      $4::boolean\n      OR (revoked_at IS NULL AND expires_at > (SELECT millrace.clock_at($5::timestamptz)))\n  )\nORDER BY id DESC\nLIMIT $6::integer",
    parameters: ["before","kinds","tenant","with_ended","now","limit"],
    timeout: "reader",
    routine: {"takes":"uuid, smallint[], text, boolean, timestamp with time zone, integer","gives":"id uuid, kind smallint, name text, actor text, roles smallint, tenant text, types json, job_id uuid, parent uuid, created_by text, created_at bigint, expires_at bigint, last_used_at bigint, revoked_at bigint"},
  },
  mark_tokens_used: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at,\n           set_config('synchronous_commit', 'off', true) AS setting\n),\nused AS MATERIALIZED (\n    SELECT id\n    FROM millrace.api_token\n    WHERE id = ANY ($2::uuid[])\n      AND revoked_at IS NULL\n      AND (last_used_at IS NULL OR last_used_at < (SELECT at FROM moment))\n    FOR NO KEY UPDATE SKIP LOCKED\n)\nUPDATE millrace.api_token AS token\nSET last_used_at = moment.at\nFROM moment\nCROSS JOIN used\nWHERE token.id = used.id",
    parameters: ["now","ids"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid[]","gives":null},
  },
  revoke_token: {
    text: "UPDATE millrace.api_token\nSET revoked_at = millrace.clock_at($1::timestamptz)\nWHERE id = $2::uuid\n  AND revoked_at IS NULL",
    parameters: ["now","id"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid","gives":null},
  },
  revoke_children: {
    text: "UPDATE millrace.api_token\nSET revoked_at = millrace.clock_at($1::timestamptz)\nWHERE parent = ANY ($2::uuid[])\n  AND revoked_at IS NULL\nRETURNING id",
    parameters: ["now","parents"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid[]","gives":"id uuid"},
  },
  home: {
    text: "SELECT (pg_control_system()).system_identifier || ' ' || current_database() AS home,\n       CASE WHEN current_setting('synchronous_commit') = 'off'\n            THEN set_config('synchronous_commit', 'on', true) END AS commit",
    parameters: [],
    timeout: "answer",
    routine: null,
  },
  enqueue_at_home: {
    text: "SELECT place.here,\n       CASE WHEN place.here\n            THEN millrace.enqueue_batch(\n                $1::json, $2::uuid[], $3::text[], $4::integer[],\n                $5::timestamptz, $6::integer, $7::bigint\n            ) END AS later\nFROM (\n    SELECT (pg_control_system()).system_identifier || ' ' || current_database() = $8::text\n               AS here\n) AS place",
    parameters: ["kinds","ids","payloads","kind_of","now","protocol","quotas","home"],
    timeout: "answer",
    routine: {"takes":"json, uuid[], text[], integer[], timestamp with time zone, integer, bigint, text","gives":"here boolean, later uuid[]"},
  },
  put_type_settings: {
    text: "INSERT INTO millrace.type_setting AS known (\n    type, lane, priority, max_attempts, timeout_ms, category, payload_version, payload_schema,\n    app_version, flags, hash, declared_at\n)\nSELECT declared.type, declared.lane, declared.priority, declared.max_attempts,\n       declared.timeout_ms, declared.category, declared.payload_version, declared.payload_schema,\n       declared.app_version, declared.flags, declared.hash,\n       millrace.clock_at($1::timestamptz)\nFROM json_to_recordset($2::json) AS declared (\n    type integer, lane text, priority integer, max_attempts integer, timeout_ms bigint,\n    category text, payload_version text, payload_schema json, app_version text, flags smallint,\n    hash text\n)\nORDER BY declared.type\nON CONFLICT (type) DO UPDATE\nSET lane = excluded.lane, priority = excluded.priority, max_attempts = excluded.max_attempts,\n    timeout_ms = excluded.timeout_ms, category = excluded.category,\n    payload_version = excluded.payload_version, payload_schema = excluded.payload_schema,\n    app_version = excluded.app_version, flags = excluded.flags, hash = excluded.hash,\n    declared_at = excluded.declared_at",
    parameters: ["now","types"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, json","gives":null},
  },
  put_type_override: {
    text: "INSERT INTO millrace.type_override AS known (\n    type, lane, priority, max_attempts, timeout_ms, by, set_at\n)\nSELECT setting.type, $1::text, $2::integer, $3::integer,\n       $4::bigint, $5::text, millrace.clock_at($6::timestamptz)\nFROM millrace.type_setting AS setting\nWHERE setting.type = $7::integer\nON CONFLICT (type) DO UPDATE\nSET lane = coalesce(excluded.lane, known.lane),\n    priority = coalesce(excluded.priority, known.priority),\n    max_attempts = coalesce(excluded.max_attempts, known.max_attempts),\n    timeout_ms = coalesce(excluded.timeout_ms, known.timeout_ms),\n    by = excluded.by, set_at = excluded.set_at",
    parameters: ["lane","priority","max_attempts","timeout_ms","by","now","type"],
    timeout: "answer",
    routine: {"takes":"text, integer, integer, bigint, text, timestamp with time zone, integer","gives":null},
  },
  delete_type_override: {
    text: "DELETE FROM millrace.type_override\nWHERE type = $1::integer",
    parameters: ["type"],
    timeout: "answer",
    routine: {"takes":"integer","gives":null},
  },
  delete_services_of: {
    text: "DELETE FROM millrace.service_use\nWHERE type = ANY ($1::integer[])",
    parameters: ["types"],
    timeout: "answer",
    routine: {"takes":"integer[]","gives":null},
  },
  insert_services_of: {
    text: "INSERT INTO millrace.service_use (service, type)\nSELECT uses.service, uses.type\nFROM unnest($1::integer[], $2::integer[]) AS uses (service, type)\nORDER BY uses.service, uses.type\nON CONFLICT DO NOTHING",
    parameters: ["services","types"],
    timeout: "answer",
    routine: {"takes":"integer[], integer[]","gives":null},
  },
  put_worker_types: {
    text: "WITH worker AS MATERIALIZED (\n    SELECT id FROM millrace.worker WHERE id = $1::uuid FOR KEY SHARE\n)\nINSERT INTO millrace.worker_type (worker, type, hash)\nSELECT worker.id, declared.type, declared.hash\nFROM worker\nCROSS JOIN json_to_recordset($2::json) AS declared (type integer, hash text)\nON CONFLICT (worker, type) DO UPDATE SET hash = excluded.hash",
    parameters: ["worker","types"],
    timeout: "answer",
    routine: {"takes":"uuid, json","gives":null},
  },
  delete_worker_types: {
    text: "DELETE FROM millrace.worker_type\nWHERE worker = $1::uuid",
    parameters: ["worker"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":null},
  },
  list_types: {
    text: "SELECT setting.type, setting.lane, setting.priority, setting.max_attempts, setting.timeout_ms,\n       setting.category, setting.payload_version, setting.payload_schema, setting.app_version,\n       setting.flags, millrace.ms_of(setting.declared_at) AS declared_at,\n       (\n           SELECT coalesce(json_agg(service.text ORDER BY service.text COLLATE \"C\"), '[]')\n           FROM millrace.service_use AS uses\n           JOIN millrace.interned_name AS service ON service.id = uses.service\n           WHERE uses.type = setting.type\n       ) AS services,\n       living.workers, living.hashes,\n       own.lane AS own_lane, own.priority AS own_priority, own.max_attempts AS own_attempts,\n       own.timeout_ms AS own_timeout_ms, own.by AS own_by, millrace.ms_of(own.set_at) AS own_set_at\nFROM millrace.type_setting AS setting\nJOIN millrace.interned_name AS name ON name.id = setting.type\nLEFT JOIN millrace.type_override AS own ON own.type = setting.type\nCROSS JOIN LATERAL (\n    SELECT count(*) AS workers, count(DISTINCT declared.hash) AS hashes\n    FROM millrace.worker AS worker\n    JOIN millrace.worker_type AS declared ON declared.worker = worker.id\n    WHERE declared.type = setting.type\n      AND worker.until > millrace.clock_at($1::timestamptz)\n) AS living\nWHERE $2::integer IS NULL OR setting.type = $2::integer\nORDER BY name.text COLLATE \"C\"\nLIMIT $3::bigint",
    parameters: ["now","only","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer, bigint","gives":"type integer, lane text, priority integer, max_attempts integer, timeout_ms bigint, category text, payload_version text, payload_schema json, app_version text, flags smallint, declared_at bigint, services json, workers bigint, hashes bigint, own_lane text, own_priority integer, own_attempts integer, own_timeout_ms bigint, own_by text, own_set_at bigint"},
  },
  register_worker: {
    text: "INSERT INTO millrace.worker AS known (\n    id, process, host, pid, version, protocol, types, lanes, slots, lane_slots, tenant, app,\n    joined_at, leases_at, until, renewed_at, beat_ms, beats, quiet\n)\nSELECT $1::uuid, $2::uuid, $3::text, $4::bigint, $5::text, $6::integer,\n       $7::json, $8::json, $9::integer, $10::json, $11::text, $12::text,\n       moment.at, moment.at, moment.at + $13::bigint * interval '1 millisecond', moment.at,\n       $14::bigint, 0, $15::boolean\nFROM (SELECT millrace.clock_at($16::timestamptz) AS at) AS moment\nON CONFLICT (id) DO UPDATE\nSET until = excluded.until, renewed_at = excluded.renewed_at, beats = known.beats + 1,\n    died_with = NULL",
    parameters: ["id","process","host","pid","version","protocol","types","lanes","slots","lane_slots","tenant","app","lease_ms","beat_ms","quiet","now"],
    timeout: "answer",
    routine: {"takes":"uuid, uuid, text, bigint, text, integer, json, json, integer, json, text, text, bigint, bigint, boolean, timestamp with time zone","gives":null},
  },
  renew_worker: {
    text: "WITH moment AS MATERIALIZED (\n    SELECT millrace.clock_at($1::timestamptz) AS at\n),\nrun AS MATERIALIZED (\n    SELECT lease.number, run.key, run.n, run.turn, done.finished_at\n    FROM millrace.lease AS lease\n    CROSS JOIN LATERAL unnest(lease.keys, lease.ns) WITH ORDINALITY AS run (key, n, turn)\n    LEFT JOIN LATERAL (\n        SELECT attempt.finished_at\n        FROM millrace.attempt AS attempt\n        WHERE attempt.key = run.key AND attempt.n = run.n\n        LIMIT 1\n    ) AS done ON true\n    WHERE lease.worker = $2::uuid\n      AND lease.number >= (SELECT leases_from FROM millrace.worker WHERE id = $2::uuid)\n),\nseen AS MATERIALIZED (\n    SELECT min(number) AS lowest FROM run\n),\nbeat AS (\n    UPDATE millrace.worker AS worker\n    SET until = moment.at + $3::bigint * interval '1 millisecond',\n        beats = worker.beats + 1,\n        renewed_at = moment.at,\n        memory_bytes = coalesce($4::bigint, worker.memory_bytes),\n        loop_lag_ms = coalesce($5::bigint, worker.loop_lag_ms),\n        died_with = NULL,\n        (leases_from, leases_before, leases_seen, leases_at) = (\n            SELECT next.first, next.before, next.seen, next.at\n            FROM (\n                VALUES (\n                    true,\n                    CASE WHEN worker.leases_before IS NULL THEN worker.leases_from\n                         ELSE least(worker.leases_before, worker.leases_seen, seen.lowest) END,\n                    worker.leases_seen, seen.lowest, moment.at\n                ), (\n                    false, worker.leases_from, worker.leases_before,\n                    least(worker.leases_seen, seen.lowest), worker.leases_at\n                )\n            ) AS next (is_new, first, before, seen, at)\n            WHERE next.is_new = (moment.at - worker.leases_at >= interval '60 s')\n        )\n    FROM moment\n    CROSS JOIN seen\n    WHERE worker.id = $2::uuid\n    RETURNING worker.quiet, worker.stopping, worker.protocol\n),\ndeleted_leases AS (\n    DELETE FROM millrace.lease\n    WHERE number IN (\n        SELECT run.number\n        FROM moment\n        CROSS JOIN run\n        GROUP BY run.number\n        HAVING bool_and(coalesce(run.finished_at < moment.at - interval '1 minute', false))\n    )\n    RETURNING number\n),\ndeleted_starts AS (\n    DELETE FROM millrace.run_start\n    WHERE lease = ANY (ARRAY(SELECT number FROM deleted_leases))\n)\nSELECT millrace.ms_of(moment.at) AS now,\n       EXISTS (SELECT 1 FROM run AS open WHERE open.finished_at IS NULL) AS busy, beat.quiet,\n       beat.stopping,\n       beat.protocol < (SELECT value::integer FROM millrace.meta WHERE name = 'min_protocol')\n           AS outdated,\n       (\n           SELECT json_agg(\n               json_build_object('key', run.key, 'n', run.n, 'reason', asked.reason)\n               ORDER BY run.number, run.turn\n           )\n           FROM run\n           JOIN millrace.cancel_request AS asked ON asked.key = run.key\n           WHERE run.finished_at IS NULL\n       ) AS cancel,\n       (\n           SELECT json_agg(\n               json_build_object('key', ended.key, 'n', ended.n) ORDER BY ended.key, ended.n\n           )\n           FROM millrace.ended_run AS ended\n           WHERE ended.worker = $2::uuid\n       ) AS ended\nFROM moment\nCROSS JOIN beat",
    parameters: ["now","id","lease_ms","memory_bytes","loop_lag_ms"],
    timeout: "heartbeat",
    routine: {"takes":"timestamp with time zone, uuid, bigint, bigint, bigint","gives":"now bigint, busy boolean, quiet boolean, stopping boolean, outdated boolean, cancel json, ended json"},
  },
  insert_ended_runs: {
    text: "INSERT INTO millrace.ended_run (worker, key, n)\nSELECT worker.id, run.key, run.n\nFROM millrace.worker AS worker\nCROSS JOIN json_to_recordset($1::json) AS run (key bigint, n integer)\nWHERE worker.id = $2::uuid\nORDER BY run.key, run.n\nON CONFLICT (worker, key, n) DO NOTHING",
    parameters: ["runs","worker"],
    timeout: "answer",
    routine: {"takes":"json, uuid","gives":null},
  },
  delete_ended_runs: {
    text: "DELETE FROM millrace.ended_run\nWHERE worker = $1::uuid\n  AND (\n      $2::json IS NULL\n      OR (key, n) IN (\n          SELECT run.key, run.n FROM json_to_recordset($2::json) AS run (key bigint, n integer)\n      )\n  )\nRETURNING key",
    parameters: ["worker","runs"],
    timeout: "answer",
    routine: {"takes":"uuid, json","gives":"key bigint"},
  },
  lock_worker: {
    text: "SELECT id\nFROM millrace.worker\nWHERE id = $1::uuid\nFOR UPDATE",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"id uuid"},
  },
  delete_worker: {
    text: "DELETE FROM millrace.worker AS worker\nWHERE worker.id = $1::uuid\n  AND NOT EXISTS (SELECT 1 FROM millrace.lease AS lease WHERE lease.worker = worker.id)",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":null},
  },
  expire_worker: {
    text: "UPDATE millrace.worker\nSET until = millrace.clock_at($1::timestamptz)\nWHERE id = $2::uuid",
    parameters: ["now","id"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid","gives":null},
  },
  silent_workers: {
    text: "SELECT worker.id, worker.beats,\n       millrace.ms_of(moment.at) - millrace.ms_of(worker.until) AS silent_ms\nFROM (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nJOIN millrace.worker AS worker ON worker.until <= moment.at\nWHERE worker.taken_by IS NULL\n   OR EXISTS (\n       SELECT 1\n       FROM millrace.lease AS lease\n       JOIN millrace.job AS job ON job.key = lease.keys[1]\n       WHERE lease.worker = worker.id AND job.flags & 1 = 1\n   )\nORDER BY worker.until, worker.id\nLIMIT $2::integer",
    parameters: ["now","limit"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, integer","gives":"id uuid, beats bigint, silent_ms bigint"},
  },
  sweep_expired_leases: {
    text: "SELECT millrace.end_expired_leases($1::integer, $2::timestamptz) AS ended",
    parameters: ["limit","now"],
    timeout: "answer",
    routine: {"takes":"integer, timestamp with time zone","gives":"ended integer"},
  },
  worker_lives: {
    text: "SELECT until > millrace.clock_at($1::timestamptz) AS lives\nFROM millrace.worker\nWHERE id = $2::uuid",
    parameters: ["now","id"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid","gives":"lives boolean"},
  },
  quiet_worker: {
    text: "UPDATE millrace.worker\nSET quiet = true\nWHERE id = $1::uuid",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":null},
  },
  resume_worker: {
    text: "UPDATE millrace.worker\nSET quiet = false\nWHERE id = $1::uuid AND quiet AND NOT stopping",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":null},
  },
  is_stopping: {
    text: "SELECT stopping\nFROM millrace.worker\nWHERE id = $1::uuid",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":"stopping boolean"},
  },
  stop_worker: {
    text: "UPDATE millrace.worker\nSET quiet = true, stopping = true\nWHERE id = $1::uuid",
    parameters: ["id"],
    timeout: "answer",
    routine: {"takes":"uuid","gives":null},
  },
  holder_of_job: {
    text: "SELECT worker.id, worker.host, worker.pid, millrace.ms_of(worker.until) AS until, worker.beat_ms,\n       millrace.ms_of(millrace.clock_at($1::timestamptz)) - millrace.ms_of(worker.renewed_at)\n           AS beat_ago_ms\nFROM (\n    SELECT lease.worker, lease.number\n    FROM (SELECT key FROM millrace.job_name WHERE id = $2::uuid) AS named\n    JOIN millrace.lease AS lease\n        ON named.key >= lease.low AND named.key <= lease.high AND lease.keys @> ARRAY[named.key]\n    WHERE NOT EXISTS (\n        SELECT 1\n        FROM millrace.attempt AS ended\n        WHERE ended.key = named.key\n          AND ended.n = lease.ns[array_position(lease.keys, named.key)]\n    )\n    UNION ALL\n    SELECT ended.worker, 0\n    FROM millrace.ended_run AS ended\n    WHERE ended.key = (SELECT key FROM millrace.job_name WHERE id = $2::uuid)\n) AS held\nJOIN millrace.worker AS worker ON worker.id = held.worker\nORDER BY held.number DESC, worker.until DESC, worker.id\nLIMIT 1",
    parameters: ["now","id"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid","gives":"id uuid, host text, pid bigint, until bigint, beat_ms bigint, beat_ago_ms bigint"},
  },
  store_time: {
    text: "SELECT millrace.ms_of(millrace.clock_at($1::timestamptz)) AS at",
    parameters: ["now"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone","gives":"at bigint"},
  },
  list_workers: {
    text: "SELECT worker.id, worker.host, worker.pid, worker.version, worker.types, worker.lanes, worker.slots,\n       worker.lane_slots, worker.tenant, worker.app, millrace.ms_of(worker.joined_at) AS joined_at,\n       millrace.ms_of(worker.until) AS until,\n       millrace.ms_of(worker.until) - millrace.ms_of(moment.at) AS lease_left_ms, worker.beat_ms,\n       millrace.ms_of(moment.at) - millrace.ms_of(worker.renewed_at) AS beat_ago_ms,\n       worker.beats, worker.memory_bytes, worker.loop_lag_ms, worker.quiet, worker.stopping,\n       worker.taken_by, held.running, held.buffered, held.running_by_lane, held.crashed_once,\n       held.crashed_often\nFROM (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nCROSS JOIN (\n    SELECT * FROM millrace.worker ORDER BY joined_at, id LIMIT $2::integer\n) AS worker\nCROSS JOIN LATERAL (\n    SELECT coalesce(sum(kind.running), 0)::bigint AS running,\n           coalesce(sum(kind.buffered), 0)::bigint AS buffered,\n           coalesce(\n               json_object_agg(kind.lane, kind.running)\n                   FILTER (WHERE kind.lane IS NOT NULL AND kind.running > 0),\n               '{}'\n           ) AS running_by_lane,\n           coalesce(sum(kind.crashed_once), 0)::bigint AS crashed_once,\n           coalesce(sum(kind.crashed_often), 0)::bigint AS crashed_often\n    FROM (\n        SELECT name.text AS lane, count(run.started_at) AS running,\n               count(*) - count(run.started_at) AS buffered,\n               count(run.started_at) FILTER (WHERE last.crashes = 1) AS crashed_once,\n               count(run.started_at) FILTER (WHERE last.crashes > 1) AS crashed_often\n        FROM millrace.leased_run AS run\n        LEFT JOIN millrace.job AS job ON job.key = run.key\n        LEFT JOIN millrace.interned_name AS name ON name.id = job.lane\n        LEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1\n        WHERE run.worker = worker.id\n          AND NOT EXISTS (\n              SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n          )\n        GROUP BY name.text\n    ) AS kind\n) AS held\nORDER BY worker.joined_at, worker.id",
    parameters: ["now","limit"],
    timeout: "reader",
    routine: {"takes":"timestamp with time zone, integer","gives":"id uuid, host text, pid bigint, version text, types json, lanes json, slots integer, lane_slots json, tenant text, app text, joined_at bigint, until bigint, lease_left_ms bigint, beat_ms bigint, beat_ago_ms bigint, beats bigint, memory_bytes bigint, loop_lag_ms bigint, quiet boolean, stopping boolean, taken_by text, running bigint, buffered bigint, running_by_lane json, crashed_once bigint, crashed_often bigint"},
  },
  overdue_runs: {
    text: "SELECT run.lease AS number, run.secret, run.key, run.n, job.timeout_ms AS limit_ms,\n       millrace.ms_of(moment.at) - millrace.ms_of(run.started_at) AS ran_ms,\n       job.id, coalesce(name.text, 'unknown name ' || job.type) AS type_name, job.max_attempts,\n       job.flags, coalesce(last.tries, 0) AS tries, coalesce(last.crashes, 0) AS crashes\nFROM (SELECT millrace.clock_at($1::timestamptz) AS at) AS moment\nCROSS JOIN millrace.leased_run AS run\nJOIN millrace.job AS job ON job.key = run.key\nLEFT JOIN millrace.interned_name AS name ON name.id = job.type\nLEFT JOIN millrace.attempt AS last ON last.key = run.key AND last.n = run.n - 1\nWHERE run.worker = $2::uuid\n  AND run.lease >= (SELECT leases_from FROM millrace.worker WHERE id = $2::uuid)\n  AND millrace.ms_of(moment.at) - millrace.ms_of(run.started_at)\n      > job.timeout_ms + $3::bigint\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace.attempt AS done WHERE done.key = run.key AND done.n = run.n\n  )\nORDER BY run.lease, run.turn",
    parameters: ["now","worker","slack_ms"],
    timeout: "answer",
    routine: {"takes":"timestamp with time zone, uuid, bigint","gives":"number bigint, secret text, key bigint, n integer, limit_ms bigint, ran_ms bigint, id uuid, type_name text, max_attempts integer, flags smallint, tries integer, crashes integer"},
  },
};
