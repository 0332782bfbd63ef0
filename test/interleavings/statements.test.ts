/** A sample of `scripts/show/interleavings.ts`: pairs, statement by statement. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { explore } from "./explore.ts";
import { PAIRS } from "./pairs.ts";
import { sampled, SHORT, TEST_MS_MAX } from "./sample.ts";

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ durable: false });
}, TEST_MS_MAX);

afterAll(() => server[Symbol.asyncDispose]());

describe("two verbs that meet", () => {
  test.each(sampled(PAIRS, 8))(
    "keep all invariants, statement by statement: $name",
    async (pair) => {
      const found = await explore(server, pair, { ...SHORT, grain: "statements" });

      expect(found.violations).toEqual([]);
      expect(found.interleavings).toBeGreaterThan(1);
    },
    TEST_MS_MAX,
  );
});
