import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import { retention, workerInfo } from "../../support/factories.ts";
import type { OpenStore } from "../../support/stores.ts";

const HOUR_MS = 3_600_000;
const ALWAYS = { from: 0, to: 9_000_000_000_000 };

export function deploysSuite(open: OpenStore): void {
  describe("deploys", () => {
    test("has each version when its first worker registers, newest first", async () => {
      await using db = await open();
      const { store, clock } = db;
      const first = clock.now();
      const old = await join(store, "1.0");
      await join(store, null);
      await clock.advance(1_000);
      await join(store, "1.0");
      await clock.advance(1_000);
      await join(store, "1.1");
      await join(store, "1.1");
      await store.register(old);

      expect(await store.deploys(ALWAYS, 10)).toEqual([
        { appVersion: "1.1", at: first + 2_000 },
        { appVersion: "1.0", at: first },
      ]);
      expect(await versions(store, { from: first + 1, to: first + 2_001 })).toEqual(["1.1"]);
      expect(await versions(store, { from: first, to: first + 2_000 })).toEqual(["1.0"]);
      expect((await store.deploys(ALWAYS, 1)).map(({ appVersion }) => appVersion)).toEqual(["1.1"]);
    });

    test("has a version again when it comes back, not while a worker of it is left", async () => {
      await using db = await open();
      const { store } = db;
      const old = await join(store, "1.0");
      const other = await join(store, "1.1");
      await join(store, "1.0");
      expect(await versions(store)).toEqual(["1.1", "1.0"]);

      for (const { id } of await store.workers(10)) await store.deregister(id);
      await join(store, "1.1");
      expect(await versions(store)).toEqual(["1.1", "1.0"]);
      await store.deregister(other.id);
      await join(store, "1.0");
      await store.register(old);

      expect(await versions(store)).toEqual(["1.0", "1.1", "1.0"]);
    });

    test("has a version once when many workers register at the same time", async () => {
      await using db = await open();
      const { store } = db;

      const names = ["1.0", "1.1", "1.0", "1.1", "1.0", "1.1", "1.0", "1.1"];
      await Promise.all(names.map((name) => join(store, name)));

      expect((await versions(store)).toSorted()).toEqual(["1.0", "1.1"]);
    });

    test("loses old versions with the minutes, but not the newest", async () => {
      await using db = await open();
      const { store, clock } = db;
      for (const name of ["1.0", "1.1", "1.2"]) await join(store, name);
      const rules = retention({ minutesMs: HOUR_MS });

      await clock.advance(HOUR_MS - 1);
      await store.prune(rules, 100);
      expect(await versions(store)).toHaveLength(3);
      await clock.advance(1);
      expect(await store.prune(rules, 1)).toMatchObject({ more: true });
      expect(await versions(store)).toHaveLength(2);
      await store.prune(rules, 100);

      expect(await versions(store)).toEqual(["1.2"]);
    });
  });
}

async function join(store: JobStore, appVersion: string | null) {
  const worker = workerInfo({ appVersion });
  await store.register(worker);
  return worker;
}

async function versions(store: JobStore, stretch = ALWAYS): Promise<readonly string[]> {
  return (await store.deploys(stretch, 100)).map(({ appVersion }) => appVersion);
}
