/** Limits between what a person types and what the API takes. Pure. */
import type { Limit, LimitRule } from "../../api/operations.gen.ts";

export interface TypedRule {
  readonly concurrency: string;
  readonly limit: string;
  readonly per: string;
  readonly burst: string;
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s` in milliseconds; null: no length of time. */
export function lengthOf(text: string): number | null {
  const [, digits, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*$/.exec(text) ?? [];
  if (digits === undefined) return null;
  const size = Object.entries(UNITS).find(([name]) => name === unit)?.[1] ?? 1;
  return Math.round(Number(digits) * size);
}

/** The shortest text of a length: 90000 is `90s`. */
export function lengthText(ms: number): string {
  const [unit, size] = Object.entries(UNITS).findLast(([, each]) => ms % each === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

export function typedRule(limit: Pick<Limit, "concurrency" | "rate"> | null): TypedRule {
  const { concurrency = null, rate = null } = limit ?? {};
  return {
    concurrency: concurrency === null ? "" : String(concurrency),
    limit: rate === null ? "" : String(rate.limit),
    per: rate === null ? "1m" : lengthText(rate.perMs),
    burst: rate === null || rate.burst === rate.limit ? "" : String(rate.burst),
  };
}

/** Throws a sentence for the person if a number is none. */
export function ruleOf({ concurrency, limit, per, burst }: TypedRule): Omit<LimitRule, "reason"> {
  const perMs = lengthOf(per);
  if (limit.trim() !== "" && perMs === null) {
    throw new Error(`"${per}" is no length of time: write 1s, 1m or 1h.`);
  }
  return {
    ...(concurrency.trim() === "" ? {} : { concurrency: numberOf(concurrency) }),
    ...(limit.trim() === ""
      ? {}
      : {
          rate: {
            limit: numberOf(limit),
            perMs: perMs ?? 0,
            ...(burst.trim() === "" ? {} : { burst: numberOf(burst) }),
          },
        }),
  };
}

export function limitName({ kind, name, tenant }: Limit): string {
  const of = kind === "installation" ? "the installation" : `${kind} ${name}`;
  return tenant === null || kind !== "key" ? of : `${of} of tenant ${tenant}`;
}

/** The query of a limit: only a concurrency key belongs to a tenant. */
export function tenantOf({ kind, tenant }: Limit): { readonly tenant?: string } {
  return kind === "key" && tenant !== null ? { tenant } : {};
}

function numberOf(text: string): number {
  const value = Number(text.trim());
  if (!Number.isSafeInteger(value)) throw new Error(`"${text}" is no whole number.`);
  return value;
}
