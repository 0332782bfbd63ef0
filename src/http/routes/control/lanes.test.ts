import { defineJob } from "millrace";
import { expect, test } from "vitest";
import { jsonOf, openServer } from "../../../../test/support/http/http-server.ts";

test("/api/v1/lanes lists the lanes", async () => {
  await using server = await openServer();
  await server.mill.enqueue(defineJob({ type: "email", lane: "fast" }));
  await server.mill.pause({ lane: "fast" }, "a bug");

  const { lanes } = await jsonOf<{ lanes: unknown }>(await server.ask("/api/v1/lanes"));

  expect(lanes).toMatchObject([
    { lane: "fast", slots: 0, waiting: { count: 0 }, held: { count: 1 }, pause: { until: null } },
  ]);
});
