import { describe, expect, test } from "vitest";
import { readPage } from "../src/edge.ts";
import { editionConflict } from "../src/operator-queries.ts";
import { reassignEdition, uploadComplete } from "../src/requests.ts";
import { JOBS, World } from "./world.ts";

const WAIT = { timeout: "30s" } as const;

/** Which edition is written to, and by how many at once at most. */
class Writers {
  most = 0;
  readonly #now = new Map<string, number>();

  /** Long enough for another writer to come in between, if nothing kept it out. */
  readonly pace = async (what: string): Promise<void> => {
    const [slug = ""] = what.split(" ");
    const now = (this.#now.get(slug) ?? 0) + 1;
    this.#now.set(slug, now);
    this.most = Math.max(this.most, now);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((go) => setImmediate(go));
    this.#now.set(slug, this.#now.get(slug)! - 1);
  };
}

describe("an edition that several jobs want", () => {
  test("is updated by one at a time, and the newest build stays", async () => {
    const writers = new Writers();
    const followers = ["latest", "stable", "team"];
    await using world = new World({ editionMode: "copy", followers, pace: writers.pace });
    const mill = await world.openMill();
    const builds = [];
    for (let n = 0; n < 4; n += 1) builds.push(await world.build("main"));
    const jobs = [];
    for (const { id } of builds.toReversed()) {
      jobs.push(await uploadComplete(mill, world.docs, id));
    }

    for (const _ of [1, 2]) mill.work({ jobs: JOBS, deps: world.docs });
    const ends = await Promise.all(jobs.map((job) => mill.wait(job, WAIT)));

    expect(ends.map(({ state }) => state)).toEqual(jobs.map(() => "completed"));
    expect(writers.most).toBe(1);
    const newest = builds.at(-1)!.id;
    for (const slug of ["__main", ...followers]) {
      expect(world.edition(slug).build?.id).toBe(newest);
      const page = await readPage(world.docs, world.project, { slug, key: "index.html" });
      expect(page).toContain(`Build ${newest} of main`);
    }
    expect(new Set(world.history).size).toBe(world.history.length);
  });

  test("makes an admin's edition_update wait for its turn (000-37)", async () => {
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const order: string[] = [];
    await using world = new World({
      async pace(what) {
        order.push(what);
        reached.resolve();
        await released.promise;
      },
    });
    const mill = await world.openMill();
    const [first, second] = [await world.build("main"), await world.build("main")];
    const job = await uploadComplete(mill, world.docs, second.id);
    mill.work({ jobs: JOBS, deps: world.docs });
    await reached.promise;

    const asked = await reassignEdition(mill, world.docs, {
      editionId: world.edition("__main").id,
      buildId: first.id,
      by: "ada",
    });
    const others = await world.build("v2.0.0");
    // It is enqueued later and not held up, so every unit that could have begun before it has
    // begun.
    const third = await uploadComplete(mill, world.docs, others.id);
    await expect.poll(() => order.length, { timeout: 20_000 }).toBe(3);
    const edition = { org: "acme", project: "docs", slug: "__main" };
    const holders = await editionConflict(mill, edition);
    const { state } = await mill.jobs.get(asked.id);
    released.resolve();
    for (const each of [job, asked, third]) await mill.wait(each, WAIT);

    expect(holders.map(({ id }) => id)).toEqual([job.id]);
    expect(state).toBe("queued");
    expect(order.filter((what) => what.startsWith("__main"))).toEqual([
      `__main → build ${second.id}`,
      `__main → build ${first.id}`,
    ]);
    expect(world.edition("__main").build?.id).toBe(first.id);
  });
});
