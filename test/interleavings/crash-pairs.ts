/** Pairs about jobs that have crashed before. */
import type { Settlement } from "../../src/core/outcome.ts";
import type { JobStore } from "../../src/store/store.ts";
import { completed, crashedOnce, diedAlone, failedWith } from "../support/factories.ts";
import { loneRequest } from "../support/steps.ts";
import * as crashes from "./crash-scenes.ts";
import * as judged from "./judgements.ts";
import type { Outcome } from "./judgements.ts";
import { pair, type Pair } from "./pair.ts";
import { LEASE_MS, type Scene } from "./scenes.ts";
import * as verbs from "./verbs.ts";
import type { Verb } from "./verbs.ts";

export const CRASH_PAIRS: readonly Pair[] = [
  pair("claimAlone / claimAlone", crashes.lone, claimAlone(), claimAlone(), oneRunsAlone),
  // The two want different jobs: only the lease decides.
  pair(
    "claimAlone / claimAlone in another lane",
    crashes.lone,
    claimAlone("one"),
    claimAlone("two"),
    oneRunsAlone,
  ),
  pair(
    "claimAlone / claim of one key",
    crashes.loneKeyed,
    claimAlone(),
    verbs.claim,
    ({ left, right }) => judged.exactlyOne("took the key", left !== null, judged.takesAny(right)),
  ),
  pair(
    "claimAlone / hold",
    crashes.probeDue,
    claimAlone(),
    verbs.hold,
    async ({ db, id, left }) => {
      const state = (await db.store.get(id))?.state;
      const expected = left === null ? "queued" : "running";
      return judged.complainIf(state !== expected, `the job is ${state}, not ${expected}`);
    },
  ),
  pair(
    "claimAlone / rescue of a lone run",
    crashes.probeBesideDeath,
    claimAlone(),
    rescue(diedAlone),
    ({ right }) => judged.complainIf(judged.countOf(right) !== 1, "the lone run was not rescued"),
  ),
  pair(
    "settle of a success / rescue of a lone run of the type",
    crashes.successBesideDeath,
    verbs.settle(completed()),
    rescueRival(diedAlone),
    async ({ db, left, right }) => {
      const isDone = judged.countOf(right) === 1 && JSON.stringify(left) === '["settled"]';
      if (!isDone) return ["one of the runs has not ended"];
      const gates = await db.store.gates();
      return judged.complainIf(gates.length > 1, `${gates.length} gates are closed`);
    },
  ),
  pair(
    "rescue / rescue of one process",
    crashes.deadProcess,
    rescue(aloneFails),
    rescueRival(aloneFails),
    ({ left, right, ...outcome }) =>
      judged.countOf(left) === 1 && judged.countOf(right) === 1
        ? noneFailed(outcome)
        : ["a worker was not rescued"],
  ),
  pair(
    "rescue / renew of one process",
    crashes.deadProcess,
    rescue(aloneFails),
    renewRival,
    ({ left, right, ...outcome }) =>
      judged.countOf(left) === 1 && judged.statusOf(right) === "renewed"
        ? noneFailed(outcome)
        : ["the one was not rescued, or the other not renewed"],
  ),
];

function claimAlone(lane?: string): Verb {
  const wanted = lane === undefined ? {} : { lanes: [lane] };
  return (store, { other }) => store.claimAlone(loneRequest(other, wanted));
}

function oneRunsAlone({ left, right }: Outcome): readonly string[] {
  return judged.exactlyOne("took a job", left !== null, right !== null);
}

type Decide = (facts: unknown, isAlone: boolean) => Settlement;

/** A run that is said to have been alone fails, so that a test sees it. */
function aloneFails(_: unknown, isAlone: boolean): Settlement {
  return isAlone ? failedWith() : crashedOnce();
}

function rescue(decide: Decide): Verb {
  return (store, { batch }) => rescueOf(store, batch?.worker, decide);
}

function rescueRival(decide: Decide): Verb {
  return (store, { rival }) => rescueOf(store, rival?.worker, decide);
}

function rescueOf(store: JobStore, worker = "", decide: Decide): Promise<unknown> {
  return store.rescue({ worker, beats: 0, limit: 100, decide });
}

function renewRival(store: JobStore, { rival }: Scene): Promise<unknown> {
  return store.renew(rival?.worker ?? "", LEASE_MS);
}

async function noneFailed({ db }: Pick<Outcome, "db">): Promise<readonly string[]> {
  const failed = (await db.store.count({ states: ["failed"] }, 10)).count;
  return judged.complainIf(failed > 0, `${failed} runs counted as alone`);
}
