/** setLimit, removeLimit, limits, declareLimits and keepPermits. */
import { idBytes } from "../../../core/ids.ts";
import type { PermitCount } from "../../../core/control/permits.ts";
import { limitGate, limitOwnerCodec } from "../../shared/codes.ts";
import {
  byLimitName,
  INSTALLATION,
  limitRecord,
  ruleColumns,
  ruleText,
  statedColumns,
  tooManyLimits,
} from "../../shared/control/limit-rows.ts";
import { limitChanged, ruleOfRow } from "../../shared/audit/drafts.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import type { WorkerId } from "../../types/jobs-and-runs.ts";
import {
  LIMITS_MAX,
  type DeclaredLimit,
  type KeyedJob,
  type LimitName,
  type LimitRecord,
  type StoredRule,
} from "../../types/limits.ts";
import type { LimitRow } from "../database/queries.gen.ts";
import { writeAudits } from "../audit/write.ts";
import type { Session } from "../database/session.ts";
import { hasLostClaims } from "../runs/claim.ts";
import { keyRates, removeKeyRate, setKeyRate } from "./key-rates.ts";

const { operator: OPERATOR } = limitOwnerCodec.code;

export function setLimit(
  session: Session,
  limit: LimitName,
  rule: StoredRule,
  by: string | null,
  reason: string | null = null,
): void {
  const { kind, name, tenant } = limit;
  const act = { by, reason };
  if (kind === "key") {
    if (tenant === undefined || rule.rate === null) return;
    const known = setKeyRate(session, { name, tenant }, rule.rate, by);
    const rules = { before: ruleOfRow(known), after: rule };
    writeAudits(session, [limitChanged(limit, act, rules)]);
    return;
  }
  const id = kind === "installation" ? INSTALLATION : session.names.id(kind, name);
  const before = session.sql.get("limit_of_name", { name: id });
  const code_rule = before?.code_rule ?? null;
  put(session, id, { ...ruleColumns(rule), code_rule, owner: OPERATOR, by });
  const rules = { before: ruleOfRow(before), after: rule };
  writeAudits(session, [limitChanged(limit, act, rules)]);
}

type Columns = ReturnType<typeof ruleColumns> & Pick<LimitRow, "code_rule" | "owner" | "by">;

function put(session: Session, name: number, columns: Columns): void {
  const { sql, clock } = session;
  if (sql.get("limit_of_name", { name }) === undefined) {
    if (sql.all("all_limits", {}).length >= LIMITS_MAX) throw tooManyLimits(LIMITS_MAX);
  }
  sql.run("put_limit", { name, ...columns, now: clock.now() });
  const id = sql.get("limit_of_name", { name })?.id ?? 0;
  const targets = sql.all("targets_of_limit", { id });
  for (const { target } of targets) openOrKeepQueue(session, target);
  changed(session);
}

/**
 * The jobs in the queue of a type or tenant go back to `ready` if no limit applies to them any
 * more. Otherwise they wait for the limits that apply now.
 */
export function openOrKeepQueue({ sql, clock }: Session, target: number): void {
  const gate = limitGate(target);
  if (sql.get("any_limited", { gate }) === undefined) return;
  if (sql.get("target_is_limited", { target }) === undefined) sql.run("open_limit_gate", { gate });
  else sql.run("delete_gate", { name: gate, now: clock.now() });
}

/** Jobs that a limit has blocked may be claimable now. */
function changed({ outbox, state }: Session): void {
  outbox.wake();
  state.claimCursors.forget();
}

export function removeLimit(session: Session, limit: LimitName, act: Act = NO_ACT): boolean {
  const removed = removeSetLimit(session, limit);
  const before = ruleOfRow(removed);
  if (before !== null) writeAudits(session, [limitChanged(limit, act, { before, after: null })]);
  return before !== null;
}

/** What an operator had set. */
function removeSetLimit(
  session: Session,
  { kind, name, tenant }: LimitName,
): Parameters<typeof ruleOfRow>[0] {
  if (kind === "key") {
    return tenant === undefined ? undefined : removeKeyRate(session, { name, tenant });
  }
  const { sql, names } = session;
  const id = kind === "installation" ? INSTALLATION : names.find(kind, name);
  const row = id === undefined ? undefined : sql.get("limit_of_name", { name: id });
  if (row?.owner !== OPERATOR) return undefined;
  removeOrRestore(session, row);
  return row;
}

/** The limit of the code counts again, if there is one. */
function removeOrRestore(session: Session, row: LimitRow): void {
  const { sql } = session;
  const { id, name, code_rule } = row;
  if (code_rule !== null) {
    put(session, name, statedColumns(code_rule));
    return;
  }
  const targets = sql.all("targets_of_limit", { id });
  sql.run("delete_limit", { id });
  sql.run("delete_permits_of_limit", { id });
  for (const { target } of targets) openOrKeepQueue(session, target);
  changed(session);
}

export function limits(session: Session, job?: KeyedJob): LimitRecord[] {
  const { sql, names, clock } = session;
  const stored = sql.all("all_limits", {});
  const records = stored.flatMap((row) => limitRecord(row, names, clock.now()) ?? []);
  return [...records, ...keyRates(session, job)].toSorted(byLimitName);
}

export function declareLimits(session: Session, declared: readonly DeclaredLimit[]): void {
  for (const { type, rule } of declared) declareLimit(session, type, ruleText(rule));
}

function declareLimit(session: Session, type: string, code_rule: string | null): void {
  const { sql, names } = session;
  const known = names.find("type", type);
  if (known === undefined && code_rule === null) return;
  const name = known ?? names.id("type", type);
  const row = sql.get("limit_of_name", { name });
  if ((row?.code_rule ?? null) === code_rule) return;
  if (row?.owner === OPERATOR) sql.run("set_code_rule", { id: row.id, code_rule });
  else if (code_rule !== null) put(session, name, statedColumns(code_rule));
  else if (row !== undefined) removeOrRestore(session, { ...row, code_rule });
}

export function keepPermits(
  session: Session,
  worker: WorkerId,
  permits: readonly PermitCount[],
): boolean {
  if (hasLostClaims(session, { worker })) return false;
  const { sql } = session;
  const id = idBytes(worker);
  const kept = new Map(permits.map(({ limit, count }) => [limit, count]));
  let isRoomNew = false;
  for (const { limit_id, held, full } of sql.all("permits_of_worker", { worker: id })) {
    const count = Math.max(0, Math.min(held, kept.get(limit_id) ?? 0));
    if (count === held) continue;
    if (count === 0) sql.run("delete_permit", { worker: id, limit_id });
    else sql.run("set_permit", { worker: id, limit_id, held: count });
    sql.run("add_used", { id: limit_id, count: count - held });
    isRoomNew ||= full === 1;
  }
  // Jobs of other limits have not waited.
  if (isRoomNew) changed(session);
  return true;
}

/** A worker is removed: its permits are free. */
export function dropPermits(session: Session, worker: Uint8Array): void {
  const { sql } = session;
  const held = sql.all("permits_of_worker", { worker });
  if (held.length === 0) return;
  for (const permit of held) sql.run("add_used", { id: permit.limit_id, count: -permit.held });
  sql.run("delete_permits", { worker });
  if (held.some(({ full }) => full === 1)) changed(session);
}
