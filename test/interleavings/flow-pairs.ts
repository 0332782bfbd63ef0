/** Pairs about exclusive names, and about jobs that run after others. */
import { completed, failedWith, retryIn } from "../support/factories.ts";
import * as judged from "./flow-judgements.ts";
import * as flows from "./flow-scenes.ts";
import * as flowing from "./flow-verbs.ts";
import { endsAs, exactlyOne, isSettled, takes } from "./judgements.ts";
import { pair, type Pair } from "./pair.ts";
import * as scenes from "./scenes.ts";
import * as verbs from "./verbs.ts";

export const FLOW_PAIRS: readonly Pair[] = [
  pair("claim / claim of one key", flows.keyed, verbs.claim, verbs.claim, judged.oneOfKey),
  // Neither meets a row that the other has locked, but for that of the key.
  pair(
    "claim / claim of one key in two lanes",
    flows.keyedInLanes,
    flowing.claimIn("one"),
    flowing.claimIn("two"),
    judged.oneOfKey,
  ),
  pair(
    "settle / hold of a key",
    flows.keyTaken,
    verbs.settle(completed()),
    verbs.hold,
    judged.canBeClaimed,
  ),
  pair(
    "retry / hold of a key",
    flows.keyTaken,
    verbs.settle(retryIn(10)),
    verbs.hold,
    judged.canBeClaimed,
  ),
  pair(
    "settle / claim of a key",
    flows.keyTaken,
    verbs.settle(completed()),
    verbs.claim,
    (outcome) => (takes(outcome.right, outcome.id) ? [] : judged.canBeClaimed(outcome)),
  ),
  pair("rescue / hold of a key", flows.keySilent, verbs.rescue, verbs.hold, judged.oneCanBeClaimed),
  pair(
    "give up / hold of a name",
    flows.nameTaken,
    flowing.giveUp,
    verbs.hold,
    judged.canBeClaimed,
  ),
  pair("release / claim of a key", flows.keyFree, verbs.release, verbs.claim, judged.oneOfKey),
  pair(
    "release / release of a key",
    flows.keyFree,
    verbs.release,
    verbs.release,
    judged.oneCanBeClaimed,
  ),

  pair(
    "acquireLocks / settle",
    scenes.running,
    flowing.acquireLocks("a"),
    verbs.settle(completed()),
    judged.isFree,
  ),
  pair(
    "acquireLocks / intervene",
    scenes.running,
    flowing.acquireLocks("a"),
    verbs.intervene,
    judged.isFree,
  ),
  pair(
    "acquireLocks / rescue",
    scenes.silent,
    flowing.acquireLocks("a"),
    verbs.rescue,
    judged.isFree,
  ),
  pair(
    "acquireLocks / claim of the name",
    flows.nameWanted,
    flowing.acquireLocks("a"),
    verbs.claim,
    (outcome) =>
      exactlyOne(
        "has the name",
        judged.occupies(outcome.left, "a"),
        takes(outcome.right, outcome.id),
      ),
  ),
  pair(
    "acquireLocks / acquireLocks the other way round",
    flows.twoRuns,
    flowing.acquireLocks("a", "b"),
    flowing.occupyAsRival("b", "a"),
    (outcome) => [
      ...judged.answered(outcome),
      ...["a", "b"].flatMap((name) =>
        exactlyOne(
          `has ${name}`,
          judged.occupies(outcome.left, name),
          judged.occupies(outcome.right, name),
        ),
      ),
    ],
  ),

  pair(
    "complete / enqueue after",
    scenes.running,
    flowing.settle(completed()),
    flowing.enqueueAfter,
    judged.newcomerIs("queued"),
  ),
  pair(
    "fail / enqueue after",
    scenes.running,
    flowing.settle(failedWith()),
    flowing.enqueueAfter,
    judged.newcomerIs("cancelled"),
  ),
  pair(
    "cancel / enqueue after",
    scenes.waiting,
    flowing.cancel,
    flowing.enqueueAfter,
    judged.newcomerIs("cancelled"),
  ),
  pair(
    "complete / complete of two parents",
    flows.twoParents,
    flowing.settle(completed()),
    flowing.settleRival(completed()),
    judged.dependantIs("queued"),
  ),
  pair(
    "complete / fail of two parents",
    flows.twoParents,
    flowing.settle(completed()),
    flowing.settleRival(failedWith()),
    judged.dependantIs("cancelled"),
  ),
  pair(
    "fail / fail of two parents",
    flows.twoParents,
    flowing.settle(failedWith()),
    flowing.settleRival(failedWith()),
    judged.dependantIs("cancelled"),
  ),
  pair(
    "resolveDependencies / resolveDependencies",
    flows.endedParents,
    flowing.resolveDependencies,
    flowing.resolveDependencies,
    judged.movedOnce,
  ),
  pair(
    "resolveDependencies / cancel the dependant",
    flows.endedParents,
    flowing.resolveDependencies,
    verbs.cancel,
    endsAs("cancelled"),
  ),
  pair(
    "resolveDependencies / hurry the dependant",
    flows.endedParents,
    flowing.resolveDependencies,
    verbs.hurry,
    judged.dependantIs("queued"),
  ),
  pair(
    "settle / cancel the dependant",
    flows.oneParent,
    flowing.settle(completed()),
    flowing.cancel,
    async (outcome) => [
      ...(isSettled(outcome.left) ? [] : ["the parent was not settled"]),
      ...(await endsAs("cancelled")(outcome)),
    ],
  ),
];
