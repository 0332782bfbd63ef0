/** Payloads that jsonb cannot hold, which only a database can contain that was changed by hand. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineJob, openMillrace, typed } from "../../../src/index.ts";
import { DEQUEUE, enqueued, makeRoles, openSurface, type Scene, type Surface } from "./support.ts";

let surface: Surface;
beforeAll(async () => {
  surface = await openSurface();
});
afterAll(() => surface[Symbol.asyncDispose]());

/** What no producer can write, as the text of a payload. */
const UNREADABLE = [
  ["U+0000", String.raw`{"a": "x\u0000"}`],
  ["U+0000 after a backslash", String.raw`{"a": "\\\u0000"}`],
  ["U+0000 in a name", String.raw`{"\u0000": 1}`],
  ["17,000 decimals", `{"a": 0.${"1".repeat(17_000)}}`],
  ["140,000 digits", `{"a": ${"1".repeat(140_000)}}`],
  ["an exponent of 20,000", '{"a": 1e-20000}'],
] as const;

/** What looks like them and is a payload as any other. */
const READABLE = [
  String.raw`{"a": "\\u0000", "b": "\\\\u0000"}`,
  `{"a": "${"1".repeat(2_000)}", "b": ["\\"${"2".repeat(2_000)}"]}`,
  '{"a": "1e99999", "b": 1e300, "c": 5e-324}',
  `{"a": ${"1".repeat(999)}.${"1".repeat(999)}}`,
];

/** Writes the payload of the first of two tasks by hand. */
async function damage(
  scene: Scene,
  payload: string,
): Promise<{ readonly id: string; readonly other: string }> {
  await scene.owner.query("SELECT millrace.declare_type('a')");
  const id = await enqueued(scene);
  const other = await enqueued(scene);
  await scene.owner.query("UPDATE millrace.job SET payload = $2 WHERE key = $1", [id, payload]);
  return { id, other };
}

describe("a payload that jsonb cannot hold", () => {
  test.each(UNREADABLE)("is no obstacle for a worker in SQL: %s", async (_, payload) => {
    await using scene = await surface.open();
    const { id, other } = await damage(scene, payload);

    const taken = [await scene.rows(DEQUEUE), await scene.rows(DEQUEUE)].map(([task]) => task);

    expect(taken.map(({ task_id }) => task_id)).toEqual([other, null]);
    expect(await scene.rows("SELECT key FROM millrace.scheduled")).toEqual([{ key: id }]);
    expect(await scene.rows("SELECT task_id, fence FROM millrace.task_error_log")).toEqual([
      { task_id: id, fence: "0" },
    ]);
    // Due again, and still left alone, and noted once.
    await scene.owner.query("UPDATE millrace.scheduled SET run_at = now() - interval '1 s'");
    expect((await scene.rows(DEQUEUE))[0].task_id).toBeNull();
    expect(await scene.rows("SELECT FROM millrace.task_error")).toHaveLength(1);
    expect(await scene.rows("SELECT FROM millrace.attempt")).toEqual([]);
  });

  test.each(UNREADABLE)("is null in the views: %s", async (_, payload) => {
    await using scene = await surface.open();
    const { id, other } = await damage(scene, payload);
    await makeRoles(scene);
    const reader = await scene.as("any_reader", "millrace_reader");
    const read = "SELECT task_id, payload FROM millrace.task ORDER BY task_id";
    const expected = [
      { task_id: id, payload: null },
      { task_id: other, payload: {} },
    ];

    expect(await scene.rows(read)).toEqual(expected);
    expect((await reader.query(read)).rows).toEqual(expected);
  });

  test("is read by a worker in TypeScript", async () => {
    await using scene = await surface.open();
    const { id } = await damage(scene, String.raw`{"a": "x\u0000"}`);
    await scene.rows(DEQUEUE);
    await scene.rows(DEQUEUE);
    await scene.owner.query("UPDATE millrace.scheduled SET run_at = now()");
    await using mill = await openMillrace(scene.url);
    const seen: unknown[] = [];
    const job = defineJob({ type: "a", payload: typed<object>() }).run((payload) => {
      seen.push(payload);
    });
    const worker = mill.work({ jobs: [job], signals: false });
    const over = "SELECT task_id, outcome FROM millrace.task_completed";
    await expect
      .poll(() => scene.rows(over), { timeout: 10_000 })
      .toEqual([{ task_id: id, outcome: "completed" }]);
    await worker.stop();
    expect(seen).toEqual([{ a: "x\u0000" }]);
  });

  test.each(READABLE)("is another one than %s", async (payload) => {
    await using scene = await surface.open();
    const { id } = await damage(scene, payload);
    const [row] = await scene.rows("SELECT payload::text FROM millrace.task WHERE task_id = $1", [
      id,
    ]);
    expect(row.payload).not.toBeNull();
    expect((await scene.rows(DEQUEUE))[0].task_id).toBe(id);
  });
});
