import { describe, expect, test } from "vitest";
import { failingMill, openServer } from "../../test/support/http/http-server.ts";
import { MillraceError } from "../core/errors.ts";

describe("the server", () => {
  test("is alive without asking the store", async () => {
    await using server = await openServer({ mill: await failingMill("count", locked) });

    expect((await server.ask("/livez", { as: "anonymous" })).status).toBe(200);
  });

  test.each(["/readyz", "/healthz"])("is ready at %s while the store answers", async (path) => {
    await using server = await openServer();

    const response = await server.ask(path, { as: "anonymous" });

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ready", checks: { store: "answers" } });
  });

  test("is not ready when the store does not answer, and says what to do", async () => {
    await using server = await openServer({ mill: await failingMill("count", locked) });

    const response = await server.ask("/readyz", { as: "anonymous" });

    expect(response.status).toBe(503);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toEqual({
      type: "urn:millrace:error:STORE_BUSY",
      title: "Store busy",
      status: 503,
      detail: "locked",
      code: "STORE_BUSY",
      hint: "Try again; if the error persists, find the program that holds the lock.",
      request_id: response.headers.get("x-request-id"),
    });
  });

  test("keeps the words of an unexpected error to itself and reports them", async () => {
    const secret = new Error("s3cret");
    await using server = await openServer({ mill: await failingMill("count", secret) });

    const response = await server.ask("/readyz");

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("s3cret");
    expect(server.failures).toEqual([secret]);
  });

  test.each(["/nowhere", "/../package.json", "/%2e%2e/package.json", "/index.html"])(
    "has nothing at %s",
    async (path) => {
      await using server = await openServer();

      const response = await server.ask(path);

      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: "NOT_FOUND" });
    },
  );

  test("says which methods a path takes", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs", { method: "DELETE" });

    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, GET, HEAD");
    expect(await response.json()).toMatchObject({ code: "METHOD_NOT_ALLOWED" });
  });
});

describe("the overview", () => {
  test("counts the jobs of all seven states, in order (003-28)", async () => {
    await using server = await openServer();
    await server.ask("/api/v1/jobs", { json: { type: "a" } });
    await server.ask("/api/v1/jobs", { json: { type: "b", options: { delay: "1h" } } });

    const response = await server.ask("/api/v1/overview");

    expect(await response.json()).toEqual({
      states: [
        { state: "scheduled", count: 1, more: false },
        { state: "queued", count: 1, more: false },
        { state: "running", count: 0, more: false },
        { state: "completed", count: 0, more: false },
        { state: "completed_with_errors", count: 0, more: false },
        { state: "failed", count: 0, more: false },
        { state: "cancelled", count: 0, more: false },
      ],
    });
  });
});

describe("every answer", () => {
  test.each([
    ["the id of the caller", "caller-7.b_2", "caller-7.b_2"],
    ["an id of its own instead of a short one", "x", expect.stringMatching(/^[0-9A-Z]{26}$/)],
    ["an id of its own instead of a strange one", "a b<c>defgh", expect.stringMatching(/^\w{26}$/)],
  ])("has %s", async (_, given, id) => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/jobs/x", { headers: { "x-request-id": given } });

    expect(response.headers.get("x-request-id")).toEqual(id);
    expect(await response.json()).toMatchObject({ request_id: id });
  });

  test.each(["/", "/api/v1/overview", "/nowhere"])("of %s is guarded by headers", async (path) => {
    await using server = await openServer();

    const { headers } = await server.ask(path);

    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });
});

const locked = new MillraceError("STORE_BUSY", "locked");
