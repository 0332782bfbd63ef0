/**
 * What the fuzzed server knows before the first request: two tenants with jobs in every state, a
 * worker, and credentials of every kind. Everything of a tenant contains its canary.
 */
import type { NewToken, PersonRole } from "../../../../src/api/tokens.ts";
import { defineJob, NonRetryableError, openMillrace, typed } from "../../../../src/index.ts";
import type { Millrace } from "../../../../src/index.ts";
import { Pool } from "./pool.ts";

export const TENANTS = ["acme", "globex"] as const;
export type Tenant = (typeof TENANTS)[number];

/** The types that the worker knows. Jobs of other types wait. */
export const TYPES = ["work", "doomed", "flaky", "slow", "waiting"] as const;

const ROLES: readonly PersonRole[] = ["viewer", "operator", "manager", "admin"];
const JOBS_PER_TYPE = 8;
const SLOW_MS = 200;

/** Text that only the tenant, and those who see all tenants, may read. */
export function canaryOf(tenant: string): string {
  return `canary-of-${tenant}`;
}

/** Text in values of the application, which a viewer never reads. */
export const VALUE_CANARY = "value-canary-51c9";

export interface Caller {
  readonly name: string;
  /** Null: all tenants. */
  readonly tenant: Tenant | null;
  /** The caller reads no values. */
  readonly isBlind: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** In the URL of the routes of one job. */
  readonly streamToken?: string;
}

export interface World extends AsyncDisposable {
  readonly mill: Millrace;
  readonly callers: readonly Caller[];
  /** The ids of jobs and tokens of a tenant, which requests name. */
  readonly jobs: Readonly<Record<Tenant, Pool>>;
  readonly tokens: Readonly<Record<Tenant, Pool>>;
}

export async function makeWorld(url: string): Promise<World> {
  const mill = await openMillrace(url, { logger: SILENT });
  const jobs = { acme: new Pool(), globex: new Pool() };
  const tokens = { acme: new Pool(), globex: new Pool() };
  for (const tenant of TENANTS) {
    for (const type of TYPES) {
      for (let n = 0; n < JOBS_PER_TYPE; n += 1) {
        jobs[tenant].add(await enqueued(mill, type, tenant));
      }
    }
  }
  const callers = (
    await Promise.all([...TENANTS, null].map((each) => callersOf(mill, jobs, each)))
  ).flat();
  const worker = mill.work({ jobs: HANDLERS, signals: false });
  await worker.ready;
  return {
    mill,
    callers,
    jobs,
    tokens,
    async [Symbol.asyncDispose]() {
      await worker.stop({ grace: "5s" }).catch(() => {});
      // A run that was cut off is no finding; the worker has said so above.
      await mill.close().catch(() => {});
    },
  };
}

/** The payload of jobs of a tenant. */
export function payloadOf(tenant: string): { readonly note: string; readonly value: string } {
  return { note: canaryOf(tenant), value: VALUE_CANARY };
}

async function enqueued(mill: Millrace, type: string, tenant: Tenant): Promise<string> {
  const contract = defineJob({ type, payload: typed<object>() });
  const canary = canaryOf(tenant);
  const { id } = await mill.enqueue(contract, payloadOf(tenant), {
    tenant,
    tags: { canary },
    correlationId: canary,
    ...(type === "waiting" ? { delay: "1h" } : {}),
  });
  return id;
}

async function callersOf(
  mill: Millrace,
  jobs: World["jobs"],
  tenant: Tenant | null,
): Promise<readonly Caller[]> {
  const scope = tenant === null ? {} : { tenant };
  const canary = canaryOf(tenant ?? "all");
  const made = async (token: NewToken): Promise<string> =>
    (await mill.tokens.create({ ...scope, ...token })).secret;
  const callers: Caller[] = [];
  const add = (name: string, secret: string, isBlind: boolean): void => {
    const headers = { authorization: `Bearer ${secret}` };
    callers.push({ name, tenant, isBlind, headers });
  };
  for (const role of ROLES) {
    const secret = await made({ kind: "person", name: canary, roles: [role] });
    add(role, secret, role === "viewer" || role === "admin");
  }
  add("producer", await made({ kind: "producer", name: canary }), false);
  add("worker", await made({ kind: "worker", name: canary }), false);
  const session = await made({ kind: "session", name: canary, roles: ["manager"] });
  const cookie = { cookie: `millrace-7333=${session}`, "sec-fetch-site": "same-origin" };
  callers.push({ name: "session", tenant, isBlind: false, headers: cookie });
  if (tenant === null) return callers;
  const jobId = jobs[tenant].first;
  const streamToken = await made({ kind: "stream", name: canary, tenant, jobId });
  callers.push({ name: "stream", tenant, isBlind: true, headers: {}, streamToken });
  return callers;
}

type Given = ReturnType<typeof payloadOf>;

const HANDLERS = [
  defineJob({ type: "work", payload: typed<Given>(), maxAttempts: 2 }).run(async (given, ctx) => {
    ctx.log.info(given.note, given);
    await ctx.progress(50, given);
    await ctx.each([1, 2], String, () => given);
    return given;
  }),
  defineJob({ type: "doomed", payload: typed<Given>() }).run(({ note, value }) => {
    throw new NonRetryableError(`${note} ${value}`);
  }),
  // Its next attempt is a day away.
  defineJob({
    type: "flaky",
    payload: typed<Given>(),
    backoff: { kind: "fixed", base: "1d", cap: "1d" },
  }).run(({ note, value }) => {
    throw new Error(`${note} ${value}`);
  }),
  defineJob({ type: "slow", payload: typed<Given>() }).run(async (_, ctx) => {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, SLOW_MS);
      ctx.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve(null);
      });
    });
  }),
] as const;

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
