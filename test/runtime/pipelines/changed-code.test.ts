/** A pipeline that a deploy changes while a job is in the middle of it. Phases have names. */
import { defineJob, TransientError, type AnyJob } from "millrace";
import { describe, expect, test } from "vitest";
import { openTest, type RuntimeTest } from "../support.ts";

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

  test.each([
    ["goes on showing them", false, ["one completed", "two pending"]],
    ["shows none of them once it has told progress", true, []],
  ])("runs all of a plain handler that stands where phases were, and %s", async (...told) => {
    await using kit = await openTest();
    const [, tells, shown] = told;
    const ran: string[] = [];
    const phased = defineJob({ type: "changing" })
      .phase("one", (_, ctx) => ctx.step("inside", () => void ran.push("step of one")))
      .phase("two", unavailable);
    const plain = defineJob({ type: "changing" }).run(async (_, ctx) => {
      await ctx.step("inside", () => void ran.push("step of the handler"));
      if (tells) await ctx.progress(50);
      return "plain";
    });

    const { result, phases } = await deployedAs(kit, phased, plain);

    expect(ran).toEqual(["step of one", "step of the handler"]);
    expect(result).toBe("plain");
    expect(phases).toEqual(shown);
  });

  test("runs all phases that stand where a plain handler was", async () => {
    await using kit = await openTest();
    const ran: string[] = [];
    const plain = defineJob({ type: "changing" }).run(async (_, ctx) => {
      await ctx.step("inside", () => void ran.push("step of the handler"));
      return unavailable();
    });
    const phased = defineJob({ type: "changing" })
      .phase("one", (_, ctx) => ctx.step("inside", () => (ran.push("step of one"), "new")))
      .phase("two", (_, ctx) => ctx.results.one);

    const { result, phases } = await deployedAs(kit, plain, phased);

    expect(ran).toEqual(["step of the handler", "step of one"]);
    expect(result).toBe("new");
    expect(phases).toEqual(["one completed", "two completed"]);
  });
});

describe("C-19 units that failed, and that the new release does not look at", () => {
  test("do not count if their phase is lost", async () => {
    await using kit = await openTest();
    const before = defineJob({ type: "changing" })
      .phase("lost", (_, ctx) => ctx.each(["a", "b"], String, failing("b")))
      .phase("last", unavailable);
    const after = defineJob({ type: "changing" }).phase("last", () => "good");

    expect(await endOf(kit, before, after)).toBe("completed");
  });

  test("count if their phase is still there, though it does not run again", async () => {
    await using kit = await openTest();
    const units = (_: unknown, ctx: UnitsContext) => ctx.each(["a", "b"], String, failing("b"));
    const before = defineJob({ type: "changing" }).phase("kept", units).phase("last", unavailable);
    const after = defineJob({ type: "changing" })
      .phase("kept", units)
      .phase("last", () => "good");

    expect(await endOf(kit, before, after)).toBe("completed_with_errors");
  });

  test.each([
    ["a step that is called otherwise now", "charge"],
    ["a step that is not there any more", null],
  ])("do not count: %s", async (_, name) => {
    await using kit = await openTest();
    const before = defineJob({ type: "changing" }).phase("pay", (_payload, ctx) =>
      ctx.step("chrage", unavailable),
    );
    const after = defineJob({ type: "changing" }).phase("pay", async (_payload, ctx) =>
      name === null ? null : ctx.step(name, () => "paid"),
    );

    expect(await endOf(kit, before, after)).toBe("completed");
  });

  test("do not count: an item that is gone", async () => {
    await using kit = await openTest();
    const pages = (items: string[]) =>
      defineJob({ type: "changing" }).phase("pages", (_, ctx) =>
        ctx.each(items, String, failing("b")).then(({ total }) => {
          if (items.length > 1) throw new TransientError("no");
          return total;
        }),
      );

    expect(await endOf(kit, pages(["a", "b"]), pages(["a"]))).toBe("completed");
  });
});

interface UnitsContext {
  each(items: string[], key: (item: string) => string, fn: (item: string) => string): unknown;
}

function failing(item: string): (each: string) => string {
  return (each) => (each === item ? unavailable() : each);
}

function unavailable(): never {
  throw new TransientError("not now");
}

/** A job whose first attempt ran in one release and the second in the next. */
async function deployedAs(kit: RuntimeTest, before: AnyJob, after: AnyJob) {
  const { id } = await kit.mill.enqueue(before);
  await kit.drain([before]);
  await kit.advance("1m");
  await kit.drain([after]);
  const { result } = await kit.mill.jobs.get(id);
  const { phases } = await kit.mill.jobs.progress(id);
  return { result, phases: phases.map(({ name, state }) => `${name} ${state}`) };
}

/** How a job ends whose first attempt ran in one release and the second in the next. */
async function endOf(kit: RuntimeTest, before: AnyJob, after: AnyJob): Promise<string> {
  const { id } = await kit.mill.enqueue(before);
  await kit.drain([before]);
  await kit.advance("1m");
  await kit.drain([after]);
  return (await kit.mill.jobs.get(id)).state;
}
