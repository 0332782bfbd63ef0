/** Settings as words, and the checks of what a person types. Pure. */
import type { PayloadRule } from "../../api/operations.gen.ts";
import { bytesText, durationText } from "../../lib/format.ts";

/** `deadLetters` is "Dead letters". */
/** The periods as rows; final jobs have one for each state. */
export function retentionRows(
  retention: Readonly<Record<string, number | Readonly<Record<string, number>>>>,
): readonly (readonly [string, number])[] {
  return Object.entries(retention).flatMap(([name, period]) =>
    typeof period === "number"
      ? [[name.replace(/Ms$/, ""), period] as const]
      : Object.entries(period),
  );
}

export function retentionName(name: string): string {
  const text = name
    .replaceAll(/([A-Z])/g, " $1")
    .replaceAll("_", " ")
    .toLowerCase();
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}

export function retentionWords(ms: number | null): string {
  return ms === null ? "kept for ever" : `removed ${durationText(ms)} after the end`;
}

/** A template may lead to http and https alone: it becomes a link on this page. */
export function isSafeTemplate(template: string): boolean {
  return /^https?:\/\//i.test(template);
}

/** What a rule asks of payloads, one sentence each. */
export function ruleWords(rule: PayloadRule): readonly string[] {
  const required = Object.entries(rule.required ?? {}).map(([name, kind]) => `${name} (${kind})`);
  const sensitive = Object.entries(rule.sensitive ?? {}).map(
    ([kind, what]) => `${kind.replaceAll("_", " ")}: ${what}`,
  );
  return [
    required.length === 0 ? "" : `needs ${required.join(", ")}`,
    rule.softBytes === undefined ? "" : `warns above ${bytesText(rule.softBytes)}`,
    rule.hardBytes === undefined ? "" : `refuses above ${bytesText(rule.hardBytes)}`,
    (rule.forbidden ?? []).length === 0 ? "" : `forbids ${(rule.forbidden ?? []).join(", ")}`,
    sensitive.length === 0 ? "" : sensitive.join(", "),
    rule.strict === true ? "strict" : "",
  ].filter((each) => each !== "");
}

/** A duration as the API wants it, such as `30d`. */
export function isDuration(text: string): boolean {
  return /^\d+(?:\.\d+)?(?:ms|s|m|h|d)$/.test(text);
}
