/** What must come of verbs about exclusive names, and about jobs that run after others. */
import type { JobId } from "../../src/core/job.ts";
import type { JobStore } from "../../src/store/store.ts";
import { claimable } from "../support/steps.ts";
import { complainIf, listIn, madeIn, takesAny, type Outcome } from "./judgements.ts";

/** Neither has failed with an error. */
export function answered({ left, right }: Outcome): readonly string[] {
  return [left, right].filter((answer) => typeof answer === "string");
}

/** At most one of a key runs at a time, and one does. */
export async function oneOfKey(outcome: Outcome): Promise<readonly string[]> {
  const { left, right, db } = outcome;
  const count = [left, right].filter(takesAny).length;
  const holder = await db.store.lockHolder("default", "a");
  return [
    ...answered(outcome),
    ...complainIf(count !== 1, `${count} of a key were taken`),
    ...complainIf(holder === null, "no run has the key"),
  ];
}

/** No run has the key of the job any more, so it is not kept out of the way. */
export async function canBeClaimed(outcome: Outcome): Promise<readonly string[]> {
  const { db, id } = outcome;
  const taken = await claimable(db.store);
  return [...answered(outcome), ...complainIf(!taken.includes(id), "the job cannot be claimed")];
}

/** The same, where it is either of two. */
export async function oneCanBeClaimed(outcome: Outcome): Promise<readonly string[]> {
  const taken = await claimable(outcome.db.store);
  return [
    ...answered(outcome),
    ...complainIf(taken.length !== 1, `${taken.length} can be claimed`),
  ];
}

/** The run that may have had the name is over. */
export async function isFree(outcome: Outcome): Promise<readonly string[]> {
  const holder = await outcome.db.store.lockHolder("default", "a");
  return [...answered(outcome), ...complainIf(holder !== null, "a run has the name")];
}

/** Whether a run was given a name. */
export function occupies(answer: unknown, name: string): boolean {
  return listIn(answer, "names").includes(name);
}

/** The job that the right one has made waits for no other once all is said. */
export function newcomerIs(state: string): (outcome: Outcome) => Promise<readonly string[]> {
  return async (outcome) => {
    const [id] = madeIn(outcome.right);
    if (id === undefined) return ["the job was not made", ...answered(outcome)];
    return [...answered(outcome), ...(await goesOn(outcome.db.store, id, state))];
  };
}

/** The job of the scene waits for no other once all is said. */
export function dependantIs(state: string): (outcome: Outcome) => Promise<readonly string[]> {
  return async (outcome) => [
    ...answered(outcome),
    ...(await goesOn(outcome.db.store, outcome.id, state)),
  ];
}

/** Of two that let jobs go on, one has moved each of them. */
export async function movedOnce(outcome: Outcome): Promise<readonly string[]> {
  const { db, id, left, right } = outcome;
  const rest = await db.store.resolveDependencies(100);
  const moved = Number(left) + Number(right) + rest;
  return [
    ...complainIf(moved !== 2, `${moved} jobs have moved, not 2`),
    ...(await goesOn(db.store, id, "queued")),
  ];
}

/** What is still to be told after both is found by one look of any worker. */
async function goesOn(store: JobStore, id: JobId, state: string): Promise<readonly string[]> {
  await store.resolveDependencies(100);
  const job = await store.get(id);
  const held = job?.heldBy?.kind ?? "nothing";
  return complainIf(
    job?.state !== state || held !== "nothing",
    `the job is ${job?.state} and held by ${held}, not ${state}`,
  );
}
