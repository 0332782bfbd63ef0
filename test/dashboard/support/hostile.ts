/**
 * Every field that a caller, a handler or an operator may write, each with a hostile text that
 * says which field it is of.
 */
import { defineJob, NonRetryableError, schedule, typed } from "../../../src/index.ts";
import type { Scene } from "./scene.ts";

/** The screens that show the fields, and how many fields were written. */
export interface HostileFields {
  readonly screens: readonly string[];
  /** Field and text. The text is markup that sets `window.pwned` where it is run. */
  readonly texts: ReadonlyMap<string, string>;
}

type Payload = Readonly<Record<string, string>>;

export async function writeHostileFields(scene: Scene): Promise<HostileFields> {
  const texts = new Map<string, string>();
  const bad = (field: string): string => {
    const forms = [
      `<img src=x onerror="window.pwned='${field}'">`,
      `"><script>window.pwned='${field}'</script>`,
      `' onmouseover='window.pwned="${field}"`,
    ];
    const text = texts.get(field) ?? forms[texts.size % forms.length] ?? "";
    texts.set(field, text);
    return text;
  };
  const jobs = await runJobs(scene, bad);
  const operation = await actAsOperators(scene, bad, jobs);
  const part = encodeURIComponent;
  const screens = [
    "jobs",
    ...Object.values(jobs).map((id) => `jobs/${id}`),
    `letters/${jobs.failed}`,
    `letters?q=${part(`tenant:${JSON.stringify(bad("tenant"))}`)}`,
    "failures",
    "lanes",
    `lanes/type/${part(bad("type"))}`,
    "schedules",
    `schedules/${part(bad("schedule"))}`,
    "workers",
    "breakers",
    `breakers/${part(bad("service"))}`,
    `correlation?id=${part(bad("correlation id"))}`,
    "operations",
    `operations/${operation}`,
    "tenants",
    `tenants/${part(bad("tenant"))}`,
    "audit",
    "settings",
    "overview",
  ];
  return { screens, texts };
}

type Jobs = Readonly<Record<"done" | "failed" | "cancelled" | "held", string>>;

/** Jobs whose names, keys, payloads, phases, units, logs, results and errors are hostile. */
async function runJobs({ mill }: Scene, bad: (field: string) => string): Promise<Jobs> {
  const payload = typed<Payload>();
  const done = defineJob({
    type: bad("type"),
    payload,
    lane: bad("lane"),
    category: bad("category"),
  })
    .phase("begin", async (_, ctx) => {
      ctx.log.warn(bad("log line"), { [bad("log field name")]: bad("log field") });
      await ctx.each(
        ["unit"],
        () => bad("unit"),
        async () => ({ of: bad("unit result") }),
      );
      return { [bad("phase result name")]: bad("phase result") };
    })
    .phase(bad("phase"), async (_, ctx) => {
      // In the last phase: what an earlier one tells is replaced by what a later one tells.
      await ctx.progress(50, { [bad("progress name")]: bad("progress") });
      return { [bad("result name")]: bad("result") };
    });
  const failing = defineJob({ type: "hostile.failing", payload, maxAttempts: 1 }).run(() => {
    const error = new NonRetryableError(bad("error"));
    error.name = bad("error name");
    throw error;
  });
  const held = defineJob({ type: "hostile.held", payload, services: [bad("service")] }).run(
    async () => {},
  );
  const worker = mill.work({
    jobs: [done, failing, held],
    lanes: { [bad("lane")]: 2, general: 2 },
    appVersion: bad("app version"),
    signals: false,
  });
  await worker.ready;
  const options = {
    tenant: bad("tenant"),
    correlationId: bad("correlation id"),
    tags: { [bad("tag name")]: bad("tag") },
  };
  const body = { [bad("payload name")]: bad("payload") };
  const keys = { idempotencyKey: bad("idempotency key"), dedupKey: bad("dedup key") };
  const made = await mill.enqueueMany([
    done.of(body, { ...options, ...keys }),
    failing.of(body, options),
    failing.of(body, { ...options, delay: "1h" }),
  ]);
  const [first, second, third] = made.map(({ id }) => id);
  for (const job of made.slice(0, 2)) await mill.wait(job);
  await mill.jobs.cancel(third ?? "", bad("cancel reason"));
  await worker.stop();
  await mill.breakers.forceOpen(bad("service"), bad("breaker reason"), { actor: bad("actor") });
  const { id } = await mill.enqueue(held, body, options);
  return { done: first ?? "", failed: second ?? "", cancelled: third ?? "", held: id };
}

/** Names, notes and reasons that operators give. Answers the id of an operation. */
async function actAsOperators(
  { mill }: Scene,
  bad: (field: string) => string,
  jobs: Jobs,
): Promise<string> {
  const by = { actor: bad("actor") };
  const tenant = bad("tenant");
  await mill.pause({ tenant }, bad("pause reason"), by);
  await mill.intake.close({ lane: bad("lane") }, bad("intake reason"), by);
  await mill.limits.set({ type: bad("type") }, { concurrency: 5 }, by);
  await mill.limits.set({ tenant }, { concurrency: 5 }, by);
  await mill.tenants.setQuota(tenant, { waiting: 9 }, { ...by, reason: bad("quota reason") });
  await mill.deadLetters.assign(jobs.failed, { ...by, to: bad("assignee") });
  await mill.deadLetters.note(jobs.failed, { ...by, notes: bad("note") });
  await mill.views.save({ name: bad("view"), screen: "jobs", query: bad("view query") }, by);
  await mill.tokens.create({ kind: "person", name: bad("token"), roles: ["viewer"] }, by);
  const daily = schedule(
    bad("schedule"),
    { cron: "0 4 * * *", timeZone: "UTC" },
    defineJob({ type: "hostile.failing", payload: typed<Payload>() }),
    { [bad("schedule payload name")]: bad("schedule payload") },
  );
  await mill.schedules.create(daily, by);
  await mill.schedules.pause(bad("schedule"), bad("schedule reason"), by);
  const { id } = await mill.operations.start(
    { action: "acknowledge", deadLetters: { type: "hostile.failing" } },
    { ...by, reason: bad("operation reason") },
  );
  return id;
}
