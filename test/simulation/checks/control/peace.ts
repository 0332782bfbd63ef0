/**
 * After the faults: services work, so every breaker closes, and no permit is lost, so a limit lets
 * as many jobs run as it allows.
 */
import { LIMIT_TARGETS, narrow } from "../../fleet/limits.ts";
import type { Fleet, Member } from "../../fleet/fleet.ts";
import { payContract, postContract, SERVICES } from "../../fleet/services.ts";
import type { World } from "../../fleet/world.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Report } from "../invariants.ts";
import { finalState } from "../snapshot.ts";
import type { Watch } from "../watch.ts";
import { CLOSED } from "./barriers.ts";

/** A few probes, one after the other, with their polls. */
const CLOSE_MS = 12_000;
/** A last outage of one service opens its breaker. */
const OUTAGE_MS = 2_000;
const CALLS = 5;
const ATTEMPTS = 20;
/** Jobs with two services that are tried before a job with one. */
const FIRST_POSTS = 20;
/** Permits go back after 250 ms, and workers poll once a second. */
const PERMITS_MS = 6_000;
const RETURN_MS = 3_000;
const ANSWER_MS = 3_000;
const LONG_RUN_MS = 1_500;
const CAP = 3;

interface ControlPeaceParts {
  readonly world: World;
  readonly watch: Watch;
  readonly fleet: Fleet;
  readonly plan: Plan;
  readonly report: Report;
}

/** Breakers that operators have opened stay open until they are reset. */
export async function resetBreakers({ client }: Member): Promise<void> {
  const by = { actor: "the end" };
  const breakers = await client.breakers.list();
  const forced = breakers.filter(({ state, probeAt }) => state === "open" && probeAt === null);
  await Promise.all(forced.map(({ service }) => client.breakers.reset(service, by)));
}

/** After a last outage, jobs of two services are tried first, and every breaker closes in time. */
export async function closeInPeace(
  parts: ControlPeaceParts,
  isBroken: () => boolean,
): Promise<void> {
  const { world, watch, fleet, report } = parts;
  const payload = { token: 1, runs: ["ok"] as const, ms: 10 };
  const untilMs = world.elapsedMs + OUTAGE_MS;
  fleet.services.fail("bank", { untilMs, manner: "errors", retryAfterMs: 0 });
  const calls = Array.from({ length: CALLS }, () =>
    payContract.of(payload, { maxAttempts: ATTEMPTS }),
  );
  ask(parts, "calls a service that fails", ({ client }) => client.enqueueMany(calls));
  await world.run(untilMs, isBroken);
  const posts = Array.from({ length: FIRST_POSTS }, () =>
    postContract.of(payload, { priority: 1 }),
  );
  ask(parts, "calls services in peace", ({ client }) =>
    client.enqueueMany([...posts, payContract.of(payload)]),
  );
  const isClosed = (): boolean =>
    [...watch.committed.breakers.values()].every(({ state }) => state === CLOSED);
  const isOver = (): boolean => isBroken() || (isClosed() && areOver(watch));
  await world.run(world.elapsedMs + ANSWER_MS, isBroken);
  await world.run(world.elapsedMs + CLOSE_MS, isOver);
  if (isBroken()) return;
  const open = SERVICES.filter((service) => {
    const row = [...watch.committed.breakers.values()].find(
      (each) => watch.committed.names.get(each.service) === service,
    );
    return row !== undefined && row.state !== CLOSED;
  });
  for (const service of open) report("I28", `${service} works, and its breaker stays open`);
  if (!areOver(watch)) report("I21", "jobs of services that work do not end");
}

/** All permits are back, and then a limit of so many lets so many run. */
export async function runInPeace(parts: ControlPeaceParts, isBroken: () => boolean): Promise<void> {
  const { world, watch, report } = parts;
  await world.run(world.elapsedMs + RETURN_MS, isBroken);
  for (const { id, used } of watch.committed.limits.values()) {
    if (used > 0 && !isBroken()) report("I10", `${used} permits of limit ${id} are not returned`);
  }
  // The limit of the type stays the same limit, so that its permits are put to the test.
  ask(parts, "widens limits", async ({ client }) => {
    const others = LIMIT_TARGETS.filter(
      (target) => !("type" in target && target.type === "narrow"),
    );
    await Promise.all(others.map((target) => client.limits.remove(target)));
    await client.limits.set({ type: "narrow" }, { concurrency: CAP });
    const payload = { token: 1, runs: ["slow"], ms: LONG_RUN_MS, isCalm: true } as const;
    await client.enqueueMany(Array.from({ length: 2 * CAP }, () => narrow.of(payload)));
  });
  await world.run(world.elapsedMs + ANSWER_MS / 10, isBroken);
  let most = 0;
  const isOver = (): boolean => {
    most = Math.max(most, running(parts));
    return isBroken() || (most > 0 && areOver(watch));
  };
  await world.run(world.elapsedMs + PERMITS_MS, isOver);
  const { slots, workers, workersPerProcess } = parts.plan;
  const wanted = Math.min(CAP, slots * workers * workersPerProcess);
  if (most !== wanted && !isBroken()) {
    report("I10", `a limit lets ${most} jobs run at the same time, not ${wanted}`);
  }
  ask(parts, "removes limits", ({ client }) => client.limits.remove({ type: "narrow" }));
  await world.run(world.elapsedMs + ANSWER_MS, () => isBroken() || areOver(watch));
}

function running({ fleet, watch }: ControlPeaceParts): number {
  const { keys, jobs, names } = watch.committed;
  return [...fleet.underWay.values()].filter(({ actor }) => {
    const job = jobs.get(keys.get(actor.id) ?? 0);
    return actor.process.isAlive && names.get(job?.type ?? 0) === "narrow";
  }).length;
}

function areOver({ committed }: Watch): boolean {
  return [...committed.jobs.keys()].every((key) => finalState(committed, key) !== null);
}

function ask(
  { fleet, report }: ControlPeaceParts,
  label: string,
  work: (asker: Member) => Promise<unknown>,
): void {
  const asker = fleet.members.get("asker1");
  asker?.process.later(0, label, () => {
    work(asker).catch((error: unknown) => report("I21", `${label} fails: ${String(error)}`));
  });
}
