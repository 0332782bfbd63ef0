/** Probes whose jobs use two services: what their ends say about each of them. */
import { defineJob, RateLimitedError, TransientError } from "millrace";
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

/** The breaker of the mail opens, and 50 jobs of the mail wait. */
async function openMail(kit: RuntimeTest, mail: { isUp: boolean }) {
  const send = defineJob({ type: "send", services: ["mail"], maxAttempts: 99 }).run(() => {
    if (!mail.isUp) throw new TransientError("hung up");
  });
  const jobs = [];
  for (let count = 0; count < 50; count += 1) jobs.push(await kit.mill.enqueue(send));
  await kit.drain([send], OPTIONS);
  expect(await kit.mill.breakers.get("mail")).toMatchObject({ state: "open", failures: 3 });
  return { send, jobs };
}

test("a probe that has not called a failing service costs one attempt", async () => {
  await using kit = await openTest({ preset });
  const { send, jobs } = await openMail(kit, { isUp: false });
  await using worker = kit.mill.work({
    jobs: [send, pair.run(() => {})],
    ...OPTIONS,
    lanes: { general: 4 },
  });
  await worker.ready;

  for (let count = 0; count < 10; count += 1) {
    await kit.mill.enqueue(pair, undefined, { priority: 1 });
    await kit.advance("65s");
  }

  expect(await completed(kit)).toBe(10);
  const history = await kit.mill.breakers.history("mail", { limit: 100 });
  const times = (wanted: string) => history.filter(({ state }) => state === wanted).length;
  expect(times("closed")).toBe(10);
  const found = await Promise.all(jobs.map(({ id }) => kit.mill.jobs.get(id)));
  const charged = found.reduce((sum, job) => sum + (job?.attempts ?? 0), 0);
  expect(charged).toBeLessThanOrEqual(3 + times("half_open"));
});

test("after a probe of two services, jobs of a service that works again complete", async () => {
  await using kit = await openTest({ preset });
  const mail = { isUp: false };
  const { send } = await openMail(kit, mail);
  await kit.mill.enqueue(pair, undefined, { priority: 1 });
  await using worker = kit.mill.work({ jobs: [pair.run(() => {})], ...OPTIONS });
  await worker.ready;
  await kit.advance("65s");
  expect(await kit.mill.breakers.get("mail")).toMatchObject({
    state: "closed",
    failures: 3,
    successes: 0,
    reason: "the next failure opens the breaker: a probe of several services closed it on trial",
  });

  mail.isUp = true;
  await using sender = kit.mill.work({ jobs: [send], ...OPTIONS });
  await sender.ready;
  await kit.advance("10s");

  expect(await completed(kit)).toBe(51);
  const works = { state: "closed", failures: 0, reason: null };
  expect(await kit.mill.breakers.get("mail")).toMatchObject(works);
});

test("a rate limit after a probe of two services costs one attempt", async () => {
  await using kit = await openTest({ preset });
  const send = defineJob({ type: "send", services: ["mail"], maxAttempts: 99 }).run(() => {
    throw new RateLimitedError("429", { retryAfter: "10s" });
  });
  for (let count = 0; count < 50; count += 1) await kit.mill.enqueue(send);
  await using worker = kit.mill.work({ jobs: [send, pair.run(() => {})], ...OPTIONS });
  await worker.ready;
  await kit.advance("31s");
  expect(await kit.mill.breakers.get("mail")).toMatchObject({ state: "open", failures: 3 });

  await kit.mill.enqueue(pair, undefined, { priority: 1 });
  await kit.advance("65s");

  const history = await kit.mill.breakers.history("mail");
  const states = history.map(({ state }) => state).toReversed();
  expect(states).toEqual(["open", "half_open", "closed", "open"]);
  expect(await kit.mill.breakers.get("mail")).toMatchObject({ state: "open", failures: 4 });
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

test("after a failure of an undeclared service, the next probe waits", async () => {
  await using kit = await openTest({ preset });
  const pay = await openBank(kit, { isUp: false });
  let runs = 0;
  const post = pair.run(() => {
    runs += 1;
    throw new TransientError("no answer", { service: "sms" });
  });
  await addPairs(kit);
  await using worker = kit.mill.work({ jobs: [pay, post], ...OPTIONS });
  await worker.ready;

  await kit.advance("110s");

  expect(runs).toBe(1);
  expect(await kit.mill.breakers.get("bank")).toMatchObject({ state: "open", failures: 3 });
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
