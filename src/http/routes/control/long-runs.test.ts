import { describe, expect, test } from "vitest";
import { newJobs } from "../../../../test/support/factories.ts";
import { jsonOf, openServer, type TestServer } from "../../../../test/support/http/http-server.ts";
import { add, take } from "../../../../test/support/steps.ts";
import { virtualClock } from "../../../../test/support/virtual-clock.ts";
import { defineJob, NonRetryableError } from "../../../index.ts";
import { openMillrace } from "../../../open.ts";
import { makeSqliteStore } from "../../../store/sqlite/create.ts";

const MINUTE = 60_000;

describe("GET /api/v1/running", () => {
  test("lists the ten longest runs, longest first", async () => {
    await using scene = await openScene();
    const { store, clock, server } = scene;
    const started: string[] = [];
    for (let n = 0; n < 12; n += 1) {
      const [id] = await add(store, { priority: n === 0 ? 0 : 100 });
      await take(store, { limit: 1 });
      started.push(id);
      await clock.advance(1_000);
    }
    await add(store, {});

    const { runs, cutShort } = await read(server);

    expect(runs.map(({ job }) => job.id)).toEqual(started.slice(0, 10));
    expect(cutShort).toBe(false);
  });

  test("looks for long runs behind a thousand newer jobs, and says what it may miss", async () => {
    await using scene = await openScene();
    const { store, clock, server } = scene;
    const [old] = await add(store, {});
    await take(store, { limit: 1 });
    await clock.advance(10 * MINUTE);
    await store.enqueue(newJobs(1_100));
    for (let taken = 0; taken < 1_100;) taken += (await take(store, { limit: 550 })).jobs.length;

    const { runs, cutShort } = await read(server);

    expect(runs[0]?.job.id).toBe(old);
    expect(runs).toHaveLength(10);
    expect(cutShort).toBe(true);
  });

  test("counts the units of each job, and names its phase", async () => {
    await using server = await openServer();
    const { promise, resolve } = Promise.withResolvers<void>();
    const isThird = Promise.withResolvers<void>();
    const publish = defineJob({ type: "publish" }).phase("upload", (_, ctx) =>
      ctx.each(
        ["one", "two", "three", "four"],
        (key) => key,
        async (key) => {
          if (key === "two") throw new NonRetryableError("no such page");
          if (key !== "three") return;
          isThird.resolve();
          await promise;
        },
        { concurrency: 1 },
      ),
    );
    await server.mill.enqueue(publish);
    await using worker = server.mill.work({ jobs: [publish], signals: false });
    await worker.ready;
    await isThird.promise;

    await expect
      .poll(async () => (await read(server)).runs)
      .toMatchObject([
        {
          job: { type: "publish", phase: "upload", state: "running" },
          units: { total: 4, completed: 1, failed: 1, running: 1, planned: 1 },
        },
      ]);
    resolve();
  });

  test("shows a caller of one tenant its own jobs alone", async () => {
    await using scene = await openScene();
    const { store, server } = scene;
    const [own] = await add(store, { tenant: "acme" }, { tenant: "globex" });
    await take(store, { limit: 2 });
    const viewer = { kind: "person", name: "ada", roles: ["viewer"], tenant: "acme" } as const;
    const { secret } = await server.mill.tokens.create(viewer);

    const { runs } = await read(server, { authorization: `Bearer ${secret}` });

    expect(runs.map(({ job }) => job.id)).toEqual([own]);
  });
});

/** A server whose store has a clock that the test moves. */
async function openScene() {
  const clock = virtualClock();
  const store = makeSqliteStore({ path: ":memory:" }, { clock });
  const server = await openServer({ mill: await openMillrace(store) });
  return { clock, store, server, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

interface LongRuns {
  readonly runs: readonly { readonly job: { readonly id: string } }[];
  readonly cutShort: boolean;
}

async function read(
  server: TestServer,
  headers: Readonly<Record<string, string>> | null = null,
): Promise<LongRuns> {
  const caller = headers === null ? {} : ({ as: "anonymous", headers } as const);
  const response = await server.ask("/api/v1/running", caller);
  expect(response.status).toBe(200);
  return jsonOf<LongRuns>(response);
}
