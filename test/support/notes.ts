/** What runs say about themselves, ready-made, and steps to say it. */
import assert from "node:assert/strict";
import type { JobId, JsonText } from "../../src/core/job.ts";
import type { ClaimedJob } from "../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../src/store/store.ts";
import type { NoteBody, RunNote, RunProgress, UnitMove } from "../../src/store/types/notes.ts";
import { fault } from "./factories.ts";
import type { Batch } from "./steps.ts";

/** Each way to say something of a run that one does not hold. */
export const FORGERIES: readonly (readonly [string, (note: RunNote) => RunNote])[] = [
  ["a wrong secret", (note) => ({ ...note, lease: { ...note.lease, secret: "guessed" } })],
  ["an unknown lease", (note) => ({ ...note, lease: { ...note.lease, number: 9_999 } })],
  ["the number of an earlier run", (note) => ({ ...note, n: note.n - 1 })],
  ["the number of a later run", (note) => ({ ...note, n: note.n + 1 })],
  ["an unknown job", (note) => ({ ...note, key: 9_999 })],
];

export function runNote(batch: Batch, job: ClaimedJob, body: NoteBody): RunNote {
  return { lease: batch.lease, key: job.key, n: job.n, ...body };
}

/** Records notes about one run, in one call. All must be kept. */
export async function keep(
  store: JobStore,
  batch: Batch & { readonly job: ClaimedJob },
  ...bodies: readonly NoteBody[]
): Promise<void> {
  const answers = await store.record(bodies.map((body) => runNote(batch, batch.job, body)));
  assert.deepEqual(
    answers,
    bodies.map(() => "recorded"),
  );
}

/** Half of the second of two phases. */
export function halfway(overrides: Partial<RunProgress> = {}): RunProgress {
  const phases = ["fetch", "build"];
  return { phase: "build", phases, percent: 50, overall: 75, data: null, ...overrides };
}

export function planned(unit: string, phase = "build"): UnitMove {
  return { phase, unit, to: { state: "planned" } };
}

export function running(unit: string, phase = "build"): UnitMove {
  return { phase, unit, to: { state: "running" } };
}

export function done(unit: string, result: JsonText | null = null, phase = "build"): UnitMove {
  return { phase, unit, to: { state: "completed", result } };
}

export function broken(unit: string, phase = "build"): UnitMove {
  return { phase, unit, to: { state: "failed", fault: fault() } };
}

/** All that notes can change of a job: when two pictures are equal, nothing was kept. */
export async function pictureOf(store: JobStore, id: JobId) {
  return {
    job: await store.get(id),
    progress: await store.progress(id),
    units: await store.units(id, {}, { limit: 1_000 }),
    feed: (await store.feed(0, 1_000)).filter((entry) => entry.jobs.includes(id)),
  };
}

/** What the feed tells about one job, each with its detail, oldest first. */
export async function detailsOf(
  store: JobStore,
  id: JobId,
): Promise<readonly (readonly [kind: string, detail: unknown])[]> {
  const entries = await store.feed(0, 1_000);
  return entries.flatMap(({ kind, jobs, details }) =>
    jobs.flatMap((job, index) => {
      const detail = details?.[index];
      return job === id ? [[kind, detail === undefined ? null : JSON.parse(detail)] as const] : [];
    }),
  );
}
