/** Every suite of the store port, by the verb it holds to its word. */
import type { OpenStore } from "../support/stores.ts";
import { schedulesSuite } from "./schedules/schedules.suite.ts";
import { clockSetBackSuite } from "./schedules/clock-set-back.suite.ts";
import { ticksSuite } from "./schedules/ticks.suite.ts";
import { afterSuite } from "./queue/dependencies.suite.ts";
import { aliasesSuite } from "./jobs/aliases.suite.ts";
import { alikeSuite } from "./jobs/enqueue-alike.suite.ts";
import { cancelSuite } from "./jobs/cancel.suite.ts";
import { childrenSuite } from "./jobs/children.suite.ts";
import { claimSuite } from "./runs/claim.suite.ts";
import { createTokenSuite } from "./identity/create-token.suite.ts";
import { countAheadSuite } from "./inspect/count-ahead.suite.ts";
import { countRunningSuite } from "./inspect/running.suite.ts";
import { crashedJobsSuite } from "./runs/crashed-jobs.suite.ts";
import { crashStreakSuite } from "./runs/crash-streak.suite.ts";
import { auditActsSuite } from "./audit/acts.suite.ts";
import { auditsSuite } from "./audit/audits.suite.ts";
import { sealAuditSuite } from "./audit/seal-audit.suite.ts";
import { annotateSuite } from "./jobs/annotate.suite.ts";
import { effectsSuite } from "./operations/effects.suite.ts";
import { operationsSuite } from "./operations/operations.suite.ts";
import { rescheduleSuite } from "./jobs/reschedule.suite.ts";
import { failuresSuite } from "./jobs/failures.suite.ts";
import { deadLettersSuite } from "./jobs/dead-letters.suite.ts";
import { letterCountsSuite } from "./jobs/letter-counts.suite.ts";
import { dedupSuite } from "./jobs/dedup.suite.ts";
import { endsSuite } from "./inspect/ends.suite.ts";
import { enqueueSuite } from "./jobs/enqueue.suite.ts";
import { fanInSuite } from "./queue/fan-in.suite.ts";
import { feedSuite } from "./events/feed.suite.ts";
import { fenceSuite } from "./runs/fence.suite.ts";
import { gateSuite } from "./queue/gates.suite.ts";
import { groupedStatsSuite } from "./inspect/grouped-stats.suite.ts";
import { returnPrefetchedSuite } from "./runs/return-prefetched.suite.ts";
import { holdSuite } from "./queue/hold.suite.ts";
import { hurrySuite } from "./jobs/hurry.suite.ts";
import { intakeSuite } from "./control/intakes.suite.ts";
import { payloadRuleSuite } from "./control/payload-rules.suite.ts";
import { quotaSuite } from "./control/quotas.suite.ts";
import { tenantSuite } from "./control/tenants.suite.ts";
import { historiesSuite } from "./control/histories.suite.ts";
import { heldSuite } from "./services/held.suite.ts";
import { longRunsSuite } from "./inspect/long-runs.suite.ts";
import { idsBetweenSuite } from "./inspect/ids-between.suite.ts";
import { idempotencySuite } from "./jobs/idempotency.suite.ts";
import { inspectSuite } from "./inspect/jobs.suite.ts";
import { interveneSuite } from "./jobs/intervene.suite.ts";
import { lockWaitersSuite } from "./runs/lock-waiters.suite.ts";
import { lifecycleSuite } from "./database/lifecycle.suite.ts";
import { linksSuite } from "./inspect/links.suite.ts";
import { listBoundsSuite } from "./inspect/list-bounds.suite.ts";
import { deploysSuite } from "./inspect/deploys.suite.ts";
import { savedViewsSuite } from "./inspect/saved-views.suite.ts";
import { listContentSuite } from "./inspect/list-content.suite.ts";
import { listSuite } from "./inspect/list.suite.ts";
import { loneRunsSuite } from "./runs/lone-runs.suite.ts";
import { fairnessSuite } from "./queue/fairness.suite.ts";
import { limitedLoneRunsSuite } from "./queue/limited-lone-runs.suite.ts";
import { limitedClaimsSuite } from "./queue/limited-claims.suite.ts";
import { crashStreakClockSetBackSuite } from "./queue/crash-streak-clock.suite.ts";
import { keyRatesClockSetBackSuite } from "./queue/key-rates-clock.suite.ts";
import { keyRatesSuite } from "./queue/key-rates.suite.ts";
import { fairQueuesSuite } from "./queue/fair-queues.suite.ts";
import { limitQueuesSuite } from "./queue/limit-queues.suite.ts";
import { limitsSuite } from "./queue/limits.suite.ts";
import { serviceLimitsSuite } from "./queue/service-limits.suite.ts";
import { logsSuite } from "./inspect/logs.suite.ts";
import { minutesSuite } from "./inspect/minutes.suite.ts";
import { checkpointsSuite } from "./runs/checkpoints.suite.ts";
import { notesSuite } from "./runs/record.suite.ts";
import { acquireLocksSuite } from "./runs/acquire-locks.suite.ts";
import { orderSuite } from "./jobs/enqueue-order.suite.ts";
import { overdueSuite } from "./runs/overdue.suite.ts";
import { resolveDependenciesSuite } from "./queue/resolve-dependencies.suite.ts";
import { progressSuite } from "./inspect/progress.suite.ts";
import { promoteSuite } from "./queue/promote.suite.ts";
import { declaredPeriodsSuite } from "./retention/declared-periods.suite.ts";
import { pruneSuite } from "./retention/prune.suite.ts";
import { pruneTokensSuite } from "./identity/prune-tokens.suite.ts";
import { refusedChildrenSuite } from "./jobs/refused-children.suite.ts";
import { rescueSuite } from "./runs/rescue.suite.ts";
import { reviewSuite } from "./jobs/review.suite.ts";
import { revokeTokenSuite } from "./identity/revoke-token.suite.ts";
import { settleSuite } from "./runs/settle.suite.ts";
import { locksSuite } from "./runs/locks.suite.ts";
import { staleSuite } from "./retention/expired.suite.ts";
import { startSuite } from "./runs/start.suite.ts";
import { statsSuite } from "./inspect/stats.suite.ts";
import { resumeWorkerSuite } from "./runs/worker/resume-worker.suite.ts";
import { stopWorkerSuite } from "./runs/worker/stop-worker.suite.ts";
import { successorSuite } from "./jobs/successor.suite.ts";
import { sweepSuite } from "./retention/sweep.suite.ts";
import { tokensSuite } from "./identity/tokens.suite.ts";
import { callServicesSuite } from "./services/call-services.suite.ts";
import { breakerClockSetBackSuite } from "./services/clock-set-back.suite.ts";
import { claimProbeSuite } from "./services/claim-probe.suite.ts";
import { reportCallsSuite } from "./services/report-calls.suite.ts";
import { overrideTypeSuite } from "./services/override-type.suite.ts";
import { limitedServicesSuite } from "./services/limited-services.suite.ts";
import { sentBackSuite } from "./services/sent-back.suite.ts";
import { serviceGatesSuite } from "./services/service-gates.suite.ts";
import { functionsSuite } from "./services/functions.suite.ts";
import { typesSuite } from "./services/types.suite.ts";
import { tenantsOfSuite } from "./inspect/tenants-of.suite.ts";
import { watchSuite } from "./events/watch.suite.ts";
import { workerSuite } from "./runs/worker/registration.suite.ts";
import { renewSuite } from "./runs/worker/renew.suite.ts";
import { reportCodeSuite } from "./jobs/report-code.suite.ts";
import { workersListSuite } from "./inspect/workers.suite.ts";

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
  returnPrefetchedSuite,
  settleSuite,
  childrenSuite,
  refusedChildrenSuite,
  aliasesSuite,
  fenceSuite,
  notesSuite,
  checkpointsSuite,
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
  endsSuite,
  listSuite,
  listBoundsSuite,
  listContentSuite,
  savedViewsSuite,
  deploysSuite,
  annotateSuite,
  deadLettersSuite,
  letterCountsSuite,
  failuresSuite,
  rescheduleSuite,
  operationsSuite,
  effectsSuite,
  reviewSuite,
  statsSuite,
  feedSuite,
  pruneSuite,
  declaredPeriodsSuite,
  watchSuite,
  locksSuite,
  lockWaitersSuite,
  acquireLocksSuite,
  afterSuite,
  fanInSuite,
  resolveDependenciesSuite,
  logsSuite,
  staleSuite,
  sweepSuite,
  crashedJobsSuite,
  loneRunsSuite,
  crashStreakSuite,
  renewSuite,
  reportCodeSuite,
  groupedStatsSuite,
  idsBetweenSuite,
  linksSuite,
  createTokenSuite,
  tokensSuite,
  revokeTokenSuite,
  pruneTokensSuite,
  resumeWorkerSuite,
  stopWorkerSuite,
  tenantsOfSuite,
  minutesSuite,
  schedulesSuite,
  clockSetBackSuite,
  ticksSuite,
  countAheadSuite,
  countRunningSuite,
  typesSuite,
  functionsSuite,
  reportCallsSuite,
  callServicesSuite,
  claimProbeSuite,
  breakerClockSetBackSuite,
  serviceGatesSuite,
  sentBackSuite,
  limitsSuite,
  fairnessSuite,
  limitedClaimsSuite,
  limitedLoneRunsSuite,
  limitQueuesSuite,
  fairQueuesSuite,
  limitedServicesSuite,
  serviceLimitsSuite,
  overrideTypeSuite,
  keyRatesSuite,
  keyRatesClockSetBackSuite,
  crashStreakClockSetBackSuite,
  intakeSuite,
  payloadRuleSuite,
  quotaSuite,
  tenantSuite,
  historiesSuite,
  heldSuite,
  longRunsSuite,
  auditActsSuite,
  auditsSuite,
  sealAuditSuite,
];
