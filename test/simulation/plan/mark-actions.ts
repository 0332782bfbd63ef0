/** What is done with jobs that are marked as started and wait for a slot. */
import { contracts } from "../fleet/jobs.ts";
import type { Member } from "../fleet/fleet.ts";
import { someJob, type ActionContext, type Operation } from "./action-context.ts";
import type { Draw } from "./draw.ts";
import type { Operation as Kind } from "./plan.ts";
import { uuid } from "./requests.ts";

const ENDS_MAX = 4;

export const MARK_OPERATIONS: Readonly<Partial<Record<Kind, Operation>>> = {
  endWaiting: (context, member, draw) => endWaiting(context, member, draw),
};

/**
 * Lanes that have seen short runs prefetch, and mark jobs ahead. Long runs then keep the marked
 * jobs waiting, and some of these are ended from outside.
 */
async function endWaiting(context: ActionContext, member: Member, draw: Draw): Promise<void> {
  const { client, process } = member;
  const { slots, workers } = context.plan;
  await client.enqueueMany(runsOf(3 + draw.upTo(5), 5));
  await process.sleep(500 + draw.upTo(500), "lets lanes see short runs");
  await client.enqueueMany(runsOf(2 * slots * workers + 3, 1_000 + draw.upTo(1_500)));
  await process.sleep(100 + draw.upTo(800), "lets jobs be marked");
  for (let count = 1 + draw.upTo(ENDS_MAX); count > 0; count -= 1) {
    const id = draw.one(waitingRuns(context)) ?? someJob(context, draw);
    const how = draw.upTo(3);
    const { jobs } = client;
    const ended =
      how === 0 ? jobs.cancel(id) : how === 1 ? jobs.release(id) : jobs.fail(id, "planned");
    await ended.catch(() => {});
    await process.sleep(draw.upTo(300), "ends the next job");
  }
}

/** Jobs of the only type whose time-out lets a lane mark them ahead. */
function runsOf(count: number, ms: number) {
  const [, , patient] = contracts;
  return Array.from({ length: count }, (_, token) => patient.of({ token, runs: ["slow"], ms }));
}

/** The jobs that the store knows as started, and whose handlers were not called. */
function waitingRuns({ watch: { committed }, fleet }: ActionContext): readonly string[] {
  return [...committed.held.values()].flat().flatMap(({ key, start, fence }) => {
    const id = committed.jobs.get(key)?.id;
    if (id === undefined || start === null) return [];
    return fleet.answers.starts.get(id)?.includes(fence) === true ? [] : [uuid(id)];
  });
}
