import { describe, expect, test } from "vitest";
import { jsonOf, openServer, type TestServer } from "../../../test/support/http/http-server.ts";
import { defineJob, NonRetryableError, typed } from "../../index.ts";

const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";
const PARTS = ["details", "progress", "units", "attempts", "logs", "explain"] as const;

const pipeline = defineJob({ type: "pipeline", payload: typed<{ files: string[] }>() }).run(
  async ({ files }, ctx) => {
    ctx.log.info("begun", { files: files.length });
    ctx.log.info("ended");
    await ctx.each(
      files,
      (file) => file,
      async (file) => {
        if (file === "bad") throw new NonRetryableError("cannot be read");
        return { size: file.length };
      },
    );
    return { files: files.length };
  },
);
const waiting = defineJob({ type: "waiting" });

describe("GET /api/v1/jobs/{id}/…", () => {
  test("details has the job with its runs, failed units and linked jobs", async () => {
    await using server = await openServer();
    const id = await worked(server);
    const next = await server.mill.enqueue(waiting, undefined, { after: [{ id, type: "" }] });
    await server.mill.enqueue(waiting, undefined, { after: [next] });

    const details = await read(server, `/api/v1/jobs/${id}/details`);
    const waits = await read(server, `/api/v1/jobs/${next.id}/details`);

    expect(details).toMatchObject({
      job: { id, state: "completed_with_errors" },
      failedUnits: [{ key: "bad", state: "failed", error: { message: "cannot be read" } }],
      attempts: [{ number: 1, outcome: "succeeded" }],
      worker: null,
      children: { count: 0, atLeast: false },
    });
    expect(waits).toMatchObject({ awaitedBy: { ids: [expect.any(String)], more: false } });
  });

  test("progress counts units and says how far the job is", async () => {
    await using server = await openServer();
    const id = await worked(server);

    expect(await read(server, `/api/v1/jobs/${id}/progress`)).toMatchObject({
      state: "completed_with_errors",
      percent: 100,
      units: { total: 3, completed: 2, failed: 1, running: 0, planned: 0 },
    });
  });

  test("units are in the order given, in pages, by state", async () => {
    await using server = await openServer();
    const id = await worked(server);

    const keys: string[] = [];
    let after = "";
    do {
      const page = await read(server, `/api/v1/jobs/${id}/units?limit=2${after}`);
      keys.push(...page.units.map((unit: { key: string }) => unit.key));
      after = page.next === null ? "" : `&after=${encodeURIComponent(page.next)}`;
    } while (after !== "");
    const failed = await read(server, `/api/v1/jobs/${id}/units?state=failed`);

    expect(keys).toEqual(["one", "bad", "three"]);
    expect(failed.units).toMatchObject([{ key: "bad" }]);
    const foreign = await server.ask(`/api/v1/jobs/${id}/units?after=x`);
    expect(foreign.status).toBe(400);
  });

  test("attempts lists the runs that have ended", async () => {
    await using server = await openServer();
    const id = await worked(server);

    const { attempts } = await read(server, `/api/v1/jobs/${id}/attempts`);

    expect(attempts).toMatchObject([{ number: 1, outcome: "succeeded", error: null }]);
  });

  test("logs are lines in order, in pages", async () => {
    await using server = await openServer();
    const id = await worked(server);

    const first = await read(server, `/api/v1/jobs/${id}/logs?limit=1&after=0`);
    const second = await read(server, `/api/v1/jobs/${id}/logs?after=${first.next}`);
    const newest = await read(server, `/api/v1/jobs/${id}/logs?limit=1`);

    expect(first.lines).toMatchObject([{ message: "begun", level: "info", fields: { files: 3 } }]);
    expect(second.lines).toMatchObject([{ message: "ended", level: "info", fields: null }]);
    expect(second.next).toBeNull();
    expect(newest.lines).toEqual(second.lines);
  });

  test("logs wait for a line that is written later", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(pipeline, { files: [] });

    const waits = read(server, `/api/v1/jobs/${id}/logs?wait=30s`);
    await using worker = server.mill.work({ jobs: [pipeline], signals: false });
    await worker.ready;

    expect((await waits).lines.length).toBeGreaterThan(0);
  });

  test("logs answer without lines when the time is up", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    expect(await read(server, `/api/v1/jobs/${id}/logs?wait=1ms`)).toEqual({
      lines: [],
      next: null,
    });
  });

  test("explain has a sentence, a word for programs and the next step", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting, undefined, { delay: "1h" });

    expect(await read(server, `/api/v1/jobs/${id}/explain`)).toMatchObject({
      reason: "scheduled",
      sentence: expect.stringContaining("It is due at"),
      hint: expect.stringContaining(id),
      details: { at: expect.stringMatching(/^2.*Z$/) },
    });
  });

  test.each(PARTS)("%s of a job that is gone names the retention (000-45)", async (part) => {
    await using server = await openServer();

    const response = await server.ask(`/api/v1/jobs/${NOWHERE}/${part}`);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: "JOB_NOT_FOUND",
      detail: expect.stringContaining("finished jobs are removed after 7 d"),
    });
  });

  test.each([
    ["26 small letters", (id: string) => id.toLowerCase()],
    ["a UUID", uuidOf],
  ])("takes an id as %s", async (_, written) => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    expect((await read(server, `/api/v1/jobs/${written(id)}`)).id).toBe(id);
  });

  test.each(["7", "%00", "%FF", "0".repeat(27), `${NOWHERE}%20`, "x".repeat(61)])(
    "refuses the id %s",
    async (id) => {
      await using server = await openServer();

      for (const part of PARTS) {
        const response = await server.ask(`/api/v1/jobs/${id}/${part}`);
        expect({ part, status: response.status }).toEqual({ part, status: 400 });
      }
    },
  );
});

describe("GET /api/v1/unit-holders", () => {
  test("names the running jobs that work on a unit", async () => {
    await using server = await openServer();
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const holding = defineJob({ type: "holding" }).run(async (_, ctx) => {
      await ctx.each(
        ["k".repeat(300)],
        (key) => key,
        async () => {
          held();
          await mayEnd;
        },
      );
    });
    const { id } = await server.mill.enqueue(holding);
    await using worker = server.mill.work({ jobs: [holding], signals: false });
    await worker.ready;
    await isHeld;

    const path = `/api/v1/unit-holders?key=${"k".repeat(300)}`;
    const { holders } = await read(server, path);
    end();

    expect(holders).toEqual([{ id, phase: null, at: expect.any(String) }]);
  });

  test("needs a key", async () => {
    await using server = await openServer();

    const response = await server.ask("/api/v1/unit-holders");

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ detail: "key is missing" });
  });
});

describe("GET /api/v1/job-ids", () => {
  test("finds ids by their first letters", async () => {
    await using server = await openServer();
    const { id } = await server.mill.enqueue(waiting);

    const found = await read(server, `/api/v1/job-ids?prefix=${id.slice(0, 24).toLowerCase()}`);
    const none = await read(server, "/api/v1/job-ids?prefix=7ZZZZ");

    expect(found).toEqual({ ids: [id] });
    expect(none).toEqual({ ids: [] });
  });

  test.each(["abc", "UUUU", "%00%00%00%00"])("refuses the beginning %s", async (prefix) => {
    await using server = await openServer();

    expect((await server.ask(`/api/v1/job-ids?prefix=${prefix}`)).status).toBe(400);
  });
});

/** The id of a job with a failed unit and two log lines. */
async function worked({ mill }: TestServer): Promise<string> {
  const job = await mill.enqueue(pipeline, { files: ["one", "bad", "three"] });
  const worker = mill.work({ jobs: [pipeline], signals: false });
  await mill.wait(job);
  await worker.stop();
  return job.id;
}

async function read(server: TestServer, path: string): Promise<any> {
  const response = await server.ask(path);
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return jsonOf<unknown>(response);
}

function uuidOf(id: string): string {
  const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
  const number = Array.from(id).reduce(
    (sum, each) => sum * 32n + BigInt(letters.indexOf(each)),
    0n,
  );
  const hex = number.toString(16).padStart(32, "0");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
