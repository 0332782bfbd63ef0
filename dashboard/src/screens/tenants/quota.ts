/** The form of a quota: from what a person types to the rule of the API, and back. Pure. */
import type { QuotaRule, TenantDetails } from "../../api/operations.gen.ts";
import { bytesText, durationText, numberText } from "../../lib/format.ts";

export interface QuotaForm {
  readonly waiting: string;
  readonly limit: string;
  readonly perMs: string;
  readonly burst: string;
  readonly payloadBytes: string;
}

export type QuotaParts = Omit<QuotaRule, "reason">;
type Quota = Omit<NonNullable<TenantDetails["quota"]>, "waitingNow" | "tokens">;

export const PERIODS = [
  ["1000", "second"],
  ["60000", "minute"],
  ["3600000", "hour"],
  ["86400000", "day"],
] as const;

export function formOf(quota: Quota | null): QuotaForm {
  const text = (value: number | null | undefined): string => (value ?? "").toString();
  return {
    waiting: text(quota?.waiting),
    limit: text(quota?.rate?.limit),
    perMs: text(quota?.rate?.perMs ?? 60_000),
    burst: text(quota?.rate?.burst),
    payloadBytes: text(quota?.payloadBytes),
  };
}

/** The rule, or why the form is none. */
export function quotaOf(
  form: QuotaForm,
): { readonly rule: QuotaParts } | { readonly problem: string } {
  const names = ["waiting", "limit", "burst", "payloadBytes"] as const;
  const wrong = names.find((name) => form[name].trim() !== "" && countOf(form[name]) === null);
  if (wrong !== undefined) return { problem: `“${form[wrong]}” is no whole number above 0.` };
  const [waiting, limit, burst, payloadBytes] = names.map((name) => countOf(form[name]));
  if (typeof burst === "number" && limit === null) {
    return { problem: "A burst needs a number of jobs in a period." };
  }
  const rate =
    typeof limit !== "number"
      ? {}
      : {
          rate: {
            limit,
            perMs: Number(form.perMs),
            ...(typeof burst === "number" ? { burst } : {}),
          },
        };
  const rule = {
    ...(typeof waiting === "number" ? { waiting } : {}),
    ...rate,
    ...(typeof payloadBytes === "number" ? { payloadBytes } : {}),
  };
  if (Object.keys(rule).length === 0) return { problem: "Write at least one limit." };
  return { rule };
}

function countOf(text: string): number | null {
  const digits = text.replaceAll(/[\s,_]/g, "");
  if (!/^\d+$/.test(digits)) return null;
  const count = Number(digits);
  return count > 0 && Number.isSafeInteger(count) ? count : null;
}

/** What a quota allows, in words. */
export function quotaWords({
  waiting,
  rate,
  payloadBytes,
}: Omit<Quota, "tenant" | "reason" | "setBy" | "setAt">): readonly string[] {
  return [
    waiting === null ? "" : `${numberText(waiting)} waiting`,
    rate === null ? "" : rateWords(rate),
    payloadBytes === null ? "" : `payloads up to ${bytesText(payloadBytes)}`,
  ].filter((each) => each !== "");
}

export function rateWords(rate: NonNullable<Quota["rate"]>): string {
  const { limit, perMs, burst } = rate;
  const [, named] = PERIODS.find(([ms]) => Number(ms) === perMs) ?? [];
  const atOnce = burst === limit ? "" : `, ${numberText(burst)} at once`;
  return `${numberText(limit)} per ${named ?? durationText(perMs)}${atOnce}`;
}
