/**
 * Limits hold while processes are killed, and cost little.
 *
 *     node --conditions=source scripts/show/limits.ts [--store sqlite|postgres]
 *         [--processes 8] [--jobs 5000] [--kills 12] [--rounds 5] [--drained 20000]
 *
 * First, processes run jobs of a limited type and of a limited tenant, while some of them are
 * killed and replaced. Handlers write their start and their end into one file, so that the order of
 * the lines is the order of what happened. The excess over each limit must be 0, and in the end no
 * permit may be missing. Then one process drains a backlog with limits that do not bind, and
 * without limits, round by round.
 */
import { fork, type ChildProcess } from "node:child_process";
import { appendFileSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { defineJob, openMillrace, typed, type Context, type Millrace } from "../../src/index.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";

const TYPE_CAP = 20;
const TENANT_CAP = 5;
const TENANTS = ["small", "acme", "bolt"] as const;

const report = defineJob({ type: "report", payload: typed<number>() });
const email = defineJob({ type: "email", payload: typed<number>() });

async function parent(): Promise<void> {
  const numbers = { processes: 8, jobs: 5_000, kills: 12, rounds: 5, drained: 20_000 };
  const options = numbersAndStores("scripts/show/limits.ts", numbers);
  for (const kind of options.stores) {
    await using places = await Places.open(kind, { durable: true });
    await showExactness(kind, places, options);
    await showCost(kind, places, options);
  }
}

interface Numbers {
  readonly processes: number;
  readonly jobs: number;
  readonly kills: number;
  readonly rounds: number;
  readonly drained: number;
}

async function showExactness(kind: StoreKind, places: Places, options: Numbers): Promise<void> {
  const url = places.next();
  const log = join(places.folder, `${kind}.log`);
  appendFileSync(log, "");
  const mill = await openMillrace(url);
  await mill.limits.set({ type: "report" }, { concurrency: TYPE_CAP });
  await mill.limits.set({ tenant: "small" }, { concurrency: TENANT_CAP });
  await enqueueAll(mill, options.jobs);
  const began = performance.now();
  const fleet = new Fleet(url, log, options.processes);
  let kills = 0;
  for (;;) {
    await pause(1_000 + Math.random() * 1_500);
    if (kills < options.kills) {
      await fleet.killOne();
      kills += 1;
    }
    const { queued, held, running, scheduled } = await mill.jobs.stats();
    if (queued + held + running + scheduled === 0) break;
  }
  const seconds = (performance.now() - began) / 1000;
  await pause(1_500);
  const lost = (await mill.limits.list()).reduce((sum, { used }) => sum + (used ?? 0), 0);
  await fleet.stop();
  await mill.close();
  const most = mostRunning(log);
  const excess = Math.max(0, most.report - TYPE_CAP) + Math.max(0, most.small - TENANT_CAP);
  console.log(
    `${kind}: ${options.processes} processes, ${options.jobs} jobs, ${kills} kills, ` +
      `${seconds.toFixed(1)} s, ${most.starts} starts`,
  );
  console.log(
    `${kind}: most running: type ${most.report} of ${TYPE_CAP}, tenant ${most.small} of ` +
      `${TENANT_CAP}; excess ${excess}, permits lost ${lost}`,
  );
  if (excess + lost > 0) process.exitCode = 1;
}

async function enqueueAll(mill: Millrace, jobs: number): Promise<void> {
  for (let from = 0; from < jobs; from += 1_000) {
    const requests = Array.from({ length: Math.min(1_000, jobs - from) }, (_, index) => {
      const tenant = TENANTS[index % TENANTS.length]!;
      return (index % 2 === 0 ? report : email).of(from + index, { tenant });
    });
    await mill.enqueueMany(requests);
  }
}

/** How many jobs of the type and of the tenant ran at the same time, by the order of the lines. */
function mostRunning(log: string): { report: number; small: number; starts: number } {
  const running = new Map<string, { pid: string; kinds: readonly string[] }>();
  const counts: Record<string, number> = { report: 0, small: 0, email: 0, acme: 0, bolt: 0 };
  const most = { report: 0, small: 0, starts: 0 };
  const end = (run: string): void => {
    for (const kind of running.get(run)?.kinds ?? []) counts[kind] = (counts[kind] ?? 0) - 1;
    running.delete(run);
  };
  for (const line of readFileSync(log, "utf8").split("\n")) {
    const [sign = "", pid = "", run = "", ...kinds] = line.split(" ");
    if (sign === "+") {
      running.set(run, { pid, kinds });
      for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
      most.starts += 1;
      most.report = Math.max(most.report, counts["report"] ?? 0);
      most.small = Math.max(most.small, counts["small"] ?? 0);
    } else if (sign === "-") end(run);
    else if (sign === "x") {
      for (const [each, { pid: of }] of running) if (of === pid) end(each);
    }
  }
  return most;
}

/** Processes that run jobs. One that is killed is replaced. */
class Fleet {
  readonly #url: string;
  readonly #log: string;
  #children: ChildProcess[];

  constructor(url: string, log: string, count: number) {
    this.#url = url;
    this.#log = log;
    this.#children = Array.from({ length: count }, () => this.#start());
  }

  #start(): ChildProcess {
    return fork(import.meta.filename, [this.#url, this.#log], {
      execArgv: ["--conditions=source", "--no-warnings"],
    });
  }

  async killOne(): Promise<void> {
    const victim = this.#children[Math.floor(Math.random() * this.#children.length)];
    if (victim === undefined) return;
    const ended = new Promise((resolve) => victim.once("exit", resolve));
    victim.kill("SIGKILL");
    await ended;
    // Its jobs run again only after its lease has expired.
    appendFileSync(this.#log, `x ${victim.pid}\n`);
    this.#children = [...this.#children.filter((each) => each !== victim), this.#start()];
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#children.map(async (each) => {
        const ended = new Promise((resolve) => each.once("exit", resolve));
        each.kill("SIGTERM");
        await ended;
      }),
    );
  }
}

async function child(): Promise<void> {
  const [url = "", log = ""] = process.argv.slice(2);
  const file = openSync(log, "a");
  const mill = await openMillrace(url);
  const tell = (sign: string, run: string, ...kinds: string[]): void =>
    void writeSync(file, `${[sign, process.pid, run, ...kinds].join(" ")}\n`);
  const run = (type: string) => async (_: number, ctx: Context<{}, {}>) => {
    const name = `${ctx.job.id}.${ctx.lease.fence}`;
    tell("+", name, type, ctx.job.tenant);
    await pause(2 + Math.random() * 20);
    tell("-", name);
  };
  mill.work({
    jobs: [report.run(run("report")), email.run(run("email"))],
    lanes: { general: 10 },
    lease: "3s",
    poll: "500ms",
  });
}

/** The drain rate with limits on every job that do not bind, and without limits. */
async function showCost(kind: StoreKind, places: Places, options: Numbers): Promise<void> {
  const ratios: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const plain = await drainRate(places.next(), options.drained, false);
    const limited = await drainRate(places.next(), options.drained, true);
    ratios.push(limited / plain);
    console.log(
      `${kind}: round ${round + 1}: ${plain.toFixed(0)}/s without, ${limited.toFixed(0)}/s with ` +
        `limits: ${(limited / plain).toFixed(2)}`,
    );
  }
  const sorted = ratios.toSorted((left, right) => left - right);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  console.log(`${kind}: median ${median.toFixed(2)}, 0.85 wanted`);
  if (median < 0.85) process.exitCode = 1;
}

async function drainRate(url: string, jobs: number, isLimited: boolean): Promise<number> {
  const mill = await openMillrace(url);
  if (isLimited) {
    await mill.limits.set({ type: "report" }, { concurrency: 5_000 });
    await mill.limits.set({ type: "email" }, { concurrency: 5_000 });
    for (const tenant of TENANTS) await mill.limits.set({ tenant }, { concurrency: 5_000 });
  }
  await enqueueAll(mill, jobs);
  let left = jobs;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    left -= 1;
    if (left === 0) resolve();
  };
  const began = performance.now();
  mill.work({ jobs: [report.run(done), email.run(done)], lanes: { general: 300 }, batch: 300 });
  await promise;
  const rate = jobs / ((performance.now() - began) / 1000);
  await mill.close();
  return rate;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

if (process.send === undefined) await parent();
else await child();
