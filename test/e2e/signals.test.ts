/** What SIGTERM and SIGINT do to programs that call `mill.work`: real processes, real signals. */
import { join } from "node:path";
import { defineJob, openMillrace, type Millrace } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { ended, linesOf, startChild, temporaryFolder } from "./children.ts";
import type { SignalProgram } from "./programs/signals.child.ts";

const long = defineJob({ type: "long" });

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a program without listeners of its own", () => {
  test.each([
    ["sqlite", "SIGTERM"],
    ["sqlite", "SIGINT"],
    ["postgres", "SIGTERM"],
  ] as const)("on %s: %s charges no crash, and ends the program", async (store, signal) => {
    using folder = temporaryFolder();
    const url = store === "postgres" ? server.url : `sqlite:${join(folder.path, "jobs.db")}`;
    await using mill = await openMillrace(url);
    const { id } = await mill.enqueue(long);
    const program = start({ urls: [url], grace: "0ms" });
    await program.says("running");

    program.child.kill(signal);

    expect(await ended(program.child)).toBe(signal);
    expect(await fate(mill, id)).toEqual({
      state: "queued",
      outcomes: ["interrupted"],
      crashes: 0,
    });
    expect(await attemptOfNextRun(mill, id)).toBe(1);
  });

  test("stops the workers of all its mills", async () => {
    using folder = temporaryFolder();
    const urls = ["one.db", "two.db"].map((file) => `sqlite:${join(folder.path, file)}`);
    const jobs = await Promise.all(
      urls.map(async (url) => {
        const mill = await openMillrace(url);
        return { mill, id: (await mill.enqueue(long)).id };
      }),
    );
    const program = start({ urls, grace: "0ms" });
    await program.says("running", 2);

    program.child.kill("SIGTERM");

    expect(await ended(program.child)).toBe("SIGTERM");
    for (const { mill, id } of jobs) {
      expect(await fate(mill, id)).toMatchObject({ state: "queued", crashes: 0 });
      await mill.close();
    }
  });

  test("waits for its jobs at the first signal, and ends at once at the second", async () => {
    using world = await oneJob();
    const program = start({ urls: [world.url], grace: "1h" });
    await program.says("running");

    program.child.kill("SIGTERM");
    await program.says(/^SIGTERM: waiting for 1 running job/);
    const nagging = setInterval(() => program.child.kill("SIGTERM"), 50);
    const end = await ended(program.child);
    clearInterval(nagging);

    expect(end).toBe("SIGTERM");
    expect(await fate(world.mill, world.id)).toMatchObject({ state: "running" });
    await world.mill.close();
  });

  test("gets the default action back when its workers have stopped", async () => {
    using world = await oneJob();
    const program = start({ urls: [world.url], grace: "0ms", stopsFirst: true });
    await program.says("stopped, 0 listener(s)");

    program.child.kill("SIGTERM");

    expect(await ended(program.child)).toBe("SIGTERM");
    await world.mill.close();
  });

  test("is killed as by default with signals: false", async () => {
    using world = await oneJob();
    const program = start({ urls: [world.url], signals: false });
    await program.says("running");

    program.child.kill("SIGTERM");

    expect(await ended(program.child)).toBe("SIGTERM");
    expect(await fate(world.mill, world.id)).toMatchObject({ state: "running" });
    await world.mill.close();
  });
});

describe("a program with a listener of its own", () => {
  test("decides alone: its worker goes on", async () => {
    using world = await oneJob();
    const program = start({ urls: [world.url], grace: "0ms", listens: true });
    await program.says("running");

    program.child.kill("SIGTERM");
    await program.says("the application hears SIGTERM");
    await world.mill.enqueue(long);
    await program.says("running", 2);

    program.child.kill("SIGKILL");
    await ended(program.child);
    expect(await fate(world.mill, world.id)).toMatchObject({ state: "running" });
    await world.mill.close();
  });

  test("decides about its end with signals: true, which stops the worker", async () => {
    using world = await oneJob();
    const program = start({ urls: [world.url], grace: "0ms", listens: true, signals: true });
    await program.says("running");
    const returned = new Promise<void>((resolve) => {
      world.mill.on("job:retrying", () => resolve());
    });

    program.child.kill("SIGTERM");
    await program.says("the application hears SIGTERM");
    await returned;

    expect(program.child.exitCode).toBeNull();
    program.child.kill("SIGKILL");
    await ended(program.child);
    expect(await fate(world.mill, world.id)).toMatchObject({ state: "queued", crashes: 0 });
    await world.mill.close();
  });
});

/** A program, and the lines it has printed. */
function start(settings: SignalProgram) {
  const child = startChild("signals.child.ts", [JSON.stringify(settings)]);
  const said: string[] = [];
  const lines = linesOf(child)[Symbol.asyncIterator]();
  /** Resolves when the program has printed `count` such lines. */
  const says = async (wanted: string | RegExp, count = 1): Promise<void> => {
    const isWanted = (line: string): boolean =>
      typeof wanted === "string" ? line === wanted : wanted.test(line);
    while (said.filter(isWanted).length < count) {
      const line = await lines.next();
      if (line.done === true) throw new Error(`the program said only: ${said.join("; ")}`);
      said.push(line.value);
    }
  };
  return { child, says };
}

async function oneJob() {
  const folder = temporaryFolder();
  const url = `sqlite:${join(folder.path, "jobs.db")}`;
  const mill = await openMillrace(url);
  const { id } = await mill.enqueue(long);
  return { url, mill, id, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

async function fate(mill: Millrace, id: string) {
  const { state } = await mill.jobs.get(id);
  const runs = await mill.jobs.attempts(id);
  return {
    state,
    outcomes: runs.map(({ outcome }) => outcome),
    crashes: runs.at(-1)?.crashes ?? 0,
  };
}

/** Runs the job to its end. */
async function attemptOfNextRun(mill: Millrace, id: string): Promise<unknown> {
  const quick = long.run((_, { attempt }) => attempt);
  const worker = mill.work({ jobs: [quick] });
  const result = await mill.result({ id, type: "long" });
  await worker.stop();
  return result;
}
