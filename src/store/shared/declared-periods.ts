/**
 * The longest periods that workers have declared for the records that others rely on. Each worker
 * prunes by its own settings; for these records the longest declaration of the last days wins, so
 * that a worker without the setting of a program removes nothing that the program keeps.
 */
import type { Retention } from "../types/records.ts";

const DAY_MS = 86_400_000;
/** So long a declaration holds after the last worker has repeated it. */
const DECLARED_MS: number = 30 * DAY_MS;
/** How often a worker repeats its declaration. */
const REPEAT_MS = 3_600_000;

const KINDS = ["auditMs", "deadLetterMs", "idempotencyMs"] as const;

/** Periods, the longest first, and when a worker has declared each of them last. */
type Periods = readonly (readonly [ms: number, at: number])[];
type Declared = Readonly<Partial<Record<(typeof KINDS)[number], Periods>>>;

/** Shorter periods than these many longest ones are forgotten. */
const PERIODS_MAX = 8;

export interface LongestPeriods {
  readonly retention: Retention;
  /** What is to be stored; null: nothing has changed. */
  readonly changed: string | null;
}

export function longestPeriods(
  retention: Retention,
  stored: string | undefined,
  now: number,
): LongestPeriods {
  const before: Declared = stored === undefined ? {} : JSON.parse(stored);
  const after = Object.fromEntries(
    KINDS.map((kind) => [kind, declare(before[kind] ?? [], retention[kind], now)]),
  );
  const longest = Object.fromEntries(
    Object.entries(after).map(([kind, periods]) => [kind, longestOf(periods)]),
  );
  const text = JSON.stringify(after);
  return { retention: { ...retention, ...longest }, changed: text === stored ? null : text };
}

/** The period for idempotency keys of a caller that declares none; nothing is to be stored. */
export function longestKeyMs(ms: number, stored: string | undefined, now: number): number {
  const { idempotencyMs: known = [] }: Declared = stored === undefined ? {} : JSON.parse(stored);
  return longestOf([[ms, now], ...holdingOf(known, now)]);
}

/** A shorter period is kept beside longer ones: the period counts when those are over. */
function declare(known: Periods, ms: number, now: number): Periods {
  const holding = holdingOf(known, now);
  const own = holding.find(([period]) => period === ms);
  if (own !== undefined && now - own[1] < REPEAT_MS) return holding;
  return [...holding.filter(([period]) => period !== ms), [ms, now] as const]
    .toSorted(([one], [other]) => other - one)
    .slice(0, PERIODS_MAX);
}

function holdingOf(known: Periods, now: number): Periods {
  return known.filter(([, at]) => now - at < DECLARED_MS);
}

function longestOf(periods: Periods): number {
  return Math.max(...periods.map(([ms]) => ms));
}
