/** Limits as both databases store them. */
import { MillraceError } from "../../../core/errors.ts";
import {
  nextTokenMs,
  type LimitId,
  type LimitState,
  type RateState,
} from "../../../core/control/permits.ts";
import type { LimitName, LimitRecord, StoredRule } from "../../types/limits.ts";
import { INSTALLATION_NAME, limitOwnerCodec, type NameKind } from "../codes.ts";

/** The name of the limit of the whole installation. */
export const INSTALLATION = 0;

interface StoredLimit {
  readonly id: number;
  readonly name: number;
  readonly cap: number | null;
  readonly rate_count: number | null;
  readonly rate_ms: number | null;
  readonly burst: number | null;
  readonly tokens: number;
  readonly refilled_at: number;
  readonly used: number;
  readonly owner: number;
  readonly by: string | null;
  readonly set_at: number;
}

export function limitState(row: StoredLimit): LimitState {
  const { cap, used, rate_count: count, rate_ms: perMs, burst, tokens } = row;
  if (count === null || perMs === null || burst === null) return { cap, used, rate: null };
  return { cap, used, rate: { count, perMs, burst, tokens, refilledAt: row.refilled_at } };
}

/** Null: the name of the limit is missing. */
export function limitRecord(
  row: StoredLimit,
  names: { name(id: number): { readonly kind: NameKind; readonly text: string } | undefined },
  now: number,
): LimitRecord | null {
  const of = limitName(row.name, names.name(row.name));
  if (of === null) return null;
  const { rate } = limitState(row);
  const { id, cap, used, by } = row;
  return {
    ...of,
    id,
    concurrency: cap,
    rate: rate === null ? null : { count: rate.count, perMs: rate.perMs, burst: rate.burst },
    used,
    isUsedUp: cap !== null && used >= cap,
    nextTokenMs: rate === null ? null : nextTokenMs(rate, now),
    waiting: null,
    owner: limitOwnerCodec.word(row.owner),
    by,
    setAt: row.set_at,
  };
}

/** The rate of a concurrency key. */
export interface StoredKeyRate {
  readonly name: string;
  readonly rate_count: number;
  readonly rate_ms: number;
  readonly burst: number;
  readonly tokens: number;
  readonly refilled_at: number;
}

export function keyRateState(row: StoredKeyRate): RateState {
  const { rate_count: count, rate_ms: perMs, burst, tokens, refilled_at: refilledAt } = row;
  return { count, perMs, burst, tokens, refilledAt };
}

export function keyRateRecord(
  row: StoredKeyRate & Pick<StoredLimit, "by" | "set_at"> & { readonly waiting: number },
  tenant: string,
  now: number,
): LimitRecord {
  const { count, perMs, burst } = keyRateState(row);
  return {
    kind: "key",
    name: row.name,
    tenant,
    id: 0,
    concurrency: null,
    rate: { count, perMs, burst },
    used: null,
    isUsedUp: false,
    nextTokenMs: nextTokenMs(keyRateState(row), now),
    waiting: row.waiting,
    owner: "operator",
    by: row.by,
    setAt: row.set_at,
  };
}

function limitName(
  id: number,
  name: { readonly kind: NameKind; readonly text: string } | undefined,
): LimitName | null {
  if (id === INSTALLATION) return { kind: "installation", name: INSTALLATION_NAME };
  if (name === undefined) return null;
  const { kind, text } = name;
  return kind === "type" || kind === "tenant" || kind === "service" ? { kind, name: text } : null;
}

/** The limits that apply to each type and tenant, and to all jobs. */
export function limitsByTarget(
  rows: readonly { readonly limit_id: LimitId; readonly target: number }[],
): ReadonlyMap<number, readonly LimitId[]> {
  const byTarget = new Map<number, LimitId[]>();
  for (const { limit_id: id, target } of rows) {
    const known = byTarget.get(target);
    if (known === undefined) byTarget.set(target, [id]);
    else known.push(id);
  }
  return byTarget;
}

export function byLimitName(left: LimitRecord, right: LimitRecord): number {
  const textOf = ({ kind, name, tenant = "" }: LimitRecord): string => `${kind} ${name} ${tenant}`;
  const [one, other] = [textOf(left), textOf(right)];
  return one < other ? -1 : 1;
}

/** The columns of a rule. */
export function ruleColumns({ concurrency, rate }: StoredRule): {
  readonly cap: number | null;
  readonly rate_count: number | null;
  readonly rate_ms: number | null;
  readonly burst: number | null;
} {
  return {
    cap: concurrency,
    rate_count: rate?.count ?? null,
    rate_ms: rate?.perMs ?? null,
    burst: rate?.burst ?? null,
  };
}

/** What the code of a type states, as text. Equal rules have equal texts. */
export function ruleText(rule: StoredRule | null): string | null {
  if (rule === null) return null;
  const { concurrency, rate } = rule;
  if (rate === null) return JSON.stringify({ concurrency, rate });
  const { count, perMs, burst } = rate;
  return JSON.stringify({ concurrency, rate: { count, perMs, burst } });
}

/** The columns of a limit that the code of a type states. */
export function statedColumns(code_rule: string): ReturnType<typeof ruleColumns> & {
  readonly code_rule: string;
  readonly owner: number;
  readonly by: null;
} {
  const rule: StoredRule = JSON.parse(code_rule);
  return { ...ruleColumns(rule), code_rule, owner: limitOwnerCodec.code.code, by: null };
}

export function tooManyLimits(most: number): MillraceError {
  return new MillraceError(
    "OPTION_INVALID",
    `there are ${most} limits already: remove one that is not needed, because each claim reads all`,
  );
}

export function tooManyKeyRates(most: number): MillraceError {
  return new MillraceError(
    "OPTION_INVALID",
    `${most} keys have a rate already: remove one that is not needed`,
  );
}
