/** How many notifications are sent, and how many statements they cause. */
import { Client, Pool } from "pg";
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace } from "millrace";
import { postgresStore } from "millrace/postgres";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makePostgresStore } from "../../src/store/postgres/create.ts";
import { newJob } from "../support/factories.ts";
import { connect, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { warningsOf } from "../support/steps.ts";
import { testLogger } from "../support/logger.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres({ durable: false });
});
afterAll(() => server[Symbol.asyncDispose]());

const plain = defineJob({ type: "plain" }).run(() => {});

/** What the throttle passes on in so many milliseconds, at most. */
function passedOnMax(ms: number): number {
  return 20 * Math.ceil(ms / 1_000);
}

describe("notifications", () => {
  test("of 1,000 enqueues are at most 20 a second, and one follows the last commit", async () => {
    const schema = "many_enqueues";
    const store = makePostgresStore({ url: server.url, schema });
    await store.open();
    const client = await connect(server.url);
    let notifications = 0;
    const counts: Promise<number>[] = [];
    client.on("notification", ({ payload = "" }) => {
      if (payload.endsWith("beat")) return;
      notifications += 1;
      counts.push(countReady(client, schema));
    });
    await client.query(`LISTEN "millrace:${schema}"`);

    const startedAt = performance.now();
    for (let count = 0; count < 1_000; count += 1) await store.enqueue([newJob()]);
    const tookMs = performance.now() - startedAt;
    await store.close();
    const sent = notifications;
    // The answer comes after the notifications that were sent before.
    await client.query("SELECT 1");

    expect(sent).toBeGreaterThan(0);
    expect(notifications).toBeLessThanOrEqual(passedOnMax(tookMs) + 1);
    expect((await Promise.all(counts)).at(-1)).toBe(1_000);
    await client.end();
  });

  test("of an enqueue name the lane, so that other lanes do not claim", async () => {
    const schema = "lanes";
    let claims = 0;
    class CountingClient extends Client {
      override query(sent: any): any {
        if (String(sent.text).includes("claim_batch")) claims += 1;
        return super.query(sent);
      }
    }
    const pool = new Pool({ connectionString: server.url, Client: CountingClient });
    pool.on("error", () => {});
    const mill = await openMillrace(postgresStore({ pool, schema }), { logger: testLogger });
    await using other = await openMillrace(postgresStore({ url: server.url, schema }), {
      logger: testLogger,
    });
    const worker = mill.work({
      jobs: [plain],
      lanes: { fast: 1, mail: 1, bulk: 1, general: 5 },
      poll: "30s",
    });
    await mill.wait(await other.enqueue(plain));
    await sleep(100);
    claims = 0;

    for (let count = 0; count < 5; count += 1) {
      await mill.wait(await other.enqueue(plain));
      await sleep(30);
    }

    // One claim for each job, and a rescan now and then; four lanes would make 20.
    expect(claims).toBeGreaterThanOrEqual(5);
    expect(claims).toBeLessThan(15);
    await worker.stop();
    await mill.close();
    await pool.end();
  });

  test("that are forged in a flood cause a bounded number of statements", async () => {
    const schema = "forged";
    let statements = 0;
    class CountingClient extends Client {
      override query(sent: any): any {
        statements += 1;
        return super.query(sent);
      }
    }
    const pool = new Pool({ connectionString: server.url, Client: CountingClient });
    pool.on("error", () => {});
    const mill = await openMillrace(postgresStore({ pool, schema }), { logger: testLogger });
    const worker = mill.work({ jobs: [plain], poll: "10s" });
    await mill.wait(await mill.enqueue(plain));
    const client = await connect(server.url);
    statements = 0;

    const startedAt = performance.now();
    for (let count = 0; count < 1_000; count += 1) {
      await client.query("SELECT pg_notify($1, $2)", [`millrace:${schema}`, "forged work"]);
    }
    await sleep(200);
    const tookMs = performance.now() - startedAt;

    // Two claims of each of two lanes, and a look for due jobs; the rest is the heartbeat.
    expect(statements).toBeLessThanOrEqual(6 * (passedOnMax(tookMs) + 5));
    expect(statements).toBeGreaterThan(10);
    await client.end();
    await worker.stop();
    await mill.close();
    await pool.end();
  });
});

describe("a result", () => {
  test("costs its caller the enqueue and at most three reads, none of the feed", async () => {
    const schema = "results";
    const statements: string[] = [];
    class ListeningClient extends Client {
      override query(sent: any): any {
        statements.push(sent.text);
        return super.query(sent);
      }
    }
    const pool = new Pool({ connectionString: server.url, Client: ListeningClient });
    pool.on("error", () => {});
    await using other = await openMillrace(postgresStore({ url: server.url, schema }), {
      logger: testLogger,
    });
    other.work({ jobs: [plain] });
    const mill = await openMillrace(postgresStore({ pool, schema }), { logger: testLogger });
    await mill.result(await mill.enqueue(plain));

    const counts: number[] = [];
    for (let round = 0; round < 20; round += 1) {
      statements.length = 0;
      await mill.result(await mill.enqueue(plain));
      // The listener's own message comes every three seconds.
      counts.push(statements.filter((text) => !text.includes("pg_notify")).length);
      expect(statements.filter((text) => /event|feed/.test(text))).toEqual([]);
    }

    expect(counts.toSorted((a, b) => a - b)[10]).toBeLessThanOrEqual(4);
    await mill.close();
    await pool.end();
  });
});

describe("a listener", () => {
  test("that a pooler makes deaf is reported once, and jobs are found by polling", async () => {
    const pool = new Pool({ connectionString: server.url, Client: PooledClient });
    pool.on("error", () => {});
    const mill = await openMillrace(postgresStore({ pool, schema: "deaf" }), { logger: silent });
    const warnings: string[] = [];
    const warned = new Promise<void>((resolve) => {
      silent.warn = (message: string) => {
        warnings.push(message);
        if (message.includes("LISTEN receives nothing")) resolve();
      };
    });
    const worker = mill.work({ jobs: [plain] });
    await using other = await openMillrace(`${server.url}?schema=deaf`, { logger: testLogger });

    await warned;
    const job = await other.enqueue(plain);

    expect((await other.wait(job)).state).toBe("completed");
    expect(warnings.filter((warning) => warning.includes("LISTEN receives nothing"))).toHaveLength(
      1,
    );
    await worker.stop();
    await mill.close();
    await pool.end();
  });

  test("that receives its own messages is not reported", async () => {
    const store = makePostgresStore({ url: server.url, schema: "sound" });
    await store.open();
    const warnings = warningsOf(store);
    store.watch(() => {});

    // Longer than two connections may stay without a message.
    await sleep(8_000);

    expect(warnings).toEqual([]);
    await store.close();
  });
});

const silent = { debug() {}, info() {}, warn(_message: string) {}, error() {} };

/**
 * As behind PgBouncer in transaction mode: between two statements, the connection to the server
 * belongs to other clients. A notification arrives only together with the answer to a statement.
 */
class PooledClient extends Client {
  #underWay = 0;

  override async query(sent: any): Promise<any> {
    this.#underWay += 1;
    try {
      return await super.query(sent);
    } finally {
      this.#underWay -= 1;
    }
  }

  override emit(event: string | symbol, ...args: any[]): boolean {
    if (event === "notification" && this.#underWay === 0) return false;
    return super.emit(event, ...args);
  }
}

async function countReady(client: Client, schema: string): Promise<number> {
  const { rows } = await client.query(`SELECT count(*)::integer AS count FROM ${schema}.ready`);
  return rows[0]?.count;
}
