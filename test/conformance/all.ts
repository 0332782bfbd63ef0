/** Every suite of the store port, by the verb it holds to its word. */
import type { OpenStore } from "../support/stores.ts";
import { afterSuite } from "./after.suite.ts";
import { alikeSuite } from "./alike.suite.ts";
import { cancelSuite } from "./cancel.suite.ts";
import { childrenSuite } from "./children.suite.ts";
import { claimSuite } from "./claim.suite.ts";
import { deadLettersSuite } from "./dead-letter.suite.ts";
import { dedupSuite } from "./dedup.suite.ts";
import { enqueueSuite } from "./enqueue.suite.ts";
import { fanInSuite } from "./fan-in.suite.ts";
import { feedSuite } from "./feed.suite.ts";
import { fenceSuite } from "./fence.suite.ts";
import { gateSuite } from "./gate.suite.ts";
import { handBackSuite } from "./hand-back.suite.ts";
import { holdSuite } from "./hold.suite.ts";
import { hurrySuite } from "./hurry.suite.ts";
import { idempotencySuite } from "./idempotency.suite.ts";
import { inspectSuite } from "./inspect.suite.ts";
import { interveneSuite } from "./intervene.suite.ts";
import { keyHoldSuite } from "./key-hold.suite.ts";
import { lifecycleSuite } from "./lifecycle.suite.ts";
import { listSuite } from "./list.suite.ts";
import { logsSuite } from "./logs.suite.ts";
import { memorySuite } from "./memory.suite.ts";
import { notesSuite } from "./notes.suite.ts";
import { occupySuite } from "./occupy.suite.ts";
import { orderSuite } from "./order.suite.ts";
import { overdueSuite } from "./overdue.suite.ts";
import { proceedSuite } from "./proceed.suite.ts";
import { progressSuite } from "./progress.suite.ts";
import { promoteSuite } from "./promote.suite.ts";
import { pruneSuite } from "./prune.suite.ts";
import { refusedChildrenSuite } from "./refused-children.suite.ts";
import { rescueSuite } from "./rescue.suite.ts";
import { reviewSuite } from "./review.suite.ts";
import { settleSuite } from "./settle.suite.ts";
import { slotsSuite } from "./slots.suite.ts";
import { staleSuite } from "./stale.suite.ts";
import { startSuite } from "./start.suite.ts";
import { statsSuite } from "./stats.suite.ts";
import { successorSuite } from "./successor.suite.ts";
import { sweepSuite } from "./sweep.suite.ts";
import { watchSuite } from "./watch.suite.ts";
import { workerSuite } from "./worker.suite.ts";
import { workersListSuite } from "./workers-list.suite.ts";

/** What a store must pass to be one. */
export const suites: readonly ((open: OpenStore) => void)[] = [
  lifecycleSuite,
  enqueueSuite,
  alikeSuite,
  idempotencySuite,
  dedupSuite,
  successorSuite,
  claimSuite,
  startSuite,
  handBackSuite,
  settleSuite,
  childrenSuite,
  refusedChildrenSuite,
  fenceSuite,
  notesSuite,
  memorySuite,
  progressSuite,
  workerSuite,
  workersListSuite,
  orderSuite,
  overdueSuite,
  rescueSuite,
  promoteSuite,
  cancelSuite,
  hurrySuite,
  interveneSuite,
  gateSuite,
  holdSuite,
  inspectSuite,
  listSuite,
  deadLettersSuite,
  reviewSuite,
  statsSuite,
  feedSuite,
  pruneSuite,
  watchSuite,
  slotsSuite,
  keyHoldSuite,
  occupySuite,
  afterSuite,
  fanInSuite,
  proceedSuite,
  logsSuite,
  staleSuite,
  sweepSuite,
];
