/** A sample of `scripts/show/differential.ts`, and proof that it would find what differs. */
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sized } from "../../scripts/lib/campaign-size.ts";
import { startPostgres, type PostgresServer } from "../support/postgres.ts";
import { checkSequences } from "./check.ts";
import { sequences } from "./commands.ts";
import type { Compared } from "./model/model.ts";
import { COMMANDS_KNOWN } from "./perform.ts";

const SEED = 2026;
const SEQUENCES = sized({ smoke: 25, short: 100, full: 1_000 });
/** The planted differences are found by the first few. */
const PLANTED_SEQUENCES = 200;
/** On a busy machine a sample has fewer sequences. */
const RUN_MS_MAX = sized({ smoke: 6_000, short: 60_000, full: 3_600_000 });
const TEST_MS_MAX = sized({ smoke: 120_000, short: 240_000, full: 3_700_000 });

interface Planted {
  readonly where: string;
  readonly what: string;
  readonly change: (store: Compared) => Partial<Compared>;
}

const DIFFERENCES: readonly Planted[] = [
  {
    where: "model",
    what: "forgets why a job was cancelled",
    change: (store) => ({ cancel: (id, by) => store.cancel(id, by, null) }),
  },
  {
    where: "SQLite",
    what: "claims one job more than it was asked for",
    change: (store) => ({
      claim: (request) => store.claim({ ...request, limit: request.limit + 1 }),
    }),
  },
  {
    where: "PostgreSQL",
    what: "begins what should lie in a prefetch",
    change: (store) => ({ claim: (request) => store.claim({ ...request, prefetch: false }) }),
  },
];

/** Found by the first few sequences that have notes. */
const NOTE_DIFFERENCES: readonly Planted[] = [
  {
    where: "SQLite",
    what: "forgets the units of a note",
    change: (store) => ({
      record: (notes) => store.record(notes.map((note) => ({ ...note, units: [] }))),
    }),
  },
  {
    where: "PostgreSQL",
    what: "releases no lock with a note",
    change: (store) => ({
      record: (notes) => store.record(notes.map((note) => ({ ...note, releases: [] }))),
    }),
  },
  {
    where: "PostgreSQL",
    what: "takes over no checkpoints",
    change: (store) => ({
      enqueue: (jobs) => store.enqueue(jobs.map((job) => ({ ...job, ignoreCheckpoints: true }))),
      reprocess: (id, job, by, notes) =>
        store.reprocess(id, { ...job, ignoreCheckpoints: true }, by, notes),
    }),
  },
];

const ALL_DIFFERENCES: readonly Planted[] = [...DIFFERENCES, ...NOTE_DIFFERENCES];

let server: PostgresServer;

beforeAll(async () => {
  server = await startPostgres({ durable: false });
}, TEST_MS_MAX);

afterAll(() => server[Symbol.asyncDispose]());

describe("the sequences", () => {
  test("have all commands", () => {
    const drawn = fc.sample(sequences, { numRuns: 60, seed: SEED }).flat();

    // All of them, and the time that goes by.
    expect(new Set(drawn.map((command) => command.do)).size).toBe(COMMANDS_KNOWN + 1);
  });
});

describe("the model, SQLite and PostgreSQL", () => {
  test(
    "give equal answers to the same commands",
    async () => {
      const found = await checkSequences(server, {
        count: SEQUENCES,
        seed: SEED,
        msMax: RUN_MS_MAX,
      });

      expect(found.difference).toBeNull();
      expect(found.sequences).toBeGreaterThan(0);
    },
    TEST_MS_MAX,
  );

  test.each(sized({ smoke: DIFFERENCES, short: ALL_DIFFERENCES, full: ALL_DIFFERENCES }))(
    "are told apart when the $where $what",
    async ({ where, change }) => {
      const found = await checkSequences(server, {
        count: PLANTED_SEQUENCES,
        seed: SEED,
        shortens: false,
        plant: (name, store) => (name === where ? changed(store, change(store)) : store),
      });

      expect(found.difference?.message).toContain(where);
    },
    TEST_MS_MAX,
  );
});

/** The same store with some verbs of another. */
function changed(store: Compared, verbs: Partial<Compared>): Compared {
  return new Proxy(store, {
    get(target, name): unknown {
      const verb: unknown = Reflect.get(verbs, name) ?? Reflect.get(target, name);
      return typeof verb === "function" ? verb.bind(target) : verb;
    },
  });
}
