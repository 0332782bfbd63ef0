/** A store whose least protocol a newer release has raised, while its schema is known. */
import { describe, expect, test } from "vitest";
import { PROTOCOL } from "../../../src/store/store.ts";
import { completed, newJob } from "../../support/factories.ts";
import { add, at, settleItem, stateOf, take } from "../../support/steps.ts";
import type { OpenedPast, OpenPast } from "../doctor/past-the-store.ts";

const REFUSED = {
  code: "STORE_NEWER",
  message: expect.stringMatching(`protocol ${PROTOCOL + 1} is required.* speaks ${PROTOCOL}`),
};

/** Each kind of job has statements of its own. */
const JOBS = [
  ["a job", {}],
  ["a job with a dedup key", { dedup: { key: "one", onConflict: "skip" } }],
  ["a job with an idempotency key", { idempotency: { key: "one", onConflict: "error" } }],
] as const;

export function protocolSuite(open: OpenPast): void {
  describe("a store that requires a newer protocol", () => {
    test("is not opened", async () => {
      await using db = await open();

      await whileRaised(db, async () => {
        await expect(db.another()).rejects.toMatchObject(REFUSED);
      });
    });

    test.each(JOBS)("refuses %s of a producer that is open already", async (_, spec) => {
      await using db = await open();
      const { store } = db;

      await whileRaised(db, async () => {
        const [one, two, other] = [newJob(spec), newJob(spec), newJob({ priority: 1 })];
        await expect(store.enqueue([one])).rejects.toMatchObject(REFUSED);
        await expect(store.enqueue([two, other])).rejects.toMatchObject(REFUSED);
      });

      expect((await store.count({}, 10)).count).toBe(0);
    });

    test.each(JOBS)("accepts the end of a run with %s as its child", async (_, spec) => {
      await using db = await open();
      const { store } = db;
      const [parent] = await add(store, {});
      const batch = await take(store);
      const child = newJob({ ...spec, parentId: parent });
      const item = settleItem(batch, at(batch.jobs, 0), completed());

      await whileRaised(db, async () => {
        expect(await store.settle([{ ...item, children: [child] }])).toEqual(["settled"]);
      });

      expect(await stateOf(store, child.id)).toBe("queued");
    });
  });
}

/** The tables of a test on PostgreSQL serve the next test, so the old value comes back. */
async function whileRaised(db: OpenedPast, work: () => Promise<void>): Promise<void> {
  const set = (protocol: number): Promise<void> =>
    db.run(`UPDATE {meta} SET value = '${protocol}' WHERE name = 'min_protocol'`);
  await set(PROTOCOL + 1);
  try {
    await work();
  } finally {
    await set(PROTOCOL);
  }
}
