/**
 * Runs a job whose handler leaves a rejected promise behind, and says that it lives. Then it
 * rejects a promise of its own: with an error, with a mere `text`, or where uncaught exceptions are
 * `caught`. If it lives on, it runs the job once more.
 */
import { writeSync } from "node:fs";
import { defineJob, openMillrace } from "../../../src/index.ts";

const [what = "foreign"] = process.argv.slice(2);

const careless = defineJob({ type: "careless" }).run(async () => {
  void Promise.reject(new Error("left behind"));
});

const mill = await openMillrace("sqlite::memory:");
mill.work({ jobs: [careless] });
await mill.result(await mill.enqueue(careless));
print("alive");

if (what === "caught") {
  process.on("uncaughtException", (error, origin) => print(`${origin}: ${error.message}`));
}
void Promise.reject(what === "text" ? "just text" : new Error("not caught"));

// A process that gets here lives on. The listener is back within two turns.
for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => setImmediate(resolve));
await mill.result(await mill.enqueue(careless));
print("alive again");
await mill.close();

function print(line: string): void {
  writeSync(1, `${line}\n`);
}
