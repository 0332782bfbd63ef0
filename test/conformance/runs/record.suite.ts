import { describe, expect, test } from "vitest";
import type { JobId } from "../../../src/core/job.ts";
import type { JobStore } from "../../../src/store/store.ts";
import type { UnitsDetail } from "../../../src/store/types/records.ts";
import { MOVES_MAX, UNITS_MAX, type NoteBody } from "../../../src/store/types/notes.ts";
import {
  completed,
  crashedOnce,
  failedWith,
  fault,
  newJob,
  newJobs,
  runAgain,
} from "../../support/factories.ts";
import {
  FORGERIES,
  broken,
  detailsOf,
  done,
  halfway,
  keep,
  pictureOf,
  planned,
  running,
  runNote,
} from "../../support/notes.ts";
import {
  add,
  at,
  claimable,
  eventsOf,
  nextCall,
  rescueSilent,
  settleAll,
  settleItem,
  startAll,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

/** A bit of everything. */
function everything(): NoteBody {
  return {
    progress: halfway(),
    units: [done("a", "1"), broken("b")],
    completed: { name: "fetch", result: '{"files":2}' },
    children: [newJob()],
  };
}

/** Each part of a note that no database takes. */
const BAD: readonly (readonly [string, NoteBody])[] = [
  ["a percentage above 100", { progress: halfway({ percent: 101 }) }],
  ["data that is no JSON", { progress: halfway({ data: "{" }) }],
  ["a result that is no JSON", { units: [done("a", "nonsense")] }],
  ["a unit without a name", { units: [running("")] }],
  ["a unit with too long a name", { units: [running("x".repeat(501))] }],
  ["a phase without a name", { completed: { name: "", result: null } }],
  ["a phase whose result is no JSON", { completed: { name: "fetch", result: "{" } }],
  [
    "more moves than a note may have",
    { units: Array.from({ length: MOVES_MAX + 1 }, (_, index) => running(`${index}`)) },
  ],
];

export function notesSuite(open: OpenStore): void {
  describe("record", () => {
    fenceTests(open);
    keepingTests(open);
    refusalTests(open);
    feedTests(open);
    childrenTests(open);
    settleTests(open);
  });
  describe("bound of the units in a phase", () => {
    boundTests(open);
  });
}

function fenceTests(open: OpenStore): void {
  test.each(FORGERIES)("refuses %s and changes nothing (I4)", async (_, forge) => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const note = runNote(batch, batch.job, everything());
    const before = await pictureOf(store, id);

    const answers = await store.record([forge(note)]);

    expect(answers).toEqual(["stale"]);
    expect(await pictureOf(store, id)).toEqual(before);
    expect(await claimable(store)).toEqual([]);
    expect(await store.record([note])).toEqual(["recorded"]);
  });

  test("refuses a job that belongs to another lease", async () => {
    await using db = await open();
    const { store } = db;
    const [, theirs] = await add(store, {}, {});
    const mine = await takeOne(store);
    const other = await takeOne(store);
    const before = await pictureOf(store, theirs);

    const answers = await store.record([
      runNote(mine, other.job, everything()),
      runNote(mine, mine.job, { units: [done("a")] }),
    ]);

    expect(answers).toEqual(["stale", "recorded"]);
    expect(await pictureOf(store, theirs)).toEqual(before);
  });

  test("refuses jobs of a prefetch that have not begun", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await take(store, { prefetch: true });
    const note = runNote(batch, at(batch.jobs, 0), everything());
    const before = await pictureOf(store, id);

    const early = await store.record([note]);
    expect(await pictureOf(store, id)).toEqual(before);
    await startAll(store, batch);

    expect([early, await store.record([note])]).toEqual([["stale"], ["recorded"]]);
  });

  test.each([completed(), failedWith(), runAgain()])(
    "refuses a run that has ended as $outcome, while its lease still stands",
    async (settlement) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {}, {});
      const batch = await take(store);
      const job = at(batch.jobs, 0);
      await store.settle([settleItem(batch, job, settlement)]);
      const before = await pictureOf(store, id);

      const answers = await store.record([runNote(batch, job, everything())]);

      expect(answers).toEqual(["stale"]);
      expect(await pictureOf(store, id)).toEqual(before);
    },
  );

  test("refuses the old holder of a job that was rescued (I3, I4)", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, {});
    const zombie = await takeOne(store);
    await clock.advance(30_001);
    await rescueSilent(store, zombie.worker, { decide: crashedOnce });
    const note = runNote(zombie, zombie.job, everything());

    const waiting = await store.record([note]);
    const heir = await takeOne(store);
    const before = await pictureOf(store, id);
    const late = await store.record([note, runNote(zombie, heir.job, everything())]);

    expect([...waiting, ...late]).toEqual(["stale", "stale", "stale"]);
    expect(await pictureOf(store, id)).toEqual(before);
    await keep(store, heir, everything());
  });

  test("accepts what a silent worker says as long as no worker has rescued its job", async () => {
    await using db = await open();
    const { store, clock } = db;
    await add(store, {});
    const late = await takeOne(store);
    await clock.advance(30_001);

    const answers = await store.record([runNote(late, late.job, everything())]);

    expect(answers).toEqual(["recorded"]);
  });

  test("refuses a run that an operator has ended", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    await store.intervene(id, () => failedWith());

    expect(await store.record([runNote(batch, batch.job, everything())])).toEqual(["stale"]);
  });

  test("answers each note by itself, across two leases, in the order asked", async () => {
    await using db = await open();
    const { store } = db;
    await store.enqueue(newJobs(4));
    const one = await take(store, { limit: 2 });
    const two = await take(store, { limit: 2 });
    const [a, b] = [at(one.jobs, 0), at(one.jobs, 1)];
    const [c, d] = [at(two.jobs, 0), at(two.jobs, 1)];
    await store.settle([settleItem(two, c, completed())]);

    const answers = await store.record([
      runNote(two, d, { units: [done("d")] }),
      runNote(one, c, { units: [done("no")] }),
      runNote(one, a, { units: [done("a")] }),
      runNote(two, c, { units: [done("no")] }),
      runNote({ ...one, lease: { ...one.lease, secret: "x" } }, b, { units: [done("no")] }),
      runNote(two, d, { units: [done("e")] }),
    ]);

    expect(answers).toEqual(["recorded", "stale", "recorded", "stale", "stale", "recorded"]);
    const units = await Promise.all(
      [a, b, c, d].map(({ id }) => store.units(id, {}, { limit: 10 })),
    );
    expect(units.map((list) => list.map(({ unit }) => unit))).toEqual([["a"], [], [], ["d", "e"]]);
  });

  test("answers nothing to nothing, and takes a note that says nothing", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await takeOne(store);

    expect(await store.record([])).toEqual([]);
    await keep(store, batch, {});
    expect(
      await store.record([
        runNote(batch, batch.job, {}),
        { ...runNote(batch, batch.job, {}), n: 7 },
      ]),
    ).toEqual(["recorded", "stale"]);
  });
}

function keepingTests(open: OpenStore): void {
  test("keeps the last move of a unit, in one note and over several (000-22, 000-23)", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, { units: [running("a"), broken("b"), done("b", "1"), running("c")] });
    await clock.advance(5);

    await keep(store, batch, { units: [done("a", '{"x":1}')] }, { units: [broken("c")] });

    expect(await store.units(id, {}, { limit: 10 })).toMatchObject([
      { unit: "a", state: "completed", result: '{"x":1}', fault: null, n: 1, at: clock.now() },
      { unit: "b", state: "completed", result: "1", at: clock.now() - 5 },
      { unit: "c", state: "failed", result: null, fault: { message: expect.any(String) } },
    ]);
  });

  test("keeps units of the same name apart by phase and by job", async () => {
    await using db = await open();
    const { store } = db;
    const ids = await add(store, {}, {});
    const batch = await take(store);
    const [one, other] = [at(batch.jobs, 0), at(batch.jobs, 1)];

    await store.record([
      runNote(batch, one, { units: [done("x"), broken("x", "fetch"), running("x", "")] }),
      runNote(batch, other, { units: [broken("x")] }),
    ]);

    const lists = await Promise.all(ids.map((id) => store.units(id, {}, { limit: 10 })));
    expect(lists.map((list) => list.map(({ phase, state }) => [phase, state]))).toEqual([
      [
        ["", "running"],
        ["build", "completed"],
        ["fetch", "failed"],
      ],
      [["build", "failed"]],
    ]);
  });

  test("takes 1,000 moves in one note, and adds them up with 100 others (000-24)", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const names = Array.from({ length: MOVES_MAX }, (_, index) => `unit ${index}`);
    await keep(store, batch, { units: names.map((name) => running(name)) });

    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, part) => {
        const own = names.slice(part * 10, part * 10 + 10);
        const units = own.map((name, index) => (index === 0 ? broken(name) : done(name, "1")));
        return store.record([runNote(batch, batch.job, { units })]);
      }),
    );

    expect(new Set(answers.flat())).toEqual(new Set(["recorded"]));
    expect((await store.progress(id))?.units).toEqual([
      { phase: "build", planned: 0, running: 0, completed: 900, failed: 100 },
    ]);
  });

  test("adds up what two handles record about different jobs at once (000-24)", async () => {
    await using db = await open();
    const handles = [db.store, await db.another()];
    const ids = await add(db.store, {}, {});
    const batch = await take(db.store);

    await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        handles[index % 2]!.record([
          runNote(batch, at(batch.jobs, index % 2), { units: [done(`${index}`)] }),
        ]),
      ),
    );

    const counts = await Promise.all(ids.map((id) => db.store.progress(id)));
    expect(counts.map((job) => job?.units)).toMatchObject([
      [{ completed: 20 }],
      [{ completed: 20 }],
    ]);
  });

  test("begins anew: forgets phases, units and progress, and nothing of other jobs", async () => {
    await using db = await open();
    const { store } = db;
    const ids = await add(store, {}, {});
    const batch = await take(store);
    const [job, other] = [at(batch.jobs, 0), at(batch.jobs, 1)];
    await store.record([
      runNote(batch, job, everything()),
      runNote(batch, other, { units: [done("kept")], completed: { name: "fetch", result: "1" } }),
    ]);

    await store.record([
      runNote(batch, job, { units: [done("forgotten")] }),
      runNote(batch, job, { clearCheckpoints: true, units: [running("new")] }),
    ]);

    expect(await store.progress(ids[0])).toMatchObject({
      progress: null,
      phases: [],
      units: [{ phase: "build", running: 1, completed: 0, failed: 0 }],
    });
    expect(await store.progress(ids[1])).toMatchObject({
      phases: [{ name: "fetch", result: "1" }],
      units: [{ completed: 1 }],
    });
  });

  test("keeps what comes with a new beginning, and after it", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);

    await keep(
      store,
      batch,
      { completed: { name: "fetch", result: "1" } },
      { clearCheckpoints: true, progress: halfway(), completed: { name: "fetch", result: "2" } },
      { units: [done("a")] },
    );

    expect(await store.progress(id)).toMatchObject({
      progress: { percent: 50 },
      phases: [{ name: "fetch", result: "2" }],
      units: [{ completed: 1 }],
    });
  });

  test("keeps the first result of a phase, and tells of it once", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);

    await keep(
      store,
      batch,
      { completed: { name: "fetch", result: "1" } },
      { completed: { name: "fetch", result: "2" } },
    );
    await keep(store, batch, { completed: { name: "fetch", result: "3" } });

    expect((await store.progress(id))?.phases).toMatchObject([{ name: "fetch", result: "1" }]);
    const told = (await eventsOf(store, id)).filter((kind) => kind === "job:phase:completed");
    expect(told).toHaveLength(1);
  });

  test("keeps results byte for byte", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const result = '{ "b": 1.0, "a": "\\u00e9\\n é" , "b": 2 }';

    await keep(store, batch, {
      progress: halfway({ data: result }),
      units: [done("a", result), done("é / \" '", "null")],
      completed: { name: "fetch", result },
    });

    const progress = await store.progress(id);
    expect([progress?.progress?.data, progress?.phases[0]?.result]).toEqual([result, result]);
    expect((await store.units(id, {}, { limit: 10 })).map((each) => each.result)).toEqual([
      result,
      "null",
    ]);
  });
}

function refusalTests(open: OpenStore): void {
  test.each(BAD)("refuses %s, and keeps nothing of that note (000-22, 000-23)", async (_, bad) => {
    await using db = await open();
    const { store } = db;
    const ids = await add(store, {}, {}, {});
    const batch = await take(store);
    const child = newJob({ lane: "children" });
    const [first, second, third] = [at(batch.jobs, 0), at(batch.jobs, 1), at(batch.jobs, 2)];
    const before = await pictureOf(store, ids[1]);

    const answers = await store.record([
      runNote(batch, first, { units: [done("before")] }),
      runNote(batch, second, {
        clearCheckpoints: true,
        progress: halfway(),
        completed: { name: "other", result: null },
        children: [child],
        ...bad,
      }),
      runNote(batch, third, { units: [done("after")] }),
    ]);

    expect(answers).toEqual(["recorded", "refused", "recorded"]);
    expect(await pictureOf(store, ids[1])).toEqual(before);
    expect(await store.get(child.id)).toBeNull();
    expect((await store.progress(ids[0]))?.units).toMatchObject([{ completed: 1 }]);
    expect((await store.progress(ids[2]))?.units).toMatchObject([{ completed: 1 }]);
    await settleAll(store, batch, completed());
  });
}

/** Apart from the others: it takes longer than all of them together. */
function boundTests(open: OpenStore): void {
  test("refuses one unit more than a phase may have, and takes a known one", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const notes = Array.from({ length: UNITS_MAX / MOVES_MAX }, (_, part) => ({
      units: Array.from({ length: MOVES_MAX }, (__, index) => running(`${part} ${index}`)),
    }));
    await keep(store, batch, ...notes);

    const answers = await store.record([
      runNote(batch, batch.job, { units: [running("one more")] }),
      runNote(batch, batch.job, { units: [done("7 7")] }),
      runNote(batch, batch.job, { units: [running("one more", "fetch")] }),
    ]);

    expect(answers).toEqual(["refused", "recorded", "recorded"]);
    expect((await store.progress(id))?.units).toEqual([
      { phase: "build", planned: 0, running: UNITS_MAX - 1, completed: 1, failed: 0 },
      { phase: "fetch", planned: 0, running: 1, completed: 0, failed: 0 },
    ]);
  });
}

function feedTests(open: OpenStore): void {
  test("tells of progress and phases with their details, in order (I13)", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);

    await keep(store, batch, {
      progress: halfway({ phase: "fetch", overall: 25, data: '{"n":1}' }),
    });
    await keep(store, batch, {
      completed: { name: "fetch", result: "1" },
      progress: halfway({ percent: 0, overall: 50 }),
    });
    await keep(store, batch, {
      units: [running("a"), done("a"), broken("b", "fetch"), running("c"), planned("d")],
    });
    await settleAll(store, batch, completed());

    expect(await detailsOf(store, id)).toEqual([
      ["job:enqueued", null],
      ["job:started", null],
      ["job:progress", { phase: "fetch", percent: 50, overall: 25, data: '{"n":1}' }],
      ["job:progress", { phase: "build", percent: 0, overall: 50, data: null }],
      ["job:phase:completed", { phase: "fetch" }],
      [
        "job:unit",
        {
          units: [
            { phase: "build", unit: "a", state: "completed", fault: null },
            { phase: "fetch", unit: "b", state: "failed", fault: fault() },
          ],
        },
      ],
      ["job:completed", null],
    ]);
  });

  test("tells the end of a unit once, also if its note is repeated", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [id] = await add(store, {}, {});
    const batch = await takeOne(store);
    const other = await takeOne(store);
    await keep(store, batch, { units: [running("a"), broken("b", "fetch")] });
    await keep(store, other, { units: [done("c")] });
    await keep(store, batch, { units: [done("a"), running("c")] });
    const before = await pictureOf(store, id);
    await clock.advance(1_000);

    await keep(store, batch, { units: [done("a", "2"), broken("b", "fetch")] });
    const repeated = await pictureOf(store, id);
    await keep(store, batch, { units: [done("a"), done("c")] });

    expect(repeated).toEqual(before);
    expect(await unitsTold(store, id)).toEqual(["b failed", "a completed", "c completed"]);
  });

  test("tells the end of a unit again in a later run, and another end in one run", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const first = await takeOne(store);
    await keep(store, first, { units: [broken("a")] }, { units: [done("a")] });
    await settleAll(store, first, runAgain());

    await keep(store, await takeOne(store), { units: [done("a")] });

    expect(await unitsTold(store, id)).toEqual(["a failed", "a completed", "a completed"]);
  });

  test("gives each of several jobs its own detail, also when one of them is gone", async () => {
    await using db = await open();
    const { store } = db;
    const ids = await add(store, {}, {}, {});
    const batch = await take(store);

    await store.record(
      batch.jobs.map((job, index) =>
        runNote(batch, job, { progress: halfway({ percent: index, phase: "é \"'{},\\" }) }),
      ),
    );

    const percents = await Promise.all(ids.map((id) => detailsOf(store, id)));
    expect(percents.map((events) => events.at(-1))).toEqual(
      [0, 1, 2].map((percent) => [
        "job:progress",
        { phase: "é \"'{},\\", percent, overall: 75, data: null },
      ]),
    );
    const entries = await store.feed(0, 100);
    expect(
      entries.every(({ jobs, details }) => (details?.length ?? jobs.length) === jobs.length),
    ).toBe(true);
  });

  test("wakes those who listen for news", async () => {
    await using db = await open();
    const { store } = db;
    await add(store, {});
    const batch = await takeOne(store);
    const called = nextCall(store);

    await keep(store, batch, { progress: halfway() });

    expect(await called).toBe("called");
  });
}

function childrenTests(open: OpenStore): void {
  test("brings children into being with the phase that made them, once", async () => {
    await using db = await open();
    const { store } = db;
    const [parentId] = await add(store, {});
    const batch = await takeOne(store);
    const children = [newJob({ parentId }), newJob({ parentId, due: { delayMs: 1_000 } })];
    const note = { completed: { name: "fetch", result: null }, children };

    await keep(store, batch, note);
    await keep(store, batch, note, note);

    expect((await store.list({ parentId }, { limit: 10 })).jobs).toHaveLength(2);
    expect(await eventsOf(store, at(children, 0).id)).toEqual(["job:enqueued"]);
    expect(await claimable(store)).toEqual([at(children, 0).id]);
  });

  test("keeps the note when a child gives way to the holder of its key", async () => {
    await using db = await open();
    const { store } = db;
    const [id, other] = await add(store, {}, { dedup: { key: "k", onConflict: "skip" } });
    const batch = await takeOne(store);
    const children = [newJob({ dedup: { key: "k", onConflict: "skip" } }), newJob({ priority: 1 })];

    await keep(store, batch, { completed: { name: "fetch", result: null }, children });

    expect((await store.progress(id))?.phases).toHaveLength(1);
    const found = await Promise.all(children.map((child) => store.get(child.id)));
    expect(found.map((child) => child?.state)).toEqual([undefined, "queued"]);
    expect(await claimable(store)).toEqual([at(children, 1).id, other]);
  });
}

function settleTests(open: OpenStore): void {
  test.each([completed("1"), failedWith(), runAgain()])(
    "is kept with an end as $outcome, and told before it",
    async (settlement) => {
      await using db = await open();
      const { store } = db;
      const [id, plain] = await add(store, {}, {});
      const batch = await take(store);
      const { children: _, ...note } = everything();

      const answers = await store.settle([
        { ...settleItem(batch, at(batch.jobs, 0), settlement), note },
        settleItem(batch, at(batch.jobs, 1), completed()),
      ]);

      expect(answers).toEqual(["settled", "settled"]);
      expect(await store.progress(id)).toMatchObject({
        progress: { percent: 50 },
        phases: [{ name: "fetch" }],
        units: [{ completed: 1, failed: 1 }],
        lastOutcome: settlement.outcome,
      });
      expect((await eventsOf(store, id)).slice(2, 5)).toEqual([
        "job:progress",
        "job:unit",
        "job:phase:completed",
      ]);
      expect(await eventsOf(store, id)).toHaveLength(6);
      expect(await store.progress(plain)).toMatchObject({ progress: null, units: [] });
    },
  );

  test("is not kept with an end that is stale", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {}, {});
    const batch = await take(store);
    const item = settleItem(batch, at(batch.jobs, 0), completed());
    await store.settle([item]);
    const before = await pictureOf(store, id);

    const answers = await store.settle([{ ...item, note: { units: [done("late")] } }]);

    expect(answers).toEqual(["stale"]);
    expect(await pictureOf(store, id)).toEqual(before);
  });

  test.each(BAD)("with %s leaves the run open, and its neighbours alone", async (_, bad) => {
    await using db = await open();
    const { store } = db;
    const [id, other] = await add(store, {}, {});
    const batch = await take(store);
    const before = await pictureOf(store, id);
    const item = settleItem(batch, at(batch.jobs, 0), completed());

    const answers = await store.settle([
      { ...item, note: { progress: halfway(), ...bad } },
      settleItem(batch, at(batch.jobs, 1), completed()),
    ]);

    expect(answers).toEqual(["refused", "settled"]);
    expect(await pictureOf(store, id)).toEqual(before);
    expect((await store.get(other))?.state).toBe("completed");
    expect(await store.settle([item])).toEqual(["settled"]);
  });

  test("comes with children of a success", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const child = newJob();

    const answers = await store.settle([
      {
        ...settleItem(batch, batch.job, completed()),
        note: { completed: { name: "fetch", result: null } },
        children: [child],
      },
    ]);

    expect(answers).toEqual(["settled"]);
    expect((await store.progress(id))?.phases).toHaveLength(1);
    expect(await claimable(store)).toEqual([child.id]);
  });
}

/** The units of the events `job:unit` of a job, and how they ended. */
async function unitsTold(store: JobStore, id: JobId): Promise<readonly string[]> {
  const entries = await store.feed(0, 1_000);
  const told = entries
    .filter(({ kind }) => kind === "job:unit")
    .flatMap(({ jobs, details }) => details?.filter((_, index) => jobs[index] === id) ?? []);
  return told.flatMap((detail) => {
    const { units }: UnitsDetail = JSON.parse(detail);
    return units.map(({ unit, state }) => `${unit} ${state}`);
  });
}
