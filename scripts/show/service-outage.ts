/**
 * A bank is down while jobs wait for it, beside jobs that do not need it. The outage costs at most
 * the limit of failures and one attempt per probe, the bank gets one call per probe while its
 * breaker is open, all jobs complete after the recovery, and the others do not wait longer than
 * without the outage.
 *
 *     node --conditions=source scripts/show/service-outage.ts [--store sqlite|postgres]
 *         [--jobs 5000] [--processes 4] [--slots 8] [--seconds 8]
 */
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";
import { percentile } from "./lib/percentile.ts";
import { outage, THRESHOLD } from "./lib/services/outage.ts";

/** Waits of a few milliseconds differ by chance. */
const RATIO_MAX = 2;
const NOISE_MS = 50;

const options = numbersAndStores("service-outage.ts", {
  jobs: 5_000,
  processes: 4,
  slots: 8,
  seconds: 8,
});
for (const store of options.stores) await show(store);

async function show(store: StoreKind): Promise<void> {
  const { jobs, processes, slots, seconds } = options;
  await using places = await Places.open(store, { durable: true });
  const size = { processes, slots, downMs: seconds * 1_000 };
  const calm = await outage({ url: places.next(), ...size, jobs: 0 });
  const report = await outage({ url: places.next(), ...size, jobs });
  const { completed, charged, probes, failedCalls, callsWhileOpen } = report;
  console.log(`${store}: ${processes} processes, ${jobs} jobs of a bank that is down ${seconds} s`);
  console.log(`  attempts charged ${charged}, at most ${THRESHOLD} + ${probes} probes`);
  console.log(`  calls of the bank while it was down: ${failedCalls}`);
  console.log(`  calls while the breaker was open: ${callsWhileOpen}, at most ${probes} probes`);
  console.log(`  completed after the recovery: ${completed} of ${jobs}`);
  const faults = [
    charged > THRESHOLD + probes && "too many attempts were charged",
    probes === 0 && "there was no probe",
    callsWhileOpen > probes && "the bank was called while its breaker was open",
    completed !== jobs && "not all jobs have completed",
    ...[0.5, 0.95].map((share) => compared(share, report.waits, calm.waits)),
  ];
  for (const fault of faults) {
    if (fault === false) continue;
    console.log(`  VIOLATED: ${fault}`);
    process.exitCode = 1;
  }
}

function compared(
  share: number,
  during: readonly number[],
  without: readonly number[],
): string | false {
  const [one, two] = [percentile(during, share), percentile(without, share)];
  const ratio = one / Math.max(1, two);
  const name = `p${share * 100} of the waits of other jobs`;
  const figures = `${one} ms of ${during.length} during the outage, ${two} ms of ${without.length}`;
  console.log(`  ${name}: ${figures} without, ratio ${ratio.toFixed(2)}`);
  return ratio > RATIO_MAX && one - two > NOISE_MS && `the ${name} are ${ratio.toFixed(1)} times`;
}
