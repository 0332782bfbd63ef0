import { describe, expect, test } from "vitest";
import { openServer } from "../../../test/support/http/http-server.ts";
import { defineJob, schedule } from "../../index.ts";

const PATH = "/api/v1/schedules";
const NEW = {
  name: "nightly",
  when: { cron: "0 3 * * *", timeZone: "Europe/Berlin", missed: { all: 3 }, jitter: "5m" },
  type: "cleanup",
  reason: "the logs grow",
};

describe("/api/v1/schedules", () => {
  test("creates, changes, pauses, runs and removes a schedule (000-54)", async () => {
    await using server = await openServer();
    const change = (part: string, method: string, json?: object) =>
      server.ask(`${PATH}/nightly${part}`, json === undefined ? { method } : { method, json });

    const made = await server.ask(PATH, { method: "POST", json: NEW });
    expect(made.status).toBe(201);
    expect(await made.json()).toMatchObject({
      owner: "operator",
      createdBy: "owner",
      description: "every day at 03:00 Europe/Berlin",
      missed: { all: 3 },
      jitterMs: 300_000,
      type: "cleanup",
    });
    const updated = await change("", "PUT", { cron: "0 4 * * *", reason: "too early" });
    expect(await updated.json()).toMatchObject({ cron: "0 4 * * *", missed: { all: 3 } });
    expect((await change("/pause", "PUT", { reason: "a bug" })).status).toBe(204);
    expect(await server.mill.schedules.get("nightly")).toMatchObject({
      pauseReason: "a bug",
      pausedBy: "owner",
    });
    expect(await (await change("/pause", "DELETE")).json()).toEqual({ wasPaused: true });
    const run: any = await (await change("/run", "POST")).json();
    expect(await server.mill.jobs.get(run.id)).toMatchObject({ type: "cleanup" });
    const { ticks }: any = await (await server.ask(`${PATH}/nightly/ticks`)).json();
    expect(ticks).toMatchObject([{ outcome: "run_now", jobId: run.id }]);
    const listed: any = await (await server.ask(PATH)).json();
    expect(listed).toMatchObject({ schedules: [{ name: "nightly" }], next: null });
    expect((await change("?reason=moved", "DELETE")).status).toBe(204);
    expect((await server.ask(`${PATH}/nightly`)).status).toBe(404);
    const { audit } = server.mill;
    const reasons = (await audit.list()).map(({ name, reason }) => [name, reason]);
    expect(reasons).toEqual(
      expect.arrayContaining([
        ["schedule_created", "the logs grow"],
        ["schedule_updated", "too early"],
        ["schedule_removed", "moved"],
      ]),
    );
  });

  test.each([
    [{ ...NEW, when: { cron: "61 * * * *" } }, "when.cron"],
    [{ ...NEW, when: { cron: "@daily", timeZone: "Europe/Atlantis" } }, "when.timeZone"],
    [{ ...NEW, when: { cron: "@daily", jitter: "soon" } }, "when.jitter"],
    [{ ...NEW, when: { cron: "@daily", start: 2, end: 1 } }, "when.end"],
  ])("refuses %j, and names %s", async (json, path) => {
    await using server = await openServer();

    const response = await server.ask(PATH, { method: "POST", json });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ errors: [{ path }] });
  });

  test("refuses a change without a reason", async () => {
    await using server = await openServer();
    const { reason: _reason, ...unexplained } = NEW;
    await server.ask(PATH, { method: "POST", json: NEW });
    const one = `${PATH}/nightly`;

    for (const [path, question] of [
      [PATH, { method: "POST", json: { ...unexplained, name: "other" } }],
      [one, { method: "PUT", json: { cron: "@hourly" } }],
      [one, { method: "DELETE" }],
    ] as const) {
      const response = await server.ask(path, question);
      expect(response.status).toBe(400);
      expect(await response.json()).toMatchObject({ errors: [{ path: "reason" }] });
    }
    expect(await server.mill.schedules.list()).toMatchObject([{ cron: "0 3 * * *" }]);
  });

  test("changes and removes the start and the end, and refuses an end in the past", async () => {
    await using server = await openServer();
    const [start, end] = ["2098-01-01T00:00:00.000Z", "2099-01-01T00:00:00.000Z"];
    await server.ask(PATH, { method: "POST", json: { ...NEW, when: { ...NEW.when, start, end } } });
    const change = (when: object) =>
      server.ask(`${PATH}/nightly`, { method: "PUT", json: { ...when, reason: "asked" } });

    const changed: any = await (await change({ start: null })).json();
    expect(changed).toMatchObject({ start: null, end, jitterMs: 300_000 });
    expect(await (await change({ end: null })).json()).toMatchObject({ start: null, end: null });
    const past = "2020-01-01T00:00:00Z";
    expect((await change({ end: past })).status).toBe(400);
    const other = { ...NEW, name: "other", when: { cron: "@daily", end: past } };
    expect((await server.ask(PATH, { method: "POST", json: other })).status).toBe(400);
  });

  test("runs a schedule once for the same Idempotency-Key, and takes no options", async () => {
    await using server = await openServer();
    await server.ask(PATH, { method: "POST", json: NEW });
    const run = (more: object) => server.ask(`${PATH}/nightly/run`, { method: "POST", ...more });
    const headers = { "idempotency-key": '"a \\"key\\""' };

    const first: any = await (await run({ headers })).json();
    const second = await run({ headers, json: {} });

    expect(first).toMatchObject({ created: true });
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(await second.json()).toMatchObject({ id: first.id, created: false });
    expect(await server.mill.jobs.get(first.id)).toMatchObject({ idempotencyKey: 'a "key"' });
    expect((await run({ json: { payload: 1 } })).status).toBe(400);
    expect(await server.mill.schedules.history("nightly")).toHaveLength(1);
  });

  test("refuses a name that is taken", async () => {
    await using server = await openServer();
    const job = defineJob({ type: "cleanup" });
    await server.mill.schedules.create(schedule("nightly", { cron: "@daily" }, job));

    const response = await server.ask(PATH, { method: "POST", json: NEW });

    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: "SCHEDULE_EXISTS" });
  });
});
