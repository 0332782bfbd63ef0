/** The conformance suites on SQLite, dealt to two files that run at the same time. */
import { describe } from "vitest";
import { unblockWrites } from "../../src/store/sqlite/copy/write-block.ts";
import { makeSqliteStore } from "../../src/store/sqlite/create.ts";
import { openSqlite } from "../support/stores.ts";
import { suites } from "./all.ts";
import { sqliteCallers } from "./transactions/callers.ts";
import { insideSuite } from "./transactions/enqueue-in-transaction.suite.ts";
import { sqliteOwnSuite } from "./database/sqlite-own.suite.ts";

const HANDS = 2;

/** Runs the suites of one hand, every second. */
export function onSqlite(hand: number): void {
  describe("SQLite", () => {
    for (const suite of suites.filter((_, index) => index % HANDS === hand)) suite(openSqlite);
    if (hand < HANDS - 1) return;
    insideSuite(sqliteCallers(makeSqliteStore));
    sqliteOwnSuite({ makeSqliteStore, unblockWrites });
  });
}
