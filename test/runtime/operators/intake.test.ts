/** `mill.intake`: what producers, handlers, operators and schedules meet at a closed intake. */
import { defineJob, schedule } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

const email = defineJob({ type: "email" }).run(() => "sent");
const report = defineJob({ type: "report" }).run(() => "written");
const broken = defineJob({ type: "broken", maxAttempts: 1 }).run(() => {
  throw new Error("no disk");
});

describe("mill.intake", () => {
  test("refuses an enqueue with what is closed, why and by whom (004-52)", async () => {
    await using kit = await openTest();
    await kit.mill.intake.close({ type: "email" }, "a move", { actor: "ada" });

    await expect(kit.mill.enqueue(email)).rejects.toMatchObject({
      code: "INTAKE_CLOSED",
      status: 503,
      message:
        'a job of type "email" is refused: the intake of the type "email" is closed by ada: a move',
      details: { kind: "type", name: "email", reason: "a move", by: "ada" },
    });
    expect(await kit.mill.intake.list()).toEqual([
      {
        kind: "type",
        name: "email",
        reason: "a move",
        closedBy: "ada",
        closedAt: expect.any(Date),
      },
    ]);
    expect(await kit.mill.intake.open({ type: "email" })).toEqual({ wasClosed: true });
    expect(await kit.mill.intake.open({ type: "email" })).toEqual({ wasClosed: false });
    expect(await kit.mill.enqueue(email)).toMatchObject({ created: true });
  });

  test("enqueueMany enqueues the others, and says which one was refused", async () => {
    await using kit = await openTest();
    await kit.mill.intake.close({ type: "email" }, "a move");

    await expect(kit.mill.enqueueMany([report.of(), email.of()])).rejects.toMatchObject({
      code: "INTAKE_CLOSED",
      details: {
        index: 1,
        kind: "type",
        answers: [
          { index: 0, status: "created" },
          { index: 1, status: "refused", code: "INTAKE_CLOSED", reason: "a move", by: null },
        ],
      },
    });
    expect(await kit.mill.jobs.count()).toMatchObject({ count: 1 });
  });

  test("lets jobs that exist run, with their children and successors (004-52)", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const parent = defineJob({ type: "parent" }).run(async (_, ctx) => {
      await ctx.enqueue(email);
      return (await mill.enqueue(report)).id;
    });
    const first = await mill.enqueue(parent);
    const failed = await mill.enqueue(broken);
    await mill.intake.close({ installation: true }, "a move");

    mill.work({ jobs: [parent, email, report, broken] });
    await kit.settled();
    const retried = await mill.jobs.retry(failed.id);
    await kit.settled();

    expect(await mill.jobs.get(first.id)).toMatchObject({ state: "completed" });
    expect(await mill.jobs.get(retried.id)).toMatchObject({ state: "failed" });
    const children = await mill.jobs.list({ parentId: first.id });
    expect(children.jobs.map(({ state }) => state)).toEqual(["completed", "completed"]);
    const letter = await mill.deadLetters.reprocess(retried.id, { actor: "ada" });
    expect(letter).toMatchObject({ created: true });
  });

  test("a schedule makes no job, says so in its history, and goes on afterwards", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.intake.close({ type: "report" }, "a move");
    mill.work({ jobs: [report], schedules: [schedule("hourly", { cron: "@hourly" }, report)] });
    await kit.settled();

    await kit.advance("1h");
    const refused = await mill.schedules.history("hourly");
    await expect(mill.schedules.runNow("hourly")).rejects.toMatchObject({ code: "INTAKE_CLOSED" });
    await mill.intake.open({ type: "report" });
    await kit.advance("1h");
    const after = await mill.schedules.history("hourly");

    expect(refused.map(({ outcome }) => outcome)).toEqual(["intake_closed"]);
    expect(after.map(({ outcome }) => outcome)).toEqual(["made", "intake_closed"]);
  });

  test.each([
    [{}, "reason"],
    [{ type: "" }, "reason"],
    [{ type: "email", lane: "general" }, "reason"],
    [{ worker: "w" }, "reason"],
    [{ type: "email" }, ""],
  ])("refuses the target %j with the reason %j", async (target, reason) => {
    await using kit = await openTest();
    const unchecked: any = target;
    const closing = kit.mill.intake.close(unchecked, reason);
    await expect(closing).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(await kit.mill.intake.list()).toEqual([]);
  });

  test("a tenant's mill sees what concerns it, and changes its own intake alone", async () => {
    await using kit = await openTest();
    const acme = kit.mill.forTenant("acme");
    await kit.mill.intake.close({ type: "email" }, "a move");
    await kit.mill.intake.close({ tenant: "globex" }, "a bill");
    await acme.intake.close({ tenant: "acme" }, "holidays");

    for (const target of [
      { type: "email" },
      { tenant: "globex" },
      { installation: true } as const,
    ]) {
      const refusal = { code: "FORBIDDEN_TENANT" };
      await expect(acme.intake.close(target, "no")).rejects.toMatchObject(refusal);
      await expect(acme.intake.open(target)).rejects.toMatchObject(refusal);
    }
    await expect(acme.enqueue(report)).rejects.toMatchObject({ details: { kind: "tenant" } });
    const seen = await acme.intake.list();
    expect(seen.map(({ name }) => name)).toEqual(["email", "acme"]);
  });
});
