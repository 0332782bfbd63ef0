/** `/api/v1/breakers`. */
import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../../test/support/http/http-server.ts";

describe("the routes of breakers", () => {
  test("open, show, list and reset the breaker of a service (004-26, 004-33)", async () => {
    await using server = await openServer();
    const bank = "/api/v1/breakers/bank";
    const refused = await server.ask(`${bank}/open`, { json: { reason: "" } });
    const opened = await server.ask(`${bank}/open`, { json: { reason: "they asked" } });

    expect(refused.status).toBe(400);
    expect(opened.status).toBe(204);
    expect(await jsonOf(await server.ask(bank))).toMatchObject({
      service: "bank",
      state: "open",
      reason: "they asked",
      probeAt: null,
    });
    const { breakers }: any = await jsonOf(await server.ask("/api/v1/breakers"));
    expect(breakers).toHaveLength(1);

    const reset = await server.ask(`${bank}/reset`, { method: "POST" });
    const again = await server.ask(`${bank}/reset`, { method: "POST" });

    expect(await jsonOf(reset)).toEqual({ changed: true });
    expect(await jsonOf(again)).toEqual({ changed: false });
    const { changes }: any = await jsonOf(await server.ask(`${bank}/history?limit=1`));
    expect(changes).toMatchObject([{ state: "closed" }]);
    expect(await jsonOf(await server.ask("/api/v1/breakers/unknown"))).toMatchObject({
      state: "closed",
      updatedAt: null,
    });
  });

  test("pause a service", async () => {
    await using server = await openServer();
    const path = "/api/v1/pauses/service/bank";
    const paused = await server.ask(path, { method: "PUT", json: { reason: "audit" } });

    expect(paused.status).toBe(204);
    expect(await server.mill.pauses()).toMatchObject([{ kind: "service", name: "bank" }]);
    expect(await jsonOf(await server.ask(path, { method: "DELETE" }))).toMatchObject({
      wasPaused: true,
    });
  });
});
