/** Settings of a session that would change what the functions answer. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEQUEUE, enqueued, openSurface, refusalOf, type Scene, type Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

async function withSetting(setting: string): Promise<Scene> {
  const scene = await surface.open();
  await scene.owner.query(`SELECT millrace.declare_type('a'); SET ${setting}`);
  return scene;
}

test("fewer digits of floats do not make two payloads one", async () => {
  await using scene = await withSetting("extra_float_digits = 0");
  const key = "idempotency_key => 'k'";
  await enqueued(scene, `'{"n": 0.1234567890123451}', ${key}`);
  const other = enqueued(scene, `'{"n": 0.1234567890123454}', ${key}`);
  expect(await refusalOf(other)).toBe("MR014");
});

test("a token and names are read whatever a backslash means to the session", async () => {
  await using scene = await withSetting("standard_conforming_strings = off");
  await enqueued(scene, `'{"n": 1e300}', idempotency_key => 'k'`);
  const [{ task_id: id, token }] = await scene.rows(DEQUEUE);
  const complete = "SELECT millrace.complete_task($1, $2)";
  expect(await refusalOf(scene.owner.query(complete, [id, token]))).toBeNull();
  const hostile = "SELECT millrace.enqueue('a', lane => $1)";
  expect(await refusalOf(scene.owner.query(hostile, ["x\u0001"]))).toBe("22023");
  expect(await refusalOf(scene.owner.query(hostile, ["u001f"]))).toBeNull();
});
