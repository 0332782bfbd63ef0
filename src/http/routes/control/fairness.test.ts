import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../../../test/support/http/http-server.ts";

describe("/api/v1/fairness", () => {
  test.each([
    ["general", "general"],
    ["a%2Fb%20c", "a/b c"],
  ])("sets, lists and removes the fairness of the lane %s", async (path, lane) => {
    await using server = await openServer();
    const json = { weights: { acme: 3 } };

    const set = await server.ask(`/api/v1/fairness/${path}`, { method: "PUT", json });
    const listed = await jsonOf<{ lanes: unknown }>(await server.ask("/api/v1/fairness"));
    const removed = await server.ask(`/api/v1/fairness/${path}`, { method: "DELETE" });
    const again = await server.ask(`/api/v1/fairness/${path}`, { method: "DELETE" });

    expect(set.status).toBe(204);
    expect(listed.lanes).toMatchObject([
      { lane, weights: { acme: 3 }, owner: "operator", setBy: "owner" },
    ]);
    expect(await removed.json()).toEqual({ wasSet: true });
    expect(await again.json()).toEqual({ wasSet: false });
  });

  test.each([{ weights: { acme: 0 } }, { weights: { acme: 1_001 } }, { weight: {} }])(
    "refuses %j",
    async (json) => {
      await using server = await openServer();

      const response = await server.ask("/api/v1/fairness/general", { method: "PUT", json });

      expect(response.status).toBe(400);
    },
  );
});
