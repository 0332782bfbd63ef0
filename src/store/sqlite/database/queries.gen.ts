// Generated from sql/sqlite by scripts/embed-sql.ts. Do not edit.

export interface AuditRow { readonly id: number; readonly at: number; readonly tenant: string; readonly name: string; readonly actor: string | null; readonly reason: string | null; readonly subject_kind: string; readonly subject: string; readonly before: string | null; readonly after: string | null; }

export interface DeadLetterRow { readonly id: Uint8Array; readonly type: number; readonly tenant: number; readonly status: number; readonly error: string; readonly attempts: number; readonly died_at: number; readonly reviewed_by: string | null; readonly reviewed_at: number | null; readonly notes: string | null; readonly successor: Uint8Array | null; readonly spec: string; readonly cause: string; readonly assigned_to: string | null; readonly history: string; readonly reviews: string; }

export interface FairLaneRow { readonly lane: number; readonly weights: string; readonly code_weights: string | null; readonly owner: number; readonly by: string | null; readonly set_at: number; }

export interface FairJobRow { readonly key: number; readonly priority: number; readonly rank: number; readonly tenant: number; readonly queue: number; }

export interface LaterJobRow { readonly key: number; readonly priority: number; readonly rank: number; readonly tenant: number; readonly queue: number; readonly place: number; }

export interface JobNowRow { readonly key: number; readonly id: Uint8Array; readonly type: number; readonly tenant: number; readonly lane: number; readonly category: number | null; readonly priority: number; readonly run_at: number; readonly max_attempts: number; readonly timeout_ms: number | null; readonly payload: string | null; readonly payload_version: string | null; readonly correlation: string | null; readonly parent: Uint8Array | null; readonly retry_of: Uint8Array | null; readonly concurrency: string | null; readonly idempotency: string | null; readonly dedup: string | null; readonly webhook: string | null; readonly tags: string | null; readonly created_by: string | null; readonly created_at: number; readonly flags: number; readonly state: number; readonly tries: number; readonly crashes: number; readonly outcome: number | null; readonly next_run_at: number | null; readonly last_started_at: number | null; readonly last_finished_at: number | null; readonly last_error: string | null; readonly result: string | null; readonly cancel_reason: string | null; readonly gate: number | null; readonly next_priority: number | null; readonly cancel_requested: 0 | 1; }

export interface ShownJobRow { readonly key: number; readonly id: Uint8Array; readonly type: number; readonly tenant: number; readonly lane: number; readonly category: number | null; readonly priority: number; readonly run_at: number; readonly max_attempts: number; readonly timeout_ms: number | null; readonly payload: string | null; readonly payload_version: string | null; readonly correlation: string | null; readonly parent: Uint8Array | null; readonly retry_of: Uint8Array | null; readonly concurrency: string | null; readonly idempotency: string | null; readonly dedup: string | null; readonly webhook: string | null; readonly tags: string | null; readonly created_by: string | null; readonly created_at: number; readonly flags: number; readonly state: number; readonly tries: number; readonly crashes: number; readonly outcome: number | null; readonly next_run_at: number | null; readonly last_started_at: number | null; readonly last_finished_at: number | null; readonly last_error: string | null; readonly result: string | null; readonly cancel_reason: string | null; readonly gate: number | null; readonly next_priority: number | null; readonly cancel_requested: 0 | 1; readonly phase: string | null; readonly overall: number | null; readonly is_stale: 0 | 1; }

export interface OffendingRow { readonly key: number | null; readonly id: Uint8Array | null; }

export interface KeyRateRow { readonly tenant: number; readonly name: string; readonly rate_count: number; readonly rate_ms: number; readonly burst: number; readonly tokens: number; readonly refilled_at: number; readonly by: string | null; readonly set_at: number; }

export interface LeaseRow { readonly number: number; readonly worker: Uint8Array; readonly keys: string; readonly ns: string; readonly ranks: string; readonly starts: string; readonly claimed_at: number; }

export interface LimitRow { readonly id: number; readonly name: number; readonly cap: number | null; readonly rate_count: number | null; readonly rate_ms: number | null; readonly burst: number | null; readonly tokens: number; readonly refilled_at: number; readonly used: number; readonly wanted_at: number | null; readonly code_rule: string | null; readonly owner: number; readonly by: string | null; readonly set_at: number; }

export interface LockRow { readonly tenant: number; readonly name: string; }

export interface LogRow { readonly line: number; readonly n: number; readonly at: number; readonly level: number; readonly message: string; readonly fields: string | null; }

export interface MinuteRow { readonly span: number; readonly start: number; readonly type: number; readonly lane: number; readonly outcome: number; readonly count: number; readonly wait_ms: number; readonly run_ms: number; readonly waits: string; readonly runs: string; }

export interface OperationRow { readonly id: Uint8Array; readonly status: number; readonly tenant: string | null; readonly plan: string; readonly actor: string; readonly reason: string; readonly rate: number; readonly chunk: number; readonly expected: number; readonly expected_at_least: number; readonly cursor: string; readonly done: number; readonly failed: number; readonly skipped: string; readonly items: number; readonly created_at: number; readonly started_at: number | null; readonly finished_at: number | null; readonly next_ms: number; readonly runner: string | null; readonly stopped_by: string | null; readonly error: string | null; }

export interface WaitingRow { readonly key: number; readonly rank: number; readonly lane: number; readonly priority: number; readonly type: number; readonly tenant: number; readonly concurrency: string | null; readonly n: number; readonly tries: number; readonly crashes: number; }

export interface FinishedRow { readonly key: number; readonly finished_at: number; readonly id: Uint8Array; readonly type: number; readonly tenant: number; readonly correlation: string | null; readonly idempotency: string | null; readonly tags: string | null; }

export interface QuotaRow { readonly tenant: number; readonly waiting: number | null; readonly rate_count: number | null; readonly rate_ms: number | null; readonly burst: number | null; readonly payload_bytes: number | null; readonly reason: string; readonly by: string | null; readonly set_at: number; }

export interface OffendingNameRow { readonly key: number | null; readonly id: Uint8Array | null; readonly name: string; }

export interface ScheduleRow { readonly name: string; readonly owner: number; readonly tenant: string; readonly cron: string; readonly time_zone: string; readonly missed_max: number; readonly overlap: number; readonly jitter_ms: number; readonly starts_at: number | null; readonly ends_at: number | null; readonly job: string; readonly next_slot: number | null; readonly last_slot: number | null; readonly last_job: Uint8Array | null; readonly paused_at: number | null; readonly paused_by: string | null; readonly pause_reason: string | null; readonly declared_at: number | null; readonly created_by: string | null; readonly created_at: number; readonly updated_at: number; readonly revision: number; }

export interface RemovalRow { readonly tenant: string; readonly reason: string; readonly by: string | null; readonly removed: number; readonly begun_at: number; readonly done_at: number | null; }

export interface TokenRow { readonly id: Uint8Array; readonly kind: number; readonly name: string; readonly actor: string; readonly roles: number; readonly tenant: string | null; readonly types: string | null; readonly job_id: Uint8Array | null; readonly parent: Uint8Array | null; readonly created_by: string; readonly created_at: number; readonly expires_at: number; readonly last_used_at: number | null; readonly revoked_at: number | null; }

export interface TypeRow { readonly type: number; readonly lane: string; readonly priority: number; readonly max_attempts: number; readonly timeout_ms: number | null; readonly category: string | null; readonly payload_version: string | null; readonly payload_schema: string | null; readonly app_version: string | null; readonly flags: number; readonly declared_at: number; readonly services: string; readonly workers: number; readonly hashes: number; readonly own_lane: string | null; readonly own_priority: number | null; readonly own_attempts: number | null; readonly own_timeout_ms: number | null; readonly own_by: string | null; readonly own_set_at: number | null; }

/** The rows of each query that returns some. */
export interface QueryRows {
  list_audits: AuditRow;
  list_audits_forwards: AuditRow;
  newest_sealed: { readonly id: number | null; };
  entries_to_seal: AuditRow;
  chain_head: { readonly day: number; readonly position: number; readonly hash: string; };
  chain_start: { readonly day: number; readonly position: number; readonly hash: string; };
  list_seals: { readonly tenant: string; readonly day: number; readonly position: number; readonly audit_id: number; readonly previous: string; readonly hash: string; readonly sealed_at: number; readonly start_day: number | null; readonly start_position: number | null; readonly start_hash: string | null; readonly id: number | null; readonly at: number | null; readonly entry_tenant: string | null; readonly name: string | null; readonly actor: string | null; readonly reason: string | null; readonly subject_kind: string | null; readonly subject: string | null; readonly before: string | null; readonly after: string | null; };
  sealed_or_not: { readonly id: number; readonly at: number; readonly tenant: string; readonly is_sealed: 0 | 1; };
  expired_seals: { readonly tenant: string; readonly day: number; readonly position: number; readonly audit_id: number; readonly hash: string; };
  find_breaker: { readonly state: number; readonly failure_count: number; readonly success_count: number; readonly last_failure_at: number | null; readonly opened_at: number | null; readonly half_opened_at: number | null; readonly probe_at: number | null; readonly probe_key: number | null; readonly probe_n: number | null; readonly reason: string | null; readonly by: string | null; };
  run_has_ended: { readonly ended: 0 | 1; };
  paused_until: { readonly until: number | null; readonly reason: string; };
  parked_until: { readonly until: number | null; };
  sent_back_keys: { readonly key: number; };
  any_park_ahead: { readonly yes: 1; };
  due_breakers: { readonly service: number; };
  probe_types: { readonly type: number; };
  service_probe_in_blocked: { readonly key: number; readonly priority: number; readonly rank: number; readonly type: number; readonly tenant: number; readonly concurrency: string | null; };
  service_probe_in_ready: { readonly key: number; readonly priority: number; readonly rank: number; readonly type: number; readonly tenant: number; readonly concurrency: string | null; };
  services_of_type: { readonly service: number; };
  list_breakers: { readonly service: number; readonly now: number; readonly types: string; readonly updated_at: number | null; readonly probe_id: Uint8Array | null; readonly state: number | null; readonly failure_count: number | null; readonly success_count: number | null; readonly last_failure_at: number | null; readonly opened_at: number | null; readonly half_opened_at: number | null; readonly probe_at: number | null; readonly probe_n: number | null; readonly reason: string | null; readonly by: string | null; };
  list_parks: { readonly service: number; readonly tenant: number | null; readonly until: number; readonly reason: string; };
  list_breaker_changes: { readonly at: number; readonly state: number; readonly failure_count: number; readonly reason: string | null; readonly by: string | null; };
  worker_may_claim: { readonly quiet: 0 | 1; };
  data_version: { readonly data_version: number; };
  ready_lanes: { readonly lane: number; };
  look_for_ready: { readonly has_ready: 0 | 1; };
  all_leases: LeaseRow;
  leases_of_process: LeaseRow;
  look_for_crashed: { readonly has_crashed: 0 | 1; readonly has_closed: 0 | 1; };
  crash_numbers: { readonly crashes: number; };
  lone_lease: { readonly number: number; };
  due_probes: { readonly type: number; readonly probe_ms: number; };
  probe_in_blocked: { readonly key: number; readonly priority: number; readonly rank: number; readonly tenant: number; readonly concurrency: string | null; };
  probe_in_ready: { readonly key: number; readonly priority: number; readonly rank: number; readonly tenant: number; readonly concurrency: string | null; };
  find_streak: { readonly ended: number; readonly probe_at: number | null; readonly probe_ms: number; };
  delete_streak: { readonly probe_at: number | null; };
  gate_is_closed: { readonly yes: 1; };
  find_dead_letter: DeadLetterRow;
  list_dead_letters: DeadLetterRow;
  count_dead_letters: { readonly letters: number; };
  group_dead_letters: { readonly status: number; readonly type: number; readonly category: string | null; readonly error_class: string | null; readonly letters: number; readonly oldest_at: number; readonly recent: number; };
  find_key: { readonly key: number | null; };
  awaited_code: { readonly key: number; };
  has_dependencies: { readonly yes: 1; };
  next_finished_dependency: { readonly key: number; readonly id: Uint8Array | null; readonly state: number | null; };
  dependants_of: { readonly job: number; readonly tolerant: 0 | 1; };
  take_dependant: WaitingRow;
  dependencies_after: { readonly job: number; readonly depends_on: number; readonly is_over: 0 | 1; };
  dependants_of_job: { readonly id: Uint8Array; };
  open_dependencies: { readonly id: Uint8Array; };
  admission: { readonly protocol: number; readonly closed: number; readonly limited: number; };
  find_body: { readonly key: number; readonly type: number; readonly tenant: number; readonly payload: string | null; };
  find_idempotency: { readonly job_id: Uint8Array; readonly body: Uint8Array; };
  find_successor: { readonly key: number; readonly id: Uint8Array; };
  find_dedup: { readonly key: number; readonly id: Uint8Array | null; };
  find_alias: { readonly yes: 1; };
  lost_jobs: { readonly id: Uint8Array; };
  ownerless_leases: { readonly number: number; readonly worker: Uint8Array; readonly id: Uint8Array | null; };
  places_without_job: { readonly place: "scheduled" | "ready" | "blocked"; readonly key: number; };
  places_against_ledger: { readonly place: "scheduled" | "ready" | "blocked"; readonly key: number; readonly id: Uint8Array; readonly is_over: 0 | 1; readonly is_held: 0 | 1; readonly is_twin: 0 | 1; readonly next_n: number; };
  examined_tables: { readonly first_key: number; readonly last_key: number; readonly scheduled: number; readonly ready: number; readonly blocked: number; readonly dedup: number; readonly cancel_request: number; readonly lock: number; readonly dependency: number; readonly failed: number; readonly dead_letter: number; readonly ended_run: number; };
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
  longest_due_classes: { readonly lane: number; readonly priority: number; readonly ms: number; };
  closed_gates: { readonly name: number; readonly closed_at: number; readonly until: number | null; readonly reason: string; readonly by: string | null; };
  closed_targets: { readonly name: number; readonly tenant: number | null; readonly gate: number; };
  any_closed_gate: { readonly gate: number; };
  count_behind_gate: { readonly jobs: number; readonly shared: number; readonly exact: 0 | 1; readonly shared_exact: 0 | 1; };
  ready_place: { readonly key: number; readonly lane: number; readonly priority: number; readonly rank: number; };
  count_ahead: { readonly jobs: number; readonly exact: 0 | 1; };
  open_gates: { readonly name: number; };
  misplaced_types: { readonly gate: number; readonly type: number; };
  misplaced_keys: { readonly key: number; };
  waiting_jobs: { readonly ready: 0 | 1; readonly released: 0 | 1; readonly blocked: 0 | 1; readonly slot_due: 0 | 1; readonly fair: 0 | 1; readonly probe_at: number | null; };
  jobs_behind_gates: { readonly key: number; readonly gate: number; };
  blocked_keys: { readonly key: number; };
  job_by_id: ShownJobRow;
  job_by_key: JobNowRow;
  tenants_of_ids: { readonly asked: Uint8Array; readonly tenant: number; };
  ids_between: { readonly id: Uint8Array; };
  ends_of_jobs: { readonly asked: Uint8Array; readonly id: Uint8Array; readonly type: number; readonly state: number | null; readonly result: string | null; readonly error: string | null; readonly reason: string | null; };
  match_jobs: ShownJobRow;
  count_matching: { readonly count: number; };
  count_waiting: { readonly scheduled: number; readonly retrying: number; readonly ready: number; readonly blocked: number; };
  count_ended: { readonly count: number; };
  count_groups: { readonly type: number; readonly lane: number; readonly tenant: number; readonly category: number | null; readonly scheduled: number; readonly retrying: number; readonly queued: number; readonly held: number; readonly running: number; readonly failed: number; readonly oldest_ms: number | null; };
  count_running: { readonly count: number; };
  ids_of_running: { readonly id: Uint8Array; };
  count_due: { readonly queued: number; readonly behind: number; readonly rank: number | null; readonly exact: 0 | 1; };
  oldest_ready: { readonly rank: number | null; readonly hops: number; };
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
  starts_of_runs: { readonly key: number; readonly started_at: number | null; };
  attempts_of_job: { readonly n: number; readonly tries: number; readonly crashes: number; readonly fence: number | null; readonly worker: Uint8Array | null; readonly claimed_at: number | null; readonly started_at: number | null; readonly finished_at: number; readonly outcome: number; readonly error_class: number | null; readonly error: string | null; readonly reason: string | null; readonly next_run_at: number | null; };
  feed_end: { readonly position: number; };
  feed_start: { readonly position: number; };
  feed_after: { readonly position: number; readonly kind: number; readonly at: number; readonly keys: string | null; readonly ids: string | null; readonly details: string | null; };
  ids_of_keys: { readonly key: number; readonly id: Uint8Array; };
  facts_of_keys: { readonly key: number; readonly id: Uint8Array; readonly type: number; readonly tenant: number; readonly correlation: string | null; readonly state: number; readonly tries: number; readonly next_run_at: number | null; readonly error: string | null; readonly finished_at: number | null; readonly phase: string | null; readonly overall: number | null; };
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
  any_key_rate: { readonly yes: 1; };
  all_key_rates: { readonly tenant: number; readonly name: string; readonly rate_count: number; readonly rate_ms: number; readonly burst: number; readonly tokens: number; readonly refilled_at: number; readonly by: string | null; readonly set_at: number; readonly waiting: number; };
  find_key_rate: { readonly tenant: number; readonly name: string; readonly rate_count: number; readonly rate_ms: number; readonly burst: number; readonly tokens: number; readonly refilled_at: number; readonly by: string | null; readonly set_at: number; readonly waiting: number; };
  count_key_rates: { readonly rates: number; };
  key_rate: KeyRateRow;
  free_spent_key: LockRow;
  refilled_keys: LockRow;
  next_refill: { readonly held_until: number | null; };
  find_lease: LeaseRow;
  lease_of_job: LeaseRow;
  lease_by_number: LeaseRow;
  missing_jobs: { readonly key: number; };
  job_facts: { readonly key: number; readonly id: Uint8Array; readonly lane: number; readonly priority: number; readonly type: number; readonly tenant: number; readonly concurrency: string | null; readonly max_attempts: number; readonly timeout_ms: number | null; readonly flags: number; readonly tries: number; readonly crashes: number; };
  any_limit: { readonly yes: 1; };
  all_limits: LimitRow;
  limit_of_name: LimitRow;
  limit_targets: { readonly limit_id: number; readonly target: number; };
  targets_of_limit: { readonly target: number; };
  target_is_limited: { readonly yes: 1; };
  permits_of_worker: { readonly limit_id: number; readonly held: number; readonly full: 0 | 1; };
  any_limited: { readonly yes: 1; };
  queue_lanes: { readonly lane: number; };
  jobs_of_full_limits: { readonly key: number; readonly name: number; };
  locks_of_run: { readonly name: string; };
  release_locks: LockRow;
  delete_locks: LockRow;
  next_of_key: { readonly key: number; };
  any_lock: { readonly yes: 1; };
  jobs_of_taken_keys: { readonly key: number; };
  locks_after: { readonly tenant: number; readonly name: string; readonly is_dead: 0 | 1; };
  jobs_of_free_keys: { readonly key: number; };
  lock_holder: { readonly id: Uint8Array; };
  last_line: { readonly line: number; readonly n: number; readonly turn: number; };
  log_after: LogRow;
  newest_log: LogRow;
  any_minutes: { readonly found: 0 | 1; };
  take_minutes: { readonly at: number; readonly type: number; readonly lane: number; readonly outcome: number; readonly waits: string; readonly runs: string; };
  find_minutes: MinuteRow;
  minutes_between: MinuteRow;
  list_deploys: { readonly app_version: string; readonly at: number; };
  find_name: { readonly id: number; };
  name_by_id: { readonly kind: number; readonly text: string; };
  count_open_operations: { readonly count: number; };
  claimable_operations: { readonly id: Uint8Array; };
  find_operation: OperationRow;
  list_operations: OperationRow;
  list_operation_items: { readonly n: number; readonly job_id: Uint8Array; readonly outcome: number; readonly code: string | null; readonly successor: Uint8Array | null; };
  other_successors: { readonly id: Uint8Array; readonly successor: Uint8Array; };
  payload_rules: { readonly scope: string; readonly name: string; readonly rule: string; readonly owner: string; readonly by: string | null; readonly reason: string | null; readonly set_at: number; };
  take_scheduled: WaitingRow;
  take_ready: WaitingRow;
  take_blocked: WaitingRow;
  due_keys: { readonly key: number; };
  next_due: { readonly run_at: number | null; };
  find_cancel_requests: { readonly key: number; readonly reason: string | null; };
  end_of_range: { readonly finished_at: number; readonly key: number; };
  expired_jobs: FinishedRow;
  removable_jobs: FinishedRow;
  jobs_by_keys: ShownJobRow;
  insert_stale: { readonly key: number; };
  declared_periods: { readonly value: string; };
  all_quotas: QuotaRow;
  find_quotas: QuotaRow;
  quota_uses: { readonly tenant: number; readonly tokens: number; readonly refilled_at: number; };
  count_of_tenant: { readonly count: number; };
  count_units: { readonly count: number; };
  phases_of_job: { readonly name: string; readonly result: string | null; readonly n: number; readonly at: number; readonly run_started_at: number | null; };
  ended_units: { readonly phase: string; readonly unit: string; readonly state: number; readonly result: string | null; readonly error: string | null; };
  checkpoints_of_job: { readonly failed: string | null; readonly tries: number | null; };
  progress_of_job: { readonly key: number; readonly phase: string | null; readonly phases: string | null; readonly percent: number | null; readonly overall: number | null; readonly data: string | null; readonly at: number | null; readonly n: number | null; readonly run_started_at: number | null; readonly run_finished_at: number | null; readonly last_outcome: number | null; };
  unit_counts: { readonly phase: string; readonly planned: number; readonly running: number; readonly completed: number; readonly failed: number; };
  units_of_job: { readonly phase: string; readonly unit: string; readonly turn: number; readonly state: number; readonly result: string | null; readonly error: string | null; readonly n: number; readonly at: number; };
  holders_of_unit: { readonly id: Uint8Array; readonly phase: string; readonly unit: string; readonly at: number; };
  count_saved_views: { readonly count: number; };
  find_saved_view: { readonly screen: string; readonly query: string; };
  list_saved_views: { readonly name: string; readonly screen: string; readonly query: string; readonly by: string | null; readonly saved_at: number; };
  overdue_schedules: OffendingNameRow;
  unfolded_minutes: OffendingNameRow;
  ticks_without_schedule: OffendingNameRow;
  minutes_without_name: OffendingNameRow;
  find_schedule: ScheduleRow;
  list_schedules: ScheduleRow;
  list_due_schedules: { readonly name: string; readonly next_slot: number; readonly now: number; };
  count_schedules: { readonly total: number; readonly of_tenant: number; };
  list_missing_schedules: { readonly name: string; };
  list_ticks: { readonly slot: number; readonly since: number | null; readonly job: Uint8Array | null; readonly outcome: number; readonly at: number; };
  find_ticks: { readonly slot: number; };
  find_made_ticks: { readonly slot: number; };
  waiting_fields: { readonly lane: number; readonly priority: number; readonly type: number; readonly tenant: number; readonly concurrency: string | null; };
  tenant_names: { readonly name: string; };
  removal_of: RemovalRow;
  open_removals: RemovalRow;
  keys_to_remove: { readonly key: number; };
  rows_of_tenant: { readonly job_rows: number; readonly ready_rows: number; readonly scheduled_rows: number; readonly blocked_rows: number; readonly idempotency_rows: number; readonly dead_letter_rows: number; readonly dedup_rows: number; readonly failure_group_rows: number; readonly lock_rows: number; readonly key_rate_rows: number; readonly fair_turn_rows: number; readonly service_park_rows: number; readonly quota_rows: number; readonly quota_use_rows: number; readonly gate_rows: number; readonly limit_setting_rows: number; readonly schedule_rows: number; readonly api_token_rows: number; readonly operation_rows: number; readonly operation_item_rows: number; readonly saved_view_rows: number; };
  find_same_token: { readonly id: Uint8Array; };
  find_parent_token: { readonly expires_at: number; };
  find_usable_token: TokenRow;
  find_token: TokenRow;
  list_tokens: TokenRow;
  revoke_children: { readonly id: Uint8Array; };
  list_types: TypeRow;
  renew_worker: { readonly quiet: 0 | 1; readonly stopping: 0 | 1; readonly outdated: 0 | 1; };
  ended_runs: { readonly key: number; readonly n: number; };
  delete_ended_runs: { readonly key: number; };
  silent_workers: { readonly id: Uint8Array; readonly beats: number; readonly until: number; };
  worker_is_silent: { readonly process: Uint8Array; readonly died_with: number | null; };
  worker_lives: { readonly lives: 0 | 1; };
  leases_of_worker: { readonly number: number; readonly secret: string; readonly worker: Uint8Array; readonly keys: string; readonly ns: string; readonly ranks: string; readonly starts: string; readonly claimed_at: number; };
  list_workers: { readonly id: Uint8Array; readonly host: string; readonly pid: number; readonly version: string; readonly types: string; readonly lanes: string; readonly slots: number; readonly lane_slots: string; readonly tenant: string | null; readonly app: string | null; readonly joined_at: number; readonly until: number; readonly renewed_at: number; readonly beat_ms: number; readonly beats: number; readonly memory_bytes: number | null; readonly loop_lag_ms: number | null; readonly quiet: 0 | 1; readonly stopping: 0 | 1; };
  holder_of_job: { readonly id: Uint8Array; readonly host: string; readonly pid: number; readonly until: number; readonly renewed_at: number; readonly beat_ms: number; };
  is_stopping: { readonly stopping: 0 | 1; };
}

/** The rows of queries that are read as arrays, in the order of the columns. */
export interface QueryTuples {
  claim_candidates: readonly [key: number, priority: number, rank: number, n: number, tries: number, crashes: number, tenant: number, concurrency: string | null, type: number, due: number | null];
  payload_sizes: readonly [bytes: number];
  claimed_jobs: readonly [id: Uint8Array, type: number, tenant: number, lane: number, max_attempts: number, timeout_ms: number | null, payload: string | null, payload_version: string | null, correlation: string | null, parent: Uint8Array | null, concurrency: string | null, tags: string | null, created_at: number, flags: number, successor: 0 | 1];
  last_runs: readonly [key: number, n: number];
  claim_limited: readonly [key: number, priority: number, rank: number, n: number, tries: number, crashes: number, tenant: number, concurrency: string | null, type: number, due: number | null];
  type_and_lane: readonly [key: number, type: number, lane: number];
}

/** The parameters of each named query, in the order in which they are bound. */
export interface QueryParameters {
  insert_audits: readonly ["now", "entries"];
  list_audits: readonly ["after", "tenant", "name", "actor", "kind", "subject", "since_at", "until_at", "limit"];
  list_audits_forwards: readonly ["after", "tenant", "name", "actor", "kind", "subject", "since_at", "until_at", "limit"];
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
  find_breaker: readonly ["service"];
  put_breaker: readonly ["service", "state", "failure_count", "success_count", "last_failure_at", "opened_at", "half_opened_at", "now", "probe_at", "probe_key", "probe_n", "reason", "by"];
  insert_breaker_change: readonly ["service", "now", "state", "failure_count", "reason", "by"];
  run_has_ended: readonly ["key", "n"];
  paused_until: readonly ["service", "now"];
  parked_until: readonly ["service", "tenant", "now"];
  put_park: readonly ["gate", "service", "tenant", "now", "until", "reason"];
  end_parks: readonly ["now", "service"];
  sent_back_keys: readonly ["now", "depth", "service", "limit"];
  mark_opened: readonly ["service", "now"];
  any_park_ahead: readonly ["now"];
  end_parks_ahead: readonly ["now"];
  delete_park: readonly ["gate"];
  due_breakers: readonly ["now"];
  probe_types: readonly ["due", "types", "full", "now"];
  service_probe_in_blocked: readonly ["due", "types", "lanes", "tenants", "cap", "now", "full"];
  service_probe_in_ready: readonly ["lane", "crashes", "depth", "types", "tenants", "now", "full"];
  services_of_type: readonly ["type"];
  list_breakers: readonly ["now", "limit"];
  list_parks: readonly ["now", "limit"];
  list_breaker_changes: readonly ["service", "limit"];
  delete_breaker_changes: readonly ["before", "limit"];
  worker_may_claim: readonly ["now", "worker"];
  claim_candidates: readonly ["lane", "crashes", "after_priority", "after_rank", "after_key", "end", "types", "tenants", "prefetch", "now", "full", "names", "first", "awaited", "awaited_tenant", "awaited_priority", "limit"];
  data_version: readonly [];
  delete_ready: readonly ["keys"];
  ready_lanes: readonly [];
  look_for_ready: readonly ["lanes"];
  payload_sizes: readonly ["keys"];
  insert_lease: readonly ["secret", "worker", "keys", "ns", "ranks", "starts", "claimed_at", "alone"];
  claimed_jobs: readonly ["keys"];
  insert_mark: readonly ["value"];
  all_leases: readonly [];
  delete_workers: readonly [];
  delete_all_worker_types: readonly [];
  delete_all_permits: readonly [];
  reset_limits: readonly [];
  delete_all_ended_runs: readonly [];
  set_died_with: readonly ["begun", "process"];
  leases_of_process: readonly ["process"];
  look_for_crashed: readonly ["lanes"];
  crash_numbers: readonly ["lanes"];
  lone_lease: readonly [];
  due_probes: readonly ["now", "types", "full"];
  probe_in_blocked: readonly ["type", "lanes", "tenants", "now", "full"];
  probe_in_ready: readonly ["lane", "crashes", "depth", "type", "tenants", "now", "full"];
  set_next_probe: readonly ["probe_at", "probe_ms", "type"];
  find_streak: readonly ["type"];
  put_streak: readonly ["type", "ended", "probe_at", "probe_ms"];
  delete_streak: readonly ["type"];
  reset_streaks: readonly ["keys"];
  gate_is_closed: readonly ["name", "now"];
  insert_dead_letter: readonly ["id", "type", "tenant", "error", "attempts", "died_at", "spec", "cause", "key"];
  find_dead_letter: readonly ["id"];
  list_dead_letters: readonly ["before_at", "before_id", "status", "type", "tenant", "category", "error_class", "cause", "assigned_to", "correlation", "created_from", "created_before", "limit"];
  count_dead_letters: readonly ["status", "type", "tenant", "category", "error_class", "cause", "assigned_to", "correlation", "created_from", "created_before", "max"];
  group_dead_letters: readonly ["since", "tenant", "rows", "groups"];
  review_dead_letter: readonly ["status", "reviewed_by", "reviewed_at", "notes", "successor", "act", "changes", "id"];
  annotate_dead_letter: readonly ["act", "assigned_to", "at", "by", "notes", "id"];
  find_key: readonly ["id"];
  awaited_code: readonly ["id", "depth", "limit"];
  insert_ended_code: readonly ["keys"];
  insert_dependency: readonly ["job", "depends_on", "tolerant"];
  set_rank_of_dependant: readonly ["rank", "key"];
  has_dependencies: readonly ["job"];
  delete_dependency: readonly ["job", "depends_on"];
  delete_dependencies: readonly ["keys"];
  insert_finished_dependency: readonly ["keys"];
  insert_finished_dependencies: readonly ["job"];
  next_finished_dependency: readonly [];
  delete_finished_dependency: readonly ["key"];
  dependants_of: readonly ["depends_on", "limit"];
  take_dependant: readonly ["key"];
  dependencies_after: readonly ["job", "depends_on", "limit"];
  dependants_of_job: readonly ["id", "limit"];
  open_dependencies: readonly ["id", "limit"];
  admission: readonly [];
  insert_job: readonly ["id", "type", "tenant", "lane", "category", "priority", "run_at", "max_attempts", "timeout_ms", "payload", "payload_version", "correlation", "parent", "retry_of", "concurrency", "idempotency", "dedup", "webhook", "tags", "created_by", "created_at", "flags"];
  insert_tag: readonly ["name", "value", "key"];
  insert_ready: readonly ["lane", "crashes", "priority", "rank", "key", "type", "tenant", "concurrency", "n", "tries"];
  insert_scheduled: readonly ["key", "run_at", "lane", "priority", "type", "tenant", "concurrency", "n", "tries", "crashes"];
  find_body: readonly ["id"];
  find_idempotency: readonly ["tenant", "key"];
  insert_idempotency: readonly ["tenant", "key", "job_id", "body"];
  find_successor: readonly ["retry_of"];
  find_dedup: readonly ["tenant", "type", "key"];
  insert_dedup: readonly ["tenant", "type", "key", "job"];
  delete_dedup: readonly ["keys"];
  append_event: readonly ["kind", "at", "keys", "ids", "details"];
  find_alias: readonly ["id"];
  insert_alias: readonly ["id", "holder", "parent"];
  lost_jobs: readonly ["last_key", "limit"];
  ownerless_leases: readonly ["limit"];
  places_without_job: readonly ["examined", "limit"];
  places_against_ledger: readonly ["examined", "limit"];
  examined_tables: readonly ["max"];
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
  later_queued: readonly ["priority", "rank", "key", "lane", "limit", "tenants"];
  first_turns: readonly ["lane", "priorities"];
  first_queue_turns: readonly ["lane", "priorities", "queues"];
  fair_turns: readonly ["lane", "priorities"];
  delete_fair_turns: readonly ["lane", "priorities"];
  delete_turns_of_lane: readonly ["lane"];
  put_fair_turns: readonly ["lane", "turns"];
  set_turns: readonly ["turns"];
  set_queue_turns: readonly ["turns"];
  longest_due_classes: readonly ["lanes", "hops", "now", "older", "classes"];
  close_gate: readonly ["name", "now", "until", "reason", "by"];
  open_gate: readonly ["name"];
  closed_gates: readonly ["now"];
  closed_targets: readonly ["now"];
  any_closed_gate: readonly ["now"];
  count_behind_gate: readonly ["name", "now", "rows", "tenant"];
  ready_place: readonly ["id"];
  count_ahead: readonly ["now", "lane", "priority", "rank", "key", "rows", "tenant"];
  open_gates: readonly ["now"];
  misplaced_types: readonly [];
  misplaced_keys: readonly ["gate", "type", "limit"];
  waiting_jobs: readonly ["now", "declared_since"];
  delete_gate: readonly ["name", "now"];
  jobs_behind_gates: readonly ["now", "lane", "crashes", "depth", "limit"];
  insert_blocked: readonly ["key", "gate", "lane", "priority", "rank", "type", "tenant", "concurrency", "n", "tries", "crashes"];
  blocked_keys: readonly ["gate", "limit"];
  job_by_id: readonly ["id"];
  job_by_key: readonly ["key"];
  tenants_of_ids: readonly ["ids"];
  ids_between: readonly ["first", "last", "limit"];
  ends_of_jobs: readonly ["ids"];
  match_jobs: readonly ["keys", "states", "type", "tenant", "category", "lane", "error", "payload_text", "payload", "correlation", "correlation_uuid", "correlation_id", "parent", "created_from", "created_before", "tags", "limit"];
  count_matching: readonly ["keys", "states", "type", "tenant", "category", "lane", "error", "payload_text", "payload", "correlation", "correlation_uuid", "correlation_id", "parent", "created_from", "created_before", "tags"];
  count_waiting: readonly ["max"];
  count_ended: readonly ["state", "max"];
  count_groups: readonly ["rows", "categories", "now", "tenant", "groups"];
  count_running: readonly ["gate", "worker", "rows"];
  ids_of_running: readonly ["gate", "worker", "limit"];
  count_due: readonly ["now", "rows"];
  oldest_ready: readonly ["hops"];
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
  starts_of_runs: readonly ["keys"];
  attempts_of_job: readonly ["id"];
  feed_end: readonly [];
  feed_start: readonly [];
  feed_after: readonly ["position", "limit"];
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
  any_key_rate: readonly [];
  all_key_rates: readonly ["waiting"];
  find_key_rate: readonly ["waiting", "tenant", "name"];
  count_key_rates: readonly [];
  key_rate: readonly ["tenant", "name"];
  put_key_rate: readonly ["tenant", "name", "rate_count", "rate_ms", "burst", "now", "by"];
  delete_key_rate: readonly ["tenant", "name"];
  take_key_token: readonly ["tokens", "now", "tenant", "name"];
  hold_key: readonly ["until", "tenant", "name"];
  lock_spent_key: readonly ["tenant", "name"];
  free_spent_key: readonly ["tenant", "name"];
  refilled_keys: readonly ["now", "limit"];
  next_refill: readonly ["now"];
  find_lease: readonly ["number", "secret"];
  lease_of_job: readonly ["key"];
  lease_by_number: readonly ["number"];
  set_starts: readonly ["starts", "number"];
  set_lease_jobs: readonly ["keys", "ns", "ranks", "starts", "number"];
  delete_lease: readonly ["number"];
  last_runs: readonly ["keys"];
  missing_jobs: readonly ["keys"];
  job_facts: readonly ["keys"];
  any_limit: readonly [];
  all_limits: readonly [];
  limit_of_name: readonly ["name"];
  limit_targets: readonly [];
  targets_of_limit: readonly ["id"];
  target_is_limited: readonly ["target"];
  put_limit: readonly ["name", "cap", "rate_count", "rate_ms", "burst", "now", "code_rule", "owner", "by"];
  set_code_rule: readonly ["code_rule", "id"];
  delete_limit: readonly ["id"];
  delete_permits_of_limit: readonly ["id"];
  open_limit_gate: readonly ["gate"];
  permits_of_worker: readonly ["worker"];
  set_permit: readonly ["worker", "limit_id", "held"];
  delete_permit: readonly ["worker", "limit_id"];
  delete_permits: readonly ["worker"];
  add_used: readonly ["count", "id"];
  take_tokens: readonly ["tokens", "now", "id"];
  want_limit: readonly ["now", "id"];
  any_limited: readonly ["gate"];
  queue_lanes: readonly ["gate", "lanes"];
  claim_limited: readonly ["gate", "lane", "first_priority", "last_priority", "types", "tenants", "prefetch", "full", "now", "awaited", "awaited_tenant", "awaited_priority", "limit"];
  delete_limited: readonly ["keys"];
  jobs_of_full_limits: readonly ["lane", "depth", "full", "limit"];
  rehome_limited: readonly ["now", "full", "gate", "lane", "depth", "limit"];
  insert_lock: readonly ["tenant", "name", "job", "n"];
  acquire_lock: readonly ["name", "n", "key"];
  locks_of_run: readonly ["key", "n", "names"];
  release_locks: readonly ["key", "n", "names"];
  delete_locks: readonly ["keys"];
  next_of_key: readonly ["tenant", "name"];
  any_lock: readonly [];
  jobs_of_taken_keys: readonly ["lane", "crashes", "depth", "limit"];
  locks_after: readonly ["tenant", "name", "limit"];
  delete_lock: readonly ["tenant", "name"];
  jobs_of_free_keys: readonly ["limit"];
  lock_holder: readonly ["tenant", "name"];
  last_line: readonly ["key"];
  insert_log: readonly ["key", "line", "n", "turn", "at", "level", "message", "fields"];
  trim_log: readonly ["key", "lines_max", "chars_max"];
  log_after: readonly ["id", "after", "limit"];
  newest_log: readonly ["id", "limit"];
  append_minute: readonly ["at", "type", "lane", "outcome", "waits", "runs"];
  type_and_lane: readonly ["keys"];
  any_minutes: readonly [];
  take_minutes: readonly ["limit"];
  find_minutes: readonly ["keys"];
  put_minutes: readonly ["rows"];
  minutes_between: readonly ["since", "hours_from", "type", "lane", "limit", "hours_to", "until"];
  insert_deploy: readonly ["app", "now", "worker"];
  list_deploys: readonly ["since", "until", "limit"];
  delete_deploys: readonly ["now", "age", "limit"];
  find_name: readonly ["kind", "text"];
  insert_name: readonly ["kind", "text"];
  name_by_id: readonly ["id"];
  insert_operation: readonly ["id", "tenant", "plan", "actor", "reason", "rate", "chunk", "expected", "expected_at_least", "walks_jobs", "walks_letters", "now"];
  count_open_operations: readonly ["tenant", "max"];
  claimable_operations: readonly ["max", "runner", "now"];
  hold_operations: readonly ["runner", "now", "lease_ms", "ids"];
  find_operation: readonly ["now", "id"];
  list_operations: readonly ["now", "before", "status", "tenant", "limit"];
  advance_operation: readonly ["cursor", "done", "failed", "skipped", "items", "now", "cost_ms", "is_last", "lease_ms", "id"];
  stop_operation: readonly ["by", "now", "id"];
  fail_operation: readonly ["error", "now", "id", "runner"];
  insert_operation_items: readonly ["id", "items"];
  list_operation_items: readonly ["id", "after", "outcome", "limit"];
  delete_operation_items: readonly ["now", "age", "limit"];
  delete_operations: readonly ["now", "age", "limit"];
  other_successors: readonly ["depth", "ids"];
  set_priority_of_ready: readonly ["priority", "key"];
  set_priority_of_scheduled: readonly ["priority", "key"];
  set_priority_of_blocked: readonly ["priority", "key"];
  save_part: readonly [];
  undo_part: readonly [];
  keep_part: readonly [];
  put_payload_rule: readonly ["scope", "name", "rule", "by", "reason", "now"];
  declare_payload_rule: readonly ["scope", "name", "rule", "now"];
  empty_payload_rule: readonly ["by", "reason", "now", "scope", "name"];
  delete_payload_rule: readonly ["scope", "name"];
  payload_rules: readonly [];
  take_scheduled: readonly ["key"];
  take_ready: readonly ["key"];
  take_blocked: readonly ["key"];
  due_keys: readonly ["now", "limit"];
  copy_scheduled_to_ready: readonly ["keys"];
  delete_scheduled: readonly ["keys"];
  next_due: readonly [];
  insert_cancel_request: readonly ["key", "by", "reason", "at"];
  find_cancel_requests: readonly ["keys"];
  delete_cancel_requests: readonly ["keys"];
  end_of_range: readonly ["state", "at", "key", "end_at", "end_key", "depth"];
  expired_jobs: readonly ["state", "at", "key", "end_at", "end_key", "type", "others", "fresh", "limit"];
  removable_jobs: readonly ["keys"];
  jobs_by_keys: readonly ["keys"];
  insert_stale: readonly ["at", "keys"];
  delete_jobs: readonly ["keys"];
  delete_attempts: readonly ["keys"];
  delete_runs: readonly ["keys"];
  delete_phases: readonly ["keys"];
  delete_units: readonly ["keys", "limit"];
  delete_logs: readonly ["keys", "limit"];
  delete_stale: readonly ["keys"];
  delete_aliases: readonly ["keys"];
  delete_tags: readonly ["key", "tags"];
  expire_idempotency: readonly ["expires_at", "tenant", "key", "job_id"];
  delete_expired_idempotency: readonly ["now", "limit"];
  delete_dead_letters: readonly ["before", "limit"];
  delete_events: readonly ["before", "limit"];
  delete_tokens: readonly ["now", "before", "limit"];
  delete_minutes: readonly ["before", "limit"];
  delete_failure_groups: readonly ["before", "limit"];
  declared_periods: readonly [];
  put_declared_periods: readonly ["value"];
  put_quota: readonly ["tenant", "waiting", "rate_count", "rate_ms", "burst", "payload_bytes", "reason", "by", "now"];
  delete_quota: readonly ["tenant"];
  delete_quota_use: readonly ["tenant"];
  all_quotas: readonly ["limit"];
  find_quotas: readonly ["tenants"];
  quota_uses: readonly ["tenants"];
  put_quota_use: readonly ["tenant", "tokens", "now"];
  count_of_tenant: readonly ["rows", "tenant", "max"];
  forget_run: readonly ["key"];
  forget_phases: readonly ["key"];
  forget_units: readonly ["key"];
  put_progress: readonly ["key", "n", "phase", "phases", "percent", "overall", "data", "at"];
  move_unit: readonly ["n", "state", "result", "error", "at", "turn", "key", "phase", "unit"];
  insert_unit: readonly ["key", "phase", "unit", "turn", "n", "state", "result", "error", "at"];
  count_units: readonly ["key", "phase", "max"];
  insert_phase: readonly ["key", "name", "n", "result", "at"];
  take_over_phases: readonly ["key"];
  take_over_units: readonly ["key"];
  phases_of_job: readonly ["key"];
  ended_units: readonly ["key"];
  checkpoints_of_job: readonly ["key"];
  progress_of_job: readonly ["id"];
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
  list_schedules: readonly ["after", "tenant", "limit"];
  list_due_schedules: readonly ["now", "declared", "limit"];
  count_schedules: readonly ["tenant"];
  insert_schedule: readonly ["name", "owner", "tenant", "cron", "time_zone", "missed_max", "overlap", "jitter_ms", "starts_at", "ends_at", "job", "next_slot", "now", "created_by"];
  update_schedule: readonly ["owner", "tenant", "cron", "time_zone", "missed_max", "overlap", "jitter_ms", "starts_at", "ends_at", "job", "next_slot", "now", "name"];
  confirm_schedules: readonly ["now", "names"];
  list_missing_schedules: readonly ["names"];
  list_ticks: readonly ["name", "before", "limit"];
  find_ticks: readonly ["name", "slots"];
  find_made_ticks: readonly ["name", "after", "limit"];
  set_schedule_back: readonly ["next_slot", "now", "name"];
  insert_tick: readonly ["name", "slot", "since", "job", "outcome", "now"];
  advance_schedule: readonly ["next_slot", "last_slot", "last_job", "name"];
  prune_ticks: readonly ["name", "now", "kept"];
  pause_schedule: readonly ["now", "by", "reason", "name"];
  resume_schedule: readonly ["next_slot", "name"];
  delete_schedule: readonly ["name"];
  delete_ticks: readonly ["name"];
  insert_attempt: readonly ["key", "n", "tries", "crashes", "worker", "fence", "claimed_at", "started_at", "finished_at", "outcome", "state", "error_class", "error", "result", "reason", "next_run_at"];
  waiting_fields: readonly ["key"];
  tenant_names: readonly ["kind", "after", "limit"];
  begin_removal: readonly ["tenant", "reason", "by", "now"];
  removal_of: readonly ["tenant"];
  open_removals: readonly ["limit"];
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
  insert_token: readonly ["id", "hash", "kind", "name", "actor", "roles", "tenant", "types", "job_id", "parent", "created_by", "now", "ttl_ms", "until"];
  find_usable_token: readonly ["hash", "now"];
  find_token: readonly ["id"];
  list_tokens: readonly ["before", "kinds", "tenant", "with_ended", "now", "limit"];
  mark_tokens_used: readonly ["now", "ids"];
  revoke_token: readonly ["now", "id"];
  revoke_children: readonly ["now", "parents"];
  put_type_setting: readonly ["type", "lane", "priority", "max_attempts", "timeout_ms", "category", "payload_version", "payload_schema", "app_version", "flags", "hash", "now"];
  put_type_override: readonly ["lane", "priority", "max_attempts", "timeout_ms", "by", "now", "type"];
  delete_type_override: readonly ["type"];
  delete_service_uses: readonly ["type"];
  insert_service_use: readonly ["service", "type"];
  put_worker_type: readonly ["type", "hash", "worker"];
  delete_worker_types: readonly ["worker"];
  list_types: readonly ["now", "only", "limit"];
  register_worker: readonly ["id", "process", "host", "pid", "version", "protocol", "types", "lanes", "slots", "lane_slots", "tenant", "app", "now", "until", "beat_ms", "quiet"];
  renew_worker: readonly ["until", "now", "memory_bytes", "loop_lag_ms", "id"];
  ended_runs: readonly ["worker"];
  insert_ended_runs: readonly ["runs", "worker"];
  delete_ended_runs: readonly ["worker", "runs"];
  expire_worker: readonly ["now", "id"];
  delete_worker: readonly ["id"];
  silent_workers: readonly ["now", "limit"];
  worker_is_silent: readonly ["id", "beats", "now"];
  worker_lives: readonly ["now", "id"];
  leases_of_worker: readonly ["worker"];
  list_workers: readonly ["limit"];
  holder_of_job: readonly ["id"];
  quiet_worker: readonly ["id"];
  resume_worker: readonly ["id"];
  is_stopping: readonly ["id"];
  stop_worker: readonly ["id"];
}

export const queries: {
  readonly [Name in keyof QueryParameters]: {
    readonly text: string;
    readonly parameters: QueryParameters[Name];
  };
} = {
  insert_audits: {
    text: "INSERT INTO millrace_audit (\n    at, tenant, name, actor, reason, subject_kind, subject, before, after\n)\nSELECT ?1, value ->> 'tenant', value ->> 'name', value ->> 'actor', value ->> 'reason',\n       value ->> 'kind', value ->> 'subject', value ->> 'before', value ->> 'after'\nFROM json_each(?2)\nORDER BY key",
    parameters: ["now","entries"],
  },
  list_audits: {
    text: "SELECT id, at, tenant, name, actor, reason, subject_kind, subject, before, after\nFROM millrace_audit\nWHERE id < ?1\n  AND (?2 IS NULL OR tenant = ?2)\n  AND (?3 IS NULL OR name = ?3)\n  AND (?4 IS NULL OR actor = ?4)\n  AND (?5 IS NULL OR subject_kind = ?5)\n  AND (?6 IS NULL OR subject = ?6)\n  AND (?7 IS NULL OR at >= ?7)\n  AND (?8 IS NULL OR at < ?8)\nORDER BY id DESC\nLIMIT ?9",
    parameters: ["after","tenant","name","actor","kind","subject","since_at","until_at","limit"],
  },
  list_audits_forwards: {
    text: "SELECT id, at, tenant, name, actor, reason, subject_kind, subject, before, after\nFROM millrace_audit\nWHERE id > ?1\n  AND (?2 IS NULL OR tenant = ?2)\n  AND (?3 IS NULL OR name = ?3)\n  AND (?4 IS NULL OR actor = ?4)\n  AND (?5 IS NULL OR subject_kind = ?5)\n  AND (?6 IS NULL OR subject = ?6)\n  AND (?7 IS NULL OR at >= ?7)\n  AND (?8 IS NULL OR at < ?8)\nORDER BY id\nLIMIT ?9",
    parameters: ["after","tenant","name","actor","kind","subject","since_at","until_at","limit"],
  },
  newest_sealed: {
    text: "SELECT max(audit_id) AS id\nFROM millrace_audit_seal\nWHERE ?1 IS NULL\n   OR tenant = ?1",
    parameters: ["tenant"],
  },
  entries_to_seal: {
    text: "SELECT id, at, tenant, name, actor, reason, subject_kind, subject, before, after\nFROM millrace_audit\nWHERE id > ?1\nORDER BY id\nLIMIT ?2",
    parameters: ["since","limit"],
  },
  chain_head: {
    text: "SELECT day, position, hash\nFROM (\n    SELECT day, position, hash\n    FROM (\n        SELECT day, position, hash\n        FROM millrace_audit_seal\n        WHERE tenant = ?1\n        ORDER BY day DESC, position DESC\n        LIMIT 1\n    )\n    UNION ALL\n    SELECT day, position, hash\n    FROM millrace_audit_start\n    WHERE tenant = ?1\n)\nORDER BY day DESC, position DESC\nLIMIT 1",
    parameters: ["tenant"],
  },
  chain_start: {
    text: "SELECT day, position, hash\nFROM millrace_audit_start\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  insert_seals: {
    text: "INSERT INTO millrace_audit_seal (tenant, day, position, audit_id, previous, hash, sealed_at)\nSELECT value ->> 'tenant', value ->> 'day', value ->> 'position', value ->> 'auditId',\n       value ->> 'previous', value ->> 'hash', value ->> 'sealedAt'\nFROM json_each(?1)",
    parameters: ["seals"],
  },
  list_seals: {
    text: "SELECT seal.tenant, seal.day, seal.position, seal.audit_id, seal.previous, seal.hash,\n       seal.sealed_at, start.day AS start_day, start.position AS start_position,\n       start.hash AS start_hash, audit.id, audit.at, audit.tenant AS entry_tenant, audit.name,\n       audit.actor, audit.reason, audit.subject_kind, audit.subject, audit.before, audit.after\nFROM millrace_audit_seal AS seal\nLEFT JOIN millrace_audit AS audit ON audit.id = seal.audit_id\nLEFT JOIN millrace_audit_start AS start ON start.tenant = seal.tenant\nWHERE (seal.tenant, seal.day, seal.position) > (?1, ?2, ?3)\n  AND (?4 IS NULL OR seal.tenant = ?4)\nORDER BY seal.tenant, seal.day, seal.position\nLIMIT ?5",
    parameters: ["after_tenant","after_day","after_position","tenant","limit"],
  },
  sealed_or_not: {
    text: "SELECT audit.id, audit.at, audit.tenant, seal.audit_id IS NOT NULL AS is_sealed\nFROM millrace_audit AS audit\nLEFT JOIN millrace_audit_seal AS seal ON seal.audit_id = audit.id\nWHERE audit.id > ?1\n  AND (?2 IS NULL OR audit.tenant = ?2)\nORDER BY audit.id\nLIMIT ?3",
    parameters: ["after","tenant","limit"],
  },
  expired_seals: {
    text: "SELECT tenant, day, position, audit_id, hash\nFROM millrace_audit_seal\nWHERE day < ?1\nORDER BY day, tenant, position\nLIMIT ?2",
    parameters: ["day","limit"],
  },
  put_chain_start: {
    text: "INSERT INTO millrace_audit_start (tenant, day, position, hash)\nVALUES (?1, ?2, ?3, ?4)\nON CONFLICT (tenant) DO UPDATE\nSET day = excluded.day, position = excluded.position, hash = excluded.hash",
    parameters: ["tenant","day","position","hash"],
  },
  delete_audits: {
    text: "DELETE FROM millrace_audit\nWHERE id IN (SELECT value FROM json_each(?1))",
    parameters: ["ids"],
  },
  delete_seals: {
    text: "DELETE FROM millrace_audit_seal\nWHERE audit_id IN (SELECT value FROM json_each(?1))",
    parameters: ["ids"],
  },
  find_breaker: {
    text: "SELECT state, failure_count, success_count, last_failure_at, opened_at, half_opened_at, probe_at,\n       probe_key, probe_n, reason, by\nFROM millrace_breaker\nWHERE service = ?1",
    parameters: ["service"],
  },
  put_breaker: {
    text: "INSERT INTO millrace_breaker (\n    service, state, failure_count, success_count, last_failure_at, opened_at, half_opened_at,\n    updated_at, probe_at, probe_key, probe_n, reason, by\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6,\n    ?7, ?8, ?9, ?10, ?11, ?12, ?13\n)\nON CONFLICT (service) DO UPDATE\nSET state = ?2, failure_count = ?3, success_count = ?4,\n    last_failure_at = ?5, opened_at = ?6, half_opened_at = ?7,\n    updated_at = ?8, probe_at = ?9, probe_key = ?10, probe_n = ?11,\n    reason = ?12, by = ?13",
    parameters: ["service","state","failure_count","success_count","last_failure_at","opened_at","half_opened_at","now","probe_at","probe_key","probe_n","reason","by"],
  },
  insert_breaker_change: {
    text: "INSERT INTO millrace_breaker_change (service, n, at, state, failure_count, reason, by)\nSELECT ?1, coalesce(max(n), 0) + 1, ?2, ?3, ?4, ?5, ?6\nFROM millrace_breaker_change\nWHERE service = ?1",
    parameters: ["service","now","state","failure_count","reason","by"],
  },
  run_has_ended: {
    text: "SELECT EXISTS (SELECT 1 FROM millrace_attempt WHERE key = ?1 AND n = ?2)\n           OR NOT EXISTS (SELECT 1 FROM millrace_job WHERE key = ?1) AS ended",
    parameters: ["key","n"],
  },
  paused_until: {
    text: "SELECT until, reason\nFROM millrace_gate\nWHERE name = ?1\n  AND (until IS NULL OR until > ?2)",
    parameters: ["service","now"],
  },
  parked_until: {
    text: "SELECT max(until) AS until\nFROM millrace_service_park\nWHERE service = ?1\n  AND (tenant IS NULL OR tenant = ?2)\n  AND until > ?3\n  AND asked_at <= ?3",
    parameters: ["service","tenant","now"],
  },
  put_park: {
    text: "INSERT INTO millrace_service_park (gate, service, tenant, asked_at, until, reason)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6)\nON CONFLICT (gate) DO UPDATE\nSET reason = CASE WHEN ?5 > until OR asked_at > ?4 THEN ?6 ELSE reason END,\n    until = CASE WHEN ?5 > until OR asked_at > ?4 THEN ?5 ELSE until END,\n    asked_at = ?4",
    parameters: ["gate","service","tenant","now","until","reason"],
  },
  end_parks: {
    text: "UPDATE millrace_service_park\nSET until = ?1\nWHERE service = ?2\n  AND until > ?1",
    parameters: ["now","service"],
  },
  sent_back_keys: {
    text: "SELECT waiting.key\nFROM (\n    SELECT key, n FROM millrace_scheduled WHERE run_at > ?1 ORDER BY run_at, key LIMIT ?2\n) AS waiting\nCROSS JOIN millrace_attempt AS last ON last.key = waiting.key AND last.n = waiting.n - 1\nWHERE last.error ->> '$.service' = ?3\nLIMIT ?4",
    parameters: ["now","depth","service","limit"],
  },
  mark_opened: {
    text: "INSERT INTO millrace_service_park (gate, service, tenant, asked_at, until, reason)\nVALUES (?1, ?1, NULL, ?2, ?2, '')\nON CONFLICT DO NOTHING",
    parameters: ["service","now"],
  },
  any_park_ahead: {
    text: "SELECT 1 AS yes\nFROM millrace_service_park\nWHERE asked_at > ?1\nLIMIT 1",
    parameters: ["now"],
  },
  end_parks_ahead: {
    text: "UPDATE millrace_service_park\nSET asked_at = ?1, until = ?1\nWHERE asked_at > ?1",
    parameters: ["now"],
  },
  delete_park: {
    text: "DELETE FROM millrace_service_park\nWHERE gate = ?1",
    parameters: ["gate"],
  },
  due_breakers: {
    text: "SELECT breaker.service\nFROM millrace_breaker AS breaker\nWHERE breaker.state <> 1\n  AND (\n      breaker.probe_at <= ?1\n      OR (breaker.probe_at IS NOT NULL AND breaker.opened_at > ?1)\n      OR EXISTS (\n          SELECT 1\n          FROM millrace_attempt AS ended\n          WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n\n      )\n      OR (breaker.state = 3 AND NOT EXISTS (\n          SELECT 1 FROM millrace_job AS job WHERE job.key = breaker.probe_key\n      ))\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_gate AS gate\n      WHERE gate.name = breaker.service AND (gate.until IS NULL OR gate.until > ?1)\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_service_park AS park\n      WHERE park.gate = breaker.service AND park.until > ?1\n  )\nORDER BY breaker.service",
    parameters: ["now"],
  },
  probe_types: {
    text: "SELECT DISTINCT uses.type\nFROM json_each(?1) AS due\nCROSS JOIN millrace_service_use AS uses ON uses.service = due.value\nWHERE (?2 IS NULL OR uses.type IN (SELECT value FROM json_each(?2)))\n  AND uses.type NOT IN (SELECT value FROM json_each(?3))\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_barrier AS barrier\n      WHERE barrier.target = uses.type\n        AND (barrier.until IS NULL OR barrier.until > ?4)\n        AND barrier.gate NOT IN (SELECT value FROM json_each(?1))\n  )\nORDER BY uses.type",
    parameters: ["due","types","full","now"],
  },
  service_probe_in_blocked: {
    text: "SELECT key, priority, rank, type, tenant, concurrency\nFROM millrace_blocked\nWHERE gate IN (SELECT value FROM json_each(?1))\n  AND type IN (SELECT value FROM json_each(?2))\n  AND (?3 IS NULL OR lane IN (SELECT value FROM json_each(?3)))\n  AND (?4 IS NULL OR tenant IN (SELECT value FROM json_each(?4)))\n  AND crashes < ?5\n  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?6)\n  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?6)\n  AND (tenant, type) NOT IN (SELECT tenant, type FROM millrace_tenant_barrier WHERE until > ?6)\n  AND tenant NOT IN (SELECT value FROM json_each(?7))\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_lock AS lock\n      WHERE lock.tenant = millrace_blocked.tenant AND lock.name = millrace_blocked.concurrency\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_key_rate AS rate\n      WHERE rate.tenant = millrace_blocked.tenant\n        AND rate.name = millrace_blocked.concurrency\n        AND (rate.refilled_at - ?6) * rate.rate_count <= rate.burst * rate.rate_ms\n        AND rate.tokens\n            + max(0, ?6 - rate.refilled_at) * 1.0 * rate.rate_count / rate.rate_ms < 1\n  )\nORDER BY priority, rank, key\nLIMIT 1",
    parameters: ["due","types","lanes","tenants","cap","now","full"],
  },
  service_probe_in_ready: {
    text: "SELECT front.key, front.priority, front.rank, front.type, front.tenant, front.concurrency\nFROM (\n    SELECT key, lane, priority, rank, type, tenant, concurrency\n    FROM millrace_ready\n    WHERE lane = ?1\n      AND crashes = ?2\n    ORDER BY priority, rank, key\n    LIMIT ?3\n) AS front\nWHERE front.type IN (SELECT value FROM json_each(?4))\n  AND (?5 IS NULL OR front.tenant IN (SELECT value FROM json_each(?5)))\n  AND front.lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?6)\n  AND front.tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?6)\n  AND (front.tenant, front.type) NOT IN (\n      SELECT tenant, type FROM millrace_tenant_barrier WHERE until > ?6\n  )\n  AND front.tenant NOT IN (SELECT value FROM json_each(?7))\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_lock AS lock\n      WHERE lock.tenant = front.tenant AND lock.name = front.concurrency\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_key_rate AS rate\n      WHERE rate.tenant = front.tenant\n        AND rate.name = front.concurrency\n        AND (rate.refilled_at - ?6) * rate.rate_count <= rate.burst * rate.rate_ms\n        AND rate.tokens\n            + max(0, ?6 - rate.refilled_at) * 1.0 * rate.rate_count / rate.rate_ms < 1\n  )\nORDER BY front.priority, front.rank, front.key\nLIMIT 1",
    parameters: ["lane","crashes","depth","types","tenants","now","full"],
  },
  services_of_type: {
    text: "SELECT service\nFROM millrace_service_use\nWHERE type = ?1\nORDER BY service",
    parameters: ["type"],
  },
  list_breakers: {
    text: "SELECT known.service, ?1 AS now,\n       (\n           SELECT json_group_array(name.text ORDER BY name.text)\n           FROM millrace_service_use AS uses\n           JOIN millrace_interned_name AS name ON name.id = uses.type\n           WHERE uses.service = known.service\n       ) AS types,\n       breaker.updated_at, (SELECT id FROM millrace_job WHERE key = breaker.probe_key) AS probe_id,\n       breaker.state, breaker.failure_count, breaker.success_count, breaker.last_failure_at,\n       breaker.opened_at, breaker.half_opened_at, breaker.probe_at, breaker.probe_n,\n       breaker.reason, breaker.by\nFROM (\n    SELECT service FROM millrace_breaker\n    UNION\n    SELECT service FROM millrace_service_use\n    UNION\n    SELECT service FROM millrace_service_park WHERE until > ?1\n) AS known\nJOIN millrace_interned_name AS name ON name.id = known.service\nLEFT JOIN millrace_breaker AS breaker ON breaker.service = known.service\nORDER BY name.text\nLIMIT ?2",
    parameters: ["now","limit"],
  },
  list_parks: {
    text: "SELECT service, tenant, until, reason\nFROM millrace_service_park\nWHERE until > ?1\n  AND asked_at <= ?1\nORDER BY until, gate\nLIMIT ?2",
    parameters: ["now","limit"],
  },
  list_breaker_changes: {
    text: "SELECT at, state, failure_count, reason, by\nFROM millrace_breaker_change\nWHERE service = ?1\nORDER BY n DESC\nLIMIT ?2",
    parameters: ["service","limit"],
  },
  delete_breaker_changes: {
    text: "DELETE FROM millrace_breaker_change\nWHERE (service, n) IN (\n    SELECT service, n FROM millrace_breaker_change WHERE at <= ?1 LIMIT ?2\n)",
    parameters: ["before","limit"],
  },
  worker_may_claim: {
    text: "SELECT quiet OR EXISTS (\n           SELECT 1 FROM millrace_gate WHERE name = -2 AND (until IS NULL OR until > ?1)\n       ) AS quiet\nFROM millrace_worker\nWHERE id = ?2\n  AND until > ?1\n  AND protocol >= (SELECT CAST(value AS INTEGER) FROM millrace_meta WHERE name = 'min_protocol')",
    parameters: ["now","worker"],
  },
  claim_candidates: {
    text: "SELECT key, priority, rank, n, tries, crashes, tenant, concurrency, type, due\nFROM millrace_ready\nWHERE lane = ?1\n  AND crashes = ?2\n  AND (priority, rank, key) > (?3, ?4, ?5)\n  AND priority < ?6\n  AND (?7 IS NULL OR type IN (SELECT value FROM json_each(?7)))\n  AND (?8 IS NULL OR tenant IN (SELECT value FROM json_each(?8)))\n  AND (?9 = 0 OR concurrency IS NULL)\n  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?10)\n  AND type NOT IN (SELECT target FROM millrace_barrier WHERE until IS NULL OR until > ?10)\n  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?10)\n  AND (tenant, type) NOT IN (SELECT tenant, type FROM millrace_tenant_barrier WHERE until > ?10)\n  AND (?11 IS NULL OR NOT (\n      type IN (SELECT value FROM json_each(?11))\n      OR tenant IN (SELECT value FROM json_each(?11))\n  ))\n  AND (\n      concurrency IS NULL\n      OR (\n          NOT EXISTS (\n              SELECT 1\n              FROM millrace_lock AS lock\n              WHERE lock.tenant = millrace_ready.tenant AND lock.name = millrace_ready.concurrency\n          )\n          AND (\n              tenant || '.' || concurrency NOT IN (SELECT value FROM json_each(?12))\n              OR key IN (SELECT value FROM json_each(?13))\n          )\n          AND (\n              ?14 IS NULL\n              OR concurrency <> ?14\n              OR tenant <> ?15\n              OR priority < ?16\n          )\n      )\n  )\nORDER BY priority, rank, key\nLIMIT ?17",
    parameters: ["lane","crashes","after_priority","after_rank","after_key","end","types","tenants","prefetch","now","full","names","first","awaited","awaited_tenant","awaited_priority","limit"],
  },
  data_version: {
    text: "PRAGMA data_version",
    parameters: [],
  },
  delete_ready: {
    text: "DELETE FROM millrace_ready\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  ready_lanes: {
    text: "WITH RECURSIVE hop (lane) AS (\n    SELECT min(lane) FROM millrace_ready\n    UNION ALL\n    SELECT (SELECT min(ready.lane) FROM millrace_ready AS ready WHERE ready.lane > hop.lane)\n    FROM hop\n    WHERE hop.lane IS NOT NULL\n)\nSELECT lane FROM hop WHERE lane IS NOT NULL",
    parameters: [],
  },
  look_for_ready: {
    text: "SELECT CASE\n           WHEN ?1 IS NULL THEN EXISTS (SELECT 1 FROM millrace_ready)\n           ELSE EXISTS (\n               SELECT 1\n               FROM json_each(?1) AS named\n               CROSS JOIN millrace_ready AS ready ON ready.lane = named.value\n           )\n       END AS has_ready",
    parameters: ["lanes"],
  },
  payload_sizes: {
    text: "SELECT coalesce(octet_length(job.payload), 0) AS bytes\nFROM json_each(?1) AS candidate\nLEFT JOIN millrace_job AS job ON job.key = candidate.value\nORDER BY candidate.key",
    parameters: ["keys"],
  },
  insert_lease: {
    text: "INSERT INTO millrace_lease (secret, worker, keys, ns, ranks, starts, claimed_at, alone)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    parameters: ["secret","worker","keys","ns","ranks","starts","claimed_at","alone"],
  },
  claimed_jobs: {
    text: "SELECT job.id, job.type, job.tenant, job.lane, job.max_attempts, job.timeout_ms, job.payload,\n       job.payload_version, job.correlation, job.parent, job.concurrency, job.tags,\n       job.created_at, job.flags, job.retry_of IS NOT NULL AS successor\nFROM json_each(?1) AS claimed\nCROSS JOIN millrace_job AS job ON job.key = claimed.value\nORDER BY claimed.key",
    parameters: ["keys"],
  },
  insert_mark: {
    text: "INSERT INTO millrace_meta (name, value)\nVALUES ('moved_to', ?1)",
    parameters: ["value"],
  },
  all_leases: {
    text: "SELECT number, worker, keys, ns, ranks, starts, claimed_at\nFROM millrace_lease\nORDER BY number",
    parameters: [],
  },
  delete_workers: {
    text: "DELETE FROM millrace_worker",
    parameters: [],
  },
  delete_all_worker_types: {
    text: "DELETE FROM millrace_worker_type",
    parameters: [],
  },
  delete_all_permits: {
    text: "DELETE FROM millrace_permit",
    parameters: [],
  },
  reset_limits: {
    text: "UPDATE millrace_limit_setting\nSET used = 0",
    parameters: [],
  },
  delete_all_ended_runs: {
    text: "DELETE FROM millrace_ended_run",
    parameters: [],
  },
  set_died_with: {
    text: "UPDATE millrace_worker\nSET died_with = ?1\nWHERE process = ?2\n  AND died_with IS NULL",
    parameters: ["begun","process"],
  },
  leases_of_process: {
    text: "SELECT lease.number, lease.worker, lease.keys, lease.ns, lease.ranks, lease.starts,\n       lease.claimed_at\nFROM millrace_worker AS worker\nCROSS JOIN millrace_lease AS lease ON lease.worker = worker.id\nWHERE worker.process = ?1\nORDER BY lease.number",
    parameters: ["process"],
  },
  look_for_crashed: {
    text: "SELECT EXISTS (\n           SELECT 1\n           FROM json_each(?1) AS named\n           CROSS JOIN millrace_ready AS ready\n               ON ready.lane = named.value AND ready.crashes > 0\n       ) AS has_crashed,\n       EXISTS (SELECT 1 FROM millrace_crash_streak WHERE probe_at IS NOT NULL) AS has_closed",
    parameters: ["lanes"],
  },
  crash_numbers: {
    text: "WITH RECURSIVE hop (lane, crashes) AS (\n    SELECT named.value, (\n        SELECT min(ready.crashes)\n        FROM millrace_ready AS ready\n        WHERE ready.lane = named.value AND ready.crashes > 0\n    )\n    FROM json_each(?1) AS named\n    UNION ALL\n    SELECT hop.lane, (\n        SELECT min(ready.crashes)\n        FROM millrace_ready AS ready\n        WHERE ready.lane = hop.lane AND ready.crashes > hop.crashes\n    )\n    FROM hop\n    WHERE hop.crashes IS NOT NULL\n)\nSELECT DISTINCT crashes FROM hop WHERE crashes IS NOT NULL",
    parameters: ["lanes"],
  },
  lone_lease: {
    text: "SELECT number\nFROM millrace_lease\nWHERE alone = 1",
    parameters: [],
  },
  due_probes: {
    text: "SELECT streak.type, streak.probe_ms\nFROM millrace_crash_streak AS streak\nJOIN millrace_gate AS gate ON gate.name = streak.type\nWHERE (\n      streak.probe_at <= ?1\n      OR streak.probe_at - streak.probe_ms > ?1\n  )\n  AND (gate.until IS NULL OR gate.until > ?1)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_barrier AS barrier\n      WHERE barrier.target = streak.type\n        AND barrier.gate <> streak.type\n        AND (barrier.until IS NULL OR barrier.until > ?1)\n  )\n  AND (?2 IS NULL OR streak.type IN (SELECT value FROM json_each(?2)))\n  AND streak.type NOT IN (SELECT value FROM json_each(?3))\nORDER BY streak.probe_at, streak.type",
    parameters: ["now","types","full"],
  },
  probe_in_blocked: {
    text: "SELECT key, priority, rank, tenant, concurrency\nFROM millrace_blocked\nWHERE gate = ?1\n  AND (?2 IS NULL OR lane IN (SELECT value FROM json_each(?2)))\n  AND (?3 IS NULL OR tenant IN (SELECT value FROM json_each(?3)))\n  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?4)\n  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?4)\n  AND tenant NOT IN (SELECT value FROM json_each(?5))\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_lock AS lock\n      WHERE lock.tenant = millrace_blocked.tenant AND lock.name = millrace_blocked.concurrency\n  )\nORDER BY priority, rank, key\nLIMIT 1",
    parameters: ["type","lanes","tenants","now","full"],
  },
  probe_in_ready: {
    text: "SELECT front.key, front.priority, front.rank, front.tenant, front.concurrency\nFROM (\n    SELECT key, lane, priority, rank, type, tenant, concurrency\n    FROM millrace_ready\n    WHERE lane = ?1\n      AND crashes = ?2\n    ORDER BY priority, rank, key\n    LIMIT ?3\n) AS front\nWHERE front.type = ?4\n  AND (?5 IS NULL OR front.tenant IN (SELECT value FROM json_each(?5)))\n  AND front.lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?6)\n  AND front.tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?6)\n  AND front.tenant NOT IN (SELECT value FROM json_each(?7))\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_lock AS lock\n      WHERE lock.tenant = front.tenant AND lock.name = front.concurrency\n  )\nORDER BY front.priority, front.rank, front.key\nLIMIT 1",
    parameters: ["lane","crashes","depth","type","tenants","now","full"],
  },
  set_next_probe: {
    text: "UPDATE millrace_crash_streak\nSET probe_at = ?1,\n    probe_ms = ?2\nWHERE type = ?3",
    parameters: ["probe_at","probe_ms","type"],
  },
  find_streak: {
    text: "SELECT ended, probe_at, probe_ms\nFROM millrace_crash_streak\nWHERE type = ?1",
    parameters: ["type"],
  },
  put_streak: {
    text: "INSERT INTO millrace_crash_streak (type, ended, probe_at, probe_ms)\nVALUES (?1, ?2, ?3, ?4)\nON CONFLICT (type) DO UPDATE SET ended = ?2, probe_at = ?3, probe_ms = ?4",
    parameters: ["type","ended","probe_at","probe_ms"],
  },
  delete_streak: {
    text: "DELETE FROM millrace_crash_streak\nWHERE type = ?1\nRETURNING probe_at",
    parameters: ["type"],
  },
  reset_streaks: {
    text: "UPDATE millrace_crash_streak\nSET ended = 0\nWHERE ended > 0\n  AND type IN (\n      SELECT job.type\n      FROM json_each(?1) AS succeeded\n      CROSS JOIN millrace_job AS job ON job.key = succeeded.value\n  )",
    parameters: ["keys"],
  },
  gate_is_closed: {
    text: "SELECT 1 AS yes\nFROM millrace_gate\nWHERE name = ?1\n  AND (until IS NULL OR until > ?2)",
    parameters: ["name","now"],
  },
  insert_dead_letter: {
    text: "INSERT INTO millrace_dead_letter (\n    id, type, tenant, status, error, attempts, died_at, spec, cause, history\n)\nVALUES (\n    ?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, (\n        SELECT json_group_array(\n            json_object(\n                'n', n, 'outcome', outcome, 'at', finished_at, 'class', error ->> 'class',\n                'name', error ->> 'name', 'message', substr(error ->> 'message', 1, 300),\n                'cause', error ->> 'cause'\n            )\n            ORDER BY n\n        )\n        FROM (\n            SELECT n, outcome, finished_at, error\n            FROM millrace_attempt\n            WHERE key = ?9 AND error IS NOT NULL AND json_valid(error)\n            ORDER BY n DESC\n            LIMIT 50\n        )\n    )\n)\nON CONFLICT (id) DO UPDATE\nSET type = ?2, tenant = ?3, status = 1, error = ?4, attempts = ?5,\n    history = excluded.history, reviews = '[]', assigned_to = NULL, died_at = ?6,\n    reviewed_by = NULL, reviewed_at = NULL, notes = NULL, successor = NULL,\n    spec = ?7, cause = ?8",
    parameters: ["id","type","tenant","error","attempts","died_at","spec","cause","key"],
  },
  find_dead_letter: {
    text: "SELECT id, type, tenant, status, error, attempts, died_at, reviewed_by, reviewed_at, notes,\n       successor, spec, cause, assigned_to, history, reviews\nFROM millrace_dead_letter\nWHERE id = ?1",
    parameters: ["id"],
  },
  list_dead_letters: {
    text: "SELECT letter.id, letter.type, letter.tenant, letter.status, letter.error, letter.attempts,\n       letter.died_at, letter.reviewed_by, letter.reviewed_at, letter.notes, letter.successor,\n       letter.spec, letter.cause, letter.assigned_to, letter.history, letter.reviews\nFROM (\n    SELECT id\n    FROM millrace_dead_letter\n    WHERE (died_at, id) < (?1, ?2)\n      AND (?3 IS NULL OR status = ?3)\n      AND (?4 IS NULL OR type = ?4)\n      AND (?5 IS NULL OR tenant = ?5)\n      AND (?6 IS NULL OR category = ?6)\n      AND (?7 IS NULL OR error_class = ?7)\n      AND (?8 IS NULL OR cause = ?8)\n      AND (?9 IS NULL OR assigned_to = ?9)\n      AND (?10 IS NULL OR correlation = ?10)\n      AND (?11 IS NULL OR created_at >= ?11)\n      AND (?12 IS NULL OR created_at < ?12)\n    ORDER BY died_at DESC, id DESC\n    LIMIT ?13\n) AS page\nJOIN millrace_dead_letter AS letter ON letter.id = page.id\nORDER BY letter.died_at DESC, letter.id DESC",
    parameters: ["before_at","before_id","status","type","tenant","category","error_class","cause","assigned_to","correlation","created_from","created_before","limit"],
  },
  count_dead_letters: {
    text: "SELECT count(*) AS letters\nFROM (\n    SELECT 1\n    FROM millrace_dead_letter INDEXED BY millrace_dead_letter_died\n    WHERE true\n      AND (?1 IS NULL OR status = ?1)\n      AND (?2 IS NULL OR type = ?2)\n      AND (?3 IS NULL OR tenant = ?3)\n      AND (?4 IS NULL OR category = ?4)\n      AND (?5 IS NULL OR error_class = ?5)\n      AND (?6 IS NULL OR cause = ?6)\n      AND (?7 IS NULL OR assigned_to = ?7)\n      AND (?8 IS NULL OR correlation = ?8)\n      AND (?9 IS NULL OR created_at >= ?9)\n      AND (?10 IS NULL OR created_at < ?10)\n    LIMIT ?11\n) AS few",
    parameters: ["status","type","tenant","category","error_class","cause","assigned_to","correlation","created_from","created_before","max"],
  },
  group_dead_letters: {
    text: "SELECT status, type, category, error_class, count(*) AS letters, min(died_at) AS oldest_at,\n       sum(died_at >= ?1) AS recent\nFROM (\n    SELECT status, type, category, error_class, died_at\n    FROM millrace_dead_letter\n    WHERE ?2 IS NULL OR tenant = ?2\n    ORDER BY died_at DESC\n    LIMIT ?3\n) AS letter\nGROUP BY status, type, category, error_class\nORDER BY letters DESC, status, type, category, error_class\nLIMIT ?4",
    parameters: ["since","tenant","rows","groups"],
  },
  review_dead_letter: {
    text: "UPDATE millrace_dead_letter\nSET status      = ?1,\n    reviewed_by = ?2,\n    reviewed_at = ?3,\n    notes       = ?4,\n    successor   = ?5,\n    reviews     = json_insert(\n        CASE\n            WHEN json_array_length(reviews) >= 100 THEN json_remove(reviews, '$[0]')\n            ELSE reviews\n        END,\n        '$[#]',\n        json_object(\n            'at', ?3, 'by', ?2, 'act', ?6, 'notes', ?4,\n            'changes', json(?7)\n        )\n    )\nWHERE id = ?8\n  AND status IN (1, 2)",
    parameters: ["status","reviewed_by","reviewed_at","notes","successor","act","changes","id"],
  },
  annotate_dead_letter: {
    text: "UPDATE millrace_dead_letter\nSET assigned_to = iif(?1 = 'assigned', ?2, assigned_to),\n    reviews     = json_insert(\n        CASE\n            WHEN json_array_length(reviews) >= 100 THEN json_remove(reviews, '$[0]')\n            ELSE reviews\n        END,\n        '$[#]',\n        json_object('at', ?3, 'by', ?4, 'act', ?1, 'notes', ?5, 'to', ?2)\n    )\nWHERE id = ?6\n  AND (status IN (1, 2) OR ?1 = 'noted')",
    parameters: ["act","assigned_to","at","by","notes","id"],
  },
  find_key: {
    text: "SELECT key\nFROM millrace_job_name\nWHERE id = ?1",
    parameters: ["id"],
  },
  awaited_code: {
    text: "WITH RECURSIVE up (id, depth) AS (\n    SELECT ?1, 1\n    UNION ALL\n    SELECT job.retry_of, up.depth + 1\n    FROM up\n    CROSS JOIN millrace_job AS job ON job.id = up.id AND job.retry_of IS NOT NULL\n    WHERE up.depth < ?2\n),\nfamily (id, depth) AS (\n    SELECT id, 1 FROM up WHERE depth = (SELECT max(depth) FROM up)\n    UNION ALL\n    SELECT job.id, family.depth + 1\n    FROM family\n    CROSS JOIN millrace_job AS job ON job.retry_of = family.id\n    WHERE family.depth <= ?2\n)\nSELECT DISTINCT job.key\nFROM family\nCROSS JOIN millrace_job AS job ON job.id = family.id\nCROSS JOIN millrace_ended_run AS code ON code.key = job.key\nJOIN millrace_worker AS worker ON worker.id = code.worker\nJOIN millrace_attempt AS ended ON ended.key = code.key AND ended.n = code.n\nWHERE ended.started_at IS NOT NULL\nORDER BY job.key\nLIMIT ?3",
    parameters: ["id","depth","limit"],
  },
  insert_ended_code: {
    text: "INSERT INTO millrace_finished_dependency (key)\nSELECT DISTINCT dependency.depends_on\nFROM json_each(?1) AS over\nCROSS JOIN millrace_dependency AS dependency ON dependency.depends_on = -over.value\nWHERE NOT EXISTS (SELECT 1 FROM millrace_ended_run AS code WHERE code.key = over.value)\nON CONFLICT (key) DO NOTHING",
    parameters: ["keys"],
  },
  insert_dependency: {
    text: "INSERT INTO millrace_dependency (job, depends_on, tolerant)\nVALUES (?1, ?2, ?3)\nON CONFLICT (job, depends_on) DO NOTHING",
    parameters: ["job","depends_on","tolerant"],
  },
  set_rank_of_dependant: {
    text: "UPDATE millrace_blocked\nSET rank = ?1\nWHERE key = ?2\n  AND gate = 0",
    parameters: ["rank","key"],
  },
  has_dependencies: {
    text: "SELECT 1 AS yes\nFROM millrace_dependency\nWHERE job = ?1\nLIMIT 1",
    parameters: ["job"],
  },
  delete_dependency: {
    text: "DELETE FROM millrace_dependency\nWHERE job = ?1\n  AND depends_on = ?2",
    parameters: ["job","depends_on"],
  },
  delete_dependencies: {
    text: "DELETE FROM millrace_dependency\nWHERE job IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  insert_finished_dependency: {
    text: "INSERT INTO millrace_finished_dependency (key)\nSELECT DISTINCT dependency.depends_on\nFROM json_each(?1) AS over\nCROSS JOIN millrace_dependency AS dependency ON dependency.depends_on = over.value\nWHERE true\nON CONFLICT (key) DO NOTHING",
    parameters: ["keys"],
  },
  insert_finished_dependencies: {
    text: "INSERT INTO millrace_finished_dependency (key)\nSELECT dependency.depends_on\nFROM millrace_dependency AS dependency\nJOIN millrace_attempt AS ended ON ended.key = dependency.depends_on AND ended.state IS NOT NULL\nWHERE dependency.job = ?1\nON CONFLICT (key) DO NOTHING",
    parameters: ["job"],
  },
  next_finished_dependency: {
    text: "SELECT ended.key, job.id,\n       (\n           SELECT attempt.state\n           FROM millrace_attempt AS attempt\n           WHERE attempt.key = ended.key AND attempt.state IS NOT NULL\n       ) AS state\nFROM millrace_finished_dependency AS ended\nLEFT JOIN millrace_job AS job ON job.key = ended.key\nLIMIT 1",
    parameters: [],
  },
  delete_finished_dependency: {
    text: "DELETE FROM millrace_finished_dependency\nWHERE key = ?1",
    parameters: ["key"],
  },
  dependants_of: {
    text: "SELECT job, tolerant\nFROM millrace_dependency\nWHERE depends_on = ?1\nORDER BY job\nLIMIT ?2",
    parameters: ["depends_on","limit"],
  },
  take_dependant: {
    text: "DELETE FROM millrace_blocked\nWHERE key = ?1\n  AND gate = 0\nRETURNING key, rank, lane, priority, type, tenant, concurrency, n, tries, crashes",
    parameters: ["key"],
  },
  dependencies_after: {
    text: "SELECT dependency.job, dependency.depends_on,\n       EXISTS (\n           SELECT 1\n           FROM millrace_attempt AS ended\n           WHERE ended.key = dependency.depends_on AND ended.state IS NOT NULL\n       ) OR (\n           NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = dependency.depends_on)\n           AND NOT EXISTS (\n               SELECT 1\n               FROM millrace_ended_run AS code\n               JOIN millrace_worker AS worker ON worker.id = code.worker\n               WHERE code.key = -dependency.depends_on\n           )\n       ) AS is_over\nFROM millrace_dependency AS dependency\nWHERE (dependency.job, dependency.depends_on) > (?1, ?2)\nORDER BY dependency.job, dependency.depends_on\nLIMIT ?3",
    parameters: ["job","depends_on","limit"],
  },
  dependants_of_job: {
    text: "SELECT waiting.id\nFROM millrace_dependency AS dependency\nCROSS JOIN millrace_job AS waiting ON waiting.key = dependency.job\nWHERE dependency.depends_on IN (\n    SELECT key FROM millrace_job_name WHERE id = ?1\n    UNION ALL\n    SELECT -key FROM millrace_job_name WHERE id = ?1\n)\nORDER BY dependency.job\nLIMIT ?2",
    parameters: ["id","limit"],
  },
  open_dependencies: {
    text: "SELECT parent.id\nFROM millrace_dependency AS dependency\nCROSS JOIN millrace_job AS parent ON parent.key = abs(dependency.depends_on)\nWHERE dependency.job = (SELECT key FROM millrace_job_name WHERE id = ?1)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_attempt AS ended\n      WHERE ended.key = dependency.depends_on AND ended.state IS NOT NULL\n  )\nORDER BY abs(dependency.depends_on)\nLIMIT ?2",
    parameters: ["id","limit"],
  },
  admission: {
    text: "SELECT CAST(value AS INTEGER) AS protocol, EXISTS (SELECT 1 FROM millrace_intake) AS closed,\n       EXISTS (SELECT 1 FROM millrace_quota) AS limited\nFROM millrace_meta\nWHERE name = 'min_protocol'",
    parameters: [],
  },
  insert_job: {
    text: "INSERT INTO millrace_job (\n    id, type, tenant, lane, category, priority, run_at, max_attempts, timeout_ms, payload,\n    payload_version, correlation, parent, retry_of, concurrency, idempotency, dedup, webhook, tags,\n    created_by, created_at, flags\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,\n    ?11, ?12, ?13, ?14, ?15, ?16, ?17,\n    ?18, ?19, ?20, ?21, ?22\n)\nON CONFLICT (id) DO NOTHING",
    parameters: ["id","type","tenant","lane","category","priority","run_at","max_attempts","timeout_ms","payload","payload_version","correlation","parent","retry_of","concurrency","idempotency","dedup","webhook","tags","created_by","created_at","flags"],
  },
  insert_tag: {
    text: "INSERT INTO millrace_tag (name, value, key)\nVALUES (?1, ?2, ?3)",
    parameters: ["name","value","key"],
  },
  insert_ready: {
    text: "INSERT INTO millrace_ready (\n    lane, crashes, priority, rank, key, type, tenant, concurrency, n, tries\n)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)\nON CONFLICT DO NOTHING",
    parameters: ["lane","crashes","priority","rank","key","type","tenant","concurrency","n","tries"],
  },
  insert_scheduled: {
    text: "INSERT INTO millrace_scheduled (\n    key, run_at, lane, priority, type, tenant, concurrency, n, tries, crashes\n)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)\nON CONFLICT DO NOTHING",
    parameters: ["key","run_at","lane","priority","type","tenant","concurrency","n","tries","crashes"],
  },
  find_body: {
    text: "SELECT key, type, tenant, payload\nFROM millrace_job\nWHERE id = ?1",
    parameters: ["id"],
  },
  find_idempotency: {
    text: "SELECT job_id, body\nFROM millrace_idempotency\nWHERE tenant = ?1\n  AND key = ?2",
    parameters: ["tenant","key"],
  },
  insert_idempotency: {
    text: "INSERT INTO millrace_idempotency (tenant, key, job_id, body)\nVALUES (?1, ?2, ?3, ?4)",
    parameters: ["tenant","key","job_id","body"],
  },
  find_successor: {
    text: "SELECT job.key, job.id\nFROM millrace_job AS job\nWHERE job.retry_of = ?1\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace_attempt AS attempt\n      WHERE attempt.key = job.key AND attempt.state IS NOT NULL\n  )\nLIMIT 1",
    parameters: ["retry_of"],
  },
  find_dedup: {
    text: "SELECT dedup.job AS key, job.id\nFROM millrace_dedup AS dedup\nLEFT JOIN millrace_job AS job ON job.key = dedup.job\nWHERE dedup.tenant = ?1\n  AND dedup.type = ?2\n  AND dedup.key = ?3",
    parameters: ["tenant","type","key"],
  },
  insert_dedup: {
    text: "INSERT INTO millrace_dedup (tenant, type, key, job)\nVALUES (?1, ?2, ?3, ?4)",
    parameters: ["tenant","type","key","job"],
  },
  delete_dedup: {
    text: "DELETE FROM millrace_dedup\nWHERE job IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  append_event: {
    text: "INSERT INTO millrace_event (kind, at, keys, ids, details)\nVALUES (?1, ?2, ?3, ?4, ?5)",
    parameters: ["kind","at","keys","ids","details"],
  },
  find_alias: {
    text: "SELECT 1 AS yes\nFROM millrace_alias\nWHERE id = ?1",
    parameters: ["id"],
  },
  insert_alias: {
    text: "INSERT INTO millrace_alias (id, job, parent)\nSELECT ?1, (SELECT key FROM millrace_job WHERE id = ?2), parent.key\nFROM millrace_job AS parent\nWHERE parent.id = ?3\nON CONFLICT (id) DO NOTHING",
    parameters: ["id","holder","parent"],
  },
  lost_jobs: {
    text: "WITH held AS (\n    SELECT DISTINCT CAST(named.value AS INTEGER) AS key, CAST(run.value AS INTEGER) AS n\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS named\n    JOIN json_each(lease.ns) AS run ON run.key = named.key\n)\nSELECT job.id\nFROM millrace_job AS job\nWHERE job.key <= ?1\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace_attempt AS last WHERE last.key = job.key AND last.state IS NOT NULL\n  )\n  AND NOT EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = job.key)\n  AND NOT EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = job.key)\n  AND NOT EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = job.key)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM held\n      WHERE held.key = job.key\n        AND held.n > (\n            SELECT coalesce(max(done.n), 0) FROM millrace_attempt AS done WHERE done.key = job.key\n        )\n  )\nORDER BY job.key\nLIMIT ?2",
    parameters: ["last_key","limit"],
  },
  ownerless_leases: {
    text: "WITH held AS (\n    SELECT lease.number, named.value AS key\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS named\n    JOIN json_each(lease.ns) AS run ON run.key = named.key\n    WHERE NOT EXISTS (\n        SELECT 1\n        FROM millrace_attempt AS ended\n        WHERE ended.key = named.value\n          AND ended.n >= run.value\n    )\n)\nSELECT lease.number, lease.worker, job.id\nFROM millrace_lease AS lease\nLEFT JOIN held ON held.number = lease.number\nLEFT JOIN millrace_job AS job ON job.key = held.key\nWHERE NOT EXISTS (SELECT 1 FROM millrace_worker AS worker WHERE worker.id = lease.worker)\nORDER BY lease.number, job.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  places_without_job: {
    text: "WITH waiting (place, key) AS (\n    SELECT * FROM (SELECT 'scheduled', key FROM millrace_scheduled ORDER BY key LIMIT ?1)\n    UNION ALL\n    SELECT * FROM (SELECT 'ready', key FROM millrace_ready ORDER BY key LIMIT ?1)\n    UNION ALL\n    SELECT * FROM (SELECT 'blocked', key FROM millrace_blocked ORDER BY key LIMIT ?1)\n)\nSELECT place, key\nFROM waiting\nWHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = waiting.key)\nORDER BY place, key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  places_against_ledger: {
    text: "WITH held AS (\n    SELECT DISTINCT CAST(named.value AS INTEGER) AS key, CAST(run.value AS INTEGER) AS n\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS named\n    JOIN json_each(lease.ns) AS run ON run.key = named.key\n),\nwaiting (place, key, n) AS (\n    SELECT * FROM (SELECT 'scheduled', key, n FROM millrace_scheduled ORDER BY key LIMIT ?1)\n    UNION ALL\n    SELECT * FROM (SELECT 'blocked', key, n FROM millrace_blocked ORDER BY key LIMIT ?1)\n    UNION ALL\n    SELECT * FROM (SELECT 'ready', key, n FROM millrace_ready ORDER BY key LIMIT ?1)\n),\njudged AS (\n    SELECT waiting.place, waiting.key, job.id, waiting.n,\n           waiting.place <> 'scheduled'\n           AND EXISTS (SELECT 1 FROM millrace_scheduled AS twin WHERE twin.key = waiting.key)\n           OR waiting.place = 'ready'\n           AND EXISTS (SELECT 1 FROM millrace_blocked AS twin WHERE twin.key = waiting.key)\n               AS is_twin,\n           last.state IS NOT NULL AS is_over,\n           held.key IS NOT NULL AS is_held,\n           coalesce(last.n, 0) + 1 AS next_n\n    FROM waiting\n    JOIN millrace_job AS job ON job.key = waiting.key\n    LEFT JOIN millrace_attempt AS last\n        ON last.key = waiting.key\n        AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = waiting.key)\n    LEFT JOIN held ON held.key = waiting.key AND held.n = waiting.n\n)\nSELECT place, key, id, is_over, is_held, is_twin, next_n\nFROM judged\nWHERE is_over OR is_held OR is_twin OR n <> next_n\nORDER BY key, place\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  examined_tables: {
    text: "SELECT coalesce((SELECT min(key) FROM millrace_job), 0) AS first_key,\n       coalesce((SELECT max(key) FROM millrace_job), 0) AS last_key,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_scheduled LIMIT ?1)) AS scheduled,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_ready LIMIT ?1)) AS ready,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_blocked LIMIT ?1)) AS blocked,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_dedup LIMIT ?1)) AS dedup,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_cancel_request LIMIT ?1)) AS cancel_request,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_lock LIMIT ?1)) AS lock,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_dependency LIMIT ?1)) AS dependency,\n       (\n           SELECT count(*)\n           FROM (SELECT 1 FROM millrace_attempt WHERE state = 6 AND state > 4 LIMIT ?1)\n       ) AS failed,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_dead_letter LIMIT ?1)) AS dead_letter,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_ended_run LIMIT ?1)) AS ended_run",
    parameters: ["max"],
  },
  failure_causes: {
    text: "WITH RECURSIVE found (cause, n) AS (\n    SELECT (\n        SELECT cause\n        FROM millrace_dead_letter\n        WHERE status IN (1, 2)\n        ORDER BY cause\n        LIMIT 1\n    ), 1\n    UNION ALL\n    SELECT (\n        SELECT letter.cause\n        FROM millrace_dead_letter AS letter\n        WHERE letter.cause > found.cause AND letter.status IN (1, 2)\n        ORDER BY letter.cause\n        LIMIT 1\n    ), n + 1\n    FROM found\n    WHERE found.cause IS NOT NULL AND n < ?1\n)\nSELECT found.cause, (\n    SELECT letter.died_at\n    FROM millrace_dead_letter AS letter\n    WHERE letter.cause = found.cause AND letter.status IN (1, 2)\n    ORDER BY letter.died_at DESC\n    LIMIT 1\n) AS last_at\nFROM found\nWHERE found.cause IS NOT NULL\nORDER BY last_at DESC, found.cause",
    parameters: ["max"],
  },
  failure_hours: {
    text: "SELECT type, iif(age < 24, 23 - age, -1) AS hour, count(*) AS letters\nFROM (\n    SELECT type, CAST(max(?1 - died_at, 0) / 3600000 AS INTEGER) AS age\n    FROM millrace_dead_letter\n    WHERE cause = ?2 AND status IN (1, 2)\n    ORDER BY died_at DESC\n    LIMIT ?3\n) AS letter\nGROUP BY type, hour\nORDER BY type, hour",
    parameters: ["now","cause","max"],
  },
  first_failure: {
    text: "SELECT died_at AS first_at\nFROM millrace_dead_letter\nWHERE cause = ?1 AND status IN (1, 2)\nORDER BY millrace_dead_letter.died_at\nLIMIT 1",
    parameters: ["cause"],
  },
  letters_of_cause: {
    text: "SELECT id, type, tenant, status, error, attempts, died_at, reviewed_by, reviewed_at, notes,\n       successor, spec, cause, assigned_to, history, reviews\nFROM millrace_dead_letter\nWHERE cause = ?1 AND status IN (1, 2)\n  AND (died_at, id) < (?2, ?3)\nORDER BY millrace_dead_letter.died_at DESC, millrace_dead_letter.id DESC\nLIMIT ?4",
    parameters: ["cause","before_at","before_id","limit"],
  },
  failure_causes_of_tenant: {
    text: "WITH RECURSIVE found (cause, n) AS (\n    SELECT (\n        SELECT cause\n        FROM millrace_dead_letter\n        WHERE tenant = ?1 AND status IN (1, 2)\n        ORDER BY cause\n        LIMIT 1\n    ), 1\n    UNION ALL\n    SELECT (\n        SELECT letter.cause\n        FROM millrace_dead_letter AS letter\n        WHERE letter.tenant = ?1\n          AND letter.cause > found.cause\n          AND letter.status IN (1, 2)\n        ORDER BY letter.cause\n        LIMIT 1\n    ), n + 1\n    FROM found\n    WHERE found.cause IS NOT NULL AND n < ?2\n)\nSELECT found.cause, (\n    SELECT letter.died_at\n    FROM millrace_dead_letter AS letter\n    WHERE letter.tenant = ?1\n      AND letter.cause = found.cause\n      AND letter.status IN (1, 2)\n    ORDER BY letter.died_at DESC\n    LIMIT 1\n) AS last_at\nFROM found\nWHERE found.cause IS NOT NULL\nORDER BY last_at DESC, found.cause",
    parameters: ["tenant","max"],
  },
  failure_hours_of_tenant: {
    text: "SELECT type, iif(age < 24, 23 - age, -1) AS hour, count(*) AS letters\nFROM (\n    SELECT type, CAST(max(?1 - died_at, 0) / 3600000 AS INTEGER) AS age\n    FROM millrace_dead_letter\n    WHERE tenant = ?2 AND cause = ?3 AND status IN (1, 2)\n    ORDER BY died_at DESC\n    LIMIT ?4\n) AS letter\nGROUP BY type, hour\nORDER BY type, hour",
    parameters: ["now","tenant","cause","max"],
  },
  first_failure_of_tenant: {
    text: "SELECT died_at AS first_at\nFROM millrace_dead_letter\nWHERE tenant = ?1 AND cause = ?2 AND status IN (1, 2)\nORDER BY millrace_dead_letter.died_at\nLIMIT 1",
    parameters: ["tenant","cause"],
  },
  letters_of_cause_of_tenant: {
    text: "SELECT id, type, tenant, status, error, attempts, died_at, reviewed_by, reviewed_at, notes,\n       successor, spec, cause, assigned_to, history, reviews\nFROM millrace_dead_letter\nWHERE tenant = ?1 AND cause = ?2 AND status IN (1, 2)\n  AND (died_at, id) < (?3, ?4)\nORDER BY millrace_dead_letter.died_at DESC, millrace_dead_letter.id DESC\nLIMIT ?5",
    parameters: ["tenant","cause","before_at","before_id","limit"],
  },
  failure_decisions: {
    text: "SELECT cause, decision, decided_at, until, by, notes\nFROM millrace_failure_group\nWHERE tenant = ?1 AND cause > ?2\nORDER BY cause\nLIMIT ?3",
    parameters: ["tenant","after","limit"],
  },
  find_failure_group: {
    text: "SELECT decision, decided_at, until, by, notes\nFROM millrace_failure_group\nWHERE tenant = ?1 AND cause = ?2",
    parameters: ["tenant","cause"],
  },
  decide_failure_group: {
    text: "INSERT INTO millrace_failure_group (tenant, cause, decision, decided_at, until, by, notes)\nVALUES (?1, ?2, ?3, ?4, ?4 + ?5, ?6, ?7)\nON CONFLICT (tenant, cause) DO UPDATE\nSET decision = excluded.decision, decided_at = excluded.decided_at, until = excluded.until,\n    by = excluded.by, notes = excluded.notes",
    parameters: ["tenant","cause","decision","now","for_ms","by","notes"],
  },
  all_fair_lanes: {
    text: "SELECT lane, weights, code_weights, owner, by, set_at\nFROM millrace_fair_lane\nORDER BY lane",
    parameters: [],
  },
  find_fair_lane: {
    text: "SELECT lane, weights, code_weights, owner, by, set_at\nFROM millrace_fair_lane\nWHERE lane = ?1",
    parameters: ["lane"],
  },
  fair_lane_for_turns: {
    text: "SELECT lane, weights, code_weights, owner, by, set_at\nFROM millrace_fair_lane\nWHERE lane = ?1",
    parameters: ["lane"],
  },
  put_fair_lane: {
    text: "INSERT INTO millrace_fair_lane (lane, weights, code_weights, owner, by, set_at)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6)\nON CONFLICT (lane) DO UPDATE\nSET weights = excluded.weights, code_weights = excluded.code_weights, owner = excluded.owner,\n    by = excluded.by, set_at = excluded.set_at",
    parameters: ["lane","weights","code_weights","owner","by","now"],
  },
  set_code_weights: {
    text: "UPDATE millrace_fair_lane\nSET code_weights = ?1\nWHERE lane = ?2",
    parameters: ["code_weights","lane"],
  },
  delete_fair_lane: {
    text: "DELETE FROM millrace_fair_lane\nWHERE lane = ?1",
    parameters: ["lane"],
  },
  lanes_without_turns: {
    text: "SELECT lane FROM millrace_lane_without_turns ORDER BY lane",
    parameters: [],
  },
  jobs_without_turn: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace_ready WHERE lane = ?1 AND crashes = 0\n    UNION ALL\n    SELECT (\n        SELECT min(ready.priority)\n        FROM millrace_ready AS ready\n        WHERE ready.lane = ?1 AND ready.crashes = 0 AND ready.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT first.key, first.priority, first.rank, first.tenant, 0 AS queue\nFROM class\nJOIN millrace_ready AS first ON first.key IN (\n    SELECT ready.key\n    FROM millrace_ready AS ready\n    WHERE ready.lane = ?1\n      AND ready.crashes = 0\n      AND ready.priority = class.priority\n      AND ready.rank >= 0\n    ORDER BY ready.rank, ready.key\n    LIMIT ?2\n)\nORDER BY first.priority, first.rank, first.key\nLIMIT ?2",
    parameters: ["lane","limit"],
  },
  newest_without_turn: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace_ready WHERE lane = ?1 AND crashes = 0\n    UNION ALL\n    SELECT (\n        SELECT min(ready.priority)\n        FROM millrace_ready AS ready\n        WHERE ready.lane = ?1 AND ready.crashes = 0 AND ready.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT last.key, last.priority, last.rank, last.tenant, 0 AS queue\nFROM class\nJOIN millrace_ready AS last ON last.key IN (\n    SELECT ready.key\n    FROM millrace_ready AS ready\n    WHERE ready.lane = ?1\n      AND ready.crashes = 0\n      AND ready.priority = class.priority\n      AND ready.rank >= 0\n    ORDER BY ready.rank DESC, ready.key DESC\n    LIMIT ?2\n)\nWHERE last.tenant NOT IN (SELECT value FROM json_each(?3))\nORDER BY last.priority, last.rank, last.key\nLIMIT ?2",
    parameters: ["lane","limit","tenants"],
  },
  later_without_turn: {
    text: "SELECT key, priority, rank, tenant, 0 AS queue, 0 AS place\nFROM (\n    SELECT key, priority, rank, tenant\n    FROM millrace_ready\n    WHERE lane = ?1\n      AND crashes = 0\n      AND (priority, rank, key) > (?2, ?3, ?4)\n      AND rank >= 0\n    ORDER BY priority, rank, key\n    LIMIT ?5\n)\nWHERE tenant NOT IN (SELECT value FROM json_each(?6))\nUNION ALL\nSELECT *\nFROM (\n    SELECT key, priority, rank, tenant, 0 AS queue, ?5 AS place\n    FROM millrace_ready\n    WHERE lane = ?1\n      AND crashes = 0\n      AND (priority, rank, key) > (?2, ?3, ?4)\n      AND rank >= 0\n    ORDER BY priority, rank, key\n    LIMIT 1 OFFSET ?5 - 1\n)\nORDER BY place",
    parameters: ["lane","priority","rank","key","limit","tenants"],
  },
  queued_without_turn: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace_blocked WHERE lane = ?1 AND gate < -2\n    UNION ALL\n    SELECT (\n        SELECT min(blocked.priority)\n        FROM millrace_blocked AS blocked\n        WHERE blocked.lane = ?1 AND blocked.gate < -2 AND blocked.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT first.key, first.priority, first.rank, first.tenant, first.gate AS queue\nFROM class\nJOIN millrace_blocked AS first ON first.key IN (\n    SELECT blocked.key\n    FROM millrace_blocked AS blocked\n    WHERE blocked.lane = ?1\n      AND blocked.gate < -2\n      AND blocked.priority = class.priority\n      AND blocked.turn_or_rank >= 0\n    ORDER BY blocked.turn_or_rank, blocked.key\n    LIMIT ?2\n)\nORDER BY first.priority, first.rank, first.key\nLIMIT ?2",
    parameters: ["lane","limit"],
  },
  newest_queued: {
    text: "WITH RECURSIVE class (priority) AS (\n    SELECT min(priority) FROM millrace_blocked WHERE lane = ?1 AND gate < -2\n    UNION ALL\n    SELECT (\n        SELECT min(blocked.priority)\n        FROM millrace_blocked AS blocked\n        WHERE blocked.lane = ?1 AND blocked.gate < -2 AND blocked.priority > class.priority\n    )\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT last.key, last.priority, last.rank, last.tenant, last.gate AS queue\nFROM class\nJOIN millrace_blocked AS last ON last.key IN (\n    SELECT blocked.key\n    FROM millrace_blocked AS blocked\n    WHERE blocked.lane = ?1\n      AND blocked.gate < -2\n      AND blocked.priority = class.priority\n      AND blocked.turn_or_rank >= 0\n    ORDER BY blocked.turn_or_rank DESC, blocked.key DESC\n    LIMIT ?2\n)\nWHERE last.tenant NOT IN (SELECT value FROM json_each(?3))\nORDER BY last.priority, last.rank, last.key\nLIMIT ?2",
    parameters: ["lane","limit","tenants"],
  },
  later_queued: {
    text: "WITH RECURSIVE class (priority, rank, key) AS (\n    SELECT ?1, ?2, ?3\n    UNION ALL\n    SELECT (\n               SELECT min(blocked.priority)\n               FROM millrace_blocked AS blocked\n               WHERE blocked.lane = ?4\n                 AND blocked.gate < -2\n                 AND blocked.priority > class.priority\n           ),\n           0, 0\n    FROM class\n    WHERE class.priority IS NOT NULL\n)\nSELECT key, priority, rank, tenant, gate AS queue, place\nFROM (\n    SELECT key, priority, rank, tenant, gate,\n           row_number() OVER (ORDER BY priority, rank, key) AS place\n    FROM (\n        SELECT later.key, later.priority, later.rank, later.tenant, later.gate\n        FROM class\n        JOIN millrace_blocked AS later ON later.key IN (\n            SELECT blocked.key\n            FROM millrace_blocked AS blocked\n            WHERE blocked.lane = ?4\n              AND blocked.gate < -2\n              AND blocked.priority = class.priority\n              AND blocked.turn_or_rank >= class.rank\n              AND (blocked.turn_or_rank > class.rank OR blocked.key > class.key)\n            ORDER BY blocked.turn_or_rank, blocked.key\n            LIMIT ?5\n        )\n        ORDER BY later.priority, later.rank, later.key\n        LIMIT ?5\n    )\n)\nWHERE place = ?5\n   OR tenant NOT IN (SELECT value FROM json_each(?6))\nORDER BY place",
    parameters: ["priority","rank","key","lane","limit","tenants"],
  },
  first_turns: {
    text: "SELECT class.value AS priority, 0 AS queue,\n       (\n           SELECT min(ready.rank)\n           FROM millrace_ready AS ready\n           WHERE ready.lane = ?1\n             AND ready.crashes = 0\n             AND ready.priority = class.value\n             AND ready.rank < 0\n       ) AS rank\nFROM json_each(?2) AS class",
    parameters: ["lane","priorities"],
  },
  first_queue_turns: {
    text: "SELECT class.value AS priority, own.value AS queue,\n       (\n           SELECT min(blocked.turn_or_rank)\n           FROM millrace_blocked AS blocked\n           WHERE blocked.gate = own.value\n             AND blocked.gate < -2\n             AND blocked.lane = ?1\n             AND blocked.priority = class.value\n             AND blocked.turn_or_rank < 0\n       ) AS rank\nFROM json_each(?2) AS class\nCROSS JOIN json_each(?3) AS own\nUNION ALL\nSELECT class.value, -1,\n       (\n           SELECT min(blocked.turn_or_rank)\n           FROM millrace_blocked AS blocked\n           WHERE blocked.gate < -2\n             AND blocked.lane = ?1\n             AND blocked.priority = class.value\n             AND blocked.turn_or_rank < 0\n       )\nFROM json_each(?2) AS class",
    parameters: ["lane","priorities","queues"],
  },
  fair_turns: {
    text: "SELECT priority, queue, tenant, tag, due, back_tag\nFROM millrace_fair_turn\nWHERE lane = ?1\n  AND priority IN (SELECT value FROM json_each(?2))",
    parameters: ["lane","priorities"],
  },
  delete_fair_turns: {
    text: "DELETE FROM millrace_fair_turn\nWHERE lane = ?1\n  AND priority IN (SELECT value FROM json_each(?2))",
    parameters: ["lane","priorities"],
  },
  delete_turns_of_lane: {
    text: "DELETE FROM millrace_fair_turn\nWHERE lane = ?1",
    parameters: ["lane"],
  },
  put_fair_turns: {
    text: "INSERT INTO millrace_fair_turn (lane, priority, queue, tenant, tag, due, back_tag)\nSELECT ?1, turn.value ->> 0, turn.value ->> 1, turn.value ->> 2, turn.value ->> 3,\n       turn.value ->> 4, turn.value ->> 5\nFROM json_each(?2) AS turn",
    parameters: ["lane","turns"],
  },
  set_turns: {
    text: "UPDATE millrace_ready\nSET rank = turn.value ->> 1,\n    due = turn.value ->> 2\nFROM json_each(?1) AS turn\nWHERE millrace_ready.key = turn.value ->> 0",
    parameters: ["turns"],
  },
  set_queue_turns: {
    text: "UPDATE millrace_blocked\nSET turn = turn.value ->> 1\nFROM json_each(?1) AS turn\nWHERE millrace_blocked.key = turn.value ->> 0",
    parameters: ["turns"],
  },
  longest_due_classes: {
    text: "WITH RECURSIVE lane (id) AS (\n    SELECT min(lane) FROM millrace_ready\n    UNION ALL\n    SELECT (\n        SELECT min(next.lane)\n        FROM millrace_ready AS next\n        WHERE next.lane > lane.id\n    )\n    FROM lane\n    WHERE lane.id IS NOT NULL\n),\nclass (lane, priority) AS (\n    SELECT lane.id,\n           (\n               SELECT min(first.priority)\n               FROM millrace_ready AS first\n               WHERE first.lane = lane.id AND first.crashes = 0\n           )\n    FROM lane\n    WHERE lane.id IS NOT NULL\n      AND (?1 IS NULL OR lane.id IN (SELECT value FROM json_each(?1)))\n    UNION ALL\n    SELECT class.lane,\n           (\n               SELECT min(next.priority)\n               FROM millrace_ready AS next\n               WHERE next.lane = class.lane\n                 AND next.crashes = 0\n                 AND next.priority > class.priority\n           )\n    FROM class\n    WHERE class.priority IS NOT NULL\n    LIMIT ?2\n),\nqueue_lane (id) AS (\n    SELECT min(lane) FROM millrace_blocked WHERE gate < -2\n    UNION ALL\n    SELECT (\n        SELECT min(next.lane)\n        FROM millrace_blocked AS next\n        WHERE next.lane > queue_lane.id AND next.gate < -2\n    )\n    FROM queue_lane\n    WHERE queue_lane.id IS NOT NULL\n),\nqueued (lane, priority) AS (\n    SELECT queue_lane.id,\n           (\n               SELECT min(first.priority)\n               FROM millrace_blocked AS first\n               WHERE first.lane = queue_lane.id AND first.gate < -2\n           )\n    FROM queue_lane\n    WHERE queue_lane.id IS NOT NULL\n      AND (?1 IS NULL OR queue_lane.id IN (SELECT value FROM json_each(?1)))\n    UNION ALL\n    SELECT queued.lane,\n           (\n               SELECT min(next.priority)\n               FROM millrace_blocked AS next\n               WHERE next.lane = queued.lane\n                 AND next.gate < -2\n                 AND next.priority > queued.priority\n           )\n    FROM queued\n    WHERE queued.priority IS NOT NULL\n    LIMIT ?2\n),\nwaiting (lane, priority, due) AS (\n    SELECT class.lane, class.priority,\n           min(\n               coalesce((\n                   SELECT min(turn.due)\n                   FROM millrace_ready AS turn\n                   WHERE turn.lane = class.lane\n                     AND turn.priority = class.priority\n                     AND turn.due IS NOT NULL\n               ), 9000000000000),\n               coalesce((\n                   SELECT min(ready.rank)\n                   FROM millrace_ready AS ready\n                   WHERE ready.lane = class.lane\n                     AND ready.crashes = 0\n                     AND ready.priority = class.priority\n                     AND ready.rank >= 0\n               ) / 1000, 9000000000000)\n           )\n    FROM class\n    WHERE class.priority IS NOT NULL\n    UNION ALL\n    SELECT queued.lane, queued.priority,\n           min(\n               coalesce((\n                   SELECT min(turn.rank)\n                   FROM millrace_blocked AS turn\n                   WHERE turn.lane = queued.lane\n                     AND turn.priority = queued.priority\n                     AND turn.turn IS NOT NULL\n               ) / 1000, 9000000000000),\n               coalesce((\n                   SELECT min(blocked.turn_or_rank)\n                   FROM millrace_blocked AS blocked\n                   WHERE blocked.lane = queued.lane\n                     AND blocked.gate < -2\n                     AND blocked.priority = queued.priority\n                     AND blocked.turn_or_rank >= 0\n               ) / 1000, 9000000000000)\n           )\n    FROM queued\n    WHERE queued.priority IS NOT NULL\n)\nSELECT lane, priority, ?3 - min(due) AS ms\nFROM waiting\nGROUP BY lane, priority\nHAVING ?3 - min(due) > ?4\nORDER BY ms DESC, priority, lane\nLIMIT ?5",
    parameters: ["lanes","hops","now","older","classes"],
  },
  close_gate: {
    text: "INSERT INTO millrace_gate (name, closed_at, until, reason, by)\nVALUES (?1, ?2, ?3, ?4, ?5)\nON CONFLICT (name) DO UPDATE\nSET closed_at = CASE WHEN until <= ?2 THEN ?2 ELSE closed_at END,\n    until = ?3, reason = ?4, by = ?5",
    parameters: ["name","now","until","reason","by"],
  },
  open_gate: {
    text: "UPDATE millrace_gate\nSET until = 0\nWHERE name = ?1",
    parameters: ["name"],
  },
  closed_gates: {
    text: "SELECT name, closed_at, until, reason, by\nFROM millrace_gate\nWHERE until IS NULL OR until > ?1\nORDER BY name",
    parameters: ["now"],
  },
  closed_targets: {
    text: "SELECT target AS name, NULL AS tenant, gate\nFROM millrace_barrier\nWHERE until IS NULL OR until > ?1\nUNION ALL\nSELECT type, tenant, gate\nFROM millrace_tenant_barrier\nWHERE until > ?1",
    parameters: ["now"],
  },
  any_closed_gate: {
    text: "SELECT gate\nFROM millrace_closed_gate\nWHERE until IS NULL OR until > ?1\nLIMIT 1",
    parameters: ["now"],
  },
  count_behind_gate: {
    text: "WITH own (name) AS MATERIALIZED (\n    VALUES (?1)\n    UNION ALL\n    SELECT type FROM millrace_service_use WHERE service = ?1\n),\nother (name, gate) AS MATERIALIZED (\n    SELECT target, gate\n    FROM millrace_barrier\n    WHERE gate <> ?1 AND (until IS NULL OR until > ?2)\n),\nwaiting (lane, type, tenant) AS (\n    SELECT lane, type, tenant\n    FROM (SELECT lane, type, tenant FROM millrace_blocked WHERE gate = ?1 LIMIT ?3)\n    UNION ALL\n    SELECT lane, type, tenant\n    FROM (SELECT lane, type, tenant FROM millrace_ready LIMIT ?3)\n    UNION ALL\n    SELECT lane, type, tenant\n    FROM (SELECT lane, type, tenant FROM millrace_blocked WHERE gate < -2 LIMIT ?3)\n    UNION ALL\n    SELECT lane, type, tenant\n    FROM (\n        SELECT lane, type, tenant\n        FROM millrace_blocked\n        WHERE gate IN (SELECT gate FROM other)\n        LIMIT ?3\n    )\n),\nbehind (shared) AS (\n    SELECT EXISTS (\n        SELECT 1\n        FROM other\n        WHERE other.name IN (waiting.lane, waiting.type, waiting.tenant, -2)\n    )\n    FROM waiting\n    WHERE EXISTS (\n        SELECT 1 FROM own WHERE own.name IN (waiting.lane, waiting.type, waiting.tenant, -2)\n    )\n      AND (?4 IS NULL OR waiting.tenant = ?4)\n),\nplace (exact, shared_exact) AS (\n    SELECT NOT EXISTS (SELECT 1 FROM millrace_blocked WHERE gate = ?1 LIMIT 1 OFFSET ?3)\n               AND NOT EXISTS (SELECT 1 FROM millrace_ready LIMIT 1 OFFSET ?3)\n               AND NOT EXISTS (\n                   SELECT 1 FROM millrace_blocked WHERE gate < -2 LIMIT 1 OFFSET ?3\n               ),\n           NOT EXISTS (\n               SELECT 1\n               FROM millrace_blocked\n               WHERE gate IN (SELECT gate FROM other)\n               LIMIT 1 OFFSET ?3\n           )\n)\nSELECT count(*) FILTER (WHERE NOT shared) AS jobs,\n       count(*) FILTER (WHERE shared) AS shared,\n       (SELECT exact FROM place) AS exact,\n       (SELECT exact AND shared_exact FROM place) AS shared_exact\nFROM behind",
    parameters: ["name","now","rows","tenant"],
  },
  ready_place: {
    text: "SELECT key, lane, priority, rank\nFROM millrace_ready\nWHERE key = (SELECT key FROM millrace_job_name WHERE id = ?1)",
    parameters: ["id"],
  },
  count_ahead: {
    text: "WITH closed (name) AS MATERIALIZED (\n    SELECT target FROM millrace_barrier WHERE until IS NULL OR until > ?1\n),\nfront (before, lane, type, tenant, concurrency) AS MATERIALIZED (\n    SELECT *\n    FROM (\n        SELECT 1, lane, type, tenant, concurrency\n        FROM millrace_ready AS ready\n        WHERE lane = ?2\n          AND crashes = 0\n          AND (priority, rank, key) < (?3, ?4, ?5)\n        LIMIT ?6\n    )\n    UNION ALL\n    SELECT *\n    FROM (\n        SELECT (priority, rank, key) < (?3, ?4, ?5), lane, type, tenant, concurrency\n        FROM millrace_ready AS ready\n        WHERE lane = ?2 AND crashes > 0\n        LIMIT ?6\n    )\n)\nSELECT count(*) FILTER (\n           WHERE front.before\n             AND (?7 IS NULL OR front.tenant = ?7)\n             AND NOT EXISTS (\n                 SELECT 1\n                 FROM closed\n                 WHERE closed.name IN (front.lane, front.type, front.tenant, -2)\n             )\n             AND (front.tenant, front.type) NOT IN (\n                 SELECT tenant, type FROM millrace_tenant_barrier WHERE until > ?1\n             )\n             AND NOT EXISTS (\n                 SELECT 1\n                 FROM millrace_lock AS lock\n                 WHERE lock.tenant = front.tenant AND lock.name = front.concurrency\n             )\n       ) AS jobs,\n       count(*) < ?6 AS exact\nFROM front",
    parameters: ["now","lane","priority","rank","key","rows","tenant"],
  },
  open_gates: {
    text: "SELECT name\nFROM (\n    SELECT name FROM millrace_gate WHERE until <= ?1\n    UNION\n    SELECT gate FROM millrace_service_park WHERE until <= ?1\n)\nWHERE name NOT IN (SELECT gate FROM millrace_closed_gate WHERE until IS NULL OR until > ?1)\nORDER BY name",
    parameters: ["now"],
  },
  misplaced_types: {
    text: "SELECT gate, type\nFROM millrace_misplaced\nORDER BY gate, type",
    parameters: [],
  },
  misplaced_keys: {
    text: "SELECT key\nFROM millrace_blocked\nWHERE gate = ?1\n  AND gate > 0\n  AND type = ?2\nLIMIT ?3",
    parameters: ["gate","type","limit"],
  },
  waiting_jobs: {
    text: "SELECT EXISTS (SELECT 1 FROM millrace_ready)\n           OR EXISTS (SELECT 1 FROM millrace_blocked WHERE gate < -2)\n           OR EXISTS (SELECT 1 FROM millrace_crash_streak WHERE probe_at IS NOT NULL) AS ready,\n       EXISTS (SELECT 1 FROM millrace_gate WHERE until <= ?1)\n           OR EXISTS (\n               SELECT 1 FROM millrace_service_park WHERE until <= ?1 OR asked_at > ?1\n           )\n           OR EXISTS (\n               SELECT 1\n               FROM millrace_key_rate\n               WHERE held_until IS NOT NULL\n                 AND (held_until <= ?1 OR (held_until - ?1 - 1) * rate_count >= rate_ms)\n           ) AS released,\n       EXISTS (SELECT 1 FROM millrace_closed_gate)\n           OR EXISTS (SELECT 1 FROM millrace_limit_setting)\n           OR EXISTS (SELECT 1 FROM millrace_lock)\n           OR EXISTS (SELECT 1 FROM millrace_blocked)\n           OR EXISTS (SELECT 1 FROM millrace_finished_dependency) AS blocked,\n       EXISTS (\n           SELECT 1\n           FROM millrace_schedule\n           WHERE paused_at IS NULL\n             AND next_slot IS NOT NULL\n             AND next_slot <= ?1\n             AND (owner = 2 OR declared_at > ?2)\n       ) AS slot_due,\n       EXISTS (SELECT 1 FROM millrace_lane_without_turns) AS fair,\n       (\n           SELECT min(CASE\n               WHEN breaker.opened_at > ?1 THEN 0\n               ELSE coalesce(breaker.probe_at, 0)\n           END)\n           FROM millrace_breaker AS breaker\n           WHERE breaker.state <> 1\n             AND (\n                 breaker.probe_at IS NOT NULL\n                 OR EXISTS (\n                     SELECT 1\n                     FROM millrace_attempt AS ended\n                     WHERE ended.key = breaker.probe_key AND ended.n = breaker.probe_n\n                 )\n                 OR (breaker.state = 3 AND NOT EXISTS (\n                     SELECT 1 FROM millrace_job AS job WHERE job.key = breaker.probe_key\n                 ))\n             )\n       ) AS probe_at",
    parameters: ["now","declared_since"],
  },
  delete_gate: {
    text: "DELETE FROM millrace_gate\nWHERE name = ?1\n  AND until <= ?2",
    parameters: ["name","now"],
  },
  jobs_behind_gates: {
    text: "WITH closed (target, tenant, gate) AS MATERIALIZED (\n    SELECT target, NULL, gate FROM millrace_barrier WHERE until IS NULL OR until > ?1\n    UNION ALL\n    SELECT type, tenant, gate FROM millrace_tenant_barrier WHERE until > ?1\n)\nSELECT key, gate\nFROM (\n    SELECT front.key, (\n               SELECT min(closed.gate)\n               FROM closed\n               WHERE closed.target IN (front.lane, front.type, front.tenant)\n                 AND (closed.tenant IS NULL OR closed.tenant = front.tenant)\n           ) AS gate\n    FROM (\n        SELECT key, lane, type, tenant\n        FROM millrace_ready\n        WHERE lane = ?2\n          AND crashes = ?3\n        ORDER BY priority, rank, key\n        LIMIT ?4\n    ) AS front\n    WHERE front.type IN (SELECT target FROM closed)\n       OR front.tenant IN (SELECT target FROM closed)\n       OR front.lane IN (SELECT target FROM closed)\n)\nWHERE gate IS NOT NULL\nLIMIT ?5",
    parameters: ["now","lane","crashes","depth","limit"],
  },
  insert_blocked: {
    text: "INSERT INTO millrace_blocked (\n    key, gate, lane, priority, rank, type, tenant, concurrency, n, tries, crashes\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11\n)\nON CONFLICT DO NOTHING",
    parameters: ["key","gate","lane","priority","rank","type","tenant","concurrency","n","tries","crashes"],
  },
  blocked_keys: {
    text: "SELECT key\nFROM millrace_blocked\nWHERE gate = ?1\nORDER BY priority, rank, key\nLIMIT ?2",
    parameters: ["gate","limit"],
  },
  job_by_id: {
    text: "SELECT now.*, run.phase, run.overall, stale.key IS NOT NULL AS is_stale\nFROM millrace_job_now AS now\nLEFT JOIN millrace_run AS run ON run.key = now.key\nLEFT JOIN millrace_stale AS stale ON stale.key = now.key\nWHERE now.key = (SELECT key FROM millrace_job_name WHERE id = ?1)",
    parameters: ["id"],
  },
  job_by_key: {
    text: "SELECT *\nFROM millrace_job_now\nWHERE key = ?1",
    parameters: ["key"],
  },
  tenants_of_ids: {
    text: "SELECT unhex(asked.value) AS asked, coalesce(job.tenant, letter.tenant) AS tenant\nFROM json_each(?1) AS asked\nLEFT JOIN millrace_job AS job\n    ON job.key = (SELECT key FROM millrace_job_name WHERE id = unhex(asked.value))\nLEFT JOIN millrace_dead_letter AS letter ON letter.id = unhex(asked.value)\nWHERE job.key IS NOT NULL OR letter.id IS NOT NULL",
    parameters: ["ids"],
  },
  ids_between: {
    text: "SELECT id\nFROM (SELECT id FROM millrace_job WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3)\nUNION\nSELECT id\nFROM (\n    SELECT id\n    FROM millrace_alias\n    WHERE id BETWEEN ?1 AND ?2 AND job IS NOT NULL\n    ORDER BY id\n    LIMIT ?3\n)\nUNION\nSELECT id\nFROM (\n    SELECT id\n    FROM millrace_dead_letter\n    WHERE id BETWEEN ?1 AND ?2\n    ORDER BY id\n    LIMIT ?3\n)\nORDER BY id\nLIMIT ?3",
    parameters: ["first","last","limit"],
  },
  ends_of_jobs: {
    text: "SELECT unhex(asked.value) AS asked, job.id, job.type, last.state, last.result, last.error,\n       last.reason\nFROM json_each(?1) AS asked\nCROSS JOIN millrace_job AS job\n    ON job.key = (SELECT key FROM millrace_job_name WHERE id = unhex(asked.value))\nLEFT JOIN millrace_attempt AS last\n    ON last.key = job.key\n    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = job.key)",
    parameters: ["ids"],
  },
  match_jobs: {
    text: "SELECT now.*, run.phase, run.overall, stale.key IS NOT NULL AS is_stale\nFROM json_each(?1) AS candidate\nJOIN millrace_job_now AS now ON now.key = candidate.value\nLEFT JOIN millrace_run AS run ON run.key = now.key\nLEFT JOIN millrace_stale AS stale ON stale.key = now.key\nWHERE (?2 IS NULL OR now.state IN (SELECT value FROM json_each(?2)))\n  AND (?3 IS NULL OR now.type = ?3)\n  AND (?4 IS NULL OR now.tenant = ?4)\n  AND (?5 IS NULL OR now.category = ?5)\n  AND (?6 IS NULL OR now.lane = ?6)\n  AND (\n      ?7 IS NULL\n      OR instr(lower(now.last_error ->> 'message'), lower(?7)) > 0\n      OR instr(lower(now.last_error ->> 'name'), lower(?7)) > 0\n      OR instr(lower(now.last_error ->> 'class'), lower(?7)) > 0\n  )\n  AND (?8 IS NULL OR instr(now.payload, ?8) > 0)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM json_each(?9) AS wanted\n      WHERE NOT EXISTS (\n          WITH RECURSIVE step (depth, value) AS (\n              SELECT 0, now.payload\n              UNION ALL\n              SELECT step.depth + 1, step.value -> part.fullkey\n              FROM step\n              CROSS JOIN json_each(step.value) AS part\n              WHERE CAST(part.key AS TEXT) = wanted.value ->> ('$.path[' || step.depth || ']')\n          )\n          SELECT 1\n          FROM step\n          WHERE depth = json_array_length(wanted.value, '$.path')\n            AND CASE json_type(value)\n                WHEN 'object' THEN NULL\n                WHEN 'array' THEN NULL\n                WHEN 'text' THEN value ->> '$'\n                ELSE value\n            END = wanted.value ->> 'text'\n      )\n  )\n  AND (\n      ?10 IS NULL\n      OR now.correlation IN (?10, ?11)\n      OR (now.correlation IS NULL AND now.id = ?12)\n  )\n  AND (?13 IS NULL OR now.parent = ?13)\n  AND (?14 IS NULL OR now.created_at >= ?14)\n  AND (?15 IS NULL OR now.created_at < ?15)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM json_each(?16) AS wanted\n      WHERE NOT EXISTS (\n          SELECT 1\n          FROM millrace_tag AS tag\n          WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = now.key\n      )\n  )\nORDER BY now.key DESC\nLIMIT ?17",
    parameters: ["keys","states","type","tenant","category","lane","error","payload_text","payload","correlation","correlation_uuid","correlation_id","parent","created_from","created_before","tags","limit"],
  },
  count_matching: {
    text: "SELECT count(*) AS count\nFROM json_each(?1) AS candidate\nJOIN millrace_job_now AS now ON now.key = candidate.value\nWHERE (?2 IS NULL OR now.state IN (SELECT value FROM json_each(?2)))\n  AND (?3 IS NULL OR now.type = ?3)\n  AND (?4 IS NULL OR now.tenant = ?4)\n  AND (?5 IS NULL OR now.category = ?5)\n  AND (?6 IS NULL OR now.lane = ?6)\n  AND (\n      ?7 IS NULL\n      OR instr(lower(now.last_error ->> 'message'), lower(?7)) > 0\n      OR instr(lower(now.last_error ->> 'name'), lower(?7)) > 0\n      OR instr(lower(now.last_error ->> 'class'), lower(?7)) > 0\n  )\n  AND (?8 IS NULL OR instr(now.payload, ?8) > 0)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM json_each(?9) AS wanted\n      WHERE NOT EXISTS (\n          WITH RECURSIVE step (depth, value) AS (\n              SELECT 0, now.payload\n              UNION ALL\n              SELECT step.depth + 1, step.value -> part.fullkey\n              FROM step\n              CROSS JOIN json_each(step.value) AS part\n              WHERE CAST(part.key AS TEXT) = wanted.value ->> ('$.path[' || step.depth || ']')\n          )\n          SELECT 1\n          FROM step\n          WHERE depth = json_array_length(wanted.value, '$.path')\n            AND CASE json_type(value)\n                WHEN 'object' THEN NULL\n                WHEN 'array' THEN NULL\n                WHEN 'text' THEN value ->> '$'\n                ELSE value\n            END = wanted.value ->> 'text'\n      )\n  )\n  AND (\n      ?10 IS NULL\n      OR now.correlation IN (?10, ?11)\n      OR (now.correlation IS NULL AND now.id = ?12)\n  )\n  AND (?13 IS NULL OR now.parent = ?13)\n  AND (?14 IS NULL OR now.created_at >= ?14)\n  AND (?15 IS NULL OR now.created_at < ?15)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM json_each(?16) AS wanted\n      WHERE NOT EXISTS (\n          SELECT 1\n          FROM millrace_tag AS tag\n          WHERE tag.name = wanted.key AND tag.value = wanted.value AND tag.key = now.key\n      )\n  )",
    parameters: ["keys","states","type","tenant","category","lane","error","payload_text","payload","correlation","correlation_uuid","correlation_id","parent","created_from","created_before","tags"],
  },
  count_waiting: {
    text: "SELECT (SELECT count(*) FROM (SELECT 1 FROM millrace_scheduled LIMIT ?1)) AS scheduled,\n       (SELECT count(*) FROM (SELECT n FROM millrace_scheduled LIMIT ?1) WHERE n > 1) AS retrying,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_ready LIMIT ?1)) AS ready,\n       (SELECT count(*) FROM (SELECT 1 FROM millrace_blocked LIMIT ?1)) AS blocked",
    parameters: ["max"],
  },
  count_ended: {
    text: "SELECT count(*) AS count\nFROM (SELECT 1 FROM millrace_attempt WHERE state = ?1 LIMIT ?2)",
    parameters: ["state","max"],
  },
  count_groups: {
    text: "WITH counted (place, type, lane, tenant, rank, key) AS (\n    SELECT iif(n > 1, 6, 1), type, lane, tenant, NULL, key\n    FROM (SELECT n, type, lane, tenant, key FROM millrace_scheduled LIMIT ?1)\n    UNION ALL\n    SELECT 2, type, lane, tenant, coalesce(due * 1000, rank), key\n    FROM (SELECT type, lane, tenant, due, rank, key FROM millrace_ready LIMIT ?1)\n    UNION ALL\n    SELECT 3, type, lane, tenant, NULL, key\n    FROM (SELECT type, lane, tenant, key FROM millrace_blocked LIMIT ?1)\n    UNION ALL\n    SELECT 4, job.type, job.lane, job.tenant, NULL, job.key\n    FROM (\n        SELECT claimed.value AS key\n        FROM millrace_lease AS lease\n        JOIN json_each(lease.keys) AS claimed\n        WHERE NOT EXISTS (\n            SELECT 1\n            FROM millrace_attempt AS ended\n            WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key\n        )\n        LIMIT ?1\n    ) AS run\n    CROSS JOIN millrace_job AS job ON job.key = run.key\n    UNION ALL\n    SELECT 5, job.type, job.lane, job.tenant, NULL, job.key\n    FROM (\n        SELECT key\n        FROM millrace_attempt\n        WHERE state = 6 AND state > 4\n        ORDER BY key DESC\n        LIMIT ?1\n    ) AS failed\n    CROSS JOIN millrace_job AS job ON job.key = failed.key\n)\nSELECT type, lane, tenant,\n       iif(\n           ?2,\n           (SELECT job.category FROM millrace_job AS job WHERE job.key = counted.key),\n           NULL\n       ) AS category,\n       count(*) FILTER (WHERE place IN (1, 6)) AS scheduled,\n       count(*) FILTER (WHERE place = 6) AS retrying,\n       count(*) FILTER (WHERE place = 2) AS queued,\n       count(*) FILTER (WHERE place = 3) AS held,\n       count(*) FILTER (WHERE place = 4) AS running,\n       count(*) FILTER (WHERE place = 5) AS failed,\n       max(0, ?3 - min(rank) / 1000) AS oldest_ms\nFROM counted\nWHERE ?4 IS NULL OR tenant = ?4\nGROUP BY type, lane, tenant, category\nORDER BY count(*) DESC, type, lane, tenant, category\nLIMIT ?5",
    parameters: ["rows","categories","now","tenant","groups"],
  },
  count_running: {
    text: "WITH own (name) AS MATERIALIZED (\n    VALUES (?1)\n    UNION ALL\n    SELECT type FROM millrace_service_use WHERE service = ?1\n)\nSELECT count(*) AS count\nFROM (\n    SELECT 1\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS claimed\n    CROSS JOIN millrace_job AS job ON job.key = claimed.value\n    WHERE (?2 IS NULL OR lease.worker = ?2)\n      AND EXISTS (\n          SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2)\n      )\n      AND NOT EXISTS (\n          SELECT 1\n          FROM millrace_attempt AS ended\n          WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key\n      )\n    LIMIT ?3\n)",
    parameters: ["gate","worker","rows"],
  },
  ids_of_running: {
    text: "WITH own (name) AS MATERIALIZED (\n    VALUES (?1)\n    UNION ALL\n    SELECT type FROM millrace_service_use WHERE service = ?1\n)\nSELECT job.id\nFROM millrace_lease AS lease\nJOIN json_each(lease.keys) AS claimed\nCROSS JOIN millrace_job AS job ON job.key = claimed.value\nWHERE (?2 IS NULL OR lease.worker = ?2)\n  AND EXISTS (SELECT 1 FROM own WHERE own.name IN (job.lane, job.type, job.tenant, -2))\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_attempt AS ended\n      WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key\n  )\nLIMIT ?3",
    parameters: ["gate","worker","limit"],
  },
  count_due: {
    text: "WITH closed (name) AS MATERIALIZED (\n    SELECT target FROM millrace_barrier WHERE until IS NULL OR until > ?1\n),\nparked (tenant, type) AS MATERIALIZED (\n    SELECT tenant, type FROM millrace_tenant_barrier WHERE until > ?1\n),\ndue (jobs, rank, behind) AS (\n    SELECT alike.jobs, alike.rank, EXISTS (\n        SELECT 1 FROM closed WHERE closed.name IN (alike.lane, alike.type, alike.tenant, -2)\n    ) OR EXISTS (\n        SELECT 1 FROM parked WHERE parked.type = alike.type AND parked.tenant = alike.tenant\n    )\n    FROM (\n        SELECT lane, type, tenant, count(*) AS jobs, min(coalesce(due * 1000, rank)) AS rank\n        FROM (\n            SELECT lane, type, tenant, rank, due FROM millrace_ready LIMIT ?2\n        ) AS ready\n        GROUP BY lane, type, tenant\n    ) AS alike\n)\nSELECT coalesce(sum(jobs) FILTER (WHERE NOT behind), 0) AS queued,\n       coalesce(sum(jobs) FILTER (WHERE behind), 0) AS behind,\n       min(rank) FILTER (WHERE NOT behind) AS rank,\n       NOT EXISTS (SELECT 1 FROM millrace_ready LIMIT 1 OFFSET ?2) AS exact\nFROM due",
    parameters: ["now","rows"],
  },
  oldest_ready: {
    text: "WITH RECURSIVE hop (lane, crashes, priority, rank) AS (\n    SELECT lane, crashes, priority, rank\n    FROM millrace_ready\n    WHERE key = (\n        SELECT key FROM millrace_ready ORDER BY lane, crashes, priority, rank, key LIMIT 1\n    )\n    UNION ALL\n    SELECT ready.lane, ready.crashes, ready.priority, ready.rank\n    FROM hop\n    JOIN millrace_ready AS ready ON ready.key = coalesce(\n        (\n            SELECT next.key\n            FROM millrace_ready AS next\n            WHERE next.lane = hop.lane\n              AND next.crashes = hop.crashes\n              AND next.priority > hop.priority\n            ORDER BY next.priority, next.rank, next.key\n            LIMIT 1\n        ),\n        (\n            SELECT next.key\n            FROM millrace_ready AS next\n            WHERE next.lane = hop.lane AND next.crashes > hop.crashes\n            ORDER BY next.crashes, next.priority, next.rank, next.key\n            LIMIT 1\n        ),\n        (\n            SELECT next.key\n            FROM millrace_ready AS next\n            WHERE next.lane > hop.lane\n            ORDER BY next.lane, next.crashes, next.priority, next.rank, next.key\n            LIMIT 1\n        )\n    )\n    LIMIT ?1\n)\nSELECT min(CASE WHEN hop.rank >= 0 THEN hop.rank ELSE (\n           SELECT min(first.rank)\n           FROM (\n               SELECT min(turn.due) * 1000 AS rank\n               FROM millrace_ready AS turn\n               WHERE turn.lane = hop.lane AND turn.priority = hop.priority AND turn.due IS NOT NULL\n               UNION ALL\n               SELECT min(ready.rank)\n               FROM millrace_ready AS ready\n               WHERE ready.lane = hop.lane\n                 AND ready.crashes = hop.crashes\n                 AND ready.priority = hop.priority\n                 AND ready.rank >= 0\n           ) AS first\n       ) END) AS rank,\n       count(*) AS hops\nFROM hop",
    parameters: ["hops"],
  },
  key_at: {
    text: "WITH RECURSIVE search (low, high) AS (\n    SELECT coalesce(min(key), 0), coalesce(max(key), 0) + 1\n    FROM millrace_job\n    UNION ALL\n    SELECT CASE WHEN middle.created_at < ?1 THEN middle.key + 1 ELSE low END,\n           CASE WHEN middle.created_at < ?1 THEN high ELSE (low + high) / 2 END\n    FROM search\n    JOIN millrace_job AS middle ON middle.key = (\n        SELECT min(next.key)\n        FROM millrace_job AS next\n        WHERE next.key >= (search.low + search.high) / 2\n    )\n    WHERE low < high\n)\nSELECT low AS key FROM search WHERE low = high",
    parameters: ["at"],
  },
  keys_of_all: {
    text: "SELECT key\nFROM millrace_job\nWHERE key < ?1\nORDER BY key DESC\nLIMIT ?2",
    parameters: ["before","limit"],
  },
  keys_of_type: {
    text: "SELECT key\nFROM millrace_job\nWHERE type = ?1\n  AND key < ?2\nORDER BY key DESC\nLIMIT ?3",
    parameters: ["type","before","limit"],
  },
  keys_of_tenant: {
    text: "SELECT key\nFROM millrace_job\nWHERE tenant = ?1\n  AND tenant <> 1\n  AND key < ?2\nORDER BY key DESC\nLIMIT ?3",
    parameters: ["tenant","before","limit"],
  },
  keys_of_category: {
    text: "SELECT key\nFROM millrace_job\nWHERE category = ?1\n  AND key < ?2\nORDER BY key DESC\nLIMIT ?3",
    parameters: ["category","before","limit"],
  },
  keys_of_correlation: {
    text: "SELECT key\nFROM millrace_job\nWHERE correlation IN (?1, ?2)\n  AND key < ?3\nUNION ALL\nSELECT key\nFROM millrace_job\nWHERE id = ?4\n  AND correlation IS NULL\n  AND key < ?3\nORDER BY key DESC\nLIMIT ?5",
    parameters: ["correlation","correlation_uuid","before","correlation_id","limit"],
  },
  keys_of_parent: {
    text: "SELECT key\nFROM millrace_job\nWHERE parent = ?1\n  AND key < ?2\nORDER BY key DESC\nLIMIT ?3",
    parameters: ["parent","before","limit"],
  },
  keys_of_tag: {
    text: "SELECT key\nFROM millrace_tag\nWHERE name = ?1\n  AND value = ?2\n  AND key < ?3\nORDER BY key DESC\nLIMIT ?4",
    parameters: ["name","value","before","limit"],
  },
  keys_of_long_runs: {
    text: "SELECT DISTINCT claimed.value AS key\nFROM millrace_lease AS lease\nJOIN json_each(lease.keys) AS claimed\nWHERE lease.claimed_at <= ?1 - ?2\n  AND lease.claimed_at + (lease.starts ->> claimed.key) <= ?1 - ?2\n  AND claimed.value < ?3\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_attempt AS ended\n      WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key\n  )\nORDER BY claimed.value DESC\nLIMIT ?4",
    parameters: ["now","running_ms","before","limit"],
  },
  keys_of_states: {
    text: "WITH wanted (state) AS MATERIALIZED (SELECT value FROM json_each(?1))\nSELECT key\nFROM (\n    SELECT key\n    FROM millrace_scheduled\n    WHERE key < (SELECT ?2 FROM wanted WHERE state = 1)\n    ORDER BY key DESC\n    LIMIT ?3\n)\nUNION\nSELECT key\nFROM (\n    SELECT key\n    FROM millrace_ready\n    WHERE key < (SELECT ?2 FROM wanted WHERE state = 2)\n    ORDER BY key DESC\n    LIMIT ?3\n)\nUNION\nSELECT key\nFROM (\n    SELECT key\n    FROM millrace_blocked\n    WHERE key < (SELECT ?2 FROM wanted WHERE state = 2)\n    ORDER BY key DESC\n    LIMIT ?3\n)\nUNION\nSELECT key\nFROM (\n    SELECT DISTINCT claimed.value AS key\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS claimed\n    WHERE lease.number < (SELECT 9e18 FROM wanted WHERE state = 3) AND claimed.value < ?2\n    ORDER BY claimed.value DESC\n    LIMIT ?3\n)\nUNION\nSELECT key\nFROM (\n    SELECT DISTINCT key\n    FROM millrace_attempt\n    WHERE key < (SELECT ?2 FROM wanted WHERE state = 4)\n    ORDER BY key DESC\n    LIMIT ?3\n)\nUNION\nSELECT key\nFROM (\n    SELECT DISTINCT key\n    FROM millrace_attempt\n    WHERE state = 5 AND state > 4 AND key < (SELECT ?2 FROM wanted WHERE state = 5)\n    ORDER BY key DESC\n    LIMIT ?3\n)\nUNION\nSELECT key\nFROM (\n    SELECT DISTINCT key\n    FROM millrace_attempt\n    WHERE state = 6 AND state > 4 AND key < (SELECT ?2 FROM wanted WHERE state = 6)\n    ORDER BY key DESC\n    LIMIT ?3\n)\nUNION\nSELECT key\nFROM (\n    SELECT DISTINCT key\n    FROM millrace_attempt\n    WHERE state = 7 AND state > 4 AND key < (SELECT ?2 FROM wanted WHERE state = 7)\n    ORDER BY key DESC\n    LIMIT ?3\n)\nORDER BY key DESC\nLIMIT ?3",
    parameters: ["states","before","limit"],
  },
  starts_of_runs: {
    text: "SELECT claimed.value AS key, lease.claimed_at + (lease.starts ->> claimed.key) AS started_at\nFROM millrace_lease AS lease\nJOIN json_each(lease.keys) AS claimed\nWHERE claimed.value IN (SELECT value FROM json_each(?1))\nORDER BY lease.number",
    parameters: ["keys"],
  },
  attempts_of_job: {
    text: "SELECT attempt.n, attempt.tries, attempt.crashes, attempt.fence, attempt.worker,\n       attempt.claimed_at, attempt.started_at, attempt.finished_at, attempt.outcome,\n       attempt.error_class, attempt.error, attempt.reason, attempt.next_run_at\nFROM millrace_attempt AS attempt\nWHERE attempt.key = (SELECT key FROM millrace_job_name WHERE id = ?1)\nORDER BY attempt.n",
    parameters: ["id"],
  },
  feed_end: {
    text: "SELECT coalesce(max(seq), 0) AS position\nFROM sqlite_sequence\nWHERE name = 'millrace_event'",
    parameters: [],
  },
  feed_start: {
    text: "SELECT coalesce((SELECT min(position) - 1 FROM millrace_event), max(seq), 0) AS position\nFROM sqlite_sequence\nWHERE name = 'millrace_event'",
    parameters: [],
  },
  feed_after: {
    text: "SELECT position, kind, at, keys, ids, details\nFROM millrace_event\nWHERE position > ?1\nORDER BY position\nLIMIT ?2",
    parameters: ["position","limit"],
  },
  ids_of_keys: {
    text: "SELECT job.key, job.id\nFROM json_each(?1) AS named\nJOIN millrace_job AS job ON job.key = named.value",
    parameters: ["keys"],
  },
  facts_of_keys: {
    text: "SELECT now.key, now.id, now.type, now.tenant, now.correlation, now.state, now.tries,\n       now.next_run_at, now.last_error AS error,\n       CASE WHEN now.state >= 4 THEN now.last_finished_at END AS finished_at,\n       run.phase, run.overall\nFROM json_each(?1) AS named\nCROSS JOIN millrace_job_now AS now ON now.key = named.value\nLEFT JOIN millrace_run AS run ON run.key = named.value",
    parameters: ["keys"],
  },
  close_intake: {
    text: "INSERT INTO millrace_intake AS known (name, closed_at, reason, by)\nVALUES (?1, ?2, ?3, ?4)\nON CONFLICT (name) DO UPDATE\nSET reason = excluded.reason, by = excluded.by",
    parameters: ["name","now","reason","by"],
  },
  open_intake: {
    text: "DELETE FROM millrace_intake\nWHERE name = ?1",
    parameters: ["name"],
  },
  closed_intakes: {
    text: "SELECT name, closed_at, reason, by\nFROM millrace_intake\nORDER BY name",
    parameters: [],
  },
  find_intakes: {
    text: "SELECT name, closed_at, reason, by\nFROM millrace_intake\nWHERE name IN (SELECT value FROM json_each(?1))",
    parameters: ["names"],
  },
  two_leases: {
    text: "WITH named AS MATERIALIZED (\n    SELECT lease.number, each.key AS turn, each.value AS key\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS each\n),\nnumbered AS MATERIALIZED (\n    SELECT lease.number, each.key AS turn, each.value AS n\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.ns) AS each\n)\nSELECT named.key, job.id\nFROM named\nJOIN numbered AS run ON run.number = named.number AND run.turn = named.turn\nLEFT JOIN millrace_job AS job ON job.key = named.key\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace_attempt AS done WHERE done.key = named.key AND done.n = run.n\n)\nGROUP BY named.key, job.id\nHAVING count(*) > 1\nORDER BY named.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  leases_against_ledger: {
    text: "WITH named AS MATERIALIZED (\n    SELECT lease.number, each.key AS turn, each.value AS key\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS each\n),\nnumbered AS MATERIALIZED (\n    SELECT lease.number, each.key AS turn, each.value AS n\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.ns) AS each\n)\nSELECT DISTINCT named.key, job.id\nFROM named\nLEFT JOIN numbered AS run ON run.number = named.number AND run.turn = named.turn\nLEFT JOIN millrace_job AS job ON job.key = named.key\nLEFT JOIN millrace_attempt AS last\n    ON last.key = named.key\n    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = named.key)\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace_attempt AS done WHERE done.key = named.key AND done.n = run.n\n)\n  AND (\n      job.key IS NULL\n      OR run.n IS NULL\n      OR last.state IS NOT NULL\n      OR run.n <> coalesce(last.n, 0) + 1\n  )\nORDER BY named.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  places_against_job: {
    text: "WITH waiting (key, lane, type, tenant, concurrency, tries, crashes) AS (\n    SELECT *\n    FROM (\n        SELECT key, lane, type, tenant, concurrency, tries, crashes\n        FROM millrace_scheduled\n        ORDER BY key\n        LIMIT ?1\n    )\n    UNION ALL\n    SELECT *\n    FROM (\n        SELECT key, lane, type, tenant, concurrency, tries, crashes\n        FROM millrace_ready\n        ORDER BY key\n        LIMIT ?1\n    )\n    UNION ALL\n    SELECT *\n    FROM (\n        SELECT key, lane, type, tenant, concurrency, tries, crashes\n        FROM millrace_blocked\n        ORDER BY key\n        LIMIT ?1\n    )\n)\nSELECT DISTINCT job.key, job.id\nFROM waiting\nCROSS JOIN millrace_job AS job ON job.key = waiting.key\nLEFT JOIN millrace_attempt AS last\n    ON last.key = waiting.key\n    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = waiting.key)\nWHERE last.state IS NULL\n  AND (\n      waiting.lane <> job.lane\n      OR waiting.type <> job.type\n      OR waiting.tenant <> job.tenant\n      OR waiting.concurrency IS NOT job.concurrency\n      OR waiting.tries <> coalesce(last.tries, 0)\n      OR waiting.crashes <> coalesce(last.crashes, 0)\n      OR waiting.tries >= job.max_attempts\n  )\nORDER BY job.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  overdue_promotions: {
    text: "SELECT place.key, job.id\nFROM millrace_scheduled AS place\nLEFT JOIN millrace_job AS job ON job.key = place.key\nWHERE place.run_at < ?1 - 300000\n  AND EXISTS (\n      SELECT 1\n      FROM millrace_worker AS worker\n      WHERE worker.until > ?1\n        AND worker.joined_at < ?1 - 300000\n  )\nORDER BY place.run_at, place.key\nLIMIT ?2",
    parameters: ["now","limit"],
  },
  stale_dedup: {
    text: "SELECT held.job AS key, job.id\nFROM (\n    SELECT tenant, type, key, job FROM millrace_dedup ORDER BY job LIMIT ?1\n) AS held\nLEFT JOIN millrace_job AS job ON job.key = held.job\nWHERE job.key IS NULL\n   OR EXISTS (\n      SELECT 1 FROM millrace_attempt AS done WHERE done.key = held.job AND done.state IS NOT NULL\n   )\n   OR (job.tenant = held.tenant AND job.type = held.type AND job.dedup = held.key) IS NOT TRUE\nORDER BY held.job\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  unheld_dedup: {
    text: "WITH live (key) AS (\n    SELECT * FROM (SELECT key FROM millrace_scheduled ORDER BY key LIMIT ?1)\n    UNION\n    SELECT * FROM (SELECT key FROM millrace_ready ORDER BY key LIMIT ?1)\n    UNION\n    SELECT * FROM (SELECT key FROM millrace_blocked ORDER BY key LIMIT ?1)\n    UNION\n    SELECT named.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS named\n)\nSELECT job.key, job.id\nFROM live\nJOIN millrace_job AS job ON job.key = live.key\nWHERE job.dedup IS NOT NULL\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_dedup AS held\n      WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup\n  )\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace_attempt AS done WHERE done.key = job.key AND done.state IS NOT NULL\n  )\nORDER BY job.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  shared_dedup: {
    text: "WITH live (key) AS (\n    SELECT * FROM (SELECT key FROM millrace_scheduled ORDER BY key LIMIT ?1)\n    UNION\n    SELECT * FROM (SELECT key FROM millrace_ready ORDER BY key LIMIT ?1)\n    UNION\n    SELECT * FROM (SELECT key FROM millrace_blocked ORDER BY key LIMIT ?1)\n    UNION\n    SELECT named.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS named\n),\nkeyed AS MATERIALIZED (\n    SELECT job.key, job.id, job.tenant, job.type, job.dedup, (\n               SELECT held.job\n               FROM millrace_dedup AS held\n               WHERE held.tenant = job.tenant AND held.type = job.type AND held.key = job.dedup\n           ) AS holder\n    FROM live\n    JOIN millrace_job AS job ON job.key = live.key\n    WHERE job.dedup IS NOT NULL\n)\nSELECT keyed.key, keyed.id\nFROM keyed\nWHERE keyed.holder <> keyed.key\n  AND EXISTS (\n      SELECT 1\n      FROM millrace_job AS holder\n      WHERE holder.key = keyed.holder\n        AND holder.tenant = keyed.tenant\n        AND holder.type = keyed.type\n        AND holder.dedup = keyed.dedup\n  )\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace_attempt AS done WHERE done.key = keyed.key AND done.state IS NOT NULL\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_attempt AS done\n      WHERE done.key = keyed.holder AND done.state IS NOT NULL\n  )\nORDER BY keyed.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  stale_cancel_requests: {
    text: "SELECT asked.key, job.id\nFROM (SELECT key FROM millrace_cancel_request ORDER BY key LIMIT ?1) AS asked\nLEFT JOIN millrace_job AS job ON job.key = asked.key\nWHERE job.key IS NULL\n   OR EXISTS (\n      SELECT 1 FROM millrace_attempt AS done WHERE done.key = asked.key AND done.state IS NOT NULL\n   )\n   OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = asked.key)\n   OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = asked.key)\n   OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = asked.key)\nORDER BY asked.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  locks_without_run: {
    text: "SELECT DISTINCT held.job AS key, job.id\nFROM (SELECT job, n FROM millrace_lock WHERE job > 0 ORDER BY job LIMIT ?1) AS held\nLEFT JOIN millrace_job AS job ON job.key = held.job\nWHERE job.key IS NULL\n   OR EXISTS (SELECT 1 FROM millrace_attempt AS run WHERE run.key = held.job AND run.n = held.n)\n   OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = held.job)\n   OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = held.job)\n   OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = held.job)\nORDER BY held.job\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  runs_without_lock: {
    text: "WITH named AS MATERIALIZED (\n    SELECT lease.number, each.key AS turn, each.value AS key\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS each\n),\nnumbered AS MATERIALIZED (\n    SELECT lease.number, each.key AS turn, each.value AS n\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.ns) AS each\n)\nSELECT DISTINCT job.key, job.id\nFROM named\nJOIN numbered AS run ON run.number = named.number AND run.turn = named.turn\nJOIN millrace_job AS job ON job.key = named.key\nWHERE job.concurrency IS NOT NULL\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace_attempt AS done WHERE done.key = named.key AND done.n = run.n\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_lock AS held\n      WHERE held.tenant = job.tenant AND held.name = job.concurrency AND held.job = job.key\n  )\nORDER BY job.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  waits_without_dependencies: {
    text: "SELECT place.key, job.id\nFROM (\n    SELECT key FROM millrace_blocked WHERE gate = 0 ORDER BY priority, rank, key LIMIT ?1\n) AS place\nLEFT JOIN millrace_job AS job ON job.key = place.key\nWHERE NOT EXISTS (SELECT 1 FROM millrace_dependency AS dependency WHERE dependency.job = place.key)\nORDER BY place.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  dependencies_without_wait: {
    text: "SELECT DISTINCT dependency.job AS key, job.id\nFROM (SELECT job FROM millrace_dependency ORDER BY job LIMIT ?1) AS dependency\nLEFT JOIN millrace_job AS job ON job.key = dependency.job\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace_blocked AS place WHERE place.key = dependency.job AND place.gate = 0\n)\n  AND (\n      job.key IS NULL\n      OR EXISTS (\n          SELECT 1\n          FROM millrace_attempt AS done\n          WHERE done.key = dependency.job AND done.state IS NOT NULL\n      )\n      OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = dependency.job)\n      OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = dependency.job)\n      OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = dependency.job)\n  )\nORDER BY dependency.job\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  failed_without_letter: {
    text: "SELECT job.key, job.id\nFROM (\n    SELECT key, finished_at\n    FROM millrace_attempt\n    WHERE state = 6 AND state > 4\n    ORDER BY key DESC\n    LIMIT ?1\n) AS done\nJOIN millrace_job AS job ON job.key = done.key\nWHERE done.finished_at > (SELECT min(died_at) FROM millrace_dead_letter)\n  AND NOT EXISTS (SELECT 1 FROM millrace_dead_letter AS letter WHERE letter.id = job.id)\nORDER BY job.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  letters_without_failure: {
    text: "WITH lettered AS MATERIALIZED (\n    SELECT job.key, job.id\n    FROM (\n        SELECT id FROM millrace_dead_letter ORDER BY died_at DESC, id DESC LIMIT ?1\n    ) AS letter\n    CROSS JOIN millrace_job AS job ON job.id = letter.id\n)\nSELECT lettered.key, lettered.id\nFROM lettered\nWHERE (\n    SELECT last.state\n    FROM millrace_attempt AS last\n    WHERE last.key = lettered.key\n    ORDER BY last.n DESC\n    LIMIT 1\n) IS NOT 6\nORDER BY lettered.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  runs_after_end: {
    text: "SELECT DISTINCT late.key, job.id\nFROM millrace_attempt AS ended\nJOIN millrace_attempt AS late ON late.key = ended.key AND late.n > ended.n\nLEFT JOIN millrace_job AS job ON job.key = late.key\nWHERE ended.state IS NOT NULL\nORDER BY late.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  run_gaps: {
    text: "SELECT DISTINCT run.key, job.id\nFROM millrace_attempt AS run\nLEFT JOIN millrace_job AS job ON job.key = run.key\nWHERE run.n > 1\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace_attempt AS before WHERE before.key = run.key AND before.n = run.n - 1\n  )\nORDER BY run.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  wrong_charges: {
    text: "SELECT DISTINCT job.key, job.id\nFROM millrace_attempt AS run\nJOIN millrace_job AS job ON job.key = run.key\nLEFT JOIN millrace_attempt AS before ON before.key = run.key AND before.n = run.n - 1\nWHERE run.tries > job.max_attempts\n   OR (run.state IS NULL AND run.tries >= job.max_attempts)\n   OR (\n      (run.n = 1 OR before.key IS NOT NULL)\n      AND (\n          run.tries - coalesce(before.tries, 0) NOT BETWEEN 0 AND 1\n          OR run.crashes - coalesce(before.crashes, 0) NOT BETWEEN 0 AND 1\n      )\n   )\nORDER BY job.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  ledger_without_job: {
    text: "SELECT DISTINCT run.key, NULL AS id\nFROM millrace_attempt AS run\nWHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = run.key)\nORDER BY run.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  ended_runs_without_worker: {
    text: "SELECT DISTINCT ended.key, job.id\nFROM (SELECT worker, key FROM millrace_ended_run ORDER BY worker, key LIMIT ?1) AS ended\nLEFT JOIN millrace_job AS job ON job.key = ended.key\nWHERE job.key IS NULL\n   OR NOT EXISTS (SELECT 1 FROM millrace_worker AS worker WHERE worker.id = ended.worker)\nORDER BY ended.key\nLIMIT ?2",
    parameters: ["examined","limit"],
  },
  jobs_without_name: {
    text: "SELECT job.key, job.id\nFROM millrace_job AS job\nWHERE NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.type)\n   OR NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.tenant)\n   OR NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.lane)\n   OR (\n      job.category IS NOT NULL\n      AND NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = job.category)\n   )\nORDER BY job.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  notes_without_job: {
    text: "SELECT DISTINCT note.key, NULL AS id\nFROM (\n    SELECT key FROM millrace_run\n    UNION\n    SELECT key FROM millrace_phase\n    UNION\n    SELECT key FROM millrace_unit\n    UNION\n    SELECT key FROM millrace_log\n    UNION\n    SELECT key FROM millrace_stale\n) AS note\nWHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = note.key)\nORDER BY note.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  tags_without_job: {
    text: "SELECT DISTINCT tag.key, NULL AS id\nFROM millrace_tag AS tag\nWHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = tag.key)\nORDER BY tag.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  aliases_without_job: {
    text: "SELECT alias.job AS key, alias.id\nFROM millrace_alias AS alias\nWHERE NOT EXISTS (SELECT 1 FROM millrace_job AS parent WHERE parent.key = alias.parent)\n   OR (\n       alias.job IS NOT NULL\n       AND NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = alias.job)\n   )\nORDER BY alias.id\nLIMIT ?1",
    parameters: ["limit"],
  },
  endless_idempotency: {
    text: "SELECT NULL AS key, held.job_id AS id\nFROM millrace_idempotency AS held\nWHERE held.expires_at IS NULL\n  AND NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.id = held.job_id)\nORDER BY held.job_id\nLIMIT ?1",
    parameters: ["limit"],
  },
  lost_idempotency: {
    text: "SELECT job.key, job.id\nFROM millrace_job AS job\nWHERE job.idempotency IS NOT NULL\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_idempotency AS held\n      WHERE held.tenant = job.tenant\n        AND held.key = job.idempotency\n        AND held.job_id = job.id\n        AND held.expires_at IS NULL\n  )\nORDER BY job.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  untold_changes: {
    text: "WITH reach AS MATERIALIZED (\n    SELECT CASE\n               WHEN head.seq IS NULL OR first.position = 1 THEN -1\n               WHEN first.position IS NULL THEN 9e15\n               ELSE first.at + 60000\n           END AS at\n    FROM (SELECT max(seq) AS seq FROM sqlite_sequence WHERE name = 'millrace_event') AS head\n    LEFT JOIN (SELECT position, at FROM millrace_event ORDER BY position LIMIT 1) AS first\n),\ntold AS MATERIALIZED (\n    SELECT CAST(named.value AS INTEGER) AS key, entry.kind, count(*) AS times\n    FROM millrace_event AS entry\n    JOIN json_each(entry.keys) AS named\n    WHERE entry.kind IN (1, 3, 4, 5, 6)\n    GROUP BY 1, 2\n),\ndue AS (\n    SELECT job.key, 1 AS kind, 1 AS times\n    FROM millrace_job AS job\n    CROSS JOIN reach\n    WHERE job.created_at > reach.at\n    UNION ALL\n    SELECT run.key,\n           CASE run.state WHEN 4 THEN 3 WHEN 5 THEN 3 WHEN 6 THEN 5 WHEN 7 THEN 6 ELSE 4 END,\n           count(*)\n    FROM millrace_attempt AS run\n    CROSS JOIN reach\n    WHERE run.finished_at > reach.at\n    GROUP BY 1, 2\n)\nSELECT DISTINCT due.key, job.id\nFROM due\nLEFT JOIN told ON told.key = due.key AND told.kind = due.kind\nLEFT JOIN millrace_job AS job ON job.key = due.key\nWHERE coalesce(told.times, 0) < due.times\n   OR (due.kind <> 4 AND told.times > due.times)\nORDER BY due.key\nLIMIT ?1",
    parameters: ["limit"],
  },
  permits_against_limits: {
    text: "SELECT NULL AS key, NULL AS id\nFROM millrace_limit_setting AS setting\nWHERE setting.used <> (\n    SELECT coalesce(sum(permit.held), 0)\n    FROM millrace_permit AS permit\n    WHERE permit.limit_id = setting.id\n)\nUNION ALL\nSELECT NULL, NULL\nFROM millrace_permit AS permit\nWHERE NOT EXISTS (SELECT 1 FROM millrace_worker AS worker WHERE worker.id = permit.worker)\n   OR NOT EXISTS (\n       SELECT 1 FROM millrace_limit_setting AS setting WHERE setting.id = permit.limit_id\n   )\nLIMIT ?1",
    parameters: ["limit"],
  },
  recount: {
    text: "SELECT count(*) FILTER (WHERE state = 1) AS scheduled,\n       count(*) FILTER (WHERE state = 2 AND gate IS NULL) AS queued,\n       count(*) FILTER (WHERE state = 2 AND gate IS NOT NULL) AS held,\n       count(*) FILTER (WHERE state = 3) AS running,\n       count(*) FILTER (WHERE state = 6) AS failed\nFROM millrace_job_now",
    parameters: [],
  },
  any_key_rate: {
    text: "SELECT 1 AS yes\nFROM millrace_key_rate\nLIMIT 1",
    parameters: [],
  },
  all_key_rates: {
    text: "SELECT tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at,\n       (\n           SELECT count(*)\n           FROM (\n               SELECT 1\n               FROM millrace_blocked AS blocked\n               WHERE blocked.gate = -1\n                 AND blocked.tenant = rate.tenant\n                 AND blocked.concurrency = rate.name\n               LIMIT ?1\n           )\n       ) AS waiting\nFROM millrace_key_rate AS rate\nORDER BY tenant, name",
    parameters: ["waiting"],
  },
  find_key_rate: {
    text: "SELECT tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at,\n       (\n           SELECT count(*)\n           FROM (\n               SELECT 1\n               FROM millrace_blocked AS blocked\n               WHERE blocked.gate = -1\n                 AND blocked.tenant = rate.tenant\n                 AND blocked.concurrency = rate.name\n               LIMIT ?1\n           )\n       ) AS waiting\nFROM millrace_key_rate AS rate\nWHERE tenant = ?2\n  AND name = ?3",
    parameters: ["waiting","tenant","name"],
  },
  count_key_rates: {
    text: "SELECT count(*) AS rates FROM millrace_key_rate",
    parameters: [],
  },
  key_rate: {
    text: "SELECT tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at\nFROM millrace_key_rate\nWHERE tenant = ?1\n  AND name = ?2",
    parameters: ["tenant","name"],
  },
  put_key_rate: {
    text: "INSERT INTO millrace_key_rate (\n    tenant, name, rate_count, rate_ms, burst, tokens, refilled_at, by, set_at\n)\nVALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?6)\nON CONFLICT (tenant, name) DO UPDATE\nSET tokens = CASE\n        WHEN (rate_count, rate_ms, burst) IS (?3, ?4, ?5) THEN tokens\n        ELSE excluded.tokens\n    END,\n    refilled_at = CASE\n        WHEN (rate_count, rate_ms, burst) IS (?3, ?4, ?5) THEN refilled_at\n        ELSE excluded.refilled_at\n    END,\n    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,\n    held_until = NULL, by = excluded.by, set_at = excluded.set_at",
    parameters: ["tenant","name","rate_count","rate_ms","burst","now","by"],
  },
  delete_key_rate: {
    text: "DELETE FROM millrace_key_rate\nWHERE tenant = ?1\n  AND name = ?2",
    parameters: ["tenant","name"],
  },
  take_key_token: {
    text: "UPDATE millrace_key_rate\nSET tokens = ?1, refilled_at = ?2\nWHERE tenant = ?3\n  AND name = ?4",
    parameters: ["tokens","now","tenant","name"],
  },
  hold_key: {
    text: "UPDATE millrace_key_rate\nSET held_until = ?1\nWHERE tenant = ?2\n  AND name = ?3",
    parameters: ["until","tenant","name"],
  },
  lock_spent_key: {
    text: "INSERT INTO millrace_lock (tenant, name, job, n)\nVALUES (?1, ?2, 0, 1)\nON CONFLICT (tenant, name) DO NOTHING",
    parameters: ["tenant","name"],
  },
  free_spent_key: {
    text: "DELETE FROM millrace_lock\nWHERE tenant = ?1\n  AND name = ?2\n  AND job = 0\nRETURNING tenant, name",
    parameters: ["tenant","name"],
  },
  refilled_keys: {
    text: "SELECT tenant, name\nFROM millrace_key_rate\nWHERE held_until IS NOT NULL\n  AND (held_until <= ?1 OR (held_until - ?1 - 1) * rate_count >= rate_ms)\nORDER BY held_until\nLIMIT ?2",
    parameters: ["now","limit"],
  },
  next_refill: {
    text: "SELECT min(held_until) AS held_until\nFROM millrace_key_rate\nWHERE held_until > ?1",
    parameters: ["now"],
  },
  find_lease: {
    text: "SELECT number, worker, keys, ns, ranks, starts, claimed_at\nFROM millrace_lease\nWHERE number = ?1\n  AND secret = ?2",
    parameters: ["number","secret"],
  },
  lease_of_job: {
    text: "SELECT lease.number, lease.worker, lease.keys, lease.ns, lease.ranks, lease.starts,\n       lease.claimed_at\nFROM millrace_lease AS lease\nJOIN json_each(lease.keys) AS claimed\nWHERE claimed.value = ?1\nORDER BY lease.number DESC\nLIMIT 1",
    parameters: ["key"],
  },
  lease_by_number: {
    text: "SELECT number, worker, keys, ns, ranks, starts, claimed_at\nFROM millrace_lease\nWHERE number = ?1",
    parameters: ["number"],
  },
  set_starts: {
    text: "UPDATE millrace_lease\nSET starts = ?1\nWHERE number = ?2",
    parameters: ["starts","number"],
  },
  set_lease_jobs: {
    text: "UPDATE millrace_lease\nSET keys   = ?1,\n    ns     = ?2,\n    ranks  = ?3,\n    starts = ?4\nWHERE number = ?5",
    parameters: ["keys","ns","ranks","starts","number"],
  },
  delete_lease: {
    text: "DELETE FROM millrace_lease\nWHERE number = ?1",
    parameters: ["number"],
  },
  last_runs: {
    text: "SELECT attempt.key, max(attempt.n) AS n\nFROM json_each(?1) AS named\nJOIN millrace_attempt AS attempt ON attempt.key = named.value\nGROUP BY attempt.key",
    parameters: ["keys"],
  },
  missing_jobs: {
    text: "SELECT DISTINCT named.value AS key\nFROM json_each(?1) AS named\nWHERE NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = named.value)",
    parameters: ["keys"],
  },
  job_facts: {
    text: "SELECT job.key, job.id, job.lane, job.priority, job.type, job.tenant, job.concurrency,\n       job.max_attempts, job.timeout_ms, job.flags,\n       coalesce(last.tries, 0) AS tries,\n       coalesce(last.crashes, 0) AS crashes\nFROM json_each(?1) AS named\nJOIN millrace_job AS job ON job.key = named.value\nLEFT JOIN millrace_attempt AS last\n    ON last.key = job.key\n    AND last.n = (SELECT max(n) FROM millrace_attempt WHERE key = job.key)",
    parameters: ["keys"],
  },
  any_limit: {
    text: "SELECT 1 AS yes\nFROM millrace_limit_setting\nLIMIT 1",
    parameters: [],
  },
  all_limits: {
    text: "SELECT id, name, cap, rate_count, rate_ms, burst, tokens, refilled_at, used, wanted_at, code_rule,\n       owner, by, set_at\nFROM millrace_limit_setting\nORDER BY id",
    parameters: [],
  },
  limit_of_name: {
    text: "SELECT id, name, cap, rate_count, rate_ms, burst, tokens, refilled_at, used, wanted_at, code_rule,\n       owner, by, set_at\nFROM millrace_limit_setting\nWHERE name = ?1",
    parameters: ["name"],
  },
  limit_targets: {
    text: "SELECT limit_id, target\nFROM millrace_limit_target\nORDER BY limit_id, target",
    parameters: [],
  },
  targets_of_limit: {
    text: "SELECT target\nFROM millrace_limit_target\nWHERE limit_id = ?1",
    parameters: ["id"],
  },
  target_is_limited: {
    text: "SELECT 1 AS yes\nFROM millrace_limit_target\nWHERE target = ?1\nLIMIT 1",
    parameters: ["target"],
  },
  put_limit: {
    text: "INSERT INTO millrace_limit_setting (\n    name, cap, rate_count, rate_ms, burst, tokens, refilled_at, code_rule, owner, by, set_at\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, coalesce(?5, 0), ?6, ?7, ?8, ?9,\n    ?6\n)\nON CONFLICT (name) DO UPDATE\nSET cap = excluded.cap,\n    tokens = CASE\n        WHEN (rate_count, rate_ms, burst) IS (?3, ?4, ?5) THEN tokens\n        ELSE excluded.tokens\n    END,\n    refilled_at = CASE\n        WHEN (rate_count, rate_ms, burst) IS (?3, ?4, ?5) THEN refilled_at\n        ELSE excluded.refilled_at\n    END,\n    rate_count = excluded.rate_count, rate_ms = excluded.rate_ms, burst = excluded.burst,\n    code_rule = excluded.code_rule, owner = excluded.owner, by = excluded.by,\n    set_at = excluded.set_at",
    parameters: ["name","cap","rate_count","rate_ms","burst","now","code_rule","owner","by"],
  },
  set_code_rule: {
    text: "UPDATE millrace_limit_setting\nSET code_rule = ?1\nWHERE id = ?2",
    parameters: ["code_rule","id"],
  },
  delete_limit: {
    text: "DELETE FROM millrace_limit_setting\nWHERE id = ?1",
    parameters: ["id"],
  },
  delete_permits_of_limit: {
    text: "DELETE FROM millrace_permit\nWHERE limit_id = ?1",
    parameters: ["id"],
  },
  open_limit_gate: {
    text: "INSERT INTO millrace_gate (name, closed_at, until, reason, by)\nVALUES (?1, 0, 0, 'limit removed', NULL)\nON CONFLICT (name) DO NOTHING",
    parameters: ["gate"],
  },
  permits_of_worker: {
    text: "SELECT permit.limit_id, permit.held, coalesce(setting.used >= setting.cap, 0) AS full\nFROM millrace_permit AS permit\nJOIN millrace_limit_setting AS setting ON setting.id = permit.limit_id\nWHERE permit.worker = ?1",
    parameters: ["worker"],
  },
  set_permit: {
    text: "INSERT INTO millrace_permit (worker, limit_id, held)\nVALUES (?1, ?2, ?3)\nON CONFLICT (worker, limit_id) DO UPDATE SET held = excluded.held",
    parameters: ["worker","limit_id","held"],
  },
  delete_permit: {
    text: "DELETE FROM millrace_permit\nWHERE worker = ?1 AND limit_id = ?2",
    parameters: ["worker","limit_id"],
  },
  delete_permits: {
    text: "DELETE FROM millrace_permit\nWHERE worker = ?1",
    parameters: ["worker"],
  },
  add_used: {
    text: "UPDATE millrace_limit_setting\nSET used = max(0, used + ?1)\nWHERE id = ?2",
    parameters: ["count","id"],
  },
  take_tokens: {
    text: "UPDATE millrace_limit_setting\nSET tokens = ?1, refilled_at = ?2\nWHERE id = ?3",
    parameters: ["tokens","now","id"],
  },
  want_limit: {
    text: "UPDATE millrace_limit_setting\nSET wanted_at = ?1\nWHERE id = ?2",
    parameters: ["now","id"],
  },
  any_limited: {
    text: "SELECT 1 AS yes\nFROM millrace_blocked\nWHERE gate = ?1\nLIMIT 1",
    parameters: ["gate"],
  },
  queue_lanes: {
    text: "WITH RECURSIVE hop (lane) AS (\n    SELECT min(lane) FROM millrace_blocked WHERE gate = ?1 AND gate < -2\n    UNION ALL\n    SELECT (\n        SELECT min(blocked.lane)\n        FROM millrace_blocked AS blocked\n        WHERE blocked.gate = ?1 AND blocked.gate < -2 AND blocked.lane > hop.lane\n    )\n    FROM hop\n    WHERE hop.lane IS NOT NULL\n)\nSELECT lane\nFROM hop\nWHERE lane IS NOT NULL\n  AND (?2 IS NULL OR lane IN (SELECT value FROM json_each(?2)))",
    parameters: ["gate","lanes"],
  },
  claim_limited: {
    text: "SELECT key, priority, turn_or_rank AS rank, n, tries, crashes, tenant, concurrency, type,\n       CASE WHEN turn IS NOT NULL THEN rank / 1000 END AS due\nFROM millrace_blocked AS front\nWHERE gate = ?1\n  AND gate < -2\n  AND lane = ?2\n  AND priority BETWEEN ?3 AND ?4\n  AND (?5 IS NULL OR type IN (SELECT value FROM json_each(?5)))\n  AND (?6 IS NULL OR tenant IN (SELECT value FROM json_each(?6)))\n  AND (?7 = 0 OR concurrency IS NULL)\n  AND type NOT IN (SELECT value FROM json_each(?8))\n  AND tenant NOT IN (SELECT value FROM json_each(?8))\n  AND lane NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?9)\n  AND type NOT IN (SELECT target FROM millrace_barrier WHERE until IS NULL OR until > ?9)\n  AND tenant NOT IN (SELECT name FROM millrace_gate WHERE until IS NULL OR until > ?9)\n  AND (tenant, type) NOT IN (SELECT tenant, type FROM millrace_tenant_barrier WHERE until > ?9)\n  AND (\n      concurrency IS NULL\n      OR (\n          NOT EXISTS (\n              SELECT 1\n              FROM millrace_lock AS lock\n              WHERE lock.tenant = front.tenant AND lock.name = front.concurrency\n          )\n          AND (\n              ?10 IS NULL\n              OR concurrency <> ?10\n              OR tenant <> ?11\n              OR priority < ?12\n          )\n      )\n  )\nORDER BY priority, turn_or_rank, key\nLIMIT ?13",
    parameters: ["gate","lane","first_priority","last_priority","types","tenants","prefetch","full","now","awaited","awaited_tenant","awaited_priority","limit"],
  },
  delete_limited: {
    text: "DELETE FROM millrace_blocked\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  jobs_of_full_limits: {
    text: "SELECT front.key, min(used_up.value) AS name\nFROM (\n    SELECT key, type, tenant\n    FROM millrace_ready\n    WHERE lane = ?1\n      AND crashes = 0\n    ORDER BY priority, rank, key\n    LIMIT ?2\n) AS front\nJOIN json_each(?3) AS used_up ON used_up.value IN (front.type, front.tenant)\nGROUP BY front.key\nLIMIT ?4",
    parameters: ["lane","depth","full","limit"],
  },
  rehome_limited: {
    text: "UPDATE millrace_blocked\nSET turn = NULL, gate = (\n    SELECT other.gate\n    FROM (\n        SELECT gate, target AS name, NULL AS tenant\n        FROM millrace_barrier\n        WHERE until IS NULL OR until > ?1\n        UNION ALL\n        SELECT gate, type, tenant FROM millrace_tenant_barrier WHERE until > ?1\n        UNION ALL\n        SELECT -1, millrace_blocked.lane, NULL\n        FROM millrace_lock AS lock\n        WHERE lock.tenant = millrace_blocked.tenant AND lock.name = millrace_blocked.concurrency\n        UNION ALL\n        SELECT -3 - used_up.value, used_up.value, NULL FROM json_each(?2) AS used_up\n    ) AS other\n    WHERE other.name IN (millrace_blocked.lane, millrace_blocked.type, millrace_blocked.tenant)\n      AND (other.tenant IS NULL OR other.tenant = millrace_blocked.tenant)\n    ORDER BY other.gate DESC\n    LIMIT 1\n)\nWHERE key IN (\n    SELECT front.key\n    FROM (\n        SELECT key, lane, type, tenant, concurrency\n        FROM millrace_blocked\n        WHERE gate = ?3\n          AND gate < -2\n          AND lane = ?4\n        ORDER BY priority, turn_or_rank, key\n        LIMIT ?5\n    ) AS front\n    WHERE EXISTS (\n        SELECT 1\n        FROM millrace_barrier AS barrier\n        WHERE barrier.target IN (front.lane, front.type, front.tenant)\n          AND (barrier.until IS NULL OR barrier.until > ?1)\n    )\n       OR (front.tenant, front.type) IN (\n        SELECT tenant, type FROM millrace_tenant_barrier WHERE until > ?1\n    )\n       OR EXISTS (\n        SELECT 1\n        FROM millrace_lock AS lock\n        WHERE lock.tenant = front.tenant AND lock.name = front.concurrency\n    )\n       OR EXISTS (\n        SELECT 1\n        FROM json_each(?2) AS used_up\n        WHERE used_up.value IN (front.type, front.tenant)\n    )\n    LIMIT ?6\n)",
    parameters: ["now","full","gate","lane","depth","limit"],
  },
  insert_lock: {
    text: "INSERT INTO millrace_lock (tenant, name, job, n)\nVALUES (?1, ?2, ?3, ?4)",
    parameters: ["tenant","name","job","n"],
  },
  acquire_lock: {
    text: "INSERT INTO millrace_lock (tenant, name, job, n)\nSELECT tenant, ?1, key, ?2\nFROM millrace_job\nWHERE key = ?3\nON CONFLICT (tenant, name) DO UPDATE SET job = excluded.job, n = excluded.n WHERE job = 0",
    parameters: ["name","n","key"],
  },
  locks_of_run: {
    text: "SELECT lock.name\nFROM millrace_lock AS lock\nWHERE lock.job = ?1\n  AND lock.n = ?2\n  AND lock.name IN (SELECT value FROM json_each(?3))",
    parameters: ["key","n","names"],
  },
  release_locks: {
    text: "DELETE FROM millrace_lock\nWHERE job = ?1\n  AND n = ?2\n  AND name IN (SELECT value FROM json_each(?3))\n  AND name IS NOT (SELECT job.concurrency FROM millrace_job AS job WHERE job.key = ?1)\nRETURNING tenant, name",
    parameters: ["key","n","names"],
  },
  delete_locks: {
    text: "DELETE FROM millrace_lock\nWHERE job IN (SELECT value FROM json_each(?1))\nRETURNING tenant, name",
    parameters: ["keys"],
  },
  next_of_key: {
    text: "SELECT key\nFROM millrace_blocked\nWHERE gate = -1\n  AND tenant = ?1\n  AND concurrency = ?2\nORDER BY priority, rank, key\nLIMIT 1",
    parameters: ["tenant","name"],
  },
  any_lock: {
    text: "SELECT 1 AS yes\nFROM millrace_lock\nLIMIT 1",
    parameters: [],
  },
  jobs_of_taken_keys: {
    text: "SELECT front.key\nFROM (\n    SELECT key, tenant, concurrency\n    FROM millrace_ready\n    WHERE lane = ?1\n      AND crashes = ?2\n    ORDER BY priority, rank, key\n    LIMIT ?3\n) AS front\nCROSS JOIN millrace_lock AS lock ON lock.tenant = front.tenant AND lock.name = front.concurrency\nLIMIT ?4",
    parameters: ["lane","crashes","depth","limit"],
  },
  locks_after: {
    text: "SELECT lock.tenant, lock.name,\n       EXISTS (\n           SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = lock.job AND ended.n = lock.n\n       )\n       OR (\n           NOT EXISTS (SELECT 1 FROM millrace_job AS job WHERE job.key = lock.job)\n           AND NOT EXISTS (\n               SELECT 1\n               FROM millrace_key_rate AS rate\n               WHERE lock.job = 0\n                 AND rate.tenant = lock.tenant\n                 AND rate.name = lock.name\n                 AND rate.held_until IS NOT NULL\n           )\n       )\n       OR EXISTS (SELECT 1 FROM millrace_ready AS place WHERE place.key = lock.job)\n       OR EXISTS (SELECT 1 FROM millrace_scheduled AS place WHERE place.key = lock.job)\n       OR EXISTS (SELECT 1 FROM millrace_blocked AS place WHERE place.key = lock.job) AS is_dead\nFROM millrace_lock AS lock\nWHERE (lock.tenant, lock.name) > (?1, ?2)\nORDER BY lock.tenant, lock.name\nLIMIT ?3",
    parameters: ["tenant","name","limit"],
  },
  delete_lock: {
    text: "DELETE FROM millrace_lock\nWHERE tenant = ?1\n  AND name = ?2",
    parameters: ["tenant","name"],
  },
  jobs_of_free_keys: {
    text: "WITH RECURSIVE hop (tenant, name, key) AS (\n    SELECT tenant, concurrency, key\n    FROM millrace_blocked\n    WHERE key = (\n        SELECT first.key\n        FROM millrace_blocked AS first INDEXED BY millrace_blocked_key\n        WHERE first.gate = -1\n        ORDER BY first.tenant, first.concurrency, first.priority, first.rank, first.key\n        LIMIT 1\n    )\n    UNION ALL\n    SELECT place.tenant, place.concurrency, place.key\n    FROM hop\n    JOIN millrace_blocked AS place ON place.key = coalesce(\n        (\n            SELECT next.key\n            FROM millrace_blocked AS next INDEXED BY millrace_blocked_key\n            WHERE next.gate = -1 AND next.tenant = hop.tenant AND next.concurrency > hop.name\n            ORDER BY next.concurrency, next.priority, next.rank, next.key\n            LIMIT 1\n        ),\n        (\n            SELECT next.key\n            FROM millrace_blocked AS next INDEXED BY millrace_blocked_key\n            WHERE next.gate = -1 AND next.tenant > hop.tenant\n            ORDER BY next.tenant, next.concurrency, next.priority, next.rank, next.key\n            LIMIT 1\n        )\n    )\n)\nSELECT hop.key\nFROM hop\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace_lock AS lock WHERE lock.tenant = hop.tenant AND lock.name = hop.name\n)\nLIMIT ?1",
    parameters: ["limit"],
  },
  lock_holder: {
    text: "SELECT job.id\nFROM millrace_lock AS lock\nJOIN millrace_job AS job ON job.key = lock.job\nWHERE lock.tenant = ?1\n  AND lock.name = ?2",
    parameters: ["tenant","name"],
  },
  last_line: {
    text: "SELECT line, n, turn\nFROM millrace_log\nWHERE key = ?1\nORDER BY line DESC\nLIMIT 1",
    parameters: ["key"],
  },
  insert_log: {
    text: "INSERT INTO millrace_log (key, line, n, turn, at, level, message, fields)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    parameters: ["key","line","n","turn","at","level","message","fields"],
  },
  trim_log: {
    text: "DELETE FROM millrace_log\nWHERE key = ?1\n  AND line <= (\n      SELECT max(line)\n      FROM (\n          SELECT line,\n                 row_number() OVER newer AS lines,\n                 sum(length(message) + coalesce(length(fields), 0)) OVER newer AS chars\n          FROM millrace_log\n          WHERE key = ?1\n          WINDOW newer AS (ORDER BY line DESC)\n      )\n      WHERE lines > 1\n        AND (lines > ?2 OR chars > ?3)\n  )",
    parameters: ["key","lines_max","chars_max"],
  },
  log_after: {
    text: "SELECT line, n, at, level, message, fields\nFROM millrace_log\nWHERE key = (SELECT key FROM millrace_job_name WHERE id = ?1)\n  AND line > ?2\nORDER BY line\nLIMIT ?3",
    parameters: ["id","after","limit"],
  },
  newest_log: {
    text: "SELECT line, n, at, level, message, fields\nFROM millrace_log\nWHERE key = (SELECT key FROM millrace_job_name WHERE id = ?1)\nORDER BY line DESC\nLIMIT ?2",
    parameters: ["id","limit"],
  },
  append_minute: {
    text: "INSERT INTO millrace_minute_outbox (at, type, lane, outcome, waits, runs)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    parameters: ["at","type","lane","outcome","waits","runs"],
  },
  type_and_lane: {
    text: "SELECT job.key, job.type, job.lane\nFROM json_each(?1) AS named\nCROSS JOIN millrace_job AS job ON job.key = named.value",
    parameters: ["keys"],
  },
  any_minutes: {
    text: "SELECT EXISTS (SELECT 1 FROM millrace_minute_outbox) AS found",
    parameters: [],
  },
  take_minutes: {
    text: "DELETE FROM millrace_minute_outbox\nWHERE number IN (SELECT number FROM millrace_minute_outbox ORDER BY number LIMIT ?1)\nRETURNING at, type, lane, outcome, waits, runs",
    parameters: ["limit"],
  },
  find_minutes: {
    text: "SELECT minute.span, minute.start, minute.type, minute.lane, minute.outcome, minute.count,\n       minute.wait_ms, minute.run_ms, minute.waits, minute.runs\nFROM json_each(?1) AS wanted\nCROSS JOIN millrace_minute AS minute\n    ON minute.span = wanted.value ->> 'span'\n    AND minute.start = wanted.value ->> 'start'\n    AND minute.type = wanted.value ->> 'type'\n    AND minute.lane = wanted.value ->> 'lane'\n    AND minute.outcome = wanted.value ->> 'outcome'",
    parameters: ["keys"],
  },
  put_minutes: {
    text: "INSERT INTO millrace_minute (\n    span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs\n)\nSELECT given.value ->> 'span', given.value ->> 'start', given.value ->> 'type',\n       given.value ->> 'lane', given.value ->> 'outcome', given.value ->> 'count',\n       given.value ->> 'wait_ms', given.value ->> 'run_ms', given.value ->> 'waits',\n       given.value ->> 'runs'\nFROM json_each(?1) AS given\nWHERE true\nON CONFLICT (span, start, type, lane, outcome) DO UPDATE\nSET count = excluded.count, wait_ms = excluded.wait_ms, run_ms = excluded.run_ms,\n    waits = excluded.waits, runs = excluded.runs",
    parameters: ["rows"],
  },
  minutes_between: {
    text: "SELECT *\nFROM (\n    SELECT span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs\n    FROM millrace_minute\n    WHERE span = 1\n      AND start >= ?1\n      AND start < ?2\n      AND (?3 IS NULL OR type = ?3)\n      AND (?4 IS NULL OR lane = ?4)\n    ORDER BY start DESC\n    LIMIT ?5\n)\nUNION ALL\nSELECT *\nFROM (\n    SELECT span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs\n    FROM millrace_minute\n    WHERE span = 60\n      AND start >= ?2\n      AND start < ?6\n      AND (?3 IS NULL OR type = ?3)\n      AND (?4 IS NULL OR lane = ?4)\n    ORDER BY start DESC\n    LIMIT ?5\n)\nUNION ALL\nSELECT *\nFROM (\n    SELECT span, start, type, lane, outcome, count, wait_ms, run_ms, waits, runs\n    FROM millrace_minute\n    WHERE span = 1\n      AND start >= ?6\n      AND start < ?7\n      AND (?3 IS NULL OR type = ?3)\n      AND (?4 IS NULL OR lane = ?4)\n    ORDER BY start DESC\n    LIMIT ?5\n)\nUNION ALL\nSELECT *\nFROM (\n    SELECT 0, at, type, lane, outcome, 0, 0, 0, waits, runs\n    FROM millrace_minute_outbox\n    WHERE at >= ?1\n      AND at < ?7\n      AND (?3 IS NULL OR type = ?3)\n      AND (?4 IS NULL OR lane = ?4)\n    LIMIT ?5\n)",
    parameters: ["since","hours_from","type","lane","limit","hours_to","until"],
  },
  insert_deploy: {
    text: "INSERT INTO millrace_deploy (n, app_version, at)\nSELECT coalesce(max(n), 0) + 1, ?1, ?2\nFROM millrace_deploy\nHAVING ?1 IS NOT (SELECT app_version FROM millrace_deploy ORDER BY n DESC LIMIT 1)\n   AND NOT EXISTS (SELECT 1 FROM millrace_worker WHERE app = ?1 AND id <> ?3)",
    parameters: ["app","now","worker"],
  },
  list_deploys: {
    text: "SELECT app_version, at\nFROM millrace_deploy\nWHERE at >= ?1 AND at < ?2\nORDER BY n DESC\nLIMIT ?3",
    parameters: ["since","until","limit"],
  },
  delete_deploys: {
    text: "DELETE FROM millrace_deploy\nWHERE n IN (\n    SELECT n\n    FROM millrace_deploy\n    WHERE at <= ?1 - ?2 AND n < (SELECT max(n) FROM millrace_deploy)\n    LIMIT ?3\n)",
    parameters: ["now","age","limit"],
  },
  find_name: {
    text: "SELECT id\nFROM millrace_interned_name\nWHERE kind = ?1\n  AND text = ?2",
    parameters: ["kind","text"],
  },
  insert_name: {
    text: "INSERT INTO millrace_interned_name (kind, text)\nVALUES (?1, ?2)",
    parameters: ["kind","text"],
  },
  name_by_id: {
    text: "SELECT kind, text\nFROM millrace_interned_name\nWHERE id = ?1",
    parameters: ["id"],
  },
  insert_operation: {
    text: "INSERT INTO millrace_operation (\n    id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,\n    created_at, next_at\n)\nVALUES (\n    ?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,\n    CASE\n        WHEN ?10\n            THEN (SELECT CAST(coalesce(max(key), 0) + 1 AS TEXT) FROM millrace_job)\n        WHEN ?11\n            THEN CAST(\n                1 + max(\n                    CAST(?12 AS INTEGER),\n                    coalesce((SELECT max(died_at) FROM millrace_dead_letter), 0)\n                ) AS TEXT\n            )\n        ELSE ''\n    END,\n    ?12, ?12 - 1000\n)\nON CONFLICT (id) DO NOTHING",
    parameters: ["id","tenant","plan","actor","reason","rate","chunk","expected","expected_at_least","walks_jobs","walks_letters","now"],
  },
  count_open_operations: {
    text: "SELECT count(*) AS count\nFROM (\n    SELECT 1\n    FROM millrace_operation\n    WHERE status <= 2 AND tenant IS ?1\n    LIMIT ?2\n) AS open",
    parameters: ["tenant","max"],
  },
  claimable_operations: {
    text: "SELECT id\nFROM (\n    SELECT id, runner, lease_until, next_at\n    FROM millrace_operation\n    WHERE status <= 2\n    ORDER BY next_at, id\n    LIMIT ?1\n) AS due_first\nWHERE runner IS NULL OR runner = ?2 OR lease_until <= ?3\nORDER BY next_at, id",
    parameters: ["max","runner","now"],
  },
  hold_operations: {
    text: "UPDATE millrace_operation\nSET status = 2, runner = ?1, lease_until = max(?2, next_at) + ?3,\n    started_at = coalesce(started_at, ?2)\nWHERE id IN (SELECT unhex(value) FROM json_each(?4))",
    parameters: ["runner","now","lease_ms","ids"],
  },
  find_operation: {
    text: "SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,\n       done, failed, skipped, items, created_at, started_at, finished_at,\n       max(0, next_at - ?1) AS next_ms, runner, stopped_by, error\nFROM millrace_operation\nWHERE id = ?2",
    parameters: ["now","id"],
  },
  list_operations: {
    text: "SELECT id, status, tenant, plan, actor, reason, rate, chunk, expected, expected_at_least, cursor,\n       done, failed, skipped, items, created_at, started_at, finished_at,\n       max(0, next_at - ?1) AS next_ms, runner, stopped_by, error\nFROM millrace_operation\nWHERE id < ?2\n  AND (?3 IS NULL OR status = ?3)\n  AND (?4 IS NULL OR tenant = ?4)\nORDER BY millrace_operation.id DESC\nLIMIT ?5",
    parameters: ["now","before","status","tenant","limit"],
  },
  advance_operation: {
    text: "UPDATE millrace_operation\nSET cursor = ?1, done = ?2, failed = ?3, skipped = ?4, items = ?5,\n    next_at = max(next_at, ?6 - 1000) + ?7,\n    lease_until = iif(?8, NULL, max(?6, max(next_at, ?6 - 1000) + ?7) + ?9),\n    runner = iif(?8, NULL, runner),\n    status = iif(?8, 3, status),\n    finished_at = iif(?8, ?6, NULL)\nWHERE id = ?10",
    parameters: ["cursor","done","failed","skipped","items","now","cost_ms","is_last","lease_ms","id"],
  },
  stop_operation: {
    text: "UPDATE millrace_operation\nSET status = 4, stopped_by = ?1, finished_at = ?2, runner = NULL, lease_until = NULL\nWHERE id = ?3 AND status <= 2",
    parameters: ["by","now","id"],
  },
  fail_operation: {
    text: "UPDATE millrace_operation\nSET status = 5, error = ?1, finished_at = ?2, runner = NULL, lease_until = NULL\nWHERE id = ?3 AND status = 2 AND runner = ?4",
    parameters: ["error","now","id","runner"],
  },
  insert_operation_items: {
    text: "INSERT INTO millrace_operation_item (operation, n, job_id, outcome, code, successor)\nSELECT ?1, item.value ->> 'n', unhex(item.value ->> 'id'), item.value ->> 'outcome',\n       item.value ->> 'code', unhex(item.value ->> 'successor')\nFROM json_each(?2) AS item",
    parameters: ["id","items"],
  },
  list_operation_items: {
    text: "SELECT n, job_id, outcome, code, successor\nFROM millrace_operation_item\nWHERE operation = ?1 AND n > ?2 AND (?3 IS NULL OR outcome = ?3)\nORDER BY millrace_operation_item.n\nLIMIT ?4",
    parameters: ["id","after","outcome","limit"],
  },
  delete_operation_items: {
    text: "DELETE FROM millrace_operation_item\nWHERE (operation, n) IN (\n    SELECT item.operation, item.n\n    FROM millrace_operation AS ended\n    CROSS JOIN millrace_operation_item AS item ON item.operation = ended.id\n    WHERE ended.status >= 3 AND ended.finished_at < ?1 - ?2\n    LIMIT ?3\n)",
    parameters: ["now","age","limit"],
  },
  delete_operations: {
    text: "DELETE FROM millrace_operation\nWHERE id IN (\n    SELECT ended.id\n    FROM millrace_operation AS ended\n    WHERE ended.status >= 3 AND ended.finished_at < ?1 - ?2\n      AND NOT EXISTS (\n          SELECT 1 FROM millrace_operation_item AS item WHERE item.operation = ended.id\n      )\n    LIMIT ?3\n)",
    parameters: ["now","age","limit"],
  },
  other_successors: {
    text: "SELECT named.id, (\n    WITH RECURSIVE line (id, key, depth) AS (\n        SELECT job.id, job.key, 1 FROM millrace_job AS job WHERE job.retry_of = named.id\n        UNION ALL\n        SELECT job.id, job.key, line.depth + 1\n        FROM line\n        CROSS JOIN millrace_job AS job ON job.retry_of = line.id\n        WHERE line.depth < ?1\n    )\n    SELECT line.id\n    FROM line\n    WHERE line.id IN (SELECT unhex(value) FROM json_each(?2))\n       OR NOT EXISTS (\n           SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = line.key AND ended.state = 6\n       )\n    ORDER BY line.key DESC\n    LIMIT 1\n) AS successor\nFROM (SELECT unhex(value) AS id FROM json_each(?2)) AS named\nWHERE successor IS NOT NULL",
    parameters: ["depth","ids"],
  },
  set_priority_of_ready: {
    text: "UPDATE millrace_ready SET priority = ?1 WHERE key = ?2",
    parameters: ["priority","key"],
  },
  set_priority_of_scheduled: {
    text: "UPDATE millrace_scheduled SET priority = ?1 WHERE key = ?2",
    parameters: ["priority","key"],
  },
  set_priority_of_blocked: {
    text: "UPDATE millrace_blocked SET priority = ?1 WHERE key = ?2",
    parameters: ["priority","key"],
  },
  save_part: {
    text: "SAVEPOINT part",
    parameters: [],
  },
  undo_part: {
    text: "ROLLBACK TO part",
    parameters: [],
  },
  keep_part: {
    text: "RELEASE part",
    parameters: [],
  },
  put_payload_rule: {
    text: "INSERT INTO millrace_payload_rule (scope, name, rule, owner, by, reason, set_at)\nVALUES (?1, ?2, ?3, 'operator', ?4, ?5, ?6)\nON CONFLICT (scope, name) DO UPDATE\nSET rule = excluded.rule, owner = excluded.owner, by = excluded.by, reason = excluded.reason,\n    set_at = excluded.set_at",
    parameters: ["scope","name","rule","by","reason","now"],
  },
  declare_payload_rule: {
    text: "INSERT INTO millrace_payload_rule (scope, name, rule, owner, set_at)\nVALUES (?1, ?2, ?3, 'code', ?4)\nON CONFLICT (scope, name) DO UPDATE\nSET rule = excluded.rule, set_at = excluded.set_at\nWHERE millrace_payload_rule.owner = 'code' AND millrace_payload_rule.rule <> excluded.rule",
    parameters: ["scope","name","rule","now"],
  },
  empty_payload_rule: {
    text: "UPDATE millrace_payload_rule\nSET rule = '{}', owner = 'operator', by = ?1, reason = ?2, set_at = ?3\nWHERE scope = ?4 AND name = ?5 AND owner = 'code'",
    parameters: ["by","reason","now","scope","name"],
  },
  delete_payload_rule: {
    text: "DELETE FROM millrace_payload_rule\nWHERE scope = ?1 AND name = ?2 AND owner = 'operator'",
    parameters: ["scope","name"],
  },
  payload_rules: {
    text: "SELECT scope, name, rule, owner, by, reason, set_at\nFROM millrace_payload_rule\nORDER BY scope, name",
    parameters: [],
  },
  take_scheduled: {
    text: "DELETE FROM millrace_scheduled\nWHERE key = ?1\nRETURNING key, run_at * 1000 AS rank, lane, priority, type, tenant, concurrency, n, tries, crashes",
    parameters: ["key"],
  },
  take_ready: {
    text: "DELETE FROM millrace_ready\nWHERE key = ?1\nRETURNING key, coalesce(due * 1000, rank) AS rank, lane, priority, type, tenant, concurrency, n,\n          tries, crashes",
    parameters: ["key"],
  },
  take_blocked: {
    text: "DELETE FROM millrace_blocked\nWHERE key = ?1\nRETURNING key, rank, lane, priority, type, tenant, concurrency, n, tries, crashes",
    parameters: ["key"],
  },
  due_keys: {
    text: "SELECT key\nFROM millrace_scheduled\nWHERE run_at <= ?1\nORDER BY run_at, key\nLIMIT ?2",
    parameters: ["now","limit"],
  },
  copy_scheduled_to_ready: {
    text: "INSERT INTO millrace_ready (\n    lane, crashes, priority, rank, key, type, tenant, concurrency, n, tries\n)\nSELECT lane, crashes, priority, run_at * 1000, key, type, tenant, concurrency, n, tries\nFROM millrace_scheduled\nWHERE key IN (SELECT value FROM json_each(?1))\nON CONFLICT DO NOTHING",
    parameters: ["keys"],
  },
  delete_scheduled: {
    text: "DELETE FROM millrace_scheduled\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  next_due: {
    text: "SELECT min(run_at) AS run_at\nFROM millrace_scheduled",
    parameters: [],
  },
  insert_cancel_request: {
    text: "INSERT INTO millrace_cancel_request (key, by, reason, at)\nVALUES (?1, ?2, ?3, ?4)\nON CONFLICT (key) DO NOTHING",
    parameters: ["key","by","reason","at"],
  },
  find_cancel_requests: {
    text: "SELECT asked.key, asked.reason\nFROM json_each(?1) AS named\nJOIN millrace_cancel_request AS asked ON asked.key = named.value",
    parameters: ["keys"],
  },
  delete_cancel_requests: {
    text: "DELETE FROM millrace_cancel_request\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  end_of_range: {
    text: "SELECT finished_at, key\nFROM millrace_attempt\nWHERE state = ?1\n  AND (finished_at, key) > (?2, ?3)\n  AND (finished_at, key) <= (?4, ?5)\nORDER BY finished_at, key\nLIMIT 1 OFFSET ?6 - 1",
    parameters: ["state","at","key","end_at","end_key","depth"],
  },
  expired_jobs: {
    text: "SELECT ended.key, ended.finished_at, job.id, job.type, job.tenant, job.correlation,\n       job.idempotency, job.tags\nFROM millrace_attempt AS ended\nCROSS JOIN millrace_job AS job ON job.key = ended.key\nWHERE ended.state = ?1\n  AND (ended.finished_at, ended.key) > (?2, ?3)\n  AND (ended.finished_at, ended.key) <= (?4, ?5)\n  AND (?6 IS NULL OR job.type = ?6)\n  AND job.type NOT IN (SELECT value FROM json_each(?7))\n  AND (?8 = 0 OR NOT EXISTS (SELECT 1 FROM millrace_stale AS stale WHERE stale.key = job.key))\n  AND NOT EXISTS (SELECT 1 FROM millrace_dependency AS link WHERE link.depends_on = job.key)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_job AS parent\n      WHERE parent.id = job.parent\n        AND NOT EXISTS (\n            SELECT 1\n            FROM millrace_attempt AS last\n            WHERE last.key = parent.key AND last.state IS NOT NULL\n        )\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_alias AS alias\n      CROSS JOIN millrace_job AS parent ON parent.key = alias.parent\n      WHERE alias.job = job.key\n        AND NOT EXISTS (\n            SELECT 1\n            FROM millrace_attempt AS over\n            WHERE over.key = parent.key AND over.state IS NOT NULL\n        )\n  )\n  AND job.key NOT IN (SELECT key FROM millrace_job_with_code)\n  AND job.key NOT IN (\n      SELECT claimed.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS claimed\n  )\nORDER BY ended.finished_at, ended.key\nLIMIT ?9",
    parameters: ["state","at","key","end_at","end_key","type","others","fresh","limit"],
  },
  removable_jobs: {
    text: "SELECT ended.key, ended.finished_at, job.id, job.type, job.tenant, job.correlation,\n       job.idempotency, job.tags\nFROM json_each(?1) AS named\nCROSS JOIN millrace_attempt AS ended ON ended.key = named.value AND ended.state IS NOT NULL\nCROSS JOIN millrace_job AS job ON job.key = ended.key\nWHERE NOT EXISTS (SELECT 1 FROM millrace_dependency AS link WHERE link.depends_on = job.key)\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_job AS parent\n      WHERE parent.id = job.parent\n        AND NOT EXISTS (\n            SELECT 1\n            FROM millrace_attempt AS last\n            WHERE last.key = parent.key AND last.state IS NOT NULL\n        )\n  )\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_alias AS alias\n      CROSS JOIN millrace_job AS parent ON parent.key = alias.parent\n      WHERE alias.job = job.key\n        AND NOT EXISTS (\n            SELECT 1\n            FROM millrace_attempt AS over\n            WHERE over.key = parent.key AND over.state IS NOT NULL\n        )\n  )\n  AND job.key NOT IN (SELECT key FROM millrace_job_with_code)\n  AND job.key NOT IN (\n      SELECT claimed.value FROM millrace_lease AS lease JOIN json_each(lease.keys) AS claimed\n  )",
    parameters: ["keys"],
  },
  jobs_by_keys: {
    text: "SELECT now.*, run.phase, run.overall, stale.key IS NOT NULL AS is_stale\nFROM json_each(?1) AS named\nCROSS JOIN millrace_job_now AS now ON now.key = named.value\nLEFT JOIN millrace_run AS run ON run.key = now.key\nLEFT JOIN millrace_stale AS stale ON stale.key = now.key\nORDER BY named.key",
    parameters: ["keys"],
  },
  insert_stale: {
    text: "INSERT INTO millrace_stale (key, at)\nSELECT DISTINCT ended.key, ?1\nFROM json_each(?2) AS named\nCROSS JOIN millrace_attempt AS ended ON ended.key = named.value AND ended.state IS NOT NULL\nWHERE true\nON CONFLICT (key) DO NOTHING\nRETURNING key",
    parameters: ["at","keys"],
  },
  delete_jobs: {
    text: "DELETE FROM millrace_job\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  delete_attempts: {
    text: "DELETE FROM millrace_attempt\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  delete_runs: {
    text: "DELETE FROM millrace_run\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  delete_phases: {
    text: "DELETE FROM millrace_phase\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  delete_units: {
    text: "DELETE FROM millrace_unit\nWHERE (key, phase, unit) IN (\n    SELECT unit.key, unit.phase, unit.unit\n    FROM json_each(?1) AS gone\n    JOIN millrace_unit AS unit ON unit.key = gone.value\n    LIMIT ?2\n)",
    parameters: ["keys","limit"],
  },
  delete_logs: {
    text: "DELETE FROM millrace_log\nWHERE (key, line) IN (\n    SELECT log.key, log.line\n    FROM json_each(?1) AS gone\n    JOIN millrace_log AS log ON log.key = gone.value\n    LIMIT ?2\n)",
    parameters: ["keys","limit"],
  },
  delete_stale: {
    text: "DELETE FROM millrace_stale\nWHERE key IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  delete_aliases: {
    text: "DELETE FROM millrace_alias\nWHERE job IN (SELECT value FROM json_each(?1))\n   OR parent IN (SELECT value FROM json_each(?1))",
    parameters: ["keys"],
  },
  delete_tags: {
    text: "DELETE FROM millrace_tag\nWHERE key = ?1\n  AND (name, value) IN (SELECT tag.key, tag.value FROM json_each(?2) AS tag)",
    parameters: ["key","tags"],
  },
  expire_idempotency: {
    text: "UPDATE millrace_idempotency\nSET expires_at = ?1\nWHERE tenant = ?2\n  AND key = ?3\n  AND job_id = ?4",
    parameters: ["expires_at","tenant","key","job_id"],
  },
  delete_expired_idempotency: {
    text: "DELETE FROM millrace_idempotency\nWHERE (tenant, key) IN (\n    SELECT tenant, key\n    FROM millrace_idempotency\n    WHERE expires_at <= ?1\n    LIMIT ?2\n)",
    parameters: ["now","limit"],
  },
  delete_dead_letters: {
    text: "DELETE FROM millrace_dead_letter\nWHERE id IN (\n    SELECT id FROM millrace_dead_letter WHERE died_at <= ?1 ORDER BY died_at LIMIT ?2\n)",
    parameters: ["before","limit"],
  },
  delete_events: {
    text: "WITH oldest AS MATERIALIZED (\n    SELECT position, at\n    FROM millrace_event\n    WHERE EXISTS (SELECT 1 FROM millrace_event WHERE at <= ?1)\n    ORDER BY position\n    LIMIT ?2\n)\nDELETE FROM millrace_event\nWHERE position IN (\n    SELECT position\n    FROM oldest\n    WHERE position < coalesce(\n        (SELECT min(young.position) FROM oldest AS young WHERE young.at > ?1),\n        9223372036854775807\n    )\n)",
    parameters: ["before","limit"],
  },
  delete_tokens: {
    text: "DELETE FROM millrace_api_token\nWHERE id IN (\n    SELECT id\n    FROM millrace_api_token\n    WHERE (kind IN (4, 5) AND min(expires_at, coalesce(revoked_at, expires_at)) <= ?1)\n       OR (kind IN (1, 2, 3) AND min(expires_at, coalesce(revoked_at, expires_at)) <= ?2)\n    ORDER BY min(expires_at, coalesce(revoked_at, expires_at)), id\n    LIMIT ?3\n)",
    parameters: ["now","before","limit"],
  },
  delete_minutes: {
    text: "DELETE FROM millrace_minute\nWHERE (span, start, type, lane, outcome) IN (\n    SELECT span, start, type, lane, outcome\n    FROM millrace_minute\n    WHERE (span = 1 AND start <= ?1 - 60000)\n       OR (span = 60 AND start <= ?1 - 3600000)\n    LIMIT ?2\n)",
    parameters: ["before","limit"],
  },
  delete_failure_groups: {
    text: "DELETE FROM millrace_failure_group\nWHERE (tenant, cause) IN (\n    SELECT old.tenant, old.cause\n    FROM millrace_failure_group AS old\n    WHERE old.decided_at <= ?1\n      AND coalesce(old.until, 0) <= ?1\n      AND NOT EXISTS (\n          SELECT 1\n          FROM millrace_dead_letter AS letter\n          WHERE letter.cause = old.cause\n            AND letter.status IN (1, 2)\n            AND old.tenant IN (0, letter.tenant)\n      )\n    ORDER BY old.decided_at\n    LIMIT ?2\n)",
    parameters: ["before","limit"],
  },
  declared_periods: {
    text: "SELECT value\nFROM millrace_meta\nWHERE name = 'retention'",
    parameters: [],
  },
  put_declared_periods: {
    text: "UPDATE millrace_meta SET value = ?1 WHERE name = 'retention'",
    parameters: ["value"],
  },
  put_quota: {
    text: "INSERT INTO millrace_quota (\n    tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9\n)\nON CONFLICT (tenant) DO UPDATE\nSET waiting = excluded.waiting, rate_count = excluded.rate_count, rate_ms = excluded.rate_ms,\n    burst = excluded.burst, payload_bytes = excluded.payload_bytes, reason = excluded.reason,\n    by = excluded.by, set_at = excluded.set_at",
    parameters: ["tenant","waiting","rate_count","rate_ms","burst","payload_bytes","reason","by","now"],
  },
  delete_quota: {
    text: "DELETE FROM millrace_quota\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  delete_quota_use: {
    text: "DELETE FROM millrace_quota_use\nWHERE ?1 = 0 OR tenant = ?1",
    parameters: ["tenant"],
  },
  all_quotas: {
    text: "SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at\nFROM millrace_quota\nORDER BY tenant\nLIMIT ?1",
    parameters: ["limit"],
  },
  find_quotas: {
    text: "SELECT tenant, waiting, rate_count, rate_ms, burst, payload_bytes, reason, by, set_at\nFROM millrace_quota\nWHERE tenant IN (SELECT value FROM json_each(?1))",
    parameters: ["tenants"],
  },
  quota_uses: {
    text: "SELECT tenant, tokens, refilled_at\nFROM millrace_quota_use\nWHERE tenant IN (SELECT value FROM json_each(?1))",
    parameters: ["tenants"],
  },
  put_quota_use: {
    text: "INSERT INTO millrace_quota_use (tenant, tokens, refilled_at)\nVALUES (?1, ?2, ?3)\nON CONFLICT (tenant) DO UPDATE\nSET tokens = excluded.tokens, refilled_at = excluded.refilled_at",
    parameters: ["tenant","tokens","now"],
  },
  count_of_tenant: {
    text: "SELECT (\n    SELECT count(*)\n    FROM (\n        SELECT 1 FROM (SELECT tenant FROM millrace_ready LIMIT ?1)\n        WHERE tenant = ?2\n        LIMIT ?3\n    )\n) + (\n    SELECT count(*)\n    FROM (\n        SELECT 1 FROM (SELECT tenant FROM millrace_scheduled LIMIT ?1)\n        WHERE tenant = ?2\n        LIMIT ?3\n    )\n) + (\n    SELECT count(*)\n    FROM (\n        SELECT 1 FROM (SELECT tenant FROM millrace_blocked LIMIT ?1)\n        WHERE tenant = ?2\n        LIMIT ?3\n    )\n) AS count",
    parameters: ["rows","tenant","max"],
  },
  forget_run: {
    text: "DELETE FROM millrace_run\nWHERE key = ?1",
    parameters: ["key"],
  },
  forget_phases: {
    text: "DELETE FROM millrace_phase\nWHERE key = ?1",
    parameters: ["key"],
  },
  forget_units: {
    text: "DELETE FROM millrace_unit\nWHERE key = ?1",
    parameters: ["key"],
  },
  put_progress: {
    text: "INSERT INTO millrace_run (key, n, phase, phases, percent, overall, data, at)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)\nON CONFLICT (key) DO UPDATE\nSET n = ?2, phase = ?3, phases = ?4, percent = ?5, overall = ?6, data = ?7,\n    at = ?8",
    parameters: ["key","n","phase","phases","percent","overall","data","at"],
  },
  move_unit: {
    text: "UPDATE millrace_unit\nSET n = ?1, state = ?2, result = ?3, error = ?4, at = ?5,\n    turn = coalesce(nullif(?6, 0), turn)\nWHERE key = ?7\n  AND phase = ?8\n  AND unit = ?9\n  AND NOT (n = ?1 AND state = ?2 AND state > 1)",
    parameters: ["n","state","result","error","at","turn","key","phase","unit"],
  },
  insert_unit: {
    text: "INSERT INTO millrace_unit (key, phase, unit, turn, n, state, result, error, at)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)\nON CONFLICT (key, phase, unit) DO NOTHING",
    parameters: ["key","phase","unit","turn","n","state","result","error","at"],
  },
  count_units: {
    text: "SELECT count(*) AS count\nFROM (SELECT 1 FROM millrace_unit WHERE key = ?1 AND phase = ?2 LIMIT ?3)",
    parameters: ["key","phase","max"],
  },
  insert_phase: {
    text: "INSERT INTO millrace_phase (key, name, n, result, at)\nVALUES (?1, ?2, ?3, ?4, ?5)\nON CONFLICT (key, name) DO NOTHING",
    parameters: ["key","name","n","result","at"],
  },
  take_over_phases: {
    text: "INSERT INTO millrace_phase (key, name, n, result, at)\nSELECT job.key, phase.name, 0, phase.result, phase.at\nFROM millrace_job AS job\nJOIN millrace_job AS old ON old.id = job.retry_of AND old.payload IS job.payload\nJOIN millrace_phase AS phase ON phase.key = old.key\nWHERE job.key = ?1\n  AND NOT EXISTS (\n      SELECT 1\n      FROM (\n          SELECT DISTINCT unit.phase AS name\n          FROM millrace_unit AS unit\n          WHERE unit.key = old.key AND unit.state = 3\n      ) AS failed\n      WHERE failed.name = phase.name\n         OR EXISTS (\n             SELECT 1\n             FROM millrace_run AS run\n             JOIN json_each(run.phases) AS first ON first.value = failed.name\n             JOIN json_each(run.phases) AS later ON later.value = phase.name\n             WHERE run.key = old.key AND first.key < later.key\n         )\n  )",
    parameters: ["key"],
  },
  take_over_units: {
    text: "INSERT INTO millrace_unit (key, phase, unit, turn, n, state, result, at)\nSELECT job.key, unit.phase, unit.unit, unit.turn, 0, unit.state, unit.result, unit.at\nFROM millrace_job AS job\nJOIN millrace_job AS old ON old.id = job.retry_of AND old.payload IS job.payload\nJOIN millrace_unit AS unit ON unit.key = old.key\nWHERE job.key = ?1\n  AND unit.state = 2",
    parameters: ["key"],
  },
  phases_of_job: {
    text: "SELECT phase.name, phase.result, phase.n, phase.at, attempt.started_at AS run_started_at\nFROM millrace_phase AS phase\nLEFT JOIN millrace_attempt AS attempt ON attempt.key = phase.key AND attempt.n = phase.n\nWHERE phase.key = ?1\nORDER BY phase.at, phase.n, phase.name",
    parameters: ["key"],
  },
  ended_units: {
    text: "SELECT phase, unit, state, result, error\nFROM millrace_unit\nWHERE key = ?1\n  AND state > 1\n  AND phase NOT IN (SELECT name FROM millrace_phase WHERE key = ?1)\nORDER BY phase, turn, unit",
    parameters: ["key"],
  },
  checkpoints_of_job: {
    text: "SELECT (\n           SELECT json_group_object(phase, failed)\n           FROM (\n               SELECT unit.phase, count(*) AS failed\n               FROM millrace_unit AS unit\n               JOIN millrace_phase AS phase ON phase.key = unit.key AND phase.name = unit.phase\n               WHERE unit.key = ?1 AND unit.state = 3\n               GROUP BY unit.phase\n           )\n       ) AS failed,\n       CASE\n           WHEN newest.n = 0 THEN -1\n           WHEN newest.n > 0 THEN coalesce(\n               (SELECT tries FROM millrace_attempt WHERE key = ?1 AND n = newest.n - 1), 0\n           )\n       END AS tries\nFROM (\n    SELECT max(n) AS n\n    FROM (\n        SELECT n FROM millrace_phase WHERE key = ?1\n        UNION ALL\n        SELECT n FROM millrace_unit WHERE key = ?1\n    )\n) AS newest",
    parameters: ["key"],
  },
  progress_of_job: {
    text: "SELECT job.key, run.phase, run.phases, run.percent, run.overall, run.data, run.at, run.n,\n       told.started_at AS run_started_at, told.finished_at AS run_finished_at,\n       (\n           SELECT attempt.outcome\n           FROM millrace_attempt AS attempt\n           WHERE attempt.key = job.key\n           ORDER BY attempt.n DESC\n           LIMIT 1\n       ) AS last_outcome\nFROM millrace_job AS job\nLEFT JOIN millrace_run AS run ON run.key = job.key\nLEFT JOIN millrace_attempt AS told ON told.key = run.key AND told.n = run.n\nWHERE job.key = (SELECT key FROM millrace_job_name WHERE id = ?1)",
    parameters: ["id"],
  },
  unit_counts: {
    text: "SELECT unit.phase,\n       count(*) FILTER (WHERE state = 0 OR (state = 1 AND unit.n <= ended.n)) AS planned,\n       count(*) FILTER (WHERE state = 1 AND unit.n > ended.n) AS running,\n       count(*) FILTER (WHERE state = 2) AS completed,\n       count(*) FILTER (WHERE state = 3) AS failed\nFROM millrace_unit AS unit\nCROSS JOIN (\n    SELECT coalesce(max(n), 0) AS n\n    FROM millrace_attempt\n    WHERE key = ?1\n) AS ended\nWHERE unit.key = ?1\nGROUP BY unit.phase\nORDER BY unit.phase",
    parameters: ["key"],
  },
  units_of_job: {
    text: "SELECT phase, unit, turn,\n       CASE WHEN state = 1 AND EXISTS (\n           SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = unit.key AND ended.n = unit.n\n       ) THEN 0 ELSE state END AS state,\n       result, error, n, at\nFROM millrace_unit AS unit\nWHERE key = (SELECT key FROM millrace_job_name WHERE id = ?1)\n  AND (phase, turn, unit) > (?2, ?3, ?4)\n  AND phase <= ?5\n  AND (\n      ?6 IS NULL\n      OR ?6 = CASE WHEN state = 1 AND EXISTS (\n          SELECT 1 FROM millrace_attempt AS ended WHERE ended.key = unit.key AND ended.n = unit.n\n      ) THEN 0 ELSE state END\n  )\nORDER BY phase, turn, unit\nLIMIT ?7",
    parameters: ["id","after_phase","after_turn","after_unit","last_phase","state","limit"],
  },
  holders_of_unit: {
    text: "SELECT job.id, unit.phase, unit.unit, unit.at\nFROM millrace_unit AS unit\nJOIN millrace_job AS job ON job.key = unit.key\nWHERE unit.unit = ?1\n  AND unit.state = 1\n  AND NOT EXISTS (\n      SELECT 1\n      FROM millrace_attempt AS ended\n      WHERE ended.key = unit.key AND ended.n = unit.n\n  )\nORDER BY unit.at, unit.key, unit.phase\nLIMIT ?2",
    parameters: ["unit","limit"],
  },
  put_saved_view: {
    text: "INSERT INTO millrace_saved_view (tenant, name, screen, query, by, saved_at)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6)\nON CONFLICT (tenant, name) DO UPDATE\nSET screen = excluded.screen, query = excluded.query, by = excluded.by,\n    saved_at = excluded.saved_at",
    parameters: ["tenant","name","screen","query","by","now"],
  },
  count_saved_views: {
    text: "SELECT count(*) AS count\nFROM (\n    SELECT 1 FROM millrace_saved_view WHERE tenant = ?1 AND name <> ?2 LIMIT ?3\n)",
    parameters: ["tenant","name","max"],
  },
  find_saved_view: {
    text: "SELECT screen, query\nFROM millrace_saved_view\nWHERE tenant = ?1 AND name = ?2",
    parameters: ["tenant","name"],
  },
  delete_saved_view: {
    text: "DELETE FROM millrace_saved_view\nWHERE tenant = ?1 AND name = ?2",
    parameters: ["tenant","name"],
  },
  list_saved_views: {
    text: "SELECT name, screen, query, by, saved_at\nFROM millrace_saved_view\nWHERE tenant = ?1\nORDER BY name\nLIMIT ?2",
    parameters: ["tenant","max"],
  },
  overdue_schedules: {
    text: "SELECT NULL AS key, NULL AS id, schedule.name\nFROM millrace_schedule AS schedule\nWHERE schedule.paused_at IS NULL\n  AND schedule.next_slot < ?1 - 300000\n  AND (schedule.owner = 2 OR schedule.declared_at > ?1 - 120000)\n  AND EXISTS (\n      SELECT 1\n      FROM millrace_worker AS worker\n      WHERE worker.until > ?1\n        AND worker.joined_at < ?1 - 300000\n  )\nORDER BY schedule.next_slot, schedule.name\nLIMIT ?2",
    parameters: ["now","limit"],
  },
  unfolded_minutes: {
    text: "SELECT DISTINCT NULL AS key, NULL AS id, coalesce(name.text, 'type ' || counted.type) AS name\nFROM (\n    SELECT at, type FROM millrace_minute_outbox ORDER BY number LIMIT ?1\n) AS counted\nLEFT JOIN millrace_interned_name AS name ON name.id = counted.type\nWHERE counted.at < ?2 - 300000\n  AND EXISTS (\n      SELECT 1\n      FROM millrace_worker AS worker\n      WHERE worker.until > ?2\n        AND worker.joined_at < ?2 - 300000\n  )\nORDER BY 3\nLIMIT ?3",
    parameters: ["examined","now","limit"],
  },
  ticks_without_schedule: {
    text: "SELECT DISTINCT NULL AS key, NULL AS id, tick.schedule AS name\nFROM millrace_schedule_tick AS tick\nWHERE NOT EXISTS (\n    SELECT 1 FROM millrace_schedule AS schedule WHERE schedule.name = tick.schedule\n)\nORDER BY 3\nLIMIT ?1",
    parameters: ["limit"],
  },
  minutes_without_name: {
    text: "SELECT NULL AS key, NULL AS id, 'type ' || figure.type || ', lane ' || figure.lane AS name\nFROM (\n    SELECT type, lane FROM millrace_minute\n    UNION\n    SELECT type, lane FROM millrace_minute_outbox\n) AS figure\nWHERE NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = figure.type)\n   OR NOT EXISTS (SELECT 1 FROM millrace_interned_name AS name WHERE name.id = figure.lane)\nORDER BY figure.type, figure.lane\nLIMIT ?1",
    parameters: ["limit"],
  },
  find_schedule: {
    text: "SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at,\n       job, next_slot, last_slot, last_job, paused_at, paused_by, pause_reason, declared_at,\n       created_by, created_at, updated_at, revision\nFROM millrace_schedule\nWHERE name = ?1",
    parameters: ["name"],
  },
  list_schedules: {
    text: "SELECT name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at,\n       job, next_slot, last_slot, last_job, paused_at, paused_by, pause_reason, declared_at,\n       created_by, created_at, updated_at, revision\nFROM millrace_schedule\nWHERE name > ?1\n  AND (?2 IS NULL OR tenant = ?2)\nORDER BY name\nLIMIT ?3",
    parameters: ["after","tenant","limit"],
  },
  list_due_schedules: {
    text: "SELECT name,\n       CASE\n           WHEN max(coalesce(last_slot, 0), updated_at) > ?1 THEN ?1\n           ELSE next_slot\n       END AS next_slot, ?1 AS now\nFROM millrace_schedule\nWHERE paused_at IS NULL\n  AND (next_slot IS NOT NULL OR max(coalesce(last_slot, 0), updated_at) > ?1)\n  AND (owner = 2 OR name IN (SELECT value FROM json_each(?2)))\nORDER BY next_slot, name\nLIMIT ?3",
    parameters: ["now","declared","limit"],
  },
  count_schedules: {
    text: "SELECT count(*) AS total, count(*) FILTER (WHERE tenant = ?1) AS of_tenant\nFROM millrace_schedule\nWHERE owner = 2",
    parameters: ["tenant"],
  },
  insert_schedule: {
    text: "INSERT INTO millrace_schedule (\n    name, owner, tenant, cron, time_zone, missed_max, overlap, jitter_ms, starts_at, ends_at, job,\n    next_slot, declared_at, created_by, created_at, updated_at, revision\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,\n    ?10, ?11, ?12, CASE WHEN ?2 = 1 THEN ?13 END, ?14, ?13, ?13, 1\n)\nON CONFLICT DO NOTHING",
    parameters: ["name","owner","tenant","cron","time_zone","missed_max","overlap","jitter_ms","starts_at","ends_at","job","next_slot","now","created_by"],
  },
  update_schedule: {
    text: "UPDATE millrace_schedule\nSET owner = ?1, tenant = ?2, cron = ?3, time_zone = ?4,\n    missed_max = ?5, overlap = ?6, jitter_ms = ?7, starts_at = ?8,\n    ends_at = ?9, job = ?10, next_slot = ?11,\n    declared_at = CASE WHEN ?1 = 1 THEN ?12 END, updated_at = ?12, revision = revision + 1\nWHERE name = ?13",
    parameters: ["owner","tenant","cron","time_zone","missed_max","overlap","jitter_ms","starts_at","ends_at","job","next_slot","now","name"],
  },
  confirm_schedules: {
    text: "UPDATE millrace_schedule\nSET declared_at = ?1\nWHERE name IN (SELECT value FROM json_each(?2))\n  AND owner = 1\n  AND declared_at < ?1",
    parameters: ["now","names"],
  },
  list_missing_schedules: {
    text: "SELECT given.value AS name\nFROM json_each(?1) AS given\nWHERE NOT EXISTS (\n    SELECT 1\n    FROM millrace_schedule AS schedule\n    WHERE schedule.name = given.value\n      AND schedule.owner = 1\n)\nORDER BY given.value",
    parameters: ["names"],
  },
  list_ticks: {
    text: "SELECT slot, since, job, outcome, at\nFROM millrace_schedule_tick\nWHERE schedule = ?1\n  AND slot < ?2\nORDER BY slot DESC\nLIMIT ?3",
    parameters: ["name","before","limit"],
  },
  find_ticks: {
    text: "SELECT slot\nFROM millrace_schedule_tick\nWHERE schedule = ?1\n  AND outcome <> 4\n  AND slot IN (SELECT value FROM json_each(?2))",
    parameters: ["name","slots"],
  },
  find_made_ticks: {
    text: "SELECT slot\nFROM millrace_schedule_tick\nWHERE schedule = ?1\n  AND slot > ?2\n  AND outcome NOT IN (4, 7)\nORDER BY slot\nLIMIT ?3",
    parameters: ["name","after","limit"],
  },
  set_schedule_back: {
    text: "UPDATE millrace_schedule\nSET next_slot = ?1, updated_at = min(updated_at, ?2),\n    last_slot = (\n        SELECT max(tick.slot)\n        FROM millrace_schedule_tick AS tick\n        WHERE tick.schedule = ?3\n          AND tick.slot <= ?2\n          AND tick.outcome <> 7\n    )\nWHERE name = ?3",
    parameters: ["next_slot","now","name"],
  },
  insert_tick: {
    text: "INSERT INTO millrace_schedule_tick (schedule, slot, since, job, outcome, at)\nVALUES (?1, ?2, ?3, ?4, ?5, ?6)\nON CONFLICT (schedule, slot) DO UPDATE\nSET since = excluded.since, job = excluded.job, outcome = excluded.outcome, at = excluded.at\nWHERE millrace_schedule_tick.outcome = 4",
    parameters: ["name","slot","since","job","outcome","now"],
  },
  advance_schedule: {
    text: "UPDATE millrace_schedule\nSET next_slot = ?1, last_slot = max(coalesce(last_slot, ?2), ?2),\n    last_job = coalesce(?3, last_job)\nWHERE name = ?4",
    parameters: ["next_slot","last_slot","last_job","name"],
  },
  prune_ticks: {
    text: "DELETE FROM millrace_schedule_tick\nWHERE schedule = ?1\n  AND (\n      slot <= (\n          SELECT slot\n          FROM millrace_schedule_tick\n          WHERE schedule = ?1\n            AND slot <= ?2\n          ORDER BY slot DESC\n          LIMIT 1 OFFSET ?3\n      )\n      OR slot >= (\n          SELECT slot\n          FROM millrace_schedule_tick\n          WHERE schedule = ?1\n            AND slot > ?2\n          ORDER BY slot\n          LIMIT 1 OFFSET ?3\n      )\n  )",
    parameters: ["name","now","kept"],
  },
  pause_schedule: {
    text: "UPDATE millrace_schedule\nSET paused_at = coalesce(paused_at, ?1), paused_by = ?2, pause_reason = ?3\nWHERE name = ?4",
    parameters: ["now","by","reason","name"],
  },
  resume_schedule: {
    text: "UPDATE millrace_schedule\nSET paused_at = NULL, paused_by = NULL, pause_reason = NULL, next_slot = ?1\nWHERE name = ?2",
    parameters: ["next_slot","name"],
  },
  delete_schedule: {
    text: "DELETE FROM millrace_schedule\nWHERE name = ?1",
    parameters: ["name"],
  },
  delete_ticks: {
    text: "DELETE FROM millrace_schedule_tick\nWHERE schedule = ?1",
    parameters: ["name"],
  },
  insert_attempt: {
    text: "INSERT INTO millrace_attempt (\n    key, n, tries, crashes, worker, fence, claimed_at, started_at, finished_at, outcome, state,\n    error_class, error, result, reason, next_run_at\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,\n    ?11, ?12, ?13, ?14, ?15, ?16\n)",
    parameters: ["key","n","tries","crashes","worker","fence","claimed_at","started_at","finished_at","outcome","state","error_class","error","result","reason","next_run_at"],
  },
  waiting_fields: {
    text: "SELECT lane, priority, type, tenant, concurrency\nFROM millrace_job\nWHERE key = ?1",
    parameters: ["key"],
  },
  tenant_names: {
    text: "SELECT name\nFROM (\n    SELECT text AS name FROM millrace_interned_name WHERE kind = ?1\n    UNION\n    SELECT tenant FROM millrace_schedule\n    UNION\n    SELECT tenant FROM millrace_api_token WHERE tenant IS NOT NULL\n) AS known\nWHERE name > ?2\nORDER BY name\nLIMIT ?3",
    parameters: ["kind","after","limit"],
  },
  begin_removal: {
    text: "INSERT INTO millrace_tenant_removal AS known (tenant, reason, by, begun_at)\nVALUES (?1, ?2, ?3, ?4)\nON CONFLICT (tenant) DO UPDATE\nSET reason = excluded.reason, by = excluded.by, begun_at = excluded.begun_at, removed = 0,\n    done_at = NULL\nWHERE known.done_at IS NOT NULL",
    parameters: ["tenant","reason","by","now"],
  },
  removal_of: {
    text: "SELECT tenant, reason, by, removed, begun_at,\n       done_at\nFROM millrace_tenant_removal\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  open_removals: {
    text: "SELECT tenant, reason, by, removed, begun_at, done_at\nFROM millrace_tenant_removal\nWHERE done_at IS NULL\nORDER BY begun_at, tenant\nLIMIT ?1",
    parameters: ["limit"],
  },
  note_removed: {
    text: "UPDATE millrace_tenant_removal\nSET removed = removed + ?1\nWHERE tenant = ?2 AND done_at IS NULL",
    parameters: ["count","tenant"],
  },
  end_removal: {
    text: "UPDATE millrace_tenant_removal\nSET done_at = ?1\nWHERE tenant = ?2 AND done_at IS NULL",
    parameters: ["now","tenant"],
  },
  keys_to_remove: {
    text: "SELECT key\nFROM millrace_job\nWHERE tenant = ?1\nORDER BY key\nLIMIT ?2",
    parameters: ["tenant","limit"],
  },
  clear_idempotency: {
    text: "DELETE FROM millrace_idempotency\nWHERE (tenant, key) IN (\n    SELECT tenant, key\n    FROM millrace_idempotency\n    WHERE tenant = ?1\n    LIMIT ?2\n)",
    parameters: ["tenant","limit"],
  },
  clear_dead_letters: {
    text: "DELETE FROM millrace_dead_letter\nWHERE id IN (\n    SELECT id\n    FROM millrace_dead_letter\n    WHERE tenant = ?1\n    LIMIT ?2\n)",
    parameters: ["tenant","limit"],
  },
  clear_permits: {
    text: "DELETE FROM millrace_permit\nWHERE limit_id IN (SELECT id FROM millrace_limit_setting WHERE name = ?1)",
    parameters: ["tenant"],
  },
  clear_limits: {
    text: "DELETE FROM millrace_limit_setting\nWHERE name = ?1",
    parameters: ["tenant"],
  },
  clear_ticks: {
    text: "DELETE FROM millrace_schedule_tick\nWHERE schedule IN (SELECT name FROM millrace_schedule WHERE tenant = ?1)",
    parameters: ["name"],
  },
  clear_schedules: {
    text: "DELETE FROM millrace_schedule\nWHERE tenant = ?1",
    parameters: ["name"],
  },
  clear_tokens: {
    text: "DELETE FROM millrace_api_token\nWHERE tenant = ?1",
    parameters: ["name"],
  },
  stop_operations_of: {
    text: "UPDATE millrace_operation\nSET status = 4, stopped_by = 'removal of the tenant', runner = NULL, lease_until = NULL,\n    finished_at = ?1\nWHERE status <= 2\n  AND (\n      tenant = ?2\n      OR plan ->> '$.jobs.tenant' = ?2\n      OR plan ->> '$.deadLetters.tenant' = ?2\n  )",
    parameters: ["now","name"],
  },
  clear_operation_items: {
    text: "DELETE FROM millrace_operation_item\nWHERE (operation, n) IN (\n    SELECT own.operation, own.n\n    FROM millrace_operation AS held\n    JOIN millrace_operation_item AS own ON own.operation = held.id\n    WHERE held.tenant = ?1\n       OR held.plan ->> '$.jobs.tenant' = ?1\n       OR held.plan ->> '$.deadLetters.tenant' = ?1\n    LIMIT ?2\n)",
    parameters: ["name","limit"],
  },
  clear_operations: {
    text: "DELETE FROM millrace_operation\nWHERE status >= 3\n  AND (\n      tenant = ?1\n      OR plan ->> '$.jobs.tenant' = ?1\n      OR plan ->> '$.deadLetters.tenant' = ?1\n  )\n  AND NOT EXISTS (\n      SELECT 1 FROM millrace_operation_item AS item WHERE item.operation = millrace_operation.id\n  )",
    parameters: ["name"],
  },
  clear_views: {
    text: "DELETE FROM millrace_saved_view\nWHERE tenant = ?1",
    parameters: ["name"],
  },
  clear_dedup: {
    text: "DELETE FROM millrace_dedup\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_failure_group: {
    text: "DELETE FROM millrace_failure_group\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_lock: {
    text: "DELETE FROM millrace_lock\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_key_rate: {
    text: "DELETE FROM millrace_key_rate\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_fair_turn: {
    text: "DELETE FROM millrace_fair_turn\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_service_park: {
    text: "DELETE FROM millrace_service_park\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_quota: {
    text: "DELETE FROM millrace_quota\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_quota_use: {
    text: "DELETE FROM millrace_quota_use\nWHERE tenant = ?1",
    parameters: ["tenant"],
  },
  clear_gate: {
    text: "DELETE FROM millrace_gate\nWHERE name = ?1",
    parameters: ["tenant"],
  },
  clear_weights: {
    text: "UPDATE millrace_fair_lane\nSET weights = json_remove(weights, printf('$.\"%d\"', ?1)),\n    code_weights = json_remove(code_weights, printf('$.\"%d\"', ?1))\nWHERE json_extract(weights, printf('$.\"%d\"', ?1)) IS NOT NULL\n   OR json_extract(code_weights, printf('$.\"%d\"', ?1)) IS NOT NULL",
    parameters: ["tenant"],
  },
  rows_of_tenant: {
    text: "SELECT\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_job WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS job_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_ready WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS ready_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_scheduled WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS scheduled_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_blocked WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS blocked_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_idempotency WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS idempotency_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_dead_letter WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS dead_letter_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_dedup WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS dedup_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_failure_group WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS failure_group_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_lock WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS lock_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_key_rate WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS key_rate_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_fair_turn WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS fair_turn_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_service_park WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS service_park_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_quota WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS quota_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_quota_use WHERE tenant = ?1 LIMIT ?2\n        ) AS own\n    ) AS quota_use_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_gate WHERE name = ?1 LIMIT ?2\n        ) AS own\n    ) AS gate_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_limit_setting WHERE name = ?1 LIMIT ?2\n        ) AS own\n    ) AS limit_setting_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_schedule WHERE tenant = ?3 LIMIT ?2\n        ) AS own\n    ) AS schedule_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_api_token WHERE tenant = ?3 LIMIT ?2\n        ) AS own\n    ) AS api_token_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1\n            FROM millrace_operation\n            WHERE tenant = ?3\n               OR plan ->> '$.jobs.tenant' = ?3\n               OR plan ->> '$.deadLetters.tenant' = ?3\n            LIMIT ?2\n        ) AS own\n    ) AS operation_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1\n            FROM millrace_operation AS held\n            JOIN millrace_operation_item AS item ON item.operation = held.id\n            WHERE held.tenant = ?3\n               OR held.plan ->> '$.jobs.tenant' = ?3\n               OR held.plan ->> '$.deadLetters.tenant' = ?3\n            LIMIT ?2\n        ) AS own\n    ) AS operation_item_rows,\n    (\n        SELECT count(*)\n        FROM (\n            SELECT 1 FROM millrace_saved_view WHERE tenant = ?3 LIMIT ?2\n        ) AS own\n    ) AS saved_view_rows",
    parameters: ["tenant","max","name"],
  },
  find_same_token: {
    text: "SELECT id\nFROM millrace_api_token\nWHERE id = ?1\n  AND hash = ?2",
    parameters: ["id","hash"],
  },
  find_parent_token: {
    text: "SELECT expires_at\nFROM millrace_api_token\nWHERE id = ?1\n  AND revoked_at IS NULL\n  AND expires_at > ?2",
    parameters: ["id","now"],
  },
  insert_token: {
    text: "INSERT INTO millrace_api_token (\n    id, hash, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,\n    expires_at\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,\n    min(?12 + ?13, ?14)\n)\nON CONFLICT DO NOTHING",
    parameters: ["id","hash","kind","name","actor","roles","tenant","types","job_id","parent","created_by","now","ttl_ms","until"],
  },
  find_usable_token: {
    text: "SELECT token.id, token.kind, token.name, token.actor, token.roles, token.tenant, token.types,\n       token.job_id, token.parent, token.created_by, token.created_at, token.expires_at,\n       token.last_used_at, token.revoked_at\nFROM millrace_api_token AS token\nLEFT JOIN millrace_api_token AS parent ON parent.id = token.parent\nWHERE token.hash = ?1\n  AND token.revoked_at IS NULL\n  AND token.expires_at > ?2\n  AND (token.parent IS NULL OR (parent.revoked_at IS NULL AND parent.expires_at > ?2))",
    parameters: ["hash","now"],
  },
  find_token: {
    text: "SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,\n       expires_at, last_used_at, revoked_at\nFROM millrace_api_token\nWHERE id = ?1",
    parameters: ["id"],
  },
  list_tokens: {
    text: "SELECT id, kind, name, actor, roles, tenant, types, job_id, parent, created_by, created_at,\n       expires_at, last_used_at, revoked_at\nFROM millrace_api_token\nWHERE id < ?1\n  AND (?2 IS NULL OR kind IN (SELECT value FROM json_each(?2)))\n  AND (?3 IS NULL OR tenant = ?3)\n  AND (?4 OR (revoked_at IS NULL AND expires_at > ?5))\nORDER BY id DESC\nLIMIT ?6",
    parameters: ["before","kinds","tenant","with_ended","now","limit"],
  },
  mark_tokens_used: {
    text: "UPDATE millrace_api_token\nSET last_used_at = ?1\nWHERE id IN (SELECT unhex(value) FROM json_each(?2))\n  AND revoked_at IS NULL\n  AND (last_used_at IS NULL OR last_used_at < ?1)",
    parameters: ["now","ids"],
  },
  revoke_token: {
    text: "UPDATE millrace_api_token\nSET revoked_at = ?1\nWHERE id = ?2\n  AND revoked_at IS NULL",
    parameters: ["now","id"],
  },
  revoke_children: {
    text: "UPDATE millrace_api_token\nSET revoked_at = ?1\nWHERE parent IN (SELECT unhex(value) FROM json_each(?2))\n  AND revoked_at IS NULL\nRETURNING id",
    parameters: ["now","parents"],
  },
  put_type_setting: {
    text: "INSERT INTO millrace_type_setting (\n    type, lane, priority, max_attempts, timeout_ms, category, payload_version, payload_schema,\n    app_version, flags, hash, declared_at\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7,\n    ?8, ?9, ?10, ?11, ?12\n)\nON CONFLICT (type) DO UPDATE\nSET lane = ?2, priority = ?3, max_attempts = ?4, timeout_ms = ?5,\n    category = ?6, payload_version = ?7, payload_schema = ?8,\n    app_version = ?9, flags = ?10, hash = ?11, declared_at = ?12",
    parameters: ["type","lane","priority","max_attempts","timeout_ms","category","payload_version","payload_schema","app_version","flags","hash","now"],
  },
  put_type_override: {
    text: "INSERT INTO millrace_type_override (type, lane, priority, max_attempts, timeout_ms, by, set_at)\nSELECT type, ?1, ?2, ?3, ?4, ?5, ?6\nFROM millrace_type_setting\nWHERE type = ?7\nON CONFLICT (type) DO UPDATE\nSET lane = coalesce(excluded.lane, lane),\n    priority = coalesce(excluded.priority, priority),\n    max_attempts = coalesce(excluded.max_attempts, max_attempts),\n    timeout_ms = coalesce(excluded.timeout_ms, timeout_ms),\n    by = excluded.by, set_at = excluded.set_at",
    parameters: ["lane","priority","max_attempts","timeout_ms","by","now","type"],
  },
  delete_type_override: {
    text: "DELETE FROM millrace_type_override\nWHERE type = ?1",
    parameters: ["type"],
  },
  delete_service_uses: {
    text: "DELETE FROM millrace_service_use\nWHERE type = ?1",
    parameters: ["type"],
  },
  insert_service_use: {
    text: "INSERT INTO millrace_service_use (service, type)\nVALUES (?1, ?2)\nON CONFLICT DO NOTHING",
    parameters: ["service","type"],
  },
  put_worker_type: {
    text: "INSERT INTO millrace_worker_type (worker, type, hash)\nSELECT id, ?1, ?2\nFROM millrace_worker\nWHERE id = ?3\nON CONFLICT (worker, type) DO UPDATE SET hash = ?2",
    parameters: ["type","hash","worker"],
  },
  delete_worker_types: {
    text: "DELETE FROM millrace_worker_type\nWHERE worker = ?1",
    parameters: ["worker"],
  },
  list_types: {
    text: "SELECT setting.type, setting.lane, setting.priority, setting.max_attempts, setting.timeout_ms,\n       setting.category, setting.payload_version, setting.payload_schema, setting.app_version,\n       setting.flags, setting.declared_at,\n       (\n           SELECT json_group_array(service.text ORDER BY service.text)\n           FROM millrace_service_use AS uses\n           JOIN millrace_interned_name AS service ON service.id = uses.service\n           WHERE uses.type = setting.type\n       ) AS services,\n       (\n           SELECT count(*)\n           FROM millrace_worker AS worker\n           JOIN millrace_worker_type AS declared ON declared.worker = worker.id\n           WHERE declared.type = setting.type AND worker.until > ?1\n       ) AS workers,\n       (\n           SELECT count(DISTINCT declared.hash)\n           FROM millrace_worker AS worker\n           JOIN millrace_worker_type AS declared ON declared.worker = worker.id\n           WHERE declared.type = setting.type AND worker.until > ?1\n       ) AS hashes,\n       own.lane AS own_lane, own.priority AS own_priority, own.max_attempts AS own_attempts,\n       own.timeout_ms AS own_timeout_ms, own.by AS own_by, own.set_at AS own_set_at\nFROM millrace_type_setting AS setting\nJOIN millrace_interned_name AS name ON name.id = setting.type\nLEFT JOIN millrace_type_override AS own ON own.type = setting.type\nWHERE ?2 IS NULL OR setting.type = ?2\nORDER BY name.text\nLIMIT ?3",
    parameters: ["now","only","limit"],
  },
  register_worker: {
    text: "INSERT INTO millrace_worker (\n    id, process, host, pid, version, protocol, types, lanes, slots, lane_slots, tenant, app,\n    joined_at, until, renewed_at, beat_ms, beats, quiet\n)\nVALUES (\n    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,\n    ?12, ?13, ?14, ?13, ?15, 0, ?16\n)\nON CONFLICT (id) DO UPDATE\nSET until = ?14, renewed_at = ?13, beats = beats + 1, died_with = NULL",
    parameters: ["id","process","host","pid","version","protocol","types","lanes","slots","lane_slots","tenant","app","now","until","beat_ms","quiet"],
  },
  renew_worker: {
    text: "UPDATE millrace_worker\nSET until = ?1,\n    beats = beats + 1,\n    renewed_at = ?2,\n    memory_bytes = coalesce(?3, memory_bytes),\n    loop_lag_ms = coalesce(?4, loop_lag_ms),\n    died_with = NULL\nWHERE id = ?5\nRETURNING quiet,\n          stopping,\n          protocol < (SELECT CAST(value AS INTEGER) FROM millrace_meta WHERE name = 'min_protocol')\n              AS outdated",
    parameters: ["until","now","memory_bytes","loop_lag_ms","id"],
  },
  ended_runs: {
    text: "SELECT key, n\nFROM millrace_ended_run\nWHERE worker = ?1\nORDER BY key, n",
    parameters: ["worker"],
  },
  insert_ended_runs: {
    text: "INSERT INTO millrace_ended_run (worker, key, n)\nSELECT worker.id, run.value ->> 'key', run.value ->> 'n'\nFROM millrace_worker AS worker\nCROSS JOIN json_each(?1) AS run\nWHERE worker.id = ?2\nON CONFLICT (worker, key, n) DO NOTHING",
    parameters: ["runs","worker"],
  },
  delete_ended_runs: {
    text: "DELETE FROM millrace_ended_run\nWHERE worker = ?1\n  AND (\n      ?2 IS NULL\n      OR (key, n) IN (SELECT value ->> 'key', value ->> 'n' FROM json_each(?2))\n  )\nRETURNING key",
    parameters: ["worker","runs"],
  },
  expire_worker: {
    text: "UPDATE millrace_worker\nSET until = ?1\nWHERE id = ?2",
    parameters: ["now","id"],
  },
  delete_worker: {
    text: "DELETE FROM millrace_worker\nWHERE id = ?1",
    parameters: ["id"],
  },
  silent_workers: {
    text: "SELECT id, beats, until\nFROM millrace_worker\nWHERE until <= ?1\nORDER BY until, id\nLIMIT ?2",
    parameters: ["now","limit"],
  },
  worker_is_silent: {
    text: "SELECT process, died_with\nFROM millrace_worker\nWHERE id = ?1\n  AND beats = ?2\n  AND until <= ?3",
    parameters: ["id","beats","now"],
  },
  worker_lives: {
    text: "SELECT until > ?1 AS lives\nFROM millrace_worker\nWHERE id = ?2",
    parameters: ["now","id"],
  },
  leases_of_worker: {
    text: "SELECT number, secret, worker, keys, ns, ranks, starts, claimed_at\nFROM millrace_lease\nWHERE worker = ?1\nORDER BY number",
    parameters: ["worker"],
  },
  list_workers: {
    text: "SELECT id, host, pid, version, types, lanes, slots, lane_slots, tenant, app, joined_at, until,\n       renewed_at, beat_ms, beats, memory_bytes, loop_lag_ms, quiet, stopping\nFROM millrace_worker\nORDER BY joined_at, id\nLIMIT ?1",
    parameters: ["limit"],
  },
  holder_of_job: {
    text: "SELECT worker.id, worker.host, worker.pid, worker.until, worker.renewed_at, worker.beat_ms\nFROM (\n    SELECT lease.worker, lease.number\n    FROM millrace_lease AS lease\n    JOIN json_each(lease.keys) AS claimed\n    WHERE claimed.value = (SELECT key FROM millrace_job_name WHERE id = ?1)\n      AND NOT EXISTS (\n          SELECT 1\n          FROM millrace_attempt AS ended\n          WHERE ended.key = claimed.value AND ended.n = lease.ns ->> claimed.key\n      )\n    UNION ALL\n    SELECT ended.worker, 0\n    FROM millrace_ended_run AS ended\n    WHERE ended.key = (SELECT key FROM millrace_job_name WHERE id = ?1)\n) AS held\nJOIN millrace_worker AS worker ON worker.id = held.worker\nORDER BY held.number DESC, worker.until DESC, worker.id\nLIMIT 1",
    parameters: ["id"],
  },
  quiet_worker: {
    text: "UPDATE millrace_worker\nSET quiet = 1\nWHERE id = ?1",
    parameters: ["id"],
  },
  resume_worker: {
    text: "UPDATE millrace_worker\nSET quiet = 0\nWHERE id = ?1 AND quiet = 1 AND stopping = 0",
    parameters: ["id"],
  },
  is_stopping: {
    text: "SELECT stopping\nFROM millrace_worker\nWHERE id = ?1",
    parameters: ["id"],
  },
  stop_worker: {
    text: "UPDATE millrace_worker\nSET quiet = 1, stopping = 1\nWHERE id = ?1",
    parameters: ["id"],
  },
};
