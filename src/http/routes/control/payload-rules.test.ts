import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../../../test/support/http/http-server.ts";

const PATH = "/api/v1/payload-rules";

describe("/api/v1/payload-rules", () => {
  test.each([
    ["type/a%2Fb", { scope: "type", name: "a/b" }],
    ["category/sync", { scope: "category", name: "sync" }],
    ["installation/all", { scope: "installation", name: "all" }],
  ])("sets, lists and removes the rule of %s", async (path, target) => {
    await using server = await openServer();
    const rule = { required: { document_id: "integer" }, sensitive: { tokens: "reject" } };
    const json = { rule, reason: "an audit" };

    const set = await server.ask(`${PATH}/${path}`, { method: "PUT", json });
    const listed = await jsonOf<{ rules: unknown }>(await server.ask(PATH));
    const removed = await server.ask(`${PATH}/${path}?reason=done`, { method: "DELETE" });
    const again = await server.ask(`${PATH}/${path}`, { method: "DELETE" });

    expect(set.status).toBe(204);
    expect(listed.rules).toMatchObject([{ ...target, rule, setBy: "owner", reason: "an audit" }]);
    expect(await removed.json()).toEqual({ wasSet: true });
    expect(await again.json()).toEqual({ wasSet: false });
  });

  test.each([
    { rule: { hardBytes: 0 } },
    { rule: { required: { a: "number" } } },
    { rule: { sensitive: { mails: "warn" } } },
    { rule: {} },
    {},
  ])("refuses %j", async (json) => {
    await using server = await openServer();

    const response = await server.ask(`${PATH}/type/scan`, { method: "PUT", json });

    expect(response.status).toBe(400);
  });

  test("refuses jobs that break a rule or contradict their job, with all errors", async () => {
    await using server = await openServer();
    const json = { rule: { required: { document_id: "integer", firm_id: "any" } } };
    await server.ask(`${PATH}/installation/all`, { method: "PUT", json });
    const post = (payload: object) =>
      server.ask("/api/v1/jobs", { method: "POST", json: { type: "scan", payload } });

    const broken = await post({ password: "hunter2" });
    const mismatch = await post({ document_id: 1, firm_id: 2, tenant_id: 13 });

    expect(broken.status).toBe(422);
    expect(await broken.json()).toMatchObject({
      code: "PAYLOAD_RULE_BROKEN",
      errors: [{ path: "payload.document_id" }, { path: "payload.firm_id" }],
    });
    expect(mismatch.status).toBe(422);
    expect(await mismatch.json()).toMatchObject({
      code: "PAYLOAD_MISMATCH",
      errors: [{ path: "payload.tenant_id" }],
    });
  });

  test("enqueues with a version, and shows it", async () => {
    await using server = await openServer();
    const json = { type: "scan", payload: { a: 1 }, options: { payloadVersion: "2" } };

    const made = await jsonOf<{ id: string }>(
      await server.ask("/api/v1/jobs", { method: "POST", json }),
    );
    const shown = await server.ask(`/api/v1/jobs/${made.id}`);

    expect(await shown.json()).toMatchObject({ payloadVersion: "2" });
  });
});
