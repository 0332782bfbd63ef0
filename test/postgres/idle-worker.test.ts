/** What a worker with nothing to do costs the server. */
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace } from "millrace";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openProxy } from "../../scripts/show/lib/fleet/proxy.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { testLogger } from "../support/logger.ts";

const WARM_UP_MS = 3_000;
/** On a busy host, work of the start and late ticks fall into a window. So the quietest counts. */
const WINDOWS = 3;
const WINDOW_MS = 5_000;
const STATEMENTS_PER_S_MAX = 3;

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

test("an idle worker sends at most three statements a second", async () => {
  const plain = defineJob({ type: "plain" }).run(() => {});
  const statements = new Map<string, number>();
  await using proxy = await openProxy({
    url: server.url,
    fateOf({ sql }) {
      // The end of a connection is no statement.
      if (sql !== "") statements.set(sql, (statements.get(sql) ?? 0) + 1);
      return { kind: "pass" };
    },
  });
  await using mill = await openMillrace(proxy.url, { logger: testLogger });
  mill.work({ jobs: [plain] });
  await mill.wait(await mill.enqueue(plain));
  await sleep(WARM_UP_MS);
  const rates: number[] = [];
  for (let window = 0; window < WINDOWS; window += 1) {
    statements.clear();
    const startedAt = performance.now();
    await sleep(WINDOW_MS);
    const seconds = (performance.now() - startedAt) / 1_000;
    const total = [...statements.values()].reduce((sum, count) => sum + count, 0);
    rates.push(total / seconds);
  }

  expect(Math.min(...rates)).toBeLessThanOrEqual(STATEMENTS_PER_S_MAX);
  expect(Math.min(...rates)).toBeGreaterThan(0);
});
