/** enqueue and its keys. */
import type { JobId } from "../../../src/core/job.ts";
import type {
  EnqueueAnswer,
  NewJob,
  StoreRefusal,
} from "../../../src/store/types/jobs-and-runs.ts";
import { sameBody } from "../../../src/store/shared/request-hash.ts";
import { codeBefore } from "./code.ts";
import { endUnstarted, resolveDependencies } from "./ends.ts";
import { takeOver } from "./take-over.ts";
import {
  copyOf,
  endOf,
  isKnown,
  jobById,
  jobNamed,
  putWaiting,
  stateOf,
  tell,
  type IdempotencyHolder,
  type ModelJob,
  type World,
} from "./world.ts";

/** One after the other. Where one gave way to another, that is what runs before those after it. */
export function enqueueAll(world: World, jobs: readonly NewJob[]): EnqueueAnswer[] {
  const answers: EnqueueAnswer[] = [];
  for (const job of jobs) {
    const after = job.after.flatMap((id) => {
      const index = jobs.slice(0, answers.length).findLastIndex((each) => each.id === id);
      const answer = answers[index];
      if (answer?.status !== "existing" || answer.by === "id") return [id];
      return answer.state === null ? [] : [answer.id];
    });
    answers.push(enqueueOne(world, { ...job, after: [...new Set(after)] }));
  }
  return answers;
}

/** The children of a note or of ended runs. The answer to the first that is refused. */
export function enqueueChildren(world: World, all: readonly NewJob[]): StoreRefusal | null {
  const isKeyed = ({ dedup, idempotency }: NewJob): boolean =>
    dedup !== null || idempotency !== null;
  const children = all.filter((child) => !(isKeyed(child) && world.aliases.has(child.id)));
  const answers = enqueueAll(world, children);
  for (const [index, answer] of answers.entries()) {
    if (answer.status === "refused") return { ...answer, child: children[index]!.id };
  }
  for (const [index, answer] of answers.entries()) {
    if (answer.status === "existing" && answer.by !== "id") alias(world, children[index]!, answer);
  }
  return null;
}

/** From now on the id of a child that gave way names the holder of its key. */
function alias(world: World, { id, parentId }: NewJob, { id: holder }: { readonly id: JobId }) {
  const parent = parentId === null ? undefined : jobById(world, parentId);
  if (parent === undefined || world.aliases.has(id)) return;
  world.aliases.set(id, { holder: jobById(world, holder)?.key ?? null, parent: parent.key });
}

export function enqueueOne(world: World, job: NewJob): EnqueueAnswer {
  const same = jobById(world, job.id);
  if (same !== undefined) return repeated(same, job);
  const held =
    idempotencyHolder(world, job) ?? livingSuccessor(world, job) ?? dedupHolder(world, job);
  if (held !== null) return held;
  const missing = job.after.find((id) => !isKnown(world, id));
  if (missing !== undefined) return { status: "refused", code: "AFTER_UNKNOWN", holder: missing };
  if (job.priority < 0) return { status: "refused", code: "STORE_REFUSED", holder: job.id };

  const rival = dedupRival(world, job);
  if (rival !== undefined) {
    endUnstarted(world, rival, `replaced by ${job.id} under the dedup key ${job.dedup?.key}`);
  }
  return insert(world, job);
}

/** All of them or, if one is not taken or the caller's transaction does not commit, none. */
export function enqueueInside(
  world: World,
  jobs: readonly NewJob[],
  commits: boolean,
): readonly EnqueueAnswer[] | "STORE_REFUSED" {
  const before = copyOf(world);
  const answers = enqueueAll(world, jobs);
  const isTaken = answers.every(({ status, ...more }) => {
    return status !== "refused" || !("code" in more) || more.code !== "STORE_REFUSED";
  });
  if (isTaken) resolveDependencies(world);
  if (!isTaken || !commits) Object.assign(world, before);
  return isTaken ? answers : "STORE_REFUSED";
}

function insert(world: World, asked: NewJob): EnqueueAnswer {
  world.last.key += 1;
  const job: ModelJob = {
    key: world.last.key,
    asked,
    createdAt: world.clock.now(),
    scheduledAt: dueAt(world, asked),
    ledger: [],
    place: null,
    needs: [
      ...asked.after.flatMap((id) => needOf(world, asked, id)),
      ...codeBefore(world, asked.retryOf),
    ],
    cancelRequest: null,
    notes: { progress: null, phases: [], units: [], logs: [] },
  };
  world.jobs.set(job.key, job);
  takeOver(world, job);
  if (asked.idempotency !== null) {
    const { id, type, payload } = asked;
    world.idempotency.set(slot(asked), { job: id, type, payload, expiresAt: null });
  }
  const state = putWaiting(world, job, job.scheduledAt);
  tell(world, "job:enqueued", job);
  return { status: "created", id: asked.id, state };
}

/** Proceeding finds those that are over already. */
function needOf(world: World, { onFailed }: NewJob, id: JobId): ModelJob["needs"] {
  const parent = jobNamed(world, id);
  if (parent === undefined) return [];
  if ((endOf(parent)?.state ?? null) !== null) world.ended.add(parent.key);
  return [{ key: parent.key, isTolerant: onFailed === "run" }];
}

function dueAt({ clock }: World, { due }: NewJob): number {
  return "at" in due ? Math.max(0, due.at) : clock.now() + due.delayMs;
}

function slot({ tenant, idempotency }: NewJob): string {
  return `${tenant} ${idempotency?.key}`;
}

function repeated(known: ModelJob, job: NewJob): EnqueueAnswer {
  const { asked } = known;
  const isSame =
    asked.type === job.type && asked.tenant === job.tenant && sameBody(asked.payload, job.payload);
  if (!isSame) return { status: "refused", code: "ID_CONFLICT", holder: job.id };
  return { status: "existing", id: job.id, state: stateOf(known), by: "id" };
}

function idempotencyHolder(world: World, job: NewJob): EnqueueAnswer | null {
  const held = job.idempotency === null ? undefined : world.idempotency.get(slot(job));
  if (held === undefined) return null;
  if (!isSameRequest(held, job)) {
    return { status: "refused", code: "IDEMPOTENCY_CONFLICT", holder: held.job };
  }
  if (job.idempotency?.onConflict === "error") {
    return { status: "refused", code: "IDEMPOTENCY_KEY_USED", holder: held.job };
  }
  const first = jobById(world, held.job);
  const state = first === undefined ? null : stateOf(first);
  return { status: "existing", id: held.job, state, by: "idempotency" };
}

function isSameRequest(held: IdempotencyHolder, job: NewJob): boolean {
  return held.type === job.type && sameBody(held.payload, job.payload);
}

function livingSuccessor(world: World, { retryOf }: NewJob): EnqueueAnswer | null {
  const found = unfinished(world).find(
    ({ asked }) => retryOf !== null && asked.retryOf === retryOf,
  );
  if (found === undefined) return null;
  return { status: "existing", id: found.asked.id, state: stateOf(found), by: "successor" };
}

/** The answer to a newcomer that gives way to the holder of its dedup key. */
function dedupHolder(world: World, job: NewJob): EnqueueAnswer | null {
  const held = heldDedup(world, job);
  if (held === undefined || dedupRival(world, job) !== undefined) return null;
  if (job.dedup?.onConflict === "extend" && held.place !== null) {
    putWaiting(world, held, dueAt(world, job));
  }
  return { status: "existing", id: held.asked.id, state: stateOf(held), by: "dedup" };
}

/** A waiting holder that the newcomer replaces. */
function dedupRival(world: World, job: NewJob): ModelJob | undefined {
  const held = heldDedup(world, job);
  return job.dedup?.onConflict === "replace" && held?.place !== null ? held : undefined;
}

function heldDedup(world: World, { dedup, tenant, type }: NewJob): ModelJob | undefined {
  if (dedup === null) return undefined;
  return unfinished(world).find(
    ({ asked }) => asked.dedup?.key === dedup.key && asked.tenant === tenant && asked.type === type,
  );
}

function unfinished(world: World): ModelJob[] {
  return [...world.jobs.values()].filter((job) => (endOf(job)?.state ?? null) === null);
}
