/** A bank that is down for a while, and jobs that call it beside others that do not. */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { defineJob, openMillrace, typed, type Millrace } from "millrace";
import { defaults } from "../../../../src/core/presets.ts";
import { wordOf } from "../fleet/next-message.ts";

export interface OutageSettings {
  readonly url: string;
  readonly bank: string;
  readonly slots: number;
}

export const THRESHOLD = 5;
const OPEN_MS = 1_000;
/** A run asks the store and calls the bank a moment later. */
const CALL_MS = 250;
const PACE_MS = 20;
const BATCH = 1_000;

export const outagePreset = {
  ...defaults,
  pollMs: 200,
  breaker: { failures: THRESHOLD, openMs: OPEN_MS },
};

const pay = defineJob({ type: "pay", maxAttempts: 20 });
const other = defineJob({ type: "other", payload: typed<number>() });

export interface OutageReport {
  readonly completed: number;
  /** Charged attempts that failed. */
  readonly charged: number;
  readonly probes: number;
  /** Calls of the bank while it was down, and calls while the breaker was open. */
  readonly failedCalls: number;
  readonly callsWhileOpen: number;
  readonly waits: readonly number[];
}

interface OutageOptions {
  readonly url: string;
  readonly jobs: number;
  readonly processes: number;
  readonly slots: number;
  /** How long the bank is down, and other jobs are enqueued. 0 jobs of the bank: no outage. */
  readonly downMs: number;
}

export async function outage(options: OutageOptions): Promise<OutageReport> {
  const { url, jobs, processes, slots, downMs } = options;
  await using bank = await openBank();
  const mill = await openMillrace(url);
  const children: ChildProcess[] = [];
  const waits: number[] = [];
  try {
    for (let left = jobs; left > 0; left -= BATCH) {
      await mill.enqueueMany(Array.from({ length: Math.min(left, BATCH) }, () => pay.of()));
    }
    const settings: OutageSettings = { url, bank: bank.url, slots };
    for (let seat = 0; seat < processes; seat += 1) {
      const program = new URL("worker.child.ts", import.meta.url);
      const child = fork(program, [JSON.stringify(settings)], {
        execArgv: ["--conditions=source"],
      });
      children.push(child);
      await wordOf(child);
      child.on("message", (told: number[]) => waits.push(...told));
    }
    if (jobs > 0) await untilOpen(mill);
    await pace(mill, downMs);
    bank.isUp = true;
    await untilCompleted(mill, jobs);
    return { ...(await figures(mill, bank.calls)), waits };
  } finally {
    for (const child of children) if (child.connected) child.disconnect();
    for (const child of children) if (child.exitCode === null) await once(child, "exit");
    await mill.close();
  }
}

/** The waits are those during the outage, not those of its first moment. */
async function untilOpen(mill: Millrace): Promise<void> {
  for (const end = performance.now() + 30_000; performance.now() < end; await sleep(100)) {
    if ((await mill.breakers.get("bank")).state !== "closed") return;
  }
}

async function pace(mill: Millrace, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    await mill.enqueue(other, Date.now());
    await sleep(PACE_MS);
  }
}

async function untilCompleted(mill: Millrace, jobs: number): Promise<void> {
  for (const end = performance.now() + 300_000; performance.now() < end;) {
    const { count } = await mill.jobs.count({ type: "pay", state: "completed" });
    const { queued, scheduled, running } = await mill.jobs.stats();
    if (count >= jobs && queued + scheduled + running === 0) return;
    await sleep(200);
  }
}

async function figures(
  mill: Millrace,
  calls: readonly BankCall[],
): Promise<Omit<OutageReport, "waits">> {
  const { count: completed } = await mill.jobs.count({ type: "pay", state: "completed" });
  let attempts = 0;
  for (let after: string | undefined; ;) {
    const page = await mill.jobs.list({ type: "pay", limit: BATCH, ...(after ? { after } : {}) });
    attempts += page.jobs.reduce((sum, job) => sum + job.attempts, 0);
    if (page.next === null) break;
    after = page.next;
  }
  const history = await mill.breakers.history("bank", { limit: 1_000 });
  const probes = history.filter(({ state }) => state === "half_open").length;
  const opened = history.findLast(({ state }) => state === "open")?.at.getTime() ?? Infinity;
  const closed = history.findLast(({ state }) => state === "closed")?.at.getTime() ?? Infinity;
  const failed = calls.filter(({ isGood }) => !isGood);
  const whileOpen = calls.filter(({ at }) => at > opened + CALL_MS && at <= closed);
  return {
    completed,
    charged: attempts - completed,
    probes,
    failedCalls: failed.length,
    callsWhileOpen: whileOpen.length,
  };
}

interface BankCall {
  readonly at: number;
  readonly isGood: boolean;
}

interface Bank extends AsyncDisposable {
  readonly url: string;
  readonly calls: readonly BankCall[];
  isUp: boolean;
}

/** On the loopback interface. It is down at first. */
async function openBank(): Promise<Bank> {
  const calls: BankCall[] = [];
  const server = createServer((_, response) => {
    calls.push({ at: Date.now(), isGood: bank.isUp });
    response.writeHead(bank.isUp ? 200 : 503).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It listens on a port.
  const { port } = server.address() as AddressInfo;
  const bank: Bank = {
    url: `http://127.0.0.1:${port}/pay`,
    calls,
    isUp: false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return bank;
}
