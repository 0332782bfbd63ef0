/** What the maintenance role may do to leases: it ends those that have expired, and no others. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  DEQUEUE,
  enqueued,
  expire,
  makeRoles,
  openSurface,
  refusalOf,
  type Surface,
} from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

test("the maintenance role ends expired leases, and cannot move the clock", async () => {
  await using scene = await surface.open();
  await scene.owner.query("SELECT millrace.declare_type('a')");
  await makeRoles(scene);
  const id = await enqueued(scene);
  await enqueued(scene, "'{}', now() + interval '1 year'");
  await scene.owner.query(DEQUEUE);
  const keeper = await scene.as("clock_keeper", "millrace_maintenance");
  const later = "now() + interval '2 years'";

  for (const [call, code] of [
    [`sweep_expired_leases(100, ${later})`, "42883"],
    [`promote_due_tasks(100, ${later})`, "42883"],
    [`end_expired_leases(100, ${later})`, "42501"],
    [`move_due_tasks(100, ${later})`, "42501"],
  ]) {
    expect([call, await refusalOf(keeper.query(`SELECT millrace.${call}`))]).toEqual([call, code]);
  }
  expect(await scene.rows("SELECT FROM millrace.attempt")).toEqual([]);

  const keep =
    "SELECT millrace.sweep_expired_leases() AS swept, millrace.promote_due_tasks() AS due";
  await expire(scene, id);
  await scene.owner.query(
    "UPDATE millrace.scheduled SET run_at = now() - interval '1 second' WHERE key <> $1",
    [id],
  );
  expect((await keeper.query(keep)).rows).toEqual([{ swept: 1, due: 1 }]);
});
