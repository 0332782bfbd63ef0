/** A foreign process that takes the write lock of a file and sits on it for a while. */
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";

const { path, ms }: { path: string; ms: number } = JSON.parse(process.argv[2] ?? "{}");

const database = new DatabaseSync(path, { timeout: 5_000 });
database.exec("BEGIN IMMEDIATE");
console.log("locked");
await sleep(ms);
database.exec("ROLLBACK");
database.close();
