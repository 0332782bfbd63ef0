/** Workers in other languages; `scripts/show/sql-workers.ts` runs the long form. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ended, missingProgram, raceWorkers } from "../../../scripts/show/lib/sql/race.ts";
import { expire, makeRoles, openSurface, type Scene, type Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

const PROGRAMS = [
  ["bash", "worker.sh"],
  ["python3", "worker.py"],
] as const;

test("bash, Python and TypeScript share a queue, and no task runs twice", async (context) => {
  const missing = missingProgram();
  context.skip(missing !== null, `there is no ${missing}`);
  const race = await raceWorkers({ tasks: 120 });
  expect(race).toMatchObject({ facts: 120, completed: 120, twice: 0 });
  expect(race.byWorker).toMatchObject({ bash: expect.any(Number), python: expect.any(Number) });
});

/** Tasks of a function that raises an error until it is replaced, and of one that succeeds. */
async function withFailing(role: string): Promise<Scene> {
  const scene = await surface.open();
  await makeRoles(scene);
  await scene.as(role, "millrace_worker");
  await scene.owner.query(`
    CREATE FUNCTION fine(payload jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT payload';
    CREATE FUNCTION broken(payload jsonb) RETURNS jsonb LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'the intake is closed'; END $$;
    SELECT millrace.register_function('fine(jsonb)'), millrace.register_function('broken(jsonb)'),
           millrace.declare_type('note');
    SELECT millrace.enqueue('note', jsonb_build_object('db_function', 'public.' || name))
    FROM unnest('{broken,fine,fine}'::text[]) AS name`);
  return scene;
}

test.for(PROGRAMS)(
  "a worker in %s leaves a task whose function raises an error",
  async ([program, script], context) => {
    const missing = missingProgram();
    context.skip(missing !== null, `there is no ${missing}`);
    await using scene = await withFailing(`${program}_app`);
    const work = (): Promise<void> =>
      ended(program, script, scene.url.replace("postgres@", `${program}_app@`));
    const over = "SELECT task_id FROM millrace.task_completed ORDER BY task_id";

    await work();

    expect(await scene.rows(over)).toEqual([{ task_id: "2" }, { task_id: "3" }]);
    const errors = await scene.rows("SELECT task_id, error_message FROM millrace.task_error_log");
    expect(errors).toEqual([
      { task_id: "1", error_message: expect.stringContaining("the intake is closed") },
    ]);
    await expire(scene, 1);
    await scene.owner.query(`CREATE OR REPLACE FUNCTION broken(payload jsonb) RETURNS jsonb
    LANGUAGE sql AS 'SELECT payload'`);
    await work();
    expect(await scene.rows(over)).toHaveLength(3);
  },
);
