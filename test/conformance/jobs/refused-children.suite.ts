import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import {
  AFTER_MAX,
  type NewJob,
  type RefusedChild,
  type SettleItem,
} from "../../../src/store/types/jobs-and-runs.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, failedWith, jobId, newJob, newJobs, retryIn } from "../../support/factories.ts";
import { addAfter } from "../../support/flows.ts";
import { pictureOf, runNote } from "../../support/notes.ts";
import {
  add,
  at,
  claimable,
  eventsOf,
  stateOf,
  settleItem,
  take,
  takeOne,
  type Batch,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

const ONCE = { idempotency: { key: "order 7", onConflict: "return-existing" } } as const;
const ONLY_ONCE = { idempotency: { key: "order 7", onConflict: "error" } } as const;
const SKIP = { dedup: { key: "nightly", onConflict: "skip" } } as const;

/** Children that do not come into being, and nothing of what they came with. */
export function refusedChildrenSuite(open: OpenStore): void {
  describe("children that are refused", () => {
    reasonTests(open);
    neighbourTests(open);
    causeTests(open);
    harmlessTests(open);
  });
}

type Code = RefusedChild["code"];

function reasonTests(open: OpenStore): void {
  const REASONS: readonly (readonly [string, Code, Partial<NewJob>])[] = [
    ["a priority that no job can have", "STORE_REFUSED", { priority: -1 }],
    ["a payload that is no JSON", "STORE_REFUSED", { payload: "no json" }],
    ["a type without a name", "STORE_REFUSED", { type: "" }],
    ["a type whose name is too long", "STORE_REFUSED", { type: "x".repeat(201) }],
    ["a lane without a name", "STORE_REFUSED", { type: "new-type", lane: "" }],
    ["a key that may be used once", "IDEMPOTENCY_KEY_USED", { ...ONLY_ONCE, payload: "1" }],
    ["a key of other content", "IDEMPOTENCY_CONFLICT", { ...ONCE, payload: "2" }],
    ["the id of another job", "ID_CONFLICT", { payload: "2" }],
    ["a job to run after that there is not", "AFTER_UNKNOWN", { after: [jobId()] }],
  ];

  test.each(REASONS)("for %s undo the end and the note that they come with", async (...reason) => {
    await using db = await open();
    const { store } = db;
    const [, code, overrides] = reason;
    const [parent] = await add(store, { priority: 1 });
    const batch = await takeOne(store);
    const [holder] = await add(store, { ...ONCE, payload: "1" });
    const refused = newJob({ ...overrides, ...(code === "ID_CONFLICT" ? { id: holder } : {}) });
    const children = [newJob(), refused, newJob()];
    const untouched = await pictureOf(store, parent);

    const answers = [
      await store.record([
        runNote(batch, batch.job, { completed: { name: "fetch", result: "1" }, children }),
      ]),
      await store.settle([withChildren(batch, children)]),
    ].flat();

    const told = refusal(refused, code, whoStandsInTheWay(code, refused, holder));
    expect(answers).toEqual([told, told]);
    expect(await pictureOf(store, parent)).toEqual(untouched);
    expect(await Promise.all(children.map(({ id }) => eventsOf(store, id)))).toEqual([
      [],
      code === "ID_CONFLICT" ? ["job:enqueued"] : [],
      [],
    ]);
    expect(await claimable(store)).toEqual([holder]);
  });

  test("for more jobs to run after than one may have are told so", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, { priority: 1 });
    const batch = await takeOne(store);
    const parents = newJobs(AFTER_MAX + 1);
    await store.enqueue(parents);
    const child = newJob({ after: parents.map((job) => job.id) });

    const answers = [
      await store.record([runNote(batch, batch.job, { children: [child] })]),
      await store.settle([withChildren(batch, [child])]),
    ].flat();

    const told = refusal(child, "STORE_REFUSED", child.id);
    expect(answers).toEqual([told, told]);
    expect(await stateOf(store, id)).toBe("running");
  });
}

/** The job that a refusal names. */
function whoStandsInTheWay(code: Code, refused: NewJob, holder: JobId): JobId {
  if (code === "STORE_REFUSED") return refused.id;
  return code === "AFTER_UNKNOWN" ? at(refused.after, 0) : holder;
}

function neighbourTests(open: OpenStore): void {
  test("undo no other end of the same call, and leave their run to end otherwise", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two, three] = await add(store, { priority: 1 }, { priority: 2 }, { priority: 3 });
    const batch = await take(store);
    const [before, lost] = [newJob({ ...SKIP, type: "new" }), newJob({ after: [jobId()] })];
    const [born, next] = [newJob(), newJob()];
    const items: SettleItem[] = [
      { ...settleItem(batch, at(batch.jobs, 0), completed()), children: [born] },
      { ...settleItem(batch, at(batch.jobs, 1), completed()), children: [before, lost] },
      { ...settleItem(batch, at(batch.jobs, 2), completed()), children: [next] },
    ];

    const answers = await store.settle(items);

    expect(answers).toEqual([
      "settled",
      refusal(lost, "AFTER_UNKNOWN", at(lost.after, 0)),
      "settled",
    ]);
    expect(await Promise.all([one, two, three].map((id) => stateOf(store, id)))).toEqual([
      "completed",
      "running",
      "completed",
    ]);
    expect(await store.get(before.id)).toBeNull();
    expect(await store.get(lost.id)).toBeNull();
    expect(await eventsOf(store, two)).toEqual(["job:enqueued", "job:started"]);
    expect(await eventsOf(store, before.id)).toEqual([]);
    expect(await claimable(store)).toEqual([born.id, next.id]);
    const otherwise = settleItem(batch, at(batch.jobs, 1), failedWith());
    expect(await store.settle([otherwise])).toEqual(["settled"]);
    expect(await stateOf(store, two)).toBe("failed");
    await add(store, { ...SKIP, type: "new" });
  });

  test("undo no other note of the same call, nor the same phase without them", async () => {
    await using db = await open();
    const { store } = db;
    const [one, two] = await add(store, { priority: 1 }, { priority: 2 });
    const batch = await take(store);
    const [before, lost, next] = [newJob(), newJob({ priority: -1 }), newJob()];
    const completes = { completed: { name: "fetch", result: "1" } };
    const untouched = await pictureOf(store, one);

    const answers = await store.record([
      runNote(batch, at(batch.jobs, 0), { ...completes, children: [before, lost] }),
      runNote(batch, at(batch.jobs, 1), { ...completes, children: [next] }),
    ]);

    expect(answers).toEqual([refusal(lost, "STORE_REFUSED", lost.id), "recorded"]);
    expect(await pictureOf(store, one)).toEqual(untouched);
    expect((await store.progress(two))?.phases).toHaveLength(1);
    expect(await store.get(before.id)).toBeNull();
    expect(await claimable(store)).toEqual([next.id]);
    const again = runNote(batch, at(batch.jobs, 0), completes);
    expect(await store.record([again])).toEqual(["recorded"]);
  });

  test("leave no name behind that others would stumble over", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await takeOne(store);
    await store.settle([withChildren(batch, [newJob({ type: "ghost", priority: -1 })])]);

    await add(store, { type: "solid" });
    const [id] = await add(store, { type: "ghost" });

    expect((await store.get(id))?.type).toBe("ghost");
    expect((await store.list({ type: "ghost" }, { limit: 10 })).jobs).toMatchObject([{ id }]);
    const other = await db.another();
    expect((await other.get(id))?.type).toBe("ghost");
  });

  test("take back whom they and their siblings had replaced", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, { priority: 1 });
    const batch = await takeOne(store);
    const first = { dedup: { key: "first", onConflict: "replace" } } as const;
    const second = { dedup: { key: "second", onConflict: "replace" } } as const;
    const holders = await add(store, first, second);

    await store.settle([withChildren(batch, [newJob(first), newJob({ ...second, priority: -1 })])]);

    for (const holder of holders) {
      expect(await stateOf(store, holder)).toBe("queued");
      expect(await eventsOf(store, holder)).toEqual(["job:enqueued"]);
    }
    expect(await claimable(store)).toEqual(holders);
  });
}

function causeTests(open: OpenStore): void {
  test("tell the cause, and not a sibling that was to run after it", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, { priority: 1 });
    const batch = await takeOne(store);
    const [holder] = await add(store, { ...ONCE, payload: "1" });
    const [used, bad] = [newJob({ ...ONLY_ONCE, payload: "1" }), newJob({ priority: -1 })];

    expect(await both(store, batch, [used, newJob({ after: [used.id] })])).toEqual(
      refusal(used, "IDEMPOTENCY_KEY_USED", holder),
    );
    expect(await both(store, batch, [bad, newJob({ after: [bad.id] })])).toEqual(
      refusal(bad, "STORE_REFUSED", bad.id),
    );
    expect(await stateOf(store, batch.job.id)).toBe("running");
    expect(await claimable(store)).toEqual([holder]);
  });

  test("tell the first of several, for any reasons", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, { priority: 1 });
    const batch = await takeOne(store);
    const [holder] = await add(store, { ...ONCE, payload: "1" });
    const used = newJob({ ...ONLY_ONCE, payload: "1" });
    const bad = newJob({ priority: -1 });
    const lost = newJob({ after: [jobId()] });

    expect(await both(store, batch, [newJob(), lost, bad, used])).toMatchObject({ child: lost.id });
    expect(await both(store, batch, [newJob(SKIP), bad, used])).toMatchObject({ child: bad.id });
    expect(await both(store, batch, [used, newJob(), lost, bad])).toMatchObject({ child: used.id });
    expect(await claimable(store)).toEqual([holder]);
  });
}

function harmlessTests(open: OpenStore): void {
  test("do not matter to a run that ends otherwise, or is no longer ours", async () => {
    await using db = await open();
    const { store } = db;
    const [, gone] = await add(store, { priority: 1 }, { priority: 2 });
    const batch = await take(store);
    await store.intervene(gone, () => failedWith());
    const children = [newJob({ after: [jobId()] }), newJob({ priority: -1 })];

    const answers = await store.settle([
      { ...settleItem(batch, at(batch.jobs, 0), retryIn(1_000)), children },
      { ...settleItem(batch, at(batch.jobs, 1), completed()), children },
    ]);
    const kept = await store.record([runNote(batch, at(batch.jobs, 1), { children })]);

    expect([...answers, ...kept]).toEqual(["settled", "stale", "stale"]);
  });

  test("are not those that exist already, whomever they name to wait for now", async () => {
    await using db = await open();
    const { store } = db;
    const [, first] = await add(store, { priority: 1 }, { priority: 200 });
    const batch = await takeOne(store);
    const child = newJob({ ...ONLY_ONCE, after: [first] });
    const note = runNote(batch, batch.job, { children: [child] });
    await store.record([note]);
    await addAfter(store, [first]);

    const answers = await store.record([
      note,
      { ...note, children: [{ ...child, after: [jobId()] }] },
    ]);

    expect(answers).toEqual(["recorded", "recorded"]);
    expect(await store.openDependencies(child.id, 10)).toEqual([first]);
  });
}

/** What becomes of a note and of the end with these children, which is one and the same. */
async function both(store: JobStore, batch: Batch, children: readonly NewJob[]): Promise<unknown> {
  const [kept] = await store.record([runNote(batch, at(batch.jobs, 0), { children })]);
  const [settled] = await store.settle([withChildren(batch, children)]);
  expect(settled).toEqual(kept);
  return settled;
}

function refusal({ id: child }: NewJob, code: Code, holder: JobId): RefusedChild {
  return { status: "refused", child, code, holder };
}

/** The success of the first job of a batch, and what it brings into being. */
function withChildren(batch: Batch, children: readonly NewJob[]): SettleItem {
  return { ...settleItem(batch, at(batch.jobs, 0), completed()), children };
}
