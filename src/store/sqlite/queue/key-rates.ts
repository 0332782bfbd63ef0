/** How many jobs with a concurrency key may start in a period. */
import { nextTokenMs, tokensAt } from "../../../core/control/permits.ts";
import {
  keyRateRecord,
  keyRateState,
  tooManyKeyRates,
  type StoredKeyRate,
} from "../../shared/control/limit-rows.ts";
import {
  KEY_RATES_MAX,
  KEY_WAITING_MAX,
  type KeyedJob,
  type LimitRecord,
  type StoredRule,
} from "../../types/limits.ts";
import type { LockRow, QueryRows } from "../database/queries.gen.ts";
import type { Session } from "../database/session.ts";
import { unblockNext } from "../runs/locks.ts";

/** A concurrency key. */
interface RatedKey {
  readonly name: string;
  readonly tenant: string;
}

/** Answers the rate before. */
export function setKeyRate(
  session: Session,
  { name, tenant: text }: RatedKey,
  rate: NonNullable<StoredRule["rate"]>,
  by: string | null,
): StoredKeyRate | undefined {
  const { sql, names, clock } = session;
  const tenant = names.id("tenant", text);
  const known = sql.get("key_rate", { tenant, name });
  const count = sql.get("count_key_rates", {})?.rates ?? 0;
  if (known === undefined && count >= KEY_RATES_MAX) throw tooManyKeyRates(KEY_RATES_MAX);
  const { count: rate_count, perMs: rate_ms, burst } = rate;
  sql.run("put_key_rate", { tenant, name, rate_count, rate_ms, burst, by, now: clock.now() });
  freeSpent(session, { tenant, name });
  return known;
}

/** Answers what was removed. */
export function removeKeyRate(
  session: Session,
  { name, tenant: text }: RatedKey,
): StoredKeyRate | undefined {
  const { sql, names } = session;
  const tenant = names.find("tenant", text);
  const known = tenant === undefined ? undefined : sql.get("key_rate", { tenant, name });
  if (tenant === undefined || known === undefined) return undefined;
  sql.run("delete_key_rate", { tenant, name });
  freeSpent(session, { tenant, name });
  return known;
}

/** With a job, the rate of its key, if there is one. */
export function keyRates(session: Session, job?: KeyedJob): readonly LimitRecord[] {
  const { names, clock } = session;
  return keyRateRows(session, job).map((row) =>
    keyRateRecord(row, names.text(row.tenant), clock.now()),
  );
}

function keyRateRows(
  { sql, names }: Session,
  job?: KeyedJob,
): readonly QueryRows["all_key_rates"][] {
  const waiting = KEY_WAITING_MAX;
  if (job === undefined) return sql.all("all_key_rates", { waiting });
  const { concurrencyKey: name } = job;
  const tenant = names.find("tenant", job.tenant);
  if (name === null || tenant === undefined) return [];
  return sql.all("find_key_rate", { tenant, name, waiting });
}

interface LockedJob {
  readonly tenant: number;
  readonly concurrency: string | null;
}

/**
 * Takes a token for each of these jobs whose key has a rate, and answers the jobs that may start.
 * The lock of a key without a token is taken by no run, so that claims skip its other jobs.
 */
export function takeKeyTokens<Job extends LockedJob>(
  session: Session,
  jobs: readonly Job[],
): readonly Job[] {
  const { sql } = session;
  const isKeyed = jobs.some(({ concurrency }) => concurrency !== null);
  if (!isKeyed || sql.get("any_key_rate", {}) === undefined) return jobs;
  return jobs.filter(
    ({ tenant, concurrency: name }) => name === null || takeToken(session, { tenant, name }),
  );
}

function takeToken({ sql, clock, outbox }: Session, key: LockRow): boolean {
  const row = sql.get("key_rate", key);
  if (row === undefined) return true;
  const now = clock.now();
  const rate = keyRateState(row);
  const tokens = tokensAt(rate, now);
  if (tokens >= 1) {
    sql.run("take_key_token", { ...key, tokens: tokens - 1, now });
    return true;
  }
  sql.run("lock_spent_key", key);
  sql.run("hold_key", { ...key, until: now + nextTokenMs(rate, now) });
  // The promoters of all workers find out when the key has a token.
  outbox.wake();
  return false;
}

/** Releases the locks of keys that have a token again. */
export function freeRefilledKeys(session: Session, limit: number): void {
  const { sql, clock } = session;
  for (const key of sql.all("refilled_keys", { now: clock.now(), limit })) {
    sql.run("hold_key", { ...key, until: null });
    freeSpent(session, key);
  }
}

export function hasRefilledKeys({ sql, clock }: Session): boolean {
  return sql.get("refilled_keys", { now: clock.now(), limit: 1 }) !== undefined;
}

function freeSpent(session: Session, { tenant, name }: LockRow): void {
  unblockNext(session, session.sql.all("free_spent_key", { tenant, name }));
}
