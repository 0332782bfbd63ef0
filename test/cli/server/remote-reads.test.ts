/** Commands that read show the same through a server as on its database. */
import { defineJob, NonRetryableError, typed } from "millrace";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ServedStore } from "./served-store.ts";

/** More than a page of a server, which has at most 200 entries. */
const MANY = 450;
const UNITS = Array.from({ length: MANY }, (_, n) => `page-${n}`);

const publish = defineJob({ type: "publish", payload: typed<{ site: string }>() })
  .phase("render", () => ({ pages: MANY }))
  .phase("upload", async (_, ctx) => {
    for (const unit of UNITS) ctx.log.info("uploading", { unit });
    await ctx.each(
      UNITS,
      (unit) => unit,
      (unit) => {
        if (unit.endsWith("0")) throw new NonRetryableError(`${unit} is too large`);
        return unit.length;
      },
    );
  });
const doomed = defineJob({ type: "doomed", maxAttempts: 1 }).run(() => {
  throw new Error("the bank is closed");
});
const note = defineJob({ type: "note", payload: typed<number>(), category: "notes" });

let store: ServedStore;
const ids = { partly: "", dead: "", late: "", waiting: "", behind: "" };

beforeAll(async () => {
  store = await ServedStore.open();
  const { mill } = store;
  const partly = await mill.enqueue(publish, { site: "docs" }, { correlationId: "release-7" });
  const dead = await mill.enqueue(doomed, undefined, { tags: { area: "north:1" } });
  const worker = mill.work({ jobs: [publish, doomed], appVersion: "1.4.0" });
  await mill.wait(partly);
  await mill.wait(dead);
  await worker.stop();
  const tagged = { tags: { area: "north:1" }, tenant: "acme" };
  const late = await mill.enqueue(note, 0, { ...tagged, delay: "1h" });
  const waiting = await mill.enqueue(note, 1);
  const behind = await mill.enqueue(note, 2, { after: [waiting] });
  await mill.enqueueMany(UNITS.map((_, n) => note.of(n)));
  await mill.pause({ type: "doomed" }, "the bank is closed", { actor: "ada" });
  Object.assign(ids, {
    partly: partly.id,
    dead: dead.id,
    late: late.id,
    waiting: waiting.id,
    behind: behind.id,
  });
});
afterAll(() => store[Symbol.asyncDispose]());

type Words = (known: typeof ids) => readonly string[];

const READS: readonly { readonly code: number; readonly words: Words }[] = [
  { code: 0, words: () => ["jobs", "list"] },
  { code: 0, words: () => ["jobs", "list", "--limit", "420"] },
  { code: 0, words: () => ["jobs", "list", "--limit", "1000", "-o", "json"] },
  { code: 0, words: () => ["jobs", "list", "--state", "failed,pending", "--limit", "3"] },
  { code: 0, words: () => ["jobs", "list", "--tag", "area=north:1", "-o", "json"] },
  { code: 0, words: () => ["jobs", "list", "--tenant", "acme", "--since", "1h", "--until", "0s"] },
  { code: 0, words: () => ["jobs", "list", "--category", "notes", "--type", "note"] },
  { code: 0, words: () => ["jobs", "list", "--correlation", "release-7"] },
  { code: 0, words: () => ["jobs", "list", "--lane", "general", "--error", "BANK"] },
  {
    code: 0,
    words: () => ["jobs", "list", "--payload", "site=docs", "--text", "docs", "-o", "json"],
  },
  { code: 2, words: () => ["jobs", "list", "--text", "ab"] },
  { code: 0, words: ({ partly }) => ["jobs", "list", "--parent", partly] },
  { code: 0, words: ({ late }) => ["jobs", "list", "--after", late] },
  { code: 0, words: () => ["jobs", "list", "--type", "nots"] },
  { code: 2, words: () => ["jobs", "list", "--after", "nonsense!"] },
  { code: 0, words: ({ partly }) => ["jobs", "show", partly] },
  { code: 0, words: ({ partly }) => ["jobs", "show", partly, "--logs", "-o", "json"] },
  { code: 0, words: ({ dead }) => ["jobs", "show", dead] },
  { code: 0, words: ({ behind }) => ["jobs", "show", behind.slice(0, 24)] },
  { code: 2, words: ({ late }) => ["jobs", "show", late.slice(0, 6)] },
  { code: 2, words: () => ["jobs", "show", "01"] },
  { code: 2, words: () => ["jobs", "show", "nonsense!"] },
  { code: 1, words: () => ["jobs", "show", "01JCR5M4X2E8T9V6B3N7K0QWAZ"] },
  { code: 0, words: ({ partly }) => ["jobs", "units", partly, "--limit", "430"] },
  { code: 0, words: ({ partly }) => ["jobs", "units", partly, "--limit", "1000", "-o", "json"] },
  { code: 0, words: ({ partly }) => ["jobs", "units", partly, "--state", "failed"] },
  { code: 0, words: ({ dead }) => ["jobs", "units", dead] },
  { code: 0, words: ({ partly }) => ["jobs", "logs", partly] },
  { code: 0, words: ({ partly }) => ["jobs", "logs", partly, "-o", "ndjson"] },
  { code: 3, words: ({ partly }) => ["jobs", "logs", partly, "--follow"] },
  { code: 0, words: ({ waiting }) => ["jobs", "explain", waiting] },
  { code: 0, words: ({ behind }) => ["jobs", "explain", behind, "-o", "json"] },
  { code: 0, words: ({ late }) => ["jobs", "explain", late, "-o", "json"] },
  { code: 3, words: ({ partly }) => ["jobs", "follow", partly] },
  { code: 3, words: ({ partly }) => ["jobs", "follow", partly, "-o", "json"] },
  { code: 1, words: ({ dead }) => ["jobs", "follow", dead, "-o", "ndjson"] },
  { code: 124, words: ({ waiting }) => ["jobs", "follow", waiting, "--timeout", "700ms"] },
  { code: 0, words: () => ["dlq", "list"] },
  { code: 0, words: () => ["dlq", "list", "--status", "discarded"] },
  { code: 0, words: () => ["dlq", "list", "--error-class", "non_retryable", "--since", "1h"] },
  { code: 0, words: () => ["dlq", "stats"] },
  { code: 0, words: () => ["dlq", "stats", "-o", "json"] },
  { code: 0, words: ({ dead }) => ["dlq", "show", dead, "-o", "json"] },
  { code: 1, words: ({ late }) => ["dlq", "show", late] },
  { code: 0, words: () => ["pauses"] },
  { code: 0, words: () => ["pauses", "-o", "json"] },
  { code: 0, words: () => ["workers", "list"] },
  { code: 0, words: () => ["lanes"] },
  { code: 0, words: () => ["attention"] },
  { code: 0, words: () => ["stats"] },
  { code: 0, words: () => ["stats", "-o", "json"] },
  { code: 0, words: () => ["stats", "--by", "type"] },
  { code: 0, words: () => ["stats", "--by", "tenant", "-o", "json"] },
  { code: 0, words: () => ["stats", "--last", "1h", "--type", "fax"] },
  { code: 0, words: () => ["token", "list"] },
  { code: 0, words: () => ["token", "list", "--ended", "-o", "json"] },
];

describe("through a server, as on its database", () => {
  test.each(READS.map(({ code, words }) => ({ code, words, name: words(named()).join(" ") })))(
    "millrace $name ends with $code and the same output",
    async ({ code, words }) => {
      const { local, remote } = await store.both(...words(ids));

      expect(remote).toEqual(local);
      expect(remote.code).toBe(code);
    },
  );

  test("a list of many pages has every entry once", async () => {
    const { remote } = await store.both("jobs", "list", "--type", "note", "--limit", "450");
    const rows = remote.out.split("\n").slice(1, -1);

    expect(rows).toHaveLength(MANY);
    expect(new Set(rows.map((row) => row.slice(0, 26))).size).toBe(MANY);
    expect(remote.err).toContain("There are more. Continue with: millrace jobs list --type note");
  });

  test("the command that continues a list names the server again", async () => {
    const { err } = await store.remote("jobs", "list", "--limit", "2");
    const [, words = ""] = /Continue with: millrace (.*)\n/.exec(err) ?? [];

    expect(words).toContain(`--server ${store.address}`);
  });
});

/** The ids by their names, for titles. */
function named(): typeof ids {
  return { partly: "PARTLY", dead: "DEAD", late: "LATE", waiting: "WAITING", behind: "BEHIND" };
}
