/** Runs jobs whose events each make the default logger write a line. Prints each completed job. */
import { writeSync } from "node:fs";
import { defineJob, openMillrace } from "../../../src/index.ts";

const JOBS = 3;

const job = defineJob({ type: "noisy" }).run(() => {});
const mill = await openMillrace("sqlite::memory:");
mill.on("job:completed", () => {
  throw new Error("a listener fails");
});
mill.work({ jobs: [job] });

// The parent has closed the read end of stderr when stdin ends.
for await (const _ of process.stdin);
for (let number = 1; number <= JOBS; number += 1) {
  await mill.result(await mill.enqueue(job));
  // An unhandled error of the stream would end the process within this turn.
  await new Promise((resolve) => setImmediate(resolve));
  writeSync(1, `completed ${number}\n`);
}
await mill.close();
