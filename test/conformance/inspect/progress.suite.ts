import { describe, expect, test } from "vitest";
import type { JobStore } from "../../../src/store/store.ts";
import type { UnitMove, UnitRecord } from "../../../src/store/types/notes.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  jobId,
  retention,
  retryIn,
  runAgain,
} from "../../support/factories.ts";
import { broken, done, halfway, keep, pictureOf, planned, running } from "../../support/notes.ts";
import { add, at, recordOf, settleAll, take, takeOne } from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

/** What people find of the notes of runs. */
export function progressSuite(open: OpenStore): void {
  describe("progress", () => {
    progressTests(open);
    pruneTests(open);
  });
  describe("units", () => {
    unitsTests(open);
  });
  describe("unitHolders", () => {
    holdersTests(open);
  });
}

function progressTests(open: OpenStore): void {
  test("answers null for a job that never was, and nothing of one that told nothing", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});

    expect(await store.progress(jobId())).toBeNull();
    expect(await store.progress(id)).toEqual({
      progress: null,
      at: null,
      run: null,
      lastOutcome: null,
      phases: [],
      units: [],
    });
  });

  test("answers when each phase ended, in which run, and when that run started", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, {});
    const first = await takeOne(store);
    const firstAt = clock.now();
    await clock.advance(10);
    await keep(store, first, { progress: halfway(), completed: { name: "fetch", result: "1" } });
    const fetch = { name: "fetch", result: "1", n: 1, at: clock.now() };
    const open1 = { n: 1, startedAt: null, finishedAt: null };
    expect(await store.progress(id)).toMatchObject({
      phases: [{ ...fetch, runStartedAt: null }],
      run: open1,
    });

    await clock.advance(10);
    await settleAll(store, first, runAgain());
    const ended = { n: 1, startedAt: firstAt, finishedAt: clock.now() };
    expect(await store.progress(id)).toMatchObject({
      phases: [{ ...fetch, runStartedAt: firstAt }],
      run: ended,
    });

    await clock.advance(10);
    const second = await takeOne(store);
    await keep(store, second, { completed: { name: "build", result: null } });
    expect(await store.progress(id)).toMatchObject({
      phases: [
        { ...fetch, runStartedAt: firstAt },
        { name: "build", result: null, n: 2, at: clock.now(), runStartedAt: null },
      ],
      run: ended,
    });
    await keep(store, second, { progress: halfway() });
    expect(await store.progress(id)).toMatchObject({ run: { ...open1, n: 2 } });
  });

  test("answers the last that was told, and when (001-21)", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, { progress: halfway({ percent: 10, data: "1" }) });
    await clock.advance(7);
    const told = halfway({ percent: 100 / 3, overall: 66, data: '{"file":"a"}' });

    await keep(store, batch, { progress: halfway() }, { progress: told });

    expect(await store.progress(id)).toMatchObject({ progress: told, at: clock.now() });
    expect(await recordOf(store, id)).toMatchObject({ phase: "build", overall: 66 });
    const { jobs } = await store.list({ states: ["running"] }, { limit: 10 });
    expect(jobs).toMatchObject([{ id, phase: "build", overall: 66 }]);
  });

  test("answers that of a job without phases", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const told = { phase: null, phases: [], percent: 12.5, overall: 13, data: null };

    await keep(store, await takeOne(store), { progress: told });

    expect((await store.progress(id))?.progress).toEqual(told);
    expect(await recordOf(store, id)).toMatchObject({ phase: null, overall: 13 });
  });

  test("says how the last run ended, and keeps what it told", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const outcomes: unknown[] = [];
    for (const settlement of [retryIn(0), runAgain(), failedWith()]) {
      const batch = await takeOne(store);
      await keep(store, batch, { progress: halfway({ percent: batch.job.n }) });
      await settleAll(store, batch, settlement);
      outcomes.push((await store.progress(id))?.lastOutcome);
    }

    expect(outcomes).toEqual(["failed", "interrupted", "failed"]);
    expect((await store.progress(id))?.progress?.percent).toBe(3);
    expect(await recordOf(store, id)).toMatchObject({ state: "failed", phase: "build" });
  });

  test("shows phase and overall of no other job", async () => {
    await using db = await open();
    const { store } = db;
    const [, other] = await add(store, {}, {});

    await keep(store, await takeOne(store), { progress: halfway() });

    expect(await recordOf(store, other)).toMatchObject({ phase: null, overall: null });
    expect((await store.progress(other))?.progress).toBeNull();
  });

  test("counts units by phase and state, in the order of phases", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    await keep(store, await takeOne(store), {
      units: [
        done("a"),
        done("b"),
        broken("c"),
        running("d"),
        planned("e"),
        planned("f"),
        running("a", "fetch"),
        done("a", null, "Zoom"),
        done("x", null, ""),
      ],
    });

    expect((await store.progress(id))?.units).toEqual([
      { phase: "", planned: 0, running: 0, completed: 1, failed: 0 },
      { phase: "Zoom", planned: 0, running: 0, completed: 1, failed: 0 },
      { phase: "build", planned: 2, running: 1, completed: 2, failed: 1 },
      { phase: "fetch", planned: 0, running: 1, completed: 0, failed: 0 },
    ]);
  });

  test("counts a unit as running only while its run lasts, also in the next run", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const first = await takeOne(store);
    await keep(store, first, { units: [running("a"), running("b"), planned("c"), done("d")] });
    await settleAll(store, first, runAgain());
    const between = (await store.progress(id))?.units;

    await keep(store, await takeOne(store), { units: [running("b")] });

    const common = { phase: "build", completed: 1, failed: 0 };
    expect(between).toEqual([{ ...common, planned: 3, running: 0 }]);
    expect((await store.progress(id))?.units).toEqual([{ ...common, planned: 2, running: 1 }]);
  });
}

function pruneTests(open: OpenStore): void {
  const none = { completed: 0, completed_with_errors: 0, failed: 0, cancelled: 0 };

  test("goes with its job, and with no other", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id, other] = await add(store, {}, {});
    const note = {
      progress: halfway(),
      units: [done("a"), running("b")],
      completed: { name: "fetch", result: null },
    };
    const ended = await takeOne(store);
    await keep(store, ended, note);
    await keep(store, await takeOne(store), note);
    await settleAll(store, ended, completed());
    await clock.advance(1);
    const before = await pictureOf(store, other);

    const pruned = await store.prune(retention({ finishedMs: none }), 100);

    expect(pruned).toMatchObject({ jobs: 1, more: false });
    expect(await store.progress(id)).toBeNull();
    expect(await store.units(id, {}, { limit: 10 })).toEqual([]);
    expect(await store.checkpoints(ended.job.key)).toMatchObject({
      phases: [],
      units: [],
      tries: null,
    });
    const after = await pictureOf(store, other);
    expect({ ...after, feed: [] }).toEqual({ ...before, feed: [] });
  });

  test("goes also when it has very many units, in as many steps as it takes", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    for (let first = 0; first < 12_000; first += 1_000) {
      const units = Array.from({ length: 1_000 }, (_, index) => done(`${first + index}`));
      await keep(store, batch, { units });
    }
    await settleAll(store, batch, completed());
    await clock.advance(1);

    let steps = 0;
    for (let more = true; more && steps < 10; steps += 1) {
      ({ more } = await store.prune(retention({ finishedMs: none }), 100));
    }

    expect(steps).toBeLessThan(10);
    expect(await store.get(id)).toBeNull();
    expect((await store.checkpoints(batch.job.key)).units).toEqual([]);
  });
}

function unitsTests(open: OpenStore): void {
  test("answers nothing for a job that never was", async () => {
    await using db = await open();
    await add(db.store, {});

    expect(await db.store.units(jobId(), {}, { limit: 10 })).toEqual([]);
  });

  test("shows all there is to say about a unit", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, {});
    await settleAll(store, await takeOne(store), runAgain());
    await keep(store, await takeOne(store), { units: [broken("bad"), done("good", '{"x":1}')] });

    const [bad, good] = await store.units(id, {}, { limit: 10 });
    const common = { phase: "build", turn: 0, n: 2, at: clock.now() };
    expect(good).toEqual({
      ...common,
      unit: "good",
      state: "completed",
      result: '{"x":1}',
      fault: null,
    });
    expect(bad).toEqual({
      ...common,
      unit: "bad",
      state: "failed",
      result: null,
      fault: { class: "retryable", name: "Error", message: "the mail server hung up" },
    });
  });

  test("goes through them page by page, in the order of phase and unit", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await addUnits(store);

    const pages = await pagesOf(store, id, 3);

    expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
    expect(pages.flat().map(({ phase, unit }) => `${phase}/${unit}`)).toEqual([
      "/z",
      "build/B",
      "build/a",
      "build/c",
      "build/é",
      "fetch/a",
      "fetch/b",
    ]);
  });

  test("shows those of a phase in the order in which they were given", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const given = ["c", "a", "d", "b"].map((unit, index) => ({
      ...planned(unit),
      turn: index + 1,
    }));
    const late = [{ ...planned("A"), turn: 5 }, running("A"), done("A")];
    await keep(
      store,
      await takeOne(store),
      { units: given },
      { units: [running("a"), running("b"), running("c")] },
      { units: [broken("b"), broken("a"), done("c"), ...late] },
    );

    const pages = await pagesOf(store, id, 2);
    const failed = await store.units(id, { state: "failed" }, { limit: 10 });

    expect(pages.flat().map(({ unit, turn }) => `${turn} ${unit}`)).toEqual([
      "1 c",
      "2 a",
      "3 d",
      "4 b",
      "5 A",
    ]);
    expect(failed.map(({ unit }) => unit)).toEqual(["a", "b"]);
  });

  test("shows a unit where its last run gave it, a completed one where it was", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const given = (...units: readonly string[]): { readonly units: readonly UnitMove[] } => ({
      units: units.map((unit, index) => ({ ...running(unit), turn: index + 1 })),
    });
    const first = await takeOne(store);
    await keep(store, first, given("a", "b", "c"), { units: [done("a"), done("b"), broken("c")] });
    await settleAll(store, first, runAgain());
    const second = await takeOne(store);
    await keep(store, second, given("x", "c", "d"));

    const pages = await pagesOf(store, id, 2);

    expect(pages.flat().map(({ unit, turn }) => `${turn} ${unit}`)).toEqual([
      "1 a",
      "1 x",
      "2 b",
      "2 c",
      "3 d",
    ]);
  });

  test("begins a page of one phase in this phase, wherever the last page ended", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await addUnits(store);
    const after = (phase: string) => ({ after: { phase, turn: 0, unit: "a" }, limit: 10 });
    const named = async (phase: string): Promise<readonly string[]> =>
      (await store.units(id, { phase: "build" }, after(phase))).map(({ unit }) => unit);

    expect(await named("a")).toEqual(["B", "a", "c", "é"]);
    expect(await named("build")).toEqual(["c", "é"]);
    expect(await named("c")).toEqual([]);
  });

  test("shows only those of a phase, or in a state, or both", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await addUnits(store);
    const named = async (filter: Parameters<JobStore["units"]>[1]): Promise<string[]> =>
      (await store.units(id, filter, { limit: 10 })).map(({ unit }) => unit);

    expect(await named({ phase: "build" })).toEqual(["B", "a", "c", "é"]);
    expect(await named({ phase: "" })).toEqual(["z"]);
    expect(await named({ phase: "nowhere" })).toEqual([]);
    expect(await named({ phase: "\0" })).toEqual([]);
    expect(await named({ state: "failed" })).toEqual(["B", "b"]);
    expect(await named({ state: "running" })).toEqual(["z"]);
    expect(await named({ phase: "build", state: "completed" })).toEqual(["a", "c", "é"]);
    expect(await store.units(id, {}, { limit: 0 })).toEqual([]);
  });

  test("shows them as running only while their run lasts, also in the next run", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const first = await takeOne(store);
    await keep(store, first, { units: [running("a"), running("b"), planned("c"), done("d")] });
    await settleAll(store, first, runAgain());

    await keep(store, await takeOne(store), { units: [running("b")] });

    const states = (await store.units(id, {}, { limit: 10 })).map(({ state }) => state);
    expect(states).toEqual(["planned", "running", "planned", "completed"]);
    const named = async (state: "planned" | "running"): Promise<string[]> =>
      (await store.units(id, { state }, { limit: 10 })).map(({ unit }) => unit);
    expect(await named("planned")).toEqual(["a", "c"]);
    expect(await named("running")).toEqual(["b"]);
  });

  test("shows those of one job alone", async () => {
    await using db = await open();
    const { store } = db;
    const [, other] = await addUnits(store);

    expect((await store.units(other, {}, { limit: 10 })).map(({ unit }) => unit)).toEqual(["mine"]);
  });
}

function holdersTests(open: OpenStore): void {
  test("names the running jobs that work on a unit, longest first", async () => {
    await using db = await open();
    const { store, clock } = db;
    const ids = await add(store, {}, {}, {});
    const [one, two, three] = [await takeOne(store), await takeOne(store), await takeOne(store)];
    await keep(store, two, { units: [running("main")] });
    await clock.advance(1);
    await keep(store, one, { units: [running("main", "publish")] });
    await keep(store, three, {
      units: [running("other"), done("main", null, "fetch"), planned("main")],
    });

    expect(await store.unitHolders("main", 10)).toEqual([
      { job: ids[1], phase: "build", unit: "main", at: clock.now() - 1 },
      { job: ids[0], phase: "publish", unit: "main", at: clock.now() },
    ]);
    expect(await store.unitHolders("main", 1)).toHaveLength(1);
    expect(await store.unitHolders("nothing", 10)).toEqual([]);
    expect(await store.unitHolders("\0", 10)).toEqual([]);
  });

  test.each([done("main"), broken("main")])("names no holder when it has ended", async (end) => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, { units: [running("main")] }, { units: [end] });

    expect(await store.unitHolders("main", 10)).toEqual([]);
  });

  test.each([completed(), failedWith(), runAgain(), retryIn(1_000)])(
    "names no holder when the run has ended as $outcome",
    async (settlement) => {
      await using db = await open();
      const { store } = db;
      await add(store, {}, {});
      const batch = await take(store);
      const job = at(batch.jobs, 0);
      await keep(store, { ...batch, job }, { units: [running("main")] });
      expect(await store.unitHolders("main", 10)).toHaveLength(1);

      await settleAll(store, batch, settlement);

      expect(await store.unitHolders("main", 10)).toEqual([]);
    },
  );

  test("names a job that runs again only when this run works on it", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const first = await takeOne(store);
    await keep(store, first, { units: [running("main")] });
    await settleAll(store, first, crashedOnce());

    const second = await takeOne(store);
    const before = await store.unitHolders("main", 10);
    await keep(store, second, { units: [running("main")] });

    expect(before).toEqual([]);
    expect(await store.unitHolders("main", 10)).toMatchObject([{ job: id }]);
  });
}

/** Two jobs with units in some phases. */
async function addUnits(store: JobStore) {
  const ids = await add(store, {}, {});
  await keep(store, await takeOne(store), {
    units: [
      done("é"),
      done("c"),
      broken("b", "fetch"),
      broken("B"),
      done("a", null, "fetch"),
      running("z", ""),
      done("a"),
    ],
  });
  await keep(store, await takeOne(store), { units: [done("mine")] });
  return ids;
}

async function pagesOf(store: JobStore, id: UnitRecord["unit"], limit: number) {
  const pages: (readonly UnitRecord[])[] = [];
  let page = await store.units(id, {}, { limit });
  while (page.length > 0 && pages.length < 100) {
    pages.push(page);
    page = await store.units(id, {}, { after: at(page, -1), limit });
  }
  return pages;
}
