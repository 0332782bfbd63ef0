import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest } from "../support.ts";

describe("a job whose retries a supervisor owns", () => {
  test("is completed in any case, after its failure is recorded (002-10, C-06)", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const email = defineJob({
      type: "email",
      payload: typed<string>(),
      retryOwner: "supervisor",
    }).run((to) => {
      ran.push(`email ${to}`);
      if (to === "unknown") throw new Error("no such address");
    });
    const sms = defineJob({ type: "sms", retryOwner: "supervisor" }).run(
      () => void ran.push("sms"),
    );
    const [sent, refused, short] = await kit.mill.enqueueMany([
      email.of("ada"),
      email.of("unknown"),
      sms.of(),
    ]);

    await kit.drain([email, sms]);
    await kit.advance("1h");
    await kit.drain([email, sms]);

    expect(ran.toSorted()).toEqual(["email ada", "email unknown", "sms"]);
    for (const { id } of [sent, refused, short]) {
      expect(await kit.mill.jobs.get(id)).toMatchObject({ state: "completed", attempts: 1 });
    }
    expect(await kit.mill.jobs.attempts(refused.id)).toMatchObject([
      { outcome: "failed", error: { message: "no such address" } },
    ]);
  });

  test("is run again when its worker died (C-06)", async () => {
    await using kit = await openTest();
    const email = defineJob({ type: "email", retryOwner: "supervisor" }).run(
      (_, ctx) => ctx.attempt,
    );
    const job = await kit.mill.enqueue(email);
    kit.crashAt("start");
    await kit.drain([email]);

    kit.mill.work({ jobs: [email] });
    await kit.advance("45s");

    expect(await kit.mill.result(job)).toBe(2);
    expect(await kit.outcomes(job)).toEqual(["crashed", "succeeded"]);
  });
});
