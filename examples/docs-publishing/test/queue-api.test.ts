/** The publisher's HTTP API, over real sockets. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Millrace } from "millrace";
import { createTestMill } from "millrace/testing";
import { describe, expect, test } from "vitest";
import { followBuilds } from "../src/build-status.ts";
import { rowsOf } from "../src/database.ts";
import * as operator from "../src/operator-queries.ts";
import { serveQueueApi, type Member } from "../src/queue-api.ts";
import { JOBS, World } from "./world.ts";

const MEMBERS: Readonly<Record<string, Member>> = {
  ci: { actor: "ci", org: "acme", role: "client" },
  ada: { actor: "ada", org: "acme", role: "admin" },
  eve: { actor: "eve", org: "evil", role: "admin" },
};

interface Asked {
  readonly status: number;
  readonly body: any;
  readonly location: string | null;
}

/** Asks the API of a world, as one of its members. */
class Api implements AsyncDisposable {
  readonly #server: Awaited<ReturnType<typeof serveQueueApi>>;

  static async of(world: World, mill: Millrace): Promise<Api> {
    const authenticate = (request: Request): Member | null =>
      MEMBERS[request.headers.get("x-member") ?? ""] ?? null;
    return new Api(await serveQueueApi({ mill, docs: world.docs, authenticate }));
  }

  constructor(server: Awaited<ReturnType<typeof serveQueueApi>>) {
    this.#server = server;
  }

  get(path: string, as = "ci"): Promise<Asked> {
    return this.#ask(path, { headers: { "x-member": as } });
  }

  patch(path: string, body: unknown, as = "ci"): Promise<Asked> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.#ask(path, { method: "PATCH", headers: { "x-member": as }, body: text });
  }

  async #ask(path: string, init: RequestInit): Promise<Asked> {
    const response = await fetch(`${this.#server.url}${path}`, init);
    const { status, headers } = response;
    return { status, body: await response.json(), location: headers.get("location") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }
}

const BUILDS = "/orgs/acme/projects/docs/builds";
const EDITIONS = "/orgs/acme/projects/docs/editions";
const UPLOADED = { status: "uploaded" };

describe("PATCH …/builds/:build with status: uploaded", () => {
  test("processes the build, and the build takes over the status (000-36)", async () => {
    await using world = new World({ followers: ["nightly"] });
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    await followBuilds(kit.mill, world.docs);
    const build = await world.build("main");
    const phases: string[] = [];
    kit.mill.on("job:phase:completed", ({ phase }) => phases.push(phase));

    const asked = await api.patch(`${BUILDS}/${build.id}`, UPLOADED);
    const early = { status: world.status(build), history: world.history };
    await kit.drain(JOBS, { deps: world.docs });
    await kit.settled();

    expect(asked).toMatchObject({
      status: 202,
      location: `/queue/jobs/${asked.body.id}`,
      body: { kind: "build_processing", status: "queued", project: "docs", build: build.id },
    });
    expect(early).toEqual({ status: "uploaded", history: [] });
    expect(phases).toEqual(["inventory", "tracking", "editions", "dashboard"]);
    expect(world.history.toSorted()).toEqual([`__main ${build.id}`, `nightly ${build.id}`]);
    expect(world.status(build)).toBe("completed");
    const objects = "SELECT key FROM BuildObject WHERE build_id = ?";
    expect(rowsOf(world.docs.db, objects, build.id).length).toBeGreaterThan(2);
  });

  test("is one job, however often it is asked", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    const { id } = await world.build("main");

    const first = await api.patch(`${BUILDS}/${id}`, UPLOADED);
    const second = await api.patch(`${BUILDS}/${id}`, UPLOADED, "ada");

    expect([first.status, second.status]).toEqual([202, 200]);
    expect(second.body.id).toBe(first.body.id);
  });

  test.each([
    { what: "another status", body: { status: "completed" }, status: 400 },
    { what: "another field", body: { ...UPLOADED, git_ref: "x" }, status: 400 },
    { what: "no JSON", body: "uploaded", status: 400 },
    { what: "a list", body: [UPLOADED], status: 400 },
    { what: "a huge body", body: { status: "x".repeat(20_000) }, status: 413 },
    { what: "an unknown build", body: UPLOADED, build: "999", status: 404 },
    { what: "a build that is no number", body: UPLOADED, build: "1e99", status: 404 },
    { what: "a member of another organisation", body: UPLOADED, as: "eve", status: 404 },
    { what: "an anonymous caller", body: UPLOADED, as: "anonymous", status: 401 },
  ])("refuses $what, and makes no job", async ({ body, build, as, status }) => {
    await using world = new World();
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    const { id } = await world.build("main");

    const asked = await api.patch(`${BUILDS}/${build ?? id}`, body, as);

    expect(asked.status).toBe(status);
    expect(asked.body.error).toMatch(/./);
    expect(await kit.mill.jobs.count()).toMatchObject({ count: 0 });
  });
});

describe("PATCH …/editions/:edition with another build", () => {
  test("moves the edition, logs it and renders the dashboard (000-37)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    const [old, young] = [await world.build("main"), await world.build("main")];
    for (const { id } of [old, young]) await api.patch(`${BUILDS}/${id}`, UPLOADED);
    await kit.drain(JOBS, { deps: world.docs });

    const asked = await api.patch(`${EDITIONS}/__main`, { build: old.id }, "ada");
    await kit.drain(JOBS, { deps: world.docs });

    expect(asked).toMatchObject({ status: 202, body: { kind: "edition_update" } });
    expect(world.edition("__main").build?.id).toBe(old.id);
    expect(world.history.at(-1)).toBe(`__main ${old.id}`);
    const { phases } = await kit.mill.jobs.progress(asked.body.id);
    expect(phases.map(({ name, state }) => [name, state])).toContainEqual([
      "dashboard",
      "completed",
    ]);
    expect(await kit.mill.jobs.get(asked.body.id)).toMatchObject({ createdBy: "ada" });
  });

  test.each([
    { what: "a client", as: "ci", body: { build: 1 }, status: 403 },
    { what: "an unknown build", as: "ada", body: { build: 999 }, status: 404 },
    { what: "a build that is no number", as: "ada", body: { build: "1" }, status: 400 },
    { what: "an admin of another organisation", as: "eve", body: { build: 1 }, status: 404 },
    { what: "an unknown edition", as: "ada", slug: "v9", body: { build: 1 }, status: 404 },
  ])("refuses $what", async ({ as, slug = "nightly", body, status }) => {
    await using world = new World({ followers: ["nightly"] });
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    await world.build("main");

    const asked = await api.patch(`${EDITIONS}/${slug}`, body, as);

    expect(asked.status).toBe(status);
    expect(await kit.mill.jobs.count()).toMatchObject({ count: 0 });
  });
});

describe("GET /queue/jobs/:public_id", () => {
  test("has status, phase, progress and errors, by the Base32 id (000-46)", async () => {
    await using world = new World({ followers: ["nightly"] });
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    const { id: build } = await world.build("main");
    await world.block("nightly");
    const { location } = await api.patch(`${BUILDS}/${build}`, UPLOADED);
    const waiting = await api.get(location ?? "");
    await kit.drain(JOBS, { deps: world.docs });
    const done = await api.get((location ?? "").toLowerCase());

    expect(waiting).toMatchObject({
      status: 200,
      body: { status: "queued", phase: null, progress: null, errors: null },
    });
    const failed = [{ slug: "nightly", error: expect.stringContaining("EISDIR") }];
    expect(done.body).toMatchObject({
      id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      status: "completed_with_errors",
      phase: "dashboard",
      progress: {
        editions_total: 2,
        editions_completed: ["__main"],
        editions_failed: failed,
        editions_in_progress: [],
      },
      errors: failed,
    });
  });

  test("is a 404 for an expired job, and names the period (000-45)", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    const { id } = await world.build("main");
    const { location } = await api.patch(`${BUILDS}/${id}`, UPLOADED);
    await kit.drain(JOBS, { deps: world.docs });
    const before = await api.get(location ?? "");
    await kit.advance("8d");
    // Every worker sweeps when it starts.
    await kit.drain(JOBS, { deps: world.docs });
    const after = await api.get(location ?? "");

    expect(before.status).toBe(200);
    expect(after).toMatchObject({ status: 404, body: { code: "JOB_NOT_FOUND" } });
    expect(after.body.error).toMatch(/7 ?d/);
  });

  test("refuses an id of another organisation as unknown, and a text that is no id", async () => {
    await using world = new World();
    await using kit = await createTestMill();
    await using api = await Api.of(world, kit.mill);
    const { id } = await world.build("main");
    const { location } = await api.patch(`${BUILDS}/${id}`, UPLOADED);

    expect(await api.get(location ?? "", "eve")).toMatchObject({ status: 404 });
    expect(await api.get("/queue/jobs/nonsense!")).toMatchObject({ status: 400 });
    expect(await api.patch(location ?? "", {})).toMatchObject({ status: 405 });
    expect(await api.get("/queue")).toMatchObject({ status: 404 });
  });
});

test("one job is the same job wherever it is read, while it runs and after (000-05)", async () => {
  const seen: object[] = [];
  let look: () => Promise<void> = async () => {};
  await using world = new World({ pace: () => look() });
  const mill = await world.openMill();
  await using api = await Api.of(world, mill);
  const { id: build } = await world.build("main");
  const { body, location } = await api.patch(`${BUILDS}/${build}`, UPLOADED);
  look = async (): Promise<void> => {
    look = async () => {};
    seen.push(await everywhere(body.id));
  };

  const everywhere = async (id: string): Promise<object> => {
    const user = await api.get(location ?? "");
    const operators = await api.get(`/operators/api/v1/jobs/${id}`, "ada");
    const command = await millrace("jobs", "show", id, "-o", "json", "--db", databaseOf(world));
    const active = await operator.activeWork(mill);
    const edition = { org: "acme", project: "docs", slug: "__main" };
    return {
      api: [user.body.status, user.body.phase],
      operators: [operators.body.state, operators.body.phase],
      commandLine: [command.job.state, command.job.phase],
      active: active.map((job) => job.id === id),
      conflicts: (await operator.editionConflict(mill, edition)).length,
      library: (await mill.jobs.get(id)).state,
    };
  };
  const worker = mill.work({ jobs: JOBS, deps: world.docs });
  await mill.wait({ id: body.id, type: "build_processing" });
  await worker.stop();
  seen.push(await everywhere(body.id));

  expect(seen).toEqual([
    {
      api: ["in_progress", "editions"],
      operators: ["running", "editions"],
      commandLine: ["running", "editions"],
      active: [true],
      conflicts: 1,
      library: "running",
    },
    {
      api: ["completed", "dashboard"],
      operators: ["completed", "dashboard"],
      commandLine: ["completed", "dashboard"],
      active: [],
      conflicts: 0,
      library: "completed",
    },
  ]);
  const tables = "SELECT name FROM sqlite_master WHERE name LIKE '%job%' OR name LIKE '%queue%'";
  expect(rowsOf(world.docs.db, tables)).toEqual([]);
});

function databaseOf({ root }: World): string {
  return `sqlite:${join(root, "jobs.db")}`;
}

/** The command line, in a process of its own. */
async function millrace(...args: readonly string[]): Promise<any> {
  const main = join(import.meta.dirname, "..", "..", "..", "src", "cli", "main.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--conditions=source",
    main,
    ...args,
  ]);
  return JSON.parse(stdout);
}
