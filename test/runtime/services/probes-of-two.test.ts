/** Probes whose jobs use two services: what their ends say about each of them. */
import { defineJob, TransientError } from "millrace";
import { expect, test } from "vitest";
import { defaults } from "../../../src/core/presets.ts";
import { openTest, type RuntimeTest } from "../support.ts";

const preset = { ...defaults, breaker: { failures: 3, openMs: 60_000 } };
const OPTIONS = { preset, lanes: { general: 1 }, signals: false } as const;
const PAIRS = 20;

const pair = defineJob({ type: "pair", services: ["bank", "mail"], maxAttempts: 9 });

/** The breaker of the bank opens, and urgent jobs with two services wait before one with one. */
async function openBank(kit: RuntimeTest, bank: { isUp: boolean }) {
  const pay = defineJob({ type: "pay", services: ["bank"] }).run(() => {
    if (!bank.isUp) throw new TransientError("hung up");
  });
  for (let count = 0; count < 3; count += 1) await kit.mill.enqueue(pay);
  await kit.drain([pay], OPTIONS);
  expect((await kit.mill.breakers.get("bank")).state).toBe("open");
  bank.isUp = true;
  return pay;
}

async function addPairs(kit: RuntimeTest): Promise<void> {
  for (let count = 0; count < PAIRS; count += 1) {
    await kit.mill.enqueue(pair, undefined, { priority: 1 });
  }
}

const completed = async (kit: RuntimeTest): Promise<number> =>
  (await kit.mill.jobs.count({ state: "completed" })).count;

test("a success without ctx.breaker closes the breakers of all declared services", async () => {
  await using kit = await openTest({ preset });
  const pay = await openBank(kit, { isUp: false });
  await addPairs(kit);
  await using worker = kit.mill.work({ jobs: [pay, pair.run(() => {})], ...OPTIONS });
  await worker.ready;

  await kit.advance("65s");

  expect((await kit.mill.breakers.get("bank")).state).toBe("closed");
  const history = await kit.mill.breakers.history("bank");
  const states = history.map(({ state }) => state).toReversed();
  expect(states).toEqual(["open", "half_open", "closed"]);
  await kit.advance("5m");
  expect(await completed(kit)).toBe(PAIRS + 3);
});

test("after a success that tells of another service, the next probe is due at once", async () => {
  await using kit = await openTest({ preset });
  const pay = await openBank(kit, { isUp: false });
  const post = pair.run((_, ctx) => ctx.breaker("mail", () => {}));
  await addPairs(kit);
  await using worker = kit.mill.work({ jobs: [pay, post], ...OPTIONS });
  await worker.ready;

  await kit.advance("110s");

  expect((await kit.mill.breakers.get("bank")).state).toBe("closed");
  expect(await completed(kit)).toBe(PAIRS + 3);
});

test("a failure of another service leaves the next probe to jobs of this one", async () => {
  await using kit = await openTest({ preset });
  const pay = await openBank(kit, { isUp: false });
  const post = pair.run(() => {
    throw new TransientError("no answer", { service: "mail" });
  });
  await addPairs(kit);
  await using worker = kit.mill.work({ jobs: [pay, post], ...OPTIONS });
  await worker.ready;

  await kit.advance("110s");

  expect((await kit.mill.breakers.get("bank")).state).toBe("closed");
  expect((await kit.mill.breakers.get("mail")).state).toBe("open");
  expect(await completed(kit)).toBe(3);
});

test("a failure that names no service has no verdict, and the next probe waits", async () => {
  await using kit = await openTest({ preset });
  const pay = await openBank(kit, { isUp: false });
  let runs = 0;
  const post = pair.run(() => {
    runs += 1;
    throw new TransientError("hung up");
  });
  await addPairs(kit);
  await using worker = kit.mill.work({ jobs: [post], ...OPTIONS });
  await worker.ready;

  await kit.advance("110s");

  expect(runs).toBe(1);
  expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "open", failures: 3 });
  expect(pay.type).toBe("pay");
});
