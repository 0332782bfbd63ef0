/** What the lists of the command line select, on real stores. */
import { describe, expect, test } from "vitest";
import { defineJob } from "../../src/index.ts";
import { TestStore, type } from "./command-line.ts";

const UNKNOWN_ID = "01JCR5M4X2E8T9V6B3N7K0QWAZ";

describe("millrace jobs list --parent", () => {
  test("shows the children of a job, and the command that continues the list", async () => {
    await using store = new TestStore();
    const { parent, children } = await addFamily(store);

    const page = await store.type("jobs", "list", "--parent", parent, "--limit", "1");
    const rest = await type(...wordsToContinue(page.err));

    expect(idsIn(page.out)).toEqual([children[1]]);
    expect(page.err).toContain(`--parent ${parent} --limit 1`);
    expect(idsIn(rest.out)).toEqual([children[0]]);
    expect((await store.json("jobs", "list", "--parent", parent)).jobs).toHaveLength(2);
  });

  test("refuses a text that is no id, and finds nothing below an unknown job", async () => {
    await using store = new TestStore();

    const wrong = await store.type("jobs", "list", "--parent", "mother");
    const unknown = await store.type("jobs", "list", "--parent", UNKNOWN_ID);

    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toContain("is not the id of a job");
    expect(unknown).toMatchObject({ code: 0, out: "", err: "No jobs match.\n" });
  });
});

/** A job with two children, and a job without. */
async function addFamily(store: TestStore): Promise<{ parent: string; children: string[] }> {
  const mill = await store.mill;
  const child = defineJob({ type: "child" });
  const children: string[] = [];
  const mother = defineJob({ type: "mother" }).run(async (_, ctx) => {
    for (let n = 0; n < 2; n += 1) children.push((await ctx.enqueue(child)).id);
  });
  const job = await mill.enqueue(mother);
  await mill.enqueue(child);
  await using _ = mill.work({ jobs: [mother] });
  await mill.wait(job);
  return { parent: job.id, children };
}

/** The ids in the first column of a table. */
function idsIn(text: string): string[] {
  return [...text.matchAll(/^(\w{26}) /gm)].flatMap(([, id]) => id ?? []);
}

/** The arguments of the command that continues a list. */
function wordsToContinue(told: string): string[] {
  return /Continue with: millrace (.+)/.exec(told)?.[1]?.split(" ") ?? [];
}
