/** Draws requests that the routes accept, apart from what the caller may do. */
import type { Dice } from "../../../../src/core/clock.ts";
import { canaryOf, payloadOf, TENANTS, TYPES, type Caller, type World } from "./world.ts";

/** The id of nothing. */
const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";

/** A request before it is sent. */
export interface Draft {
  readonly caller: Caller;
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is, instead of JSON. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

/** The parts of a draft that a route decides about. */
type Sample = Partial<Pick<Draft, "query" | "headers" | "json">> & {
  readonly params?: Readonly<Record<string, string>>;
};

/** Draws values for a request of a caller. */
export class Draw {
  readonly dice: Pick<Dice, "random">;
  readonly caller: Caller;
  readonly #world: World;

  constructor(dice: Pick<Dice, "random">, world: World, caller: Caller) {
    this.dice = dice;
    this.caller = caller;
    this.#world = world;
  }

  one<Value>(values: readonly Value[]): Value {
    const value = values[Math.floor(this.dice.random() * values.length)];
    if (value === undefined) throw new Error("there is nothing to draw from");
    return value;
  }

  chance(of: number): boolean {
    return this.dice.random() < of;
  }

  /** Mostly an id of the tenant of the caller; sometimes of another tenant, or of no tenant. */
  id(of: "jobs" | "tokens" = "jobs"): string {
    if (this.chance(0.03)) return NOWHERE;
    const own = this.caller.tenant;
    const isForeign = own === null || this.chance(0.3);
    const tenant = isForeign ? this.one(TENANTS.filter((each) => each !== own)) : own;
    return this.#world[of][tenant].any(this.dice) ?? NOWHERE;
  }

  /** Some of the query parameters. */
  some(values: Readonly<Record<string, () => string>>): Draft["query"] {
    return Object.entries(values)
      .filter(() => this.chance(0.25))
      .map(([name, value]) => [name, value()]);
  }

  /** The tenant whose data the request contains. */
  get tenant(): string {
    return this.caller.tenant ?? this.one(TENANTS);
  }

  remark(): string {
    return canaryOf(this.caller.tenant ?? "all");
  }

  job(): object {
    const tenant = this.tenant;
    const canary = canaryOf(tenant);
    const optional = {
      tags: { canary },
      correlationId: canary,
      priority: this.one<unknown>(["high", 7]),
      delay: this.one<unknown>(["1h", 50, "0.5s"]),
      maxAttempts: 3,
      idempotencyKey: this.one<unknown>([`${canary}-${this.count(200)}`, key(canary, this)]),
      dedupKey: `${canary}-${this.count(50)}`,
      concurrencyKey: `${canary}-${this.count(5)}`,
      // A link across tenants, which only a caller of all tenants can make, names the other id.
      after: [this.caller.tenant === null ? this.#own(tenant) : this.id()],
    };
    const options = Object.fromEntries(Object.entries(optional).filter(() => this.chance(0.15)));
    const payload = this.chance(0.9) ? { payload: payloadOf(tenant) } : {};
    return { type: this.one(TYPES), ...payload, options: { tenant, ...options } };
  }

  #own(name: string): string {
    const tenant = TENANTS.find((each) => each === name) ?? "acme";
    return this.#world.jobs[tenant].any(this.dice) ?? NOWHERE;
  }

  count(below: number): number {
    return Math.floor(this.dice.random() * below);
  }
}

function key(canary: string, draw: Draw): object {
  return { key: `${canary}-${draw.count(200)}`, onConflict: "error" };
}

const LIMIT = { limit: () => "5" };
const SERVICES = ["bank", "a service that no type uses"];
const noQuery = (): Sample => ({});
const ofCause = (): Sample => ({ params: { cause: "0123456789abcdef" } });
const ofJob = (draw: Draw): Sample => ({ params: { id: draw.id() } });

const SCHEDULES = ["nightly", "hourly"];
const ofSchedule = (draw: Draw): Sample => ({ params: { name: draw.one(SCHEDULES) } });

/** A request by the name of the route. A route without one is drawn from {@link ofJob}. */
const SAMPLES: Readonly<Record<string, (draw: Draw) => Sample>> = {
  isAlive: noQuery,
  isReady: noQuery,
  isHealthy: noQuery,
  getOpenApi: noQuery,
  getOverview: noQuery,
  getSession: noQuery,
  openSession: () => ({
    json: { token: `mr_person_${"x".repeat(43)}` },
    headers: { origin: "http://127.0.0.1:7333" },
  }),
  closeSession: noQuery,
  enqueueJob: (draw) => ({ json: draw.job() }),
  enqueueJobs: (draw) => ({
    json: { jobs: Array.from({ length: 1 + draw.count(5) }, () => draw.job()) },
  }),
  listJobs: (draw) => ({
    query: draw.some({
      ...LIMIT,
      state: () => draw.one(["queued", "failed", "completed", "pending", "running"]),
      type: () => draw.one(TYPES),
      tenant: () => draw.one(TENANTS),
      correlation_id: () => draw.remark(),
      parent_id: () => draw.id(),
      tag: () => `canary:${draw.remark()}`,
      created_after: () => draw.one(["2h", "2026-01-01T00:00:00Z"]),
      running_longer_than: () => draw.one(["30m", "1ms"]),
      lane: () => draw.one(["general", "slow"]),
      error: () => draw.remark(),
      payload: () => draw.one(["user.id:42", "card.number:1", "a..0:", "password:x"]),
      text: () => draw.one(["canary", "abc"]),
      count: () => "true",
    }),
  }),
  getJob: (draw) => ({
    params: { id: draw.id() },
    query: draw.some({ wait: () => draw.one(["1ms", "20ms"]) }),
    headers: draw.chance(0.1) ? { "if-none-match": draw.one(["*", '"x"']) } : {},
  }),
  listUnits: (draw) => ({
    params: { id: draw.id() },
    query: draw.some({ ...LIMIT, state: () => draw.one(["completed", "failed"]) }),
  }),
  listLogLines: (draw) => ({
    params: { id: draw.id() },
    query: draw.some({ ...LIMIT, after: () => draw.one(["0", "1"]), wait: () => "5ms" }),
  }),
  listUnitHolders: () => ({ query: [["key", "1"]] }),
  findJobIds: (draw) => ({ query: [["prefix", draw.id().slice(0, 4 + draw.count(20))]] }),
  cancelJob: (draw) => ({ ...ofJob(draw), json: { reason: draw.remark() } }),
  retryJob: (draw) => ({ ...ofJob(draw), json: draw.chance(0.5) ? {} : { restart: true } }),
  failJob: (draw) => ({ ...ofJob(draw), json: { message: draw.remark() } }),
  releaseJob: (draw) => ({ ...ofJob(draw), json: { force: draw.chance(0.5) } }),
  streamEvents: (draw) => ({
    query: draw.some({
      type: () => draw.one(TYPES),
      tenant: () => draw.one(TENANTS),
      event: () => draw.one(["job:enqueued", "job:failed"]),
      after: () => String(draw.count(1_000)),
    }),
  }),
  listEvents: (draw) => ({
    query: draw.some({
      ...LIMIT,
      tenant: () => draw.one(TENANTS),
      after: () => String(draw.count(1_000)),
      wait: () => "5ms",
    }),
  }),
  listFailures: (draw) => ({ query: draw.some({ tenant: () => draw.one(TENANTS) }) }),
  getFailure: () => ofCause(),
  acknowledgeFailure: (draw) => ({ ...ofCause(), json: { notes: draw.remark() } }),
  snoozeFailure: () => ({ ...ofCause(), json: { until: "2030-01-01T00:00:00Z" } }),
  retryFailure: (draw) => ({ ...ofCause(), json: { notes: draw.remark() } }),
  discardFailure: (draw) => ({ ...ofCause(), json: { notes: draw.remark() } }),
  listDeadLetters: (draw) => ({
    query: draw.some({
      ...LIMIT,
      count: () => "true",
      category: () => draw.remark(),
      correlation_id: () => draw.remark(),
      error_class: () => draw.one(["transient", "non_retryable"]),
      created_before: () => draw.one(["2h", "2030-01-01T00:00:00Z"]),
      status: () => draw.one(["pending_review", "reprocessed"]),
      tenant: () => draw.one(TENANTS),
      after: () => draw.id(),
    }),
  }),
  acknowledgeDeadLetter: (draw) => ({ ...ofJob(draw), json: { notes: draw.remark() } }),
  noteDeadLetter: (draw) => ({ ...ofJob(draw), json: { notes: draw.remark() } }),
  assignDeadLetter: (draw) => ({ ...ofJob(draw), json: { to: draw.remark() } }),
  discardDeadLetter: (draw) => ({ ...ofJob(draw), json: { notes: draw.remark() } }),
  reprocessDeadLetter: (draw) => ({ ...ofJob(draw), json: { notes: draw.remark() } }),
  overrideType: () => ({ params: { type: "elsewhere" }, json: { priority: 5 } }),
  resetType: () => ({ params: { type: "elsewhere" } }),
  compareAudit: () => ({ json: { heads: [] } }),
  listLimits: noQuery,
  setLimit: (draw) => ({
    params: { kind: "type", name: "elsewhere" },
    json: { concurrency: 5, reason: draw.remark() },
  }),
  removeLimit: (draw) => ({
    params: { kind: "type", name: "elsewhere" },
    query: [["reason", draw.remark()]],
  }),
  getSettings: noQuery,
  getAttention: noQuery,
  listLanes: noQuery,
  listFairLanes: noQuery,
  setFairness: () => ({ params: { lane: "elsewhere" }, json: { weights: { acme: 3 } } }),
  removeFairness: () => ({ params: { lane: "elsewhere" } }),
  listPauses: noQuery,
  pause: (draw) => ({
    params: draw.one<Record<string, string>>([
      { kind: "tenant", name: draw.tenant },
      { kind: "lane", name: "elsewhere" },
      { kind: "type", name: "elsewhere" },
    ]),
    json: { reason: draw.remark() },
  }),
  resume: (draw) => ({ params: { kind: "tenant", name: draw.tenant } }),
  listBreakers: noQuery,
  listTypes: noQuery,
  getBreaker: (draw) => ({ params: { service: draw.one(SERVICES) } }),
  listBreakerChanges: (draw) => ({
    params: { service: draw.one(SERVICES) },
    query: draw.some(LIMIT),
  }),
  openBreaker: (draw) => ({
    params: { service: draw.one(SERVICES) },
    json: { reason: draw.remark() },
  }),
  resetBreaker: (draw) => ({ params: { service: draw.one(SERVICES) } }),
  listIntakes: noQuery,
  // No job of the fuzz is in this lane.
  closeIntake: (draw) => ({
    params: { kind: "lane", name: "elsewhere" },
    json: { reason: draw.remark() },
  }),
  openIntake: () => ({ params: { kind: "lane", name: "elsewhere" } }),
  listPayloadRules: noQuery,
  setPayloadRule: (draw) => ({
    params: { scope: "type", name: "elsewhere" },
    json: { rule: { hardBytes: 5_000 }, reason: draw.remark() },
  }),
  removePayloadRule: () => ({ params: { scope: "type", name: "elsewhere" } }),
  listTenants: (draw) => ({ query: draw.some(LIMIT) }),
  getTenant: (draw) => ({ params: { tenant: draw.tenant } }),
  // No job of the fuzz belongs to this tenant.
  setQuota: (draw) => ({
    params: { tenant: "elsewhere" },
    json: { waiting: 5, reason: draw.remark() },
  }),
  removeQuota: () => ({ params: { tenant: "elsewhere" }, query: [["reason", "asked"]] }),
  exportTenant: (draw) => ({ params: { tenant: draw.tenant } }),
  getRemoval: () => ({ params: { tenant: "elsewhere" } }),
  removeTenant: (draw) => ({
    params: { tenant: "elsewhere" },
    json: { reason: draw.remark(), confirm: "elsewhere" },
  }),
  countRunning: (draw) => ({ params: { kind: "tenant", name: draw.tenant } }),
  listWorkers: noQuery,
  quietWorker: () => ({ params: { id: NOWHERE } }),
  resumeWorker: () => ({ params: { id: NOWHERE } }),
  stopWorker: () => ({ params: { id: NOWHERE } }),
  getStats: noQuery,
  getStatsBy: (draw) => ({ params: { by: draw.one(["type", "lane", "tenant"]) } }),
  listTokens: (draw) => ({ query: draw.some({ ...LIMIT, kind: () => "person" }) }),
  createToken: (draw) => ({
    json: {
      kind: "person",
      name: draw.remark(),
      roles: [draw.one(["viewer", "operator", "admin"])],
      tenant: draw.tenant,
      ttl: draw.one(["30d", "1h"]),
    },
  }),
  revokeToken: (draw) => ({ params: { id: draw.id("tokens") } }),
  listViews: noQuery,
  saveView: (draw) => ({
    params: { name: draw.one(["mine", "ours"]) },
    json: { screen: "jobs", query: draw.remark() },
  }),
  removeView: (draw) => ({ params: { name: draw.one(["mine", "none"]) } }),
  listDeploys: (draw) => ({ query: draw.some({ from: () => "2h", to: () => "1h" }) }),
  getRunMetrics: (draw) => ({ query: draw.some({ from: () => "2h", step: () => "5m" }) }),
  listSchedules: noQuery,
  createSchedule: (draw) => ({
    json: {
      name: draw.one(SCHEDULES),
      when: { cron: "@daily" },
      type: "email",
      reason: draw.remark(),
    },
  }),
  getSchedule: ofSchedule,
  listTicks: ofSchedule,
  removeSchedule: (draw) => ({ ...ofSchedule(draw), query: [["reason", draw.remark()]] }),
  resumeSchedule: ofSchedule,
  runSchedule: ofSchedule,
  updateSchedule: (draw) => ({
    ...ofSchedule(draw),
    json: { cron: "@hourly", reason: draw.remark() },
  }),
  pauseSchedule: (draw) => ({ ...ofSchedule(draw), json: { reason: draw.remark() } }),
};

/** A request that the route accepts, apart from what the caller may do. */
export function draftOf(
  route: { readonly name: string; readonly method: string; readonly path: string },
  draw: Draw,
): Draft {
  const sample = (SAMPLES[route.name] ?? ofJob)(draw);
  const { params = {}, query = [], headers = {}, json } = sample;
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ""),
  );
  const { streamToken } = draw.caller;
  const token: Draft["query"] = streamToken === undefined ? [] : [["token", streamToken]];
  return {
    caller: draw.caller,
    method: route.method.toUpperCase(),
    path,
    query: [...query, ...token],
    headers: { host: "127.0.0.1:7333", ...draw.caller.headers, ...headers },
    ...(json === undefined ? {} : { json }),
  };
}
