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

/** A period, and when a worker has declared it last. */
type Declared = Readonly<
  Partial<Record<(typeof KINDS)[number], readonly [ms: number, at: number]>>
>;

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
    KINDS.map((kind) => [kind, longer(before[kind], retention[kind], now)]),
  );
  const longest = Object.fromEntries(Object.entries(after).map(([kind, [ms]]) => [kind, ms]));
  const text = JSON.stringify(after);
  return { retention: { ...retention, ...longest }, changed: text === stored ? null : text };
}

function longer(
  known: readonly [number, number] | undefined,
  ms: number,
  now: number,
): readonly [number, number] {
  const [knownMs, at] = known ?? [-Infinity, -Infinity];
  const isOver = now - at >= DECLARED_MS;
  if (ms > knownMs || isOver) return [ms, now];
  if (ms === knownMs && now - at >= REPEAT_MS) return [ms, now];
  return [knownMs, at];
}
