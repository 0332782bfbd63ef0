/**
 * How long the export of one tenant takes, per 1,000 jobs with attempts, phases, units and log
 * lines.
 *
 *     node --conditions=source scripts/show/tenant-export.ts [--store postgres] [--jobs 1000]
 *
 * Sound: the export has every job of the tenant, and none of another one.
 */
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";
import { onStage } from "./lib/run-stages.ts";

const options = numbersAndStores("tenant-export.ts", { jobs: 1_000 });

const ignore = (): void => {};
/** The log lines of the jobs are for the export alone. */
const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore };

const piped = defineJob({ type: "piped", payload: typed<{ n: number }>() })
  .phase("collect", ({ n }) => n)
  .phase("render", async (_, ctx) => {
    ctx.log.info("renders two units");
    await ctx.each(
      ["one", "two"],
      (key) => key,
      async (key) => ({ key }),
    );
  });

await onStage(async () => {
  let sound = true;
  for (const kind of options.stores) sound = (await measure(kind)) && sound;
  return { sound };
});

async function measure(kind: StoreKind): Promise<boolean> {
  await using places = await Places.open(kind);
  await using mill = await openMillrace(places.next(), { logger: QUIET });
  await fill(mill);
  const begun = performance.now();
  const lines = new Map<string, number>();
  for await (const { kind: of } of mill.tenants.export("acme")) {
    lines.set(of, (lines.get(of) ?? 0) + 1);
  }
  const ms = performance.now() - begun;
  const said = [...lines].map(([of, count]) => `${count} ${of}`).join(", ");
  console.log(`${kind}: ${((ms / options.jobs) * 1_000).toFixed(0)} ms per 1,000 jobs: ${said}`);
  return lines.get("job") === options.jobs;
}

/** Runs the jobs of two tenants, of which one is exported. */
async function fill(mill: Millrace): Promise<void> {
  await using worker = mill.work({ jobs: [piped], signals: false, lanes: { general: 50 } });
  await worker.ready;
  for (const tenant of ["acme", "globex"]) {
    const numbers = Array.from({ length: options.jobs }, (_, n) => n);
    const jobs = await mill.enqueueMany(numbers.map((n) => piped.of({ n }, { tenant })));
    await Promise.all(jobs.map((job) => mill.wait(job)));
  }
}
