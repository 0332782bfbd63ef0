import { describe, expect, test } from "vitest";
import { crashedOnce, workerInfo } from "../../../test/support/factories.ts";
import { add, takeOne } from "../../../test/support/steps.ts";
import { openSqlite, type TestStore } from "../../../test/support/stores.ts";
import { crashLoopEnded } from "./crash-loop.ts";
import { HostProcess } from "./host-process.ts";

const LEASE_MS = 2_000;
const HOST = "host";

describe("a worker that begins", () => {
  test("waits while four processes of its host died early, at most 1.5 leases", async () => {
    await using world = await makeWorld();
    for (const pid of [2, 3, 4, 5]) await world.worker({ pid });

    const { logged, hasEnded } = world.begin();

    await world.db.clock.advance(LEASE_MS);
    expect([hasEnded(), logged.length]).toEqual([false, 1]);
    await world.db.clock.advance(LEASE_MS);
    expect(hasEnded()).toBe(true);
  });

  test("goes on when they are rescued", async () => {
    await using world = await makeWorld();
    for (const pid of [2, 3, 4, 5]) await world.worker({ pid });
    const { hasEnded } = world.begin();
    await world.db.clock.advance(400);
    expect(hasEnded()).toBe(false);

    const { store } = world.db;
    const [first] = await store.workers(1);
    await store.deregister(first!.id);
    const [silent] = await store.silent(1);
    await store.rescue({ worker: first!.id, beats: silent!.beats, limit: 1, decide: crashedOnce });
    await world.db.clock.advance(400);

    expect(hasEnded()).toBe(true);
  });

  test.each([
    { case: "only three died", pids: [2, 3, 4] },
    { case: "they were workers of one process", pids: [2, 2, 2, 2, 2] },
    { case: "they live", pids: [2, 3, 4, 5], alive: true },
    { case: "they died on another host", pids: [2, 3, 4, 5], host: "other" },
    { case: "they had no runs", pids: [2, 3, 4, 5], isIdle: true },
    { case: "they died after more than a lease", pids: [2, 3, 4, 5], livedMs: LEASE_MS },
  ])("begins at once if $case", async ({ pids, alive, ...death }) => {
    await using world = await makeWorld(alive);
    for (const pid of pids) await world.worker({ pid, ...death });

    const { hasEnded } = world.begin();
    await world.turns();

    expect(hasEnded()).toBe(true);
  });

  test("knows a dead worker of an earlier container by its own process id", async () => {
    await using world = await makeWorld(true);
    for (let count = 0; count < 4; count += 1) {
      await world.worker({ pid: 1 });
      await world.db.clock.advance(1_000);
    }

    const { hasEnded } = world.begin();
    await world.db.clock.advance(LEASE_MS / 2);

    expect(hasEnded()).toBe(false);
  });

  test("takes workers of other threads of its own process for living ones", async () => {
    await using world = await makeWorld(true);
    const ids: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      ids.push(await world.worker({ pid: 1 }));
      await world.db.clock.advance(1_000);
    }
    const { logged, hasEnded } = world.begin();
    await world.turns();
    for (const id of ids) await world.db.store.renew(id, LEASE_MS);

    await world.db.clock.advance(LEASE_MS / 2);

    expect([hasEnded(), logged]).toEqual([true, []]);
  });
});

interface Death {
  readonly pid: number;
  readonly host?: string;
  readonly isIdle?: boolean;
  readonly livedMs?: number;
}

async function makeWorld(areOthersAlive = false) {
  const db = await openSqlite();
  const process = new HostProcess("0".repeat(26), { pid: 1, isAlive: () => areOthersAlive });
  const turns = (): Promise<void> => db.clock.advance(0);
  return {
    db,
    turns,
    worker: (death: Death) => addWorker(db, death),
    begin() {
      const logged: string[] = [];
      const log = (message: string): void => void logged.push(message);
      const logger = { debug: log, info: log, warn: log, error: log };
      let isEnded = false;
      const { store, clock } = db;
      const isOver = (): boolean => false;
      const parts = { store, clock, logger, process, host: HOST, leaseMs: LEASE_MS, isOver };
      void crashLoopEnded(parts).then(() => (isEnded = true));
      return { logged, hasEnded: () => isEnded };
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

async function addWorker(
  { store, clock }: TestStore,
  { pid, host = HOST, isIdle = false, livedMs = 0 }: Death,
): Promise<string> {
  const info = workerInfo({ pid, host, leaseMs: LEASE_MS });
  await store.register(info);
  if (livedMs > 0) {
    await clock.advance(livedMs);
    await store.renew(info.id, LEASE_MS);
  }
  if (isIdle) return info.id;
  await add(store, {});
  await takeOne(store, { worker: info.id });
  return info.id;
}
