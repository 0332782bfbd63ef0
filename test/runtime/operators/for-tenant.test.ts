/** `mill.forTenant`: jobs of other tenants do not exist for the mill of a tenant. */
import assert from "node:assert/strict";
import { defineJob, NonRetryableError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { Client } from "../../../src/client/client.ts";
import { tenantStore } from "../../../src/client/tenants/tenant-store.ts";
import { VERBS } from "../../../src/store/verbs.ts";
import { pictureOf } from "../../support/notes.ts";
import { AUDITED, auditMethods, methodsOf } from "../../support/tenants/methods.ts";
import { fillTenants, OWN } from "../../support/tenants/scene.ts";
import { auditVerbs, PASSED_ON } from "../../support/tenants/verbs.ts";
import { joinWorker } from "../../support/steps.ts";
import { latch, openTest, unchecked, type RuntimeTest } from "../support.ts";

const echo = defineJob({ type: "echo", payload: typed<string>() }).run((text) => {
  if (text === "fail") throw new NonRetryableError("as asked");
  return text;
});

describe("the store of a tenant", () => {
  test("answers to no verb what another tenant has", async () => {
    await using kit = await openTest();
    const scene = await fillTenants(kit.store);

    expect(await auditVerbs(tenantStore(kit.store, OWN), scene)).toEqual([]);
  });

  test.each(VERBS.filter((verb) => !PASSED_ON.has(verb)))(
    "would be found if %s had no rule",
    async (verb) => {
      await using kit = await openTest();
      const scene = await fillTenants(kit.store);
      const leaky = { ...tenantStore(kit.store, OWN), [verb]: kit.store[verb].bind(kit.store) };

      expect(await auditVerbs(leaky, scene, [verb])).not.toEqual([]);
    },
  );
});

describe("the mill of a tenant", () => {
  test("tells by no method what another tenant has, and changes nothing of it", async () => {
    await using kit = await openTest();
    const scene = await fillTenants(kit.store);
    const all = clientOf(kit);
    const picture = () =>
      Promise.all(Object.values(scene.other).map((id) => pictureOf(kit.store, id)));
    const before = await picture();

    expect(await auditMethods(methodsOf(all.forTenant(OWN)), { all, scene })).toEqual([]);

    expect(await picture()).toEqual(before);
  });

  test.each(AUDITED)("would be found if %s were that of all tenants", async (path) => {
    await using kit = await openTest();
    const scene = await fillTenants(kit.store);
    const all = clientOf(kit);
    const methods = methodsOf(all.forTenant(OWN));
    const leaky = { ...methods, [path]: methodsOf(all)[path]! };

    expect(await auditMethods(leaky, { all, scene }, [path])).not.toEqual([]);
  });
});

describe("mill.forTenant", () => {
  test("enqueues, lists, counts and ends jobs of its tenant", async () => {
    await using kit = await openTest();
    const acme = kit.mill.forTenant("acme");
    await kit.mill.enqueue(echo, "theirs");
    const first = await acme.enqueue(echo, "one");
    const [second] = await acme.enqueueMany([echo.of("two", { after: [first] })]);

    expect(await acme.jobs.count()).toEqual({ count: 2, atLeast: false });
    expect((await acme.jobs.list()).jobs.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect((await acme.jobs.explain(second.id)).sentence).toContain(first.id);
    expect(await acme.jobs.stats()).toMatchObject({ queued: 1, held: 1, failed: 0 });
    await kit.drain([echo]);
    expect(await acme.result(first)).toBe("one");
    expect(await acme.wait(second)).toMatchObject({ state: "completed", result: "two" });
    expect((await kit.mill.jobs.get(first.id)).tenant).toBe("acme");
  });

  test("retries, releases and reviews what has failed", async () => {
    await using kit = await openTest();
    const acme = kit.mill.forTenant("acme");
    const job = await acme.enqueue(echo, "fail");
    await kit.drain([echo]);

    const letters = await acme.deadLetters.list();
    const successor = await acme.deadLetters.reprocess(job.id, { actor: "ada", payload: "fine" });
    await kit.drain([echo]);

    expect(letters.map(({ id, tenant }) => [id, tenant])).toEqual([[job.id, "acme"]]);
    expect(await acme.result(successor)).toBe("fine");
    expect((await acme.jobs.retry(successor.id, { restart: true })).created).toBe(true);
  });

  test("delivers the events of its tenant, also behind many of others", async () => {
    await using kit = await openTest();
    const acme = kit.mill.forTenant("acme");
    const heard: string[] = [];
    acme.on("job:completed", ({ id }) => heard.push(id));
    await kit.mill.enqueueMany(Array.from({ length: 300 }, () => echo.of("theirs")));
    const job = await acme.enqueue(echo, "ours");

    await kit.drain([echo]);
    await kit.settled();

    expect(heard).toEqual([job.id]);
  });

  test("pauses and resumes its tenant, and shows pauses of types with its own jobs", async () => {
    await using kit = await openTest();
    const acme = kit.mill.forTenant("acme");
    await kit.mill.enqueueMany([echo.of("one"), echo.of("two")]);
    await acme.enqueue(echo, "three");
    await acme.pause({ tenant: "acme" }, "stocktaking");
    await kit.mill.pause({ tenant: "umbra" }, "secret");
    await kit.mill.pause({ type: "echo" }, "a bug");

    expect((await acme.pauses()).map(({ kind, name }) => [kind, name])).toEqual([
      ["type", "echo"],
      ["tenant", "acme"],
    ]);
    expect(await acme.resume({ tenant: "acme" })).toMatchObject({ wasPaused: true });
    expect((await acme.pauses()).map(({ queued }) => queued)).toEqual([1]);
  });

  test("links a job of a handler of another tenant to no job", async () => {
    await using kit = await openTest();
    const fanOut = defineJob({ type: "fan-out" }).run(async () => {
      await kit.mill.forTenant("acme").enqueue(echo, "child");
    });
    await kit.mill.enqueue(fanOut, undefined, { correlationId: "theirs" });
    await kit.drain([fanOut]);

    const { jobs } = await kit.mill.forTenant("acme").jobs.list();

    expect(jobs).toMatchObject([{ tenant: "acme", parentId: null, payload: "child" }]);
    expect(jobs[0]?.correlationId).not.toBe("theirs");
  });

  test("does not wait for an open job of another tenant", async () => {
    await using kit = await openTest();
    const job = await kit.mill.enqueue(echo, "theirs");

    const wait = kit.mill.forTenant("acme").wait(job);

    await expect(wait).rejects.toMatchObject({ code: "JOB_NOT_FOUND" });
  });

  test("names no worker of another tenant in an explanation", async () => {
    await using kit = await openTest();
    await joinWorker(kit.store, { tenant: "umbra", types: ["echo"] });
    const acme = kit.mill.forTenant("acme");
    const { id } = await acme.enqueue(echo, "ours");

    expect((await acme.jobs.explain(id)).reason).toBe("no_worker");
    expect((await kit.mill.jobs.explain(id)).sentence).toContain("umbra");
  });

  test("counts no runs of other tenants in an explanation", async () => {
    await using kit = await openTest();
    const end = latch();
    const long = defineJob({ type: "long" }).run(() => end.passed);
    kit.mill.work({ jobs: [long], lanes: { general: 1 } });
    await kit.mill.enqueueMany([long.of(), long.of()]);
    await kit.settled();
    const acme = kit.mill.forTenant("acme");
    const { id } = await acme.enqueue(long);

    const shared = { lane: "general", workers: 1, slots: 1 };
    const busy = await acme.jobs.explain(id);
    expect(busy).toMatchObject({ reason: "busy", details: { ...shared, running: null } });
    expect(busy.details).toMatchObject({ ahead: { count: 0, atLeast: false } });
    expect((await kit.mill.jobs.explain(id)).details).toMatchObject({
      ...shared,
      running: 1,
      ahead: { count: 1, atLeast: false },
    });

    end.open();
    await kit.settled();
  });

  test("tells no use of a limit that other tenants share in an explanation", async () => {
    await using kit = await openTest();
    const end = latch();
    const long = defineJob({ type: "long" }).run(() => end.passed);
    await kit.mill.limits.set({ type: "long" }, { concurrency: 1 });
    kit.mill.work({ jobs: [long], lanes: { general: 2 } });
    await kit.mill.enqueue(long);
    await kit.settled();
    const acme = kit.mill.forTenant("acme");
    const { id } = await acme.enqueue(long);

    const limit = { kind: "type", name: "long", concurrency: 1 };
    expect((await acme.jobs.explain(id)).details).toEqual({ ...limit, used: null });
    expect((await kit.mill.jobs.explain(id)).details).toEqual({ ...limit, used: 1 });
    end.open();
    await kit.settled();
  });

  test("lists no use of limits that other tenants share", async () => {
    await using kit = await openTest();
    const end = latch();
    const long = defineJob({ type: "long", services: ["bank"] }).run(() => end.passed);
    const { limits } = kit.mill;
    for (const of of [{ type: "long" }, { service: "bank" }, { installation: true }] as const) {
      await limits.set(of, { concurrency: 5 }, { actor: "ada" });
    }
    await limits.set({ tenant: "acme" }, { concurrency: 5 });
    kit.mill.work({ jobs: [long], lanes: { general: 2 } });
    await kit.mill.enqueue(long);
    const acme = kit.mill.forTenant("acme");
    await acme.enqueue(long);
    await kit.settled();

    expect((await acme.limits.list()).map(({ kind, used }) => [kind, used])).toEqual([
      ["installation", null],
      ["service", null],
      ["tenant", 1],
      ["type", null],
    ]);
    expect((await limits.list()).map(({ used }) => used)).toEqual([2, 2, 1, 2]);
    end.open();
    await kit.settled();
  });

  test("tells acts of the installation without person and reason", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const acme = mill.forTenant("acme");
    const waiting = await acme.enqueue(echo, "wait", { delay: "1h" });
    const { id: failed } = await acme.enqueue(echo, "fail");
    await kit.drain([echo]);
    const why = { actor: "jane", reason: "umbra was hacked" };
    await mill.tenants.setQuota("acme", { waiting: 5 }, why);
    const { id: cancels } = await mill.operations.start(
      { action: "cancel", jobs: { type: "echo" } },
      why,
    );
    await mill.operations.wait(cancels);
    const { id: acknowledges } = await mill.operations.start(
      { action: "acknowledge", deadLetters: { type: "echo" } },
      why,
    );
    await mill.operations.wait(acknowledges);
    await acme.pause({ tenant: "acme" }, "we move", { actor: "bob" });

    const told = (await acme.audit.list()).map(({ name, actor, reason }) => [name, actor, reason]);
    expect(told).toEqual([
      ["tenant_paused", "bob", "we move"],
      ["job_dlq_acknowledged", null, `operation ${acknowledges} of the installation`],
      ["job_cancel_requested", null, `operation ${cancels} of the installation`],
      ["quota_set", null, null],
    ]);
    const answers = [
      await acme.jobs.get(waiting.id),
      await acme.jobs.list(),
      await acme.jobs.attempts(waiting.id),
      await acme.deadLetters.get(failed),
      await acme.deadLetters.list(),
      await acme.wait(waiting).catch((error) => error.message),
    ];
    expect(JSON.stringify(answers)).toContain(`operation ${cancels}`);
    expect(JSON.stringify(answers)).not.toMatch(/hacked|jane/);
    // The installation reads both.
    expect(await mill.jobs.get(waiting.id)).toMatchObject({
      cancelReason: `operation ${cancels} of the installation: umbra was hacked`,
    });
    expect(await acme.audit.verify()).toMatchObject({ findings: [] });
  });

  test("answers the same mill again, and refuses what is no name", async () => {
    await using kit = await openTest();

    expect(kit.mill.forTenant("acme")).toBe(kit.mill.forTenant("acme"));
    expect(() => kit.mill.forTenant("")).toThrow(/the tenant must be a text of 1 to 200/);
  });

  test("keeps the mills of the thousand tenants used last", async () => {
    await using kit = await openTest();
    const [first, second] = [kit.mill.forTenant("first"), kit.mill.forTenant("second")];
    for (let tenant = 0; tenant < 998; tenant += 1) kit.mill.forTenant(`tenant-${tenant}`);
    kit.mill.forTenant("first");

    kit.mill.forTenant("one more");

    expect(kit.mill.forTenant("first")).toBe(first);
    expect(kit.mill.forTenant("second")).not.toBe(second);
  });

  test("ends its waits and listeners when the mill is closed", async () => {
    await using kit = await openTest();
    const acme = kit.mill.forTenant("acme");
    const job = await acme.enqueue(echo, "ours");
    acme.on("job:completed", () => {});
    const wait = acme.wait(job);
    await kit.settled();

    await kit.mill.close();

    await expect(wait).rejects.toMatchObject({ code: "STORE_CLOSED" });
    // A feed that is still read would find the store closed, and say so.
    await unchecked(kit.clock).move(10_000, kit.settled);
    expect(kit.logged).toEqual([]);
  });
});

/** The mill of a test is a client, whose methods are more than the type of a mill says. */
function clientOf({ mill }: RuntimeTest): Client {
  assert.ok(mill instanceof Client);
  return mill;
}
