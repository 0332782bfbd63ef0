/** setLimit, removeLimit, limits, declareLimits and keepPermits. */
import { MillraceError } from "../../../core/errors.ts";
import type { PermitCount } from "../../../core/control/permits.ts";
import { limitOwnerCodec } from "../../shared/codes.ts";
import {
  byLimitName,
  INSTALLATION,
  limitRecord,
  ruleColumns,
  tooManyLimits,
} from "../../shared/control/limit-rows.ts";
import type { WorkerId } from "../../types/jobs-and-runs.ts";
import {
  LIMITS_MAX,
  type DeclaredLimit,
  type LimitName,
  type LimitRecord,
  type StoredRule,
} from "../../types/limits.ts";
import type { LimitRow } from "../database/queries.gen.ts";
import { repeating } from "../database/retry.ts";
import type { Session, StoreTransaction } from "../database/session.ts";
import { list, uuidOf } from "../database/values.ts";
import { keyRates, removeKeyRate, setKeyRate } from "./key-rates.ts";

const { code: CODE, operator: OPERATOR } = limitOwnerCodec.code;

export async function setLimit(
  session: Session,
  limit: LimitName,
  rule: StoredRule,
  by: string | null,
): Promise<void> {
  if (limit.kind === "key") {
    const tenant = await nameOf(session, { kind: "tenant", name: limit.tenant ?? "" });
    if (rule.rate !== null) await setKeyRate(session, { name: limit.name, tenant }, rule.rate, by);
    return;
  }
  const name = await nameOf(session, limit);
  await changing(session, async (transaction) => {
    const before = await transaction.get("lock_limit", { name });
    if (before === undefined) await insistOnRoom(transaction);
    const code_cap = before?.code_cap ?? null;
    await transaction.run("put_limit", {
      name,
      ...ruleColumns(rule),
      code_cap,
      owner: OPERATOR,
      by,
    });
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
  work: (transaction: StoreTransaction) => Promise<Answer>,
): Promise<Answer> {
  const answer = await repeating(session.dice, () => session.transaction(work));
  session.wakeForReturned("work");
  return answer;
}

export async function removeLimit(
  session: Session,
  { kind, name: text, tenant: of = "" }: LimitName,
): Promise<boolean> {
  if (kind === "key") {
    const tenant = await session.names.id("tenant", of);
    return tenant !== undefined && removeKeyRate(session, { name: text, tenant });
  }
  const name = kind === "installation" ? INSTALLATION : await session.names.id(kind, text);
  if (name === undefined) return false;
  return changing(session, async (transaction) => {
    const row = await transaction.get("lock_limit", { name });
    if (row?.owner !== OPERATOR) return false;
    await removeOrRestore(transaction, row);
    return true;
  });
}

/** The limit of the code counts again, if there is one. */
async function removeOrRestore(
  transaction: StoreTransaction,
  { id, name, code_cap }: Pick<LimitRow, "id" | "name" | "code_cap">,
): Promise<void> {
  if (code_cap === null) await transaction.run("delete_limit", { id });
  else await putCode(transaction, name, code_cap);
}

async function putCode(
  transaction: StoreTransaction,
  name: number,
  code_cap: number,
): Promise<void> {
  const rule = ruleColumns({ concurrency: code_cap, rate: null });
  await transaction.run("put_limit", { name, ...rule, code_cap, owner: CODE, by: null });
}

export async function limits(session: Session): Promise<readonly LimitRecord[]> {
  const { read, names } = session;
  const rows = await read.all("all_limits", {});
  await names.learn(rows.map(({ name }) => name).filter((name) => name !== INSTALLATION));
  const records = rows.flatMap((row) => limitRecord(row, names, row.now) ?? []);
  return [...records, ...(await keyRates(session))].toSorted(byLimitName);
}

export async function declareLimits(
  session: Session,
  declared: readonly DeclaredLimit[],
): Promise<void> {
  const known = new Map((await session.read.all("all_limits", {})).map((row) => [row.name, row]));
  for (const { type, concurrency } of declared) {
    const name = await session.names.id("type", type);
    const stated = name === undefined ? null : (known.get(name)?.code_cap ?? null);
    if (stated !== concurrency) await declareLimit(session, type, concurrency);
  }
}

async function declareLimit(
  session: Session,
  type: string,
  code_cap: number | null,
): Promise<void> {
  const name = await nameOf(session, { kind: "type", name: type });
  await changing(session, async (transaction) => {
    const row = await transaction.get("lock_limit", { name });
    if (row?.owner === OPERATOR) {
      await transaction.run("set_code_cap", { id: row.id, code_cap });
    } else if (code_cap !== null) {
      if (row === undefined) await insistOnRoom(transaction);
      await putCode(transaction, name, code_cap);
    } else if (row !== undefined) {
      await removeOrRestore(transaction, { ...row, code_cap });
    }
  });
}

export async function keepPermits(
  session: Session,
  worker: WorkerId,
  permits: readonly PermitCount[],
): Promise<boolean> {
  if (session.state.lostClaims.has(worker)) return false;
  const returned = await repeating(session.dice, () =>
    session.transaction((transaction) => keep(transaction, uuidOf(worker), permits)),
  );
  if (returned > 0) session.wakeForReturned("work");
  return true;
}

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
  return (await transaction.get("keep_permits", kept))?.returned ?? 0;
}

/** Locks the limits of which a worker holds permits. The row of the worker is locked. */
export async function lockPermits(transaction: StoreTransaction, worker: string): Promise<void> {
  await transaction.all("lock_permits", { worker, limits: list([]), counts: list([]) });
}

/** A worker is removed: its permits are free. */
export async function dropPermits(transaction: StoreTransaction, worker: string): Promise<void> {
  if ((await keep(transaction, worker, [])) > 0) transaction.outbox.wakeForReturned();
}
