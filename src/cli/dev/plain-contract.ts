/** A contract without its functions, which one process can send to another. */
import { defineJob, typed } from "../../api/define.ts";
import { definitionOf, type AnyContract } from "../../api/definition.ts";
import type { JobSettings } from "../../api/settings.ts";

export interface PlainContract {
  readonly type: string;
  readonly takesPayload: boolean;
  readonly settings: Omit<JobSettings, "classify">;
}

export function plainContract(contract: AnyContract): PlainContract {
  const { type, schema, settings } = definitionOf(contract);
  const { classify: _code, ...plain } = settings;
  return { type, takesPayload: schema !== undefined, settings: plain };
}

/** Restores a contract. Its payload is checked when the job runs. */
export function contractFrom({ type, takesPayload, settings }: PlainContract): AnyContract {
  if (!takesPayload) return defineJob({ ...settings, type });
  return defineJob({ ...settings, type, payload: typed<any>() });
}
