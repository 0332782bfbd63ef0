import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openShared } from "./client/store-registry.ts";
import { jobqueue, lipas } from "./core/presets.ts";
import type { Json } from "./core/payload.ts";
import { MillraceError } from "./core/errors.ts";
import { defineJob, typed } from "./api/define.ts";
import { openMillrace } from "./open.ts";
import { makeSqliteStore } from "./store/sqlite/create.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millrace-open-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

const anything = defineJob({ type: "anything", payload: typed<Json>() });
const number = defineJob({ type: "number", payload: typed<number>() });

describe("openMillrace", () => {
  test("gives one store for the same file, until every mill has closed it", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    const [first, second] = await Promise.all([openMillrace(url), openMillrace(url)]);

    await first.close();
    const third = await openMillrace(url);
    await second.close();
    const job = await third.enqueue(anything, 1);
    await third.close();

    await expect(third.enqueue(anything, 1)).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await using anew = await openMillrace(url);
    expect(await anew.jobs.get(job.id)).toMatchObject({ payload: 1 });
  });

  test("leaves the others their mill when one is closed twice", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    const first = await openMillrace(url);
    await using second = await openMillrace(url);

    await first.close();
    await first.close();

    expect(await second.enqueue(anything, 1)).toMatchObject({ created: true });
    await expect(first.enqueue(anything, 1)).rejects.toMatchObject({ code: "STORE_CLOSED" });
    await expect(first.jobs.list()).rejects.toMatchObject({ code: "STORE_CLOSED" });
  });

  test("stops the workers of the one that is closed, and of no other", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    const first = await openMillrace(url);
    await using second = await openMillrace(url);
    const echo = number.run((value) => value);
    await first.work({ jobs: [echo] }).ready;
    const worker = second.work({ jobs: [echo] });
    await worker.ready;

    await first.close();

    expect((await second.workers.list()).map(({ id }) => id)).toEqual([worker.id]);
    expect(await second.result(await second.enqueue(echo, 7))).toBe(7);
  });

  test("refuses another tenant or preset for a file that is open, and takes the same", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    await using first = await openMillrace(url, { tenant: "acme", preset: lipas });

    for (const options of [{ tenant: "other" }, { preset: jobqueue }]) {
      const [option] = Object.keys(options);
      await expect(openMillrace(url, options)).rejects.toMatchObject({
        code: "OPTION_INVALID",
        message: expect.stringMatching(new RegExp(`^${option}: `)),
        details: { option },
      });
    }

    await using same = await openMillrace(url, {
      tenant: "acme",
      preset: structuredClone(lipas),
    });
    await using silent = await openMillrace(url);
    for (const mill of [first, same, silent]) {
      expect(await mill.jobs.get((await mill.enqueue(anything, 1)).id)).toMatchObject({
        tenant: "acme",
        maxAttempts: 3,
      });
    }
  });

  test("takes other options once the file is closed", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    await (await openMillrace(url, { tenant: "acme" })).close();

    await using mill = await openMillrace(url, { tenant: "other" });

    const { id } = await mill.enqueue(anything, 1);
    expect(await mill.jobs.get(id)).toMatchObject({ tenant: "other" });
  });

  test("lets every opener log in its own way", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    const said: string[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (text: string) => said.push(text) };
    await using first = await openMillrace(url);
    await using second = await openMillrace(url, { logger });
    second.on("job:enqueued", () => {
      throw new Error("a bad listener");
    });

    await first.enqueue(anything, 1);

    await expect.poll(() => said).toEqual(["a listener of job:enqueued failed"]);
  });

  test("finds its stores again when a hot reload evaluates it anew", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    vi.resetModules();
    const again = await import("./open.ts");
    expect(again.openMillrace).not.toBe(openMillrace);
    await using first = await openMillrace(url, { tenant: "acme" });

    await expect(again.openMillrace(url, { tenant: "other" })).rejects.toMatchObject({
      code: "OPTION_INVALID",
    });
    const reloaded = await again.openMillrace(url);
    const job = await reloaded.enqueue(anything, 1);
    await reloaded.close();

    expect(await first.jobs.get(job.id)).toMatchObject({ tenant: "acme" });
    expect(sharedNames()).toEqual([expect.stringMatching(/^\d+\.\d+\.\S+ .*jobs\.db$/)]);
  });

  test("does not share with another version of itself", async () => {
    const path = join(folder, "jobs.db");
    await using mill = await openMillrace(`sqlite:${path}`);
    const { id } = await mill.enqueue(anything, 1);
    const [name = ""] = sharedNames();
    const make = (): Promise<never> => Promise.reject(new Error("made anew"));
    const defaults = { tenant: "default", preset: jobqueue };
    const request = { make, options: {}, defaults };

    await expect(openShared({ ...request, name: `99.0.0 ${path}` })).rejects.toThrow("made anew");

    expect(sharedNames()).toEqual([name]);
    expect(await mill.jobs.get(id)).toMatchObject({ payload: 1 });
  });

  test("keeps its file in WAL mode (001-02)", async () => {
    const path = join(folder, "jobs.db");
    await using mill = await openMillrace(`sqlite:${path}`);
    await mill.enqueue(anything, 1);

    using other = new DatabaseSync(path);

    expect(other.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
  });

  test("takes a store that was made before", async () => {
    const store = makeSqliteStore({ path: ":memory:" });
    await using mill = await openMillrace(store);

    const job = await mill.enqueue(anything, { deep: [1, null, "x"] });

    expect((await mill.jobs.get(job.id)).payload).toEqual({ deep: [1, null, "x"] });
  });

  test("gives jobs the numbers of its preset (001-26, C-05)", async () => {
    await using mill = await openMillrace("sqlite::memory:", { preset: jobqueue });
    const failing = defineJob({ type: "failing" }).run(() => {
      throw new Error("not classified");
    });
    await using worker = mill.work({ jobs: [failing] });
    await worker.ready;

    const finished = await mill.wait(await mill.enqueue(failing));

    expect(finished.state).toBe("failed");
    expect((await mill.jobs.get(finished.id)).attempts).toBe(1);
  });

  test("knows the backoff of the jobs it runs when one is failed by hand (004-18)", async () => {
    await using mill = await openMillrace("sqlite::memory:");
    const backoff = { kind: "fixed", base: "10m", cap: "10m", jitter: 0 } as const;
    const slow = defineJob({ type: "anything", payload: typed<Json>(), backoff }).run(() => {});
    await mill.work({ jobs: [slow] }).ready;
    const { id } = await mill.enqueue(anything, 1, { delay: "1h" });

    await mill.jobs.fail(id, "by hand", { retry: true });

    const [attempt] = await mill.jobs.attempts(id);
    const waitMs = (attempt?.nextRunAt?.getTime() ?? 0) - (attempt?.finishedAt.getTime() ?? 0);
    expect(waitMs).toBe(600_000);
  });

  test("refuses what is neither a URL nor a store", async () => {
    const odd: any = {};

    await expect(openMillrace(odd)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(openMillrace("jobs.db")).rejects.toMatchObject({ code: "OPTION_INVALID" });
  });
});

describe("closing a mill", () => {
  test("ends a wait at once, and the job goes on", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    const mill = await openMillrace(url);
    const job = await mill.enqueue(anything, 1, { delay: "1h" });
    const waiting = mill.wait(job).catch((error: unknown) => error);

    await mill.close();

    expect(await waiting).toMatchObject({
      code: "STORE_CLOSED",
      details: { id: job.id, state: "scheduled" },
    });
  });

  test("lets a wait see the end of a job that ended during the close", async () => {
    const mill = await openMillrace(`sqlite:${join(folder, "jobs.db")}`);
    const begun = Promise.withResolvers<void>();
    const end = Promise.withResolvers<void>();
    const slow = number.run(async (value) => {
      begun.resolve();
      await end.promise;
      return value;
    });
    await mill.work({ jobs: [slow] }).ready;
    const result = mill.result(await mill.enqueue(slow, 7));
    await begun.promise;

    const closed = mill.close();
    end.resolve();
    await closed;

    expect(await result).toBe(7);
  });

  test("is refused inside a handler that it would wait for", async () => {
    await using mill = await openMillrace(`sqlite:${join(folder, "jobs.db")}`);
    const closing = number.run(() =>
      mill.close().then(
        () => "closed",
        (error: unknown) => (error instanceof MillraceError ? error.code : "?"),
      ),
    );
    await mill.work({ jobs: [closing] }).ready;

    expect(await mill.result(await mill.enqueue(closing, 1))).toBe("CLOSE_FROM_WITHIN");
  });

  test("is fine inside a handler for a mill that the handler opened itself", async () => {
    const url = `sqlite:${join(folder, "jobs.db")}`;
    await using mill = await openMillrace(url);
    const visiting = number.run(async (value) => {
      await using own = await openMillrace(url);
      await own.jobs.list();
      return value;
    });
    await mill.work({ jobs: [visiting] }).ready;

    expect(await mill.result(await mill.enqueue(visiting, 3))).toBe(3);
  });
});

function sharedNames(): string[] {
  const shared: unknown = Reflect.get(globalThis, Symbol.for("millrace.instances"));
  return shared instanceof Map ? [...shared.keys()] : [];
}
