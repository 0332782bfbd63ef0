/** Loads the file that exports a user's jobs. */
import { existsSync } from "node:fs";
import { definitionOf, isContract, type AnyContract } from "../../api/definition.ts";
import { isSchedule, type Schedule } from "../../api/schedule.ts";
import type { NamedFunctions } from "../../api/channels/functions.ts";
import type { AnyJob } from "../../api/worker.ts";
import { EXIT, CommandFailure } from "../terminal/exit-codes.ts";
import { importUserModule } from "./user-module.ts";

/** The default names of the job file. */
const USUAL_PLACES = ["jobs", "src/jobs"].flatMap((stem) =>
  ["ts", "mts", "js", "mjs"].map((ending) => `${stem}.${ending}`),
);

export interface JobFile {
  readonly jobs: readonly AnyJob[];
  /** All jobs that the file declares, with and without a handler. */
  readonly contracts: readonly AnyContract[];
  readonly schedules: readonly Schedule[];
  /** The export `deps`, unchecked. */
  readonly deps: unknown;
  /** The export `preset`, unchecked. */
  readonly preset: unknown;
  /** The export `functions`, which `mill.work` checks. */
  readonly functions: NamedFunctions | undefined;
}

/** Reads every job and schedule that the file exports: by name, as its default, or in a list. */
export async function loadJobFile(file: string): Promise<JobFile> {
  const exported = await importUserModule(file);
  const values = Object.values(exported).flatMap((value: unknown) =>
    Array.isArray(value) ? value : [value],
  );
  const different = [...new Set(values)];
  const contracts = different.filter(isContract);
  const schedules = different.filter(isSchedule);
  const { deps, preset, functions }: Record<string, any> = exported;
  return { contracts, jobs: contracts.filter(isJob), schedules, deps, preset, functions };
}

/** Loads the file for a worker, for which a file without a job is a mistake. */
export async function loadJobs(file: string): Promise<JobFile> {
  const loaded = await loadJobFile(file);
  const { jobs, contracts } = loaded;
  if (jobs.length > 0) return loaded;
  const found = contracts.length === 0 ? "exports no job" : "exports only jobs without a handler";
  throw new CommandFailure(`${file} ${found}.`, {
    hint: 'Export the job that defineJob({ type: "…" }).run(…) returns, by name or in a list.',
    exitCode: EXIT.usage,
  });
}

/** The first of the default files that exists. */
export function usualJobFile(): string | undefined {
  return USUAL_PLACES.find((place) => existsSync(place));
}

/** The named file, or the default file that exists. */
export function findJobFile(named: string | undefined): string {
  const file = named ?? usualJobFile();
  if (file !== undefined) return file;
  throw new CommandFailure("There is no job file: neither jobs.ts nor src/jobs.ts exists.", {
    hint: "Name the file with --jobs FILE, or as `jobs` in millrace.config.ts.",
    exitCode: EXIT.usage,
  });
}

function isJob(contract: AnyContract): contract is AnyJob {
  return definitionOf(contract).body.kind !== "none";
}
