/** Which workers `jobs.explain` counts on, and by which clock. */
import { defineJob } from "millrace";
import { describe, expect, test } from "vitest";
import { Client } from "../../../src/client/client.ts";
import { defaults } from "../../../src/core/presets.ts";
import { workerInfo } from "../../support/factories.ts";
import { testLogger } from "../../support/logger.ts";
import { seededDice } from "../../support/seeded-dice.ts";
import { latch, openTest, type RuntimeTest } from "../support.ts";

const email = defineJob({ type: "email" }).run(() => "sent");

describe("jobs.explain", () => {
  test("names a worker whose heartbeats have stopped, and the end of its lease", async () => {
    await using kit = await openTest();
    await kit.mill.enqueue(email);
    const diedAt = kit.clock.now();
    kit.crashAt("start");
    await kit.drain([email]);
    const { id } = await kit.mill.enqueue(email);

    await kit.advance("3s");

    const [worker] = await kit.store.workers(1);
    const { reason, sentence } = await kit.mill.jobs.explain(id);
    expect({ reason, sentence }).toEqual({
      reason: "no_worker",
      sentence:
        "It is due, but no worker is running. " +
        `Worker ${worker!.id} (process ${worker!.pid} on ${worker!.host}) takes it, but has been ` +
        `silent since ${new Date(diedAt).toISOString()}; ` +
        `its lease ends at ${new Date(diedAt + 30_000).toISOString()}.`,
    });
  });

  test("tells a tenant of such a worker, but not which one and where", async () => {
    await using kit = await openTest();
    const worker = workerInfo({ host: "mill-7", pid: 4_711, beatMs: 1_000 });
    await kit.store.register(worker);
    const silentSince = kit.clock.now();
    const acme = kit.mill.forTenant("acme");
    const { id } = await acme.enqueue(email);

    await kit.advance("3s");

    const { sentence } = await acme.jobs.explain(id);
    expect(sentence).toBe(
      "It is due, but no worker is running. " +
        `A worker takes it, but has been silent since ${new Date(silentSince).toISOString()}; ` +
        `its lease ends at ${new Date(silentSince + 30_000).toISOString()}.`,
    );
    expect((await kit.mill.jobs.explain(id)).sentence).toContain("(process 4711 on mill-7)");
  });

  test("counts the slots of a lane that is named like a member of every object", async () => {
    await using kit = await openTest();
    const end = latch();
    const odd = defineJob({ type: "odd", lane: "constructor" }).run(() => end.passed);
    await using worker = kit.mill.work({ jobs: [odd], lanes: { general: 1 }, signals: false });
    await worker.ready;
    await kit.mill.enqueue(odd);
    await kit.advance("1s");
    const { id } = await kit.mill.enqueue(odd);
    await kit.advance("1s");

    const explained = await kit.mill.jobs.explain(id);
    const [lane] = (await kit.mill.lanes.list()).filter(({ lane: name }) => name === "constructor");
    end.open();

    expect(explained).toMatchObject({ reason: "busy", details: { slots: 1, running: 1 } });
    expect(lane).toMatchObject({ slots: 0, workers: 1 });
  });

  test("names no silent worker that did not take the job", async () => {
    await using kit = await openTest();
    await kit.store.register(workerInfo({ types: ["report"], beatMs: 1_000 }));
    const { id } = await kit.mill.enqueue(email);

    await kit.advance("3s");

    expect((await kit.mill.jobs.explain(id)).sentence).toBe("It is due, but no worker is running.");
  });

  test("and the lists of workers and lanes go by the clock of the store", async () => {
    await using kit = await openTest();
    await kit.store.register(workerInfo({ types: ["email"] }));
    const { id } = await kit.mill.enqueue(email);
    const ahead = shiftedClient(kit, 3_600_000);

    expect(await ahead.jobs.explain(id)).toMatchObject({ reason: "waiting" });
    expect(await ahead.workers.list()).toMatchObject([{ isAlive: true }]);
    expect(await ahead.lanes.list()).toMatchObject([{ lane: "general", workers: 1 }]);
  });

  test("calls no job due before its time has come by the clock of the store", async () => {
    await using kit = await openTest();
    const { id } = await kit.mill.enqueue(email, undefined, { delay: "10m" });
    const [ahead, behind] = [shiftedClient(kit, 3_600_000), shiftedClient(kit, -3_600_000)];

    expect(await ahead.jobs.explain(id)).toMatchObject({ reason: "scheduled" });
    await kit.advance("10m");
    expect(await behind.jobs.explain(id)).toMatchObject({ reason: "no_worker" });
  });
});

/** A client of the same store whose clock is ahead. */
function shiftedClient({ store, clock }: RuntimeTest, aheadMs: number): Client {
  const now = (): number => clock.now() + aheadMs;
  const ports = { clock: { ...clock, now }, dice: seededDice(1), logger: testLogger };
  return new Client({ store, ...ports, tenant: "default", preset: defaults });
}
