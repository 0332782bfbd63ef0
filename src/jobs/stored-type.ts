/** The definition of a type whose code this process does not have. */
import { defineJob, typed } from "../api/define.ts";
import type { AnyContract } from "../api/definition.ts";
import type { TypeView } from "../api/services/types.ts";

/** Any payload is accepted. The settings are those that a worker has declared, if one has. */
export function bareContract(
  type: string,
  payload: unknown,
  declared: Pick<TypeView, "lane" | "priority" | "maxAttempts" | "timeoutMs"> | null,
): AnyContract {
  const settings = declared === null ? { type } : { type, ...settingsOf(declared) };
  return payload === undefined
    ? defineJob(settings)
    : defineJob({ ...settings, payload: typed<any>() });
}

function settingsOf({
  lane,
  priority,
  maxAttempts,
  timeoutMs,
}: Pick<TypeView, "lane" | "priority" | "maxAttempts" | "timeoutMs">) {
  return { lane, priority, maxAttempts, timeout: timeoutMs ?? (false as const) };
}
