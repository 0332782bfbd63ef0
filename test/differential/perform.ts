/** Runs one command on one store and answers in words that all stores share; see `shown.ts`. */
import type { JobId } from "../../src/core/job.ts";
import type {
  Claim,
  EnqueueAnswer,
  JobKey,
  Lease,
  NewJob,
  SettleItem,
  WorkerInfo,
} from "../../src/store/types/jobs-and-runs.ts";
import type { ListFilter } from "../../src/store/types/lists.ts";
import type { GateName } from "../../src/store/types/records.ts";
import type { RunNote } from "../../src/store/types/notes.ts";
import { retention } from "../support/factories.ts";
import {
  GATES,
  LOCKS,
  TENANTS,
  type ClaimWish,
  type Command,
  type CommandOf,
  type FilterWish,
  type Proof,
} from "./commands.ts";
import { crashDecision, endDecision, restartDecision } from "./decisions.ts";
import { bodyOf } from "./note-commands.ts";
import type { Compared } from "./model/model.ts";
import * as shown from "./shown.ts";

export type Inside = (
  jobs: readonly NewJob[],
  commits: boolean,
) => Promise<readonly EnqueueAnswer[] | string>;

type Held = Pick<Claim, "jobs"> & { readonly lease: Lease };

/** One of the stores that are compared, and what it has told so far. */
export interface Subject {
  readonly name: string;
  readonly store: Compared;
  /** Enqueues in a transaction of its own; a refusal of the whole call is told by its code. */
  readonly inside: Inside;
  readonly claims: Held[];
  /** Jobs by the numbers that this store has for them. */
  readonly ids: Map<JobKey, JobId>;
  /** Resolves when nothing goes on in the background. */
  readonly calm: () => Promise<void>;
  /** Where the feed ended when the sequence last marked it. */
  position: number;
}

export interface OpenRun {
  readonly claim: number;
  readonly job: number;
  readonly isStarted: boolean;
}

/** What a sequence has in common, whichever store it runs on. */
export interface Script {
  readonly workers: readonly WorkerInfo[];
  /** Ids of all jobs that were asked for so far. */
  readonly ids: readonly JobId[];
  /** The jobs that the present command brings, ready-made, in the order in which it names them. */
  readonly jobs: readonly NewJob[];
  /** Ids of jobs whose runs have said something. */
  readonly noted: readonly JobId[];
  /** By the clock of all stores. */
  readonly now: number;
  /** Runs that have not ended: the claim and its job by their numbers. */
  readonly open: readonly OpenRun[];
  /** Ids of jobs that have a dead letter, and the gates that are closed. */
  readonly letters: readonly JobId[];
  readonly closed: readonly GateName[];
  /** How many jobs can be pruned without a choice among equally old ones. */
  readonly pruneLimit: number;
}

const ALL = 1_000;
/** Longer than any sequence lasts. */
const AGES_MS = 3_000_000_000;
const JOBS_ONLY = {
  finishedMs: every(0),
  deadLetterMs: AGES_MS,
  idempotencyMs: AGES_MS,
  eventMs: AGES_MS,
};
const STRANGER = "01JAAAAAAAAAAAAAAAAAAAAAAA";

type Performance<Verb> = (
  subject: Subject,
  script: Script,
  command: CommandOf<Verb>,
) => Promise<unknown>;

/** What each command means. Time goes by elsewhere, for all stores at once. */
const PERFORMANCES: { readonly [Verb in Exclude<Command["do"], "advance">]: Performance<Verb> } = {
  enqueue: ({ store }, { jobs }) => store.enqueue(jobs),
  enqueueInside: ({ inside }, { jobs }, { commits }) => inside(jobs, commits),
  join: ({ store }, script, { worker }) => store.register(script.workers[worker]!),
  leave: ({ store }, script, { worker }) => store.deregister(script.workers[worker]!.id),
  quiet: ({ store }, script, { worker }) => store.quiet(script.workers[worker]!.id),
  resumeWorker: ({ store }, script, { worker }) => store.resumeWorker(script.workers[worker]!.id),
  stopWorker: ({ store }, script, { worker }) => store.stopWorker(script.workers[worker]!.id),
  renew: async (subject, script, { worker, leaseMs }) =>
    shown.renewal(subject, await subject.store.renew(script.workers[worker]!.id, leaseMs)),
  /** The worker reports that all its code has ended. */
  endCode: async ({ store }, script, { worker }) => {
    const { id } = script.workers[worker]!;
    const renewal = await store.renew(id, 30_000);
    if (renewal.status === "renewed") await store.reportCode(id, { ended: renewal.ended });
  },
  overdue: async (subject, script, { worker }) =>
    shown.overdue(subject, await subject.store.overdue(script.workers[worker]!.id, 10)),
  silent: ({ store }) => store.silent(ALL),
  workers: ({ store }) => store.workers(ALL),
  claim,
  claimAlone,
  crash,
  endCrashStreak: ({ store }, _script, { type }) => store.endCrashStreak(type),
  start: move,
  returnPrefetched: move,
  settle,
  overcharge,
  record,
  checkpoints: async (subject, script, { claim: wish }) => {
    const target = aim(script, subject, wish, true);
    const job = oneOf(subject.claims[target.claim]?.jobs ?? [], target.job);
    return job === undefined ? null : shown.checkpoints(await subject.store.checkpoints(job.key));
  },
  progress: ({ store }, script, { job }) => store.progress(notedAt(script, job)),
  units: ({ store }, script, { job }) => store.units(notedAt(script, job), {}, { limit: ALL }),
  logs: ({ store }, script, { job }) => store.logs(notedAt(script, job), { limit: 2 }),
  unitHolders: ({ store }, _script, { unit }) => store.unitHolders(unit, ALL),
  acquireLocks,
  lockHolder: async ({ store }, _script, { tenant, name }) => {
    return { lockHolder: await store.lockHolder(tenant, name) };
  },
  awaited: async ({ store }, script, { job }) => {
    return { awaited: (await store.openDependencies(idAt(script, job), ALL)).toSorted() };
  },
  resolveDependencies: ({ store }) => store.resolveDependencies(ALL),
  rescue,
  promote: async ({ store }, _script, { limit }) => {
    const { moved, nextDueMs } = await store.promote(limit);
    return { moved, nextDueMs };
  },
  cancel: ({ store }, script, { job }) => store.cancel(idAt(script, job), "ada", `reason ${job}`),
  hurry: ({ store }, script, { job }) => store.hurry(idAt(script, job)),
  intervene: ({ store }, script, { job, end }) =>
    store.intervene(idAt(script, job), endDecision(end)),
  pause,
  resume: ({ store }, { closed }, { gate }) => store.resume(oneOf(closed, gate) ?? GATES[gate]!),
  hold: ({ store }) => store.hold(ALL),
  release: ({ store }) => store.release(ALL),
  gates: async ({ store }) => shown.gates(await store.gates()),
  get: async ({ store }, script, { job }) => shown.record(await store.get(idAt(script, job))),
  attempts: async (subject, script, { job }) =>
    shown.attempts(subject, await subject.store.attempts(idAt(script, job))),
  list: (subject, script, { filter, limit }) => listAll(subject, filterOf(script, filter), limit),
  count: ({ store }, script, { filter, max }) => store.count(filterOf(script, filter), max),
  async stats({ store }, _script, { max }) {
    const { retrying, ...counts } = await store.stats(max);
    // Which of the scheduled jobs are read is not defined where there are more.
    return counts.scheduled < max ? { ...counts, retrying } : counts;
  },
  deadLetter: async ({ store }, script, { job }) =>
    shown.letter(await store.deadLetter(letterAt(script, job))),
  deadLetters,
  review: async ({ store }, script, { job, status }) =>
    shown.letterAnswer(
      await store.review(letterAt(script, job), { status, by: "eve", notes: "seen" }),
    ),
  reprocess: async ({ store }, script, { job }) =>
    shown.letterAnswer(await store.reprocess(letterAt(script, job), script.jobs[0]!, "eve", null)),
  prune: ({ store }, { pruneLimit }) => store.prune(retention(JOBS_ONLY), pruneLimit),
  pruneAll,
  mark: async (subject) => {
    subject.position = await subject.store.feedEnd();
  },
  feed: async ({ store, position }) => shown.feed(await store.feed(position, ALL)),
};

/** How many commands there are. */
export const COMMANDS_KNOWN: number = Object.keys(PERFORMANCES).length;

export function perform(
  subject: Subject,
  script: Script,
  command: Exclude<Command, { readonly do: "advance" }>,
): Promise<unknown> {
  // The table has for each command what takes it, but the compiler looks at all of them at once.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return PERFORMANCES[command.do](subject, script, command as never);
}

/** Everything that a store shows, for the end of a sequence. */
export async function audit(subject: Subject, script: Script): Promise<unknown> {
  const { store } = subject;
  const jobs = await listAll(subject, {}, ALL);
  const ledgers: unknown[] = [];
  for (const id of script.ids) {
    const notes = {
      progress: await store.progress(id),
      units: await store.units(id, {}, { limit: ALL }),
      logs: await store.logs(id, { limit: ALL }),
    };
    const job = shown.record(await store.get(id));
    ledgers.push([id, job, shown.attempts(subject, await store.attempts(id)), notes]);
  }
  const locks: unknown[] = [];
  for (const tenant of TENANTS) {
    for (const name of LOCKS) locks.push([tenant, name, await store.lockHolder(tenant, name)]);
  }
  return {
    jobs,
    ledgers,
    locks,
    letters: (await store.deadLetters({}, { limit: ALL })).map(shown.letter),
    workers: await store.workers(ALL),
    gates: shown.gates(await store.gates()),
    stats: await store.stats(ALL),
    feed: shown.feed(await store.feed(0, ALL)),
  };
}

/** A job that was asked for, or one that does not exist. Below zero it is counted from the end. */
export function idAt({ ids }: Pick<Script, "ids">, index: number): JobId {
  const known = index < 0 ? ids.at(index) : ids[index % (ids.length + 1)];
  return known ?? STRANGER;
}

/** Mostly a job that has a dead letter, if there is any. */
export function letterAt(script: Pick<Script, "ids" | "letters">, index: number): JobId {
  const isAny = index % 8 === 7;
  return (isAny ? undefined : oneOf(script.letters, index)) ?? idAt(script, index);
}

/** Mostly a job whose runs have said something, if there is any. */
export function notedAt(script: Pick<Script, "ids" | "noted">, index: number): JobId {
  const isAny = index % 8 === 7;
  return (isAny ? undefined : oneOf(script.noted, index)) ?? idAt(script, index);
}

function oneOf<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % items.length];
}

async function claim(
  subject: Subject,
  { workers }: Script,
  { worker, lanes, limit, prefetch, types, tenants, crashed }: CommandOf<"claim">,
): Promise<unknown> {
  const filters = {
    ...(types !== null && { types }),
    ...(tenants !== null && { tenants }),
    ...(crashed !== null && { crashed }),
  };
  const id = workers[worker]!.id;
  const answer = await subject.store.claim({
    worker: id,
    lanes,
    limit,
    prefetch: prefetch,
    ...filters,
  });
  // A store may say that a job waits to run alone although `claimAlone` finds none.
  const { lease, jobs, lost } = answer;
  if (lease !== null) subject.claims.push({ lease, jobs });
  for (const job of jobs) subject.ids.set(job.key, job.id);
  return { isTaken: lease !== null, lost, jobs: jobs.map(shown.withoutKey) };
}

async function claimAlone(
  subject: Subject,
  { workers }: Script,
  { worker, lanes, types, tenants, cap }: CommandOf<"claimAlone">,
): Promise<unknown> {
  const filters = { ...(types !== null && { types }), ...(tenants !== null && { tenants }) };
  const id = workers[worker]!.id;
  const answer = await subject.store.claimAlone({ worker: id, lanes, cap, ...filters });
  if (answer === null) return null;
  const { lease, job, isProbe } = answer;
  subject.claims.push({ lease, jobs: [job] });
  subject.ids.set(job.key, job.id);
  return { isProbe, job: shown.withoutKey(job) };
}

/** A worker claims one job more and dies. Its jobs are rescued and due at once; it comes back. */
async function crash(
  subject: Subject,
  { workers }: Script,
  { worker, type }: CommandOf<"crash">,
): Promise<unknown> {
  const { store } = subject;
  const info = workers[worker]!;
  await store.register(info);
  const request = { worker: info.id, lanes: "any", limit: 1, prefetch: false } as const;
  const { lease, jobs } = await store.claim({ ...request, types: [type] });
  if (lease !== null) subject.claims.push({ lease, jobs });
  for (const { key, id } of jobs) subject.ids.set(key, id);
  await store.deregister(info.id);
  const dead = (await store.silent(ALL)).find(({ id }) => id === info.id);
  const rescued =
    dead === undefined
      ? null
      : await store.rescue({ ...dead, worker: info.id, limit: ALL, decide: restartDecision });
  await store.register(info);
  return { rescued };
}

/** Where a wish leads: a run of the wanted kind, if there is one. */
function aim(
  { open }: Script,
  { claims }: Subject,
  { index, isAny }: ClaimWish,
  isStarted: boolean,
): { readonly claim: number; readonly job: number } {
  const wanted = open.filter((run) => run.isStarted === isStarted);
  const found = isAny ? undefined : oneOf(wanted, index);
  return found ?? { claim: index % Math.max(1, claims.length), job: index };
}

function proofOf({ claims }: Subject, index: number, proof: Proof): Lease | undefined {
  const lease = claims[index]?.lease;
  if (lease === undefined) return undefined;
  if (proof === "wrong secret") return { ...lease, secret: "0123456789abcdef".repeat(2) };
  const other = claims[index + 1]?.lease ?? lease;
  return proof === "other number" ? { ...lease, number: other.number + 1_000 } : lease;
}

async function move(
  subject: Subject,
  script: Script,
  { do: verb, claim: wish, jobs, proof }: CommandOf<"start">,
): Promise<unknown> {
  const { claim: index } = aim(script, subject, wish, false);
  const lease = proofOf(subject, index, proof);
  if (lease === undefined) return null;
  const keys = jobs.flatMap((turn) => subject.claims[index]?.jobs[turn]?.key ?? []);
  if (verb === "returnPrefetched") return subject.store.returnPrefetched(lease, keys);
  const { status, begun } = await subject.store.startPrefetched(lease, keys);
  return { status, begun: begun.map((key) => subject.ids.get(key)) };
}

async function settle(
  subject: Subject,
  script: Script,
  command: CommandOf<"settle">,
): Promise<unknown> {
  let born = 0;
  const items = command.items.flatMap((wish): SettleItem[] => {
    const target = aim(script, subject, wish.claim, true);
    const jobs = subject.claims[target.claim]?.jobs ?? [];
    const job = oneOf(jobs, target.job);
    const proof = wish.proof === "other run" ? "right" : wish.proof;
    const lease = proofOf(subject, target.claim, proof);
    const asked = script.jobs.slice(born, (born += wish.children.length));
    if (job === undefined || lease === undefined) return [];
    const children = childrenOf(job.id, asked);
    const n = wish.proof === "other run" ? job.n + 1 : job.n;
    const note = wish.note === null ? {} : { note: bodyOf(wish.note, script.now) };
    return [{ lease, key: job.key, n, settlement: endDecision(wish.end)(job), ...note, children }];
  });
  return items.length === 0 ? [] : subject.store.settle(items);
}

async function record(
  subject: Subject,
  script: Script,
  command: CommandOf<"record">,
): Promise<unknown> {
  let born = 0;
  const notes = command.notes.flatMap((wish): RunNote[] => {
    const target = aim(script, subject, wish.claim, true);
    const job = oneOf(subject.claims[target.claim]?.jobs ?? [], target.job);
    const proof = wish.proof === "other run" ? "right" : wish.proof;
    const lease = proofOf(subject, target.claim, proof);
    const asked = script.jobs.slice(born, (born += wish.children.length));
    if (job === undefined || lease === undefined) return [];
    const children = childrenOf(job.id, asked);
    const n = wish.proof === "other run" ? job.n + 1 : job.n;
    return [{ lease, key: job.key, n, ...bodyOf(wish.note, script.now), children }];
  });
  return notes.length === 0 ? [] : subject.store.record(notes);
}

/** A child that names no parent has the job whose run asks for it. */
function childrenOf(parent: JobId, asked: readonly NewJob[]): NewJob[] {
  return asked.map((job) => ({ ...job, parentId: job.parentId ?? parent }));
}

/** Says that a run was charged more often than it ran, which no store takes. */
async function overcharge(
  subject: Subject,
  script: Script,
  { claim: wish }: CommandOf<"overcharge">,
): Promise<unknown> {
  const target = aim(script, subject, wish, true);
  const { lease, jobs = [] } = subject.claims[target.claim] ?? {};
  const job = oneOf(jobs, target.job);
  if (lease === undefined || job === undefined) return null;
  const settlement = { ...endDecision("succeeded")(job), tries: 99 };
  return subject.store.settle([{ lease, key: job.key, n: job.n, settlement }]);
}

async function acquireLocks(
  subject: Subject,
  script: Script,
  { claim: wish, names }: CommandOf<"acquireLocks">,
): Promise<unknown> {
  const target = aim(script, subject, wish, true);
  const { lease, jobs = [] } = subject.claims[target.claim] ?? {};
  const job = oneOf(jobs, target.job);
  if (lease === undefined || job === undefined) return null;
  return subject.store.acquireLocks({ lease, key: job.key, n: job.n }, names);
}

async function rescue(
  { store }: Subject,
  { workers }: Script,
  { worker, limit, late }: CommandOf<"rescue">,
): Promise<unknown> {
  const silent = await store.silent(ALL);
  const { id } = oneOf(silent, worker) ?? workers[worker]!;
  const beats = (silent.find((each) => each.id === id)?.beats ?? 0) - (late ? 1 : 0);
  const answer = await store.rescue({ worker: id, beats, limit, decide: crashDecision });
  return { silent, answer };
}

async function pause(
  { store }: Subject,
  _script: Script,
  { gate, forMs }: CommandOf<"pause">,
): Promise<void> {
  const length = forMs === null ? {} : { forMs };
  return store.pause(GATES[gate]!, { reason: "stocktaking", by: "ada", ...length });
}

async function pruneAll(
  { store }: Subject,
  _script: Script,
  { ageMs }: CommandOf<"pruneAll">,
): Promise<unknown> {
  const ages = { deadLetterMs: ageMs, idempotencyMs: ageMs, eventMs: ageMs };
  const pruned = await store.prune(retention({ finishedMs: every(ageMs), ...ages }), ALL);
  return { ...pruned, events: pruned.events > 0 };
}

function every(ms: number) {
  return { completed: ms, completed_with_errors: ms, failed: ms, cancelled: ms };
}

async function listAll(subject: Subject, filter: ListFilter, limit: number): Promise<unknown> {
  const found: unknown[] = [];
  let after: JobKey | null = null;
  for (let pages = 0; pages < ALL; pages += 1) {
    const page = after === null ? { limit } : { after, limit };
    const { jobs, next } = await subject.store.list(filter, page);
    for (const { key, id } of jobs) subject.ids.set(key, id);
    found.push(...jobs.map(shown.record));
    if (next === null) return found;
    after = next;
  }
  throw new Error("a list never ends");
}

/** Two pages. */
async function deadLetters(
  { store }: Subject,
  _script: Script,
  { status, limit }: CommandOf<"deadLetters">,
): Promise<unknown> {
  const filter = status === null ? {} : { status };
  const first = await store.deadLetters(filter, { limit });
  const last = first.at(-1);
  if (last === undefined) return [];
  const second = await store.deadLetters(filter, { after: last.id, limit });
  return [...first, ...second].map(shown.letter);
}

function filterOf(script: Script, wish: FilterWish): ListFilter {
  const { states, type, tenant, category, correlation, parent, tag, since, until } = wish;
  return {
    ...(states !== null && { states }),
    ...(type !== null && { type }),
    ...(tenant !== null && { tenant }),
    ...(category !== null && { category }),
    ...(correlation !== null && { correlationId: idAt(script, correlation) }),
    ...(parent !== null && { parentId: idAt(script, parent) }),
    ...(tag !== null && { tags: { customer: tag } }),
    ...(since !== null && { createdFrom: script.now - since }),
    ...(until !== null && { createdBefore: script.now - until }),
  };
}
