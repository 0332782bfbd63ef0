/** The definition of a type whose code this process does not have. */
import { defineJob, typed } from "../api/define.ts";
import type { AnyContract } from "../api/definition.ts";
import type { TypeView } from "../api/services/types.ts";

type DeclaredSettings = Pick<
  TypeView,
  | "lane"
  | "priority"
  | "maxAttempts"
  | "timeoutMs"
  | "onOrphan"
  | "retryOwner"
  | "category"
  | "payloadVersion"
>;

/**
 * Any payload is accepted. The settings are those that a worker has declared, if one has. A payload
 * whose version is named is stored with that version, because its upcasts are not known here.
 */
export function bareContract(
  { type, payload, version }: { type: string; payload?: unknown; version?: string | undefined },
  declared: DeclaredSettings | null,
): AnyContract {
  const own = declared === null || version === undefined ? declared : unversioned(declared);
  const settings = own === null ? { type } : { type, ...settingsOf(own) };
  return payload === undefined
    ? defineJob(settings)
    : defineJob({ ...settings, payload: typed<any>() });
}

function unversioned(declared: DeclaredSettings): DeclaredSettings {
  return { ...declared, payloadVersion: null };
}

function settingsOf(declared: DeclaredSettings) {
  const { lane, priority, maxAttempts, timeoutMs, onOrphan, retryOwner } = declared;
  const { category, payloadVersion } = declared;
  return {
    lane,
    priority,
    maxAttempts,
    onOrphan,
    retryOwner,
    timeout: timeoutMs ?? (false as const),
    ...(category === null ? {} : { category }),
    ...(payloadVersion === null ? {} : { payloadVersion }),
  };
}
