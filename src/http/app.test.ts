import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { MillraceError } from "../core/errors.ts";
import type { State } from "../core/job.ts";
import { createApp } from "./app.ts";

const pageFolder = mkdtempSync(join(tmpdir(), "millrace-page-"));
writeFileSync(join(pageFolder, "index.html"), "<h1>Millrace</h1>");
writeFileSync(join(pageFolder, "style.css"), "body {}");
writeFileSync(join(pageFolder, "page.js"), "");
afterAll(() => rmSync(pageFolder, { recursive: true }));

describe("the server", () => {
  test("is alive without asking the store", async () => {
    const response = await ask("/livez", { count: brokenStore });

    expect(response.status).toBe(200);
  });

  test("is ready while the store answers", async () => {
    const response = await ask("/readyz");

    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ready", checks: { store: "answers" } });
  });

  test("is not ready when the store does not answer, and says what to do", async () => {
    const response = await ask("/readyz", { count: brokenStore });

    expect(response.status).toBe(503);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({ code: "STORE_BUSY", detail: "locked" });
  });

  test("keeps the words of an unexpected error to itself", async () => {
    const response = await ask("/readyz", { count: () => Promise.reject(new Error("s3cret")) });

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain("s3cret");
  });

  test.each([
    ["/", "text/html; charset=utf-8"],
    ["/style.css", "text/css; charset=utf-8"],
    ["/page.js", "text/javascript; charset=utf-8"],
  ])("serves %s as %s", async (path, type) => {
    const response = await ask(path);

    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(type);
  });

  test.each(["/nowhere", "/../package.json", "/%2e%2e/package.json", "/index.html"])(
    "has nothing at %s",
    async (path) => {
      expect((await ask(path)).status).toBe(404);
    },
  );
});

describe("the overview", () => {
  test("counts the jobs of all seven states, in the order in which a job meets them", async () => {
    const response = await ask("/api/v1/overview", { count: async ({ states }) => states.length });

    expect(await response.json()).toEqual({
      states: [
        { state: "scheduled", count: 1, more: false },
        { state: "queued", count: 1, more: false },
        { state: "running", count: 1, more: false },
        { state: "completed", count: 1, more: false },
        { state: "completed_with_errors", count: 1, more: false },
        { state: "failed", count: 1, more: false },
        { state: "cancelled", count: 1, more: false },
      ],
    });
  });

  test.each([
    [9_999, 9_999, false],
    [10_000, 10_000, false],
    [12_345, 10_000, true],
  ])("shows %i queued jobs as %i, more: %s", async (actual, count, more) => {
    const response = await ask("/api/v1/overview", {
      count: async ({ states }, max) => (states[0] === "queued" ? Math.min(actual, max) : 0),
    });

    expect(await response.json()).toMatchObject({
      states: expect.arrayContaining([{ state: "queued", count, more }]),
    });
  });
});

describe("every answer", () => {
  test.each(["/", "/api/v1/overview", "/nowhere"])("of %s is guarded by headers", async (path) => {
    const { headers } = await ask(path);

    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain("unsafe");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  test.each(["localhost", "localhost:7333", "127.0.0.1:80", "[::1]:7333", "LocalHost:7333"])(
    "is given to the host %s",
    async (host) => {
      expect((await ask("/livez", {}, host)).status).toBe(200);
    },
  );

  test.each(["evil.example", "evil.example:7333", "127.0.0.1.evil.example", "localhost.evil", ""])(
    "is refused to the foreign host “%s”",
    async (host) => {
      expect((await ask("/livez", {}, host)).status).toBe(421);
    },
  );
});

type Count = (filter: { readonly states: readonly State[] }, max: number) => Promise<number>;

const brokenStore: Count = () => Promise.reject(new MillraceError("STORE_BUSY", "locked"));

async function ask(path: string, parts: { count?: Count } = {}, host = "127.0.0.1:7333") {
  const app = createApp({ count: parts.count ?? (async () => 0), pageFolder });
  return app.request(`http://127.0.0.1:7333${path}`, { headers: { host } });
}
