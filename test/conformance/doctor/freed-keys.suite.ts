/** Dedup keys whose holders were deleted past the store. Such a key is free. */
import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { JobKey, NewJob } from "../../../src/store/types/jobs-and-runs.ts";
import { completed, newJob, newJobs } from "../../support/factories.ts";
import { done, runNote } from "../../support/notes.ts";
import {
  add,
  addDead,
  ask,
  at,
  recordOf,
  settleItem,
  stateOf,
  take,
  warningsOf,
} from "../../support/steps.ts";
import type { OpenedPast, OpenPast } from "./past-the-store.ts";

const POLICIES = ["skip", "replace", "extend"] as const;
const DEDUP = { key: "site-1", onConflict: "skip" } as const;
const LATER = { delayMs: 3_600_000 };

export function freedKeysSuite(open: OpenPast): void {
  describe("dedup key of a job without a row", () => {
    test.each(POLICIES)(
      "goes to the next job with the key (%s), with a warning",
      async (policy) => {
        await using db = await open();
        const { store } = db;
        const warnings = warningsOf(store);
        const deleted = await deletedHolder(db, { dedup: DEDUP });
        const [before, after] = newJobs(2);
        const next = newJob({ dedup: { ...DEDUP, onConflict: policy } });

        const answers = await store.enqueue([before!, next, after!]);
        const repeat = await ask(store, { dedup: DEDUP });

        expect(answers.map(({ status }) => status)).toEqual(["created", "created", "created"]);
        expect(repeat).toMatchObject({ status: "existing", id: next.id, by: "dedup" });
        expect(warnings).toEqual([
          expect.stringMatching(`dedup key of .* key ${deleted}, .* doctor --fix`),
        ]);
        expect(await db.count("dedup")).toBe(1);
      },
    );

    test("goes to the first of two jobs of one call", async () => {
      await using db = await open();
      const { store } = db;
      await deletedHolder(db, { dedup: DEDUP });
      const [held] = await add(store, { dedup: { ...DEDUP, key: "site-2" }, due: LATER });
      const first = newJob({ dedup: DEDUP });
      const other = newJob({ dedup: { ...DEDUP, key: "site-2" } });

      const answers = await store.enqueue([first, other, newJob({ dedup: DEDUP })]);

      expect(answers).toMatchObject([
        { status: "created", id: first.id },
        { status: "existing", id: held },
        { status: "existing", id: first.id },
      ]);
    });

    test("is freed for a successor, together with the row of the deleted successor", async () => {
      await using db = await open();
      const { store } = db;
      const [retryOf] = await addDead(store, { dedup: DEDUP });
      await deletedHolder(db, { retryOf, dedup: DEDUP });

      const successor = await ask(store, { retryOf, dedup: DEDUP });

      expect(successor.status).toBe("created");
      expect(await ask(store, { retryOf })).toMatchObject({ by: "successor" });
    });

    test("goes to a child, and the run and its neighbours are settled", async () => {
      await using db = await open();
      const { store } = db;
      const { batch, child } = await parents(db);

      const answers = await store.settle(
        batch.jobs.map((job, index) => ({
          ...settleItem(batch, job, completed()),
          children: index === 1 ? [child] : [],
        })),
      );

      expect(answers).toEqual(["settled", "settled", "settled"]);
      expect((await recordOf(store, child.id)).id).toBe(child.id);
      expect(await stateOf(store, child.id)).toBe("queued");
    });

    test("goes to the child of a unit, and the notes of its neighbours are recorded", async () => {
      await using db = await open();
      const { store } = db;
      const { batch, child } = await parents(db);

      const answers = await store.record(
        batch.jobs.map((job, index) =>
          runNote(batch, job, { units: [done("a")], children: index === 1 ? [child] : [] }),
        ),
      );

      expect(answers).toEqual(["recorded", "recorded", "recorded"]);
      expect((await recordOf(store, child.id)).id).toBe(child.id);
    });
  });
}

/** Enqueues a job that stays where it is, and deletes its row. */
async function deletedHolder(db: OpenedPast, overrides: Partial<NewJob>): Promise<JobKey> {
  const [id] = await add(db.store, { ...overrides, due: LATER });
  const key = await keyOf(db.store, id);
  await db.run(`DELETE FROM {job} WHERE key = ${key}`);
  return key;
}

/** Three running jobs, and a child of the second one whose key a deleted job holds. */
async function parents(db: OpenedPast) {
  await deletedHolder(db, { dedup: DEDUP });
  await db.store.enqueue(newJobs(3));
  const batch = await take(db.store);
  return { batch, child: newJob({ parentId: at(batch.jobs, 1).id, dedup: DEDUP }) };
}

async function keyOf(store: JobStore, id: JobId): Promise<JobKey> {
  return (await recordOf(store, id)).key;
}
