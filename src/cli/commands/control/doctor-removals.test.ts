import { describe, expect, test } from "vitest";
import { openSqlite } from "../../../../test/support/stores.ts";
import { removalChecks } from "./doctor-removals.ts";

describe("the removals that millrace doctor names", () => {
  test("are aged by the clock of the store", async () => {
    await using db = await openSqlite();
    const { store, clock } = db;
    await store.beginRemoval("acme", { by: "ada", reason: "over" });
    await clock.advance(60 * 60_000);
    const young = await removalChecks(store);
    await clock.advance(60 * 60_000);
    const old = await removalChecks(store);

    expect(young).toEqual([{ name: "removals", found: "1 under way, none for long", fix: null }]);
    expect(old).toMatchObject([{ found: expect.stringContaining("being removed for 2 h,") }]);
  });
});
