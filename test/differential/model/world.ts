/** What the model remembers: lists and maps, and nothing that a database could help with. */
import type { Clock } from "../../../src/core/clock.ts";
import type { FinalState, JobId, State } from "../../../src/core/job.ts";
import type {
  AttemptRecord,
  DeadLetterRecord,
  EventKind,
  Gate,
  HeldBy,
} from "../../../src/store/types/records.ts";
import type {
  LogEntry,
  LogRecord,
  OpenRun,
  PhaseResult,
  RunProgress,
  UnitRecord,
} from "../../../src/store/types/notes.ts";
import type {
  JobKey,
  NewJob,
  WorkerId,
  WorkerInfo,
} from "../../../src/store/types/jobs-and-runs.ts";

/** Where a job waits. It lies nowhere while a worker holds it and when it is over. */
export type Place =
  | { readonly kind: "scheduled"; readonly runAt: number }
  | { readonly kind: "ready"; readonly runAt: number }
  | { readonly kind: "blocked"; readonly runAt: number; readonly gate: HeldBy };

export interface LedgerRow extends AttemptRecord {
  readonly state: FinalState | null;
  readonly result: string | null;
}

export interface ModelJob {
  readonly key: JobKey;
  readonly asked: NewJob;
  readonly createdAt: number;
  readonly scheduledAt: number;
  readonly ledger: LedgerRow[];
  place: Place | null;
  /** Jobs that it still waits for. */
  needs: { readonly key: JobKey; readonly isTolerant: boolean }[];
  cancelRequest: { readonly reason: string | null } | null;
  readonly notes: ModelNotes;
}

/** What runs have said. */
export interface ModelNotes {
  progress: { readonly progress: RunProgress; readonly n: number; readonly at: number } | null;
  phases: (PhaseResult & { readonly n: number; readonly at: number })[];
  units: UnitRecord[];
  readonly logs: (LogRecord & LogEntry)[];
}

export interface ModelRun {
  readonly job: ModelJob;
  readonly n: number;
  /** The due time with which it lay in `ready`. */
  readonly runAt: number;
  startedAt: number | null;
}

export interface ModelLease {
  readonly number: number;
  readonly secret: string;
  readonly worker: WorkerId;
  readonly claimedAt: number;
  readonly isAlone: boolean;
  runs: ModelRun[];
}

export interface ModelWorker {
  readonly info: WorkerInfo;
  readonly joinedAt: number;
  until: number;
  renewedAt: number;
  beats: number;
  quiet: boolean;
  stopping: boolean;
  /** How many runs its process had begun, once a worker of the process was found dead. */
  diedWith: number | null;
  /** Ended runs whose end of code the worker has not reported. */
  ended: { readonly key: JobKey; readonly n: number }[];
}

/** Jobs of a type that have died alone. */
export interface ModelStreak {
  ended: number;
  /** Null: the gate of the type was not closed for this reason. */
  probeAt: number | null;
  probeMs: number;
}

/** Something that happened to one job. */
export interface ModelEvent {
  readonly position: number;
  readonly kind: EventKind;
  readonly at: number;
  readonly id: JobId;
  /** Null: the job is gone, and this says so. */
  readonly key: JobKey | null;
  readonly detail: string | null;
}

export interface IdempotencyHolder {
  readonly job: JobId;
  readonly type: string;
  readonly payload: string | null;
  expiresAt: number | null;
}

/** What the id of a child that gave way names. */
export interface ModelAlias {
  /** The holder of the key. Null: it was removed before the child gave way. */
  readonly holder: JobKey | null;
  readonly parent: JobKey;
}

/** Who has an exclusive name. */
export interface ModelSlot {
  readonly tenant: string;
  readonly name: string;
  readonly job: ModelJob;
}

export interface World {
  readonly clock: Pick<Clock, "now">;
  /** In the order of age. */
  readonly jobs: Map<JobKey, ModelJob>;
  readonly leases: Map<number, ModelLease>;
  readonly workers: Map<WorkerId, ModelWorker>;
  readonly gates: Map<string, Gate>;
  /** By type. */
  readonly streaks: Map<string, ModelStreak>;
  /** Gates in the order in which they were first named. */
  readonly names: string[];
  readonly idempotency: Map<string, IdempotencyHolder>;
  readonly aliases: Map<JobId, ModelAlias>;
  readonly letters: Map<JobId, DeadLetterRecord>;
  slots: ModelSlot[];
  /** Jobs that are over, and of which those that wait for them have yet to hear. */
  readonly ended: Set<JobKey>;
  readonly last: { key: number; lease: number; position: number };
  /** The longest that were asked for: no sequence of commands lasts for 30 days. */
  readonly periods: { deadLetterMs: number; idempotencyMs: number };
  events: ModelEvent[];
}

export function emptyWorld(clock: Pick<Clock, "now">): World {
  return {
    clock,
    jobs: new Map(),
    leases: new Map(),
    workers: new Map(),
    gates: new Map(),
    streaks: new Map(),
    names: ["tenant default"],
    periods: { deadLetterMs: 0, idempotencyMs: 0 },
    idempotency: new Map(),
    aliases: new Map(),
    letters: new Map(),
    slots: [],
    ended: new Set(),
    last: { key: 0, lease: 0, position: 0 },
    events: [],
  };
}

/** All that there is, to go back to. */
export function copyOf({ clock: _clock, ...rest }: World): Omit<World, "clock"> {
  return structuredClone(rest);
}

/** The job that was made with an id. */
export function jobById(world: World, id: JobId): ModelJob | undefined {
  return [...world.jobs.values()].find(({ asked }) => asked.id === id);
}

/** The job that an id names: the job with this id, else the one to which a child gave way. */
export function jobNamed(world: World, id: JobId): ModelJob | undefined {
  return jobById(world, id) ?? world.jobs.get(world.aliases.get(id)?.holder ?? -1);
}

export function isKnown(world: World, id: JobId): boolean {
  return jobById(world, id) !== undefined || world.aliases.has(id);
}

export function endOf(job: ModelJob): LedgerRow | undefined {
  return job.ledger.at(-1);
}

export function stateOf(job: ModelJob): State {
  const state = endOf(job)?.state ?? null;
  if (state !== null) return state;
  if (job.place === null) return "running";
  return job.place.kind === "scheduled" ? "scheduled" : "queued";
}

/** The number that the next run of a job will have, or the present one has. */
export function nextRun(job: ModelJob): number {
  return (endOf(job)?.n ?? 0) + 1;
}

/** Puts a job where it belongs by its due time, but for those that wait for others. */
export function putWaiting(world: World, job: ModelJob, runAt: number): "scheduled" | "queued" {
  if (job.needs.length > 0) {
    job.place = { kind: "blocked", runAt, gate: { kind: "after" } };
    return "queued";
  }
  const isDue = runAt <= world.clock.now();
  job.place = { kind: isDue ? "ready" : "scheduled", runAt };
  return isDue ? "queued" : "scheduled";
}

/** Who has a name of a tenant. */
export function slotOf({ slots }: World, tenant: string, name: string): ModelSlot | undefined {
  return slots.find((slot) => slot.tenant === tenant && slot.name === name);
}

/** Whether a run has the concurrency key of a job. */
export function isKeyTaken(world: World, { asked }: ModelJob): boolean {
  const { tenant, concurrencyKey } = asked;
  return concurrencyKey !== null && slotOf(world, tenant, concurrencyKey) !== undefined;
}

/** The most urgent of the jobs that were moved away because a name is taken. */
export function nextOfKey(
  { jobs }: World,
  { tenant, name }: Pick<ModelSlot, "tenant" | "name">,
): ModelJob | undefined {
  const waiting = [...jobs.values()].filter(({ asked, place }) => {
    return (
      place?.kind === "blocked" &&
      place.gate.kind === "key" &&
      asked.tenant === tenant &&
      asked.concurrencyKey === name
    );
  });
  return inOrder(waiting, byUrgency)[0];
}

export function isOpen({ job, n }: ModelRun): boolean {
  return nextRun(job) === n;
}

/** The newest lease that names a job is the valid one. */
export function leaseOf(world: World, job: ModelJob): ModelLease | undefined {
  return [...world.leases.values()]
    .toReversed()
    .find(({ runs }) => runs.some((run) => run.job === job));
}

export function leasesOf(world: World, worker: WorkerId): ModelLease[] {
  return [...world.leases.values()].filter((lease) => lease.worker === worker);
}

export function tell(
  world: World,
  kind: EventKind,
  { key, asked }: ModelJob,
  detail: string | null = null,
): void {
  world.last.position += 1;
  const named = kind === "job:deleted" ? null : key;
  const at = world.clock.now();
  world.events.push({ position: world.last.position, kind, at, id: asked.id, key: named, detail });
}

/** The open run of a lease that its holder proves. */
export function heldRun(
  { leases }: World,
  { lease: { number, secret }, key, n }: OpenRun,
): ModelRun | undefined {
  const lease = leases.get(number);
  if (lease?.secret !== secret) return undefined;
  const run = lease.runs.find(({ job }) => job.key === key);
  return run?.n === n && isOpen(run) && run.startedAt !== null ? run : undefined;
}

/** What the port promises to take as a limit. */
export function atMost<Item>(items: readonly Item[], limit: number): Item[] {
  return items.slice(0, Math.max(0, Math.trunc(limit)));
}

/** The order of claims, for {@link inOrder}. */
export function byUrgency({ asked, place, key }: ModelJob): number[] {
  return [asked.priority, place?.runAt ?? 0, key];
}

/** Sorts by several numbers, the first of which counts most. */
export function inOrder<Item>(items: Iterable<Item>, by: (item: Item) => number[]): Item[] {
  return [...items].toSorted((left, right) => {
    const others = by(right);
    return by(left).reduce((order, value, index) => order || value - (others[index] ?? 0), 0);
  });
}
