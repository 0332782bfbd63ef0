import { describe, expect, test } from "vitest";
import { failingMill, jsonOf, openServer } from "../../../test/support/http/http-server.ts";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import { defineJob } from "../../index.ts";

const greet = defineJob({ type: "greet" });
/** The time within which a revoked token must be refused everywhere. */
const REVOKED_MS = 5_000;

describe("a stream", () => {
  test("that no client reads, because HEAD asked for it, does not stay open", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/events", { method: "HEAD" });

    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(server.streams.count).toBe(0);
  });

  test("ends, does not count and is reported when its snapshot cannot be read", async () => {
    await using server = await openServer({ mill: await failingMill("list", new Error("lost")) });
    const response = await server.ask("/api/v1/events");
    expect(server.streams.count).toBe(1);

    await response.text();

    expect(server.streams.count).toBe(0);
    expect(server.failures).toMatchObject([{ message: "lost" }]);
  });

  test.each(["person", "stream"] as const)(
    "ends within 5 seconds after the token of its %s is revoked",
    async (kind) => {
      const clock = virtualClock();
      await using server = await openServer({ clock });
      const { id: jobId } = await server.mill.enqueue(greet);
      const { secret, token } = await server.mill.tokens.create(
        kind === "person"
          ? { kind, name: "ada", roles: ["viewer"] }
          : { kind, name: "page", jobId, tenant: "default" },
      );
      const headers = { authorization: `Bearer ${secret}` };
      const path = `/api/v1/jobs/${jobId}/events`;
      const response = await server.ask(path, { as: "anonymous", headers });
      const text = response.text();
      await server.mill.tokens.revoke(token.id);

      await clock.advance(REVOKED_MS);

      expect(await text).toContain("event: snapshot");
      expect(server.streams.count).toBe(0);
    },
  );

  test("goes on while its token is valid, or the store does not answer about it", async () => {
    const clock = virtualClock();
    await using server = await openServer({ clock });
    const { secret } = await server.mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["viewer"],
    });
    const headers = { authorization: `Bearer ${secret}` };
    const response = await server.ask("/api/v1/events", { as: "anonymous", headers });
    const { store } = Reflect.get(server.mill, "parts");
    store.tokenOf = () => Promise.reject(new Error("lost"));

    await clock.advance(REVOKED_MS * 2);

    expect(server.streams.count).toBe(1);
    await response.body?.cancel();
    expect(server.streams.count).toBe(0);
  });

  test("begins with reset behind an id that the feed has not given out yet", async () => {
    await using server = await openServer();
    await server.mill.enqueue(greet);

    const response = await server.ask("/api/v1/feed?after=999");

    const { messages, next } = await jsonOf<{ messages: object[]; next: string }>(response);
    expect(messages).toEqual([{ id: next, type: "reset" }]);
    expect(Number(next)).toBeLessThan(999);
  });
});
