/**
 * Commands as fast-check makes and shrinks them. They name jobs and claims by numbers that are
 * taken modulo what there is, so that a shorter sequence still means something.
 */
import * as fc from "fast-check";
import { STATES, type State } from "../../src/core/job.ts";
import type { DeadLetter, GateName } from "../../src/store/store.ts";
import type { DedupKey, IdempotencyKey } from "../../src/store/work.ts";

const TYPES: readonly string[] = ["email", "report"];
const TENANTS: readonly string[] = ["default", "acme"];
const LANES: readonly string[] = ["general", "slow"];
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

export interface SettleWish {
  readonly claim: number;
  readonly job: number;
  readonly proof: Proof | "other run";
  readonly end: End;
  readonly child: JobWish | null;
}

export interface FilterWish {
  readonly states: readonly State[] | null;
  readonly type: string | null;
  readonly tenant: string | null;
  readonly category: string | null;
  readonly correlation: number | null;
  readonly parent: number | null;
  readonly tag: string | null;
}

export type Command =
  | { readonly do: "enqueue"; readonly jobs: readonly JobWish[] }
  | { readonly do: "advance"; readonly ms: number }
  | { readonly do: "join" | "leave" | "quiet" | "overdue"; readonly worker: number }
  | { readonly do: "renew"; readonly worker: number; readonly leaseMs: number }
  | {
      readonly do: "claim";
      readonly worker: number;
      readonly lanes: readonly string[] | "any";
      readonly limit: number;
      readonly buffer: boolean;
      readonly types: readonly string[] | null;
      readonly tenants: readonly string[] | null;
    }
  | {
      readonly do: "start" | "handBack";
      readonly claim: number;
      readonly jobs: readonly number[];
      readonly proof: Proof;
    }
  | { readonly do: "settle"; readonly items: readonly SettleWish[] }
  | { readonly do: "overcharge"; readonly claim: number }
  | { readonly do: "rescue"; readonly worker: number; readonly limit: number; late: boolean }
  | { readonly do: "promote"; readonly limit: number }
  | { readonly do: "cancel" | "hurry" | "get" | "attempts" | "deadLetter"; readonly job: number }
  | { readonly do: "intervene"; readonly job: number; readonly end: "failed" | "hopeless" }
  | { readonly do: "pause"; readonly gate: number; readonly forMs: number | null }
  | { readonly do: "resume"; readonly gate: number }
  | { readonly do: "hold" | "release" | "gates" | "workers" | "silent" | "mark" | "feed" }
  | { readonly do: "list"; readonly filter: FilterWish; readonly limit: number }
  | { readonly do: "count"; readonly filter: FilterWish; readonly max: number }
  | { readonly do: "stats"; readonly max: number }
  | { readonly do: "deadLetters"; readonly status: DeadLetter["status"] | null; limit: number }
  | { readonly do: "review"; readonly job: number; readonly status: "acknowledged" | "discarded" }
  | { readonly do: "reprocess"; readonly job: number; readonly wish: JobWish }
  | { readonly do: "prune"; readonly jobs: number }
  | { readonly do: "pruneAll"; readonly ageMs: number };

const index = fc.nat({ max: 11 });
const worker = fc.nat({ max: 2 });
const gate = fc.nat({ max: GATES.length - 1 });
const limit = fc.constantFrom(0, 1, 2, 3, 50);
const proof = fc.constantFrom<Proof>(
  "right",
  "right",
  "right",
  "right",
  "wrong secret",
  "other number",
);

function rarely<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.option(value, { freq: 3 });
}

/** Null three times out of four. */
function seldom<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
}

const wish: fc.Arbitrary<JobWish> = fc.record({
  type: fc.constantFrom(...TYPES),
  tenant: fc.constantFrom(...TENANTS),
  lane: fc.constantFrom(...LANES),
  category: fc.constantFrom(...CATEGORIES),
  priority: fc.constantFrom(100, 100, 100, 100, 50, 50, 200, -1),
  dueMs: fc.constantFrom(0, 0, 0, 0, 5, 1_000, 40_000, -20),
  isInstant: fc.boolean(),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  timeoutMs: seldom(fc.constantFrom(1, 1_000)),
  payload: fc.constantFrom(...PAYLOADS),
  correlation: seldom(index),
  parent: seldom(index),
  retryOf: seldom(index),
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

/**
 * Jobs of one call are either all without keys, or at most two with keys: how old those of a mixed
 * call are among themselves is left open.
 */
const plain: fc.Arbitrary<JobWish> = wish.map((job) => {
  return { ...job, idempotency: null, dedup: null, retryOf: null };
});

const keyed: fc.Arbitrary<JobWish> = wish.filter(isKeyed);

/** Whether a job may meet another that stands in its way. */
export function isKeyed({ idempotency, dedup, retryOf }: Readonly<Record<Keys, unknown>>): boolean {
  return idempotency !== null || dedup !== null || retryOf !== null;
}

type Keys = "idempotency" | "dedup" | "retryOf";

function settleWish(child: fc.Arbitrary<JobWish>): fc.Arbitrary<SettleWish> {
  return fc.record({
    claim: index,
    job: fc.nat({ max: 3 }),
    proof: fc.oneof(
      { weight: 8, arbitrary: proof },
      { weight: 1, arbitrary: fc.constant("other run" as const) },
    ),
    end: fc.constantFrom<End>(
      ...([
        "succeeded",
        "succeeded",
        "succeeded",
        "partly",
        "failed",
        "failed",
        "hopeless",
      ] as const),
      ...(["timed_out", "crashed", "cancelled", "interrupted", "snoozed"] as const),
    ),
    child: seldom(child),
  });
}

const filter: fc.Arbitrary<FilterWish> = fc.record({
  states: rarely(fc.subarray([...STATES], { minLength: 1 })),
  type: seldom(fc.constantFrom(...TYPES, "unheard")),
  tenant: seldom(fc.constantFrom(...TENANTS)),
  category: seldom(fc.constant("billing")),
  correlation: seldom(index),
  parent: seldom(index),
  tag: seldom(fc.constantFrom("c1", "c2")),
});

/** What happens often stands in front, with its weight. */
const KINDS: readonly (readonly [number, fc.Arbitrary<Command>])[] = [
  [8, of("enqueue", { jobs: fc.array(plain, { minLength: 1, maxLength: 4 }) })],
  [6, of("advance", { ms: fc.constantFrom(1, 5, 1_000, 31_000, 120_000) })],
  [5, of("join", { worker })],
  [
    12,
    of("claim", {
      worker,
      lanes: fc.constantFrom<readonly string[] | "any">("any", "any", "any", ["slow"], LANES),
      limit: fc.constantFrom(0, 1, 2, 3, 3, 10),
      buffer: fc.boolean(),
      types: seldom(fc.constantFrom<readonly string[]>(["email"], ["unheard", "report"])),
      tenants: seldom(fc.constantFrom<readonly string[]>(["acme"], ["default", "acme"])),
    }),
  ],
  [10, of("settle", { items: fc.array(settleWish(plain), { minLength: 1, maxLength: 3 }) })],
  [7, of("enqueue", { jobs: fc.array(keyed, { minLength: 1, maxLength: 2 }) })],
  [4, of("settle", { items: fc.tuple(settleWish(keyed)) })],
  [1, of("overcharge", { claim: index })],
  [6, of("start", { claim: index, jobs: fc.subarray([0, 1, 2]), proof })],
  [3, of("handBack", { claim: index, jobs: fc.subarray([0, 1, 2]), proof })],
  [4, of("renew", { worker, leaseMs: fc.constantFrom(1, 30_000, 300_000) })],
  [5, of("rescue", { worker, limit, late: fc.constantFrom(false, false, false, true) })],
  [2, of("leave", { worker })],
  [1, of("quiet", { worker })],
  [5, of("promote", { limit })],
  [5, of("cancel", { job: index })],
  [3, of("hurry", { job: index })],
  [3, of("intervene", { job: index, end: fc.constantFrom("failed", "hopeless") })],
  [4, of("pause", { gate, forMs: rarely(fc.constantFrom(1, 1_000)) })],
  [3, of("resume", { gate })],
  [3, of("hold", {})],
  [3, of("release", {})],
  [3, of("prune", { jobs: fc.constantFrom(0, 1, 2) })],
  [2, of("pruneAll", { ageMs: fc.constantFrom(0, 1_000, 60_000) })],
  [2, of("review", { job: index, status: fc.constantFrom("acknowledged", "discarded") })],
  [3, of("reprocess", { job: index, wish })],
  ...(["get", "attempts", "deadLetter"] as const).map(
    (verb) => [1, of(verb, { job: index })] as const,
  ),
  ...(["gates", "workers", "silent", "mark", "feed"] as const).map(
    (verb) => [1, of(verb, {})] as const,
  ),
  [1, of("overdue", { worker })],
  [2, of("list", { filter, limit: fc.constantFrom(1, 2, 50) })],
  [2, of("count", { filter, max: fc.constantFrom(0, 1, 2, 50) })],
  [1, of("stats", { max: fc.constantFrom(0, 1, 50) })],
  [
    1,
    of("deadLetters", {
      status: seldom(fc.constantFrom("pending_review", "reprocessed", "discarded")),
      limit: fc.constantFrom(1, 50),
    }),
  ],
];

/** Sequences of commands; each leaves some kinds out, so that the others meet more often. */
export const sequences: fc.Arbitrary<readonly Command[]> = fc
  .subarray([...KINDS], { minLength: 8 })
  .chain((kinds) => {
    const weighted = [...kinds, ...KINDS.slice(0, 7)].map(([weight, arbitrary]) => {
      return { weight, arbitrary };
    });
    return fc.array(fc.oneof(...weighted), { minLength: 1, maxLength: 60, size: "max" });
  });

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
