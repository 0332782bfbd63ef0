/** With which rights a worker in TypeScript calls the functions of the database. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { dbFunction } from "../../../src/channels/index.ts";
import { openMillrace } from "../../../src/index.ts";
import {
  makeEngine,
  makeRoles,
  openSurface,
  refusalOf,
  type Scene,
  type Surface,
} from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

const TASK = { db_function: "app.purge" };
const WHO = "SELECT who FROM app.call";

/** A function that only its owner may call. */
async function withFunction(): Promise<Scene> {
  const scene = await surface.open();
  await scene.owner.query(`CREATE SCHEMA app; CREATE TABLE app.call (who text);
    CREATE FUNCTION app.purge(payload jsonb) RETURNS jsonb LANGUAGE sql AS
      $$ INSERT INTO app.call VALUES (current_user) RETURNING '{"status": "succeeded"}'::jsonb $$;
    REVOKE ALL ON FUNCTION app.purge FROM PUBLIC;
    SELECT millrace.register_function('app.purge(jsonb)')`);
  return scene;
}

/** Gives the schema and its function to the owner role, as `SET ROLE` in a migration does. */
async function giveToOwner({ owner }: Scene): Promise<void> {
  await owner.query(`ALTER SCHEMA app OWNER TO millrace_owner;
    ALTER TABLE app.call OWNER TO millrace_owner;
    ALTER FUNCTION app.purge OWNER TO millrace_owner;
    SELECT millrace.register_function('app.purge(jsonb)')`);
}

/** How a task ends that a worker runs as this user. */
async function endFor({ url }: Scene, user: string) {
  await using mill = await openMillrace(url.replace("postgres@", `${user}@`));
  const job = dbFunction();
  const worker = mill.work({ jobs: [job], signals: false });
  const ended = await mill.wait(await mill.enqueue(job, TASK, { maxAttempts: 1 }));
  await worker.stop();
  return ended;
}

test("a worker as a member of the owner calls what the role for workers may", async () => {
  await using scene = await withFunction();
  await makeRoles(scene);
  await giveToOwner(scene);
  await scene.as("engine_a", "millrace_owner");
  const refused = await endFor(scene, "engine_a");
  expect(refused.state).toBe("failed");
  expect(await scene.rows(WHO)).toEqual([]);

  await scene.owner.query(`GRANT USAGE ON SCHEMA app TO millrace_worker;
    GRANT EXECUTE ON FUNCTION app.purge TO millrace_worker;
    GRANT INSERT, SELECT ON app.call TO millrace_worker`);
  const ended = await endFor(scene, "engine_a");
  expect(ended.state).toBe("completed");
  expect(await scene.rows(WHO)).toEqual([{ who: "millrace_worker" }]);
});

test("a function with the rights of its owner keeps them", async () => {
  await using scene = await withFunction();
  await makeRoles(scene);
  await giveToOwner(scene);
  await scene.owner.query(`ALTER FUNCTION app.purge SECURITY DEFINER;
    GRANT USAGE ON SCHEMA app TO millrace_worker;
    GRANT EXECUTE ON FUNCTION app.purge TO millrace_worker`);
  await scene.as("engine_b", "millrace_owner");
  expect((await endFor(scene, "engine_b")).state).toBe("completed");
  expect(await scene.rows(WHO)).toEqual([{ who: "millrace_owner" }]);
});

test("a user who may not take the role calls functions with its own rights", async () => {
  await using scene = await withFunction();
  await makeRoles(scene);
  await giveToOwner(scene);
  await scene.owner.query("REVOKE millrace_worker FROM millrace_owner");
  await scene.as("engine_c", "millrace_owner");
  expect((await endFor(scene, "engine_c")).state).toBe("completed");
  expect(await scene.rows(WHO)).toEqual([{ who: "engine_c" }]);
});

test("the error names the missing right", async () => {
  await using scene = await withFunction();
  await makeRoles(scene);
  await giveToOwner(scene);
  await scene.owner.query("GRANT USAGE ON SCHEMA app TO millrace_worker");
  await scene.as("engine_d", "millrace_owner");
  const ended = await endFor(scene, "engine_d");
  expect(ended.state === "failed" ? ended.error.message : ended.state).toContain(
    "permission denied for function purge",
  );
});

test("a member of the engine calls what is granted to its own role, and nothing else", async () => {
  await using scene = await withFunction();
  const { username } = new URL(await makeEngine(scene));
  await giveToOwner(scene);
  await scene.owner.query(`ALTER FUNCTION app.purge SECURITY DEFINER;
    GRANT USAGE ON SCHEMA app TO millrace_worker, millrace_engine;
    GRANT EXECUTE ON FUNCTION app.purge TO millrace_worker`);
  const refused = await endFor(scene, username);
  expect(refused.state === "failed" ? refused.error.message : refused.state).toContain(
    "permission denied for function purge",
  );
  const login = await scene.as(username);
  const call = login.query("SELECT millrace.run_function('app.purge', '{}')");
  expect(await refusalOf(call)).toBe("42501");
  expect(await scene.rows(WHO)).toEqual([]);

  await scene.owner.query("GRANT EXECUTE ON FUNCTION app.purge TO millrace_engine");
  expect((await endFor(scene, username)).state).toBe("completed");
  expect(await scene.rows(WHO)).toEqual([{ who: "millrace_owner" }]);
});
