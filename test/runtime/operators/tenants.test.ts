/** `mill.tenants`: quotas, views, exports and removals. */
import { defineJob, schedule, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest } from "../support.ts";

const WHY = { actor: "ada", reason: "the plan of acme" };
const report = defineJob({ type: "report" }).run(() => "written");
const broken = defineJob({ type: "broken", maxAttempts: 1 }).run(() => {
  throw new Error("no disk");
});

describe("mill.tenants.setQuota", () => {
  test("an enqueue over quota names tenant, quota, use and when to try again", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.tenants.setQuota("acme", { rate: { limit: 1, per: "1m" } }, WHY);
    const acme = mill.forTenant("acme");
    await acme.enqueue(report);

    await expect(acme.enqueue(report)).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      status: 429,
      details: { tenant: "acme", quota: "rate", limit: 1, used: 1, retryAfterMs: 60_000 },
    });
    await mill.tenants.setQuota("acme", { waiting: 1, payloadBytes: 5 }, WHY);
    await expect(acme.enqueue(report)).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: { tenant: "acme", quota: "waiting", limit: 1, used: 1, retryAfterMs: null },
    });
    const long = defineJob({ type: "long", payload: typed<string>() });
    await expect(mill.enqueue(long, "12345", { tenant: "acme" })).rejects.toMatchObject({
      code: "PAYLOAD_OVER_QUOTA",
      status: 413,
      details: { tenant: "acme", quota: "payloadBytes", limit: 5, used: 7 },
    });
  });

  test("enqueueMany enqueues the others, and says which ones were refused", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.tenants.setQuota("*", { waiting: 1 }, WHY);
    await expect(mill.enqueueMany([report.of(), report.of()])).rejects.toMatchObject({
      code: "QUOTA_EXCEEDED",
      details: {
        index: 1,
        answers: [
          { index: 0, status: "created" },
          { index: 1, status: "refused", code: "QUOTA_EXCEEDED", tenant: "default", limit: 1 },
        ],
      },
    });
  });

  test.each([
    [{}, "name waiting, rate, payloadBytes"],
    [{ waiting: -1 }, "waiting"],
    [{ rate: { limit: 1, per: "soon" } }, "rate.per"],
    [{ jobs: 1 }, "jobs"],
  ])("refuses %j", async (rule, place) => {
    await using kit = await openTest();
    const given: any = rule;
    const call = kit.mill.tenants.setQuota("acme", given, WHY);
    await expect(call).rejects.toMatchObject({
      code: "OPTION_INVALID",
      message: expect.stringContaining(place),
    });
  });

  test("demands who and why", async () => {
    await using kit = await openTest();
    const { tenants } = kit.mill;
    for (const by of [
      { actor: "", reason: "x" },
      { actor: "ada", reason: "" },
    ]) {
      await expect(tenants.setQuota("acme", { waiting: 1 }, by)).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
      await expect(tenants.removeQuota("acme", by)).rejects.toMatchObject({
        code: "OPTION_INVALID",
      });
    }
  });
});

describe("mill.tenants", () => {
  test("list and get tell counts, pause, intake, quota, its use, limit and weights", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueue(report, undefined, { tenant: "acme" });
    await mill.enqueue(report, undefined, { tenant: "umbra", delay: "1h" });
    await mill.pause({ tenant: "acme" }, "late", { actor: "ada" });
    await mill.intake.close({ tenant: "umbra" }, "over", { actor: "ada" });
    await mill.limits.set({ tenant: "acme" }, { concurrency: 2 });
    await mill.fairness.set("general", { weights: { acme: 3 } });
    await mill.tenants.setQuota("*", { waiting: 9, rate: { limit: 5, per: "1s" } }, WHY);

    const { tenants, next } = await mill.tenants.list();
    expect(next).toBeNull();
    expect(tenants.map(({ tenant }) => tenant)).toEqual(["acme", "default", "umbra"]);
    expect(tenants[0]).toMatchObject({
      counts: { scheduled: 0, running: 0, failed: 0 },
      pause: { reason: "late", pausedBy: "ada" },
      intake: null,
      quota: { tenant: "*", waiting: 9, rate: { limit: 5, perMs: 1_000, burst: 5 } },
      limit: { concurrency: 2, rate: null },
      weights: { general: 3 },
    });
    expect(tenants[2]).toMatchObject({
      counts: { scheduled: 1 },
      intake: { reason: "over", closedBy: "ada" },
      weights: { general: 1 },
    });
    const details = await mill.tenants.get("umbra");
    expect(details).toMatchObject({ quota: { waitingNow: 1, tokens: 5 }, removal: null });
    const page = await mill.tenants.list({ limit: 1 });
    expect(page).toMatchObject({ tenants: [{ tenant: "acme" }], next: "acme" });
    expect(await mill.tenants.list({ after: "default" })).toMatchObject({
      tenants: [{ tenant: "umbra" }],
    });
  });

  test("the mill of a tenant sees its own tenant, and changes no quota", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueue(report, undefined, { tenant: "acme" });
    await mill.tenants.setQuota("umbra", { waiting: 1 }, WHY);
    const acme = mill.forTenant("acme");
    expect((await acme.tenants.list()).tenants.map(({ tenant }) => tenant)).toEqual(["acme"]);
    expect(await acme.tenants.get("umbra")).toMatchObject({ quota: null });
    const refused = { code: "FORBIDDEN_TENANT" };
    await expect(acme.tenants.setQuota("acme", { waiting: 1 }, WHY)).rejects.toMatchObject(refused);
    await expect(acme.tenants.removeQuota("acme", WHY)).rejects.toMatchObject(refused);
    const removal = acme.tenants.remove("acme", { ...WHY, confirm: "acme" });
    await expect(removal).rejects.toMatchObject(refused);
  });
});

describe("mill.tenants.export", () => {
  test("tells everything of one tenant, and nothing of another", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const acme = mill.forTenant("acme");
    await fill(acme, "acme-mark");
    await fill(mill.forTenant("umbra"), "umbra-mark");
    mill.work({ jobs: [report, broken] });
    await kit.advance("10s");
    for (const tenant of ["acme", "umbra"]) await govern(mill, tenant);

    const lines = [];
    for await (const line of mill.tenants.export("acme")) lines.push(line);

    const kinds = new Set<string>(lines.map(({ kind }) => kind));
    const jobs = ["job", "attempt", "deadLetter", "schedule", "token", "event"];
    const settings = ["quota", "pause", "intake", "limit", "weight", "failure", "view"];
    const acts = ["operation", "operationItem", "audit"];
    const all = ["tenant", ...jobs, ...settings, ...acts, "end"];
    expect(all.filter((kind) => !kinds.has(kind))).toEqual([]);
    const text = JSON.stringify(lines);
    expect(text).toContain("acme-mark");
    expect(text).not.toContain("umbra");
    expect(lines.at(-1)).toMatchObject({ kind: "end", data: { lines: { job: 2, token: 1 } } });
  });
});

test("an export has decisions about causes whose dead letters are closed", async () => {
  await using kit = await openTest();
  const { mill } = kit;
  await mill.enqueue(broken, undefined, { tenant: "acme" });
  mill.work({ jobs: [broken] });
  await kit.advance("10s");
  const own = mill.forTenant("acme");
  const [group] = await own.failures.list();
  await own.failures.discard(group!.cause, { actor: "ada", notes: "known" });

  const lines = [];
  for await (const line of mill.tenants.export("acme")) lines.push(line);

  const decisions = lines.filter(({ kind }) => kind === "failure");
  expect(decisions).toMatchObject([
    { of: group!.cause, data: { cause: group!.cause, kind: "discarded", by: "ada" } },
  ]);
});

describe("mill.tenants.remove", () => {
  test("deletes everything of one tenant, proves it, and leaves the others", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await fill(mill.forTenant("umbra"), "umbra-mark");
    await fill(mill.forTenant("acme"), "acme-mark");
    await mill.tenants.setQuota("acme", { waiting: 50 }, WHY);
    await mill.enqueue(report, undefined, { tenant: "acme", idempotencyKey: "k" });
    mill.work({ jobs: [report, broken] });
    await kit.advance("10s");
    await mill.enqueue(report, undefined, { tenant: "acme", delay: "1d" });

    const wrong = mill.tenants.remove("acme", { ...WHY, confirm: "umbra" });
    await expect(wrong).rejects.toMatchObject({ code: "OPTION_INVALID" });
    const removed = await mill.tenants.remove("acme", { ...WHY, confirm: "acme" });

    expect(removed.removed).toBeGreaterThan(5);
    expect(removed.doneAt).not.toBeNull();
    expect(Object.keys(removed.rows).length).toBeGreaterThan(15);
    expect(Object.values(removed.rows).every((count) => count === 0)).toBe(true);
    const lines = [];
    for await (const line of mill.tenants.export("acme")) lines.push(line);
    const left = new Set(lines.map(({ kind }) => kind));
    expect([...left].filter((kind) => kind !== "event")).toEqual([
      "tenant",
      "intake",
      "audit",
      "end",
    ]);
    expect((await mill.forTenant("umbra").jobs.list()).jobs).toHaveLength(2);
    expect(await mill.forTenant("umbra").deadLetters.list()).toHaveLength(1);
    await expect(mill.enqueue(report, undefined, { tenant: "acme" })).rejects.toMatchObject({
      code: "INTAKE_CLOSED",
    });
    expect(await mill.tenants.get("acme")).toMatchObject({ removal: { begunBy: "ada" } });
  });
});

test("a removal with a limit of time ends at it, and the next call continues", async () => {
  await using kit = await openTest();
  const { mill } = kit;
  const gate = latch();
  const slow = defineJob({ type: "slow" }).run(() => gate.passed);
  await mill.enqueue(slow, undefined, { tenant: "acme" });
  mill.work({ jobs: [slow] });
  await kit.advance("1s");
  const removal = { ...WHY, confirm: "acme", within: "2s" } as const;
  const first = mill.tenants.remove("acme", removal);
  await kit.advance("3s");
  expect(await first).toMatchObject({ doneAt: null, rows: {} });
  gate.open();
  await kit.advance("1s");
  const second = mill.tenants.remove("acme", removal);
  await kit.advance("3s");
  expect(await second).toMatchObject({ doneAt: expect.any(Date), rows: { job: 0 } });
  // A call that continues leaves no further entry.
  const named = (await mill.audit.list({ tenant: "acme" })).map(({ name }) => name);
  expect(named.filter((name) => name === "tenant_removal_requested")).toHaveLength(1);
  expect(named.filter((name) => name === "intake_closed")).toHaveLength(1);
});

test("children of another tenant bring a removed tenant back until the next removal", async () => {
  await using kit = await openTest();
  const { mill } = kit;
  const parent = defineJob({ type: "parent" }).run(async () => {
    await mill.enqueue(report, undefined, { tenant: "acme" });
  });
  const removal = { ...WHY, confirm: "acme" };
  await mill.tenants.remove("acme", removal);
  await mill.enqueue(parent, undefined, { tenant: "umbra" });
  await kit.drain([parent]);
  expect((await mill.tenants.get("acme")).counts.queued).toBe(1);
  await mill.tenants.remove("acme", removal);
  expect((await mill.tenants.get("acme")).counts.queued).toBe(0);
});

/** What operators set and do about a tenant. */
async function govern(mill: any, tenant: string): Promise<void> {
  const own = mill.forTenant(tenant);
  await mill.tenants.setQuota(tenant, { waiting: 50 }, WHY);
  await mill.limits.set({ tenant }, { concurrency: 5 }, WHY);
  const weights = (await mill.fairness.list())[0]?.weights ?? {};
  await mill.fairness.set("general", { weights: { ...weights, [tenant]: 3 } }, WHY);
  await own.pause({ tenant }, "we move", { actor: tenant });
  await own.intake.close({ tenant }, "we move", { actor: tenant });
  const [failure] = await own.failures.list();
  await own.failures.acknowledge(failure.cause, { actor: tenant });
  const view = { name: `${tenant} failed`, screen: "jobs", query: "state=failed" };
  await own.views.save(view, { actor: tenant });
  const request = { action: "acknowledge", deadLetters: { type: "broken" } };
  const { id } = await own.operations.start(request, { actor: tenant, reason: "known" });
  await own.operations.wait(id);
}

async function fill(mill: any, mark: string): Promise<void> {
  await mill.enqueue(report, undefined, { tags: { mark } });
  await mill.enqueue(broken, undefined, { tags: { mark } });
  await mill.schedules.create(schedule(`${mark}-daily`, { cron: "@daily" }, report));
  await mill.tokens.create({ kind: "person", name: mark, actor: mark, roles: ["viewer"] });
}
