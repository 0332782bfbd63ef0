/** The SQL of docs/sql.md runs as it stands, in its order. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeRoles, openSurface } from "./support.ts";

test("every block of docs/sql.md runs", async () => {
  await using surface = await openSurface();
  await using scene = await surface.open();
  await makeRoles(scene);
  const page = await readFile(join(import.meta.dirname, "../../../docs/sql.md"), "utf8");
  const blocks = [...page.matchAll(/^```sql\n(.*?)^```/gms)].map(([, block = ""]) => block);
  for (const block of blocks) await scene.owner.query(block);
  expect(await scene.rows("SELECT task_id FROM millrace.task ORDER BY task_id")).toEqual([
    { task_id: "1" },
    { task_id: "2" },
  ]);
  expect(await scene.rows("SELECT task_id, outcome FROM millrace.task_completed")).toEqual([
    { task_id: "1", outcome: "completed" },
  ]);
  expect(await scene.rows("SELECT error_message FROM millrace.task_error_log")).toEqual([
    { error_message: "the mailbox is full" },
  ]);
});
