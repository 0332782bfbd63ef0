/** The outcome of a call, as text that can be compared and searched. */
import { MillraceError } from "../../../src/core/errors.ts";
import { CANARY, type Probe, type TenantScene } from "./scene.ts";

/** What a call asked for is masked: the answer may repeat it. */
export async function outcomeOf(call: () => unknown, probe: Probe): Promise<string> {
  return masked(await settled(call), probe);
}

async function settled(call: () => unknown): Promise<unknown> {
  try {
    return { value: await call() };
  } catch (error) {
    if (!(error instanceof Error)) return { error };
    const { name, message, cause } = error;
    const said = { name, message, cause: String(cause) };
    if (!(error instanceof MillraceError)) return said;
    const { code, details, hint } = error;
    return { ...said, code, details, hint };
  }
}

function masked(value: unknown, { id, tenant, text }: Probe): string {
  return [id, tenant, text].reduce(
    (json, each) => json.replaceAll(each, "…"),
    JSON.stringify(value, withoutNow) ?? "undefined",
  );
}

/** What differs between two calls because time has passed between them. */
const OF_NOW: ReadonlySet<string> = new Set(["checkedAt", "oldestQueuedMs"]);

function withoutNow(name: string, value: unknown): unknown {
  return OF_NOW.has(name) && value !== null ? "…" : value;
}

/** What of the other tenant an outcome contains. */
export function leaksIn(outcome: string, { other }: TenantScene): readonly string[] {
  return [CANARY, ...Object.values(other)].filter((secret: string) => outcome.includes(secret));
}
