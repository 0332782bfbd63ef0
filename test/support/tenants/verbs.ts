/** Calls every verb of a store that is limited to one tenant, and lists what it leaks. */
import { idsWithPrefix } from "../../../src/core/ids.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { VERBS, type Verb } from "../../../src/store/verbs.ts";
import { EVENT_KINDS } from "../../../src/api/events.ts";
import type { JobId } from "../../../src/core/job.ts";
import { cancelled, newJob, newOperation, newSchedule, newToken, retention } from "../factories.ts";
import { leaksIn, outcomeOf } from "./outcome.ts";
import {
  causeIn,
  OTHER,
  OWN,
  probesOf,
  SHARED_UNIT,
  TYPE,
  type Probe,
  type TenantScene,
} from "./scene.ts";

type Call = (store: JobStore, probe: Probe, scene: TenantScene) => Promise<unknown>;

const PAGE = { limit: 100 };
const LIMITS = { rows: 1_000, groups: 100 };
const WHY = { reason: "audit", by: null };
const FIRST = { revision: 1, by: null };
const gate = ({ tenant: name }: Probe) => ({ kind: "tenant", name }) as const;
const mine = (more: object) => [newJob({ tenant: OWN, type: TYPE, ...more })];

const INSTALLATION = { kind: "installation", name: "all" } as const;
const RUNNING = { rows: 10, ids: 10 };

/** One or more calls per verb: the compiler refuses a verb without any. */
const CALLS: { readonly [Name in Verb]: readonly Call[] | "forbidden" } = {
  get: [(store, { id }) => store.get(id)],
  ends: [(store, { id }, { own }) => store.ends([own.completed, id])],
  tenantsOf: [(store, { id }, { own }) => store.tenantsOf([own.queued, id])],
  attempts: [(store, { id }) => store.attempts(id)],
  progress: [(store, { id }) => store.progress(id)],
  units: [(store, { id }) => store.units(id, {}, PAGE)],
  histories: [(store, { id }) => store.histories([id], { units: 10, logs: 10 })],
  logs: [(store, { id }) => store.logs(id, PAGE)],
  holder: [(store, { id }) => store.holder(id)],
  openDependencies: [
    (store, { id }) => store.openDependencies(id, 10),
    (store, _, { linked }) => store.openDependencies(linked, 10),
  ],
  dependants: [
    (store, { id }) => store.dependants(id, 10),
    (store, _, { own }) => store.dependants(own.queued, 10),
  ],
  cancel: [(store, { id }) => store.cancel(id, null, null)],
  hurry: [(store, { id }) => store.hurry(id)],
  intervene: [(store, { id }) => store.intervene(id, () => cancelled())],
  retryAsNew: [
    (store, { id }) => {
      const [successor] = mine({ retryOf: id });
      return store.retryAsNew({ ...successor!, retryOf: id });
    },
  ],
  requestReprocess: [
    (store, { id }) => store.requestReprocess([{ id, changes: null }], { by: "me", reason: null }),
  ],
  audits: [
    (store) => store.audits({}, PAGE),
    (store, { tenant }) => store.audits({ tenant }, PAGE),
    (store) => store.audits({ tenant: null }, { ...PAGE, oldestFirst: true }),
    (store, { id }) => store.audits({ subject: { kind: "job", name: id } }, PAGE),
  ],
  auditSeals: [
    (store) => store.auditSeals({}, PAGE),
    (store, { tenant }) => store.auditSeals({ tenant }, PAGE),
    (store) => store.auditSeals({ tenant: null }, PAGE),
  ],
  chainStart: [(store, { tenant }) => store.chainStart(tenant), (store) => store.chainStart(null)],
  newestSealed: [(store, { tenant }) => store.newestSealed({ tenant })],
  unsealedAudits: [
    (store) => store.unsealedAudits({}, PAGE),
    (store, { tenant }) => store.unsealedAudits({ tenant }, PAGE),
  ],
  sealAudit: "forbidden",
  deadLetter: [(store, { id }) => store.deadLetter(id)],
  review: [(store, { id }) => store.review(id, { status: "acknowledged", by: "me", notes: null })],
  annotate: [(store, { id }) => store.annotate(id, { act: "noted", by: "me", notes: "x" })],
  failureDecisions: [(store, { tenant }) => store.failureDecisions(tenant, { limit: 10 })],
  failureGroups: [
    (store) => store.failureGroups({}, 10),
    (store, { tenant }) => store.failureGroups({ tenant }, 10),
  ],
  failureGroup: [(store, { tenant }) => store.failureGroup(causeIn(OTHER), { tenant })],
  lettersOfCause: [
    (store) => store.lettersOfCause(causeIn(OTHER), {}, { limit: 9 }),
    (store, { id }) => store.lettersOfCause(causeIn(OTHER), {}, { after: id, limit: 9 }),
  ],
  decideGroup: [
    (store, { tenant }) =>
      store.decideGroup(
        "0123456789abcdef",
        { tenant },
        {
          kind: "acknowledged",
          by: "me",
          notes: null,
        },
      ),
  ],
  reprocessMany: [
    (store, { id }) => {
      const [successor] = mine({ retryOf: id });
      return store.reprocessMany([{ ...successor!, retryOf: id }], "me", null);
    },
  ],
  discardMany: [(store, { id }) => store.discardMany([id], "me", null)],
  startOperation: [(store, { tenant }) => store.startOperation(newOperation({ jobs: { tenant } }))],
  operation: [(store, { id }) => store.operation(id)],
  operations: [
    (store) => store.operations({}, PAGE),
    (store, { tenant }) => store.operations({ tenant }, PAGE),
  ],
  operationItems: [(store, { id }) => store.operationItems(id, { ...PAGE, after: 0 })],
  stopOperation: [(store, { id }) => store.stopOperation(id, "me")],
  claimOperations: "forbidden",
  applyChunk: "forbidden",
  failOperation: "forbidden",
  setPriority: [(store, { id }) => store.setPriority(id, 1)],
  reschedule: [(store, { id }) => store.reschedule(id, { delayMs: 0 })],
  reprocess: [
    (store, { id }) => {
      const [successor] = mine({ retryOf: id });
      return store.reprocess(id, successor!, "me", null);
    },
  ],
  list: [
    (store) => store.list({}, PAGE),
    (store, { tenant }) => store.list({ tenant }, PAGE),
    (store, { text }) => store.list({ correlationId: text }, PAGE),
    (store, { text }) => store.list({ tags: { customer: text } }, PAGE),
    (store, { id }) => store.list({ parentId: id }, PAGE),
  ],
  count: [
    (store, { tenant }) => store.count({ tenant }, 100),
    (store, { text }) => store.count({ category: text }, 100),
  ],
  deadLetters: [
    (store) => store.deadLetters({}, PAGE),
    (store, { tenant }) => store.deadLetters({ tenant }, PAGE),
    (store, { id }) => store.deadLetters({}, { ...PAGE, after: id }),
  ],
  countLetters: [
    (store) => store.countLetters({}, 100),
    (store, { tenant }) => store.countLetters({ tenant }, 100),
    (store, { text }) => store.countLetters({ category: text }, 100),
  ],
  letterGroups: [
    (store) => store.letterGroups(LIMITS),
    (store, { tenant }) => store.letterGroups(LIMITS, tenant),
  ],
  idsBetween: [
    (store, { id }) => store.idsBetween({ from: id, to: id }, 10),
    (store, _, { own }) => store.idsBetween(idsWithPrefix(own.queued.slice(0, 4))!, 100),
  ],
  unitHolders: [
    (store, { text }) => store.unitHolders(text, 10),
    (store) => store.unitHolders(SHARED_UNIT, 10),
  ],
  lockHolder: [(store, { tenant, text }) => store.lockHolder(tenant, `${text}-key`)],
  // The time itself goes on between two calls.
  time: [async (store) => typeof (await store.time())],
  stats: [(store, { tenant }) => figuresOf(store, tenant)],
  groupedStats: [
    (store) => store.groupedStats(LIMITS),
    (store, { tenant }) => store.groupedStats(LIMITS, tenant),
  ],
  enqueue: [
    (store, { id }) => store.enqueue(mine({ after: [id] })),
    (store, { id }, { own }) => store.enqueue(mine({ after: [own.queued, id] })),
    (store, { id }) => store.enqueue(mine({ retryOf: id })),
    (store, { tenant }) => store.enqueue(mine({ tenant })),
  ],
  enqueueInTransaction: [
    (store, { tenant }) => insistForbidden(store.enqueueInTransaction("no tx", mine({ tenant }))),
  ],
  gates: [(store) => store.gates()],
  breakers: [(store) => store.breakers()],
  breakerChanges: [(store) => store.breakerChanges("bank", 10)],
  types: [(store) => store.types(), (store, { text }) => store.types(text)],
  limits: [(store) => store.limits()],
  fairLanes: [(store) => store.fairLanes()],
  payloadRules: [(store) => store.payloadRules()],
  savedViews: [(store) => store.savedViews(null), (store, { tenant }) => store.savedViews(tenant)],
  saveView: [
    async (store, { tenant, text: name }) => {
      await store.saveView({ tenant, name, screen: "jobs", query: "", by: null });
      // A view of the own tenant, whatever tenant the call names.
      const isOwn = await store.removeView({ tenant: null, name });
      return tenant === OTHER ? isOwn : true;
    },
  ],
  removeView: [(store, { tenant, text: name }) => store.removeView({ tenant, name })],
  countAhead: [(store, { id }) => store.countAhead(id, 100)],
  countBehind: [
    (store, probe) => store.countBehind(gate(probe), 100),
    async (store, { tenant }) => {
      const behind = await store.countBehind({ kind: "type", name: TYPE }, 100);
      // One queued job of each tenant, and of the own tenant no other.
      const expected = { jobs: 1, isExact: true, shared: 0, isSharedExact: true };
      return tenant === OTHER ? behind : expected;
    },
  ],
  countRunning: [
    (store, probe) => insistForbidden(store.countRunning(gate(probe), RUNNING)),
    (store) => insistForbidden(store.countRunning({ kind: "type", name: TYPE }, RUNNING)),
    (store) => insistForbidden(store.countRunning(INSTALLATION, RUNNING)),
    (store, { id }) => insistForbidden(store.countRunning({ kind: "worker", name: id }, RUNNING)),
  ],
  pause: [
    (store, probe) => insistForbidden(store.pause(gate(probe), WHY)),
    (store) => insistForbidden(store.pause({ kind: "type", name: TYPE }, WHY)),
    (store) => insistForbidden(store.pause({ kind: "lane", name: "general" }, WHY)),
    (store) => insistForbidden(store.pause(INSTALLATION, WHY)),
  ],
  resume: [
    (store, probe) => insistForbidden(store.resume(gate(probe))),
    (store) => insistForbidden(store.resume({ kind: "type", name: TYPE })),
    (store) => insistForbidden(store.resume(INSTALLATION)),
  ],
  intakes: [(store) => store.intakes()],
  quotas: [(store) => store.quotas()],
  quotaUse: [(store, { tenant }) => store.quotaUse(tenant)],
  tenantNames: [(store) => store.tenantNames({ limit: 100 })],
  removal: [(store, { tenant }) => store.removal(tenant)],
  openRemovals: "forbidden",
  setQuota: "forbidden",
  beginRemoval: "forbidden",
  removeOfTenant: "forbidden",
  removeQuota: "forbidden",
  closeIntake: [
    (store, probe) => insistForbidden(store.closeIntake(gate(probe), WHY)),
    (store) => insistForbidden(store.closeIntake({ kind: "type", name: TYPE }, WHY)),
    (store) => insistForbidden(store.closeIntake(INSTALLATION, WHY)),
  ],
  openIntake: [
    (store, probe) => insistForbidden(store.openIntake(gate(probe))),
    (store) => insistForbidden(store.openIntake({ kind: "lane", name: "general" })),
    (store) => insistForbidden(store.openIntake(INSTALLATION)),
  ],
  feedStart: [(store) => store.feedStart()],
  feedEnd: [(store) => store.feedEnd()],
  feed: [(store) => store.feed(0, 1_000), (store) => store.feed(0, 1_000, new Set(EVENT_KINDS))],
  createToken: [
    (store, { tenant }) => store.createToken(newToken({ tenant })),
    (store) => store.createToken(newToken({ tenant: null })),
    (store, probe, { otherTokens: [parentId] }) =>
      store.createToken(newToken({ tenant: OWN, parentId: isOther(probe) ? parentId! : probe.id })),
  ],
  tokens: [
    (store) => store.tokens({ includeEnded: true }, PAGE),
    (store, { tenant }) => store.tokens({ tenant }, PAGE),
  ],
  token: tokenCalls((store, id) => store.token(id)),
  revokeToken: tokenCalls((store, id) => store.revokeToken(id)),
  schedules: [
    (store) => store.schedules({}, PAGE),
    (store, { tenant }) => store.schedules({ tenant }, PAGE),
    (store, { text: after }) => store.schedules({}, { ...PAGE, after }),
  ],
  schedule: [(store, { text }) => store.schedule(text)],
  scheduleTicks: [(store, { text }) => store.scheduleTicks(text, PAGE)],
  // A new schedule with a name that is taken is refused: names are those of the installation.
  saveSchedule: [
    (store, { text: name, tenant }) =>
      store.saveSchedule(newSchedule({ name, job: { tenant } }), FIRST, () => null),
    (store, { text: name }) =>
      store.saveSchedule(newSchedule({ name, job: { tenant: OWN } }), FIRST, () => null),
  ],
  pauseSchedule: [(store, { text }) => store.pauseSchedule(text, WHY)],
  resumeSchedule: [(store, { text }) => store.resumeSchedule(text, () => null)],
  runSchedule: [(store, { text }) => store.runSchedule(text, () => newJob({ tenant: OWN }))],
  removeSchedule: [(store, { text }) => store.removeSchedule(text)],
  declareSchedules: "forbidden",
  confirmSchedules: "forbidden",
  dueSchedules: "forbidden",
  tickSchedule: "forbidden",
  tokenOf: "forbidden",
  markTokensUsed: "forbidden",
  open: "forbidden",
  close: "forbidden",
  workers: "forbidden",
  quiet: "forbidden",
  resumeWorker: "forbidden",
  stopWorker: "forbidden",
  register: "forbidden",
  declareTypes: "forbidden",
  deregister: "forbidden",
  renew: "forbidden",
  claim: "forbidden",
  claimAlone: "forbidden",
  claimProbe: "forbidden",
  callServices: "forbidden",
  runFunction: "forbidden",
  reportCalls: "forbidden",
  openBreaker: "forbidden",
  resetBreaker: "forbidden",
  endCrashStreak: "forbidden",
  startPrefetched: "forbidden",
  returnPrefetched: "forbidden",
  settle: "forbidden",
  record: "forbidden",
  acquireLocks: "forbidden",
  checkpoints: "forbidden",
  overdue: "forbidden",
  silent: "forbidden",
  rescue: "forbidden",
  keepPermits: "forbidden",
  reportCode: "forbidden",
  declareLimits: "forbidden",
  overrideType: "forbidden",
  setLimit: "forbidden",
  removeLimit: "forbidden",
  declareFairness: "forbidden",
  setFairness: "forbidden",
  removeFairness: "forbidden",
  setPayloadRule: "forbidden",
  declarePayloadRules: "forbidden",
  removePayloadRule: "forbidden",
  giveTurns: "forbidden",
  promote: "forbidden",
  hold: "forbidden",
  release: "forbidden",
  resolveDependencies: "forbidden",
  minutes: "forbidden",
  deploys: "forbidden",
  foldMinutes: "forbidden",
  prune: "forbidden",
  expired: "forbidden",
  markStale: "forbidden",
  remove: "forbidden",
};

function isOther({ tenant }: Probe): boolean {
  return tenant === OTHER;
}

/** A verb about each token that reaches the other tenant, and about an unknown one. */
function tokenCalls(call: (store: JobStore, id: JobId) => Promise<unknown>): readonly Call[] {
  return [0, 1].map((index) => (store, probe, { otherTokens }) => {
    return call(store, isOther(probe) ? otherTokens[index]! : probe.id);
  });
}

/** Verbs whose rule is the verb itself, so that nothing can be planted there. */
export const PASSED_ON: ReadonlySet<Verb> = new Set<Verb>([
  "feedEnd",
  "feedStart",
  "time",
  "types",
]);

/** What the verbs of `store` tell of the other tenant; empty if they tell nothing. */
export async function auditVerbs(
  store: JobStore,
  scene: TenantScene,
  verbs: readonly Verb[] = VERBS,
  tried: () => void = () => {},
): Promise<readonly string[]> {
  const findings: string[] = [];
  for (const verb of verbs) {
    for (const call of callsOf(verb)) {
      for (const [known, unknown] of probesOf(scene)) {
        const found = await outcomeOf(() => call(store, known, scene), known);
        const missing = await outcomeOf(() => call(store, unknown, scene), unknown);
        tried();
        for (const leak of leaksIn(found + missing, scene))
          findings.push(`${verb} names ${leak}: ${found}`);
        if (found !== missing) findings.push(`${verb} tells ${found} from ${missing}`);
      }
    }
  }
  return findings;
}

function callsOf(verb: Verb): readonly Call[] {
  const calls = CALLS[verb];
  if (calls !== "forbidden") return calls;
  const args = verb === "prune" ? [retention(), 1] : [];
  return [(store) => insistForbidden(Reflect.apply(store[verb], store, args))];
}

/** Fails unless the call was refused: a verb that answers nothing would tell nothing either. */
async function insistForbidden(call: Promise<unknown>): Promise<never> {
  const code = await call.then(
    () => "no error",
    (error: { code?: string }) => error.code,
  );
  throw new Error(code === "FORBIDDEN_TENANT" ? code : `CANARY: not forbidden, but ${code}`);
}

/** The figures of the own tenant: what the other tenant has must not count. */
async function figuresOf(store: JobStore, tenant: string): Promise<unknown> {
  const { scheduled, queued, held, running, failed } = await store.stats(100);
  const expected = { scheduled: 1, queued: 1, held: 2, running: 1, failed: 1 };
  return tenant === OTHER ? { scheduled, queued, held, running, failed } : expected;
}
