import { describe } from "vitest";
import { unfence } from "../../src/store/sqlite/fence.ts";
import { makeSqliteStore } from "../../src/store/sqlite/make.ts";
import { openSqlite } from "../support/stores.ts";
import { suites } from "./all.ts";
import { sqliteCallers } from "./callers.ts";
import { insideSuite } from "./inside.suite.ts";
import { sqliteOwnSuite } from "./sqlite-own.suite.ts";

describe("SQLite", () => {
  for (const suite of suites) suite(openSqlite);
  insideSuite(sqliteCallers(makeSqliteStore));
  sqliteOwnSuite({ makeSqliteStore, unfence });
});
