import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { newJob } from "../../../test/support/factories.ts";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import type { NoteAnswer, NoteBody, RunNote } from "../../store/types/notes.ts";
import { NoteSender } from "./note-sender.ts";

const lease = { number: 7, secret: "s" };
const note = (key: number, body: NoteBody): RunNote => ({ lease, key, n: 1, ...body });
const told = (percent: number): NoteBody => ({
  progress: { phase: null, phases: [], percent, overall: percent, data: null },
});
const moved = (...units: string[]): NoteBody => ({
  units: units.map((unit) => ({ phase: "", unit, to: { state: "running" } })),
});
/** A unit whose result has so many characters. No message may print it. */
const weighing = (chars: number): NoteBody => ({
  units: [{ phase: "", unit: "u", to: { state: "completed", result: "x".repeat(chars) } }],
});
const completed = (name: string): NoteBody => ({ completed: { name, result: null } });

function makeRecorder(answer: (notes: readonly RunNote[]) => Promise<readonly NoteAnswer[]>) {
  const clock = virtualClock();
  const calls: (readonly RunNote[])[] = [];
  const triedAt: number[] = [];
  const logged: string[] = [];
  const log = (message: string): void => void logged.push(message);
  const noteSender = new NoteSender({
    store: {
      record(notes) {
        calls.push(notes);
        triedAt.push(clock.monotonic());
        return answer(notes);
      },
      checkpoints: () => Promise.reject(new Error("the disk is full")),
      acquireLocks: () => Promise.reject(new Error("the disk is full")),
      get: () => Promise.resolve(null),
    },
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
  });
  return { clock, calls, triedAt, logged, noteSender };
}

function keep(notes: readonly RunNote[]): Promise<readonly NoteAnswer[]> {
  return Promise.resolve(notes.map(() => "recorded"));
}

const keys = (calls: readonly (readonly RunNote[])[]) =>
  calls.map((notes) => notes.map(({ key }) => key));

describe("a noteSender", () => {
  test("has one call on its way: what comes meanwhile goes together", async () => {
    const gate = Promise.withResolvers<void>();
    const { noteSender, calls } = makeRecorder((notes) => gate.promise.then(() => keep(notes)));

    const first = noteSender.record(note(1, completed("one")));
    while (calls.length === 0) await setImmediate();
    const later = [2, 3, 4].map((key) => noteSender.record(note(key, completed("one"))));
    await setImmediate();
    expect(keys(calls)).toEqual([[1]]);
    gate.resolve();

    expect(await Promise.all([first, ...later])).toEqual(Array(4).fill("recorded"));
    expect(keys(calls)).toEqual([[1], [2, 3, 4]]);
  });

  test("makes one note of what a run says meanwhile: last progress, every move", async () => {
    const { noteSender, calls } = makeRecorder(keep);

    await Promise.all([
      noteSender.record(note(1, { clearCheckpoints: true })),
      noteSender.record(note(1, told(10))),
      noteSender.record(note(1, moved("a", "b"))),
      noteSender.record(note(1, told(20))),
      noteSender.record(note(1, moved("a"))),
      noteSender.record(note(1, completed("one"))),
    ]);

    expect(calls).toEqual([
      [
        note(1, {
          clearCheckpoints: true,
          ...told(20),
          ...moved("a", "b", "a"),
          ...completed("one"),
        }),
      ],
    ]);
  });

  test("says nothing in one note with what comes after the end of a phase", async () => {
    const { noteSender, calls } = makeRecorder(keep);

    await Promise.all([
      noteSender.record(note(1, completed("one"))),
      noteSender.record(note(1, told(50))),
      noteSender.record(note(1, completed("two"))),
      noteSender.record(note(2, told(1))),
    ]);

    expect(calls).toEqual([
      [note(1, completed("one"))],
      [note(1, { ...told(50), ...completed("two") }), note(2, told(1))],
    ]);
  });

  test("puts at most 500 notes, and 1,000 moves of units, into one call", async () => {
    const { noteSender, calls } = makeRecorder(keep);
    const many = Array.from({ length: 600 }, (_, i) => `${i}`);

    const notes = many.map((_, i) => noteSender.record(note(i, told(1))));
    const moves = [1_001, 1_002, 1_003].map((key) => noteSender.record(note(key, moved(...many))));
    await Promise.all([...notes, ...moves]);

    expect(calls.map((call) => call.length)).toEqual([500, 101, 1, 1]);
  });

  test("keeps what else a run said when a child of its phase is refused", async () => {
    const isBad = ({ children = [] }: RunNote): boolean => children.length > 0;
    const refused = { status: "refused", code: "ID_CONFLICT", child: "a", holder: "a" } as const;
    const { noteSender, calls } = makeRecorder((notes) =>
      Promise.resolve(notes.map((each) => (isBad(each) ? refused : "recorded"))),
    );

    const answers = await Promise.all([
      noteSender.record(note(1, moved("a"))),
      noteSender.record(note(1, { ...completed("one"), children: [newJob()] })),
    ]);

    expect(answers).toEqual(["recorded", refused]);
    expect(calls.map((call) => call.length)).toEqual([1, 1, 1]);
  });

  test("leaves others alone when the database refuses a value, in their order", async () => {
    const isBad = ({ units = [] }: RunNote): boolean => units.some(({ unit }) => unit === "bad");
    const { noteSender, calls } = makeRecorder((notes) =>
      Promise.resolve(notes.map((each) => (isBad(each) ? "refused" : "recorded"))),
    );

    const answers = await Promise.all([
      noteSender.record(note(1, moved("a"))),
      noteSender.record(note(1, moved("bad"))),
      noteSender.record(note(1, completed("one"))),
      noteSender.record(note(1, moved("b"))),
      noteSender.record(note(2, moved("c"))),
    ]);

    expect(answers).toEqual(["recorded", "refused", "recorded", "recorded", "recorded"]);
    const ofOne = calls.slice(1).flatMap((call) => call.filter(({ key }) => key === 1));
    expect(ofOne).toEqual([
      note(1, moved("a")),
      note(1, moved("bad")),
      note(1, completed("one")),
      note(1, moved("b")),
    ]);
  });

  test("sends a heavy note without company, and what its run says in order", async () => {
    const { noteSender, calls } = makeRecorder(keep);

    await Promise.all([
      noteSender.record(note(1, told(1))),
      noteSender.record(note(2, told(10))),
      noteSender.record(note(2, weighing(4_000_001))),
      noteSender.record(note(3, told(1))),
      noteSender.record(note(2, told(20))),
    ]);

    expect(keys(calls)).toEqual([[1, 2], [2], [3, 2]]);
    const ofTwo = calls.flat().filter(({ key }) => key === 2);
    expect(ofTwo.map(({ progress }) => progress?.percent ?? "heavy")).toEqual([10, "heavy", 20]);
  });

  test("puts light notes together only as long as they are not heavy as one", async () => {
    const { noteSender, calls } = makeRecorder(keep);

    await Promise.all([
      noteSender.record(note(1, weighing(2_000_000))),
      noteSender.record(note(1, weighing(2_000_000))),
      noteSender.record(note(1, weighing(1))),
      noteSender.record(note(2, weighing(3_999_999))),
      noteSender.record(note(3, weighing(1))),
    ]);

    expect(keys(calls)).toEqual([[1], [1, 2], [3]]);
    expect(calls[0]?.[0]?.units).toHaveLength(2);
  });

  test("refuses at once what no database takes in one go, and never sends it", async () => {
    const gate = Promise.withResolvers<void>();
    const { noteSender, calls } = makeRecorder((notes) => gate.promise.then(() => keep(notes)));
    const tooHeavy = { ...weighing(64_000_000), completed: { name: "one", result: "1" } };

    const light = noteSender.record(note(1, told(1)));
    const answer = await Promise.race([noteSender.record(note(1, tooHeavy)), setImmediate("none")]);
    expect(answer).toBe("refused");
    gate.resolve();

    expect(await light).toBe("recorded");
    expect(calls).toEqual([[note(1, told(1))]]);
  });

  test("sends the heaviest note that a database takes", async () => {
    const { noteSender, calls } = makeRecorder(keep);

    expect(await noteSender.record(note(1, weighing(64_000_000)))).toBe("recorded");

    expect(keys(calls)).toEqual([[1]]);
  });

  test("passes on that a run is no longer ours", async () => {
    const { noteSender } = makeRecorder((notes) =>
      Promise.resolve(notes.map(({ key }) => (key === 1 ? "stale" : "recorded"))),
    );

    const answers = await Promise.all([
      noteSender.record(note(1, told(1))),
      noteSender.record(note(1, told(2))),
      noteSender.record(note(2, told(1))),
    ]);

    expect(answers).toEqual(["stale", "stale", "recorded"]);
  });

  test("tries again while the store fails, less and less often, and loses nothing", async () => {
    let isBroken = true;
    const { noteSender, clock, triedAt, logged } = makeRecorder((notes) =>
      isBroken ? Promise.reject(new Error("the disk is full")) : keep(notes),
    );

    const answer = noteSender.record(note(1, completed("one")));
    await setImmediate();
    await clock.advance(20_000);
    isBroken = false;
    await clock.advance(5_000);

    expect(await answer).toBe("recorded");
    expect(triedAt.slice(0, 6)).toEqual([0, 200, 600, 1_400, 3_000, 6_200]);
    expect(logged[0]).toBe("cannot store notes of running jobs; trying again");
  });

  test("that closes waits a while, then answers for a store that does not", async () => {
    const { noteSender, clock } = makeRecorder(() => new Promise(() => {}));

    const underWay = noteSender.record(note(1, told(1)));
    await setImmediate();
    const queued = noteSender.record(note(2, told(1)));
    const recalled = noteSender.checkpoints(3);
    const closed = noteSender.close(5_000);
    await clock.advance(5_000);
    await closed;

    expect(await Promise.all([underWay, queued])).toEqual(["closed", "closed"]);
    expect(await noteSender.record(note(3, told(1)))).toBe("closed");
    expect(await recalled).toBeNull();
  });
});
