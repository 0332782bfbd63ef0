import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createTestMill, type TestMill } from "millrace/testing";
import { describe, expect, test } from "vitest";
import { followBuilds } from "../src/build-status.ts";
import { readPage } from "../src/edge.ts";
import { buildFolder, siteFolder } from "../src/folders.ts";
import { queueJob } from "../src/queue-job.ts";
import { addProject } from "../src/registration.ts";
import { reassignEdition, uploadComplete } from "../src/requests.ts";
import { uploadBuild } from "../src/sample-build.ts";
import { JOBS, World } from "./world.ts";

describe("build_processing", () => {
  for (const editionMode of ["pointer", "copy"] as const) {
    test(`takes a build through its four phases in ${editionMode} mode (000-36)`, async () => {
      await using world = new World({ editionMode, followers: ["latest"] });
      await using kit = await createTestMill();
      await followBuilds(kit.mill, world.docs);
      const build = await world.build("main");

      const { id } = await uploadComplete(kit.mill, world.docs, build.id);
      expect(world.status(build)).toBe("uploaded");
      await drain(kit, world);

      const { phases, state } = await kit.mill.jobs.progress(id);
      expect(state).toBe("completed");
      expect(phases.map(({ name }) => name)).toEqual([
        "inventory",
        "tracking",
        "editions",
        "dashboard",
      ]);
      expect(phases[0]?.result).toMatchObject({ objects: 5 });
      expect(phases[2]?.result).toMatchObject({ moved: 2, failed: 0 });
      expect(world.history.toSorted()).toEqual([`__main ${build.id}`, `latest ${build.id}`]);
      for (const slug of ["__main", "latest"]) {
        const page = await readPage(world.docs, world.project, { slug, key: "index.html" });
        expect(page).toContain(`Build ${build.id} of main`);
      }
      expect(await dashboardOf(world)).toContain("2 editions");
      expect(world.status(build)).toBe("completed");
    });
  }

  test("is one job, however often the upload is said to be complete (000-03)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const build = await world.build("main");

    const first = await uploadComplete(kit.mill, world.docs, build.id);
    const second = await uploadComplete(kit.mill, world.docs, build.id);

    expect(second).toMatchObject({ id: first.id, created: false });
    const { jobs } = await kit.mill.jobs.list();
    expect(jobs).toHaveLength(1);
  });

  test("moves all but the edition that fails (000-42, 000-16, 000-23)", async () => {
    await using world = new World({ followers: ["latest", "stable"] });
    await using kit = await createTestMill();
    await followBuilds(kit.mill, world.docs);
    await world.block("latest");
    const build = await world.build("main");

    const { id } = await uploadComplete(kit.mill, world.docs, build.id);
    await drain(kit, world);

    const job = await queueJob(kit.mill, id);
    expect(job.status).toBe("completed_with_errors");
    expect(job.errors).toEqual([{ slug: "latest", error: expect.stringContaining("EISDIR") }]);
    expect(world.history.toSorted()).toEqual([`__main ${build.id}`, `stable ${build.id}`]);
    expect(await dashboardOf(world)).toContain("2 editions");
    expect(world.status(build)).toBe("completed_with_errors");
    expect(await kit.mill.jobs.attempts(id)).toHaveLength(1);
  });

  test("leaves only the failed editions to do for a retry (000-42)", async () => {
    await using world = new World({ followers: ["latest", "stable"] });
    await using kit = await createTestMill();
    await followBuilds(kit.mill, world.docs);
    await world.block("latest");
    const build = await world.build("main");
    const { id } = await uploadComplete(kit.mill, world.docs, build.id);
    await drain(kit, world);
    world.unblock("latest");

    const again = await kit.mill.jobs.retry(id);
    await drain(kit, world);

    const { phases } = await kit.mill.jobs.progress(again.id);
    expect(phases[2]?.result).toMatchObject({ moved: 1, unchanged: 2, failed: 0 });
    expect(await queueJob(kit.mill, again.id)).toMatchObject({
      status: "completed",
      errors: null,
      build: build.id,
    });
    expect(world.history.toSorted()).toEqual([
      `__main ${build.id}`,
      `latest ${build.id}`,
      `stable ${build.id}`,
    ]);
    expect(world.status(build)).toBe("completed");
  });

  test("fails after three attempts when all editions fail (000-43, 000-40)", async () => {
    await using world = new World({ followers: ["latest"] });
    await using kit = await createTestMill();
    await followBuilds(kit.mill, world.docs);
    await world.block("__main");
    await world.block("latest");
    const build = await world.build("main");

    const { id } = await uploadComplete(kit.mill, world.docs, build.id);
    await drain(kit, world);
    await kit.advance("2s");
    await drain(kit, world);
    await kit.advance("3s");
    expect((await drain(kit, world)).failed).toBe(0);
    await kit.advance("1s");
    await drain(kit, world);

    const job = await queueJob(kit.mill, id);
    expect(job.status).toBe("failed");
    expect(job.errors).toEqual([
      { slug: "__main", error: expect.stringContaining("EISDIR") },
      { slug: "latest", error: expect.stringContaining("EISDIR") },
      { error: expect.stringContaining("all 2 units failed") },
    ]);
    const attempts = await kit.mill.jobs.attempts(id);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed"]);
    expect(world.status(build)).toBe("failed");
  });

  test("fails when a phase without editions fails (000-43)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    await followBuilds(kit.mill, world.docs);
    const build = await world.build("main");
    await rm(buildFolder(world.docs.folders, build), { recursive: true });

    const { id } = await uploadComplete(kit.mill, world.docs, build.id);
    for (const wait of ["2s", "4s", "0s"] as const) {
      await drain(kit, world);
      await kit.advance(wait);
    }

    const job = await queueJob(kit.mill, id);
    expect(job).toMatchObject({ status: "failed", phase: "inventory", progress: null });
    expect(world.status(build)).toBe("failed");
  });

  test("begins each attempt anew, with its progress reset (000-29, 000-40)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    await world.block("__main");
    const build = await world.build("main");
    const { id } = await uploadComplete(kit.mill, world.docs, build.id);
    await drain(kit, world);
    expect((await queueJob(kit.mill, id)).progress).toMatchObject({
      editions_failed: [{ slug: "__main" }],
    });
    world.unblock("__main");
    await kit.advance("2s");

    const told: unknown[] = [];
    kit.mill.on("job:progress", ({ phase, overall }) => told.push([phase, overall]));
    await drain(kit, world);
    await kit.settled();

    expect(told[0]).toEqual(["inventory", 0]);
    const job = await queueJob(kit.mill, id);
    expect(job).toMatchObject({ status: "completed", errors: null });
    expect(job.progress).toMatchObject({ editions_completed: ["__main"], editions_failed: [] });
  });

  test("that is cancelled tells its build", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    await followBuilds(kit.mill, world.docs);
    const build = await world.build("main");
    const { id } = await uploadComplete(kit.mill, world.docs, build.id);

    await kit.mill.jobs.cancel(id, "not that one");
    await kit.settled();

    expect(world.status(build)).toBe("cancelled");
  });

  test("that ended while no process listened tells its build when one does", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const build = await world.build("main");
    await uploadComplete(kit.mill, world.docs, build.id);
    await drain(kit, world);
    expect(world.status(build)).toBe("uploaded");

    await followBuilds(kit.mill, world.docs);

    expect(world.status(build)).toBe("completed");
  });
});

describe("edition_update", () => {
  test("gives an edition an older build, logs and renders it (000-14, 000-37)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const [first, second] = [await world.build("main"), await world.build("main")];
    for (const { id } of [first, second]) {
      await uploadComplete(kit.mill, world.docs, id);
      await drain(kit, world);
    }
    const before = await dashboardOf(world);

    const { id } = await reassignEdition(kit.mill, world.docs, {
      editionId: world.edition("__main").id,
      buildId: first.id,
      by: "ada",
    });
    await drain(kit, world);

    expect(world.history).toEqual([
      `__main ${first.id}`,
      `__main ${second.id}`,
      `__main ${first.id}`,
    ]);
    expect(await dashboardOf(world)).not.toBe(before);
    expect(await dashboardOf(world)).toContain(`builds/${first.id}/index.html`);
    expect(await queueJob(kit.mill, id)).toMatchObject({
      kind: "edition_update",
      status: "completed",
      project: "docs",
      build: null,
    });
  });

  test("is refused for a build of another project", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const { docs, org } = world;
    await uploadComplete(kit.mill, docs, (await world.build("main")).id);
    await drain(kit, world);
    const editionId = world.edition("__main").id;
    const foreign = addProject(docs.db, org, { slug: "foreign", title: "Foreign" });
    const buildId = await uploadBuild(docs, foreign, { gitRef: "main" });

    const asked = reassignEdition(kit.mill, docs, { editionId, buildId, by: "ada" });

    await expect(asked).rejects.toThrow("another project");
  });
});

function drain(kit: TestMill, world: World): ReturnType<TestMill["drain"]> {
  return kit.drain(JOBS, { deps: world.docs });
}

function dashboardOf({ docs, project }: World): Promise<string> {
  return readFile(join(siteFolder(docs.folders, project), "index.html"), "utf8");
}
