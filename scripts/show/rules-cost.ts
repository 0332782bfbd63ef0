/**
 * What the payload rules of the preset `practice` cost: the rates of enqueue and drain with all of
 * them on, as a share of the rates without any rule.
 *
 *     node --conditions=source scripts/show/rules-cost.ts [--store sqlite|postgres]
 *         [--jobs 20000] [--rounds 5] [--batch 300]
 *
 * The rounds take turns, so that other load of the machine falls on both.
 */
import { createPayload, defineJob, openMillrace, practice, typed } from "../../src/index.ts";
import type { Json } from "../../src/index.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores } from "./lib/options.ts";

const TENANT = "123";
const fetchMail = defineJob({
  type: "email_ingestion_fetch",
  category: "ingestion",
  payload: typed<Record<string, Json>>(),
});

const options = numbersAndStores("scripts/show/rules-cost.ts", {
  jobs: 20_000,
  rounds: 5,
  batch: 300,
});

interface Rates {
  readonly enqueue: number;
  readonly drain: number;
}

for (const kind of options.stores) {
  await using places = await Places.open(kind, { durable: true });
  // The first round of a process compiles the code that all others find compiled.
  await rates(places.next(), true);
  const ratios: Rates[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const found = new Map<boolean, Rates>();
    for (const isOn of round % 2 === 0 ? [false, true] : [true, false]) {
      found.set(isOn, await rates(places.next(), isOn));
    }
    const [off, on] = [found.get(false)!, found.get(true)!];
    const ratio = { enqueue: on.enqueue / off.enqueue, drain: on.drain / off.drain };
    ratios.push(ratio);
    console.log(
      `${kind}: round ${round + 1}: enqueue ${off.enqueue.toFixed(0)}/s → ` +
        `${on.enqueue.toFixed(0)}/s (${ratio.enqueue.toFixed(2)}), drain ` +
        `${off.drain.toFixed(0)}/s → ${on.drain.toFixed(0)}/s (${ratio.drain.toFixed(2)})`,
    );
  }
  for (const verb of ["enqueue", "drain"] as const) {
    const sorted = ratios.map((ratio) => ratio[verb]).toSorted((left, right) => left - right);
    const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
    const spread = `${sorted[0]?.toFixed(2)}–${sorted.at(-1)?.toFixed(2)}`;
    console.log(`${kind}: ${verb} with rules: median ${median.toFixed(2)} [${spread}] of without`);
  }
}

async function rates(url: string, isOn: boolean): Promise<Rates> {
  const { jobs, batch } = options;
  const preset = { ...practice, payloadRules: isOn ? practice.payloadRules : {} };
  const mill = await openMillrace(url, { preset });
  const requests = Array.from({ length: jobs }, (_, index) => requestOf(index));
  const enqueueBegan = performance.now();
  for (let from = 0; from < jobs; from += 1_000) {
    await mill.enqueueMany(requests.slice(from, from + 1_000));
  }
  const enqueue = rateSince(enqueueBegan);
  let left = jobs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const drainBegan = performance.now();
  const handler = fetchMail.run(() => {
    left -= 1;
    if (left === 0) resolve();
  });
  mill.work({ jobs: [handler], lanes: { general: batch }, batch });
  await promise;
  const drain = rateSince(drainBegan);
  await mill.close();
  return { enqueue, drain };
}

function requestOf(index: number) {
  const correlationId = `550e8400-e29b-41d4-a716-${String(index).padStart(12, "0")}`;
  const idempotencyKey = `email_fetch_conn_456_msg_${index}`;
  const payload = createPayload({
    tenantId: Number(TENANT),
    correlationId,
    idempotencyKey,
    connection_id: 456,
    external_message_id: `msg_${index}`,
  });
  return fetchMail.of(payload, { tenant: TENANT, correlationId, idempotencyKey });
}

function rateSince(began: number): number {
  return options.jobs / ((performance.now() - began) / 1_000);
}
