import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import {
  OPERATION_KEPT_MS,
  OPERATION_LEASE_MS,
  OPERATIONS_OPEN_MAX,
  OPERATIONS_RUNNING_MAX,
  OPERATIONS_TENANT_MAX,
  type ChunkItem,
  type OperationChunk,
  type OperationRecord,
} from "../../../src/store/types/operations.ts";
import { jobId, newOperation, retention } from "../../support/factories.ts";
import { add, addDead } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const [ONE, TWO] = ["runner-1", "runner-2"];

async function begun(
  store: JobStore,
  plan: Parameters<typeof newOperation>[0] = {},
  overrides: Parameters<typeof newOperation>[1] = {},
): Promise<OperationRecord> {
  const { id } = await store.startOperation(newOperation(plan, overrides));
  const held = await store.claimOperations(ONE);
  return held.find((each) => each.id === id)!;
}

function chunkOf(
  { cursor }: OperationRecord,
  ids: readonly JobId[],
  more: Partial<OperationChunk> = {},
): OperationChunk {
  const items = ids.map((id): ChunkItem => ({ id }));
  return { runner: ONE, from: cursor, to: null, items, idempotencyMs: 0, ...more };
}

export function operationsSuite(open: OpenStore): void {
  describe("startOperation", () => {
    test("stores an operation that begins below the next job", async () => {
      await using db = await open();
      const { store, clock } = db;
      await add(store, {}, {});
      const { jobs } = await store.list({}, { limit: 1 });
      const given = newOperation({ jobs: { type: "email" } }, { expected: 7 });

      const stored = await store.startOperation(given);

      expect(stored).toMatchObject({
        ...given,
        status: "pending",
        cursor: String(jobs[0]!.key + 1),
        items: 0,
        done: 0,
        failed: 0,
        skipped: {},
        createdAt: clock.now(),
        startedAt: null,
        finishedAt: null,
        nextMs: 0,
      });
      expect(await store.operation(given.id)).toEqual(stored);
      expect(await store.operation(jobId())).toBeNull();
    });

    test("stores a walk over letters that begins behind the newest letter", async () => {
      await using db = await open();
      const { store, clock } = db;
      const plan = { action: "discard", deadLetters: { type: "email" } } as const;
      const cursor = async (): Promise<string> =>
        (await store.startOperation(newOperation(plan))).cursor;
      expect(await cursor()).toBe(String(clock.now() + 1));
      await addDead(store, {});
      const diedAt = clock.now();
      await clock.advance(5);
      expect(await cursor()).toBe(String(clock.now() + 1));
      clock.setBack(60_000);

      expect(await cursor()).toBe(String(diedAt + 1));
    });

    test("answers the first one to a repeat with the same id", async () => {
      await using db = await open();
      const { store } = db;
      const given = newOperation();
      const stored = await store.startOperation(given);

      expect(await store.startOperation({ ...given, reason: "another" })).toEqual(stored);
    });

    test("refuses more open operations than the maximum", async () => {
      await using db = await open();
      const { store } = db;
      const started: OperationRecord[] = [];
      for (let n = 0; n < OPERATIONS_OPEN_MAX; n += 1) {
        started.push(await store.startOperation(newOperation()));
      }
      const refusal = { code: "OPERATIONS_TOO_MANY" };
      await expect(store.startOperation(newOperation())).rejects.toMatchObject(refusal);

      await store.stopOperation(started[0]!.id, "ada");
      expect(await store.startOperation(newOperation())).toMatchObject({ status: "pending" });
    });
  });

  describe("operations of tenants", () => {
    test("count for their tenant alone", async () => {
      await using db = await open();
      const { store } = db;
      for (let n = 0; n < OPERATIONS_TENANT_MAX; n += 1) {
        await store.startOperation(newOperation({}, { tenant: "acme" }));
      }
      const one = (tenant: string | null): Promise<OperationRecord> =>
        store.startOperation(newOperation({}, { tenant }));

      await expect(one("acme")).rejects.toMatchObject({
        code: "OPERATIONS_TOO_MANY",
        message: expect.stringContaining("acme"),
      });
      expect(await one("other")).toMatchObject({ status: "pending" });
      expect(await one(null)).toMatchObject({ status: "pending" });
    });
  });

  describe("operation", () => {
    test("answers one operation, or null", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two] = [newOperation(), newOperation({}, { reason: "another" })];
      for (const each of [one, two]) await store.startOperation(each);

      expect(await store.operation(two.id)).toMatchObject({ id: two.id, reason: "another" });
      expect(await store.operation(jobId())).toBeNull();
    });
  });

  describe("claimOperations", () => {
    test("gives an operation to one runner, and to another one after the lease", async () => {
      await using db = await open();
      const { store, clock } = db;
      const { id } = await store.startOperation(newOperation());

      expect(await store.claimOperations(ONE)).toMatchObject([
        { id, status: "running", startedAt: clock.now() },
      ]);
      expect(await store.claimOperations(TWO)).toEqual([]);
      expect(await store.claimOperations(ONE)).toMatchObject([{ id }]);
      await clock.advance(OPERATION_LEASE_MS);
      expect(await store.claimOperations(TWO)).toMatchObject([{ id }]);
      expect(await store.claimOperations(ONE)).toEqual([]);
    });

    test("lets those run whose chunk is due first, up to the maximum", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids: string[] = [];
      for (let n = 0; n <= OPERATIONS_RUNNING_MAX; n += 1) {
        ids.push((await store.startOperation(newOperation())).id);
        await clock.advance(1);
      }
      const held = async (): Promise<readonly string[]> =>
        (await store.claimOperations(ONE)).map(({ id }) => id).toSorted();

      expect(await held()).toEqual(ids.slice(0, OPERATIONS_RUNNING_MAX).toSorted());
      expect(await store.operation(ids.at(-1)!)).toMatchObject({ status: "pending" });
      await store.stopOperation(ids[0]!, "ada");
      expect(await held()).toEqual(ids.slice(1).toSorted());
    });

    test("lets an operation begin beside slow ones that wait for their rate", async () => {
      await using db = await open();
      const { store, clock } = db;
      for (let n = 0; n < OPERATIONS_RUNNING_MAX; n += 1) {
        const slow = await begun(store, {}, { rate: 1 / 60 });
        const items = [jobId(), jobId()].map((id): ChunkItem => ({ id }));
        await store.applyChunk(slow.id, { ...chunkOf(slow, []), items, to: "next" });
      }
      await clock.advance(10);
      const { id } = await store.startOperation(newOperation());

      expect(await store.claimOperations(TWO)).toMatchObject([{ id }]);
    });

    test("leaves operations that have ended alone", async () => {
      await using db = await open();
      const { store } = db;
      const operation = await begun(store);
      await store.applyChunk(operation.id, chunkOf(operation, []));

      expect(await store.claimOperations(ONE)).toEqual([]);
    });
  });

  describe("applyChunk", () => {
    test("changes the items, stores what became of them, and moves the cursor", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {}, {});
      const operation = await begun(store);

      const answer = await store.applyChunk(
        operation.id,
        chunkOf(operation, [...ids, jobId()], { to: "next" }),
      );

      expect(answer).toMatchObject({
        status: "applied",
        operation: {
          status: "running",
          cursor: "next",
          items: 3,
          done: 2,
          skipped: { unknown: 1 },
        },
      });
      expect(await store.operationItems(operation.id, { after: 0, limit: 10 })).toMatchObject([
        { n: 1, id: ids[0], outcome: "done", code: null, successor: null },
        { n: 2, id: ids[1], outcome: "done" },
        { n: 3, outcome: "skipped", code: "unknown" },
      ]);
      expect(await store.get(ids[0])).toMatchObject({ state: "cancelled" });
      expect((await store.get(ids[0]))?.cancelReason).toContain(operation.id);
    });

    test("is applied once, for the runner that holds the operation at this cursor", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {}, {});
      const operation = await begun(store);
      const first = chunkOf(operation, [ids[0]], { to: "next" });
      const moved = { status: "moved" };

      expect(await store.applyChunk(operation.id, { ...first, runner: TWO })).toEqual(moved);
      expect(await store.applyChunk(operation.id, { ...first, from: "other" })).toEqual(moved);
      expect(await store.applyChunk(jobId(), first)).toEqual(moved);
      expect(await store.applyChunk(operation.id, first)).toMatchObject({ status: "applied" });
      expect(await store.applyChunk(operation.id, first)).toEqual(moved);

      await clock.advance(2 * OPERATION_LEASE_MS);
      await store.claimOperations(TWO);
      const late = { ...first, from: "next", items: [{ id: ids[1] }] };
      expect(await store.applyChunk(operation.id, late)).toEqual(moved);
      expect(await store.get(ids[1])).toMatchObject({ state: "queued" });
      expect(await store.operation(operation.id)).toMatchObject({ items: 1, done: 1 });
    });

    test("of two runners at the same cursor, one is applied", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {});
      const operation = await begun(store);
      const chunk = chunkOf(operation, ids, { to: "next" });

      const answers = await Promise.all([
        store.applyChunk(operation.id, chunk),
        store.applyChunk(operation.id, chunk),
      ]);

      expect(answers.map(({ status }) => status).toSorted()).toEqual(["applied", "moved"]);
      expect(await store.operationItems(operation.id, { after: 0, limit: 10 })).toHaveLength(1);
    });

    test("completes the operation with the last chunk", async () => {
      await using db = await open();
      const { store, clock } = db;
      const operation = await begun(store);

      const answer = await store.applyChunk(operation.id, chunkOf(operation, []));

      const end = { status: "completed", finishedAt: clock.now() };
      expect(answer).toMatchObject({ status: "applied", operation: end });
      expect(await store.applyChunk(operation.id, chunkOf(operation, []))).toMatchObject({
        status: "moved",
      });
    });

    test("lets the next chunk begin when the rate has paid for the items", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, ...Array.from({ length: 20 }, () => ({})));
      const operation = await begun(store, {}, { rate: 10 });

      const apply = async (from: string, part: readonly JobId[]): Promise<number> => {
        const chunk = chunkOf(operation, part, { from, to: `${from}1` });
        const answer = await store.applyChunk(operation.id, chunk);
        return answer.status === "applied" ? answer.operation.nextMs : Number.NaN;
      };

      // The first second is paid for.
      expect(await apply(operation.cursor, ids.slice(0, 10))).toBe(0);
      expect(await apply(`${operation.cursor}1`, ids.slice(10, 15))).toBe(500);
      await clock.advance(200);
      expect(await store.operation(operation.id)).toMatchObject({ nextMs: 300 });
      // Another runner waits as well.
      await clock.advance(300 + OPERATION_LEASE_MS);
      const [taken] = await store.claimOperations(TWO);
      expect(taken).toMatchObject({ nextMs: 0, cursor: `${operation.cursor}11` });
    });

    test("does not pass an item that the runner has decided about to the action", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {}, {}, {});
      const operation = await begun(store);
      const items = [
        { id: ids[0], skip: "nothing_to_retry" },
        { id: ids[1] },
        { id: ids[2], fail: "STORE_REFUSED" },
      ];

      await store.applyChunk(operation.id, chunkOf(operation, [], { items, to: "next" }));

      expect(await store.operation(operation.id)).toMatchObject({
        items: 3,
        done: 1,
        failed: 1,
        skipped: { nothing_to_retry: 1 },
      });
      expect(await store.get(ids[0])).toMatchObject({ state: "queued" });
      expect(await store.get(ids[2])).toMatchObject({ state: "queued" });
      const failed = { after: 0, limit: 10, outcome: "failed" } as const;
      expect(await store.operationItems(operation.id, failed)).toMatchObject([
        { n: 3, id: ids[2], code: "STORE_REFUSED" },
      ]);
    });

    test("skips a job that has left the states of the filter", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await add(store, {}, { due: { delayMs: 1_000 } });
      const operation = await begun(store, { jobs: { states: ["scheduled"] } });

      await store.applyChunk(operation.id, chunkOf(operation, ids));

      expect(await store.operation(operation.id)).toMatchObject({ done: 1, skipped: { state: 1 } });
      expect(await store.get(ids[0])).toMatchObject({ state: "queued" });
    });
  });

  describe("stopOperation", () => {
    test("ends an operation before its next chunk", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = await add(store, {});
      const operation = await begun(store);

      const stopped = await store.stopOperation(operation.id, "grace");

      const end = { status: "stopped", stoppedBy: "grace", finishedAt: clock.now() };
      expect(stopped).toMatchObject(end);
      expect(await store.applyChunk(operation.id, chunkOf(operation, ids))).toEqual({
        status: "moved",
      });
      expect(await store.get(ids[0])).toMatchObject({ state: "queued" });
      expect(await store.stopOperation(operation.id, "ada")).toMatchObject(end);
      expect(await store.stopOperation(jobId(), "ada")).toBeNull();
    });
  });

  describe("failOperation", () => {
    test("ends an operation for the runner that holds it", async () => {
      await using db = await open();
      const { store } = db;
      const { id } = await begun(store);
      const error = { name: "Error", message: "no space" };

      expect(await store.failOperation(id, TWO, error)).toBe(false);
      expect(await store.failOperation(id, ONE, error)).toBe(true);
      expect(await store.operation(id)).toMatchObject({ status: "failed", error });
      expect(await store.failOperation(id, ONE, error)).toBe(false);
    });
  });

  describe("operations", () => {
    test("lists pages, newest first, by status and tenant", async () => {
      await using db = await open();
      const { store } = db;
      const first = await store.startOperation(newOperation());
      const second = await store.startOperation(newOperation({}, { tenant: "acme" }));
      await store.stopOperation(first.id, "ada");
      const [newest, oldest] = [first.id, second.id].toSorted().toReversed();

      const all = await store.operations({}, { limit: 10 });
      expect(all.map(({ id }) => id)).toEqual([newest, oldest]);
      expect(await store.operations({}, { limit: 1 })).toMatchObject([{ id: newest }]);
      const page = { limit: 10, after: newest! };
      expect(await store.operations({}, page)).toMatchObject([{ id: oldest }]);
      expect(await store.operations({ status: "stopped" }, { limit: 10 })).toMatchObject([
        { id: first.id },
      ]);
      expect(await store.operations({ tenant: "acme" }, { limit: 10 })).toMatchObject([
        { id: second.id },
      ]);
    });
  });

  describe("operationItems", () => {
    test("lists pages in the order of the walk", async () => {
      await using db = await open();
      const { store } = db;
      const operation = await begun(store);
      const ids = [jobId(), jobId(), jobId()];
      await store.applyChunk(operation.id, chunkOf(operation, ids));

      const page = await store.operationItems(operation.id, { after: 1, limit: 1 });
      expect(page).toMatchObject([{ n: 2, id: ids[1] }]);
      expect(await store.operationItems(jobId(), { after: 0, limit: 10 })).toEqual([]);
    });
  });

  describe("prune", () => {
    test("removes operations and their items 30 days after their end", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ended = await begun(store);
      await store.applyChunk(ended.id, chunkOf(ended, [jobId(), jobId()]));
      const running = await begun(store);
      await clock.advance(OPERATION_KEPT_MS);
      await store.prune(retention(), 100);
      expect(await store.operation(ended.id)).not.toBeNull();

      await clock.advance(1);
      await store.prune(retention(), 1);
      expect(await store.operation(ended.id)).not.toBeNull();
      await store.prune(retention(), 100);

      expect(await store.operation(ended.id)).toBeNull();
      expect(await store.operationItems(ended.id, { after: 0, limit: 10 })).toEqual([]);
      expect(await store.operation(running.id)).not.toBeNull();
    });
  });
}
