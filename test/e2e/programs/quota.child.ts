/**
 * A producer of the tenant "acme": `enqueue URL` enqueues jobs, four at a time, until 50 of them
 * were refused by a quota, and prints how many were made. `remove URL` removes the tenant in steps
 * of one job, and prints each step.
 */
import { writeSync } from "node:fs";
import { defineJob } from "../../../src/index.ts";
import { openMillrace } from "../../../src/open.ts";
import { parseDatabaseUrl } from "../../../src/client/database-url.ts";
import { makeStore } from "../../../src/make-store.ts";

const REFUSALS = 50;
const AT_ONCE = 4;

const [task = "", url = ""] = process.argv.slice(2);
const store = await makeStore(parseDatabaseUrl(url));
await using mill = await openMillrace(store);
if (task === "enqueue") await enqueueAll();
else await removeAll();

async function enqueueAll(): Promise<void> {
  const job = defineJob({ type: "report" });
  const acme = mill.forTenant("acme");
  let made = 0;
  let refused = 0;
  const one = async (): Promise<void> => {
    while (refused < REFUSALS) {
      try {
        await acme.enqueue(job);
        made += 1;
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "QUOTA_EXCEEDED"))
          throw error;
        refused += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  writeSync(1, `${made}\n`);
}

async function removeAll(): Promise<void> {
  await store.beginRemoval("acme", { by: "ada", reason: "over" });
  for (;;) {
    const step = await store.removeOfTenant("acme", 1);
    writeSync(1, `${step.status}\n`);
    if (step.status === "done") return;
  }
}
