/** What is done with pipelines, keys and jobs that wait for others. */
import type { EnqueueOptions, JobRef } from "../../../src/api/enqueue.ts";
import type { Draw } from "./draw.ts";
import type { Member } from "../fleet/fleet.ts";
import { LOCK_NAMES, pipelines } from "../fleet/pipelines.ts";
import type { Operation as Kind } from "./plan.ts";
import { contracts } from "../fleet/jobs.ts";
import { GATE_KEY } from "../checks/flows.ts";
import { contractOf, payloadOf, uuid } from "./requests.ts";
import { finalState, hexOf } from "../checks/snapshot.ts";
import { someJob, type Operation, type ActionContext } from "./action-context.ts";

const DEPENDENCIES_MAX = 3;
const DEDUP_KEYS = 4;
const LINES_MAX = 50;
const OWN_KEYS = 6;

export const FLOW_OPERATIONS: Readonly<Partial<Record<Kind, Operation>>> = {
  enqueuePipeline: ({ plan }, { client }, draw) => {
    const contract = draw.one(pipelines) ?? pipelines[0];
    const key = draw.upTo(4) === 0 ? { concurrencyKey: nameOf(draw) } : {};
    return client.enqueue(contract, payloadOf(plan, draw), {
      ...key,
      maxAttempts: 1 + draw.upTo(4),
    });
  },
  enqueueKeyed: ({ plan }, { client }, draw) => {
    // Keys that units use, too, or one that only jobs have.
    const own = draw.upTo(2) === 0 ? `own ${draw.upTo(OWN_KEYS)}` : null;
    return client.enqueueMany(
      Array.from({ length: 1 + draw.upTo(Math.min(plan.crowd, 8)) }, () => {
        const options = { concurrencyKey: own ?? nameOf(draw), priority: 49 + draw.upTo(3) };
        return contractOf(draw).of(payloadOf(plan, draw), options);
      }),
    );
  },
  enqueueMixed: (context, member, draw) => enqueueMixed(context, member, draw),
  cancelNext: (context, member, draw) => cancelNext(context, member, draw),
  enqueueFlow: (context, member, draw) => enqueueFlow(context, member, draw),
  enqueueAfter: (context, { client }, draw) =>
    client.enqueue(contractOf(draw), payloadOf(context.plan, draw), {
      ...dependence(draw),
      after: someDependencies(context, draw),
    }),
  follow: (context, member, draw) => follow(context, member, draw),
};

function nameOf(draw: Draw): string {
  return draw.one(LOCK_NAMES) ?? LOCK_NAMES[0];
}

/** Long runs beside short ones. Half of the time all long ones are cancelled at once. */
async function enqueueMixed(
  { plan }: ActionContext,
  { client, process }: Member,
  draw: Draw,
): Promise<void> {
  // The type with the longest timeout.
  const [, , patient] = contracts;
  const count = 1 + draw.upTo(5);
  const long = Array.from({ length: count }, () =>
    patient.of({ token: draw.upTo(1_000), runs: ["long"], ms: 0 }),
  );
  const short = Array.from({ length: 3 + draw.upTo(plan.crowd) }, () =>
    contractOf(draw).of({ token: draw.upTo(1_000), runs: ["ok"], ms: draw.upTo(50) }),
  );
  const isCancelled = draw.upTo(2) === 0;
  const jobs = await client.enqueueMany([...long, ...short]);
  if (!isCancelled) return;
  await process.sleep(plan.leaseMs / 2, "lets long runs begin");
  await Promise.allSettled(jobs.slice(0, count).map(({ id }) => client.jobs.cancel(id, "planned")));
}

/**
 * Of three jobs under a key the second is passed the key while its type is paused, and is cancelled
 * there. No run releases the key any more: only the gatekeeper finds the third job.
 */
async function cancelNext(context: ActionContext, member: Member, draw: Draw): Promise<void> {
  const { client, process } = member;
  const [plain, , paused] = contracts;
  const concurrencyKey = `own ${draw.upTo(OWN_KEYS)}`;
  const token = draw.upTo(1_000);
  const [first, second, third] = await client.enqueueMany([
    plain.of({ token, runs: ["long"], ms: 0 }, { concurrencyKey, priority: 49 }),
    paused.of({ token, runs: ["ok"], ms: 0 }, { concurrencyKey, priority: 50 }),
    plain.of({ token, runs: ["ok"], ms: 0 }, { concurrencyKey, priority: 51 }),
  ]);
  if (first === undefined || second === undefined || third === undefined) {
    throw new Error("three jobs were asked for");
  }
  // By then the gatekeeper has moved both behind the key.
  await process.sleep(1_000 + draw.upTo(1_000), "waits for the gatekeeper");
  await client.pause({ type: paused.type }, "planned");
  try {
    await client.wait(first, { timeout: 5_000 }).catch(() => {});
    await client.jobs.cancel(second.id, "planned");
    const { keys, places, locks } = context.watch.committed;
    const [place] = places.get(keys.get(hexOf(third.id)) ?? 0) ?? [];
    const isFree = !locks.has(`${place?.tenant}.${concurrencyKey}`);
    if (place?.gate === GATE_KEY && isFree) context.count("next job of a free key cancelled");
  } finally {
    await client.resume({ type: paused.type });
  }
}

/** Some that wait for one, one that waits for these, and one more in a row. */
async function enqueueFlow({ plan }: ActionContext, { client }: Member, draw: Draw): Promise<void> {
  const request = (options: EnqueueOptions) => contractOf(draw).of(payloadOf(plan, draw), options);
  const first = await client.enqueue(contractOf(draw), payloadOf(plan, draw));
  const [left, right] = await client.enqueueMany([
    request({ after: [first], ...dependence(draw) }),
    request({ after: [first], ...dependence(draw) }),
  ]);
  if (left === undefined || right === undefined) throw new Error("two jobs were asked for");
  const both = await client.enqueue(contractOf(draw), payloadOf(plan, draw), {
    after: [first, left, right],
    ...dependence(draw),
  });
  await client.enqueue(contractOf(draw), payloadOf(plan, draw), {
    after: [both],
    ...dependence(draw),
  });
}

/** How a dependant is asked for, besides the jobs that it waits for. */
function dependence(draw: Draw): EnqueueOptions {
  const key = `d${draw.upTo(DEDUP_KEYS)}`;
  const onConflict = draw.one(["skip", "replace", "extend"] as const) ?? "skip";
  return {
    onFailed: draw.one(["cancel", "run"] as const) ?? "cancel",
    ...(draw.upTo(3) === 0 ? { dedupKey: { key, onConflict } } : {}),
    ...(draw.upTo(4) === 0 ? { delay: 500 + draw.upTo(3_000) } : {}),
    ...(draw.upTo(4) === 0 ? { concurrencyKey: nameOf(draw) } : {}),
  };
}

/** Mostly jobs that are not over; some that are, and now and then one that is gone. */
export function someDependencies(context: ActionContext, draw: Draw): readonly JobRef<unknown>[] {
  const { committed } = context.watch;
  const here = [...committed.jobs.values()];
  const open = here.filter(({ key }) => finalState(committed, key) === null);
  const gone = [...context.watch.pruned];
  const ids = new Set<string>();
  for (let left = 1 + draw.upTo(DEPENDENCIES_MAX); left > 0; left -= 1) {
    const isGone = draw.upTo(12) === 0 && gone.length > 0;
    const job = draw.one(draw.upTo(3) > 0 && open.length > 0 ? open : here);
    const id = isGone ? draw.one(gone) : job?.id;
    if (id !== undefined) ids.add(id);
  }
  if (ids.size === 0) throw new Error("there is no job to run after yet");
  return [...ids].map((id) => ({ id: uuid(id), type: "any" }));
}

/** A client watches a job, and asks who has a name. */
async function follow(context: ActionContext, { client }: Member, draw: Draw): Promise<void> {
  const id = someJob(context, draw);
  const { store } = client.parts;
  await client.jobs.progress(id);
  await client.jobs.units(id);
  await client.jobs.logs(id, { limit: LINES_MAX });
  await client.jobs.holders(String(draw.upTo(3)));
  await store.lockHolder("default", nameOf(draw));
}
