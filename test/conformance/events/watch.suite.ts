import { describe, expect, test } from "vitest";
import type { JobStore, WakeUp } from "../../../src/store/store.ts";
import { completed, runAgain } from "../../support/factories.ts";
import { add, settleAll, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

const GATE = { kind: "type", name: "email" } as const;
const WHY = { reason: "maintenance", by: null } as const;

export function watchSuite(open: OpenStore): void {
  describe("watch", () => {
    test("calls after an enqueue through this handle", async () => {
      await using db = await open();
      const { store, clock } = db;
      const called = nextCall(store);

      await add(store, {});

      await expect(reached(called, clock)).resolves.toBe("called");
    });

    test("calls after an enqueue by another process", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      const called = nextCall(store);

      await add(other, {});

      await expect(reached(called, clock)).resolves.toBe("called");
    });

    test("says that a job may be final after another process has settled it", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      const heard = nextCall(store);
      await add(other, {});
      const batch = await take(other);
      await reached(heard, clock);
      const final = new Promise<"called">((resolve) => {
        store.watch((wakeUp) => {
          if (wakeUp === "final" || wakeUp === "work") resolve("called");
        });
      });

      await settleAll(other, batch, completed());

      await expect(reached(final, clock)).resolves.toBe("called");
    });

    test("says that a job may be final to this process, too", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, {});
      const batch = await take(store);
      const wakeUps: WakeUp[] = [];
      store.watch((wakeUp) => wakeUps.push(wakeUp));

      await settleAll(store, batch, completed());

      expect(wakeUps).toContain("final");
    });

    test("calls every listener", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [one, two] = [nextCall(store), nextCall(store)];

      await add(store, {});

      await expect(reached(one, clock)).resolves.toBe("called");
      await expect(reached(two, clock)).resolves.toBe("called");
    });

    test("calls after jobs fell due", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, { due: { delayMs: 10 } });
      await clock.advance(10_000);
      const called = nextCall(store);

      await store.promote(10);

      await expect(reached(called, clock)).resolves.toBe("called");
    });

    test("calls after a job is to run again at once", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      const batch = await take(store);
      await clock.advance(10_000);
      const called = nextCall(store);

      await settleAll(store, batch, runAgain());

      await expect(reached(called, clock)).resolves.toBe("called");
    });

    test("calls after jobs were handed back", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      const batch = await take(store, { prefetch: true });
      await clock.advance(10_000);
      const called = nextCall(store);

      await store.returnPrefetched(
        batch.lease,
        batch.jobs.map((job) => job.key),
      );

      await expect(reached(called, clock)).resolves.toBe("called");
    });

    test("calls after a gate was opened", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await store.pause(GATE, WHY);
      await clock.advance(10_000);
      const called = nextCall(store);

      await store.resume(GATE);

      await expect(reached(called, clock)).resolves.toBe("called");
    });

    test("calls after held jobs were released", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {});
      await store.pause(GATE, WHY);
      await store.hold(10);
      await store.resume(GATE);
      await clock.advance(10_000);
      const called = nextCall(store);

      await store.release(10);

      await expect(reached(called, clock)).resolves.toBe("called");
    });

    test("no longer calls a listener that was called off", async () => {
      await using db = await open();
      const { store, clock } = db;
      const other = await db.another();
      let calls = 0;
      const off = store.watch(() => (calls += 1));
      off();

      for (const handle of [store, other]) {
        const called = nextCall(store);
        await add(handle, {});
        await reached(called, clock);
      }

      expect(calls).toBe(0);
    });

    test("is not disturbed by a listener that throws", async () => {
      await using db = await open();
      const { store, clock } = db;
      store.watch(() => {
        throw new Error("a listener's own fault");
      });
      const called = nextCall(store);

      await add(store, {});

      await expect(reached(called, clock)).resolves.toBe("called");
      await add(store, {});
    });
  });
}

/** Resolves with the next call of a listener, which is then called off. */
function nextCall(store: JobStore): Promise<"called"> {
  return new Promise((resolve) => {
    const off = store.watch(() => {
      off();
      resolve("called");
    });
  });
}

/** Lets time pass in small steps, in which a store may look for news, and waits for the call. */
async function reached(called: Promise<"called">, clock: VirtualClock): Promise<"called"> {
  for (let step = 0; step < 50; step += 1) await clock.advance(100);
  return called;
}
