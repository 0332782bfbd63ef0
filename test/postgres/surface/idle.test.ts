/** Sessions that leave their transaction open after a call. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openMillrace } from "../../../src/index.ts";
import { DEQUEUE, enqueued, openSurface, type Scene, type Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

async function declared(): Promise<Scene> {
  const scene = await surface.open();
  await scene.owner.query("SELECT millrace.declare_type('a')");
  return scene;
}

const SHOWN = "SELECT current_setting('idle_in_transaction_session_timeout') AS bound";

describe("a transaction that a worker leaves open", () => {
  test.each([
    ["0", "10s"],
    ["5s", "5s"],
    ["1min", "10s"],
    ["500ms", "500ms"],
  ])("with a limit of %s may idle for %s", async (setting, bound) => {
    await using scene = await declared();
    const { owner } = scene;
    await owner.query(`SET idle_in_transaction_session_timeout = '${setting}'`);
    const id = await enqueued(scene);
    for (const call of [
      DEQUEUE,
      `SELECT millrace.heartbeat(${id})`,
      `SELECT millrace.fail_task(${id}, 'x')`,
      `SELECT millrace.complete_task(${id})`,
    ]) {
      await owner.query("BEGIN");
      await owner.query(call);
      expect([call, await scene.rows(SHOWN)]).toEqual([call, [{ bound }]]);
      await owner.query("COMMIT");
      expect(await scene.rows(SHOWN)).toEqual([{ bound: setting }]);
    }
  });

  test("blocks the claims of a limit for a bounded time", { timeout: 40_000 }, async () => {
    await using scene = await declared();
    await using mill = await openMillrace(scene.url);
    await mill.limits.set({ type: "a" }, { concurrency: 5 });
    const first = await enqueued(scene);
    const second = await enqueued(scene);
    const idler = await scene.as("postgres");
    const ended = new Promise<string | undefined>((resolve) => {
      idler.on("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    });
    await idler.query("BEGIN");
    const { rows } = await idler.query(DEQUEUE);
    expect(rows[0].task_id).toBe(first);

    // Waits for the row of the limit, which the open transaction has locked.
    const [task] = await scene.rows(DEQUEUE);

    expect(await ended).toBe("25P03");
    expect([first, second]).toContain(task.task_id);
  });
});
