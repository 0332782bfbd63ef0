/** `millrace failures` on a database, and through a server. */
import { defineJob } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Typed } from "../command-line.ts";
import { ServedStore } from "../server/served-store.ts";

let store: ServedStore;
beforeAll(async () => {
  store = await ServedStore.open();
});
afterAll(() => store[Symbol.asyncDispose]());

const WAYS = ["--db", "--server"] as const;
type Way = (typeof WAYS)[number];

function run(way: Way, ...words: readonly string[]): Promise<Typed> {
  const command = ["failures", ...words];
  return way === "--db" ? store.local(...command) : store.remote(...command);
}

async function readJson(way: Way, ...words: readonly string[]): Promise<any> {
  const { code, out, err } = await run(way, ...words, "-o", "json");
  expect([code, err]).toEqual([0, ""]);
  return JSON.parse(out);
}

/** Two failed jobs of one cause, which no other test has. */
async function failing(word: string, tenants: readonly string[] = ["default", "default"]) {
  const job = defineJob({ type: `mail-${word}` });
  const ids: string[] = [];
  for (const tenant of tenants) {
    const { id } = await store.mill.enqueue(job, undefined, { tenant });
    await store.mill.jobs.fail(id, `the ${word} is broken`);
    ids.push(id);
  }
  const { cause } = await store.mill.deadLetters.get(ids[0] ?? "");
  return { cause, ids, type: job.type };
}

async function statusesOf(ids: readonly string[]): Promise<readonly string[]> {
  const letters = await Promise.all(ids.map((id) => store.mill.deadLetters.get(id)));
  return letters.map(({ status }) => status);
}

/** Words without digits, because numbers are no part of a cause. */
const WORDS = { "--db": "file", "--server": "wire" } as const;

describe.each(WAYS)("millrace failures with %s", (way) => {
  const word = WORDS[way];
  // A server records whom the token belongs to, which is ada.
  const by = way === "--db" ? ["--by", "ada"] : [];

  test("list has a line for each cause, with count, status and error", async () => {
    const { cause, type } = await failing(`${word} lister`);

    const { code, out } = await run(way, "list");

    const line = `^${cause} +new +2 .* ${type} +FailedByHand: the ${word} lister is broken$`;
    expect(code).toBe(0);
    expect(out).toMatch(/^CAUSE +STATUS +COUNT +LAST +FIRST +TYPES +ERROR$/m);
    expect(out).toMatch(new RegExp(line, "m"));
    expect(await readJson(way, "list", "--limit", "1")).toHaveLength(1);
  });

  test("list --after continues, and retry --limit takes so many", async () => {
    const { cause: older } = await failing(`${word} older`);
    const { cause, ids } = await failing(`${word} newer`);

    const causes = (await readJson(way, "list")).map((group: any) => group.cause);
    const [next] = await readJson(way, "list", "--after", cause, "--limit", "1");
    const { err } = await run(way, "list", "--limit", "1");
    const limited = [...by, "--limit", "1", "--notes", "one"];
    const one = await run(way, "retry", cause, ...limited, "-o", "json");

    expect(causes.slice(0, 2)).toEqual([cause, older]);
    expect(next.cause).toBe(older);
    expect(err).toBe(`There may be more: add --after ${cause}\n`);
    expect(JSON.parse(one.out)).toMatchObject({ retried: 1, complete: false });
    expect(one.err).toContain("There are more");
    expect((await statusesOf(ids)).toSorted()).toEqual(["pending_review", "reprocessed"]);
  });

  test("list of a tenant has its own failures", async () => {
    const tenant = `tenant-${word}`;
    const { cause } = await failing(`${word} tenant`, [tenant, "default"]);

    const groups = await readJson(way, "list", "--tenant", tenant);

    expect(groups).toMatchObject([{ cause, count: 1 }]);
    expect(await readJson(way, "show", cause)).toMatchObject({ count: 2 });
    expect(await readJson(way, "show", cause, "--tenant", tenant)).toMatchObject({ count: 1 });
  });

  test("show has the newest job, and the decision", async () => {
    const { cause, ids } = await failing(`${word} shower`);

    const { out } = await run(way, "show", cause);

    expect(out).toMatch(new RegExp(`^cause +${cause}$`, "m"));
    expect(out).toMatch(/^dead letters +2$/m);
    expect(out).toMatch(new RegExp(`^newest job +${ids[1]}$`, "m"));
    expect(out).toMatch(/^error class +non_retryable$/m);
  });

  test("show of an unknown cause ends with 1", async () => {
    expect(await run(way, "show", "0123456789abcdef")).toMatchObject({ code: 1, out: "" });
  });

  test("acknowledge marks the cause, and leaves its dead letters as they are", async () => {
    const { cause, ids } = await failing(`${word} knower`);

    const { code, out } = await run(way, "acknowledge", cause, ...by, "--notes", "known");

    expect({ code, out }).toEqual({ code: 0, out: `${cause} is acknowledged.\n` });
    expect(await readJson(way, "show", cause)).toMatchObject({
      status: "acknowledged",
      decidedBy: "ada",
      notes: "known",
    });
    expect(await statusesOf(ids)).toEqual(["pending_review", "pending_review"]);
  });

  test("snooze hides the cause until a time", async () => {
    const { cause } = await failing(`${word} sleeper`);

    const { until } = await readJson(way, "snooze", cause, "--for", "2h", ...by);

    const group = await readJson(way, "show", cause);
    expect(group.status).toBe("snoozed");
    expect(new Date(group.until).getTime()).toBeCloseTo(new Date(until).getTime(), -4);
    expect((await run(way, "snooze", cause)).code).toBe(2);
    expect((await run(way, "snooze", cause, "--for", "soon")).code).not.toBe(0);
  });

  test("retry enqueues each dead letter once", async () => {
    const { cause, ids } = await failing(`${word} repeater`);

    const { code, out } = await run(way, "retry", cause, ...by, "--notes", "fixed");

    expect({ code, out }).toEqual({ code: 0, out: "2 enqueued.\n" });
    expect(await statusesOf(ids)).toEqual(["reprocessed", "reprocessed"]);
    expect(await run(way, "retry", cause, "--notes", "again")).toMatchObject({
      code: 1,
      err: expect.stringContaining("no open dead letter has the cause"),
    });
  });

  test("discard closes each dead letter", async () => {
    const { cause, ids } = await failing(`${word} closer`);

    const { code, out } = await run(way, "discard", cause, ...by, "--notes", "a test");

    expect({ code, out }).toEqual({ code: 0, out: "2 discarded.\n" });
    expect(await statusesOf(ids)).toEqual(["discarded", "discarded"]);
  });
});

describe("millrace failures through a server", () => {
  test.each(["retry", "discard"])("%s wants a reason", async (verb) => {
    const { cause, ids } = await failing(`reason of ${verb}`);

    const { code, err } = await run("--server", verb, cause);

    expect(code).not.toBe(0);
    expect(err).toMatch(/--notes/);
    expect(await statusesOf(ids)).toEqual(["pending_review", "pending_review"]);
  });
});
