/** All pairs of verbs that may meet; pairs about names, needs and crashes have their own files. */
import { completed, retryIn } from "../support/factories.ts";
import * as judged from "./judgements.ts";
import { CRASH_PAIRS } from "./crash-pairs.ts";
import { FLOW_PAIRS } from "./flow-pairs.ts";
import { pair, type Pair } from "./pair.ts";
import * as scenes from "./scenes.ts";
import { SCHEDULE_PAIRS } from "./schedule-pairs.ts";
import { TOKEN_PAIRS } from "./token-pairs.ts";
import * as verbs from "./verbs.ts";

export const PAIRS: readonly Pair[] = [
  pair("claim / claim", scenes.waiting, verbs.claim, verbs.claim, ({ left, right, id }) =>
    judged.exactlyOne("took the job", judged.takes(left, id), judged.takes(right, id)),
  ),
  pair("claim / rescue", scenes.silent, verbs.claim, verbs.rescue, ({ left, right, id }) =>
    judged.exactlyOne(
      "rescued the job",
      judged.countOf(right) === 1,
      !judged.takes(left, id) && judged.countOf(right) !== 1,
    ),
  ),
  pair(
    "settle done / rescue",
    scenes.silent,
    verbs.settle(completed()),
    verbs.rescue,
    judged.settledOrRescued,
  ),
  pair(
    "settle retry / rescue",
    scenes.silent,
    verbs.settle(retryIn(10)),
    verbs.rescue,
    judged.settledOrRescued,
  ),
  pair(
    "cancel / settle done",
    scenes.running,
    verbs.cancel,
    verbs.settle(completed()),
    judged.keepsPromise,
  ),
  pair(
    "cancel / settle retry",
    scenes.running,
    verbs.cancel,
    verbs.settle(retryIn(10)),
    judged.keepsPromise,
  ),
  pair("cancel / rescue", scenes.silent, verbs.cancel, verbs.rescue, judged.keepsPromise),
  pair(
    "keyed enqueue / keyed enqueue",
    scenes.waiting,
    verbs.enqueueKeyed("skip"),
    verbs.enqueueKeyed("skip"),
    judged.oneMade,
  ),
  pair(
    "idempotent enqueue / the same",
    scenes.waiting,
    verbs.enqueueOnce,
    verbs.enqueueOnce,
    judged.oneMade,
  ),
  pair("pause / claim", scenes.waiting, verbs.pause, verbs.claim, ({ left, right, id }) =>
    judged.complainIf(
      left !== undefined || !(judged.takes(right, id) || judged.takesNothing(right)),
      "odd answers",
    ),
  ),
  pair(
    "retry / settle the successor",
    scenes.repeated,
    verbs.retry,
    verbs.settle(completed()),
    ({ right }) => judged.complainIf(!judged.isSettled(right), "the successor was not settled"),
  ),
  pair("retry / retry", scenes.failed, verbs.retry, verbs.retry, judged.oneMade),
  pair("start / cancel", scenes.prefetched, verbs.start, verbs.cancel, judged.startOrCancel),
  pair("start / the same again", scenes.prefetched, verbs.start, verbs.start, ({ left, right }) =>
    judged.complainIf(!judged.begins(left) || !judged.begins(right), "one was not told to begin"),
  ),
  pair(
    "start / settle of one lease",
    scenes.halfStarted,
    verbs.startRival,
    verbs.settle(completed()),
    ({ left, right }) =>
      judged.complainIf(
        !judged.begins(left) || !judged.isSettled(right),
        "one has kept the other from its run",
      ),
  ),
  pair("start / intervene", scenes.prefetched, verbs.start, verbs.intervene, ({ right }) =>
    judged.complainIf(!judged.isDone(right), "the run was not ended"),
  ),
  pair("prune / retry", scenes.failed, verbs.prune, verbs.retry, ({ right }) =>
    judged.complainIf(!judged.isMade(right), "the repeat was not made"),
  ),
  pair(
    "settle / settle of one lease",
    scenes.running,
    verbs.settle(completed()),
    verbs.settle(retryIn(10)),
    judged.once,
  ),
  pair(
    "settle done / the same again",
    scenes.running,
    verbs.settle(completed()),
    verbs.settle(completed()),
    judged.once,
  ),
  pair(
    "returnPrefetched / start",
    scenes.prefetched,
    verbs.returnPrefetched,
    verbs.start,
    ({ left, right }) => judged.exactlyOne("moved the job", left === 1, judged.begins(right)),
  ),
  pair(
    "intervene / settle",
    scenes.running,
    verbs.intervene,
    verbs.settle(completed()),
    ({ left, right }) =>
      judged.exactlyOne("ended the run", judged.isDone(left), judged.isSettled(right)),
  ),
  pair("renew / rescue", scenes.silent, verbs.renew, verbs.rescue, ({ left, right }) =>
    judged.exactlyOne(
      "had the worker",
      judged.statusOf(left) === "renewed",
      judged.countOf(right) === 1,
    ),
  ),
  pair(
    "returnPrefetched / rescue",
    scenes.prefetchedSilent,
    verbs.returnPrefetched,
    verbs.rescue,
    (outcome) =>
      judged.exactlyOne(
        "put the job back",
        outcome.left === 1,
        judged.returnedBy(outcome.right) === 1,
      ),
  ),
  pair("start / rescue", scenes.prefetchedSilent, verbs.start, verbs.rescue, ({ left, right }) =>
    judged.complainIf(
      judged.begins(left) && judged.returnedBy(right) === 1,
      "it was told to begin and went back",
    ),
  ),
  // Also after the rescue: then it is the wait for the next run that ends.
  pair("intervene / rescue", scenes.silent, verbs.intervene, verbs.rescue, judged.endsAs("failed")),
  pair(
    "prune / settle of one lease",
    scenes.halfDone,
    verbs.prune,
    verbs.settle(completed()),
    (outcome) => judged.complainIf(!judged.isSettled(outcome.right), "the run was not settled"),
  ),
  pair("promote / cancel", scenes.due, verbs.promote, verbs.cancel, judged.endsAs("cancelled")),
  pair("promote / promote", scenes.due, verbs.promote, verbs.promote, judged.endsAs("queued")),
  pair("promote / claim", scenes.due, verbs.promote, verbs.claim, judged.takenOr("queued")),
  pair("hurry / promote", scenes.due, verbs.hurry, verbs.promote, judged.endsAs("queued")),
  pair("hurry / claim", scenes.due, verbs.hurry, verbs.claim, judged.takenOr("queued")),
  pair("reprocess / reprocess", scenes.failed, verbs.reprocess, verbs.reprocess, (outcome) =>
    judged.exactlyOne(
      "made a successor",
      judged.hasSuccessor(outcome.left),
      judged.hasSuccessor(outcome.right),
    ),
  ),
  pair("reprocess / discard", scenes.failed, verbs.reprocess, verbs.discard, ({ left, right }) =>
    judged.exactlyOne(
      "closed the letter",
      judged.hasSuccessor(left),
      judged.statusOf(right) === "reviewed",
    ),
  ),
  pair(
    "replace / claim",
    scenes.deduplicated,
    verbs.enqueueKeyed("replace"),
    verbs.claim,
    (outcome) =>
      judged.exactlyOne(
        "had the holder",
        judged.isMade(outcome.left),
        judged.takes(outcome.right, outcome.id),
      ),
  ),
  pair(
    "extend / claim",
    scenes.deduplicated,
    verbs.enqueueKeyed("extend"),
    verbs.claim,
    judged.takenOr("scheduled"),
  ),
  pair(
    "mixed enqueue / the other way round",
    scenes.waiting,
    verbs.enqueueMixed("a", "b"),
    verbs.enqueueMixed("b", "a"),
    ({ left, right }) =>
      judged.complainIf(judged.madeBy(left) + judged.madeBy(right) !== 6, "not 6 were made"),
  ),
  pair("hold / claim", scenes.gated, verbs.hold, verbs.claim, judged.endsAs("queued")),
  pair("hold / cancel", scenes.gated, verbs.hold, verbs.cancel, judged.endsAs("cancelled")),
  pair("release / cancel", scenes.held, verbs.release, verbs.cancel, judged.endsAs("cancelled")),
  pair("release / claim", scenes.held, verbs.release, verbs.claim, judged.takenOr("queued")),
  ...FLOW_PAIRS,
  ...CRASH_PAIRS,
  ...TOKEN_PAIRS,
  ...SCHEDULE_PAIRS,
];
