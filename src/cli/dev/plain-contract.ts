/** A contract as one process tells it to another: all but what is code. */
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

/** The same contract on the other side. Its payload is checked when the job runs. */
export function contractFrom({ type, takesPayload, settings }: PlainContract): AnyContract {
  if (!takesPayload) return defineJob({ ...settings, type });
  return defineJob({ ...settings, type, payload: typed<any>() });
}
