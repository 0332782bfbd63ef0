/** Every suite of the store port, by the verb it holds to its word. */
import type { OpenStore } from "../support/stores.ts";
import { cancelSuite } from "./cancel.suite.ts";
import { claimSuite } from "./claim.suite.ts";
import { dedupSuite } from "./dedup.suite.ts";
import { enqueueSuite } from "./enqueue.suite.ts";
import { feedSuite } from "./feed.suite.ts";
import { fenceSuite } from "./fence.suite.ts";
import { gateSuite } from "./gate.suite.ts";
import { handBackSuite } from "./hand-back.suite.ts";
import { holdSuite } from "./hold.suite.ts";
import { idempotencySuite } from "./idempotency.suite.ts";
import { inspectSuite } from "./inspect.suite.ts";
import { lifecycleSuite } from "./lifecycle.suite.ts";
import { listSuite } from "./list.suite.ts";
import { promoteSuite } from "./promote.suite.ts";
import { pruneSuite } from "./prune.suite.ts";
import { rescueSuite } from "./rescue.suite.ts";
import { settleSuite } from "./settle.suite.ts";
import { startSuite } from "./start.suite.ts";
import { watchSuite } from "./watch.suite.ts";
import { workerSuite } from "./worker.suite.ts";

/** What a store must pass to be one. */
export const suites: readonly ((open: OpenStore) => void)[] = [
  lifecycleSuite,
  enqueueSuite,
  idempotencySuite,
  dedupSuite,
  claimSuite,
  startSuite,
  handBackSuite,
  settleSuite,
  fenceSuite,
  workerSuite,
  rescueSuite,
  promoteSuite,
  cancelSuite,
  gateSuite,
  holdSuite,
  inspectSuite,
  listSuite,
  feedSuite,
  pruneSuite,
  watchSuite,
];
