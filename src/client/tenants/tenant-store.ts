/**
 * The store as one tenant sees it: jobs of other tenants do not exist. A mill of a tenant is a
 * client on this store, so no method of the client can reach another tenant.
 *
 * The rules, one per verb:
 *
 * - A verb about one job asks for the tenant of the job first. The tenant never changes, so the
 *   answer is still true when the verb runs. An id of another tenant is answered as an unknown id.
 * - A list or count is limited to the tenant. A filter that names another tenant finds nothing.
 * - A new job must be of the tenant, and is linked to no job of another one; see
 *   {@link tenantJobs}.
 * - A verb that concerns all tenants is refused.
 */
import type { JobId } from "../../core/job.ts";
import type { JobStore } from "../../store/store.ts";
import type { ListFilter, Listing } from "../../store/types/lists.ts";
import type { JobEnd, WorkerRecord } from "../../store/types/records.ts";
import type { JobHistory } from "../../store/types/notes.ts";
import type { LimitRecord } from "../../store/types/limits.ts";
import type { BreakerRecord } from "../../store/types/services.ts";
import { VERBS, type Verb } from "../../store/verbs.ts";
import { tenantJobs } from "./tenant-jobs.ts";
import { tenantFeed, tenantIds, tenantStats } from "./tenant-lists.ts";
import {
  attemptForTenant,
  historyForTenant,
  jobForTenant,
  letterForTenant,
} from "./tenant-remarks.ts";
import { concernsAll, forbiddenTenant, ownAmong, type TenantScope } from "./tenant-scope.ts";
import { AUDIT_RULES } from "./tenant-audit.ts";
import { FAILURE_RULES } from "./tenant-failures.ts";
import { OPERATION_RULES } from "./tenant-operations.ts";
import { SCHEDULE_RULES } from "./tenant-schedules.ts";
import { TOKEN_RULES } from "./tenant-tokens.ts";

/** Linked jobs and holders that a verb reads before it leaves out those of other tenants. */
const LINKS_MAX = 1_000;

const NO_HISTORY: JobHistory = { attempts: [], progress: null, units: [], logs: [] };

const UNKNOWN = { status: "unknown" } as const;

export function tenantStore(store: JobStore, tenant: string): JobStore {
  const scope: TenantScope = { store, tenant };
  const verbs: Partial<Record<Verb, unknown>> = {};
  for (const verb of VERBS) verbs[verb] = inSecondLine(scope, verb, RULES[verb](scope));
  return {
    "~store": true,
    claimsAtOnce: 1,
    thread: null,
    place: store.place,
    // A wake-up has no content: what has changed is read through the verbs.
    watch: (listener) => store.watch(listener),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- RULES has a rule per verb.
    ...(verbs as Pick<JobStore, Verb>),
  };
}

/**
 * Reads of jobs and dead letters, which the database limits to the tenant as well: a rule that
 * forgets its filter tells no row of another tenant.
 */
const SECOND_LINE: ReadonlySet<Verb> = new Set([
  "get",
  "list",
  "count",
  "attempts",
  "progress",
  "histories",
  "units",
  "logs",
  "deadLetter",
  "deadLetters",
  "countLetters",
  "letterGroups",
]);

function inSecondLine(
  { store, tenant }: TenantScope,
  verb: Verb,
  rule: (...args: never[]) => Promise<unknown>,
): (...args: never[]) => Promise<unknown> {
  const { tenantReads } = store;
  if (tenantReads === undefined || !SECOND_LINE.has(verb)) return rule;
  return (...args) => tenantReads.as(tenant, () => rule(...args));
}

/**
 * The workers that may take jobs of the tenant, for `jobs.explain`. Their sentences name types and
 * lanes, and the tenant of a worker, which is left out if it is another one.
 */
export async function workersFor(
  { store, tenant }: TenantScope,
  limit: number,
): Promise<readonly WorkerRecord[]> {
  const workers = await store.workers(limit);
  return workers.filter((worker) => worker.tenant === null || worker.tenant === tenant);
}

/** The compiler refuses a verb without a rule. */
type Rules = { readonly [Name in Verb]: (scope: TenantScope) => JobStore[Name] };

const RULES: Rules = {
  // One job. `get` has the tenant in its answer and needs no second statement.
  get:
    ({ store, tenant }) =>
    async (id) => {
      const job = await store.get(id);
      return job?.tenant === tenant ? jobForTenant(job) : null;
    },
  ends: (scope) => (ids) => ownEnds(scope, ids),
  tenantsOf:
    ({ store, tenant }) =>
    async (ids) =>
      (await store.tenantsOf(ids)).map((each) => (each === tenant ? tenant : null)),
  attempts: ofOwnJob(async (store, id) => (await store.attempts(id)).map(attemptForTenant), []),
  progress: ofOwnJob((store, id) => store.progress(id), null),
  units: ofOwnJob((store, id, filter, page) => store.units(id, filter, page), []),
  histories: (scope) => async (ids, limits) => {
    const own = await ownAmong(scope, ids);
    const found = await scope.store.histories([...own], limits);
    const byId = new Map([...own].map((id, index) => [id, found[index] ?? NO_HISTORY]));
    return ids.map((id) => historyForTenant(byId.get(id) ?? NO_HISTORY));
  },
  logs: ofOwnJob((store, id, page) => store.logs(id, page), []),
  holder: ofOwnJob((store, id) => store.holder(id), null),
  openDependencies: linked((store, id) => store.openDependencies(id, LINKS_MAX)),
  dependants: linked((store, id) => store.dependants(id, LINKS_MAX)),
  cancel: ofOwnJob((store, id, by, reason) => store.cancel(id, by, reason), UNKNOWN),
  hurry: ofOwnJob((store, id, act) => store.hurry(id, act), UNKNOWN),
  intervene: ofOwnJob((store, id, decide, act) => store.intervene(id, decide, act), UNKNOWN),
  retryAsNew: (scope) => async (successor, act) => {
    const { retryOf } = successor;
    const { jobs, answered } = await tenantJobs(scope, [successor]);
    const [given] = jobs;
    // The store would copy the checkpoints of a job of another tenant.
    if (given?.retryOf !== retryOf) {
      return answered(await scope.store.enqueue(jobs))[0]!;
    }
    return answered([await scope.store.retryAsNew({ ...given, retryOf }, act)])[0]!;
  },
  deadLetter: ofOwnJob(async (store, id) => {
    const letter = await store.deadLetter(id);
    return letter === null ? null : letterForTenant(letter);
  }, null),
  review: ofOwnJob((store, id, review) => store.review(id, review), UNKNOWN),
  annotate: ofOwnJob((store, id, annotation) => store.annotate(id, annotation), UNKNOWN),
  reprocess: (scope) => async (id, successor, by, notes, changes) => {
    // The link of a successor to its own dead letter is allowed, also if the job was removed.
    if (!(await isOwn(scope, id))) return UNKNOWN;
    const [given = successor] = (await tenantJobs(scope, [{ ...successor, retryOf: null }])).jobs;
    const { retryOf } = successor;
    return scope.store.reprocess(id, { ...given, retryOf }, by, notes, changes);
  },

  ...FAILURE_RULES,
  ...AUDIT_RULES,
  ...OPERATION_RULES,
  setPriority: ofOwnJob((store, id, ...args) => store.setPriority(id, ...args), UNKNOWN),
  reschedule: ofOwnJob((store, id, ...args) => store.reschedule(id, ...args), UNKNOWN),

  // Lists and counts.
  list: (scope) => async (filter, page) =>
    excludes(scope, filter)
      ? { jobs: [], next: null, isCutShort: false }
      : ownPage(await scope.store.list({ ...filter, tenant: scope.tenant }, page)),
  count: (scope) => async (filter, max) =>
    excludes(scope, filter)
      ? { count: 0, isExact: true }
      : scope.store.count({ ...filter, tenant: scope.tenant }, max),
  deadLetters: (scope) => async (filter, page) => {
    // A page cannot begin at a letter of another tenant, as it cannot at an unknown one.
    const isOther = page.after !== undefined && !(await isOwn(scope, page.after));
    if (isOther || excludes(scope, filter)) return [];
    const letters = await scope.store.deadLetters({ ...filter, tenant: scope.tenant }, page);
    return letters.map(letterForTenant);
  },
  countLetters: (scope) => async (filter, max) =>
    excludes(scope, filter)
      ? 0
      : scope.store.countLetters({ ...filter, tenant: scope.tenant }, max),
  letterGroups:
    ({ store, tenant }) =>
    async (limits, only = tenant) =>
      only === tenant ? store.letterGroups(limits, tenant) : { groups: [], hasMore: false },
  idsBetween: (scope) => (range, limit) => tenantIds(scope, range, limit),
  unitHolders: (scope) => async (unit, limit) => {
    const holders = await scope.store.unitHolders(unit, LINKS_MAX);
    const ids = holders.map(({ job }) => job);
    const own = await ownAmong(scope, ids);
    return holders.filter(({ job }) => own.has(job)).slice(0, limit);
  },
  // Locks are within a tenant, and so is their holder.
  lockHolder:
    ({ store, tenant }) =>
    async (of, name) =>
      of === tenant ? store.lockHolder(of, name) : null,
  stats: (scope) => (max) => tenantStats(scope, max),
  groupedStats:
    ({ store, tenant }) =>
    async (limits, of = tenant) =>
      of === tenant
        ? store.groupedStats(limits, tenant)
        : { groups: [], cutShort: [], hasMore: false },

  // New jobs.
  enqueue: (scope) => async (given) => {
    const { jobs, answered } = await tenantJobs(scope, given);
    return answered(await scope.store.enqueue(jobs));
  },
  enqueueInTransaction: (scope) => async (tx, given) => {
    const { jobs, answered } = await tenantJobs(scope, given);
    return answered(await scope.store.enqueueInTransaction(tx, jobs));
  },

  // Pauses. Those of lanes and types explain why jobs of the tenant wait.
  gates:
    ({ store, tenant }) =>
    async () =>
      (await store.gates()).filter(({ kind, name }) => kind !== "tenant" || name === tenant),
  countBehind:
    ({ store, tenant }) =>
    (gate, rows) =>
      store.countBehind(gate, rows, tenant),
  // Jobs of other tenants that come before are not told.
  countAhead: (scope) => async (id, rows) =>
    (await isOwn(scope, id)) ? scope.store.countAhead(id, rows, scope.tenant) : null,
  // The running jobs of the own tenant are those of its own gate.
  countRunning: (scope) => async (target, page) => {
    insistOwnGate("countRunning", scope, target);
    return scope.store.countRunning(target, page);
  },
  limits:
    ({ store, tenant }) =>
    async (job) =>
      tenantLimits(await store.limits(job), tenant),
  // The weights of other tenants, and the person who has set them, are not told.
  fairLanes:
    ({ store, tenant }) =>
    async () =>
      (await store.fairLanes()).map(({ weights, ...lane }) => {
        const own = weights[tenant];
        return { ...lane, by: null, weights: own === undefined ? {} : { [tenant]: own } };
      }),
  pause: (scope) => async (gate, why) => {
    insistOwnGate("pause", scope, gate);
    await scope.store.pause(gate, why);
  },
  resume: (scope) => async (gate, act) => {
    insistOwnGate("resume", scope, gate);
    return scope.store.resume(gate, act);
  },

  // What workers declare about types names no tenant.
  types:
    ({ store }) =>
    (only) =>
      store.types(only),

  // Services are shared by all tenants; what their last calls were about is not told.
  breakers:
    ({ store, tenant }) =>
    async () =>
      (await store.breakers()).map((breaker) => tenantBreaker(breaker, tenant)),
  breakerChanges:
    ({ store }) =>
    async (service, limit) => {
      const changes = await store.breakerChanges(service, limit);
      return changes.map((change) => ({ ...change, reason: null, by: null }));
    },
  // Rules hold for all tenants; the person who has set them is not told.
  payloadRules:
    ({ store }) =>
    async () =>
      (await store.payloadRules()).map((rule) => ({ ...rule, by: null, reason: null })),
  // Own views, and those of the installation without the person who has saved them.
  savedViews:
    ({ store, tenant }) =>
    async () => {
      const shared = await store.savedViews(null);
      return [
        ...(await store.savedViews(tenant)),
        ...shared.map((view) => ({ ...view, by: null })),
      ];
    },
  saveView:
    ({ store, tenant }) =>
    (view, reason) =>
      store.saveView({ ...view, tenant }, reason),
  removeView:
    ({ store, tenant }) =>
    ({ name }, act) =>
      store.removeView({ tenant, name }, act),
  // Intakes, as pauses.
  intakes:
    ({ store, tenant }) =>
    async () =>
      (await store.intakes()).filter(({ kind, name }) => kind !== "tenant" || name === tenant),
  closeIntake: (scope) => async (gate, why) => {
    insistOwnGate("closeIntake", scope, gate);
    await scope.store.closeIntake(gate, why);
  },
  openIntake: (scope) => async (gate, act) => {
    insistOwnGate("openIntake", scope, gate);
    return scope.store.openIntake(gate, act);
  },

  // The quota of the own tenant. The person who has set it may belong to the installation.
  quotas:
    ({ store, tenant }) =>
    async () => {
      const use = await store.quotaUse(tenant);
      return use === null ? [] : [{ ...use.record, by: null }];
    },
  quotaUse:
    ({ store, tenant }) =>
    async (of) => {
      const use = of === tenant ? await store.quotaUse(of) : null;
      return use === null ? null : { ...use, record: { ...use.record, by: null } };
    },

  tenantNames:
    ({ tenant }) =>
    async ({ after = "" }) =>
      after < tenant ? [tenant] : [],
  openRemovals: refused("openRemovals"),
  removal:
    ({ store, tenant }) =>
    async (of) => {
      const record = of === tenant ? await store.removal(of) : null;
      return record === null ? null : { ...record, by: null };
    },

  time:
    ({ store }) =>
    () =>
      store.time(),

  // The feed. A position is a number of the whole installation, and tells nothing else.
  feedEnd:
    ({ store }) =>
    () =>
      store.feedEnd(),
  feedStart:
    ({ store }) =>
    () =>
      store.feedStart(),
  feed: (scope) => (position, limit, about) => tenantFeed(scope, position, limit, about),

  ...TOKEN_RULES,
  ...SCHEDULE_RULES,

  // What concerns all tenants.
  open: refused("open"),
  close: refused("close"),
  workers: refused("workers"),
  quiet: refused("quiet"),
  resumeWorker: refused("resumeWorker"),
  stopWorker: refused("stopWorker"),
  register: refused("register"),
  declareTypes: refused("declareTypes"),
  deregister: refused("deregister"),
  renew: refused("renew"),
  claim: refused("claim"),
  claimAlone: refused("claimAlone"),
  claimProbe: refused("claimProbe"),
  callServices: refused("callServices"),
  reportCalls: refused("reportCalls"),
  runFunction: refused("runFunction"),
  openBreaker: refused("openBreaker"),
  resetBreaker: refused("resetBreaker"),
  endCrashStreak: refused("endCrashStreak"),
  startPrefetched: refused("startPrefetched"),
  returnPrefetched: refused("returnPrefetched"),
  settle: refused("settle"),
  record: refused("record"),
  acquireLocks: refused("acquireLocks"),
  checkpoints: refused("checkpoints"),
  overdue: refused("overdue"),
  silent: refused("silent"),
  rescue: refused("rescue"),
  keepPermits: refused("keepPermits"),
  reportCode: refused("reportCode"),
  declareLimits: refused("declareLimits"),
  overrideType: refused("overrideType"),
  beginRemoval: refused("beginRemoval"),
  removeOfTenant: refused("removeOfTenant"),
  setQuota: refused("setQuota"),
  removeQuota: refused("removeQuota"),
  setLimit: refused("setLimit"),
  removeLimit: refused("removeLimit"),
  declareFairness: refused("declareFairness"),
  setFairness: refused("setFairness"),
  removeFairness: refused("removeFairness"),
  setPayloadRule: refused("setPayloadRule"),
  declarePayloadRules: refused("declarePayloadRules"),
  removePayloadRule: refused("removePayloadRule"),
  giveTurns: refused("giveTurns"),
  promote: refused("promote"),
  hold: refused("hold"),
  release: refused("release"),
  resolveDependencies: refused("resolveDependencies"),
  prune: refused("prune"),
  minutes: refused("minutes"),
  deploys: refused("deploys"),
  foldMinutes: refused("foldMinutes"),
  expired: refused("expired"),
  markStale: refused("markStale"),
  remove: refused("remove"),
};

/** Without what names jobs and pauses of other tenants. */
function tenantBreaker(breaker: BreakerRecord, tenant: string): BreakerRecord {
  const parks = breaker.parks
    .filter((park) => park.tenant === null || park.tenant === tenant)
    .map((park) => (park.tenant === null ? { ...park, reason: "" } : park));
  return { ...breaker, probe: null, reason: null, by: null, parks };
}

function refused(verb: Verb): (scope: TenantScope) => () => Promise<never> {
  return ({ tenant }) =>
    () =>
      Promise.reject(concernsAll(verb, tenant));
}

/** A verb about one job: for an id of another tenant, the answer to an unknown id. */
function ofOwnJob<Args extends readonly unknown[], Answer>(
  call: (store: JobStore, id: JobId, ...args: Args) => Promise<Answer>,
  unknown: Answer,
): (scope: TenantScope) => (id: JobId, ...args: Args) => Promise<Answer> {
  return (scope) =>
    async (id, ...args) =>
      (await isOwn(scope, id)) ? call(scope.store, id, ...args) : unknown;
}

/** The use of a limit that other tenants share is a count of their jobs. */
function tenantLimits(limits: readonly LimitRecord[], tenant: string): readonly LimitRecord[] {
  return limits
    .filter(({ kind, name }) => kind !== "tenant" || name === tenant)
    .filter((limit) => limit.kind !== "key" || limit.tenant === tenant)
    .map((limit) => (limit.kind === "tenant" ? limit : { ...limit, used: null }));
}

/** Jobs that a job of the tenant is linked to, without those of other tenants. */
function linked(
  call: (store: JobStore, id: JobId) => Promise<readonly JobId[]>,
): (scope: TenantScope) => (id: JobId, limit: number) => Promise<readonly JobId[]> {
  return (scope) => async (id, limit) => {
    if (!(await isOwn(scope, id))) return [];
    const ids = await call(scope.store, id);
    const own = await ownAmong(scope, ids);
    return ids.filter((each) => own.has(each)).slice(0, limit);
  };
}

async function isOwn(scope: TenantScope, id: JobId): Promise<boolean> {
  return (await ownAmong(scope, [id])).has(id);
}

async function ownEnds(scope: TenantScope, ids: readonly JobId[]): Promise<readonly JobEnd[]> {
  const own = await ownAmong(scope, ids);
  const asked = ids.filter((id) => own.has(id));
  const ends = new Map<JobId, JobEnd | undefined>();
  if (asked.length > 0) {
    const found = (await scope.store.ends(asked)).map((end) =>
      end.status === "final" ? { ...end, job: jobForTenant(end.job) } : end,
    );
    asked.forEach((id, index) => ends.set(id, found[index]));
  }
  return ids.map((id) => ends.get(id) ?? { status: "missing" });
}

function ownPage(page: Listing): Listing {
  return { ...page, jobs: page.jobs.map(jobForTenant) };
}

function excludes({ tenant }: TenantScope, filter: Pick<ListFilter, "tenant">): boolean {
  return filter.tenant !== undefined && filter.tenant !== tenant;
}

function insistOwnGate(
  verb: "pause" | "resume" | "countRunning" | "closeIntake" | "openIntake",
  { tenant }: TenantScope,
  { kind, name }: { readonly kind: string; readonly name: string },
): void {
  if (kind === "tenant" && name === tenant) return;
  const whose = kind === "tenant" ? "concerns another tenant" : "concerns all tenants";
  throw forbiddenTenant(tenant, `${verb} of the ${kind} ${JSON.stringify(name)} ${whose}`);
}
