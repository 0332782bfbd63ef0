/** What `millrace jobs` shows about one job, and how the job is named, on real stores. */
import { describe, expect, test } from "vitest";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { newJob } from "../support/factories.ts";
import { TestStore } from "./command-line.ts";

/** Two ids with the same first 25 letters. */
const [FIRST, SECOND] = ["01KE6Z4XP07V1H8R2N5QWT9AC8", "01KE6Z4XP07V1H8R2N5QWT9AC9"];

describe("the first letters of an id", () => {
  test.each([
    ["show"],
    ["explain"],
    ["logs"],
    ["cancel"],
    ["retry"],
    ["fail"],
    ["follow", "--timeout", "1ms"],
  ])("are enough for jobs %s", async (verb, ...options) => {
    await using store = new TestStore();
    const { id } = await store.json("enqueue", "email");

    const { code, err } = await store.type("jobs", verb, id.slice(0, 12), ...options);

    expect(err).not.toContain("ID_INVALID");
    expect(code).toBe(verb === "follow" ? 124 : 0);
  });

  test("may be in lower case, and are enough for the parent and the start of a list", async () => {
    await using store = new TestStore();
    const [first, second] = [await store.json("enqueue", "a"), await store.json("enqueue", "b")];

    const shown = await store.json("jobs", "show", second.id.slice(0, 20).toLowerCase());
    const rest = await store.json("jobs", "list", "--after", second.id.slice(0, 20));
    const children = await store.json("jobs", "list", "--parent", first.id.slice(0, 20));

    expect(shown.job.id).toBe(second.id);
    expect(rest.jobs.map(({ id }: { id: string }) => id)).toEqual([first.id]);
    expect(children.jobs).toEqual([]);
  });

  test.each(["show", "acknowledge", "discard", "reprocess"])(
    "are enough for dlq %s",
    async (verb) => {
      await using store = new TestStore();
      const { id } = await store.json("enqueue", "email");
      await store.type("jobs", "fail", id);

      expect((await store.type("dlq", verb, id.slice(0, 10))).code).toBe(0);
      expect((await store.type("dlq", "list", "--after", id.slice(0, 10))).code).toBe(0);
    },
  );

  test("that several ids have are refused with a list of the jobs", async () => {
    await using store = new TestStore();
    await store.mill;
    await addJobs(store, [FIRST, SECOND]);

    const { code, out, err } = await store.type("jobs", "cancel", FIRST.slice(0, 25));

    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`${FIRST.slice(0, 25)} is the beginning of several ids.`);
    expect(err).toMatch(new RegExp(`^${FIRST} +email +queued `, "m"));
    expect(err).toMatch(new RegExp(`^${SECOND} +email +queued `, "m"));
    expect((await store.json("jobs", "show", FIRST)).job.state).toBe("queued");
  });

  test("that many ids have are refused with the first ten", async () => {
    await using store = new TestStore();
    await store.mill;
    const letters = "0123456789ABC".split("");
    await addJobs(
      store,
      letters.map((letter) => `${FIRST.slice(0, 25)}${letter}`),
    );

    const { err } = await store.type("jobs", "show", FIRST.slice(0, 8));

    expect(err.match(/^01KE6Z4X\w{18} /gm)).toHaveLength(10);
    expect(err).toContain("and more");
  });

  test("that no id has end with 1, and too few letters with 2", async () => {
    await using store = new TestStore();
    await store.type("enqueue", "email");

    const unknown = await store.type("jobs", "show", "7ZZZZZ");
    const short = await store.type("jobs", "show", "01K");

    expect(unknown).toMatchObject({ code: 1, out: "" });
    expect(unknown.err).toMatch(/^JOB_NOT_FOUND: no id begins with 7ZZZZZ\n/);
    expect(short).toMatchObject({ code: 2, out: "" });
    expect(short.err).toContain("at least 4 letters");
  });
});

async function addJobs(store: TestStore, ids: readonly string[]): Promise<void> {
  const files = makeSqliteStore({ path: store.file });
  await files.open();
  await files.enqueue(ids.map((id) => newJob({ id })));
  await files.close();
}
