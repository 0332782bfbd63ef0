import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { completed, failedWith, jobId, newJob, retryIn } from "../../../test/support/factories.ts";
import { virtualClock } from "../../../test/support/virtual-clock.ts";
import { MillraceError } from "../../core/errors.ts";
import type { NewJob, SettleAnswer, SettleItem } from "../../store/types/jobs-and-runs.ts";
import { Settler, type UnsettledRun } from "./settler.ts";

const lease = { number: 7, secret: "s" };
const ID = jobId();
const item = (key: number): UnsettledRun => ({ lease, id: ID, key, n: 1, settlement: completed() });

interface Logged {
  readonly message: string;
  readonly fields: object;
}

function makeSettler(answer: (items: readonly SettleItem[]) => Promise<readonly SettleAnswer[]>) {
  const clock = virtualClock();
  const batches: (readonly SettleItem[])[] = [];
  const triedAt: number[] = [];
  const lookedUp: string[] = [];
  const logged: Logged[] = [];
  const rooms: boolean[] = [];
  const ended: number[] = [];
  const stale: number[] = [];
  const log = (message: string, fields: object = {}): void => void logged.push({ message, fields });
  const settler: Settler = new Settler({
    store: {
      settle(items) {
        batches.push(items);
        triedAt.push(clock.monotonic());
        return answer(items);
      },
      get(id) {
        lookedUp.push(id);
        return Promise.resolve(null);
      },
    },
    clock,
    logger: { debug: log, info: log, warn: log, error: log },
    onRoom: () => void rooms.push(settler.hasRoom),
    onStale: ({ key }) => void stale.push(key),
    onSettled: ({ key }) => void ended.push(key),
  });
  return { clock, batches, triedAt, lookedUp, logged, rooms, ended, stale, settler };
}

const refuse = (): Promise<never> => Promise.reject(new Error("the disk is full"));

function settleAll(items: readonly SettleItem[]): Promise<readonly SettleAnswer[]> {
  return Promise.resolve(items.map(() => "settled"));
}

describe("a settler", () => {
  test("lets runs that end together travel together, and later ones next", async () => {
    const { settler, batches } = makeSettler((items) =>
      setImmediate()
        .then(() => setImmediate())
        .then(() => items.map(() => "settled" as const)),
    );

    settler.add(item(1));
    settler.add(item(2));
    while (batches.length === 0) await setImmediate();
    settler.add(item(3));
    settler.add(item(4));
    await settler.drained();

    expect(batches.map((batch) => batch.map(({ key }) => key))).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test("logs once that a job was deleted while it ran, and settles its neighbours", async () => {
    const { settler, logged, ended, batches } = makeSettler((items) =>
      Promise.resolve(items.map(({ key }) => (key === 2 ? "missing" : "settled"))),
    );

    for (const key of [1, 2, 3]) settler.add(item(key));
    await settler.drained();

    expect(batches).toHaveLength(1);
    expect(ended).toEqual([1, 2, 3]);
    expect(logged).toEqual([
      {
        message: expect.stringMatching(/deleted .* while it ran.*millrace doctor --fix/),
        fields: { job_id: ID, job_key: 2, run: 1, fence: 7 },
      },
    ]);
  });

  test("has no room while the store lags behind, and tells when it has room again", async () => {
    const answer = Promise.withResolvers<void>();
    const { settler, rooms } = makeSettler((items) => answer.promise.then(() => settleAll(items)));

    for (let key = 1; key < 2_000; key += 1) settler.add(item(key));
    expect(settler.hasRoom).toBe(true);
    settler.add(item(2_000));
    expect(settler.hasRoom).toBe(false);
    answer.resolve();
    await settler.drained();

    expect(rooms).toEqual([true]);
  });

  test("tries again until the store has taken it", async () => {
    let calls = 0;
    const { clock, settler, batches } = makeSettler((items) => {
      calls += 1;
      return calls < 3 ? refuse() : settleAll(items);
    });

    settler.add(item(1));
    for (let round = 0; round < 5; round += 1) {
      await setImmediate();
      await clock.advance(200);
    }
    await settler.drained();

    expect(batches.map((batch) => batch.map(({ key }) => key))).toEqual([[1], [1], [1]]);
  });

  test("does not give up, however long the store refuses", async () => {
    let isUp = false;
    const { clock, batches, settler } = makeSettler((items) =>
      isUp ? settleAll(items) : refuse(),
    );
    settler.add(item(1));
    while (batches.length === 0) await setImmediate();

    await clock.advance(600_000);
    const refused = batches.length;
    isUp = true;
    await clock.advance(5_000);
    await settler.drained();

    expect(refused).toBeGreaterThan(1);
    expect(batches).toHaveLength(refused + 1);
    expect(batches.at(-1)).toEqual([item(1)]);
  });

  test("waits longer from try to try, but never more than five seconds", async () => {
    const { clock, batches, triedAt, settler } = makeSettler(refuse);
    settler.add(item(1));
    while (batches.length === 0) await setImmediate();

    await clock.advance(30_000);

    const waits = triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0));
    expect(waits).toEqual([200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000, 5_000]);
  });

  test("that is closed tells how many ends the store did not take, and tries no more", async () => {
    const { clock, batches, settler } = makeSettler(refuse);
    settler.add(item(1));
    settler.add(item(2));
    while (batches.length === 0) await setImmediate();
    settler.add(item(3));
    let untold = 0;

    const closed = settler.close(5_000).then((count) => (untold = count));
    await clock.advance(4_999);
    expect(untold).toBe(0);
    await clock.advance(1);
    await closed;
    const tries = batches.length;
    await settler.drained();
    await clock.advance(60_000);

    expect(untold).toBe(3);
    expect(batches).toHaveLength(tries);
  });

  test("that is closed takes nothing more", async () => {
    const { batches, settler } = makeSettler(settleAll);
    settler.add(item(1));

    expect(await settler.close(5_000)).toBe(0);
    settler.add(item(2));
    await settler.drained();

    expect(batches).toEqual([[item(1)]]);
  });

  test("records that a run ended even if the store refuses what it ended with", async () => {
    const { settler, batches } = makeSettler((items) =>
      Promise.resolve(
        items.map(({ settlement }) => (settlement.to === "completed" ? "refused" : "settled")),
      ),
    );

    settler.add(item(1));
    await settler.drained();

    expect(batches).toHaveLength(2);
    expect(batches[1]?.[0]).toMatchObject({
      key: 1,
      settlement: { to: "failed", fault: { class: "non_retryable" } },
    });
  });

  test("tells why when a child was refused", async () => {
    const { settler, batches, logged } = makeSettler((items) =>
      Promise.resolve(
        items.map(({ children = [] }) => {
          const [child] = children;
          if (child === undefined) return "settled";
          return { status: "refused", code: "AFTER_UNKNOWN", child: child.id, holder: "another" };
        }),
      ),
    );
    const note = { completed: { name: "last", result: null }, logs: [] };

    settler.add({ ...item(1), note, children: [newJob({ type: "zip" })] });
    settler.add(item(2));
    await settler.drained();

    expect(batches[1]).toEqual([
      {
        ...item(1),
        note: { logs: [] },
        settlement: {
          ...failedWith(),
          fault: {
            class: "non_retryable",
            name: "AFTER_UNKNOWN",
            message: expect.stringContaining('"zip" is to run after another'),
            stack: expect.stringMatching(/^AFTER_UNKNOWN: a child/),
            cause: expect.any(String),
          },
        },
      },
    ]);
    expect(logged).toEqual([]);
  });

  test("tells which runs are over for the store, once each", async () => {
    const answers = ["settled", "refused", "stale"] as const;
    const { settler, batches, ended } = makeSettler((items) =>
      batches.length === 1 ? Promise.resolve(answers) : settleAll(items),
    );

    for (const key of [1, 2, 3]) settler.add(item(key));
    await settler.drained();

    expect(ended).toEqual([1, 3, 2]);
  });

  test("asks only twice when the store refuses that, too", async () => {
    const { settler, batches } = makeSettler((items) => {
      if (batches.length > 10) throw new Error("endless");
      return Promise.resolve(items.map(() => "refused" as const));
    });

    settler.add({ ...item(1), settlement: failedWith() });
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();

    expect(batches).toHaveLength(2);
  });

  test("logs that the lease was lost and the result discarded", async () => {
    const { settler, logged } = makeSettler((items) =>
      Promise.resolve(items.map(() => "stale" as const)),
    );

    settler.add(item(1));
    await settler.drained();

    expect(logged).toEqual([
      { message: "lease lost: result discarded", fields: { job_id: ID, run: 1, fence: 7 } },
    ]);
  });

  test("drops ends of runs when the installation has moved, and logs no lost lease", async () => {
    const error = new MillraceError("STORE_MOVED", "this installation moved to another place");
    const { settler, logged, ended, batches } = makeSettler(() => Promise.reject(error));

    settler.add(item(1));
    await settler.drained();

    expect(batches).toHaveLength(1);
    expect(logged).toMatchObject([{ fields: { error } }]);
    expect(ended).toEqual([1]);
    expect(await settler.close(0)).toBe(0);
  });
});

describe("a child that the store did not make", () => {
  const parentId = jobId();
  const keyed: readonly (readonly [string, Partial<NewJob>])[] = [
    ["idempotency", { idempotency: { key: "order-7", onConflict: "return-existing" } }],
    ["dedup", { dedup: { key: "order-7", onConflict: "skip" } }],
  ];

  test.each(keyed)("for its %s key is told with its ids and its key", async (_, overrides) => {
    const { settler, logged } = makeSettler(settleAll);
    const child = newJob({ ...overrides, parentId });

    settler.add({ ...item(1), children: [newJob(), child] });
    await settler.drained();

    expect(logged).toEqual([
      {
        message: expect.stringContaining("another job holds its key"),
        fields: {
          child_id: child.id,
          holder_id: null,
          parent_id: parentId,
          type: "email",
          key: "order-7",
        },
      },
    ]);
  });

  test.each(keyed)("is not missed when its run has failed (%s)", async (_, overrides) => {
    const { settler, lookedUp, logged } = makeSettler(settleAll);
    const children = [newJob(overrides)];

    settler.add({ ...item(1), settlement: retryIn(1_000), children });
    settler.add({ ...item(2), settlement: failedWith(), children });
    await settler.drained();

    expect(lookedUp).toEqual([]);
    expect(logged).toEqual([]);
  });

  test("without a key costs no look-up, for nothing can stand in its way", async () => {
    const { settler, lookedUp } = makeSettler(settleAll);

    settler.add({ ...item(1), children: [newJob(), newJob({ after: [jobId()] })] });
    await settler.drained();

    expect(lookedUp).toEqual([]);
  });
});
