/**
 * `--failures` failures of three causes, two of them with the same message from different
 * functions, across two releases that shift line numbers and folders: three groups. A retry of one
 * group leaves the others.
 *
 *     node --conditions=source scripts/show/causes.ts [--store postgres] [--failures 10000]
 */
import { defineJob, NonRetryableError, openMillrace, typed, type Millrace } from "millrace";
import { Places } from "./lib/databases.ts";
import { writeReleases, type Release } from "./lib/failures/releases.ts";
import { numbersAndStores } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const { stores, failures } = numbersAndStores("causes.ts", { failures: 10_000 });
const CAUSES = 3;
const CHUNK = 1_000;

type Pay = ReturnType<typeof payOf>;

await onStage(async () => {
  let sound = true;
  for (const kind of stores) {
    await using places = await Places.open(kind);
    const releases = await writeReleases(places.folder);
    const findings = await show(places.next(), releases, kind);
    for (const finding of findings) console.log(`  ${finding}`);
    sound &&= findings.length === 0;
  }
  return { sound };
});

function payOf(release: Release) {
  return defineJob({
    type: "pay",
    maxAttempts: 1,
    payload: typed<{ kind: number; n: number }>(),
  }).run(({ kind, n }) => {
    if (n < 0) throw new NonRetryableError("never");
    release.fail(kind, n);
  });
}

async function show(
  url: string,
  releases: readonly [Release, Release],
  kind: string,
): Promise<string[]> {
  await using mill = await openMillrace(url);
  const half = Math.floor(failures / 2);
  await failAll(mill, payOf(releases[0]), 0, half);
  await failAll(mill, payOf(releases[1]), half, failures);
  const groups = await mill.failures.list();
  const counts = groups.map(({ count }) => count);
  console.log(`${kind}: ${failures} failures, ${groups.length} groups of ${counts.join(", ")}`);
  const [first] = groups;
  if (first === undefined) return ["no group"];
  const done = await mill.failures.retry(first.cause, { actor: "show", notes: "fixed" });
  const rest = await mill.failures.list();
  console.log(`  retried ${done.retried} of ${first.count}; ${rest.length} groups are left`);
  const others = groups.slice(1).map(({ cause, count }) => `${cause} ${count}`);
  const left = rest.map(({ cause, count }) => `${cause} ${count}`);
  return [
    ...(groups.length === CAUSES ? [] : [`${groups.length} groups instead of ${CAUSES}`]),
    ...(sum(counts) === failures ? [] : [`${sum(counts)} dead letters instead of ${failures}`]),
    ...(done.retried === first.count && done.complete ? [] : ["not all of the group is retried"]),
    ...(others.toSorted().join() === left.toSorted().join() ? [] : ["the other groups changed"]),
  ];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

async function failAll(mill: Millrace, pay: Pay, from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += CHUNK) {
    const length = Math.min(CHUNK, to - first);
    const numbers = Array.from({ length }, (_, index) => first + index);
    await mill.enqueueMany(numbers.map((n) => pay.of({ kind: n % CAUSES, n })));
  }
  const worker = mill.work({ jobs: [pay], lanes: { general: 100 } });
  await untilIdle(mill);
  await worker.stop();
}

async function untilIdle(mill: Millrace): Promise<void> {
  for (;;) {
    const { count } = await mill.jobs.count({ state: ["scheduled", "queued", "running"] });
    if (count === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
