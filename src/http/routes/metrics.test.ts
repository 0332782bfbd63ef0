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

  test("has the versions of the application, newest first, beside them", async () => {
    await using server = await openServer();
    const read = async (query = ""): Promise<any> =>
      jsonOf(await server.ask(`/api/v1/metrics/deploys${query}`));
    expect(await read()).toEqual({ deploys: [] });
    const options = { jobs: [email], signals: false };
    await using first = server.mill.work({ ...options, appVersion: "1.0" });
    await first.ready;
    await using second = server.mill.work({ ...options, appVersion: "1.1" });
    await second.ready;

    const { deploys } = await read("?from=2h");
    expect(deploys).toMatchObject([{ appVersion: "1.1" }, { appVersion: "1.0" }]);
    expect(Date.parse(deploys[0].at)).toBeGreaterThan(0);
    expect(await read("?to=1h")).toEqual({ deploys: [] });
    expect((await server.ask("/api/v1/metrics/deploys?from=soon")).status).toBe(400);
    expect((await server.ask("/api/v1/metrics/deploys?type=email")).status).toBe(400);
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
