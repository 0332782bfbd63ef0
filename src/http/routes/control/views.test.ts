import { describe, expect, test } from "vitest";
import { makeCallers } from "../../../../test/http/callers.ts";
import { jsonOf, openServer } from "../../../../test/support/http/http-server.ts";
import { defineJob } from "../../../index.ts";

const FAILED = { screen: "jobs", query: "state=failed&type=email" };

describe("/api/v1/views", () => {
  test("saves, lists, replaces and removes a view", async () => {
    await using server = await openServer();
    const path = "/api/v1/views/failed%20mails";
    const list = async () => jsonOf<{ views: object[] }>(await server.ask("/api/v1/views"));
    expect(await list()).toEqual({ views: [] });

    expect((await server.ask(path, { method: "PUT", json: FAILED })).status).toBe(204);
    const saved = await list();
    await server.ask(path, { method: "PUT", json: { ...FAILED, query: "", reason: "too long" } });
    const replaced = await list();
    const removed = await server.ask(`${path}?reason=stale`, { method: "DELETE" });
    const again = await server.ask(path, { method: "DELETE" });

    expect(saved.views).toMatchObject([{ tenant: null, name: "failed mails", ...FAILED }]);
    expect(replaced.views).toMatchObject([{ query: "" }]);
    expect(await removed.json()).toEqual({ wasSaved: true });
    expect(await again.json()).toEqual({ wasSaved: false });
    expect(await list()).toEqual({ views: [] });
    const actor = expect.stringMatching(/./);
    expect(await server.mill.audit.list()).toMatchObject([
      { name: "view_removed", actor, reason: "stale" },
      { name: "view_saved", actor, reason: "too long" },
      { name: "view_saved", actor, reason: null },
    ]);
  });

  test("shows a tenant its own and the shared views, and changes its own", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(defineJob({ type: "a" }));
    const { headersOf } = await makeCallers(server.mill, id);
    const operator = { as: "anonymous", headers: headersOf("operator", "tenant") } as const;
    await server.mill.views.save({ name: "shared", ...FAILED }, { actor: "ada" });
    await server.mill.forTenant("elsewhere").views.save({ name: "theirs", ...FAILED });

    await server.ask("/api/v1/views/mine", { ...operator, method: "PUT", json: FAILED });
    const removed = await server.ask("/api/v1/views/shared", { ...operator, method: "DELETE" });
    const found = await jsonOf<{ views: { name: string; savedBy: string | null }[] }>(
      await server.ask("/api/v1/views", operator),
    );

    expect(await removed.json()).toEqual({ wasSaved: false });
    expect(found.views.map(({ name }) => name)).toEqual(["mine", "shared"]);
    expect(found.views[1]?.savedBy).toBeNull();
    expect(await server.mill.views.list()).toMatchObject([{ name: "shared", savedBy: "ada" }]);
  });

  test.each([
    ["x".repeat(101), FAILED],
    ["%00", FAILED],
    ["a", { ...FAILED, query: "x".repeat(4_001) }],
    ["a", { ...FAILED, screen: "" }],
    ["a", { screen: "jobs" }],
    ["a", { ...FAILED, tenant: "acme" }],
  ])("refuses %s with %j", async (name, json) => {
    await using server = await openServer();

    const response = await server.ask(`/api/v1/views/${name}`, { method: "PUT", json });

    expect(response.status).toBe(400);
    expect(await server.mill.views.list()).toEqual([]);
  });
});
