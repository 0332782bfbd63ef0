/** A pipeline that a deploy changes while a job is in the middle of it. Phases have names. */
import { defineJob, TransientError, type AnyJob } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, type RuntimeTest } from "./support.ts";

interface Ran {
  readonly phase: string;
  readonly results: unknown;
}

/** The job as one release has it: phases that note their run, and fail if they are told to. */
function release(ran: Ran[], names: readonly string[], fails?: string): AnyJob {
  let job: any = defineJob({ type: "changing" });
  for (const name of names) {
    job = job.phase(name, (_: unknown, ctx: { results: object }) => {
      ran.push({ phase: name, results: ctx.results });
      if (name === fails) throw new TransientError("no");
      return `result of ${name}`;
    });
  }
  return job;
}

/** Runs one release until a phase fails, then the next one. */
async function deployed(
  kit: RuntimeTest,
  before: { readonly names: readonly string[]; readonly fails: string },
  after: readonly string[],
) {
  const first = release([], before.names, before.fails);
  const enqueued = await kit.mill.enqueue(first);
  await kit.drain([first]);
  const ran: Ran[] = [];
  const second = release(ran, after);
  await kit.advance("1m");
  await kit.drain([second]);
  const { phases } = await kit.mill.jobs.progress(enqueued.id);
  return {
    ran,
    phases: ran.map(({ phase }) => phase),
    shown: phases.map(({ name, state }) => `${name} ${state}`),
    result: await kit.mill.result(enqueued),
  };
}

const r = (name: string): string => `result of ${name}`;

describe("C-19 a job in the middle of a pipeline that a deploy has changed", () => {
  test("runs a new phase where it stands, with the results of those before it", async () => {
    await using kit = await openTest();

    const { ran, result } = await deployed(
      kit,
      { names: ["one", "two", "three"], fails: "three" },
      ["one", "new", "two", "three"],
    );

    expect(ran).toEqual([
      { phase: "new", results: { one: r("one") } },
      { phase: "three", results: { one: r("one"), new: r("new"), two: r("two") } },
    ]);
    expect(result).toBe(r("three"));
  });

  test("runs a new first phase, and keeps what was completed after it", async () => {
    await using kit = await openTest();

    const { ran } = await deployed(kit, { names: ["one", "two"], fails: "two" }, [
      "zero",
      "one",
      "two",
    ]);

    expect(ran).toEqual([
      { phase: "zero", results: {} },
      { phase: "two", results: { zero: r("zero"), one: r("one") } },
    ]);
  });

  test("runs a new last phase", async () => {
    await using kit = await openTest();

    const { phases, result } = await deployed(kit, { names: ["one", "two"], fails: "two" }, [
      "one",
      "two",
      "three",
    ]);

    expect(phases).toEqual(["two", "three"]);
    expect(result).toBe(r("three"));
  });

  test("ignores a removed phase: its result is no longer passed on or shown", async () => {
    await using kit = await openTest();

    const { ran, shown } = await deployed(kit, { names: ["one", "two", "three"], fails: "three" }, [
      "one",
      "three",
    ]);

    expect(ran).toEqual([{ phase: "three", results: { one: r("one") } }]);
    expect(shown).toEqual(["one completed", "three completed"]);
  });

  test("does not run a removed phase that had failed", async () => {
    await using kit = await openTest();

    const { phases, result } = await deployed(
      kit,
      { names: ["one", "two", "three"], fails: "two" },
      ["one", "three"],
    );

    expect(phases).toEqual(["three"]);
    expect(result).toBe(r("three"));
  });

  test("ends with the last result when all that is left was removed", async () => {
    await using kit = await openTest();

    const { phases, result, shown } = await deployed(
      kit,
      { names: ["one", "two", "three"], fails: "three" },
      ["one", "two"],
    );

    expect(phases).toEqual([]);
    expect(result).toBe(r("two"));
    expect(shown.slice(0, 2)).toEqual(["one completed", "two completed"]);
  });

  test("runs reordered phases in the new order, unless they are completed", async () => {
    await using kit = await openTest();

    const { ran, result } = await deployed(
      kit,
      { names: ["one", "two", "three", "four"], fails: "two" },
      ["four", "one", "three", "two"],
    );

    expect(ran).toEqual([
      { phase: "four", results: {} },
      { phase: "three", results: { four: r("four"), one: r("one") } },
      { phase: "two", results: { four: r("four"), one: r("one"), three: r("three") } },
    ]);
    expect(result).toBe(r("two"));
  });

  test("ends with the stored result of a completed phase that is last by now", async () => {
    await using kit = await openTest();

    const { ran, result, shown } = await deployed(kit, { names: ["one", "two"], fails: "two" }, [
      "two",
      "one",
    ]);

    expect(ran).toEqual([{ phase: "two", results: {} }]);
    expect(result).toBe(r("one"));
    expect(shown).toEqual(["two completed", "one completed"]);
  });

  test("takes a renamed phase for a removed one and a new one", async () => {
    await using kit = await openTest();

    const { ran } = await deployed(kit, { names: ["one", "two", "three"], fails: "three" }, [
      "one",
      "second",
      "three",
    ]);

    expect(ran).toEqual([
      { phase: "second", results: { one: r("one") } },
      { phase: "three", results: { one: r("one"), second: r("second") } },
    ]);
  });
});
