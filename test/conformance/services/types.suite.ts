import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import type { TypeDeclaration } from "../../../src/store/types/services.ts";
import { crashedTimes, declaration, workerId } from "../../support/factories.ts";
import { joinWorker } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

export function typesSuite(open: OpenStore): void {
  describe("declareTypes", () => {
    test("stores what a worker says about its types", async () => {
      await using db = await open();
      const { store, clock } = db;
      const worker = await joinWorker(store);
      const { limit, ...email } = declaration({
        type: "email",
        lane: "fast",
        priority: 7,
        maxAttempts: 9,
        timeoutMs: null,
        services: ["smtp", "bank"],
        payloadSchema: '{"type":"object"}',
        appVersion: "2.1.0",
      });

      const { limit: _same, ...sms } = declaration({ type: "sms" });
      await store.declareTypes(worker, [
        { ...sms, limit },
        { ...email, limit },
      ]);

      const stored = { declaredAt: clock.now(), workers: 1, declarations: 1, override: null };
      expect(await store.types()).toEqual([
        { ...email, services: ["bank", "smtp"], ...stored },
        { ...sms, ...stored },
      ]);
    });

    test("keeps who repeats a failed job and what a crash does to it", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);

      await declare(store, worker, { type: "mail", retryOwner: "supervisor" });
      await declare(store, worker, { type: "pay", onOrphan: "fail" });

      expect(await store.types()).toMatchObject([
        { type: "mail", retryOwner: "supervisor", onOrphan: "retry" },
        { type: "pay", retryOwner: "queue", onOrphan: "fail" },
      ]);
      const other = await joinWorker(store);
      await declare(store, other, { type: "pay", onOrphan: "retry" });
      expect(await store.types("pay")).toMatchObject([{ onOrphan: "retry", declarations: 2 }]);
    });

    test("keeps the declaration of the worker that joined last", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [old, young] = [await joinWorker(store), await joinWorker(store)];
      await declare(store, old, { services: ["bank", "smtp"], lane: "fast", appVersion: "1" });
      await clock.advance(1_000);

      await declare(store, young, { services: ["bank"], timeoutMs: 5_000, appVersion: "2" });

      expect(await store.types()).toMatchObject([
        {
          services: ["bank"],
          lane: "general",
          timeoutMs: 5_000,
          appVersion: "2",
          declaredAt: clock.now(),
        },
      ]);
    });

    test("leaves other types as they are", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);
      await declare(store, worker, { type: "sms", services: ["phone"] });

      await declare(store, worker, { type: "email", services: [] });

      expect(await store.types("sms")).toMatchObject([{ services: ["phone"] }]);
    });

    test("is safe to repeat", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);
      await declare(store, worker, { services: ["bank"] });
      await declare(store, worker, { services: ["bank", "bank"] });

      expect(await store.types()).toMatchObject([
        { services: ["bank"], workers: 1, declarations: 1 },
      ]);
    });

    test("counts no worker that is not registered", async () => {
      await using db = await open();
      const { store } = db;
      await joinWorker(store);
      await declare(store, workerId(), {});

      expect(await store.types()).toMatchObject([{ type: "email", workers: 0, declarations: 0 }]);
    });
  });

  describe("types", () => {
    test("answers one type, or none that was not declared", async () => {
      await using db = await open();
      const { store } = db;
      const worker = await joinWorker(store);
      await store.declareTypes(worker, [
        declaration({ type: "email" }),
        declaration({ type: "sms" }),
      ]);

      expect(await store.types("sms")).toMatchObject([{ type: "sms" }]);
      expect(await store.types("fax")).toEqual([]);
    });

    test("counts living workers that disagree, whatever their versions are", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = [await joinWorker(store), await joinWorker(store)];
      await declare(store, one, { appVersion: "1" });
      await declare(store, two, { appVersion: "2" });
      expect(await store.types()).toMatchObject([{ workers: 2, declarations: 1 }]);

      await declare(store, two, { maxAttempts: 4 });
      expect(await store.types()).toMatchObject([{ workers: 2, declarations: 2 }]);
    });

    test("counts living workers that disagree about the limit of the type", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = [await joinWorker(store), await joinWorker(store)];
      const rate = { count: 100, perMs: 60_000, burst: 10 };
      const limits = [
        null,
        { concurrency: 5, rate: null },
        { concurrency: 6, rate: null },
        { concurrency: 6, rate },
        { concurrency: 6, rate: { ...rate, burst: 20 } },
      ];
      for (const limit of limits) {
        await declare(store, one, { limit });
        expect(await store.types()).toMatchObject([{ declarations: limit === null ? 1 : 2 }]);
        await declare(store, two, { limit });
        expect(await store.types()).toMatchObject([{ workers: 2, declarations: 1 }]);
      }
    });

    test("forgets a worker that has left, died or was rescued", async () => {
      await using db = await open();
      const { store, clock } = db;
      const left = await joinWorker(store);
      const silent = await joinWorker(store, { leaseMs: 1_000 });
      await declare(store, left, { maxAttempts: 3 });
      await declare(store, silent, { maxAttempts: 4 });

      await store.deregister(left);
      expect(await store.types()).toMatchObject([{ workers: 1, declarations: 1 }]);

      await clock.advance(2_000);
      expect(await store.types()).toMatchObject([{ workers: 0, declarations: 0 }]);

      const decide = () => crashedTimes(1);
      await store.rescue({ worker: silent, beats: 0, limit: 10, decide });
      await joinWorker(store, { id: silent });
      expect(await store.types()).toMatchObject([{ maxAttempts: 4, workers: 0 }]);
    });
  });
}

function declare(
  store: JobStore,
  worker: string,
  overrides: Partial<TypeDeclaration>,
): Promise<void> {
  return store.declareTypes(worker, [declaration(overrides)]);
}
