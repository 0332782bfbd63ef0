/** What must come of two verbs that have met. */
import { isFinal, type JobId } from "../../src/core/job.ts";
import type { PostgresTestStore } from "../support/stores.ts";
import type { Scene } from "./scenes.ts";

export interface Outcome extends Scene {
  readonly db: PostgresTestStore;
  readonly left: unknown;
  readonly right: unknown;
  /** Which side was answered first. */
  readonly first: "left" | "right";
}

export function complainIf(isWrong: boolean, complaint: string): readonly string[] {
  return isWrong ? [complaint] : [];
}

export function exactlyOne(what: string, left: boolean, right: boolean): readonly string[] {
  if (left !== right) return [];
  return [left ? `both ${what}` : `neither ${what}`];
}

export function settledOrRescued({ left, right }: Outcome): readonly string[] {
  return exactlyOne("ended the run", isSettled(left), countOf(right) === 1);
}

export function once({ left, right }: Outcome): readonly string[] {
  return exactlyOne("was accepted", isSettled(left), isSettled(right));
}

export function oneMade({ left, right }: Outcome): readonly string[] {
  return exactlyOne("made a job", isMade(left), isMade(right));
}

/** After a cancellation in any state: the job is over, or its worker is asked to stop it. */
export async function keepsPromise({ db, id, left }: Outcome): Promise<readonly string[]> {
  const job = await db.store.get(id);
  if (job === null) return ["the job is gone"];
  const isKept = isFinal(job.state) || (job.state === "running" && job.cancelRequested);
  return complainIf(
    !isKept,
    `cancel answered ${String(statusOf(left))}, and the job is ${job.state}`,
  );
}

export async function startOrCancel(outcome: Outcome): Promise<readonly string[]> {
  const job = await outcome.db.store.get(outcome.id);
  const isRunning = job?.state === "running" && job.startedAt !== null;
  return [
    ...(await keepsPromise({ ...outcome, left: outcome.right })),
    ...complainIf(begins(outcome.left) !== isRunning, "it was told to begin, or was not"),
    ...complainIf(
      begins(outcome.left) && statusOf(outcome.right) === "requested" && outcome.first === "right",
      "it began after its cancellation was acknowledged",
    ),
  ];
}

/** A claim has the job, or it is in this state. */
export function takenOr(state: string): (outcome: Outcome) => Promise<readonly string[]> {
  return async ({ db, id, right }) => {
    const found = (await db.store.get(id))?.state;
    const expected = takes(right, id) ? "running" : state;
    return complainIf(found !== expected, `the job is ${found}, not ${expected}`);
  };
}

/** After both, in any order, the job is in this state. */
export function endsAs(state: string): (outcome: Outcome) => Promise<readonly string[]> {
  return async ({ db, id }) => {
    const found = (await db.store.get(id))?.state;
    return complainIf(found !== state, `the job is ${found}, not ${state}`);
  };
}

function field(answer: unknown, name: string): unknown {
  if (typeof answer !== "object" || answer === null) return undefined;
  const value: unknown = Reflect.get(answer, name);
  return value;
}

export function listIn(answer: unknown, name: string): readonly unknown[] {
  const found = field(answer, name);
  return Array.isArray(found) ? found : [];
}

export function statusOf(answer: unknown): unknown {
  return field(answer, "status");
}

export function takes(answer: unknown, id: JobId): boolean {
  return listIn(answer, "jobs").some((job) => field(job, "id") === id);
}

export function takesAny(answer: unknown): boolean {
  return listIn(answer, "jobs").length > 0;
}

export function takesNothing(answer: unknown): boolean {
  return field(answer, "lease") === null;
}

/** How many runs a rescue has ended. */
export function countOf(answer: unknown): number {
  return listIn(answer, "settled").length;
}

export function isSettled(answer: unknown): boolean {
  return Array.isArray(answer) && answer[0] === "settled";
}

export function isMade(answer: unknown): boolean {
  return Array.isArray(answer) && statusOf(answer[0]) === "created";
}

export function begins(answer: unknown): boolean {
  return listIn(answer, "begun").length === 1;
}

export function isDone(answer: unknown): boolean {
  return statusOf(answer) === "done";
}

/** How many unstarted runs a rescue has put back. */
export function returnedBy(answer: unknown): unknown {
  return field(answer, "returned");
}

/** How many jobs of a call were made. */
export function madeBy(answer: unknown): number {
  return madeIn(answer).length;
}

/** The jobs of a call that were made. */
export function madeIn(answer: unknown): readonly JobId[] {
  if (!Array.isArray(answer)) return [];
  return answer
    .filter((each) => statusOf(each) === "created")
    .map((each) => String(field(each, "id")));
}

/** Whether a dead letter got its successor by this. */
export function hasSuccessor(answer: unknown): boolean {
  return statusOf(answer) === "reprocessed" && statusOf(field(answer, "answer")) === "created";
}
