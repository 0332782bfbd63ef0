/** Jobs that wait for a service that a deploy removes from their type. */
import { defineJob, TransientError } from "millrace";
import { expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { declaration, workerId } from "../../support/factories.ts";
import { openTest } from "../support.ts";

const preset = { ...defaults, breaker: { failures: 2, openMs: 60_000 } };
const OPTIONS = { preset, lanes: { general: 1 }, signals: false } as const;

test("run after a deploy that renames the service, and explain does not name it", async () => {
  await using kit = await openTest({ preset });
  const before = defineJob({ type: "pay", services: ["bank"] }).run(() => {
    throw new TransientError("hung up");
  });
  const after = defineJob({ type: "pay", services: ["bank2"] }).run(() => "paid");
  for (let job = 0; job < 2; job += 1) await kit.mill.enqueue(before);
  const old = kit.mill.work({ jobs: [before], ...OPTIONS });
  await old.ready;
  await kit.settled();
  const { id } = await kit.mill.enqueue(before);
  await kit.advance("5s");
  expect(await kit.mill.jobs.explain(id)).toMatchObject({ reason: "breaker" });
  await old.stop();
  await kit.store.declareTypes(workerId(), [declaration({ type: "pay", services: ["bank2"] })]);
  expect(await kit.mill.jobs.explain(id)).toMatchObject({ reason: "no_worker" });

  await using worker = kit.mill.work({ jobs: [after], ...OPTIONS });
  await worker.ready;
  await kit.advance("5s");

  expect((await kit.mill.jobs.get(id)).state).toBe("completed");
  expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "open" });
});
