/** `mill.audit`: what the library records, lists, exports and verifies. */
import { defineJob, NonRetryableError, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openTest, type RuntimeTest } from "../support.ts";

const pay = defineJob({
  type: "pay",
  payload: typed<{ amount: number; token: string }>(),
}).run(() => {
  throw new NonRetryableError("too much");
});

async function deadJob(kit: RuntimeTest, options = {}): Promise<string> {
  const { id } = await kit.mill.enqueue(pay, { amount: 500, token: "t0" }, options);
  await kit.drain([pay]);
  return id;
}

async function namesOf({ mill }: RuntimeTest): Promise<readonly string[]> {
  return (await mill.audit.list()).map(({ name }) => name).toReversed();
}

describe("the audit of a reprocessing", () => {
  test("has the request and the success (003-27, 003-46)", async () => {
    await using kit = await openTest();
    const id = await deadJob(kit, { tenant: "acme" });

    const payload = { amount: 5, token: "t1" };
    const { id: successor } = await kit.mill.deadLetters.reprocess(id, {
      actor: "ada",
      notes: "corrected",
      payload,
    });
    await kit.mill.deadLetters.reprocess(id, { actor: "bob" });

    const [success, request, ...more] = await kit.mill.audit.list();
    expect(more).toEqual([]);
    expect(request).toMatchObject({
      name: "job_dlq_reprocess_requested",
      actor: "ada",
      reason: "corrected",
      tenant: "acme",
      subject: { kind: "job", name: id },
      after: {
        changes: [
          { path: "$.amount", before: 500, after: 5 },
          { path: "$.token", before: "[redacted]", after: "[redacted]" },
        ],
      },
    });
    expect(success).toMatchObject({
      name: "job_dlq_reprocess_success",
      after: { status: "reprocessed", successor },
    });
  });

  test("has the request alone when the payload is invalid or a key is held (003-35)", async () => {
    await using kit = await openTest();
    const schema = z.object({ amount: z.number() });
    const strict = defineJob({ type: "strict", payload: schema }).run(() => {
      throw new NonRetryableError("no");
    });
    const job = await kit.mill.enqueue(strict, { amount: 1 }, { dedupKey: "k" });
    await kit.drain([strict]);
    const wrong = { actor: "ada", payload: { amount: "many" } };

    await expect(kit.mill.deadLetters.reprocess(job.id, wrong)).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
    });
    await kit.mill.enqueue(strict, { amount: 1 }, { dedupKey: "k", delay: "1h" });
    await expect(kit.mill.deadLetters.reprocess(job.id, { actor: "ada" })).rejects.toMatchObject({
      code: "DEDUP_KEY_HELD",
    });

    const name = "job_dlq_reprocess_requested";
    expect(await namesOf(kit)).toEqual([name, name]);
    await kit.mill.deadLetters.acknowledge(job.id, { actor: "ada" });
    await kit.mill.deadLetters.discard(job.id, { actor: "ada" });
    expect((await namesOf(kit)).slice(2)).toEqual(["job_dlq_acknowledged", "job_dlq_discarded"]);
  });

  test("of all failures of a cause has both for each letter", async () => {
    await using kit = await openTest();
    await deadJob(kit);
    await deadJob(kit);
    const [group] = await kit.mill.failures.list();

    await kit.mill.failures.retry(group?.cause ?? "", { actor: "ada" });

    expect((await namesOf(kit)).toSorted()).toEqual([
      "failure_group_retried",
      "job_dlq_reprocess_requested",
      "job_dlq_reprocess_requested",
      "job_dlq_reprocess_success",
      "job_dlq_reprocess_success",
    ]);
  });
});

describe("mill.audit", () => {
  test("names actor and reason of calls of the library, and null without", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    const by = { actor: "ada", reason: "asked" };
    const job = await mill.enqueue(pay, { amount: 1, token: "x" }, { delay: "1h" });

    await mill.jobs.retry(job.id, by);
    await mill.jobs.fail(job.id, "by hand", { actor: "ada" });
    await mill.jobs.retry(job.id, by);
    await mill.pause({ lane: "fast" }, "asked", { actor: "ada" });
    await mill.resume({ lane: "fast" }, by);
    await mill.pause({ lane: "fast" }, "again");

    const told = (await mill.audit.list()).map(({ name, actor, reason }) => [name, actor, reason]);
    expect(told.toReversed()).toEqual([
      ["job_hurried", "ada", "asked"],
      ["job_failed", "ada", "by hand"],
      ["job_dlq_reprocess_success", "ada", "asked"],
      ["job_retried", "ada", "asked"],
      ["lane_paused", "ada", "asked"],
      ["lane_resumed", "ada", "asked"],
      ["lane_paused", null, "again"],
    ]);
  });

  test("exports more than a page as lines of JSON, and refuses unknown filters", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    for (let turn = 0; turn < 501; turn += 1) {
      await kit.store.pause({ kind: "lane", name: `l${turn}` }, { by: null, reason: "r" });
    }

    const lines: string[] = [];
    for await (const line of mill.audit.export()) lines.push(line);

    expect(lines).toHaveLength(501);
    expect(JSON.parse(lines[500] ?? "")).toMatchObject({ subject: { name: "l500" } });
    const [misspelt, paged]: any[] = [{ nam: "x" }, { limit: 1 }];
    await expect(mill.audit.list(misspelt)).rejects.toThrow("did you mean name");
    expect(() => mill.audit.export(paged)).toThrow("limit");
    const heads = [{ tenant: null, day: "x", position: 1, hash: "y" }];
    await expect(mill.audit.verify({ heads })).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });

  test("a worker seals the entries, and verify answers the heads", async () => {
    await using kit = await openTest();
    const { mill } = kit;
    await mill.pause({ tenant: "acme" }, "x", { actor: "ada" });
    const worker = mill.work({ jobs: [pay], signals: false });
    await kit.advance("15s");
    await worker.stop();

    const { heads, isIntact } = await mill.audit.verify();
    expect(isIntact).toBe(true);
    expect(heads).toMatchObject([{ tenant: "acme", position: 1 }]);
    expect(await mill.audit.verify({ heads })).toMatchObject({ isIntact: true });
    const missing = [{ ...heads[0]!, position: 2 }];
    expect(await mill.audit.verify({ heads: missing })).toMatchObject({
      isIntact: false,
      findings: [{ kind: "head_removed", message: expect.stringContaining('tenant "acme"') }],
    });
    expect((await mill.forTenant("umbra").audit.verify()).heads).toEqual([]);
  });
});
