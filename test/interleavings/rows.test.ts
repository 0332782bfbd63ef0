/**
 * A sample of `scripts/show/interleavings.ts`: some pairs, row by row, and proof that planted
 * bugs would be found.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { explore } from "./explore.ts";
import type { Pair } from "./pair.ts";
import { PAIRS } from "./pairs.ts";
import { sampled, SHORT, TEST_MS_MAX } from "./sample.ts";
import type { Rewrite } from "./side.ts";

/** Pairs of verbs that are one statement each, at least in part. */
const INSIDE = [
  "claim / claim",
  "claim / rescue",
  "settle done / rescue",
  "settle done / the same again",
  "returnPrefetched / start",
  "start / cancel",
  "start / the same again",
  "claim / claim of one key in two lanes",
  "settle / hold of a key",
  "acquireLocks / claim of the name",
  "complete / complete of two parents",
  "claimAlone / claimAlone in another lane",
  "claimAlone / claim of one key",
  "claimAlone / rescue of a lone run",
  "rescue / rescue of one process",
];

interface Bug {
  readonly bug: string;
  readonly met: string;
  readonly rewrite: Rewrite;
}

const BUGS: readonly Bug[] = [
  {
    bug: "returnPrefetched does not lock the lease",
    met: "returnPrefetched / start",
    rewrite: (text) => without(text, /AND secret = \$\d(?:::text)?\s+FOR UPDATE/, /FOR UPDATE/),
  },
  {
    bug: "cancel does not lock the lease of a running job",
    met: "cancel / settle retry",
    rewrite: (text) => without(text, /LIMIT 1\s+FOR UPDATE/, /FOR UPDATE/),
  },
  {
    bug: "rescue does not ask whether the worker is still silent",
    met: "renew / rescue",
    // What it asks about binds less than what it asks for, and it reads what it has asked for.
    rewrite: (text) =>
      text
        .replace(/AND beats = /, "OR beats = ")
        .replace("SELECT id, beats, died_with", "SELECT id, 0::bigint AS beats, died_with"),
  },
  {
    bug: "a second rescue of a process counts anew",
    met: "rescue / rescue of one process",
    rewrite: (text) =>
      text
        .replace("SELECT id, beats, died_with", "SELECT id, beats, NULL AS died_with")
        .replace("AND worker.died_with IS NULL", ""),
  },
  {
    bug: "hold does not keep the row of a taken key meanwhile",
    met: "retry / hold of a key",
    rewrite: (text) => text.replace("FOR KEY SHARE SKIP LOCKED", ""),
  },
  {
    bug: "acquireLocks does not lock the lease of its run",
    met: "acquireLocks / settle",
    rewrite: (text) => without(text, /AND secret = \$\d(?:::text)?\s+FOR UPDATE/, /FOR UPDATE/),
  },
  {
    bug: "resolveDependencies does not lock those that wait",
    met: "complete / complete of two parents",
    rewrite: (text) => without(text, /AND gate = 0\s+ORDER BY key\s+FOR UPDATE/, /FOR UPDATE/),
  },
];

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ durable: false });
}, TEST_MS_MAX);

afterAll(() => server[Symbol.asyncDispose]());

describe("two verbs that meet", () => {
  test.each(sampled(INSIDE, 3))(
    "keep all invariants, row by row: %s",
    async (name) => {
      const found = await explore(server, pairOf(name), { ...SHORT, grain: "rows" });

      expect(found.violations).toEqual([]);
      expect(found.interleavings).toBeGreaterThan(2);
    },
    TEST_MS_MAX,
  );

  test.each(sampled(BUGS, 2))(
    "are caught when $bug",
    async ({ met, rewrite }) => {
      const options = { grain: "statements", interruptions: 1, most: 200, rewrite } as const;
      const found = await explore(server, pairOf(met), options);

      expect(found.violations).not.toEqual([]);
    },
    TEST_MS_MAX,
  );
});

function pairOf(name: string): Pair {
  const found = PAIRS.find((pair) => pair.name === name);
  if (found === undefined) throw new Error(`there is no pair ${name}`);
  return found;
}

/** Takes `part` out of the statement that is known by `mark`. */
function without(text: string, mark: RegExp, part: RegExp): string {
  return mark.test(text) ? text.replace(part, "") : text;
}
