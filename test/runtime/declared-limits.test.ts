/** Limits in code that a worker cannot declare when it starts. */
import { defineJob, type Millrace } from "millrace";
import { describe, expect, test } from "vitest";
import { latch, openTest, replaceVerb, type RuntimeTest } from "./support.ts";

describe("a worker that could not declare its limits at its start", () => {
  test("declares them before its first job, though it was quieted and resumed", async () => {
    await using kit = await openTest();
    const repair = breakVerb(kit, "declareLimits");

    const found = await runTwo(kit, async (worker) => {
      await kit.mill.workers.quiet(worker);
      await kit.advance("5s");
      repair();
      await kit.mill.workers.resume(worker);
    });

    expect(found).toEqual({ limits: [["one", 1]], running: 1 });
  });

  test("declares them after an outage that was longer than its lease", async () => {
    await using kit = await openTest();
    const repairs = [breakVerb(kit, "declareLimits"), breakVerb(kit, "renew")];

    const found = await runTwo(kit, async () => {
      await kit.advance("60s");
      for (const repair of repairs) repair();
    });

    expect(found).toEqual({ limits: [["one", 1]], running: 1 });
  });
});

/** Answers how to repair it. */
function breakVerb({ store }: RuntimeTest, verb: "declareLimits" | "renew"): () => void {
  return replaceVerb(store, verb, () => Promise.reject(new Error(`planted: ${verb}`)));
}

/** What runs, with which limits, if two jobs of a type with the limit 1 wait. */
async function runTwo(
  { mill, advance }: RuntimeTest,
  trouble: (worker: string) => Promise<void>,
): Promise<{ readonly limits: readonly (readonly unknown[])[]; readonly running: number }> {
  const end = latch();
  const one = defineJob({ type: "one", limits: { concurrency: 1 } }).run(() => end.passed);
  await using worker = mill.work({ jobs: [one], signals: false });
  await worker.ready;
  await trouble(worker.id);
  await mill.enqueueMany([one.of(), one.of()]);
  await advance("5s");
  const found = { limits: await limitsOf(mill), running: (await mill.jobs.stats()).running };
  end.open();
  await advance("5s");
  return found;
}

async function limitsOf(mill: Pick<Millrace, "limits">): Promise<readonly (readonly unknown[])[]> {
  return (await mill.limits.list()).map(({ name, concurrency }) => [name, concurrency]);
}
