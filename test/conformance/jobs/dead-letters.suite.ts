import { describe, expect, test } from "vitest";
import { causeOf } from "../../../src/core/failures/fingerprint.ts";
import type { JobId } from "../../../src/core/job.ts";
import type { DeadLetterQuery } from "../../../src/store/types/letters.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { failedWith, jobId, newJobs, retention } from "../../support/factories.ts";
import { addDead, at, settleAll, take } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const LOOK = { by: "ada", notes: null } as const;

export function deadLettersSuite(open: OpenStore): void {
  describe("deadLetters", () => {
    test("lists the newest first (004-25)", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [first] = await addDead(store, {});
      await clock.advance(10);
      const [second] = await addDead(store, {});
      await clock.advance(10);
      const [third] = await addDead(store, {});

      expect(await idsOf(store, {}, 10)).toEqual([third, second, first]);
    });

    test("goes by the time of death, not by the age of the job", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [young] = await addDead(store, { id: "7ZZZZZZZZZ7ZZZZZZZZZZZZZZZ" });
      await clock.advance(10);
      const [old] = await addDead(store, { id: jobId() });

      expect(await idsOf(store, {}, 10)).toEqual([old, young]);
    });

    test("orders letters of one moment by their ids", async () => {
      await using db = await open();
      const { store } = db;
      const ids = await addDead(store, {}, {}, {}, {});

      expect(await idsOf(store, {}, 10)).toEqual(ids.toSorted().toReversed());
    });

    test("shows each letter as it is shown alone", async () => {
      await using db = await open();
      const { store } = db;
      const [id, other] = await addDead(store, { payload: '{"a":1}' }, { tenant: "acme" });
      await store.review(id, { status: "acknowledged", by: "ada", notes: "seen" });

      const letters = await store.deadLetters({}, { limit: 10 });

      const alone = await Promise.all([id, other].map((each) => store.deadLetter(each)));
      expect(letters).toHaveLength(2);
      expect(letters).toEqual(expect.arrayContaining(alone));
    });

    test("has the cause that the error brings, or the one of the stored error", async () => {
      await using db = await open();
      const { store } = db;
      const cause = "0123456789abcdef";
      const { fault } = failedWith();
      await store.enqueue(newJobs(2));
      const lease = await take(store);
      await settleAll(store, lease, failedWith({ ...fault, cause }));
      const [other] = await addDead(store, {});

      const causes = (await store.deadLetters({}, { limit: 10 })).map((letter) => letter.cause);

      expect(causes.toSorted()).toEqual([cause, cause, causeOf(fault)].toSorted());
      expect(await store.deadLetter(other)).toMatchObject({ cause: causeOf(fault) });
    });

    test("gives each letter to one page, though many died at once", async () => {
      await using db = await open();
      const { store, clock } = db;
      const early = await addDead(store, {}, {}, {});
      await clock.advance(10);
      const late = await addDead(store, {}, {}, {}, {});

      const pages = await pagesOf(store, {}, 2);

      expect(pages.map((page) => page.length)).toEqual([2, 2, 2, 1]);
      expect(pages.flat()).toEqual([
        ...late.toSorted().toReversed(),
        ...early.toSorted().toReversed(),
      ]);
    });

    test("goes on after a letter that the filter has let go of meanwhile", async () => {
      await using db = await open();
      const { store } = db;
      const ids = (await addDead(store, {}, {}, {})).toSorted().toReversed();
      const pending = { status: "pending_review" } as const;
      const [last] = await idsOf(store, pending, 1);

      await store.review(last!, { ...LOOK, status: "discarded" });

      expect(await idsOf(store, pending, 10, last)).toEqual(ids.slice(1));
    });

    test("does not show letters twice when new ones come in between two pages", async () => {
      await using db = await open();
      const { store, clock } = db;
      const ids = (await addDead(store, {}, {})).toSorted().toReversed();
      const [last] = await idsOf(store, {}, 1);
      await clock.advance(10);
      await addDead(store, {});

      expect(await idsOf(store, {}, 10, last)).toEqual(ids.slice(1));
    });

    test("ends after a letter that is gone", async () => {
      await using db = await open();
      const { store } = db;
      await addDead(store, {});

      expect(await idsOf(store, {}, 10, jobId())).toEqual([]);
    });

    test("goes on behind a place whose letter is gone", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [old] = await addDead(store, {});
      await clock.advance(10);
      const [twin, gone] = await addDead(store, {}, { tenant: "acme" });
      const diedAt = clock.now();
      await store.beginRemoval("acme", { by: "ada", reason: "left" });
      while ((await store.removeOfTenant("acme", 100)).status !== "done");
      expect(await store.deadLetter(gone)).toBeNull();
      const behind = async (id: JobId | null, when = diedAt): Promise<JobId[]> => {
        const page = { behind: { diedAt: when, id }, limit: 10 };
        return (await store.deadLetters({}, page)).map((letter) => letter.id);
      };

      expect(await behind(gone)).toEqual(twin < gone ? [twin, old] : [old]);
      expect(await behind(null)).toEqual([old]);
      expect(await behind(null, diedAt + 1)).toEqual([twin, old]);
    });

    test("finds letters by status", async () => {
      await using db = await open();
      const { store } = db;
      const [pending, seen, gone] = await addDead(store, {}, {}, {});
      await store.review(seen, { ...LOOK, status: "acknowledged" });
      await store.review(gone, { ...LOOK, status: "discarded" });

      expect(await idsOf(store, { status: "pending_review" }, 10)).toEqual([pending]);
      expect(await idsOf(store, { status: "acknowledged" }, 10)).toEqual([seen]);
      expect(await idsOf(store, { status: "discarded" }, 10)).toEqual([gone]);
      expect(await idsOf(store, { status: "reprocessed" }, 10)).toEqual([]);
    });

    test("finds letters by type, by tenant and by both", async () => {
      await using db = await open();
      const { store } = db;
      const [one, two, three] = await addDead(
        store,
        { type: "sms", tenant: "acme" },
        { type: "sms", tenant: "default" },
        { type: "email", tenant: "acme" },
      );

      expect((await idsOf(store, { type: "sms" }, 10)).toSorted()).toEqual([one, two].toSorted());
      expect((await idsOf(store, { tenant: "acme" }, 10)).toSorted()).toEqual(
        [one, three].toSorted(),
      );
      expect(await idsOf(store, { tenant: "default" }, 10)).toEqual([two]);
      expect(await idsOf(store, { type: "sms", tenant: "acme" }, 10)).toEqual([one]);
      const narrow = { type: "sms", tenant: "acme", status: "discarded" } as const;
      expect(await idsOf(store, narrow, 10)).toEqual([]);
    });

    test("fills a page of a filter, however many others lie between", async () => {
      await using db = await open();
      const { store } = db;
      const letters = Array.from({ length: 30 }, (_, index) => ({
        type: index % 10 === 0 ? "sms" : "email",
      }));
      await addDead(store, ...letters);

      expect((await pagesOf(store, { type: "sms" }, 2)).map((page) => page.length)).toEqual([2, 1]);
    });

    test.each([{ type: "never-met" }, { tenant: "never-met" }])(
      "finds nothing by a name that no job ever bore: %o",
      async (filter) => {
        await using db = await open();
        const { store } = db;
        await addDead(store, {});

        expect(await idsOf(store, filter, 10)).toEqual([]);
      },
    );

    test("shows no more than asked, and never more than a thousand", async () => {
      await using db = await open();
      const { store } = db;
      for (let round = 0; round < 3; round += 1) {
        await store.enqueue(newJobs(334));
        await settleAll(store, await take(store, { limit: 334 }), failedWith());
      }

      expect(await idsOf(store, {}, 0)).toEqual([]);
      expect(await idsOf(store, {}, -1)).toEqual([]);
      expect(await idsOf(store, {}, 7)).toHaveLength(7);
      expect(await idsOf(store, {}, 5_000)).toHaveLength(1_000);
    });

    test("keeps a letter whose job is gone", async () => {
      await using db = await open();
      const { store, clock } = db;
      const [id] = await addDead(store, { type: "sms" });
      await clock.advance(1_000);
      const rules = retention();
      await store.prune({ ...rules, finishedMs: { ...rules.finishedMs, failed: 0 } }, 10);

      expect(await store.get(id)).toBeNull();
      expect(await idsOf(store, { type: "sms" }, 10)).toEqual([id]);
    });
  });
}

async function idsOf(
  store: JobStore,
  filter: DeadLetterQuery,
  limit: number,
  after?: JobId,
): Promise<JobId[]> {
  const page = after === undefined ? { limit } : { after, limit };
  return (await store.deadLetters(filter, page)).map(({ id }) => id);
}

/** All pages, each asked for with the last id of the one before. */
async function pagesOf(
  store: JobStore,
  filter: DeadLetterQuery,
  limit: number,
): Promise<JobId[][]> {
  const pages: JobId[][] = [];
  let page = await idsOf(store, filter, limit);
  while (page.length > 0 && pages.length < 100) {
    pages.push(page);
    page = await idsOf(store, filter, limit, at(page, -1));
  }
  return pages;
}
