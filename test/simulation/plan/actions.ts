/** What each action of a plan does. */
import { DatabaseSync } from "node:sqlite";
import type { Client } from "../../../src/client/client.ts";
import type { PauseTarget } from "../../../src/api/client.ts";
import type { EnqueueOptions } from "../../../src/api/enqueue.ts";
import type { GateName } from "../../../src/store/types/records.ts";
import type { NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { textOf } from "../checks/answers.ts";
import type { Member } from "../fleet/fleet.ts";
import { Draw } from "./draw.ts";
import { FLOW_OPERATIONS, someDependencies } from "./flow-actions.ts";
import { LOCK_OPERATIONS } from "./lock-actions.ts";
import { MARK_OPERATIONS } from "./mark-actions.ts";
import { leap, SCHEDULE_OPERATIONS } from "./schedule-actions.ts";
import { LIMIT_OPERATIONS } from "./limit-actions.ts";
import { SERVICE_OPERATIONS, serviceDown } from "./service-actions.ts";
import { contracts, type Payload } from "../fleet/jobs.ts";
import type { Pauses } from "../checks/pauses.ts";
import { isPipeline } from "../fleet/pipelines.ts";
import type { Action, Plan } from "./plan.ts";
import { contractOf, payloadOf, uuid } from "./requests.ts";
import { finalState, hexOf, takeSnapshot } from "../checks/snapshot.ts";
import { someJob, type Operation, type ActionContext } from "./action-context.ts";

const KEYS = 4;
/** Many: each is a name that the store has not met before. */
const TENANTS = 12;
const PAUSE_MS_MAX = 8_000;
/** A rescuer must have been steady for about as long. */
const RESCUE_MS = 2_000;

/** The last is closed before any job bears its name. */
const GATES: readonly GateName[] = [
  { kind: "type", name: "alpha" },
  { kind: "lane", name: "fast" },
  { kind: "tenant", name: "default" },
  { kind: "tenant", name: "n1" },
  { kind: "type", name: "gamma" },
];

/** Carries an action out; operations go on in the process that they fall to. */
export function act(context: ActionContext, { kind, dice }: Action): void {
  const draw = new Draw(dice);
  const members = [...context.fleet.members.values()];
  const member = draw.one(
    members.filter(({ workers }) => kind !== "stopWorker" || workers.length > 0),
  );
  if (member === undefined) return;
  context.count(`did ${kind}`);
  context.world.note(`${kind} at ${member.role}`);
  const fault = FAULTS[kind];
  if (fault !== undefined) {
    fault(context, member, draw);
    return;
  }
  const operation = OPERATIONS[kind];
  if (operation === undefined) throw new Error(`there is no action ${kind}`);
  member.process.pending += 1;
  member.process.later(0, kind, () => {
    // What an operation throws at once counts like what it throws later.
    const done = (async () => operation(context, member, draw))();
    done
      .then(
        () => context.world.note(`${kind} is through`),
        (error: unknown) => context.world.note(`${kind} is refused: ${textOf(error)}`),
      )
      .finally(() => (member.process.pending -= 1));
  });
}

type Fault = (context: ActionContext, member: Member, draw: Draw) => void;

const FAULTS: Readonly<Partial<Record<Action["kind"], Fault>>> = {
  crash({ fleet, plan, restart }, { role, process }, draw) {
    fleet.crash(process);
    restart(role, draw.upTo(plan.leaseMs * 2));
  },
  freeze({ world, plan }, { process }, draw) {
    process.pausedUntil = world.elapsedMs + draw.upTo(plan.leaseMs * 3);
  },
  jump({ world }, _, draw) {
    world.jumpMs += draw.upTo(2) === 0 ? draw.upTo(30_000) : -draw.upTo(10_000);
  },
  leap: (context, _, draw) => leap(context, draw),
  serviceDown: (context, _, draw) => serviceDown(context, draw),
  skew(_, { process }, draw) {
    process.skewMs += draw.upTo(20_000) - 10_000;
  },
  commitFails({ watch }, { process }, draw) {
    watch.disk(process).fails += 1 + draw.upTo(draw.upTo(3) === 0 ? 30 : 3);
  },
  diskDown({ watch, world }, { process }, draw) {
    watch.disk(process).downUntil =
      world.elapsedMs + draw.upTo(draw.upTo(2) === 0 ? 12_000 : 1_500);
  },
  outage({ watch, plan }, _, draw) {
    watch.outages.begin(plan.leaseMs * (1 + draw.upTo(30) / 10), draw.upTo(3) === 0);
  },
  commitLost({ watch }, { process }, draw) {
    watch.disk(process).loses += 1 + draw.upTo(2);
  },
  busy({ watch, world }, { process }, draw) {
    watch.disk(process).busyUntil = world.elapsedMs + draw.upTo(400);
  },
  lateRescue({ world, plan, fleet }, _, draw) {
    // Of two clocks the rescuer's is ahead: each lease seems to have run out. The other worker is
    // silent until a rescue of its jobs is under way, and goes on before the rescue is done.
    const [rescuer, silent] = draw.two(
      [...fleet.members.values()].filter(({ workers }) => workers.length > 0),
    );
    if (rescuer === undefined || silent === undefined) return;
    rescuer.process.skewMs += plan.leaseMs * 2;
    const silentMs = plan.leaseMs / 2 + RESCUE_MS + draw.upTo(RESCUE_MS);
    silent.process.pausedUntil = world.elapsedMs + silentMs;
    fleet.lateRescues = {
      process: rescuer.process,
      untilMs: silent.process.pausedUntil + draw.upTo(plan.leaseMs / 10),
    };
  },
  slow({ fleet, world, plan }, _, draw) {
    const untilMs = world.elapsedMs + draw.upTo(plan.leaseMs * 4);
    fleet.slow = { untilMs, share: 0.1 + draw.upTo(50) / 100 };
  },
  powerLoss(context, _, draw) {
    const restartMs = 100 + draw.upTo(2_000);
    const lose = (): void => losePower(context, restartMs);
    // Now, or when something has just been written that the disk may forget.
    if (draw.upTo(3) === 0) lose();
    else context.watch.onRelaxed = () => context.soon("power loss", lose);
  },
};

function losePower({ fleet, watch, restart }: ActionContext, restartMs: number): void {
  const roles = [...fleet.members.keys()];
  for (const { process } of fleet.members.values()) fleet.crash(process);
  watch.losePower();
  fleet.answers.checkSurvived();
  fleet.answers.forgetLostStarts(watch.committed);
  fleet.answers.services.forget();
  roles.forEach((role, index) => restart(role, restartMs + index * 100));
}

const OPERATIONS: Readonly<Partial<Record<Action["kind"], Operation>>> = {
  ...FLOW_OPERATIONS,
  ...MARK_OPERATIONS,
  ...SCHEDULE_OPERATIONS,
  ...LOCK_OPERATIONS,
  ...SERVICE_OPERATIONS,
  ...LIMIT_OPERATIONS,
  enqueue: (context, { client }, draw) => enqueue(context, client, draw, {}),
  enqueueDelayed: (context, { client }, draw) =>
    enqueue(context, client, draw, { delay: 100 + draw.upTo(draw.upTo(4) === 0 ? 30_000 : 6_000) }),
  enqueueUrgent: (context, { client }, draw) =>
    enqueue(context, client, draw, { priority: draw.upTo(5) }),
  enqueueIdempotent: (context, { client }, draw) => enqueueIdempotent(context, client, draw),
  enqueueDedup: (context, { client }, draw) =>
    enqueue(context, client, draw, {
      dedupKey: {
        key: `d${draw.upTo(KEYS)}`,
        onConflict: draw.one(["skip", "replace", "extend"] as const) ?? "skip",
      },
    }),
  enqueueMany: ({ plan }, { client }, draw) =>
    client.enqueueMany(
      Array.from({ length: 1 + draw.upTo(plan.crowd) }, () =>
        contractOf(draw).of(payloadOf(plan, draw)),
      ),
    ),
  enqueueInTransaction: (context, member, draw) => enqueueInTransaction(context, member, draw),
  enqueueTwice: ({ plan }, { client }, draw) => enqueueTwice(plan, client, draw),
  cancel: (context, { client }, draw) =>
    client.jobs.cancel(someJob(context, draw), draw.upTo(2) === 0 ? undefined : "planned"),
  retry: (context, { client }, draw) => retry(context, client, draw),
  fail: (context, { client }, draw) =>
    client.jobs.fail(someJob(context, draw), "planned", { retry: draw.upTo(2) === 0 }),
  release: (context, { client }, draw) => client.jobs.release(someJob(context, draw)),
  pause: (context, { client }, draw) => pause(context, client, draw),
  resume: (context, { client }, draw) => client.resume(targetOf(someGate(context, draw))),
  prune: ({ retention }, { client }, draw) =>
    client.parts.store.prune(retention.pruned, 1 + draw.upTo(20)),
  async reprocess(_, { client }, draw) {
    const letter = draw.one(await client.deadLetters.list());
    if (letter !== undefined) await client.deadLetters.reprocess(letter.id, { actor: "planned" });
  },
  async discard(_, { client }, draw) {
    const letter = draw.one(await client.deadLetters.list());
    if (letter !== undefined) await client.deadLetters.discard(letter.id, { actor: "planned" });
  },
  wait: (context, { client }, draw) =>
    client.wait({ id: someJob(context, draw), type: "any" }, { timeout: 5_000 }),
  async quiet(_, { client }, draw) {
    const worker = draw.one(await client.workers.list());
    if (worker !== undefined) await client.workers.quiet(worker.id);
  },
  stopWorker: (context, member, draw) => stopWorker(context, member, draw),
  stats: (_, { client }) => client.jobs.stats(),
  look: (context, { client }, draw) => client.jobs.get(someJob(context, draw)),
  explain: (context, member, draw) => explain(context, member, draw),
};

/** A deploy: the workers stop, their process lives on for a while and ends. */
async function stopWorker(context: ActionContext, member: Member, draw: Draw): Promise<void> {
  const { fleet, watch, restart, plan } = context;
  if (member.workers.length === 0 || member.isStopping) return;
  member.isStopping = true;
  // Deploys are made when something is wrong.
  if (draw.upTo(3) === 0) watch.disk(member.process).fails += 1 + draw.upTo(4);
  const { process, workers, role } = member;
  const stopped = await Promise.allSettled(workers.map(({ worker }) => worker.stop()));
  const isClean =
    stopped.every(({ status }) => status === "fulfilled") && !watch.disk(process).hasFailed;
  const ids = new Set(workers.map(({ worker }) => hexOf(worker.id)));
  const left = [...watch.committed.leases.values()].filter((lease) => ids.has(lease.worker));
  if (isClean && left.length > 0) fleet.violate("I24", `a stop of ${role} left a lease behind`);
  member.hasStopped = true;
  await process.sleep(draw.upTo(1_000), "lingers");
  fleet.crash(process);
  restart(role, draw.upTo(plan.leaseMs));
}

function enqueue(context: ActionContext, client: Client, draw: Draw, options: EnqueueOptions) {
  const payload = payloadOf(context.plan, draw);
  const maxAttempts = 1 + draw.upTo(6);
  const tenant = draw.upTo(3) === 0 ? { tenant: `n${draw.upTo(TENANTS)}` } : {};
  return client.enqueue(contractOf(draw), payload, { ...options, ...tenant, maxAttempts });
}

/** The same key names the same job as long as it is kept. */
async function enqueueIdempotent(
  context: ActionContext,
  client: Client,
  draw: Draw,
): Promise<void> {
  const key = `i${draw.upTo(KEYS)}`;
  const payload: Payload = { token: 1, runs: ["ok"], ms: 10 };
  const name = `1.${key}`;
  const before = context.watch.committed.idempotency.get(name);
  const { id, created } = await client.enqueue(contracts[0], payload, { idempotencyKey: key });
  const after = context.watch.committed.idempotency.get(name);
  const isSteady = before !== undefined && before.job_id === after?.job_id;
  if (isSteady && (created || hexOf(id) !== after.job_id)) {
    context.fleet.violate("I9", `key ${key} led to another job than the one that holds it`);
  }
}

/** A job that waits is hurried; one that is over is repeated, now and then by two at once. */
async function retry(context: ActionContext, client: Client, draw: Draw): Promise<void> {
  if (draw.upTo(3) === 0) {
    await client.jobs.retry(someJob(context, draw));
    return;
  }
  const id = someEndedJob(context, draw);
  const restart = draw.upTo(4) === 0;
  const times = draw.upTo(3) === 0 ? 2 : 1;
  await Promise.all(Array.from({ length: times }, () => client.jobs.retry(id, { restart })));
}

/** In a transaction of the caller, which ends one way or the other. */
async function enqueueInTransaction(
  context: ActionContext,
  { client }: Member,
  draw: Draw,
): Promise<void> {
  const database = new DatabaseSync(context.path);
  try {
    // Prepared, so that the watch sees them.
    database.prepare("BEGIN IMMEDIATE").run();
    const tx = { tx: database };
    const after = draw.upTo(3) === 0 ? { after: someDependencies(context, draw) } : {};
    const options = { ...tx, ...after };
    const { id } = await client.enqueue(contractOf(draw), payloadOf(context.plan, draw), options);
    if (draw.upTo(2) === 0) {
      database.prepare("COMMIT").run();
      return;
    }
    database.exec("ROLLBACK");
    context.count("rolled back by its caller");
    const found = [...takeSnapshot(database).keys.keys()];
    if (found.includes(hexOf(id))) context.fleet.violate("I2", `job ${id} came back`);
  } finally {
    if (database.isOpen) database.close();
  }
}

/** A repeat after a lost answer, word for word. */
async function enqueueTwice(plan: Plan, client: Client, draw: Draw): Promise<void> {
  const { store } = client.parts;
  const asked = JSON.stringify(payloadOf(plan, draw));
  const job: NewJob = {
    id: client.jobDefaults.newId(),
    type: "alpha",
    tenant: "default",
    lane: "general",
    category: null,
    priority: 50,
    due: { delayMs: 0 },
    maxAttempts: 3,
    timeoutMs: 4_000,
    payload: asked,
    payloadVersion: null,
    correlationId: null,
    parentId: null,
    retryOf: null,
    concurrencyKey: null,
    after: [],
    onFailed: "cancel",
    idempotency: null,
    dedup: draw.upTo(2) === 0 ? null : { key: `t${draw.upTo(KEYS)}`, onConflict: "replace" },
    webhookUrl: null,
    tags: {},
    createdBy: null,
    onOrphan: "retry",
    retryOwner: "queue",
  };
  await store.enqueue([job]).catch(() => {});
  await store.enqueue([job]);
}

/** With an end or without, by any actor: of the pauses of a gate the newest counts. */
function pause(context: ActionContext, client: Client, draw: Draw): Promise<void> {
  const gate = someGate(context, draw);
  const reason = `planned ${draw.upTo(1_000)}`;
  const by = draw.one([null, "ann", "bob"]) ?? null;
  if (by === null && draw.upTo(2) === 0) return client.pause(targetOf(gate), reason);
  if (draw.upTo(2) === 0) return client.parts.store.pause(gate, { reason, by });
  const forMs = 1 + draw.upTo(draw.upTo(2) === 0 ? 1_000 : PAUSE_MS_MAX);
  return client.parts.store.pause(gate, { reason, by, forMs });
}

/** Resumes the gates that would stay closed for ever. A pause with an end is left alone. */
export async function openGates({ client }: Member, pauses: Pauses): Promise<void> {
  const endless = GATES.filter(({ name }) => pauses.isEndless(name));
  const closed = [...endless, ...pauses.closedByCrashes()];
  await Promise.allSettled(closed.map((gate) => client.resume(targetOf(gate))));
}

/** Half of the time one that is paused, or was until a moment ago. */
function someGate({ watch: { committed } }: ActionContext, draw: Draw): GateName {
  const names = [...committed.gates.keys()].map((id) => committed.names.get(id));
  const known = GATES.filter(({ name }) => names.includes(name));
  const isKnown = draw.upTo(2) === 0 && known.length > 0;
  return draw.one(isKnown ? known : GATES) ?? GATES[0]!;
}

function targetOf({ kind, name }: GateName): PauseTarget {
  if (kind === "lane") return { lane: name };
  return kind === "type" ? { type: name } : { tenant: name };
}

/** Why a job waits is told as it is, above all when it is paused. */
async function explain(
  { watch, fleet }: ActionContext,
  { client, process }: Member,
  draw: Draw,
): Promise<void> {
  const { pauses } = fleet.answers;
  const job = watch.committed.jobs.get(draw.one([...watch.committed.places.keys()]) ?? 0);
  if (job === undefined) throw new Error("no job waits");
  const before = pauses.ask(job, process.clock.now());
  const explanation = await client.jobs.explain(uuid(job.id));
  pauses.checkExplained(before, pauses.ask(job, process.clock.now()), explanation);
}

function someEndedJob({ watch: { committed } }: ActionContext, draw: Draw): string {
  const isWanted = draw.upTo(2) === 0 ? () => true : isPipeline;
  const over = [...committed.jobs.values()].filter(({ key, type }) => {
    return finalState(committed, key) !== null && isWanted(committed.names.get(type) ?? "");
  });
  // Of the oldest, so that one is repeated more than once.
  const job = draw.one(over.slice(0, KEYS));
  if (job === undefined) throw new Error("no job is over yet");
  return uuid(job.id);
}
