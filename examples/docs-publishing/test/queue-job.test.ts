import { createTestMill } from "millrace/testing";
import { describe, expect, test } from "vitest";
import type { Docs } from "../src/docs.ts";
import { queueJob, statusOf } from "../src/queue-job.ts";
import { uploadComplete } from "../src/requests.ts";
import { JOBS, World } from "./world.ts";

describe("a row of QueueJob", () => {
  test("has the columns of the queue API to its end (000-07, 000-14, 000-28)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const build = await world.build("main");
    const { id } = await uploadComplete(kit.mill, world.docs, build.id);

    expect(await queueJob(kit.mill, id.toLowerCase())).toEqual({
      id,
      kind: "build_processing",
      status: "queued",
      phase: null,
      org: "acme",
      project: "docs",
      build: build.id,
      progress: null,
      errors: null,
      date_created: expect.stringMatching(/^\d{4}-.*Z$/),
      date_started: null,
      date_completed: null,
    });
    await kit.drain(JOBS, { deps: world.docs });

    const done = await queueJob(kit.mill, id);
    expect(done).toMatchObject({ status: "completed", phase: "dashboard", errors: null });
    expect(done.date_started).toMatch(/Z$/);
    expect(done.date_completed).toMatch(/Z$/);
    expect(done.progress).toEqual({
      editions_total: 1,
      editions_completed: ["__main"],
      editions_failed: [],
      editions_in_progress: [],
    });
  });

  test("has the statuses of the queue API (000-10, C-02)", () => {
    expect(
      (
        [
          "scheduled",
          "queued",
          "running",
          "completed",
          "completed_with_errors",
          "failed",
          "cancelled",
        ] as const
      ).map(statusOf),
    ).toEqual([
      "queued",
      "queued",
      "in_progress",
      "completed",
      "completed_with_errors",
      "failed",
      "cancelled",
    ]);
  });

  test("shows editions as they move, else a message (000-11, 000-15, 000-21, 000-26)", async () => {
    const rows: unknown[] = [];
    let look: Docs["pace"] = () => {};
    await using world = new World({ editionMode: "copy", pace: (what) => look(what) });
    await using kit = await createTestMill();
    const build = await world.build("v2.1.0", 1);
    const { id } = await uploadComplete(kit.mill, world.docs, build.id);
    kit.mill.on("job:progress", ({ phase, data }) => {
      if (data !== undefined) rows.push([phase, data]);
    });
    look = async (): Promise<void> => {
      const { status, phase, progress } = await queueJob(kit.mill, id);
      rows.push([status, phase, progress]);
      look = () => {};
    };
    await kit.drain(JOBS, { deps: world.docs });
    await kit.settled();

    expect(rows).toContainEqual(["inventory", { message: "Cataloging 4 objects" }]);
    expect(rows).toContainEqual(["tracking", { message: "2 editions to update" }]);
    expect(rows).toContainEqual([
      "in_progress",
      "editions",
      {
        editions_total: 2,
        editions_completed: [],
        editions_failed: [],
        editions_in_progress: ["v2.1.0", "v2.x"],
      },
    ]);
    expect((await queueJob(kit.mill, id)).progress).toEqual({
      editions_total: 2,
      editions_completed: ["v2.1.0", "v2.x"],
      editions_failed: [],
      editions_in_progress: [],
    });
  });

  test("is a 404 once the job has expired, after seven days (000-44)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const build = await world.build("main");
    const { id } = await uploadComplete(kit.mill, world.docs, build.id);
    await kit.drain(JOBS, { deps: world.docs });

    // Every worker sweeps when it starts.
    await kit.advance("6d");
    await kit.drain(JOBS, { deps: world.docs });
    expect(await queueJob(kit.mill, id)).toMatchObject({ status: "completed" });
    await kit.advance("25h");
    await kit.drain(JOBS, { deps: world.docs });

    await expect(queueJob(kit.mill, id)).rejects.toMatchObject({
      code: "JOB_NOT_FOUND",
      status: 404,
    });
  });
});
