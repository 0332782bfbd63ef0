/** setLimit, removeLimit, limits, declareLimits and keepPermits. */
import { writeAudits } from "../audit/write.ts";
import { NO_ACT, type Act } from "../../types/audit.ts";
import { limitChanged, ruleOfRow } from "../../shared/audit/drafts.ts";
import { MillraceError } from "../../../core/errors.ts";
import type { PermitCount } from "../../../core/control/permits.ts";
import { limitOwnerCodec } from "../../shared/codes.ts";
import {
  byLimitName,
  INSTALLATION,
  limitRecord,
  ruleColumns,
  ruleText,
  statedColumns,
  tooManyLimits,
} from "../../shared/control/limit-rows.ts";
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
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";
import { keyRates, removeKeyRate, setKeyRate } from "./key-rates.ts";

const { operator: OPERATOR } = limitOwnerCodec.code;

export async function setLimit(
  session: Session,
  limit: LimitName,
  rule: StoredRule,
  by: string | null,
  reason: string | null = null,
): Promise<void> {
  const act = { by, reason };
  if (limit.kind === "key") {
    const tenant = await nameOf(session, { kind: "tenant", name: limit.tenant ?? "" });
    if (rule.rate !== null) await setKeyRate(session, limit, { tenant, rate: rule.rate, act });
    return;
  }
  const name = await nameOf(session, limit);
  await changing(session, async (transaction, isRepeat) => {
    const before = await transaction.get("lock_limit", { name });
    if (before === undefined) await insistOnRoom(transaction);
    const code_rule = before?.code_rule ?? null;
    const columns = { ...ruleColumns(rule), code_rule, owner: OPERATOR, by };
    await transaction.run("put_limit", { name, ...columns });
    const rules = { before: ruleOfRow(before), after: rule };
    await writeAudits(transaction, [limitChanged(limit, act, rules)], isRepeat);
  });
}

async function nameOf({ names }: Session, { kind, name }: LimitName): Promise<number> {
  if (kind === "installation" || kind === "key") return INSTALLATION;
  await names.intern([{ kind, text: name }]);
  const id = names.known(kind, name);
  if (id !== undefined) return id;
  throw new MillraceError("STORE_REFUSED", `the database refused the name of a ${kind}`);
}

async function insistOnRoom(transaction: StoreTransaction): Promise<void> {
  const count = (await transaction.get("count_limits", {}))?.limits ?? 0;
  if (count >= LIMITS_MAX) throw tooManyLimits(LIMITS_MAX);
}

/** Jobs that a limit has blocked may be claimable after the change. */
async function changing<Answer>(
  session: Session,
  work: (transaction: StoreTransaction, isRepeat: boolean) => Promise<Answer>,
): Promise<Answer> {
  const answer = await repeating(session.dice, (isRepeat) =>
    session.transaction((transaction) => work(transaction, isRepeat)),
  );
  session.wakeForReturned("work");
  return answer;
}

export async function removeLimit(
  session: Session,
  limit: LimitName,
  act: Act = NO_ACT,
): Promise<boolean> {
  const { kind, name: text, tenant: of = "" } = limit;
  if (kind === "key") {
    const tenant = await session.names.id("tenant", of);
    return tenant !== undefined && removeKeyRate(session, limit, { tenant, act });
  }
  const name = kind === "installation" ? INSTALLATION : await session.names.id(kind, text);
  if (name === undefined) return false;
  return changing(session, async (transaction) => {
    const row = await transaction.get("lock_limit", { name });
    if (row?.owner !== OPERATOR) return false;
    await removeOrRestore(transaction, row);
    const rules = { before: ruleOfRow(row), after: null };
    await writeAudits(transaction, [limitChanged(limit, act, rules)]);
    return true;
  });
}

/** The limit of the code counts again, if there is one. */
async function removeOrRestore(
  transaction: StoreTransaction,
  { id, name, code_rule }: Pick<LimitRow, "id" | "name" | "code_rule">,
): Promise<void> {
  if (code_rule === null) await transaction.run("delete_limit", { id });
  else await transaction.run("put_limit", { name, ...statedColumns(code_rule) });
}

export async function limits(session: Session, job?: KeyedJob): Promise<readonly LimitRecord[]> {
  const { read, names } = session;
  const rows = await read.all("all_limits", {});
  await names.learn(rows.map(({ name }) => name).filter((name) => name !== INSTALLATION));
  const records = rows.flatMap((row) => limitRecord(row, names, row.now) ?? []);
  return [...records, ...(await keyRates(session, job))].toSorted(byLimitName);
}

export async function declareLimits(
  session: Session,
  declared: readonly DeclaredLimit[],
): Promise<void> {
  const known = new Map((await session.read.all("all_limits", {})).map((row) => [row.name, row]));
  for (const { type, rule } of declared) {
    const name = await session.names.id("type", type);
    const stated = name === undefined ? null : (known.get(name)?.code_rule ?? null);
    if (stated !== ruleText(rule)) await declareLimit(session, type, ruleText(rule));
  }
}

async function declareLimit(
  session: Session,
  type: string,
  code_rule: string | null,
): Promise<void> {
  const name = await nameOf(session, { kind: "type", name: type });
  await changing(session, async (transaction) => {
    const row = await transaction.get("lock_limit", { name });
    if (row?.owner === OPERATOR) {
      await transaction.run("set_code_rule", { id: row.id, code_rule });
    } else if (code_rule !== null) {
      if (row === undefined) await insistOnRoom(transaction);
      await transaction.run("put_limit", { name, ...statedColumns(code_rule) });
    } else if (row !== undefined) {
      await removeOrRestore(transaction, { ...row, code_rule });
    }
  });
}

export async function keepPermits(
  session: Session,
  worker: WorkerId,
  permits: readonly PermitCount[],
): Promise<boolean> {
  if (session.state.lostClaims.has(worker)) return false;
  const freed = await repeating(session.dice, () =>
    session.transaction((transaction) => keep(transaction, uuidOf(worker), permits)),
  );
  if (freed > 0) session.wakeForReturned("work");
  return true;
}

/** How many permits are free of limits that were used up: only their jobs may have waited. */
async function keep(
  transaction: StoreTransaction,
  worker: string,
  permits: readonly PermitCount[],
): Promise<number> {
  const kept = {
    worker,
    limits: list(permits.map(({ limit }) => limit)),
    counts: list(permits.map(({ count }) => count)),
  };
  await transaction.all("lock_permits", kept);
  return (await transaction.get("keep_permits", kept))?.freed ?? 0;
}

/** Locks the limits of which a worker holds permits. The row of the worker is locked. */
export async function lockPermits(transaction: StoreTransaction, worker: string): Promise<void> {
  await transaction.all("lock_permits", { worker, limits: list([]), counts: list([]) });
}

/** A worker is removed: its permits are free. */
export async function dropPermits(transaction: StoreTransaction, worker: string): Promise<void> {
  if ((await keep(transaction, worker, [])) > 0) transaction.outbox.wakeForReturned();
}
