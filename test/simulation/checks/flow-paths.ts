/** Rare paths of pipelines and flows, told from the rows. */
import { GATE_AFTER, GATE_KEY, newEnd, waitingFor } from "./flows.ts";
import type { Step } from "./invariants.ts";
import { isPipeline, PHASES } from "../fleet/pipelines.ts";
import { finalState } from "./snapshot.ts";

type Count = (name: string) => void;

const FAILED = 6;
const CANCELLED = 7;
const WITH_ERRORS = 5;

export function countFlowPaths(step: Step, count: Count): void {
  for (const key of step.changed) {
    countEnd(step, key, count);
    countMove(step, key, count);
    countNotes(step, key, count);
  }
  const { before, after, changed } = step;
  const cancelled = [...changed].filter((key) => isCancelledByOther(step, key));
  if (cancelled.length > 1) count("dependants cancelled one after the other");
  for (const name of before.locks.keys()) {
    if (!after.locks.has(name) && waitingFor(before, name).length > 0) count("key handed on");
  }
  if (after.stale.size > before.stale.size) count("marked as stale");
}

function isCancelledByOther(step: Step, key: number): boolean {
  return newEnd(step, key)?.reason?.includes("it was to run after") === true;
}

function countEnd(step: Step, key: number, count: Count): void {
  const { before, after } = step;
  const end = newEnd(step, key);
  const job = after.jobs.get(key);
  if (end === null || job === undefined) return;
  if (isCancelledByOther(step, key)) count("dependant cancelled");
  if (end.state === WITH_ERRORS) count("completed with errors");
  const done = before.phases.get(key)?.length ?? 0;
  const isBetween = isPipeline(after.names.get(job.type) ?? "") && done > 0 && done < PHASES.length;
  if (isBetween && end.state === CANCELLED) count("cancelled between phases");
}

function countMove({ before, after, wanted, ends }: Step, key: number, count: Count): void {
  const [was, is] = [before.places.get(key)?.[0], after.places.get(key)?.[0]];
  const job = after.jobs.get(key);
  if (is?.gate === GATE_KEY && was?.place === "ready") count("held behind a key");
  if (was?.gate === GATE_AFTER && is !== undefined && is.gate !== GATE_AFTER) {
    count("dependant let go");
  }
  if (was?.gate === GATE_AFTER && is?.gate === GATE_AFTER && was.rank !== is.rank) {
    count("dependant given another time");
  }
  const want = wanted.get(job?.id ?? "");
  if (want === undefined || want.after.length === 0) return;
  const isNew = !before.jobs.has(key);
  if (isNew && is?.gate !== GATE_AFTER) count("dependant of jobs that were over");
  const hasBegun = after.held.has(key) && !before.held.has(key);
  const isBad = want.after.some((id) => {
    const state = finalState(before, before.keys.get(id) ?? 0) ?? ends.get(id);
    return state === FAILED || state === CANCELLED;
  });
  if (hasBegun && isBad) count("dependant ran after a failure");
}

function countNotes({ before, after, wanted }: Step, key: number, count: Count): void {
  const job = after.jobs.get(key);
  if (job === undefined) return;
  const isNew = !before.jobs.has(key);
  if (isNew && wanted.get(job.id)?.ignoreCheckpoints === true) count("successor begins anew");
  if (isNew && after.phases.has(key)) count("successor took over phases");
  const units = isNew ? (after.units.get(key) ?? []) : [];
  if (units.length > 0) count("successor took over units");
  const runsUnits = after.phases.get(key)?.every(({ name }) => name !== "units") ?? true;
  if (runsUnits && units.some(({ phase }) => phase === PHASES.at(-1))) {
    count("successor took over units behind a phase with failed ones");
  }
  const parent = after.keys.get(job.parent ?? "") ?? 0;
  const isOfPhase = after.phases.get(parent) !== before.phases.get(parent);
  if (isNew && isOfPhase && finalState(after, parent) === null) count("child of a phase");
  const [old, now] = [before.phases.get(key) ?? [], after.phases.get(key) ?? []];
  if (old.some(({ name }) => !now.some((row) => row.name === name))) count("begun afresh");
  if ((after.logs.get(key)?.first ?? 0) > (before.logs.get(key)?.first ?? 1)) count("log cut");
}
