import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../../test/support/http/http-server.ts";
import { defineJob, NonRetryableError, typed } from "../../../index.ts";

const pay = defineJob({ type: "pay", category: "billing", payload: typed<number>() }).run(() => {
  throw new NonRetryableError("no account");
});

async function withLetter(server: TestServer): Promise<string> {
  const { mill } = server;
  const worker = mill.work({ jobs: [pay] });
  const job = await mill.enqueue(pay, 1, { correlationId: "trace" });
  await mill.wait(job);
  await worker.stop();
  await mill.deadLetters.assign(job.id, { actor: "ada", to: "bob" });
  return job.id;
}

describe("/api/v1/operations", () => {
  test("takes every filter of dead letters, and shows it with the operation", async () => {
    await using server = await openServer();
    const { cause } = await server.mill.deadLetters.get(await withLetter(server));
    const filters = {
      status: "pending_review",
      type: "pay",
      tenant: "default",
      category: "billing",
      correlationId: "trace",
      cause,
      errorClass: "non_retryable",
      assignedTo: "bob",
    };
    const times = {
      createdAfter: "2000-01-01T00:00:00.000Z",
      createdBefore: "2100-01-01T00:00:00.000Z",
    };
    const asked = { action: "acknowledge", deadLetters: { ...filters, ...times } };

    const preview = await server.ask("/api/v1/operations/preview", { method: "POST", json: asked });
    expect(await jsonOf(preview)).toMatchObject({ count: 1 });
    for (const name of ["cause", "assignedTo", "category", "correlationId"]) {
      const json = { ...asked, deadLetters: { ...filters, [name]: "another" } };
      const other = await server.ask("/api/v1/operations/preview", { method: "POST", json });
      expect(await jsonOf(other)).toMatchObject({ count: 0 });
    }
    const json = { ...asked, reason: "seen" };
    const started = await server.ask("/api/v1/operations", { method: "POST", json });

    expect(started.status).toBe(202);
    expect(await jsonOf(started)).toMatchObject({ filter: filters });
  });

  test.each([
    [{ deadLetters: { errorClass: "odd" } }, "deadLetters.errorClass"],
    [{ deadLetters: { type: "pay" }, rate: 1e-300 }, "rate"],
  ])("refuses %j, and names %s", async (part, path) => {
    await using server = await openServer();
    const json = { action: "discard", reason: "x", ...part };

    const refused = await server.ask("/api/v1/operations", { method: "POST", json });

    expect(refused.status).toBe(400);
    expect(await jsonOf(refused)).toMatchObject({ errors: [{ path }] });
  });
});
