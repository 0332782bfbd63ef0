/** A sample of `scripts/show/blame.ts`: a job that kills its process takes no other job with it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isCampaign, sized } from "../../scripts/lib/campaign-size.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { openPostgres, openSqlite, type OpenStore } from "../support/stores.ts";
import { runShape, SHAPES } from "./shapes.ts";

const SEEDS = sized({ smoke: 1, short: 1, full: 50 });
const TEST_MS_MAX = sized({ smoke: 60_000, short: 240_000, full: 3_600_000 });
/** The others take long, above all on PostgreSQL, and run with the campaign only. */
const SMALL = ["dies after 3 s", "two work() in one process", "one-slot workers"];
const shapes = SHAPES.filter(({ name }) => isCampaign() || SMALL.includes(name));
/** A type is paused after three lone deaths, so that its other jobs wait. */
const PAUSED = new Set(["a crashing type", "twelve fresh poisons"]);

describe("on SQLite", () => {
  shapesOn(openSqlite);
});

describe("on PostgreSQL", () => {
  let server: PostgresServer | null = null;
  beforeAll(async () => {
    server = await startPostgres({ durable: false });
  }, 60_000);
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
  });
  shapesOn(() => openPostgres(server!, "shared"));
});

function shapesOn(open: OpenStore): void {
  test.each(shapes)(
    "$name: every healthy job completes, every poison ends or waits behind its gate",
    async (shape) => {
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        await using db = await open();
        const verdict = await runShape(db, shape, seed);
        const waiting = PAUSED.has(shape.name) ? verdict.poisonsWaiting : 0;
        expect({ seed, ...verdict }).toMatchObject({
          innocentsEnded: 0,
          healthyDone: shape.healthy.length - verdict.killedAlone,
          poisonsFailed: shape.poisons.length - waiting,
          poisonsWaiting: waiting,
        });
      }
    },
    TEST_MS_MAX,
  );
}
