/**
 * Several processes enqueue against the quota of waiting jobs of one tenant, until each was refused
 * often. The waiting jobs may exceed the quota by no more than decision 35 promises.
 *
 *     node --conditions=source scripts/show/quota-race.ts [--store sqlite|postgres]
 *         [--processes 4] [--quota 500] [--rounds 3]
 *
 * Prints the jobs that were made, the excess and its bound. Ends with 1 if a round exceeds the
 * bound.
 */
import { openMillrace } from "../../src/index.ts";
import { ended, linesOf, startChild } from "../../test/e2e/children.ts";
import { testLogger } from "../../test/support/logger.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";

/** Jobs that each producer has under way, as in its program. */
const AT_ONCE = 4;
const WHY = { actor: "ada", reason: "the plan of acme" };

const options = numbersAndStores("scripts/show/quota-race.ts", {
  processes: 4,
  quota: 500,
  rounds: 3,
});

for (const kind of options.stores) {
  await using places = await Places.open(kind, { durable: false });
  for (let round = 1; round <= options.rounds; round += 1) await race(kind, places.next(), round);
}

async function race(kind: string, url: string, round: number): Promise<void> {
  const { processes, quota } = options;
  await using mill = await openMillrace(url, { logger: testLogger });
  await mill.tenants.setQuota("acme", { waiting: quota }, WHY);
  const made = await produced(url);
  const waiting = (await mill.tenants.get("acme")).counts.queued;
  const bound = (processes - 1) * (quota / 10 + AT_ONCE);
  const excess = waiting - quota;
  console.log(
    `${kind}: round ${round}: ${processes} processes, quota ${quota}: ${waiting} waiting ` +
      `(${made.join(" + ")}), excess ${excess}, at most ${bound}`,
  );
  if (excess > bound) process.exitCode = 1;
}

/** How many jobs each process has made. */
function produced(url: string): Promise<readonly number[]> {
  const children = Array.from({ length: options.processes }, () =>
    startChild("quota.child.ts", ["enqueue", url]),
  );
  return Promise.all(
    children.map(async (child) => {
      let made = 0;
      for await (const line of linesOf(child)) made += Number(line);
      const code = await ended(child);
      if (code !== 0) throw new Error(`a producer ended with ${code}`);
      return made;
    }),
  );
}
