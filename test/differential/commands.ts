/**
 * Commands as fast-check makes and shrinks them. They name jobs and claims by numbers that are
 * taken modulo what there is, so that a shorter sequence still means something.
 */
import * as fc from "fast-check";
import { badNoteWish, noteWish, UNITS, type NoteWish } from "./note-commands.ts";
import { STATES, type State } from "../../src/core/job.ts";
import type { DeadLetterRecord, GateName } from "../../src/store/types/records.ts";
import type {
  CrashedLimits,
  DedupKey,
  IdempotencyKey,
} from "../../src/store/types/jobs-and-runs.ts";

const TYPES: readonly string[] = ["email", "report"];
export const TENANTS: readonly string[] = ["default", "acme"];
const LANES: readonly string[] = ["general", "slow"];
const NAMES: readonly string[] = ["docs/main", "docs/next"];
/** Names that jobs have as keys, and one that only runs acquire. */
export const LOCKS: readonly string[] = [...NAMES, "own"];
const CATEGORIES = ["billing", null] as const;
const TAGS = [{}, {}, { customer: "c1" }, { customer: "c2", größe: "groß" }] as const;
const PAYLOADS = [
  null,
  '{"a":1,"b":[1e3,null]}',
  '{"b":[1e3,null],  "a":1}',
  '"ü\\u0000"',
] as const;

/** Every gate there can be, in the order in which each store is told their names. */
export const GATES: readonly GateName[] = [
  ...TYPES.map((name) => ({ kind: "type", name }) as const),
  ...TENANTS.map((name) => ({ kind: "tenant", name }) as const),
  ...LANES.map((name) => ({ kind: "lane", name }) as const),
];

/** A job to be. `repeats` is one that was asked for before: the same id, and perhaps its body. */
export interface JobWish {
  readonly type: string;
  readonly tenant: string;
  readonly lane: string;
  readonly category: string | null;
  readonly priority: number;
  readonly dueMs: number;
  readonly isInstant: boolean;
  readonly maxAttempts: number;
  readonly timeoutMs: number | null;
  readonly payload: string | null;
  readonly correlation: number | null;
  readonly parent: number | null;
  readonly retryOf: number | null;
  /** With the payload of the job that it repeats. */
  readonly isFaithful: boolean;
  readonly ignoreCheckpoints: boolean;
  readonly concurrencyKey: string | null;
  readonly after: readonly number[] | null;
  readonly onFailed: "cancel" | "run";
  readonly idempotency: IdempotencyKey | null;
  readonly dedup: DedupKey | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly onOrphan: "retry" | "fail";
  readonly retryOwner: "queue" | "supervisor";
  readonly repeats: { readonly job: number; readonly isSame: boolean } | null;
}

export type End =
  | "succeeded"
  | "partly"
  | "failed"
  | "hopeless"
  | "timed_out"
  | "crashed"
  | "cancelled"
  | "interrupted"
  | "snoozed";

/** Proof of a claim, or something like it. */
export type Proof = "right" | "wrong secret" | "other number";

export interface ClaimWish {
  readonly index: number;
  readonly isAny: boolean;
}

export interface SettleWish {
  readonly claim: ClaimWish;
  readonly proof: Proof | "other run";
  readonly end: End;
  readonly note: NoteWish | null;
  readonly children: readonly JobWish[];
}

export interface RecordWish {
  readonly claim: ClaimWish;
  readonly proof: Proof | "other run";
  readonly note: NoteWish;
  readonly children: readonly JobWish[];
}

export interface FilterWish {
  readonly states: readonly State[] | null;
  readonly type: string | null;
  readonly tenant: string | null;
  readonly category: string | null;
  readonly correlation: number | null;
  readonly parent: number | null;
  readonly tag: string | null;
  /** So many milliseconds ago. */
  readonly since: number | null;
  readonly until: number | null;
}

export type Command =
  | { readonly do: "enqueue"; readonly jobs: readonly JobWish[] }
  | { readonly do: "enqueueInside"; readonly jobs: readonly JobWish[]; readonly commits: boolean }
  | { readonly do: "advance"; readonly ms: number }
  | {
      readonly do:
        | "join"
        | "leave"
        | "quiet"
        | "resumeWorker"
        | "stopWorker"
        | "overdue"
        | "endCode";
      readonly worker: number;
    }
  | { readonly do: "renew"; readonly worker: number; readonly leaseMs: number }
  | {
      readonly do: "claim";
      readonly worker: number;
      readonly lanes: readonly string[] | "any";
      readonly limit: number;
      readonly prefetch: boolean;
      readonly types: readonly string[] | null;
      readonly tenants: readonly string[] | null;
      readonly crashed: CrashedLimits | null;
    }
  | {
      readonly do: "claimAlone";
      readonly worker: number;
      readonly lanes: readonly string[] | "any";
      readonly types: readonly string[] | null;
      readonly tenants: readonly string[] | null;
      readonly cap: number;
    }
  | { readonly do: "endCrashStreak"; readonly type: string }
  | { readonly do: "crash"; readonly worker: number; readonly type: string }
  | {
      readonly do: "start" | "returnPrefetched";
      readonly claim: ClaimWish;
      readonly jobs: readonly number[];
      readonly proof: Proof;
    }
  | { readonly do: "settle"; readonly items: readonly SettleWish[] }
  | { readonly do: "overcharge"; readonly claim: ClaimWish }
  | { readonly do: "rescue"; readonly worker: number; readonly limit: number; late: boolean }
  | { readonly do: "record"; readonly notes: readonly RecordWish[] }
  | { readonly do: "checkpoints"; readonly claim: ClaimWish }
  | { readonly do: "progress" | "units" | "logs"; readonly job: number }
  | { readonly do: "unitHolders"; readonly unit: string }
  | { readonly do: "acquireLocks"; readonly claim: ClaimWish; readonly names: readonly string[] }
  | { readonly do: "lockHolder"; readonly tenant: string; readonly name: string }
  | { readonly do: "awaited"; readonly job: number }
  | { readonly do: "resolveDependencies" }
  | { readonly do: "promote"; readonly limit: number }
  | { readonly do: "cancel" | "hurry" | "get" | "attempts" | "deadLetter"; readonly job: number }
  | { readonly do: "intervene"; readonly job: number; readonly end: "failed" | "hopeless" }
  | { readonly do: "pause"; readonly gate: number; readonly forMs: number | null }
  | { readonly do: "resume"; readonly gate: number }
  | { readonly do: "hold" | "release" | "gates" | "workers" | "silent" | "mark" | "feed" }
  | { readonly do: "list"; readonly filter: FilterWish; readonly limit: number }
  | { readonly do: "count"; readonly filter: FilterWish; readonly max: number }
  | { readonly do: "stats"; readonly max: number }
  | {
      readonly do: "deadLetters";
      readonly status: DeadLetterRecord["status"] | null;
      limit: number;
    }
  | { readonly do: "review"; readonly job: number; readonly status: "acknowledged" | "discarded" }
  | { readonly do: "reprocess"; readonly job: number; readonly wish: JobWish }
  | { readonly do: "prune"; readonly jobs: number }
  | { readonly do: "pruneAll"; readonly ageMs: number };

const index = fc.nat({ max: 11 });
/** A job, perhaps one of the first, which other jobs name more often. */
const job = fc.oneof(index, fc.nat({ max: 9_999 }));
/** One of the last that were asked for, often by the same call; counted from the end. */
const lately = fc.constantFrom(-1, -1, -2, -3);
/** A claim: mostly one in which the command finds what it needs, else any. */
const claim: fc.Arbitrary<ClaimWish> = fc.record({
  index: fc.nat({ max: 99 }),
  isAny: fc.constantFrom(false, false, false, false, false, true),
});
const worker = fc.nat({ max: 2 });
const gate = fc.nat({ max: GATES.length - 1 });
const limit = fc.constantFrom(0, 1, 2, 3, 50);
const proof = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Proof>("right") },
  { weight: 1, arbitrary: fc.constant<Proof>("wrong secret") },
  { weight: 1, arbitrary: fc.constant<Proof>("other number") },
);

function rarely<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.option(value, { freq: 3 });
}

/** Null three times out of four. */
function seldom<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
}

/** Mostly limits, so that crashed jobs are left to other claims. */
const crashed = fc.constantFrom<CrashedLimits | null>(
  null,
  { once: 9, often: 9, cap: 3 },
  { once: 1, often: 1, cap: 3 },
  { once: 1, often: 0, cap: 2 },
  { once: 0, often: 1, cap: 3 },
);

const wish: fc.Arbitrary<JobWish> = fc.record({
  type: fc.constantFrom(...TYPES),
  tenant: fc.constantFrom(...TENANTS),
  lane: fc.constantFrom(...LANES),
  category: fc.constantFrom(...CATEGORIES),
  priority: fc.constantFrom(...Array<number>(12).fill(100), 50, 50, 200, -1),
  dueMs: fc.constantFrom(0, 0, 0, 0, 5, 1_000, 40_000, -20),
  isInstant: fc.boolean(),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  timeoutMs: seldom(fc.constantFrom(1, 1_000)),
  payload: fc.constantFrom(...PAYLOADS),
  correlation: seldom(index),
  parent: seldom(index),
  retryOf: seldom(index),
  isFaithful: fc.boolean(),
  ignoreCheckpoints: fc.constantFrom(false, false, false, true),
  concurrencyKey: fc.constantFrom(null, null, null, ...NAMES),
  after: seldom(fc.array(fc.oneof(job, lately), { minLength: 1, maxLength: 3 })),
  onFailed: fc.constantFrom("cancel", "cancel", "run"),
  idempotency: seldom(
    fc.record({
      key: fc.constantFrom("i1", "i2"),
      onConflict: fc.constantFrom("return-existing", "return-existing", "error"),
    }),
  ),
  dedup: seldom(
    fc.record({
      key: fc.constantFrom("d1", "d2"),
      onConflict: fc.constantFrom("skip", "replace", "extend"),
    }),
  ),
  tags: fc.constantFrom(...TAGS),
  onOrphan: fc.constantFrom("retry", "retry", "retry", "fail"),
  retryOwner: fc.constantFrom("queue", "queue", "queue", "supervisor"),
  repeats: seldom(seldom(fc.record({ job: index, isSame: fc.boolean() }))),
});

/** Half of the jobs have no keys, so that plain calls are met as often as mixed ones. */
const jobs: fc.Arbitrary<readonly JobWish[]> = fc.oneof(
  fc.array(wish.map(plain), { minLength: 1, maxLength: 4 }),
  fc.array(wish, { minLength: 1, maxLength: 4 }),
);

function plain(asked: JobWish): JobWish {
  return { ...asked, idempotency: null, dedup: null, retryOf: null, after: null };
}

/** In a transaction of the caller no request is repeated. */
const unheard = jobs.map((all) => all.map((each) => ({ ...each, repeats: null })));

/** A child repeats no job. Half of them have the dedup key of other jobs, so that they give way. */
const childWish = fc.tuple(wish, fc.boolean()).map(([asked, isPlain]) => {
  const child = { ...asked, retryOf: null };
  const dedup = asked.dedup ?? { key: "d1", onConflict: "skip" as const };
  return isPlain ? child : { ...child, idempotency: null, dedup };
});

/** A third of the ends that could have children do. */
const children = fc.oneof(
  { weight: 2, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(childWish, { minLength: 1, maxLength: 2 }) },
);

const runProof = fc.oneof(
  { weight: 16, arbitrary: proof },
  { weight: 1, arbitrary: fc.constant("other run" as const) },
);

const recordWish: fc.Arbitrary<RecordWish> = fc.record({
  claim,
  proof: runProof,
  note: badNoteWish(LOCKS),
  children,
});

const settleWish: fc.Arbitrary<SettleWish> = fc.record({
  claim,
  proof: runProof,
  note: seldom(noteWish(NAMES)),
  end: fc.constantFrom<End>(
    ...(["succeeded", "succeeded", "succeeded", "partly", "failed", "failed", "hopeless"] as const),
    ...(["timed_out", "crashed", "cancelled", "interrupted", "snoozed"] as const),
  ),
  children,
});

const ago = fc.constantFrom(0, 1, 5, 1_000, 31_000, 120_000);
const filter: fc.Arbitrary<FilterWish> = fc.record({
  states: rarely(fc.subarray([...STATES], { minLength: 1 })),
  type: seldom(fc.constantFrom(...TYPES, "unheard")),
  tenant: seldom(fc.constantFrom(...TENANTS)),
  category: seldom(fc.constant("billing")),
  correlation: seldom(index),
  parent: seldom(index),
  tag: seldom(fc.constantFrom("c1", "c2")),
  since: seldom(ago),
  until: seldom(ago),
});

type Kind = readonly [weight: number, fc.Arbitrary<Command>];

/** The way of most jobs: part of every sequence. */
const WAY: readonly Kind[] = [
  [12, of("enqueue", { jobs })],
  [5, of("advance", { ms: fc.constantFrom(1, 5, 1_000, 1_000, 31_000, 120_000) })],
  [3, of("join", { worker })],
  [
    11,
    of("claim", {
      worker: fc.constantFrom(0, 1, 2, 2),
      lanes: fc.constantFrom<readonly string[] | "any">("any", "any", "any", ["slow"], LANES),
      limit: fc.constantFrom(0, 1, 2, 3, 3, 10),
      prefetch: fc.constantFrom(false, false, true),
      types: seldom(seldom(fc.constantFrom<readonly string[]>(["email"], ["unheard", "report"]))),
      tenants: seldom(seldom(fc.constantFrom<readonly string[]>(["acme"], ["default", "acme"]))),
      crashed,
    }),
  ],
  [11, of("settle", { items: fc.array(settleWish, { minLength: 1, maxLength: 3 }) })],
  [3, of("promote", { limit })],
];

/** Without jobs nothing happens. */
const BEGINNING: fc.Arbitrary<Command> = of("enqueue", {
  jobs: fc.array(wish, { minLength: 4, maxLength: 8, size: "max" }),
});

/** What belongs together is met together; each sequence has a few of these. */
const TOPICS: readonly (readonly Kind[])[] = [
  [
    [7, of("start", { claim, jobs: fc.subarray([0, 1, 2], { minLength: 1 }), proof })],
    [4, of("returnPrefetched", { claim, jobs: fc.subarray([0, 1, 2], { minLength: 1 }), proof })],
    [1, of("overcharge", { claim })],
  ],
  [[6, of("enqueueInside", { jobs: unheard, commits: fc.constantFrom(true, true, false) })]],
  [
    [3, of("renew", { worker, leaseMs: fc.constantFrom(1, 30_000, 300_000) })],
    [8, of("rescue", { worker, limit, late: fc.constantFrom(false, false, false, true) })],
    [2, of("leave", { worker })],
    [1, of("quiet", { worker })],
    [1, of("resumeWorker", { worker })],
    [1, of("stopWorker", { worker })],
    [4, of("advance", { ms: fc.constant(160_000) })],
    ...(["workers", "silent"] as const).map((verb): Kind => [1, of(verb, {})]),
    [2, of("overdue", { worker })],
    [2, of("endCode", { worker })],
  ],
  [
    [12, of("crash", { worker: fc.constantFrom(0, 2, 2), type: fc.constantFrom(...TYPES) })],
    [
      9,
      of("claimAlone", {
        worker: fc.constantFrom(0, 2, 2),
        lanes: fc.constantFrom<readonly string[] | "any">("any", "any", "any", ["slow"]),
        types: seldom(fc.constantFrom<readonly string[]>(["email"], ["unheard", "report"])),
        tenants: seldom(fc.constantFrom<readonly string[]>(["acme"])),
        cap: fc.constantFrom(1, 1, 2),
      }),
    ],
    [5, of("start", { claim, jobs: fc.constant([0]), proof })],
    [3, of("returnPrefetched", { claim, jobs: fc.constant([0]), proof })],
    [5, of("advance", { ms: fc.constantFrom(7, 60_000, 120_000) })],
    [2, of("hold", {})],
    [2, of("release", {})],
    [2, of("gates", {})],
    [1, of("endCrashStreak", { type: fc.constantFrom(...TYPES, "unheard") })],
  ],
  [
    [5, of("cancel", { job })],
    [3, of("hurry", { job })],
    [4, of("intervene", { job, end: fc.constantFrom("failed", "hopeless") })],
  ],
  [
    [5, of("pause", { gate, forMs: rarely(fc.constantFrom(1, 1_000)) })],
    [4, of("resume", { gate })],
    [4, of("hold", {})],
    [4, of("release", {})],
    [1, of("gates", {})],
  ],
  [
    [4, of("acquireLocks", { claim, names: fc.subarray([...NAMES, "own"], { minLength: 1 }) })],
    [2, of("lockHolder", { tenant: fc.constantFrom(...TENANTS), name: fc.constantFrom(...NAMES) })],
    [4, of("hold", {})],
    [3, of("release", {})],
    [3, of("awaited", { job })],
    [1, of("resolveDependencies", {})],
    [3, of("cancel", { job })],
    [3, of("hurry", { job })],
  ],
  [
    [14, of("record", { notes: fc.array(recordWish, { minLength: 1, maxLength: 3 }) })],
    [6, of("acquireLocks", { claim, names: fc.subarray([...LOCKS], { minLength: 1 }) })],
    [3, of("lockHolder", { tenant: fc.constantFrom(...TENANTS), name: fc.constantFrom(...LOCKS) })],
    [4, of("checkpoints", { claim })],
    // A run that says something must have started, under the lease that lasts longest.
    [
      8,
      of("claim", {
        worker: fc.constant(2),
        lanes: fc.constant("any" as const),
        limit: fc.constantFrom(1, 2, 3),
        prefetch: fc.constant(false),
        types: fc.constant(null),
        tenants: fc.constant(null),
        crashed: fc.constant(null),
      }),
    ],
    // A job that failed with notes may have a successor.
    [4, of("reprocess", { job, wish })],
    [3, of("intervene", { job, end: fc.constant("hopeless") })],
    [2, of("progress", { job })],
    [2, of("units", { job })],
    [2, of("logs", { job })],
    [1, of("unitHolders", { unit: fc.constantFrom(...UNITS) })],
  ],
  [
    [5, of("prune", { jobs: fc.constantFrom(0, 1, 2) })],
    [4, of("pruneAll", { ageMs: fc.constantFrom(0, 1_000, 60_000) })],
  ],
  [
    [4, of("intervene", { job, end: fc.constant("hopeless") })],
    [4, of("review", { job, status: fc.constantFrom("acknowledged", "discarded") })],
    [6, of("reprocess", { job, wish })],
    [2, of("endCode", { worker })],
    [2, of("deadLetter", { job })],
    [
      2,
      of("deadLetters", {
        status: seldom(fc.constantFrom("pending_review", "reprocessed", "discarded")),
        limit: fc.constantFrom(1, 50),
      }),
    ],
  ],
  [
    ...(["get", "attempts"] as const).map((verb): Kind => [2, of(verb, { job })]),
    [3, of("list", { filter, limit: fc.constantFrom(1, 2, 50) })],
    [3, of("count", { filter, max: fc.constantFrom(0, 1, 2, 50) })],
    [2, of("stats", { max: fc.constantFrom(0, 1, 50) })],
    ...(["mark", "feed"] as const).map((verb): Kind => [1, of(verb, {})]),
  ],
];

/**
 * Sequences of commands; each leaves some topics out, so that the others meet more often. Without
 * the library's liking for small values: with few jobs and short sequences little is met.
 */
export const sequences: fc.Arbitrary<readonly Command[]> = fc.noBias(
  fc.subarray([...TOPICS], { minLength: 1, maxLength: 5 }).chain((topics) => {
    const kinds = [...WAY, ...topics.flat()];
    const weighted = kinds.map(([weight, arbitrary]) => ({ weight, arbitrary }));
    const rest = fc.array(fc.oneof(...weighted), { minLength: 20, maxLength: 60, size: "max" });
    return fc.tuple(BEGINNING, rest).map(([first, others]) => [first, ...others]);
  }),
);

/** A command with an arbitrary for each of its fields. */
function of<Verb extends Command["do"]>(
  verb: Verb,
  fields: FieldsOf<CommandOf<Verb>>,
): fc.Arbitrary<Command> {
  // A record of arbitraries gives a record of their values, which the compiler cannot follow here.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return fc.record({
    do: fc.constant(verb),
    ...fields,
  }) as fc.Arbitrary<unknown> as fc.Arbitrary<Command>;
}

type FieldsOf<Wanted> = {
  readonly [Field in Exclude<keyof Wanted, "do">]: fc.Arbitrary<Wanted[Field]>;
};

/** The command of a verb; several may share one shape. */
export type CommandOf<Verb, Each = Command> = Each extends { readonly do: infer Verbs }
  ? Verb extends Verbs
    ? Each
    : never
  : never;
