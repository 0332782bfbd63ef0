import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import { COUNT_CANDIDATES_MAX } from "../../../src/store/shared/lists/bounds.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { ListFilter } from "../../../src/store/types/lists.ts";
import { failedWith, newJob, newJobs, runAgain } from "../../support/factories.ts";
import { add, runOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

/** More candidates than one page reads. */
const CROWD = 17_000;
const CALL_MAX = 1_000;

export function listContentSuite(open: OpenStore): void {
  describe("list by lane, error and payload", () => {
    test("filters by the lane that a job was enqueued for", async () => {
      await using db = await open();
      const { store } = db;
      const [slow, other] = await add(store, { lane: "slow" }, { lane: "slower" }, {});

      expect(await idsOf(store, { lane: "slow" })).toEqual([slow]);
      expect(await idsOf(store, { lane: "slower", type: "email" })).toEqual([other]);
      expect(await idsOf(store, { lane: "unheard" })).toEqual([]);
      expect((await store.count({ lane: "slow" }, 10)).count).toBe(1);
    });

    test("finds a part of the message, the name or the class of the last error", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { priority: 1 });
      const id = await runOne(store, failedWith(REFUSED));
      await add(store, { priority: 1 });
      await runOne(store, failedWith({ class: "transient", name: "Error", message: "100% full" }));
      await add(store, {});

      for (const error of ["connection REFUSED", "dbE", "NON_RETRY", "“ÄÖ”"]) {
        expect({ error, ids: await idsOf(store, { error }) }).toEqual({ error, ids: [id] });
        expect({ error, count: (await store.count({ error }, 10)).count }).toEqual({
          error,
          count: 1,
        });
      }
      // Only letters from A to Z are equal to others, and no letter stands for any other.
      for (const error of ["“äö”", "refused%", "connection_refused", "connection refused 5"]) {
        expect({ error, ids: await idsOf(store, { error }) }).toEqual({ error, ids: [] });
      }
    });

    test("looks at the last error alone", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const first = { class: "transient", name: "Error", message: "first" } as const;
      await runOne(store, { ...runAgain(), outcome: "failed", tries: 1, fault: first });
      expect(await idsOf(store, { error: "first" })).toEqual([id]);

      await runOne(store, failedWith({ ...first, message: "second" }));

      expect(await idsOf(store, { error: "first" })).toEqual([]);
      expect(await idsOf(store, { error: "second" })).toEqual([id]);
    });

    test.each<[string, string]>([
      ["user.id", "42"],
      ["user.name", 'Ada "A" Ö'],
      ["big", "12345678901234567890"],
      ["price", "1.50"],
      ["far", "1e+21"],
      ["on", "true"],
      ["none", "null"],
      ["empty", ""],
      ["items.1.sku", "b"],
      ["items.10", "last"],
      ["byNumber.1", "one"],
      ['odd"key\\.ü', "yes"],
      ["a..b", "hole"],
    ])("finds the scalar at %s", async (path, text) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { payload: PAYLOAD }, { payload: "[1]" }, { payload: '"42"' });
      await add(store, {});

      expect(await idsOf(store, { payload: { [path]: text } })).toEqual([id]);
      expect((await store.count({ payload: { [path]: text } }, 10)).count).toBe(1);
      expect(await idsOf(store, { payload: { [path]: `${text}x` } })).toEqual([]);
    });

    test.each<[string, string]>([
      ["user", '{"id":42,"name":"Ada \\"A\\" Ö"}'],
      ["user", '{ "id": 42, "name": "Ada \\"A\\" Ö" }'],
      ["user.ID", "42"],
      ["user.id.0", "42"],
      ["id", "42"],
      ["big", "12345678901234567891"],
      ["price", "1.5"],
      ["items.-1", "last"],
      ["items.01.sku", "b"],
      ["items.99999999999", "b"],
      ["items.sku", "b"],
      ["missing", "null"],
      ["none.more", "null"],
      ["on", "1"],
    ])("finds no job by %s = %s", async (path, text) => {
      await using db = await open();
      const { store } = db;
      await add(store, { payload: PAYLOAD }, {});

      expect(await idsOf(store, { payload: { [path]: text } })).toEqual([]);
      expect((await store.count({ payload: { [path]: text } }, 10)).count).toBe(0);
    });

    test("demands the text at all paths, on the same job", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(
        store,
        { payload: '{"a":1,"b":{"c":"x"}}' },
        { payload: '{"a":1,"b":{"c":"y"}}' },
        { payload: '{"a":2,"b":{"c":"x"}}' },
      );

      expect(await idsOf(store, { payload: { a: "1", "b.c": "x" } })).toEqual([id]);
      expect((await store.count({ payload: { a: "1", "b.c": "x" } }, 10)).count).toBe(1);
      expect(await idsOf(store, { payload: {} })).toHaveLength(3);
    });

    test("finds a part of the text of the payload, in the same case", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { payload: '{"to":"Ada_%"}' }, { payload: '{"to":"Bob"}' }, {});

      for (const text of ["Ada", '"to":"Ada', "_%"]) {
        expect({ text, ids: await idsOf(store, { text }) }).toEqual({ text, ids: [id] });
      }
      expect((await store.count({ text: "Ada" }, 10)).count).toBe(1);
      for (const text of ["ada", "A_a", "Ada%"]) {
        expect({ text, ids: await idsOf(store, { text }) }).toEqual({ text, ids: [] });
      }
    });

    test("reads a bounded number of jobs for a page, and says that it was cut short", async () => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, { lane: "slow", payload: '{"n":"rare"}' });
      for (let left = CROWD; left > 0; left -= CALL_MAX) {
        await store.enqueue(newJobs(CALL_MAX, { payload: '{"n":"many"}' }));
      }

      for (const filter of [{ lane: "slow" }, { payload: { n: "rare" } }, { text: "rare" }]) {
        const first = await store.list(filter, { limit: 10 });
        expect(first).toMatchObject({ jobs: [], isCutShort: true });
        const second = await store.list(filter, { limit: 10, after: first.next! });
        expect(second).toMatchObject({ jobs: [{ id }], next: null, isCutShort: false });
      }
    });

    test("counts among a bounded number of jobs, and says that there may be more", async () => {
      await using db = await open();
      const { store } = db;
      await add(store, { lane: "slow" });
      for (let left = COUNT_CANDIDATES_MAX; left > 0; left -= CALL_MAX) {
        await store.enqueue(newJobs(Math.min(left, CALL_MAX)));
      }

      expect(await store.count({ lane: "slow" }, 10)).toEqual({ count: 0, isExact: false });
      await add(store, { lane: "slow" });
      expect(await store.count({ lane: "slow" }, 10)).toEqual({ count: 1, isExact: false });
      expect(await store.count({ lane: newJob().lane }, 10)).toEqual({ count: 10, isExact: true });
    });
  });
}

const REFUSED = {
  class: "non_retryable",
  name: "DbError",
  message: "Connection refused: “ÄÖ”",
} as const;

const PAYLOAD = `{
  "user": { "id": 42, "name": "Ada \\"A\\" Ö" },
  "big": 12345678901234567890,
  "price": 1.50,
  "far": 1e+21,
  "on": true,
  "none": null,
  "empty": "",
  "items": [{ "sku": "a" }, { "sku": "b" }, 2, 3, 4, 5, 6, 7, 8, 9, "last"],
  "byNumber": { "1": "one" },
  "odd\\"key\\\\": { "\\u00fc": "yes" },
  "a": { "": { "b": "hole" } }
}`;

async function idsOf(store: JobStore, filter: ListFilter): Promise<readonly JobId[]> {
  return (await store.list(filter, { limit: 100 })).jobs.map(({ id }) => id);
}
