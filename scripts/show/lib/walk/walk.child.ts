/**
 * The process that measures walks: one source tree, one store. It prints the walks as JSON.
 *
 * The process loads only the public entry point of the tree, so that a tree with other folders can
 * be measured as well.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { countProxyCalls, countStatements } from "./counters.ts";
import { Coverage } from "./coverage.ts";
import type { Walk, WalkOrder } from "./walk.ts";

/** The worker finishes what follows the end of a job before the next walk begins. */
const PAUSE_MS = 100;

const order: WalkOrder = JSON.parse(process.argv[2] ?? "");
const coverage = new Coverage(order.tree);
const proxies = countProxyCalls();
const statements = countStatements(order.tree);

const entry = pathToFileURL(join(order.tree, "src", "index.ts")).href;
const { defineJob, openMillrace, typed }: typeof import("../../../../src/index.ts") = await import(
  entry
);

const greet = defineJob({ type: "greet", payload: typed<{ name: string }>() }).run(
  ({ name }) => `Hello ${name}`,
);
const mill = await openMillrace(order.url);
mill.work({ jobs: [greet] });

for (let count = 0; count < order.warmUp; count += 1) {
  await mill.wait(await mill.enqueue(greet, { name: "Ada" }));
}
const walks: Walk[] = [];
for (let count = 0; count < order.walks; count += 1) {
  await sleep(PAUSE_MS);
  walks.push(await walk());
}
await mill.close();
process.stdout.write(JSON.stringify(walks));

async function walk(): Promise<Walk> {
  coverage.take();
  const before = { ...statements, ...proxies };
  const job = await mill.enqueue(greet, { name: "Ada" });
  await mill.wait(job);
  return {
    functions: coverage.take(),
    statements: statements.statements - before.statements,
    brackets: statements.brackets - before.brackets,
    proxyCalls: proxies.calls - before.calls,
  };
}
