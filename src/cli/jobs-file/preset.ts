/** The preset that the job file or millrace.config.ts exports. */
import type { Preset } from "../../core/presets.ts";
import { aPreset } from "../../jobs/preset-rule.ts";
import { CommandFailure, EXIT } from "../terminal/exit-codes.ts";
import { configExports } from "./config-file.ts";
import type { JobFile } from "./job-file.ts";

/** That of the job file wins. Undefined: neither file exports one. */
export async function exportedPreset(
  { preset }: Pick<JobFile, "preset">,
  jobFile: string,
): Promise<Preset | undefined> {
  if (preset !== undefined) return checked(preset, jobFile);
  const config = await configExports();
  return config.preset === undefined ? undefined : checked(config.preset, config.file);
}

function checked(preset: any, file: string): Preset {
  const mismatch = aPreset(preset, "preset");
  if (mismatch === null) return preset;
  throw new CommandFailure(`${file}: ${mismatch.place} ${mismatch.problem}.`, {
    hint: "Write: export const preset = { ...defaults, pollMs: 500 };",
    exitCode: EXIT.usage,
  });
}
