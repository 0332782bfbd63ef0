/** Calls every method of a mill of one tenant, and lists what it leaks. */
import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { defineJob, schedule, typed } from "millrace";
import type { Millrace } from "millrace";
import { EVENT_KINDS } from "../../../src/api/events.ts";
import { Client } from "../../../src/client/client.ts";
import { leaksIn, outcomeOf } from "./outcome.ts";
import { OTHER, probesOf, SHARED_UNIT, TYPE, type Probe, type TenantScene } from "./scene.ts";

/** The methods as a program without types finds them. */
type Methods = Readonly<Record<string, Method>>;
type Method = (...args: any[]) => any;

interface Audit {
  readonly scene: TenantScene;
  /** The mill of all tenants. */
  readonly all: Client;
}

type Call = (methods: Methods, probe: Probe, audit: Audit) => unknown;

const job = defineJob({ type: TYPE, payload: typed<{ note: string }>() });
/** A stream that is silent for so long has told all. */
const SILENCE_MS = 100;
const NOTE = { note: "own" };
const BY = { actor: "me" };
const WHY = { ...BY, reason: "audit" };
const QUOTA = { waiting: 5 };

/** Not part of the public type: what the composition root uses of a client. */
const INTERNAL: ReadonlySet<string> = new Set(["constructor", "learn", "learnRetention"]);
/** Not part of the type of a tenant's mill, and therefore refused. */
const REFUSED = ["close", "forTenant", "Symbol(Symbol.asyncDispose)"];
const GROUPS: ReadonlySet<string> = new Set(["parts", "jobDefaults"]);

/** The methods about one schedule, and their other arguments. */
const SCHEDULE_METHODS: readonly (readonly [string, ...unknown[]])[] = [
  ["get"],
  ["history"],
  ["update", { cron: "@daily" }],
  ["pause", "audit"],
  ["resume"],
  ["runNow"],
  ["remove"],
];

/** A view repeats the name that was asked for. */
async function factsOf(view: Promise<{ readonly tenant: string }>): Promise<object> {
  const { tenant: _tenant, ...facts } = await view;
  return facts;
}

/** The first line of an export repeats the name, too. */
async function exportedOf(lines: AsyncIterable<{ readonly kind: string }>): Promise<unknown[]> {
  const exported: unknown[] = [];
  for await (const line of lines) if (line.kind !== "tenant") exported.push(line);
  return exported;
}

const byId =
  (path: string, ...args: readonly unknown[]): Call =>
  (methods, { id }) =>
    methodAt(methods, path)(id, ...args);

/** The cause of failures of all tenants. */
const byCause =
  (path: string, by: object): Call =>
  async (methods, { tenant }, { all }) => {
    const [group] = await all.failures.list();
    return methodAt(methods, path)(group?.cause ?? "0123456789abcdef", { ...by, tenant });
  };

const CALLS: Readonly<Record<string, readonly Call[]>> = {
  enqueue: [
    (mill, { id }) => methodAt(mill, "enqueue")(job, NOTE, { after: [{ id }] }),
    (mill, { tenant }) => methodAt(mill, "enqueue")(job, NOTE, { tenant }),
    // The keys of another tenant are free.
    async (mill, { text }) => {
      const options = { idempotencyKey: `${text}-once`, dedupKey: `${text}-dedup` };
      const { created } = await methodAt(mill, "enqueue")(job, NOTE, options);
      return { created };
    },
  ],
  enqueueMany: [
    (mill, { id }) =>
      methodAt(mill, "enqueueMany")([job.of(NOTE, { after: [{ id, type: TYPE }] })]),
    (mill, { tenant }) => methodAt(mill, "enqueueMany")([job.of(NOTE, { tenant })]),
  ],
  wait: [(mill, probe, audit) => isOfFinal(probe, audit) && methodAt(mill, "wait")(probe)],
  result: [(mill, probe, audit) => isOfFinal(probe, audit) && methodAt(mill, "result")(probe)],
  on: [(mill, _, audit) => eventsDuring(mill, audit)],
  pause: [
    (mill, { tenant }) => forbidden(methodAt(mill, "pause"), { tenant }, "audit"),
    (mill) => forbidden(methodAt(mill, "pause"), { type: TYPE }, "audit"),
    (mill) => forbidden(methodAt(mill, "pause"), { lane: "general" }, "audit"),
  ],
  resume: [
    (mill, { tenant }) => forbidden(methodAt(mill, "resume"), { tenant }),
    (mill) => forbidden(methodAt(mill, "resume"), { type: TYPE }),
  ],
  "intake.close": [
    (mill, { tenant }) => forbidden(methodAt(mill, "intake.close"), { tenant }, "audit"),
    (mill) => forbidden(methodAt(mill, "intake.close"), { type: TYPE }, "audit"),
  ],
  "intake.open": [
    (mill, { tenant }) => forbidden(methodAt(mill, "intake.open"), { tenant }),
    (mill) => forbidden(methodAt(mill, "intake.open"), { lane: "general" }),
  ],
  "audit.list": [
    (mill) => methodAt(mill, "audit.list")(),
    (mill, { tenant }) => methodAt(mill, "audit.list")({ tenant }),
    (mill, { id }) => methodAt(mill, "audit.list")({ subject: { kind: "job", name: id } }),
  ],
  "audit.export": [
    (mill, { tenant }) => linesOf(methodAt(mill, "audit.export")({ tenant })),
    (mill) => linesOf(methodAt(mill, "audit.export")()),
  ],
  "audit.verify": [async (mill) => (await methodAt(mill, "audit.verify")()).heads],
  "intake.list": [(mill) => methodAt(mill, "intake.list")()],
  "tenants.list": [(mill) => methodAt(mill, "tenants.list")()],
  "tenants.get": [(mill, { tenant }) => factsOf(methodAt(mill, "tenants.get")(tenant))],
  "tenants.quotas": [(mill) => methodAt(mill, "tenants.quotas")()],
  "tenants.setQuota": [
    (mill, { tenant }) => forbidden(methodAt(mill, "tenants.setQuota"), tenant, QUOTA, WHY),
    (mill) => forbidden(methodAt(mill, "tenants.setQuota"), "*", QUOTA, WHY),
  ],
  "tenants.removeQuota": [
    (mill, { tenant }) => forbidden(methodAt(mill, "tenants.removeQuota"), tenant, WHY),
    (mill) => forbidden(methodAt(mill, "tenants.removeQuota"), "*", WHY),
  ],
  "tenants.export": [(mill, { tenant }) => exportedOf(methodAt(mill, "tenants.export")(tenant))],
  "tenants.remove": [
    (mill, { tenant }) =>
      forbidden(methodAt(mill, "tenants.remove"), tenant, { ...WHY, confirm: tenant }),
  ],
  pauses: [(mill) => methodAt(mill, "pauses")()],
  drain: [
    (mill, { tenant }) => forbidden(methodAt(mill, "drain"), { tenant }, { timeout: 0 }),
    (mill) => forbidden(methodAt(mill, "drain"), { type: TYPE }, { timeout: 0 }),
    (mill) => forbidden(methodAt(mill, "drain"), { installation: true }, { timeout: 0 }),
  ],
  running: [
    (mill, { tenant }) => forbidden(methodAt(mill, "running"), { tenant }),
    (mill) => forbidden(methodAt(mill, "running"), { type: TYPE }),
    (mill) => forbidden(methodAt(mill, "running"), { installation: true }),
  ],
  "breakers.list": [(mill) => methodAt(mill, "breakers.list")()],
  "breakers.get": [(mill) => methodAt(mill, "breakers.get")("bank")],
  "breakers.history": [(mill) => methodAt(mill, "breakers.history")("bank")],
  "breakers.forceOpen": [
    (mill) => forbidden(methodAt(mill, "breakers.forceOpen"), "bank", "audit"),
  ],
  "breakers.reset": [(mill) => forbidden(methodAt(mill, "breakers.reset"), "bank")],
  "types.list": [(mill) => methodAt(mill, "types.list")()],
  "types.get": [(mill, { text }) => methodAt(mill, "types.get")(text)],
  "jobs.get": [byId("jobs.get")],
  "jobs.texts": [byId("jobs.texts")],
  "jobs.details": [
    byId("jobs.details"),
    (mill, _, { scene }) => methodAt(mill, "jobs.details")(scene.linked),
    (mill, _, { scene }) => methodAt(mill, "jobs.details")(scene.own.queued),
  ],
  "jobs.findIds": [
    byId("jobs.findIds"),
    (mill, { id }) => methodAt(mill, "jobs.findIds")(id.slice(0, 22)),
    (mill, _, { scene }) => methodAt(mill, "jobs.findIds")(scene.own.queued.slice(0, 4), 1_000),
  ],
  "jobs.list": [
    (mill) => methodAt(mill, "jobs.list")(),
    (mill, { tenant }) => methodAt(mill, "jobs.list")({ tenant }),
    (mill, { id }) => methodAt(mill, "jobs.list")({ after: id }),
    (mill, { id }) => methodAt(mill, "jobs.list")({ parentId: id }),
    (mill, { text }) => methodAt(mill, "jobs.list")({ correlationId: text }),
    (mill, { text }) => methodAt(mill, "jobs.list")({ tags: { customer: text } }),
  ],
  "deadLetters.count": [
    (mill, { tenant }) => methodAt(mill, "deadLetters.count")({ tenant }),
    (mill, { text }) => methodAt(mill, "deadLetters.count")({ category: text }),
  ],
  "deadLetters.stats": [
    async (mill, { tenant }) => {
      const { count } = await methodAt(mill, "deadLetters.stats")();
      return tenant === OTHER ? count : 1;
    },
  ],
  "jobs.count": [
    (mill, { tenant }) => methodAt(mill, "jobs.count")({ tenant }),
    (mill, { text }) => methodAt(mill, "jobs.count")({ category: text }),
  ],
  "jobs.stats": [
    async (mill, { tenant }) => {
      const { failed, scheduled, running, held } = await methodAt(mill, "jobs.stats")();
      const expected = { failed: 1, scheduled: 1, running: 1, held: 2 };
      return tenant === OTHER ? { failed, scheduled, running, held } : expected;
    },
  ],
  "jobs.statsBy": [
    (mill) => methodAt(mill, "jobs.statsBy")("tenant"),
    async (mill, { tenant }) => {
      const { groups } = await methodAt(mill, "jobs.statsBy")("type");
      return tenant === OTHER ? groups[0].failed : 1;
    },
  ],
  "jobs.progress": [byId("jobs.progress")],
  "jobs.units": [byId("jobs.units")],
  "jobs.holders": [
    (mill, { text }) => methodAt(mill, "jobs.holders")(text),
    (mill) => methodAt(mill, "jobs.holders")(SHARED_UNIT),
  ],
  "jobs.logs": [byId("jobs.logs")],
  "jobs.explain": [
    byId("jobs.explain"),
    (mill, _, { scene }) => methodAt(mill, "jobs.explain")(scene.linked),
  ],
  "jobs.attempts": [byId("jobs.attempts")],
  "jobs.cancel": [byId("jobs.cancel")],
  "jobs.retry": [byId("jobs.retry"), byId("jobs.retry", { restart: true })],
  "jobs.fail": [byId("jobs.fail", "audit")],
  "jobs.release": [byId("jobs.release")],
  "deadLetters.get": [byId("deadLetters.get")],
  "deadLetters.texts": [byId("deadLetters.texts")],
  "deadLetters.list": [
    (mill) => methodAt(mill, "deadLetters.list")(),
    (mill, { tenant }) => methodAt(mill, "deadLetters.list")({ tenant }),
    (mill, { id }) => methodAt(mill, "deadLetters.list")({ after: id }),
  ],
  "deadLetters.acknowledge": [byId("deadLetters.acknowledge", BY)],
  "deadLetters.reprocess": [byId("deadLetters.reprocess", BY)],
  "jobs.setPriority": [byId("jobs.setPriority", 1)],
  "jobs.reschedule": [byId("jobs.reschedule", { delay: "1h" })],
  "operations.preview": [
    (mill, { tenant }) =>
      methodAt(mill, "operations.preview")({ action: "delete", jobs: { tenant } }),
    (mill, { tenant }) =>
      methodAt(mill, "operations.preview")({ action: "discard", deadLetters: { tenant } }),
  ],
  "operations.start": [
    (mill, { tenant }) =>
      forbidden(
        (given) => methodAt(mill, "operations.start")(given, { actor: "me", reason: "x" }),
        { action: "delete", jobs: { tenant } },
      ),
    // Another tenant's job is skipped, as an unknown one is.
    async (mill, { id }) => {
      const by = { actor: "me", reason: "x" };
      const start = methodAt(mill, "operations.start");
      const { id: operation } = await start({ action: "cancel", ids: [id] }, by);
      const { done, skipped } = await methodAt(mill, "operations.wait")(operation);
      return { done, skipped };
    },
  ],
  "operations.get": [byId("operations.get")],
  "operations.list": [(mill) => methodAt(mill, "operations.list")()],
  "operations.items": [byId("operations.items")],
  "operations.stop": [byId("operations.stop", { actor: "me" })],
  "operations.wait": [byId("operations.wait")],
  "failures.list": [
    (mill) => methodAt(mill, "failures.list")(),
    (mill, { tenant }) => methodAt(mill, "failures.list")({ tenant }),
  ],
  "failures.get": [byCause("failures.get", {})],
  "failures.acknowledge": [byCause("failures.acknowledge", BY)],
  "failures.snooze": [byCause("failures.snooze", { ...BY, until: new Date(0) })],
  "failures.retry": [byCause("failures.retry", BY)],
  "failures.discard": [byCause("failures.discard", BY)],
  "deadLetters.note": [byId("deadLetters.note", { actor: "me", notes: "x" })],
  "deadLetters.assign": [byId("deadLetters.assign", { actor: "me", to: "me" })],
  "deadLetters.discard": [byId("deadLetters.discard", BY)],
  stream: [
    (mill, _, audit) => streamed(mill, {}, audit),
    (mill, { id }, audit) => streamed(mill, { job: id }, audit),
    (mill, { tenant }, audit) => streamed(mill, { tenant }, audit),
    (mill, { text }, audit) => streamed(mill, { correlationId: text }, audit),
  ],
  "tokens.create": [
    (mill, { tenant }) =>
      forbidden(methodAt(mill, "tokens.create"), { kind: "producer", name: "x", tenant }),
  ],
  "tokens.list": [(mill, { tenant }) => methodAt(mill, "tokens.list")({ tenant })],
  "tokens.revoke": [
    (mill, probe, { scene: { otherTokens } }) =>
      // The message names the id, which is not that of the probe.
      methodAt(
        mill,
        "tokens.revoke",
      )(probe.tenant === OTHER ? otherTokens[0] : probe.id).catch(
        (error: { code: string }) => error.code,
      ),
  ],
  "tokens.verify": [
    (mill) => forbidden(methodAt(mill, "tokens.verify"), `mr_person_${"x".repeat(43)}`),
  ],
  "metrics.deploys": [(mill) => forbidden(methodAt(mill, "metrics.deploys"))],
  "metrics.read": [(mill) => forbidden(methodAt(mill, "metrics.read"))],
  "schedules.list": [
    (mill) => methodAt(mill, "schedules.list")(),
    (mill, { tenant }) => methodAt(mill, "schedules.list")({ tenant }),
  ],
  ...Object.fromEntries(
    SCHEDULE_METHODS.map(([method, ...args]) => [
      `schedules.${method}`,
      [(mill: Methods, { text }: Probe) => methodAt(mill, `schedules.${method}`)(text, ...args)],
    ]),
  ),
  "schedules.create": [
    (mill, { tenant }) =>
      forbidden(
        methodAt(mill, "schedules.create"),
        schedule("x", { cron: "@daily" }, job, NOTE, { tenant }),
      ),
  ],
  "workers.stop": [(mill, { id }) => forbidden(methodAt(mill, "workers.stop"), id)],
  "limits.list": [(mill) => methodAt(mill, "limits.list")()],
  "limits.set": [
    (mill) => forbidden(() => methodAt(mill, "limits.set")({ type: "audit" }, { concurrency: 1 })),
  ],
  "types.override": [
    (mill) => forbidden(() => methodAt(mill, "types.override")("audit", { priority: 1 })),
  ],
  "types.reset": [(mill) => forbidden(() => methodAt(mill, "types.reset")("audit"))],
  "limits.remove": [(mill) => forbidden(() => methodAt(mill, "limits.remove")({ type: "audit" }))],
  "views.list": [(mill) => methodAt(mill, "views.list")()],
  "views.save": [
    async (mill, { tenant, text: name }) => {
      await methodAt(mill, "views.save")({ name, screen: "jobs", query: "" });
      const isOwn = await methodAt(mill, "views.remove")(name);
      return tenant === OTHER ? isOwn : true;
    },
  ],
  "views.remove": [
    (mill, { text }) => methodAt(mill, "views.remove")(text),
    async (mill, { tenant }) => {
      await methodAt(mill, "views.save")({ name: "own", screen: "jobs", query: "" });
      const isOwn = await methodAt(mill, "views.remove")("own");
      return tenant === OTHER ? isOwn : true;
    },
  ],
  "payloadRules.list": [(mill) => methodAt(mill, "payloadRules.list")()],
  "payloadRules.set": [
    (mill) => {
      const target = { installation: true } as const;
      return forbidden(() => methodAt(mill, "payloadRules.set")(target, { strict: true }));
    },
  ],
  "payloadRules.remove": [
    (mill) => forbidden(() => methodAt(mill, "payloadRules.remove")({ installation: true })),
  ],
  about: [(mill) => methodAt(mill, "about")()],
  attention: [(mill) => methodAt(mill, "attention")()],
  "lanes.list": [(mill) => forbidden(methodAt(mill, "lanes.list"))],
  "fairness.list": [(mill) => methodAt(mill, "fairness.list")()],
  "fairness.set": [(mill) => forbidden(() => methodAt(mill, "fairness.set")("general", {}))],
  "fairness.remove": [(mill) => forbidden(() => methodAt(mill, "fairness.remove")("general"))],
  "workers.list": [(mill) => forbidden(methodAt(mill, "workers.list"))],
  "workers.quiet": [(mill, { id }) => forbidden(methodAt(mill, "workers.quiet"), id)],
  "workers.resume": [(mill, { id }) => forbidden(methodAt(mill, "workers.resume"), id)],
  ...Object.fromEntries(REFUSED.map((path) => [path, [refusing(path)]])),
};

/** What the methods of all tenants tell concerns no tenant, so that nothing can be planted. */
const PASSED_ON: ReadonlySet<string> = new Set(["types.list", "types.get", "about"]);

/** A permitted removal waits for the running jobs of the scene, which never end. */
const ENDLESS = "tenants.remove";

/** The methods that end nothing when they are those of all tenants, and that themselves end. */
export const AUDITED: readonly string[] = Object.keys(CALLS).filter(
  (path) =>
    path !== "close" && path !== ENDLESS && !path.includes("asyncDispose") && !PASSED_ON.has(path),
);

/** The methods of a mill by their path, those of `jobs` and other members included. */
export function methodsOf(mill: object): Methods {
  const methods: Record<string, Method> = {};
  for (let owner = mill; owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const key of Reflect.ownKeys(owner)) {
      const [name, member]: [string, unknown] = [String(key), Reflect.get(mill, key)];
      if (INTERNAL.has(name) || GROUPS.has(name)) continue;
      if (typeof member === "function") methods[name] ??= member.bind(mill);
      else
        for (const [part, call] of Object.entries(member ?? {})) methods[`${name}.${part}`] = call;
    }
  }
  return methods;
}

/** What the methods tell of the other tenant; empty if they tell nothing. */
export async function auditMethods(
  methods: Methods,
  audit: Audit,
  paths: readonly string[] = Object.keys(methods),
  tried: () => void = () => {},
): Promise<readonly string[]> {
  const findings: string[] = [];
  const { scene } = audit;
  for (const path of paths) {
    const calls = CALLS[path] ?? [];
    if (calls.length === 0) findings.push(`${path} is not audited`);
    for (const call of calls) {
      for (const [known, unknown] of probesOf(scene)) {
        const found = await outcomeOf(() => call(methods, known, audit), known);
        const missing = await outcomeOf(() => call(methods, unknown, audit), unknown);
        tried();
        const leaks = leaksIn(found + missing, scene);
        for (const leak of leaks) findings.push(`${path} names ${leak}: ${found}`);
        if (found !== missing) findings.push(`${path} tells ${found} from ${missing}`);
      }
    }
  }
  return findings;
}

/** Events of both tenants happen; the listeners may get those of the own tenant only. */
async function eventsDuring(methods: Methods, { all, scene }: Audit): Promise<unknown> {
  const heard: unknown[] = [];
  const own = Promise.withResolvers<void>();
  const ends = EVENT_KINDS.map((name) =>
    methodAt(methods, "on")(name, (event: { id: string }) => {
      heard.push({ name, ...event });
      if (event.id === last.id) own.resolve();
    }),
  );
  const mill: Pick<Millrace, "enqueue" | "jobs"> = all;
  const other = await mill.enqueue(job, { note: "CANARY" }, { tenant: OTHER });
  await mill.jobs.cancel(other.id, "CANARY");
  const last = await mill.enqueue(job, NOTE, { tenant: "acme" });
  const cancelled = mill.jobs.cancel(last.id);
  await own.promise;
  await cancelled;
  for (const end of ends) end();
  const foreign = heard.filter((event) => JSON.stringify(event).includes(other.id));
  return { foreign: foreign.length === 0 ? "none" : "CANARY", scene: scene.linked };
}

/** All events so far, and the snapshot: what a stream tells of the other tenant. */
async function streamed(
  methods: Methods,
  options: object,
  { scene }: Audit,
): Promise<string | readonly string[]> {
  const texts: string[] = [];
  for (const begin of [{ snapshot: true }, { after: "0" }]) {
    const stream: ReadableStream = methodAt(methods, "stream")({ ...options, ...begin });
    const reader = stream.getReader();
    // The clock of the mill may stand still, so that no ping comes.
    for (let isOver = false; !isOver;) {
      const message = await Promise.race([reader.read(), setTimeout(SILENCE_MS, "silence")]);
      isOver = typeof message === "string" || message.done;
      texts.push(JSON.stringify(message));
    }
    await reader.cancel();
  }
  const leaks = leaksIn(texts.join("\n"), scene);
  return leaks.length === 0 ? "no leak" : leaks;
}

/** A wait for an open job would end only with the job. */
function isOfFinal({ id }: Probe, { scene }: Audit): boolean {
  const { failed, completed, cancelled } = scene.other;
  return [failed, completed, cancelled].some((each) => each.slice(0, -3) === id.slice(0, -3));
}

function methodAt(methods: Methods, path: string): Method {
  const method = methods[path];
  assert.ok(method, `the mill has no ${path}`);
  return method;
}

function refusing(path: string): Call {
  return (methods) => forbidden(methodAt(methods, path), "acme");
}

/** Fails unless the call was refused. */
async function forbidden(method: Method, ...args: unknown[]): Promise<never> {
  let code: unknown = "no error";
  try {
    await method(...args);
  } catch (error) {
    code = error instanceof Error && "code" in error ? error.code : error;
  }
  throw new Error(
    code === "FORBIDDEN_TENANT" ? code : `CANARY: not forbidden, but ${String(code)}`,
  );
}

async function linesOf(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
}
