import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../../test/support/http/http-server.ts";
import { defineJob } from "../../index.ts";

const email = defineJob({ type: "email" }).run(async () => {});

describe("GET /api/v1/metrics/minutes", () => {
  test("has the figures of a stretch, by step, type and lane (004-11)", async () => {
    await using server = await openServer();
    const job = await server.mill.enqueue(email);
    await using worker = server.mill.work({ jobs: [email], signals: false });
    await worker.ready;
    await server.mill.wait(job);

    const read = async (query: string): Promise<any> =>
      jsonOf(await server.ask(`/api/v1/metrics/minutes${query}`));

    const all = await read("?from=2h&step=1m&type=email&lane=general");
    expect(all).toMatchObject({
      total: { runs: 1, errorRate: 0, outcomes: { succeeded: 1, failed: 0 } },
      groups: [{ type: "email", lane: "general", runs: 1, wait: { p50: expect.any(Number) } }],
      cutShort: false,
    });
    expect(await read("?type=fax")).toMatchObject({ total: { runs: 0 }, groups: [] });
    expect(await read("?to=1d")).toMatchObject({ total: { runs: 0 } });
  });

  test.each([
    ["from=yesterday", "from"],
    ["to=soon", "to"],
    ["step=often", "step"],
    ["step=90s", "step"],
    ["from=1000d&step=1m", "step"],
    ["tenant=acme", "tenant"],
  ])("refuses ?%s and names %s", async (query, place) => {
    await using server = await openServer();

    const response = await server.ask(`/api/v1/metrics/minutes?${query}`);

    expect(response.status).toBe(400);
    expect(JSON.stringify(await response.json())).toContain(place);
  });
});
