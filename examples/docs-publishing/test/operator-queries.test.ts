import { createTestMill, type TestMill } from "millrace/testing";
import { describe, expect, test } from "vitest";
import * as operator from "../src/operator-queries.ts";
import { getBuild } from "../src/records.ts";
import { addOrganization, addProject } from "../src/registration.ts";
import { reassignEdition, uploadComplete } from "../src/requests.ts";
import { uploadBuild } from "../src/sample-build.ts";
import { JOBS, World } from "./world.ts";

const HOUR_MS = 3_600_000;

describe("operators", () => {
  test("see the backlog by kind", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const build = await world.build("main");
    await publish(kit, world, "main");
    await kit.drain(JOBS, { deps: world.docs });
    const editionId = world.edition("__main").id;

    await publish(kit, world, "main");
    await publish(kit, world, "main");
    await reassignEdition(kit.mill, world.docs, { editionId, buildId: build.id, by: "ada" });

    expect(await operator.backlogByKind(kit.mill)).toEqual({
      build_processing: 2,
      edition_update: 1,
    });
  });

  test("see active work by phase, and who is at an edition", async () => {
    await using hold = new Hold();
    await using world = new World({ followers: ["latest"], pace: hold.pace });
    await using kit = await createTestMill();
    const { id } = await publish(kit, world, "main");
    kit.mill.work({ jobs: JOBS, deps: world.docs });
    await hold.reached;

    expect(await operator.activeWork(kit.mill)).toMatchObject([
      {
        id,
        status: "in_progress",
        phase: "editions",
        progress: { editions_total: 2, editions_in_progress: ["__main", "latest"] },
      },
    ]);
    const at = (slug: string, org = "acme"): ReturnType<typeof operator.editionConflict> =>
      operator.editionConflict(kit.mill, { org, project: "docs", slug });
    expect(await at("__main")).toMatchObject([{ id, kind: "build_processing" }]);
    expect(await at("v2.x")).toEqual([]);
    expect(await at("__main", "other")).toEqual([]);

    hold.release();
    await kit.mill.wait({ id, type: "build_processing" });
    expect(await at("__main")).toEqual([]);
    expect(await operator.activeWork(kit.mill)).toEqual([]);
  });

  test("see how many jobs had errors in the last hour", async () => {
    await using world = new World({ followers: ["latest"] });
    await using kit = await createTestMill();
    await world.block("latest");
    await publish(kit, world, "main");
    await kit.drain(JOBS, { deps: world.docs });
    await kit.advance("61m");
    await publish(kit, world, "main");
    await publish(kit, world, "v2.0.0");
    await drainInTurn(kit, world);

    expect(await operator.errorsSince(kit.mill, hourBefore(kit))).toBe(1);
    expect(await operator.errorsSince(kit.mill, new Date(0))).toBe(2);
  });

  test("see how much each organisation has done in the last hour", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    const { docs } = world;
    const other = addOrganization(docs.db, { slug: "other", title: "O", editionMode: "copy" });
    const project = addProject(docs.db, other, { slug: "docs", title: "Docs" });
    await publish(kit, world, "main");
    await kit.drain(JOBS, { deps: docs });
    await kit.advance("61m");
    await publish(kit, world, "main");
    for (const gitRef of ["main", "v1.0.0"]) {
      const build = await uploadBuild(docs, project, { gitRef });
      await uploadComplete(kit.mill, docs, getBuild(docs.db, build).id);
    }
    await drainInTurn(kit, world);

    expect(await operator.throughputByOrg(kit.mill, hourBefore(kit))).toEqual({
      acme: 1,
      other: 2,
    });
  });

  test("see jobs that run for more than ten minutes", async () => {
    await using hold = new Hold();
    await using world = new World({ pace: hold.pace });
    await using kit = await createTestMill();
    const { id } = await publish(kit, world, "main");
    kit.mill.work({ jobs: JOBS, deps: world.docs });
    await hold.reached;
    const slow = (): ReturnType<typeof operator.slowJobs> =>
      operator.slowJobs(kit.mill, new Date(kit.clock.now() - HOUR_MS / 6));

    await kit.advance("9m");
    expect(await slow()).toEqual([]);
    await kit.advance("2m");

    expect(await slow()).toMatchObject([{ id, phase: "editions" }]);
  });
});

/** Stops each writer at the door, until it is let in. */
class Hold implements AsyncDisposable {
  readonly #reached = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  readonly reached = this.#reached.promise;
  readonly release = this.#released.resolve;

  readonly pace = (): Promise<void> => {
    this.#reached.resolve();
    return this.#released.promise;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
  }
}

async function publish(kit: TestMill, world: World, gitRef: string): Promise<{ id: string }> {
  const build = await world.build(gitRef);
  return uploadComplete(kit.mill, world.docs, build.id);
}

/** Jobs that wait for the same name would wait for the clock, which stands still. */
async function drainInTurn(kit: TestMill, { docs }: World): Promise<void> {
  await kit.drain(JOBS, { deps: docs, lanes: { general: 1 } });
}

function hourBefore(kit: TestMill): Date {
  return new Date(kit.clock.now() - HOUR_MS);
}
