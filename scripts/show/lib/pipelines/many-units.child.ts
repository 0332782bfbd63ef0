/**
 * A process that runs one job with many units and answers what that took, as {@link UnitCosts}.
 * Takes {@link ManyUnits} as JSON.
 */
import { DatabaseSync, StatementSync } from "node:sqlite";
import { Client } from "pg";
import { defineJob, openMillrace } from "millrace";
import { parseDatabaseUrl } from "../../../../src/client/database-url.ts";
import { makeStore } from "../../../../src/make-store.ts";
import type { JobStore } from "../../../../src/store/store.ts";
import type { ManyUnits, UnitCosts } from "./many-units.ts";

const SAMPLE_MS = 20;

const { url, units, concurrency }: ManyUnits = JSON.parse(process.argv[2] ?? "{}");
const counts = { statements: 0, records: 0, moves: 0 };
const databases = new Set<DatabaseSync>();
countStatements();

let eachMs = 0;
const many = defineJob({ type: "many", timeout: false }).run(async (_, ctx) => {
  const began = performance.now();
  const numbers = Array.from({ length: units }, (__, number) => number);
  const answer = await ctx.each(
    numbers,
    (number) => `unit-${number}`,
    async (number) => number,
    {
      concurrency,
    },
  );
  eachMs = performance.now() - began;
  return { completed: answer.completed.length };
});

const mill = await openMillrace(counted(await makeStore(parseDatabaseUrl(url))));
const worker = mill.work({ jobs: [many] });
await worker.ready;
globalThis.gc?.();
const rowsBefore = changes();
counts.statements = 0;
const memory = sampled();
const began = performance.now();
const job = await mill.enqueue(many);
const result = await mill.result(job);
const jobMs = performance.now() - began;
const { statements, records, moves } = counts;
const bytes = memory.stop();
const rowsWritten = databases.size === 0 ? null : changes() - rowsBefore;
if (result.completed !== units) throw new Error(`only ${result.completed} units completed`);
await worker.stop();
await mill.close();
const costs: UnitCosts = { eachMs, jobMs, records, moves, statements, rowsWritten, bytes };
process.send?.(costs, () => process.disconnect());

function counted(real: JobStore): JobStore {
  const record: JobStore["record"] = (notes) => {
    counts.records += 1;
    for (const note of notes) counts.moves += note.units?.length ?? 0;
    return real.record(notes);
  };
  return new Proxy(real, {
    get(target, name) {
      if (name === "record") return record;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Every statement of either driver, of any caller. */
function countStatements(): void {
  const count = (): void => void (counts.statements += 1);
  for (const name of ["run", "get", "all", "iterate"]) onCall(StatementSync.prototype, name, count);
  onCall(Client.prototype, "query", count);
  onCall(DatabaseSync.prototype, "prepare", (database) => void databases.add(database));
}

/** Calls `listener` whenever a method of these objects is called. */
function onCall<Owner extends object>(
  prototype: Owner,
  name: string,
  listener: (owner: Owner) => void,
): void {
  const real: unknown = Reflect.get(prototype, name);
  if (typeof real !== "function") throw new Error(`there is no method ${name}`);
  Reflect.set(prototype, name, function replaced(this: Owner, ...args: unknown[]): unknown {
    listener(this);
    return Reflect.apply(real, this, args);
  });
}

function changes(): number {
  let sum = 0;
  for (const database of databases) {
    if (!database.isOpen) continue;
    sum += Number(database.prepare("SELECT total_changes() AS n").get()?.["n"]);
  }
  return sum;
}

/** The most memory at any look. */
function sampled(): { stop(): UnitCosts["bytes"] } {
  const rssBefore = process.memoryUsage().rss;
  let [rssPeak, heapPeak] = [rssBefore, 0];
  const look = (): void => {
    const { rss, heapUsed } = process.memoryUsage();
    rssPeak = Math.max(rssPeak, rss);
    heapPeak = Math.max(heapPeak, heapUsed);
  };
  const timer = setInterval(look, SAMPLE_MS);
  return {
    stop() {
      clearInterval(timer);
      look();
      return { rssBefore, rssPeak, heapPeak };
    },
  };
}
