/** A whole life under the role of the engine: a worker and a server as processes, and a mill. */
import { setTimeout } from "node:timers/promises";
import { Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defineJob, openMillrace, typed, type Millrace } from "../../../src/index.ts";
import { makePostgresStore } from "../../../src/store/postgres/create.ts";
import { postgresStore } from "../../../src/store/postgres/index.ts";
import { Project } from "../../cli/command-line.ts";
import { makeEngine, openSurface, type Scene, type Surface } from "./support.ts";

const OWNER_TOKEN = "chosen-by-the-operator";
const JOBS = `
import { defineJob, NonRetryableError, RateLimitedError, schedule, typed } from "millrace";
export const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() }).run(
  ({ name }) => "Hello " + name,
);
export const flaky = defineJob({ type: "flaky", maxAttempts: 3 }).run((_, ctx) => {
  if (ctx.attempt === 1) throw new RateLimitedError("not yet", { retryAfter: 50 });
  return "at last";
});
export const doomed = defineJob({ type: "doomed" }).run(() => {
  throw new NonRetryableError("no way");
});
export const pipeline = defineJob({ type: "pipeline" })
  .phase("list", () => ["a", "b"])
  .phase("units", (_, ctx) =>
    ctx.each(ctx.results.list, (name) => name, async (name) => name + "!"),
  )
  .phase("count", (_, ctx) => {
    ctx.log.info("counted");
    return ctx.results.units.completed.length;
  });
export const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => "paid");
export const tick = defineJob({ type: "tick" }).run(() => {});
export const often = schedule("often", { cron: "* * * * * *" }, tick);
`;

let surface: Surface;
let scene: Scene;
let url: string;
let mill: Millrace;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());
beforeEach(async () => {
  scene = await surface.open();
  url = await makeEngine(scene);
  mill = await openMillrace(url);
});
afterEach(async () => {
  await mill.close();
  await scene[Symbol.asyncDispose]();
});

const contract = (type: string) => defineJob({ type, payload: typed<unknown>() });

describe("under the role of the engine", () => {
  test("a worker process claims, retries, runs phases and units, and keeps schedules", async () => {
    using project = new Project();
    project.write("jobs.ts", JOBS);
    const worker = project.start("worker", "--jobs", "jobs.ts", "--db", url);
    const greet = await mill.enqueue(contract("greet"), { name: "Ada" });
    const flaky = await mill.enqueue(contract("flaky"), null);
    const doomed = await mill.enqueue(contract("doomed"), null);
    const pipeline = await mill.enqueue(contract("pipeline"), null);
    await mill.limits.set({ type: "greet" }, { concurrency: 1 }, { actor: "ada" });

    expect(await mill.result(greet)).toBe("Hello Ada");
    expect(await mill.result(pipeline)).toBe(2);
    expect((await mill.jobs.progress(pipeline.id)).phases).toMatchObject([
      { name: "list" },
      { name: "units" },
      { name: "count" },
    ]);
    await expect(mill.result(doomed)).rejects.toMatchObject({ code: "JOB_FAILED" });
    const tick = async (): Promise<number> => (await mill.schedules.history("often")).length;
    await expect.poll(tick, { timeout: 20_000 }).toBeGreaterThan(0);
    expect(await mill.result(flaky)).toBe("at last");
    const [letter] = await mill.deadLetters.list();
    expect(letter).toMatchObject({ id: doomed.id });
    worker.child.kill("SIGTERM");
    const { code, stderr } = await worker.ended;
    expect({ code, errors: stderr.match(/permission denied|42501/) }).toEqual({
      code: 0,
      errors: null,
    });
  });

  test("a worker that is killed loses its lease, and another one rescues its job", async () => {
    using project = new Project();
    project.write(
      "jobs.ts",
      `import { defineJob } from "millrace";
      export const slow = defineJob({ type: "slow" }).run(() =>
        process.env.RESCUER === "yes" ? "rescued" : new Promise(() => {}));`,
    );
    const command = ["worker", "--jobs", "jobs.ts", "--lease", "2s", "--db", url];
    const first = project.start(...command);
    const job = await mill.enqueue(contract("slow"), null);
    const state = async (): Promise<string> => (await mill.jobs.get(job.id)).state;
    await expect.poll(state, { timeout: 20_000 }).toBe("running");
    first.child.kill("SIGKILL");
    await first.ended;
    const second = project.startWith({ RESCUER: "yes" }, ...command);
    expect(await mill.result(job)).toBe("rescued");
    second.child.kill("SIGTERM");
    expect(await second.ended).toMatchObject({ code: 0 });
  });

  test("a server process answers, and its tokens, breakers and audit work", async () => {
    using project = new Project();
    const args = ["server", "--port", "0", "--db", url];
    const server = project.startWith({ MILLRACE_TOKEN: OWNER_TOKEN }, ...args);
    const [, address = ""] = await server.said(/^Millrace is at (http:\/\/127\.0\.0\.1:\d+)/m);
    const authorization = `Bearer ${OWNER_TOKEN}`;
    const headers = { authorization, "content-type": "application/json" };
    const ask = async (path: string, method = "GET", body?: object): Promise<any> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${address}/api/v1/${path}`, { method, headers, ...sent });
      expect({ path, ok: answer.ok }).toEqual({ path, ok: true });
      return answer.json();
    };
    const made = await ask("jobs", "POST", { type: "greet", payload: { name: "Ada" } });
    expect((await ask(`jobs/${made.id}`)).state).toBe("queued");
    for (const path of ["overview", "jobs", "types", "workers", "lanes", "breakers", "limits"]) {
      await ask(path);
    }
    for (const path of ["dead-letters", "schedules", "tokens", "audit", "attention"]) {
      await ask(path);
    }
    const { secret } = await mill.tokens.create({
      kind: "person",
      name: "ada",
      roles: ["viewer"],
    });
    const asAda = await fetch(`${address}/api/v1/jobs`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(asAda.status).toBe(200);
    await mill.breakers.forceOpen("bank", "closed for today", { actor: "ada" });
    expect(await mill.breakers.list()).toMatchObject([{ service: "bank", state: "open" }]);
    const trail = await mill.audit.list();
    expect(JSON.stringify(trail)).toContain("closed for today");
    const sealed = async (): Promise<number> => (await mill.audit.verify()).sealed;
    await expect.poll(sealed, { timeout: 20_000 }).toBeGreaterThan(0);
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ code: 0 });
  });

  test("retention removes what is old, and the statistics count", async () => {
    const note = defineJob({ type: "note" }).run(() => {});
    const work = () =>
      mill.work({ jobs: [note], signals: false, retention: { deleteAfter: "1s" } });
    const first = work();
    const job = await mill.enqueue(note);
    await mill.result(job);
    expect(await mill.jobs.stats()).toMatchObject({ failed: 0 });
    expect(await mill.jobs.count({ state: "completed" })).toMatchObject({ count: 1 });
    await first.stop();
    await setTimeout(1_100);
    const second = work();
    const isThere = async (): Promise<boolean> =>
      (await mill.jobs.list()).jobs.some(({ id }) => id === job.id);
    await expect.poll(isThere, { timeout: 20_000 }).toBe(false);
    await second.stop();
    const store = makePostgresStore({ url });
    await store.open();
    expect((await store.examine({ isDeep: true })).brokenInvariants).toEqual([]);
    await store.close();
  });

  test("an application's pool and its transactions work, with the heartbeat beside", async () => {
    const pool = new Pool({ connectionString: url, max: 4 });
    const own = await openMillrace(postgresStore({ pool }));
    const note = defineJob({ type: "note" }).run(() => "noted");
    const client = await pool.connect();
    await client.query("BEGIN");
    const job = await own.enqueue(note, undefined, { tx: client });
    const keyed = await own.enqueue(note, undefined, { tx: client, dedupKey: "one" });
    await client.query("COMMIT");
    client.release();
    const worker = own.work({ jobs: [note], signals: false });
    expect(await own.result(job)).toBe("noted");
    expect(await own.result(keyed)).toBe("noted");
    await worker.stop();
    await own.close();
    await pool.end();
  });
});
