/**
 * One contestant in a process of its own, so that none disturbs the heap of another:
 *
 *     fork("child.ts", [system, url, variant])
 *
 * Each message is one verb of {@link Verbs}, answered by one message. While it works it also tells
 * how many handlers have begun. It ends with the process that started it.
 */
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { instant, newPayload, type System } from "./system.ts";
import { isSystem, SYSTEMS } from "./systems.ts";
import type {
  Answer,
  EnqueueRequest,
  Question,
  Verb,
  Verbs,
  WorkOrder,
  WorkReport,
} from "./verbs.ts";

const CALLERS = 50;
const BULK = 1_000;
const TELL_MS = 20;

interface Shift {
  readonly stop: () => Promise<void>;
  readonly begun: number[];
  readonly waited: number[];
  readonly warmUp: number;
  readonly cpu: () => NodeJS.CpuUsage;
  readonly loop: ReturnType<typeof monitorEventLoopDelay>;
  readonly telling: NodeJS.Timeout;
}

const [name = "", url = "", variant] = process.argv.slice(2);
let shift: Shift | null = null;

process.on("disconnect", () => process.exit());
process.on("message", ({ id, verb, value }: Question) => {
  run(verb, value).then(
    (answer) => tell({ id, value: answer }),
    (error: unknown) => tell({ id, error: reasonOf(error) }),
  );
});

const system = await opened();

const verbs: { readonly [V in Verb]: (value: Verbs[V]["asks"]) => Promise<Verbs[V]["answers"]> } = {
  enqueue: (request) => enqueue(system, request),
  send: async ({ jobs, gapMs }) => {
    for (let sent = 0; sent < jobs; sent += 1) {
      await pause(gapMs * (1 + Math.random()));
      await system.enqueue(newPayload());
    }
  },
  results: (request) => results(system, request),
  work: async (order) => {
    shift = await work(system, order);
  },
  stop: async () => stop(),
  weigh: async () => {
    for (let round = 0; round < 3; round += 1) globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return { rssMb: rss / 2 ** 20, heapMb: heapUsed / 2 ** 20, peakMb: peakMb() };
  },
  serve: async () => {
    if (system.serve === undefined) throw new Error("it serves no HTTP");
    return system.serve();
  },
  listen: () => listen(),
  close: () => system.close(),
};

async function opened(): Promise<System> {
  try {
    if (!isSystem(name)) throw new Error(`there is no system “${name}”`);
    const { open } = await SYSTEMS[name]();
    const made = await open(url, variant ?? null);
    tell({ id: 0, value: null });
    return made;
  } catch (error) {
    tell({ id: 0, error: reasonOf(error) });
    throw error;
  }
}

async function run(verb: Verb, value: unknown): Promise<unknown> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The caller is typed the same.
  const answer = verbs[verb] as (value: unknown) => Promise<unknown>;
  return answer(value);
}

/** Stops early when the time is up; the rate holds for what was done. */
async function enqueue(to: System, request: EnqueueRequest): Promise<{ jobs: number; ms: number }> {
  const began = instant();
  const isLate = (): boolean => instant() - began > request.msMax;
  let made = 0;
  const many = to.enqueueMany?.bind(to);
  if (request.how === "bulk") {
    if (many === undefined) throw new Error("it has no bulk enqueue");
    while (made < request.jobs && !isLate()) {
      const size = Math.min(BULK, request.jobs - made);
      await many(Array.from({ length: size }, newPayload), { delayMs: request.delayMs ?? 0 });
      made += size;
    }
    return { jobs: made, ms: instant() - began };
  }
  const caller = async (): Promise<void> => {
    while (made < request.jobs && !isLate()) {
      made += 1;
      await to.enqueue(newPayload());
    }
  };
  const callers = request.how === "single" ? 1 : CALLERS;
  await Promise.all(Array.from({ length: callers }, caller));
  return { jobs: made, ms: instant() - began };
}

async function results(
  of: System,
  { jobs, gapMs }: Verbs["results"]["asks"],
): Promise<Float64Array> {
  const result = of.result?.bind(of);
  if (result === undefined) throw new Error("it has no results");
  const took: number[] = [];
  for (let asked = 0; asked < jobs; asked += 1) {
    await pause(gapMs * (1 + Math.random()));
    const began = instant();
    await result(newPayload());
    took.push(instant() - began);
  }
  return Float64Array.from(took);
}

function listen(): Promise<number> {
  const server = createServer((_, response) => response.end("ok"));
  server.unref();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

async function work(on: System, order: WorkOrder): Promise<Shift> {
  const { slots, warmUp = 0, handlerMs = 0 } = order;
  const begun: number[] = [];
  const waited: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 1 });
  let told = 0;
  const telling = setInterval(() => {
    if (begun.length > told) tell({ id: -1, value: begun.length });
    told = begun.length;
  }, TELL_MS);
  loop.enable();
  let cpu = process.cpuUsage();
  const stopWork = await on.work({
    slots,
    began({ at }) {
      const now = instant();
      if (begun.length === warmUp) cpu = process.cpuUsage();
      begun.push(now);
      waited.push(now - at);
      return handlerMs > 0 ? pause(handlerMs) : undefined;
    },
  });
  return { stop: stopWork, begun, waited, warmUp, cpu: () => cpu, loop, telling };
}

async function stop(): Promise<WorkReport> {
  if (shift === null) throw new Error("it does not work");
  const { begun, waited, warmUp, cpu, loop, telling, stop: stopWork } = shift;
  shift = null;
  const used = process.cpuUsage(cpu());
  loop.disable();
  clearInterval(telling);
  await stopWork();
  return {
    begun: Float64Array.from(begun),
    waited: Float64Array.from(waited),
    cpuMs: (used.user + used.system) / 1000,
    cpuJobs: begun.length - warmUp,
    peakMb: peakMb(),
    loopDelayMs: loop.percentile(99) / 1e6,
  };
}

function peakMb(): number {
  return process.resourceUsage().maxRSS / 2 ** 10;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function tell(answer: Answer): void {
  process.send?.(answer);
}
