/** What ran last night: a type with many short runs, and a rare one with long runs. */
import { rangeOf, stretchOf } from "../../../dashboard/src/screens/overview/series.ts";
import { writePast, type Past } from "../../../scripts/show/lib/screens/history.ts";
import { defineJob, typed } from "../../../src/index.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const FREQUENT = 40;
const RARE = 3;

/** The type that takes longest. */
export const SLOWEST = "night.import";

export async function liveLastNight(path: string): Promise<void> {
  const { to } = stretchOf(rangeOf("night"), Date.now(), "local");
  await writePast(path, { begin: (to ?? 0) - 3 * HOUR_MS, seed: 7 }, async (mill, past) => {
    const frequent = jobOf("night.mail", 200, past);
    const rare = jobOf(SLOWEST, 4 * MINUTE_MS, past);
    const worker = mill.work({ jobs: [frequent, rare], signals: false });
    await past.pass(1_000);
    await worker.ready;
    const requests = [
      ...Array.from({ length: FREQUENT }, () => frequent.of({})),
      ...Array.from({ length: RARE }, () => rare.of({})),
    ];
    const enqueued = mill.enqueueMany(requests);
    await past.pass(30 * MINUTE_MS);
    await enqueued;
    const stopped = worker.stop();
    await past.pass(1_000);
    await stopped;
  });
}

function jobOf(type: string, runMs: number, { clock }: Past) {
  return defineJob({ type, payload: typed<object>() }).run(
    () => new Promise<void>((resolve) => void clock.after(runMs, resolve)),
  );
}
