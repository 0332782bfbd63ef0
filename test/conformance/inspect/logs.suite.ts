import { describe, expect, test } from "vitest";
import type { JobId, JsonText } from "../../../src/core/job.ts";
import {
  LOG_CHARS_MAX,
  LOG_LINES_MAX,
  type LogEntry,
  type LogRecord,
} from "../../../src/store/types/notes.ts";
import type { JobStore } from "../../../src/store/store.ts";
import { completed, crashedOnce, failedWith, jobId, runAgain } from "../../support/factories.ts";
import { done, FORGERIES, halfway, keep, pictureOf, runNote } from "../../support/notes.ts";
import {
  add,
  at,
  eventsOf,
  rescueSilent,
  settleItem,
  startAll,
  take,
  takeOne,
} from "../../support/steps.ts";
import type { OpenStore } from "../../support/stores.ts";

/** What no log takes as the fields of a line. */
const BAD_FIELDS: readonly JsonText[] = ["{", "[1]", '"text"', "1", "nonsense"];

export function logsSuite(open: OpenStore): void {
  describe("logs", () => {
    keepingTests(open);
    pageTests(open);
    boundTests(open);
    runTests(open);
    fenceTests(open);
  });
}

let turns = 0;

/** Each line is later in its run than those before. */
function line(message: string, overrides: Partial<LogEntry> = {}): LogEntry {
  const turn = (turns += 1);
  return { turn, at: 1_767_603_600_000, level: "info", message, fields: null, ...overrides };
}

/** The lines of a run from one on. */
function lines(count: number, from = 0): readonly LogEntry[] {
  return Array.from({ length: count }, (_, index) => {
    return line(`line ${from + index}`, { turn: from + index + 1 });
  });
}

/** From the first line on, page by page: more than may be kept would show. */
async function allLogs(store: JobStore, id: JobId): Promise<readonly LogRecord[]> {
  const first = await store.logs(id, { after: 0, limit: LOG_LINES_MAX });
  const last = first.at(-1)?.line ?? 0;
  return [...first, ...(await store.logs(id, { after: last, limit: LOG_LINES_MAX }))];
}

async function messages(store: JobStore, id: JobId): Promise<readonly string[]> {
  return (await allLogs(store, id)).map(({ message }) => message);
}

/** The numbers count up by one. */
function expectConsecutive(records: readonly LogRecord[]): void {
  const [first] = records;
  expect(records.map((record) => record.line)).toEqual(
    records.map((_, index) => (first?.line ?? 0) + index),
  );
}

function keepingTests(open: OpenStore): void {
  test("keeps what a run said, in its order, over several notes", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);

    await keep(store, batch, { logs: lines(3) }, { logs: lines(2, 3) });
    await keep(store, batch, { logs: lines(2, 5), progress: halfway() });

    const records = await allLogs(store, id);
    expect(records.map(({ message }) => message)).toEqual(lines(7).map((each) => each.message));
    expectConsecutive(records);
  });

  test("keeps the lines of a note once that is sent again after a lost answer", async () => {
    await using db = await open();
    const { store } = db;
    const other = await db.another();
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const [first, second] = [{ logs: lines(2) }, { logs: lines(2, 2) }];
    await keep(store, batch, first);

    await keep(store, batch, second, second);
    await keep(other, batch, second);
    await keep(store, batch, { logs: lines(3, 3) });

    const records = await allLogs(store, id);
    expect(records.map(({ message }) => message)).toEqual(lines(6).map((each) => each.message));
    expectConsecutive(records);
  });

  test("keeps the newest lines of a long note that is sent again", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const filler = "x".repeat(9_000);
    const long = lines(20).map((each) => ({ ...each, message: `${each.message}${filler}` }));
    await keep(store, batch, { logs: long });
    const before = await allLogs(store, id);

    await keep(store, batch, { logs: long });

    expect(await allLogs(store, id)).toEqual(before);
  });

  test("keeps a line as it was said: time, level, message, fields", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const said: readonly LogEntry[] = [
      line("begin", { level: "debug", at: 1_000 }),
      line("größe “1”\n\ttwo \\ 'three' 😀", { fields: '{ "b": 1.0, "a": "é" , "c": [null] }' }),
      line("", { level: "warn", fields: "{}" }),
      line("end", { level: "error", at: 999 }),
    ];

    await keep(store, batch, { logs: said });

    const records = await allLogs(store, id);
    expect(records.map(({ line: _line, n: _n, ...rest }) => rest)).toEqual(
      said.map(({ turn: _turn, ...rest }) => rest),
    );
    expect(records.map(({ n }) => n)).toEqual([1, 1, 1, 1]);
  });

  test("keeps the logs of two jobs apart", async () => {
    await using db = await open();
    const { store } = db;
    const ids = await add(store, {}, {});
    const batch = await take(store);

    await store.record(
      [0, 1, 0].map((turn, index) =>
        runNote(batch, at(batch.jobs, turn), { logs: lines(2, 2 * index) }),
      ),
    );

    expect(await messages(store, ids[0])).toEqual(["line 0", "line 1", "line 4", "line 5"]);
    expect(await messages(store, ids[1])).toEqual(["line 2", "line 3"]);
    for (const id of ids) expectConsecutive(await allLogs(store, id));
  });

  test("loses nothing when many runs log at once, through two handles", async () => {
    await using db = await open();
    const handles = [db.store, await db.another()];
    const ids = await add(db.store, {}, {}, {}, {}, {}, {});
    const batch = await take(db.store);

    const answers = await Promise.all(
      batch.jobs.flatMap((job, index) =>
        Array.from({ length: 5 }, (_, turn) =>
          handles[index % 2]!.record([runNote(batch, job, { logs: lines(5, 5 * turn) })]),
        ),
      ),
    );

    expect(new Set(answers.flat())).toEqual(new Set(["recorded"]));
    for (const id of ids) {
      const records = await allLogs(db.store, id);
      expect(records.map(({ message }) => message)).toEqual(lines(25).map((each) => each.message));
      expectConsecutive(records);
    }
  });

  test("keeps the order when notes of one run come at once, through two handles", async () => {
    await using db = await open();
    const handles = [db.store, await db.another()];
    const [id] = await add(db.store, {});
    const batch = await takeOne(db.store);

    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        handles[index % 2]!.record([runNote(batch, batch.job, { logs: lines(5, 5 * index) })]),
      ),
    );

    expect(new Set(answers.flat())).toEqual(new Set(["recorded"]));
    const records = await allLogs(db.store, id);
    const said = records.map(({ message }) => Number(message.slice("line ".length)));
    expect(said).toEqual([...new Set(said)].toSorted((one, other) => one - other));
    expect(said.at(-1)).toBe(199);
    expectConsecutive(records);
  });

  test("tells the feed nothing", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);

    await keep(store, batch, { logs: lines(3) });

    expect(await eventsOf(store, id)).toEqual(["job:enqueued", "job:started"]);
  });

  test.each(BAD_FIELDS)("refuses %s as fields, and keeps nothing of that note", async (fields) => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);

    const answers = await store.record([
      runNote(batch, batch.job, { logs: [line("before")] }),
      runNote(batch, batch.job, { units: [done("a")], logs: [line("bad", { fields })] }),
      runNote(batch, batch.job, { logs: [line("after")] }),
    ]);

    expect(answers).toEqual(["recorded", "refused", "recorded"]);
    expect(await messages(store, id)).toEqual(["before", "after"]);
    expect(await store.units(id, {}, { limit: 10 })).toEqual([]);
  });

  test("are empty for a job that said nothing, or that there is not", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    await keep(store, await takeOne(store), { progress: halfway() });

    expect(await store.logs(id, { limit: 10 })).toEqual([]);
    expect(await store.logs(id, { after: 3, limit: 10 })).toEqual([]);
    expect(await store.logs(jobId(), { limit: 10 })).toEqual([]);
  });
}

function pageTests(open: OpenStore): void {
  test("show the newest without a place to begin, oldest first", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    await keep(store, await takeOne(store), { logs: lines(10) });

    const page = await store.logs(id, { limit: 3 });

    expect(page.map(({ message }) => message)).toEqual(["line 7", "line 8", "line 9"]);
  });

  test("show the first that follow a line, oldest first, until all are read", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, { logs: lines(10) });
    const first = at(await allLogs(store, id), 0);

    const read = [first];
    const sizes = [];
    for (let pages = 0; pages < 4; pages += 1) {
      const page = await store.logs(id, { after: at(read, -1).line, limit: 4 });
      sizes.push(page.length);
      read.push(...page);
    }
    await keep(store, batch, { logs: lines(1, 10) });

    expect(sizes).toEqual([4, 4, 1, 0]);
    expect(read.map(({ message }) => message)).toEqual(lines(10).map(({ message }) => message));
    const news = await store.logs(id, { after: at(read, -1).line, limit: 4 });
    expect(news.map(({ message }) => message)).toEqual(["line 10"]);
  });
}

function boundTests(open: OpenStore): void {
  test("keep the newest lines, and count on", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    await keep(store, batch, { logs: lines(LOG_LINES_MAX) });
    const full = await allLogs(store, id);

    await keep(store, batch, { logs: lines(7, LOG_LINES_MAX) }, { logs: [] });

    const records = await allLogs(store, id);
    expect(full).toHaveLength(LOG_LINES_MAX);
    expect(records.map(({ message }) => message)).toEqual(
      lines(LOG_LINES_MAX, 7).map(({ message }) => message),
    );
    expectConsecutive(records);
    expect(at(records, 0).line).toBe(at(full, 7).line);
  });

  test("keep the newest of one long note, and of another job everything", async () => {
    await using db = await open();
    const { store } = db;
    const [id, other] = await add(store, {}, {});
    const batch = await take(store);

    await store.record([
      runNote(batch, at(batch.jobs, 1), { logs: [line("kept")] }),
      runNote(batch, at(batch.jobs, 0), { logs: lines(LOG_LINES_MAX + 500) }),
    ]);

    expect(await messages(store, id)).toEqual(
      lines(LOG_LINES_MAX, 500).map(({ message }) => message),
    );
    expect(await messages(store, other)).toEqual(["kept"]);
  });

  test.each([
    ["messages", (text: string) => line(text)],
    ["fields", (text: string) => line("", { fields: `{"a":"${text.slice(8)}"}` })],
  ])("keep no more characters of %s than the bound", async (_, make) => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const size = LOG_CHARS_MAX / 16;
    const said = Array.from({ length: 20 }, (__, index) =>
      make(`${index}`.padStart(4, "0").padEnd(size, "é")),
    );

    for (const each of said) await keep(store, batch, { logs: [each] });
    const exact = await allLogs(store, id);
    await keep(store, batch, { logs: [line("one more")] });

    const weight = exact.reduce(
      (sum, { message, fields }) => sum + message.length + (fields?.length ?? 0),
      0,
    );
    expect(weight).toBe(LOG_CHARS_MAX);
    expect(exact.map(({ message, fields }) => ({ message, fields }))).toEqual(
      said.slice(4).map(({ message, fields }) => ({ message, fields })),
    );
    expect(await messages(store, id)).toEqual([
      ...exact.slice(1).map(({ message }) => message),
      "one more",
    ]);
  });
}

function runTests(open: OpenStore): void {
  test("name the run that said each line, and outlast it", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const first = await takeOne(store);
    await keep(store, first, { logs: lines(2) });
    await store.settle([
      { ...settleItem(first, first.job, runAgain()), note: { logs: lines(1, 2) } },
    ]);
    const second = await takeOne(store);
    await keep(store, second, { logs: [line("line 3", { turn: 1 })] });

    const records = await allLogs(store, id);

    expect(records.map(({ message, n }) => [message, n])).toEqual([
      ["line 0", 1],
      ["line 1", 1],
      ["line 2", 1],
      ["line 3", 2],
    ]);
    expectConsecutive(records);
  });

  test("are kept when a run begins anew", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);

    await keep(
      store,
      batch,
      { logs: lines(1), units: [done("a")] },
      { clearCheckpoints: true, logs: lines(1, 1) },
    );

    expect(await messages(store, id)).toEqual(["line 0", "line 1"]);
    expect(await store.units(id, {}, { limit: 10 })).toEqual([]);
  });

  test.each([completed(), failedWith(), runAgain()])(
    "keep what comes with an end as $outcome",
    async (settlement) => {
      await using db = await open();
      const { store } = db;
      const [id] = await add(store, {});
      const batch = await takeOne(store);
      await keep(store, batch, { logs: lines(1) });

      await store.settle([
        { ...settleItem(batch, batch.job, settlement), note: { logs: lines(2, 1) } },
      ]);

      expect(await messages(store, id)).toEqual(["line 0", "line 1", "line 2"]);
    },
  );

  test("leave a run open whose last lines are refused", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const item = settleItem(batch, batch.job, completed());

    const answers = await store.settle([
      { ...item, note: { logs: [line("x", { fields: "[]" })] } },
    ]);

    expect(answers).toEqual(["refused"]);
    expect(await messages(store, id)).toEqual([]);
    expect(await store.settle([item])).toEqual(["settled"]);
  });
}

function fenceTests(open: OpenStore): void {
  test.each(FORGERIES)("take nothing with %s (I4)", async (_, forge) => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {});
    const batch = await takeOne(store);
    const note = runNote(batch, batch.job, { logs: lines(2) });

    const answers = await store.record([forge(note)]);

    expect(answers).toEqual(["stale"]);
    expect(await messages(store, id)).toEqual([]);
    expect(await store.record([note])).toEqual(["recorded"]);
  });

  test("take nothing of a run that has ended, was rescued or has not begun", async () => {
    await using db = await open();
    const { store, clock } = db;
    const [ended, rescued] = await add(store, {}, {}, {});
    const batch = await take(store, { limit: 1 });
    const lost = await takeOne(store);
    const prefetch = await take(store, { prefetch: true });
    await store.settle([settleItem(batch, at(batch.jobs, 0), completed())]);
    await clock.advance(30_001);
    await rescueSilent(store, lost.worker, { decide: crashedOnce });
    const note = { logs: lines(1) };

    const answers = await store.record([
      runNote(batch, at(batch.jobs, 0), note),
      runNote(lost, lost.job, note),
      runNote(prefetch, at(prefetch.jobs, 0), note),
    ]);

    expect(answers).toEqual(["stale", "stale", "stale"]);
    for (const id of [ended, rescued]) expect(await messages(store, id)).toEqual([]);
    await startAll(store, prefetch);
    expect(await store.record([runNote(prefetch, at(prefetch.jobs, 0), note)])).toEqual([
      "recorded",
    ]);
  });

  test("take nothing with an end that is stale", async () => {
    await using db = await open();
    const { store } = db;
    const [id] = await add(store, {}, {});
    const batch = await take(store);
    const item = settleItem(batch, at(batch.jobs, 0), completed());
    await store.settle([item]);
    const before = await pictureOf(store, id);

    const answers = await store.settle([{ ...item, note: { logs: lines(1) } }]);

    expect(answers).toEqual(["stale"]);
    expect(await messages(store, id)).toEqual([]);
    expect(await pictureOf(store, id)).toEqual(before);
  });
}
