/** A worker of `service-outage.ts`: pays through a bank, and does other work beside it. */
import { defineJob, openMillrace, TransientError, typed } from "millrace";
import type { OutageSettings } from "./outage.ts";
import { outagePreset } from "./outage.ts";

const REPORT_MS = 50;

const { url, bank, slots }: OutageSettings = JSON.parse(process.argv[2] ?? "{}");

let waits: number[] = [];
const pay = defineJob({ type: "pay", services: ["bank"], maxAttempts: 20 }).run(async () => {
  const response = await fetch(bank, { method: "POST" });
  if (!response.ok) throw new TransientError(`the bank said ${response.status}`);
});
const other = defineJob({ type: "other", payload: typed<number>() }).run((enqueuedAt) => {
  waits.push(Date.now() - enqueuedAt);
});

const mill = await openMillrace(url, {
  logger: { debug() {}, info() {}, warn() {}, error: console.error },
});
const worker = mill.work({ jobs: [pay, other], lanes: { general: slots }, preset: outagePreset });
await worker.ready;
process.send?.([]);
const reporting = setInterval(() => {
  process.send?.(waits);
  waits = [];
}, REPORT_MS);
// The parent has ended, or asks for a stop.
process.once("disconnect", () => {
  clearInterval(reporting);
  void mill.close();
});
