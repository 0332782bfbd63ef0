import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { readPage } from "../src/edge.ts";
import { queueJob } from "../src/queue-job.ts";
import { uploadComplete } from "../src/requests.ts";
import { JOBS, World } from "./world.ts";

const CHILD = join(import.meta.dirname, "worker.child.ts");

describe("a worker that is killed in the middle of editions", () => {
  for (const [editionMode, hangsAt] of [
    ["pointer", "team →"],
    ["copy", "team + guide/1.html"],
  ] as const) {
    // A worker is given up for dead after some time only: both wait for that together.
    test.concurrent(`leaves each move logged once, in ${editionMode} mode (000-40)`, async () => {
      const followers = ["latest", "stable", "team"];
      await using world = new World({ editionMode, followers });
      const mill = await world.openMill();
      const build = await world.build("main");
      const job = await uploadComplete(mill, world.docs, build.id);

      await killedAt(world.root, hangsAt, async () => {
        await expect.poll(() => world.history.length, { timeout: 20_000 }).toBe(3);
        // An edition and its history come first, the word that the unit has ended after them.
        await expect
          .poll(() => queueJob(mill, job.id), { timeout: 20_000 })
          .toMatchObject({
            status: "in_progress",
            progress: { editions_in_progress: ["team"] },
          });
      });
      mill.work({ jobs: JOBS, deps: world.docs });
      const end = await mill.wait(job, { timeout: "50s" });

      expect(end).toMatchObject({ state: "completed" });
      const attempts = await mill.jobs.attempts(job.id);
      expect(attempts.map(({ outcome }) => outcome)).toEqual(["crashed", "succeeded"]);
      const editions = ["__main", ...followers];
      expect(world.history.toSorted()).toEqual(editions.map((slug) => `${slug} ${build.id}`));
      for (const slug of editions) {
        const page = { slug, key: "guide/1.html" };
        expect(await readPage(world.docs, world.project, page)).toContain("Chapter 1");
      }
    });
  }
});

/** Lets a worker run until it hangs there, looks around, and kills it. */
async function killedAt(root: string, place: string, look: () => Promise<void>): Promise<void> {
  const child = spawn(process.execPath, ["--conditions=source", CHILD, root, place], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith(place)) break;
    }
    await look();
  } finally {
    child.kill("SIGKILL");
    await closed;
  }
}
