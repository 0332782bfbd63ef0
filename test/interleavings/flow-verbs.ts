/**
 * Verbs about exclusive names and jobs that run after others. What ends a job, or puts one behind
 * others, leaves work to the background; a `resolveDependencies` that follows waits for that, so
 * that its statements take turns, too.
 */
import type { Settlement } from "../../src/core/outcome.ts";
import type { JobStore } from "../../src/store/store.ts";
import { newJob } from "../support/factories.ts";
import { runNote } from "../support/notes.ts";
import { at, claimRequest, type Batch } from "../support/steps.ts";
import type { Scene } from "./scenes.ts";
import * as verbs from "./verbs.ts";
import type { Verb } from "./verbs.ts";

export function claimIn(lane: string): Verb {
  return (store, { other }) => store.claim(claimRequest(other, { lanes: [lane] }));
}

export function acquireLocks(...names: readonly string[]): Verb {
  return (store, { batch }) => occupyFor(store, batch, names);
}

export function occupyAsRival(...names: readonly string[]): Verb {
  return (store, { rival }) => occupyFor(store, rival, names);
}

async function occupyFor(
  store: JobStore,
  batch: Batch | null | undefined,
  names: readonly string[],
): Promise<unknown> {
  if (batch === null || batch === undefined) throw new Error("nothing runs");
  return store.acquireLocks(runNote(batch, at(batch.jobs, 0), {}), names);
}

/** The run gives up the name that it has taken. */
export async function giveUp(store: JobStore, { batch }: Scene): Promise<unknown> {
  if (batch === null) throw new Error("nothing runs");
  return store.record([runNote(batch, at(batch.jobs, 0), { releases: ["a"] })]);
}

export function settle(settlement: Settlement): Verb {
  return followed(verbs.settle(settlement));
}

export function settleRival(settlement: Settlement): Verb {
  const end = settle(settlement);
  return (store, { rival, ...scene }) => end(store, { ...scene, batch: rival ?? null });
}

export const cancel: Verb = followed(verbs.cancel);

/** A job that runs after the one of the scene. */
export const enqueueAfter: Verb = followed((store, { id }) =>
  store.enqueue([newJob({ lane: "after", after: [id] })]),
);

export function resolveDependencies(store: JobStore): Promise<unknown> {
  return store.resolveDependencies(100);
}

/** Answers what the verb said. */
function followed(verb: Verb): Verb {
  return async (store, scene) => {
    const answer = await verb(store, scene);
    await store.resolveDependencies(100);
    return answer;
  };
}
