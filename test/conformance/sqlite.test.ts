import { describe } from "vitest";
import { openSqlite } from "../support/stores.ts";
import { suites } from "./all.ts";

describe("SQLite", () => {
  for (const suite of suites) suite(openSqlite);
});
