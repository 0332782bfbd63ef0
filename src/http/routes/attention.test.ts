import { defineJob, NonRetryableError } from "millrace";
import { describe, expect, test } from "vitest";
import { makeCallers, TENANT } from "../../../test/http/callers.ts";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import type { Attention } from "../../index.ts";

const broken = defineJob({ type: "broken" }).run(() => {
  throw new NonRetryableError("canary-7");
});

async function failOne(server: TestServer, tenant: string): Promise<string> {
  const { mill } = server;
  const job = await mill.enqueue(broken, undefined, { tenant });
  const worker = mill.work({ jobs: [broken], signals: false });
  await mill.wait(job);
  await worker.stop();
  return job.id;
}

async function attentionOf(server: TestServer, headers = {}): Promise<Attention> {
  const as = Object.keys(headers).length === 0 ? "bearer" : "anonymous";
  return jsonOf<Attention>(await server.ask("/api/v1/attention", { as, headers }));
}

describe("/api/v1/attention", () => {
  test("tells what to look at and what was checked", async () => {
    await using server = await openServer();
    await failOne(server, TENANT);

    const { findings, checked } = await attentionOf(server);

    expect(findings).toMatchObject([
      { rule: "failure_cause", level: "look", details: { error: { message: "canary-7" } } },
    ]);
    expect(checked).toHaveLength(12);
  });

  test("hides the text of errors from callers who may not read it", async () => {
    await using server = await openServer();
    const { mill } = server;
    const id = await failOne(server, TENANT);
    const { headersOf } = await makeCallers(mill, id);
    const textFor = async (caller: "viewer" | "operator"): Promise<string> =>
      JSON.stringify(await attentionOf(server, headersOf(caller, "all")));

    const [viewer, operator] = [await textFor("viewer"), await textFor("operator")];

    expect(viewer).toContain("failure_cause");
    expect(viewer).not.toContain("canary-7");
    expect(operator).toContain("canary-7");
  });

  test("tells a caller of one tenant what concerns the tenant", async () => {
    await using server = await openServer();
    const id = await failOne(server, "another");
    const { headersOf } = await makeCallers(server.mill, id);
    // The answer for all tenants must not be given to a tenant.
    expect((await attentionOf(server)).findings).toHaveLength(1);

    const { findings, checked } = await attentionOf(server, headersOf("viewer", "tenant"));

    expect(findings).toEqual([]);
    expect(checked.map(({ rule }) => rule)).not.toContain("worker_silent");
  });

  test("reads the store once in two seconds", async () => {
    const clock = virtualClock();
    await using server = await openServer({ clock });
    const first = await attentionOf(server);
    await failOne(server, TENANT);
    const second = await attentionOf(server);
    await clock.advance(2_000);
    const third = await attentionOf(server);

    expect(second).toEqual(first);
    expect(third.findings.map(({ rule }) => rule)).toEqual(["failure_cause"]);
  });
});
