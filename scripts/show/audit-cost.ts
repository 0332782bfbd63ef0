/**
 * What the audit costs: verbs of operators with and without it, side by side.
 *
 *     node --conditions=source scripts/show/audit-cost.ts [--store sqlite|postgres]
 *         [--rounds 7] [--acts 300]
 *
 * Without: the statement that inserts entries is replaced by one that inserts nothing, for a second
 * store of this process, so that all other work is the same. On PostgreSQL this saves the work of
 * the insert, and not its round trip. Rounds alternate. The table has the medians of the rounds,
 * and the least and the largest ratio of two neighbouring rounds.
 */
import { randomUUID } from "node:crypto";
import { parseDatabaseUrl } from "../../src/client/database-url.ts";
import { queries as postgresQueries } from "../../src/store/postgres/database/queries.gen.ts";
import { queries as sqliteQueries } from "../../src/store/sqlite/database/queries.gen.ts";
import { makeStore } from "../../src/make-store.ts";
import type { JobStore } from "../../src/store/store.ts";
import { failedWith, newJob } from "../../test/support/factories.ts";
import { table } from "../lib/table.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";

type Act = (store: JobStore, ids: readonly string[], turn: number) => Promise<unknown>;

/** The acts on jobs that have failed, and so have a dead letter. */
const ON_DEAD = new Set(["review", "reprocess", "retryAsNew"]);

const ACTS: Readonly<Record<string, Act>> = {
  pause: (store, _, turn) =>
    store.pause({ kind: "lane", name: `l${turn % 10}` }, { by: "ada", reason: `turn ${turn}` }),
  cancel: (store, ids, turn) => store.cancel(ids[turn] ?? "", "ada", "r"),
  setLimit: (store, _, turn) =>
    store.setLimit({ kind: "type", name: "x" }, { concurrency: 5 + turn, rate: null }, "ada"),
  review: (store, ids, turn) =>
    store.review(ids[turn] ?? "", { status: "acknowledged", by: "ada", notes: "r" }),
  reprocess: (store, ids, turn) =>
    store.reprocess(ids[turn] ?? "", newJob({ retryOf: ids[turn] ?? "" }), "ada", "r"),
  retryAsNew: (store, ids, turn) =>
    store.retryAsNew({ ...newJob(), retryOf: ids[turn] ?? "" }, { by: "ada", reason: "r" }),
};

/** Inserts nothing, with the same parameters. */
const NOTHING = {
  sqlite: "SELECT 1 WHERE ?1 IS NULL AND ?2 IS NULL",
  postgres: "SELECT 1 WHERE $1::timestamptz IS NOT NULL AND $2::json IS NULL",
};

/** Opens a store. Without the audit, the replaced statement is in force when the store opens. */
async function openWith(kind: StoreKind, url: string, isAudited: boolean): Promise<JobStore> {
  const holder: any = kind === "sqlite" ? sqliteQueries : postgresQueries;
  const kept = holder.insert_audits;
  if (!isAudited) holder.insert_audits = { ...kept, text: NOTHING[kind] };
  const store = await makeStore(parseDatabaseUrl(url));
  await store.open();
  // Statements are read when a store opens, or first used.
  await store.pause({ kind: "lane", name: "warm" }, { by: null, reason: "warm" });
  holder.insert_audits = kept;
  return store;
}

async function measure(store: JobStore, verb: string, acts: number): Promise<number> {
  const act = ACTS[verb] ?? ACTS["pause"]!;
  const jobs = Array.from({ length: acts }, () => newJob({ type: `t${randomUUID().slice(0, 4)}` }));
  const answers = await store.enqueue(jobs);
  const ids = answers.map((answer) => ("id" in answer ? answer.id : ""));
  if (ON_DEAD.has(verb)) for (const id of ids) await store.intervene(id, () => failedWith());
  const began = performance.now();
  for (let turn = 0; turn < acts; turn += 1) await act(store, ids, turn);
  return (performance.now() - began) / acts;
}

async function show(kind: StoreKind, { rounds, acts }: { rounds: number; acts: number }) {
  await using places = await Places.open(kind, { durable: true });
  const audited = await openWith(kind, places.next(), true);
  const plain = await openWith(kind, places.next(), false);
  const written = (await plain.audits({}, { limit: 10 })).length;
  const rows: string[][] = [];
  for (const verb of Object.keys(ACTS)) {
    const pairs: (readonly [number, number])[] = [];
    for (let round = 0; round < rounds; round += 1) {
      pairs.push([await measure(plain, verb, acts), await measure(audited, verb, acts)]);
    }
    const ratios = pairs.map(([without, withAudit]) => withAudit / without);
    const of = (values: readonly number[]): string => percentile(values, 0.5).toFixed(3);
    const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
    rows.push([verb, of(pairs.map(([a]) => a)), of(pairs.map(([, b]) => b)), of(ratios), spread]);
  }
  await audited.close();
  await plain.close();
  console.log(`\n${kind}: ms per act, ${acts} acts in a row, ${rounds} rounds each`);
  console.log(`entries that the store without the audit has written: ${written}`);
  const head = ["verb", "without", "with", "ratio", "spread"];
  for (const line of table(head, rows)) console.log(line);
}

const { stores, ...numbers } = numbersAndStores("audit-cost.ts", { rounds: 7, acts: 300 });
for (const kind of stores) await show(kind, numbers);
