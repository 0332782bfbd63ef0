import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { makeCallers, type CallerName } from "../../../test/http/callers.ts";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { redactionRules } from "../../core/redaction.ts";
import { createHandler } from "../handler.ts";

const job = defineJob({ type: "email" }).run(() => {});

async function settingsOf(
  server: TestServer,
  caller: CallerName,
  reach: "all" | "tenant" = "all",
): Promise<any> {
  const { id } = await server.mill.enqueue(job);
  const { headersOf } = await makeCallers(server.mill, id);
  const headers = headersOf(caller, reach);
  return jsonOf<any>(await server.ask("/api/v1/settings", { as: "anonymous", headers }));
}

describe("/api/v1/settings", () => {
  test("tells the store, the version, redaction, links and the base path", async () => {
    const links = { trace: "https://trace.example/{correlation_id}" };
    const redaction = redactionRules(["iban"]);
    await using server = await openServer({ linkTemplates: links, redaction, base: "/jobs" });

    const settings = await settingsOf(server, "viewer");

    expect(settings).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      store: { kind: "sqlite", name: ":memory:" },
      retention: null,
      links,
      basePath: "/jobs",
    });
    expect(settings.redactedFields).toEqual(expect.arrayContaining(["iban", "password"]));
  });

  test("tells the retention of workers that the process has started", async () => {
    await using server = await openServer();
    const worker = server.mill.work({
      jobs: [job],
      signals: false,
      retention: { staleAfter: "2d" },
    });
    await worker.ready;

    const { retention } = await settingsOf(server, "viewer");
    await worker.stop();

    expect(retention).toMatchObject({
      finishedMs: { completed: 172_800_000 },
      deadLetterMs: expect.any(Number),
    });
  });

  test.each<[CallerName, "all" | "tenant", may: string[], mayNot: string[]]>([
    ["viewer", "all", ["listJobs", "listWorkers"], ["cancelJob", "reprocessDeadLetter"]],
    ["operator", "all", ["cancelJob", "openBreaker"], ["reprocessDeadLetter", "setQuota"]],
    ["manager", "all", ["reprocessDeadLetter", "getSettings"], ["setQuota"]],
    ["operator", "tenant", ["cancelJob"], ["openBreaker", "listWorkers", "listLanes"]],
  ])("tells a %s of %s what the routes would allow", async (caller, reach, may, mayNot) => {
    await using server = await openServer();

    const { operations, store } = await settingsOf(server, caller, reach);

    expect(operations).toEqual(expect.arrayContaining(may));
    for (const name of mayNot) expect(operations).not.toContain(name);
    expect(store.name).toBe(reach === "tenant" ? null : ":memory:");
  });

  test.each([false, true])(
    "tells what a server serves that is read-only: %s",
    async (isReadOnly) => {
      await using server = await openServer({ isReadOnly });

      const { operations, readOnly } = await settingsOf(server, "operator");
      const cancel = await server.ask("/api/v1/jobs/01K9ZQ4H7M3V8T2XE6RNQ4C7XQ/cancel", {
        json: {},
      });

      expect(readOnly).toBe(isReadOnly);
      expect(operations).toContain("listJobs");
      expect(operations.includes("cancelJob")).toBe(!isReadOnly);
      expect((await jsonOf<any>(cancel)).code).toBe(isReadOnly ? "NOT_FOUND" : "JOB_NOT_FOUND");
    },
  );
});

describe("a server that only reads", () => {
  test.each([
    ["compareAudit", "/api/v1/audit/verify", { heads: [] }],
    [
      "previewOperation",
      "/api/v1/operations/preview",
      { action: "cancel", jobs: { type: "email" } },
    ],
  ])("serves %s, which changes nothing", async (name, path, json) => {
    await using server = await openServer({ isReadOnly: true });

    const { operations } = await settingsOf(server, "manager");

    expect(operations).toContain(name);
    expect((await server.ask(path, { method: "POST", json })).status).toBe(200);
  });
});

describe("createHandler", () => {
  test.each([
    [{ trace: "javascript:alert(1)" }, "links.trace"],
    [{ trace: "https://x.example/{unknown}" }, "{unknown} is not known"],
    [{ trace: 7 }, "links.trace"],
    [
      Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, "https://a.example"])),
      "at most 20",
    ],
    ["https://a.example", "links must be an object"],
  ])("refuses the links %j", async (links, message) => {
    await using server = await openServer();
    const { mill } = server;
    const given: any = links;

    expect(() => createHandler({ mill, links: given })).toThrow(
      expect.objectContaining({
        code: "OPTION_INVALID",
        message: expect.stringContaining(message),
      }),
    );
  });

  test("tells the links that it was given", async () => {
    await using server = await openServer();
    const { mill } = server;
    const links = { user: "https://admin.example/u/{payload.userId}" };
    const authenticate = () => ({ actor: "ada", roles: ["viewer"] as const });
    const handler = createHandler({ mill, links, authenticate });

    const response = await handler(new Request("http://localhost/api/v1/settings"));

    expect(await response.json()).toMatchObject({ links, basePath: "" });
  });
});
