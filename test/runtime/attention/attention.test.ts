/** `mill.attention`: the facts that each rule reads from a real store. */
import { defineJob, NonRetryableError, schedule, TransientError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import type { AttentionRule, AttentionFinding, Millrace } from "../../../src/index.ts";
import { newOperation, workerInfo } from "../../support/factories.ts";
import { openLateStore } from "../late-store.ts";
import { openTest, type RuntimeTest } from "../support.ts";

const fine = defineJob({ type: "fine" }).run(() => {});
const broken = defineJob({ type: "broken", payload: typed<number>() }).run((n) => {
  throw new NonRetryableError(`secret-${n}`);
});
const calling = defineJob({ type: "calling", services: ["bank"] }).run(() => {
  throw new TransientError("the bank is down");
});

type AnyMill = Pick<Millrace, "attention">;

async function rulesOf(mill: AnyMill): Promise<readonly AttentionRule[]> {
  return (await mill.attention()).findings.map(({ rule }) => rule);
}

/** The finding of a rule, which there is. */
async function findingOf(mill: AnyMill, rule: AttentionRule): Promise<AttentionFinding> {
  const { findings } = await mill.attention();
  const found = findings.find((each) => each.rule === rule);
  if (found === undefined) throw new Error(`no ${rule} in ${JSON.stringify(findings)}`);
  return found;
}

describe("mill.attention", () => {
  test("finds nothing in a healthy installation, and says what it has checked", async () => {
    await using kit = await openTest();
    kit.mill.work({ jobs: [fine] });
    await kit.mill.enqueue(fine);
    await kit.advance("3m");

    const { checkedAt, findings, checked } = await kit.mill.attention();

    expect(findings).toEqual([]);
    expect(checkedAt).toEqual(new Date(kit.clock.now()));
    expect(checked).toHaveLength(12);
    expect(new Set(checked.map(({ status }) => status))).toEqual(new Set(["well"]));
    expect(checked.some(({ isPartial }) => isPartial)).toBe(false);
  });

  test("finds jobs that no worker takes, and names the type that was meant", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueue(defineJob({ type: "fien" }));
    await kit.advance("61s");
    expect(await rulesOf(mill)).toEqual(["no_worker"]);
    mill.work({ jobs: [fine] });
    await kit.advance("1s");

    const found = await findingOf(mill, "not_taken");

    expect(await rulesOf(mill)).toEqual(["not_taken"]);
    expect(found.details).toMatchObject({ type: "fien", didYouMean: "fine" });
  });

  test("finds a lane whose jobs wait too long, and leaves out jobs that are held", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const long = defineJob({ type: "long", lane: "fast", timeout: false }).run(
      (_, ctx) => new Promise((resolve) => ctx.signal.addEventListener("abort", resolve)),
    );
    mill.work({ jobs: [long, fine], lanes: { fast: 1 } });
    await mill.enqueueMany([long.of(), long.of(), long.of()]);
    await kit.advance("121s");

    const found = await findingOf(mill, "waiting");
    expect(found).toMatchObject({ level: "broken", subject: { kind: "lane", name: "fast" } });
    expect(found.details).toMatchObject({ targetMs: 120_000, waiting: { count: 2 } });

    await mill.pause({ lane: "fast" }, "a deploy");
    expect(await rulesOf(mill)).toEqual([]);
  });

  test("finds an open breaker, with the jobs that wait for the service", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    mill.work({ jobs: [calling] });
    await mill.enqueueMany(Array.from({ length: 10 }, () => calling.of()));
    await kit.advance("5s");

    const found = await findingOf(mill, "breaker");

    expect(found).toMatchObject({ level: "broken", subject: { kind: "service", name: "bank" } });
    expect(found.details).toMatchObject({
      state: "open",
      types: ["calling"],
      probeAt: expect.any(Date),
      reason: expect.stringContaining("the bank is down"),
    });
    expect(found.sentence).not.toContain("down");
  });

  test("finds new and returned causes of failures, and none that is acknowledged", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany([broken.of(1), broken.of(2)]);
    await kit.drain([broken]);

    const found = await findingOf(mill, "failure_cause");
    const { name: cause } = found.subject;
    await mill.failures.acknowledge(cause, { actor: "ada" });
    const known = await rulesOf(mill);
    await kit.advance("1s");
    await mill.enqueue(broken, 3);
    await kit.drain([broken]);
    const returned = await findingOf(mill, "failure_cause");

    expect(found.details).toMatchObject({ status: "new", jobs: { count: 2 }, types: ["broken"] });
    expect(found.details).toMatchObject({ error: { message: expect.stringMatching(/secret-/) } });
    expect(found.sentence).toContain(cause);
    expect(found.sentence).not.toContain("secret");
    expect(known).toEqual([]);
    expect(returned.details).toMatchObject({ status: "returned" });
  });

  test("finds a type whose runs fail, for a quarter of an hour", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueueMany(Array.from({ length: 5 }, (_, n) => broken.of(n)));
    await mill.enqueueMany(Array.from({ length: 30 }, () => fine.of()));
    await kit.drain([broken, fine]);
    const few = await rulesOf(mill);
    await mill.enqueueMany(Array.from({ length: 15 }, (_, n) => broken.of(n)));
    await kit.drain([broken]);

    const found = await findingOf(mill, "error_rate");
    await kit.advance("17m");

    expect(few).not.toContain("error_rate");
    expect(found.details).toMatchObject({ type: "broken", errorRate: 1, errors: 20, runs: 20 });
    expect(await rulesOf(mill)).not.toContain("error_rate");
  });

  test("finds a silent worker", async () => {
    await using kit = await openTest();
    await kit.store.register(workerInfo({ beatMs: 1_000, leaseMs: 60_000 }));
    await kit.advance("5s");

    const found = await findingOf(kit.mill, "worker_silent");

    expect(found.details).toMatchObject({ host: "mill", heartbeatAgoMs: 5_000 });
  });

  test("finds dead letters, pauses and intakes after a day", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueue(broken, 1);
    await kit.drain([broken]);
    await mill.pause({ type: "fine" }, "a bug", { actor: "ada" });
    await mill.intake.close({ tenant: "acme" }, "unpaid");
    const sooner = await rulesOf(mill);

    await kit.advance("25h");
    const later = await rulesOf(mill);

    expect(sooner).toEqual(["failure_cause"]);
    expect(later.toSorted()).toEqual(["dead_letters", "intake", "pause"]);
    const found = await findingOf(mill, "dead_letters");
    expect(found.details).toMatchObject({ deadLetters: { count: 1 }, types: ["broken"] });
  });

  test("finds a type that the engine has paused, at once", async () => {
    await using kit = await openTest();
    const why = { reason: "jobs of this type kill their process", by: "millrace" };
    await kit.store.pause({ kind: "type", name: "fine" }, why);

    const found = await findingOf(kit.mill, "pause");

    expect(found).toMatchObject({ level: "broken", details: { isOfEngine: true } });
  });

  test("finds operations that have failed or that no process runs", async () => {
    await using kit = await openTest();
    const { store, mill } = kit;
    const [failed, stuck] = [newOperation(), newOperation()];
    await store.startOperation(failed);
    await store.claimOperations("r1");
    await store.failOperation(failed.id, "r1", { name: "Error", message: "secret" });
    await store.startOperation(stuck);
    const sooner = (await mill.attention()).findings;
    await kit.advance("61s");

    const { findings } = await mill.attention();

    const shown = findings.map(({ subject, details }) => [
      subject.name,
      Reflect.get(details, "problem"),
    ]);
    expect(sooner).toMatchObject([
      { subject: { name: failed.id }, details: { problem: "failed" } },
    ]);
    expect(shown).toEqual([
      [failed.id, "failed"],
      [stuck.id, "no_runner"],
    ]);
  });
});

describe("mill.attention finds a schedule", () => {
  const TIMING = { cron: "0 * * * *" } as const;
  const problemOf = async ({ mill }: RuntimeTest): Promise<unknown> =>
    (await mill.attention()).findings
      .filter(({ rule }) => rule === "schedule")
      .map(({ details }) => Reflect.get(details, "problem"));

  test("that is late, because no worker ticks it", async () => {
    await using kit = await openTest();
    await kit.mill.schedules.create(schedule("hourly", TIMING, fine));
    await kit.advance("2h");

    expect(await problemOf(kit)).toEqual(["late"]);
  });

  test("that no worker declares any more", async () => {
    await using kit = await openTest();
    const schedules = [schedule("hourly", TIMING, fine)];
    const worker = kit.mill.work({ jobs: [fine], schedules });
    await kit.advance("1s");
    const declared = await problemOf(kit);
    await worker.stop();
    await kit.advance("2h");

    expect(declared).toEqual([]);
    expect(await problemOf(kit)).toEqual(["undeclared"]);
  });

  test("whose last job has failed, or was refused", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const schedules = [schedule("hourly", TIMING, broken, 7)];
    mill.work({ jobs: [broken], schedules });
    await kit.advance("61m");
    const failed = await problemOf(kit);
    await mill.intake.close({ type: "broken" }, "a bug");
    await mill.schedules.runNow("hourly").catch(() => {});
    await kit.advance("1h");

    expect(failed).toEqual(["failed"]);
    // The job of the slot before is still the last one.
    expect(await problemOf(kit)).toEqual(["failed"]);
    await mill.schedules.pause("hourly", "known");
    expect(await problemOf(kit)).toEqual([]);
  });

  test("whose slot a closed intake has refused", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.intake.close({ type: "fine" }, "a bug");
    mill.work({ jobs: [fine], schedules: [schedule("hourly", TIMING, fine)] });
    await kit.advance("61m");

    expect(await problemOf(kit)).toEqual(["intake_closed"]);
  });
});

describe("mill.attention without an answer of the store", () => {
  test("says what could not be checked, and finds the rest", async () => {
    await using kit = await openLateStore();
    await kit.mill.enqueue(fine);
    await kit.advance("2m");
    kit.store.breakers = () => Promise.reject(new Error("the disk is full"));
    kit.store.minutes = () => new Promise(() => {});

    const asked = kit.mill.attention();
    await kit.advance("6s");
    const { findings, checked } = await asked;

    expect(findings.map(({ rule }) => rule)).toEqual(["no_worker"]);
    const unread = checked.filter(({ status }) => status === "unread");
    expect(unread.map(({ rule }) => rule)).toEqual(["breaker", "error_rate"]);
  });

  test("rejects when the mill is closed", async () => {
    const kit = await openTest();
    await kit[Symbol.asyncDispose]();

    await expect(kit.mill.attention()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });
});

describe("the mill of a tenant", () => {
  test("tells what concerns the tenant, and nothing else", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.enqueue(broken, 1, { tenant: "acme" });
    await mill.enqueue(broken, 2, { tenant: "beta" });
    await kit.drain([broken]);
    await mill.enqueue(fine, undefined, { tenant: "acme" });
    await mill.pause({ tenant: "beta" }, "unpaid");
    await mill.pause({ type: "other" }, "a bug");
    await mill.intake.close({ tenant: "acme" }, "unpaid");
    await mill.schedules.create(
      schedule("b", { cron: "@hourly" }, fine, undefined, { tenant: "beta" }),
    );
    await kit.advance("25h");

    const acme = await mill.forTenant("acme").attention();
    const beta = await mill.forTenant("beta").attention();

    expect(acme.checked).toHaveLength(7);
    expect(acme.findings.map(({ rule }) => rule).toSorted()).toEqual([
      "dead_letters",
      "intake",
      "waiting",
    ]);
    expect(beta.findings.map(({ rule }) => rule).toSorted()).toEqual([
      "dead_letters",
      "pause",
      "schedule",
    ]);
    expect(JSON.stringify(acme)).not.toContain("beta");
  });
});
