/** A worker that says what it is about to write, and hangs when it comes to its last argument. */
import { join } from "node:path";
import { openMillrace } from "millrace";
import { openDocs } from "../src/docs.ts";
import { JOBS } from "./world.ts";

const [root = "", hangsAt = ""] = process.argv.slice(2);

const docs = openDocs(root, async (what) => {
  process.stdout.write(`${what}\n`);
  if (what.startsWith(hangsAt)) await new Promise(() => {});
});
const mill = await openMillrace(`sqlite:${join(root, "jobs.db")}`);
mill.work({ jobs: JOBS, deps: docs, lease: "1s" });
