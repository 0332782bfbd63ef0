import { describe, expect, test } from "vitest";
import { openServer } from "../../../test/support/http/http-server.ts";

describe("the files of the page", () => {
  test.each([
    ["/", "text/html; charset=utf-8", "no-store"],
    [
      "/assets/page-1234.js",
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
    ],
  ])("serves %s as %s to any caller", async (path, type, caching) => {
    await using server = await openServer();

    const response = await server.ask(path, { as: "anonymous" });

    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("cache-control")).toBe(caching);
  });

  test("are compressed for callers that say so", async () => {
    await using server = await openServer();
    const ask = (headers: Record<string, string>): Promise<Response> =>
      server.ask("/assets/page-1234.js", { headers });

    const gzipped = await ask({ "accept-encoding": "br, gzip" });
    const plain = await ask({});

    expect(gzipped.headers.get("content-encoding")).toBe("gzip");
    expect(plain.headers.get("content-encoding")).toBeNull();
    const stream = gzipped.body?.pipeThrough(new DecompressionStream("gzip"));
    expect(await new Response(stream ?? null).text()).toBe(await plain.text());
  });

  test.each(["/assets/none.js", "/notes.txt", "/assets/..%2fnotes.txt", "/index.html"])(
    "has nothing at %s",
    async (path) => {
      await using server = await openServer();

      const response = await server.ask(path);

      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({ code: "NOT_FOUND" });
    },
  );

  test("may load nothing from elsewhere, and run no code between the lines", async () => {
    await using server = await openServer();

    const policy = (await server.ask("/")).headers.get("content-security-policy") ?? "";

    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("style-src 'self'");
    expect(policy).not.toMatch(/unsafe|\*|data:|http/);
  });
});
