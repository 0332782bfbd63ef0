/**
 * Enqueues jobs of a given payload size until it is stopped or refused, three calls at a time.
 * Prints `acked <id>` only after the store has acknowledged, and `refused <code>` when it will not.
 */
import { writeSync } from "node:fs";
import { idSource } from "../../../src/core/ids.ts";
import { systemClock, systemDice } from "../../../src/lib/system.ts";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import { newJob } from "../../support/factories.ts";

const [path = "", bytes = "10", limit = "1000000"] = process.argv.slice(2);
const newId = idSource(systemClock, systemDice);
const payload = JSON.stringify("x".repeat(Number(bytes)));
const store = makeSqliteStore({ path });
await store.open();

let left = Number(limit);
let refused: string | null = null;
await Promise.all([1, 2, 3].map(produce));
if (refused !== null) print(`refused ${String(refused)}`);
await store.close();

async function produce(): Promise<void> {
  while (left > 0 && refused === null) {
    left -= 1;
    const id = newId();
    try {
      await store.enqueue([newJob({ id, payload })]);
    } catch (error) {
      refused = error instanceof Error && "code" in error ? String(error.code) : String(error);
      return;
    }
    print(`acked ${id}`);
  }
}

/** Straight to the descriptor: what was printed is out even if the process is killed next. */
function print(line: string): void {
  writeSync(1, `${line}\n`);
}
