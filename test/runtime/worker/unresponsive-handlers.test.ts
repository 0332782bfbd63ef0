/** Handlers that ignore their signal, after an operator or a rescue has ended their run. */
import { defineJob, typed } from "millrace";
import { describe, expect, test } from "vitest";
import { crashedOnce } from "../../support/factories.ts";
import { rescueSilent } from "../../support/steps.ts";
import { latch, openTest, type RuntimeTest } from "../support.ts";

/** A worker of one slot that a deaf handler occupies, and a job that waits for it. */
async function occupied(kit: RuntimeTest) {
  let runs = 0;
  const first = latch();
  const deaf = defineJob({ type: "deaf", payload: typed<string>(), timeout: false }).run(
    async (name) => {
      runs += 1;
      if (runs === 1) await first.passed;
      return name;
    },
  );
  const running = await kit.mill.enqueue(deaf, "running");
  const worker = kit.mill.work({ jobs: [deaf], lanes: { general: 1 } });
  await kit.settled();
  const waiting = await kit.mill.enqueue(deaf, "waiting", { priority: "critical" });
  await kit.settled();
  return { worker, running, waiting, first };
}

const ENDINGS: readonly (readonly [
  what: string,
  end: (kit: RuntimeTest, ids: { job: string; worker: string }) => Promise<unknown>,
])[] = [
  ["jobs.release", ({ mill }, { job }) => mill.jobs.release(job)],
  ["jobs.fail", ({ mill }, { job }) => mill.jobs.fail(job, "not wanted")],
  ["a lost lease", ({ store }, { worker }) => takeBack(store, worker)],
];

describe("a deaf handler whose run was ended by", () => {
  test.each(ENDINGS)("%s keeps its slot for five seconds, and no longer", async (_, end) => {
    await using kit = await openTest();
    const { worker, running, waiting } = await occupied(kit);

    await end(kit, { job: running.id, worker: worker.id });
    // The next heartbeat, within a second, brings the word.
    await kit.advance(4_999);
    expect(await kit.mill.jobs.get(waiting.id)).toMatchObject({ state: "queued" });
    await kit.advance(1_001);

    expect(await kit.mill.result(waiting)).toBe("waiting");
  });

  test("a release runs again, and what it says later changes nothing", async () => {
    await using kit = await openTest();
    const { running, first } = await occupied(kit);

    await kit.mill.jobs.release(running.id);
    await kit.advance("6s");
    first.open();
    await kit.settled();

    expect(await kit.outcomes(running)).toEqual(["interrupted", "succeeded"]);
    expect(await kit.mill.result(running)).toBe("running");
  });
});

/** What a rescuer with a clock of its own would do. */
async function takeBack(store: RuntimeTest["store"], id: string): Promise<void> {
  await store.renew(id, 0);
  await rescueSilent(store, id, { decide: crashedOnce });
}
