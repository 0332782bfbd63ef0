import { describe, expect, test } from "vitest";
import { jsonOf, openServer } from "../../../test/support/http/http-server.ts";

const LETTER = "/api/v1/dead-letters/01M7GQMY55ECET74219MBT9GXQ";
const FAILURE = "/api/v1/failures/0123456789abcdef";
const NEW_SCHEDULE = { name: "s", when: { cron: "@daily" }, type: "email" };
const OPERATION = { action: "cancel", jobs: { type: "email" } };
const BLANKS = ["   ", "\t\r\n", "\u00a0"];

describe("an act that needs a reason", () => {
  test.each<[method: string, path: string, json: object]>([
    ["PUT", "/api/v1/limits/type/email", { concurrency: 1 }],
    ["POST", "/api/v1/schedules", NEW_SCHEDULE],
    ["PUT", "/api/v1/schedules/s", { cron: "@hourly" }],
    ["PUT", "/api/v1/schedules/s/pause", {}],
    ["PUT", "/api/v1/tenants/acme/quota", { waiting: 1 }],
    ["POST", "/api/v1/tenants/acme/removal", { confirm: "acme" }],
    ["PUT", "/api/v1/pauses/lane/general", {}],
    ["PUT", "/api/v1/intakes/lane/general", {}],
    ["POST", "/api/v1/breakers/bank/open", {}],
    ["POST", "/api/v1/operations", OPERATION],
  ])("refuses blanks: %s %s", async (method, path, json) => {
    await using server = await openServer();

    for (const reason of BLANKS) {
      const response = await server.ask(path, { method, json: { ...json, reason } });
      expect(response.status).toBe(400);
      expect(await jsonOf(response)).toMatchObject({ errors: [{ path: "reason" }] });
    }
    expect(await server.mill.audit.list({ actor: "owner" })).toEqual([]);
  });

  test.each(["limits/type/email", "schedules/s", "tenants/acme/quota"])(
    "refuses blanks: DELETE /api/v1/%s",
    async (path) => {
      await using server = await openServer();

      for (const reason of BLANKS) {
        const url = `/api/v1/${path}?reason=${encodeURIComponent(reason)}`;
        const response = await server.ask(url, { method: "DELETE" });
        expect(response.status).toBe(400);
        expect(await jsonOf(response)).toMatchObject({ errors: [{ path: "reason" }] });
      }
    },
  );

  test.each([`${LETTER}/discard`, `${LETTER}/reprocess`, `${FAILURE}/retry`, `${FAILURE}/discard`])(
    "refuses blanks: POST %s",
    async (path) => {
      await using server = await openServer();

      for (const notes of BLANKS) {
        const response = await server.ask(path, { method: "POST", json: { notes } });
        expect(response.status).toBe(400);
        expect(await jsonOf(response)).toMatchObject({ errors: [{ path: "notes" }] });
      }
    },
  );

  test("says what is wrong, and takes a reason with blanks around", async () => {
    await using server = await openServer();
    const path = "/api/v1/pauses/lane/general";
    const pause = (reason: string) => server.ask(path, { method: "PUT", json: { reason } });

    const { detail } = await jsonOf<{ detail: string }>(await pause("  "));

    expect(detail).toBe('reason must be a text with more than blanks, not "  "');
    expect((await pause(" the bank is down ")).status).toBe(204);
  });
});
