/** How much of a campaign was locks, flows, logs and pipelines. */
import type { Voyage } from "./voyage.ts";

export interface Mix {
  /** Starts of runs under a key, and of units under a lock. */
  readonly lockedRuns: number;
  readonly lockedUnits: number;
  /** Jobs that ran, or were cancelled, after others. */
  readonly flows: number;
  readonly logLines: number;
  readonly pipelines: number;
  /** Units with a stored result. */
  readonly units: number;
  /** Pipelines of which one run completed some units and a later run the others. */
  readonly resumed: number;
}

export function mixOf(voyages: readonly Voyage[]): Mix {
  const jobs = voyages.flatMap(({ ending }) => [...ending.store.values()]);
  const lines = voyages.flatMap(({ history }) => history.ledger);
  const locked = lines.filter(({ lock, what }) => lock !== undefined && what === "start");
  const units = jobs.map((job) => job.units?.filter(({ state }) => state === "completed") ?? []);
  const lockedUnits = locked.filter(({ unit }) => unit !== undefined).length;
  return {
    lockedRuns: locked.length - lockedUnits,
    lockedUnits,
    flows: jobs.filter(({ asked }) => asked?.after !== undefined).length,
    logLines: jobs.reduce((sum, { logs }) => sum + (logs?.length ?? 0), 0),
    pipelines: jobs.filter((job) => job.units !== undefined).length,
    units: units.flat().length,
    resumed: units.filter((of) => new Set(of.map(({ fence }) => fence)).size > 1).length,
  };
}

export function mixLine(mix: Mix): string {
  return (
    `${mix.lockedRuns} runs under keys, ${mix.flows} jobs after others, ` +
    `${mix.logLines} log lines, ` +
    `${mix.pipelines} pipelines with ${mix.units} units (${mix.lockedUnits} starts under locks), ` +
    `${mix.resumed} resumed among their units`
  );
}
