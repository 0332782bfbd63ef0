/**
 * The store port once more, as simple as it can be: what both databases must agree with. It is
 * slow, forgets everything, and serves one caller.
 */
import type { Clock } from "../../../src/core/clock.ts";
import type { AuditStore } from "../../../src/store/roles/audit.ts";
import type { OperationStore } from "../../../src/store/roles/operations.ts";
import type { ScheduleStore } from "../../../src/store/roles/schedules.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { endCrashStreak } from "./crashes.ts";
import { resolveDependencies } from "./ends.ts";
import { reportCode } from "./code.ts";
import { enqueueAll } from "./enqueue.ts";
import { closedGates } from "./gates.ts";
import * as noted from "./notes.ts";
import * as reading from "./reading.ts";
import { recordOf } from "./records.ts";
import * as waiting from "./waiting.ts";
import * as work from "./work.ts";
import { atMost, emptyWorld, jobNamed, slotOf, type World } from "./world.ts";

/** What only one process or only a living database has: opening, waking, transactions, threads. */
type Beyond =
  | "~store"
  | "open"
  | "close"
  | "enqueueInTransaction"
  | "claimsAtOnce"
  | "thread"
  | "place"
  | "watch"
  | "onWarning";

/**
 * What retention marks, what only people read, schedules, intakes, quotas and API tokens are not
 * modelled: no command of a sequence asks for them, and the conformance suites hold both stores to
 * one word.
 */
type Unmodelled =
  | "expired"
  | "markStale"
  | "annotate"
  | "failureGroups"
  | "failureDecisions"
  | "failureGroup"
  | "lettersOfCause"
  | "decideGroup"
  | "reprocessMany"
  | "retryAsNew"
  | keyof AuditStore
  | "discardMany"
  | "remove"
  | "groupedStats"
  | "countLetters"
  | "letterGroups"
  | "countAhead"
  | "countBehind"
  | "countRunning"
  | "closeIntake"
  | "openIntake"
  | "intakes"
  | "setQuota"
  | "removeQuota"
  | "quotas"
  | "quotaUse"
  | "tenantNames"
  | "beginRemoval"
  | "removeOfTenant"
  | "removal"
  | "openRemovals"
  | "histories"
  | "idsBetween"
  | "minutes"
  | "deploys"
  | "savedViews"
  | "saveView"
  | "removeView"
  | "foldMinutes"
  | "dependants"
  | "holder"
  | "createToken"
  | "tokenOf"
  | "markTokensUsed"
  | "tokens"
  | "token"
  | "revokeToken"
  | keyof ScheduleStore
  | "tenantsOf"
  | "declareTypes"
  | "types"
  | "claimProbe"
  | "callServices"
  | "runFunction"
  | "reportCalls"
  | "breakers"
  | "breakerChanges"
  | "openBreaker"
  | "resetBreaker"
  | "overrideType"
  | "setLimit"
  | "removeLimit"
  | "limits"
  | "declareLimits"
  | "setFairness"
  | "removeFairness"
  | "fairLanes"
  | "declareFairness"
  | "setPayloadRule"
  | "declarePayloadRules"
  | "removePayloadRule"
  | "payloadRules"
  | "giveTurns"
  | keyof OperationStore
  | "keepPermits";

/** The verbs that are compared: all others that answer from what is stored. */
export type Compared = Omit<JobStore, Beyond | Unmodelled>;

export interface ModelStore extends Compared {
  readonly world: World;
}

export function modelStore(clock: Pick<Clock, "now">): ModelStore {
  const world = emptyWorld(clock);
  /** Those who waited for jobs that have ended hear of it when the verb is done. */
  const then = <Answer>(answer: Answer): Answer => {
    resolveDependencies(world);
    return answer;
  };
  return {
    world,
    enqueue: async (jobs) => then(enqueueAll(world, jobs)),
    register: async (worker) => work.register(world, worker),
    deregister: async (worker) => then(work.deregister(world, worker)),
    reportCode: async (worker, report) => then(reportCode(world, worker, report)),
    renew: async (worker, leaseMs) => work.renew(world, worker, leaseMs),
    claim: async (request) => work.claim(world, request),
    claimAlone: async (request) => work.claimAlone(world, request),
    endCrashStreak: async (type) => endCrashStreak(world, type),
    startPrefetched: async (lease, keys) => then(work.startPrefetched(world, lease, keys)),
    returnPrefetched: async (lease, keys) => then(work.returnPrefetched(world, lease, keys)),
    settle: async (items) => then(work.settle(world, items)),
    acquireLocks: async (run, names) => work.acquireLocks(world, run, names),
    record: async (notes) => then(noted.record(world, notes)),
    checkpoints: async (key) => noted.checkpoints(world, key),
    progress: async (id) => noted.progressOf(world, id),
    units: async (id, _filter, { limit }) => noted.unitPage(world, id, limit),
    unitHolders: async (unit, limit) => noted.unitHolders(world, unit, limit),
    logs: async (id, { limit }) => noted.logPage(world, id, limit),
    lockHolder: async (tenant, name) => slotOf(world, tenant, name)?.job.asked.id ?? null,
    openDependencies: async (id, limit) => atMost(reading.openDependencies(world, id), limit),
    // There is never anything left to do.
    resolveDependencies: async () => 0,
    overdue: async (worker, slackMs) => work.overdue(world, worker, slackMs),
    silent: async (limit) => work.silent(world, limit),
    rescue: async (request) => then(work.rescue(world, request)),
    promote: async (limit) => waiting.promote(world, limit),
    cancel: async (id, _by, reason) => then(waiting.cancel(world, id, reason)),
    hurry: async (id) => waiting.hurry(world, id),
    intervene: async (id, decide) => then(waiting.intervene(world, id, decide)),
    pause: async (gate, why) => waiting.pause(world, gate, why),
    resume: async (gate) => waiting.resume(world, gate),
    gates: async () => closedGates(world),
    hold: async (limit) => waiting.hold(world, limit),
    release: async (limit) => waiting.release(world, limit),
    get: async (id) => {
      const job = jobNamed(world, id);
      return job === undefined ? null : recordOf(world, job);
    },
    ends: async (ids) => ids.map((id) => reading.jobEnd(world, id)),
    attempts: async (id) => reading.attempts(world, id),
    list: async (filter, page) => reading.listed(world, filter, page),
    count: async (filter, max) => reading.counted(world, filter, max),
    deadLetter: async (id) => world.letters.get(id) ?? null,
    deadLetters: async (filter, page) => reading.deadLetters(world, filter, page),
    review: async (id, verdict) => reading.review(world, id, verdict),
    reprocess: async (id, job, by, notes) => then(reading.reprocess(world, id, job, { by, notes })),
    workers: async (limit) => work.workers(world, limit),
    quiet: async (worker) => work.quiet(world, worker),
    resumeWorker: async (worker) => work.resumeWorker(world, worker),
    stopWorker: async (worker) => work.stopWorker(world, worker),
    time: async () => world.clock.now(),
    stats: async (max) => reading.stats(world, max),
    feedEnd: async () => world.last.position,
    feedStart: async () => (world.events[0]?.position ?? world.last.position + 1) - 1,
    feed: async (position, limit) => reading.feed(world, position, limit),
    prune: async (retention, limit) => reading.prune(world, retention, limit),
  };
}
