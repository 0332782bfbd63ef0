/**
 * Limits hold while processes are killed, and cost little.
 *
 *     node --conditions=source scripts/show/limits.ts [--store sqlite|postgres]
 *         [--processes 8] [--jobs 5000] [--kills 12] [--rounds 5] [--drained 20000]
 *
 * First, processes run jobs of a limited type, tenant and service in a limited installation, and a
 * part of the jobs has a key with a rate, while some of the processes are killed and replaced.
 * Handlers write their start and their end into one file, so that the order of the lines is the
 * order of what happened. The excess over each limit must be 0, no window may have more starts of
 * the key than its rate allows, and in the end no permit may be missing. Then one process drains a
 * backlog with limits that do not bind, and without limits, round by round. `--rounds 0` leaves
 * this out.
 */
import { fork, type ChildProcess } from "node:child_process";
import { appendFileSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { defineJob, openMillrace, typed, type Context, type Millrace } from "../../src/index.ts";
import { Places } from "./lib/databases.ts";
import { numbersAndStores, type StoreKind } from "./lib/options.ts";

/** The words of a run in the file, and how many runs may have each of them at the same time. */
const CAPS = { report: 20, small: 5, bank: 8, all: 30 } as const;
const NAMES = ["report", "small", "bank", "all"] as const;
const TENANTS = ["small", "acme", "bolt"] as const;
/** Each so many-th job has the key: a number that gives all of them one tenant and one type. */
const KEYED_EVERY = 60;
const KEY = { key: "ledger", tenant: TENANTS[1] } as const;
const RATE = { limit: 4, per: 1_000, burst: 2 } as const;

const report = defineJob({ type: "report", payload: typed<number>() });
const email = defineJob({ type: "email", payload: typed<number>() });
const transfer = defineJob({ type: "transfer", payload: typed<number>(), services: ["bank"] });

async function parent(): Promise<void> {
  const numbers = { processes: 8, jobs: 5_000, kills: 12, rounds: 5, drained: 20_000 };
  const options = numbersAndStores("scripts/show/limits.ts", numbers);
  for (const kind of options.stores) {
    await using places = await Places.open(kind, { durable: true });
    await showExactness(kind, places, options);
    if (options.rounds > 0) await showCost(kind, places, options);
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
  await mill.limits.set({ type: "report" }, { concurrency: CAPS.report });
  await mill.limits.set({ tenant: "small" }, { concurrency: CAPS.small });
  await mill.limits.set({ service: "bank" }, { concurrency: CAPS.bank });
  await mill.limits.set({ installation: true }, { concurrency: CAPS.all });
  await mill.limits.set(KEY, { rate: RATE });
  const types = [report, email, transfer, email] as const;
  const keyed = await enqueueAll(mill, options.jobs, types, isKeyed);
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
  const early = await startsBeyondRate(mill, keyed);
  await mill.close();
  const { most, starts } = mostRunning(log);
  const excess = NAMES.reduce((sum, name) => sum + Math.max(0, most[name] - CAPS[name]), 0);
  console.log(
    `${kind}: ${options.processes} processes, ${options.jobs} jobs, ${kills} kills, ` +
      `${seconds.toFixed(1)} s, ${starts} starts`,
  );
  const figures = NAMES.map((name) => `${name} ${most[name]} of ${CAPS[name]}`).join(", ");
  console.log(`${kind}: most running: ${figures}; excess ${excess}, permits lost ${lost}`);
  console.log(`${kind}: ${keyed.length} jobs of a key with a rate, ${early} starts beyond it`);
  if (excess + lost + early > 0) process.exitCode = 1;
}

/** Jobs of these types and of all tenants in turn. Answers the jobs that have the key. */
async function enqueueAll(
  mill: Millrace,
  jobs: number,
  types: readonly (typeof report | typeof email | typeof transfer)[],
  hasKey: (index: number) => boolean,
): Promise<readonly string[]> {
  const keyed: string[] = [];
  for (let from = 0; from < jobs; from += 1_000) {
    const requests = Array.from({ length: Math.min(1_000, jobs - from) }, (_, index) => {
      const tenant = TENANTS[(from + index) % TENANTS.length]!;
      const key = hasKey(from + index) ? { concurrencyKey: KEY.key } : {};
      return types[(from + index) % types.length]!.of(from + index, { tenant, ...key });
    });
    const made = await mill.enqueueMany(requests);
    keyed.push(...made.filter((_, index) => hasKey(from + index)).map(({ id }) => id));
  }
  return keyed;
}

function isKeyed(index: number): boolean {
  return index % KEYED_EVERY === 1;
}

/** The starts that no token of the key was for, by the clock of the store. */
async function startsBeyondRate(mill: Millrace, keyed: readonly string[]): Promise<number> {
  const runs = await Promise.all(keyed.map((id) => mill.jobs.attempts(id)));
  const starts = runs
    .flat()
    .flatMap(({ startedAt }) => startedAt?.getTime() ?? [])
    .toSorted((left, right) => left - right);
  return starts.filter((end, last) =>
    starts.slice(0, last + 1).some((begin, first) => {
      // Clocks tell whole milliseconds.
      const tokens = RATE.burst + ((end - begin + 1) * RATE.limit) / RATE.per;
      return last - first + 1 > tokens;
    }),
  ).length;
}

/** How many jobs of each limit ran at the same time, by the order of the lines. */
function mostRunning(log: string): { most: Record<keyof typeof CAPS, number>; starts: number } {
  const running = new Map<string, { pid: string; kinds: readonly string[] }>();
  const counts: Record<string, number> = {};
  const most = { report: 0, small: 0, bank: 0, all: 0 };
  let starts = 0;
  const end = (run: string): void => {
    for (const kind of running.get(run)?.kinds ?? []) counts[kind] = (counts[kind] ?? 0) - 1;
    running.delete(run);
  };
  for (const line of readFileSync(log, "utf8").split("\n")) {
    const [sign = "", pid = "", run = "", ...kinds] = line.split(" ");
    if (sign === "+") {
      running.set(run, { pid, kinds });
      for (const kind of kinds) counts[kind] = (counts[kind] ?? 0) + 1;
      starts += 1;
      for (const name of NAMES) {
        most[name] = Math.max(most[name], counts[name] ?? 0);
      }
    } else if (sign === "-") end(run);
    else if (sign === "x") {
      for (const [each, { pid: of }] of running) if (of === pid) end(each);
    }
  }
  return { most, starts };
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
  const run = (kind: string) => async (_: number, ctx: Context<{}, {}>) => {
    const name = `${ctx.job.id}.${ctx.lease.fence}`;
    tell("+", name, "all", kind, ctx.job.tenant);
    await pause(2 + Math.random() * 20);
    tell("-", name);
  };
  mill.work({
    jobs: [report.run(run("report")), email.run(run("email")), transfer.run(run("bank"))],
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
  await enqueueAll(mill, jobs, [report, email], () => false);
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
