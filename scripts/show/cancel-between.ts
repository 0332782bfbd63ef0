/**
 * Jobs of three phases are cancelled around the borders of their phases: by the handler of the
 * phase before, by a listener that hears of its end, and by the clock. Each ends with exactly one
 * `job:cancelled`, and its state and its phases agree (001-29, 001-30).
 *
 *     node --conditions=source scripts/show/cancel-between.ts [--store sqlite] [--cancels 500]
 *
 * The store of the worker is slow when it stores the end of a phase, so that the borders are wide
 * and cancels come while it is crossed. One that comes too late finds a completed job.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openMillrace } from "millrace";
import type { Millrace } from "millrace";
import { seededDice } from "../../test/support/seeded-dice.ts";
import { table } from "../lib/table.ts";
import { asides } from "./lib/say-aside.ts";
import { borderedJob } from "./lib/pipelines/phase-borders.ts";
import type {
  BorderLine,
  BorderSettings,
  Cancellation,
  Way,
} from "./lib/pipelines/phase-borders.ts";
import { judgeCancels } from "./lib/pipelines/cancels.ts";
import type { Cancelled } from "./lib/pipelines/cancels.ts";
import { startChild } from "./lib/fleet/children.ts";
import { LogReader } from "./lib/fleet/ledger.ts";
import { numbersAndStores } from "./lib/options.ts";
import type { StoreKind } from "./lib/options.ts";
import { openStore, Places } from "./lib/databases.ts";
import { onStage } from "./lib/run-stages.ts";

const options = numbersAndStores("cancel-between.ts", {
  cancels: 500,
  slots: 25,
  seed: 1,
  lease: 900,
});
const dice = seededDice(options.seed);
const bordered = borderedJob();
const PROGRAM = new URL("lib/pipelines/phase-borders.child.ts", import.meta.url);
const WAYS: readonly Way[] = ["handler", "listener", "clock"];
/** A little longer than a job takes, so that some come too late. */
const CLOCK_MS_MAX = 2_500;
const LISTENER_MS_MAX = 40;
const RECORD_MS = 100;
const WAITING = 3;
const VIOLATIONS_SHOWN = 10;

await onStage(async () => {
  const verdicts: boolean[] = [];
  for (const kind of options.stores) verdicts.push(await playOn(kind));
  return { sound: verdicts.every(Boolean) };
});

async function playOn(kind: StoreKind): Promise<boolean> {
  await using places = await Places.open(kind);
  const url = places.next();
  const mill = await openMillrace(url);
  const log = join(places.folder, "phases.jsonl");
  const settings: BorderSettings = { url, log, slots: options.slots, leaseMs: options.lease };
  const delay = `delay(${RECORD_MS})@every 1`;
  const worker = startChild({
    program: PROGRAM,
    settings,
    log: join(places.folder, "words.txt"),
    env: { MILLRACE_FAILPOINTS: `before:record=${delay},after:record=${delay}` },
  });
  await worker.ready;
  const began = performance.now();
  const audience = listenTo(mill);
  const tell = asides(kind, options.cancels);
  const asked: { id: string; cancellation: Cancellation }[] = [];
  const seat = async (): Promise<void> => {
    for (;;) {
      const number = asked.length;
      if (number >= options.cancels) return;
      const cancellation = cancellationOf(number);
      const place = asked.push({ id: "", cancellation }) - 1;
      asked[place] = { id: await playOne(mill, audience, cancellation), cancellation };
      tell(number + 1);
    }
  };
  // A few more than there are slots, so that some are cancelled while they wait.
  await Promise.all(Array.from({ length: options.slots + WAITING }, seat));
  worker.kill("SIGTERM");
  await worker.ended;
  const store = await openStore(url);
  const lines = new LogReader<BorderLine>(log).lines();
  const judged = await judgeCancels({ mill, store, lines, heard: audience.cancelled }, asked);
  await store.close();
  await mill.close();
  return report(kind, judged, (performance.now() - began) / 1000);
}

function cancellationOf(number: number): Cancellation {
  const way = WAYS[number % WAYS.length] ?? "clock";
  const delayMs = dice.random() * (way === "clock" ? CLOCK_MS_MAX : LISTENER_MS_MAX);
  return { way, border: 1 + Math.floor(dice.random() * 2), delayMs };
}

interface Audience {
  /** How often each job was heard to be cancelled. */
  readonly cancelled: ReadonlyMap<string, number>;
  /** Calls when so many phases of a job are heard to be completed. */
  at(id: string, phases: number, call: () => void): void;
}

function listenTo(mill: Millrace): Audience {
  const cancelled = new Map<string, number>();
  const ended = new Map<string, number>();
  const calls = new Map<string, () => void>();
  mill.on("job:cancelled", ({ id }) => void cancelled.set(id, (cancelled.get(id) ?? 0) + 1));
  mill.on("job:phase:completed", ({ id }) => {
    const phases = (ended.get(id) ?? 0) + 1;
    ended.set(id, phases);
    calls.get(`${id} ${phases}`)?.();
  });
  return {
    cancelled,
    at(id, phases, call) {
      calls.set(`${id} ${phases}`, call);
      if ((ended.get(id) ?? 0) >= phases) call();
    },
  };
}

/** One job from its start to its end. Answers its id. */
async function playOne(
  mill: Millrace,
  audience: Audience,
  cancellation: Cancellation,
): Promise<string> {
  const job = await mill.enqueue(bordered, cancellation);
  const cancel = async (): Promise<void> => {
    await sleep(cancellation.delayMs);
    await mill.jobs.cancel(job.id).catch(() => {});
  };
  if (cancellation.way === "listener") {
    audience.at(job.id, cancellation.border, () => void cancel());
  }
  if (cancellation.way === "clock") void cancel();
  // One that does not end is found out by its state.
  await mill.wait(job, { timeout: "60s" }).catch(() => null);
  return job.id;
}

function report(kind: StoreKind, judged: readonly Cancelled[], seconds: number): boolean {
  const count = (where: Cancelled["where"], way?: Way): number =>
    judged.filter((each) => each.where === where && (way ?? each.way) === each.way).length;
  console.log(`\n${kind}: ${judged.length} cancels, ${seconds.toFixed(0)} s`);
  const head = ["who cancels", "before a phase", "between two", "within one", "too late"];
  const wheres = ["before", "between", "within", "late"] as const;
  const rows = [
    ...WAYS.map((way) => [way, ...wheres.map((where) => String(count(where, way)))]),
    ["all", ...wheres.map((where) => String(count(where)))],
  ];
  for (const line of table(head, rows)) console.log(line);
  const violations = judged.flatMap(({ id, violations: found }) =>
    found.map((text) => `${id}: ${text}`),
  );
  if (count("between") === 0) violations.push("no cancel came between two phases");
  if (count("late") * 2 >= judged.length) violations.push("most cancels came too late");
  const takeovers = judged.filter(({ runs }) => runs > 1).length;
  console.log(`${takeovers} jobs ran more than once, ${violations.length} violations`);
  for (const text of violations.slice(0, VIOLATIONS_SHOWN)) console.log(text);
  return violations.length === 0;
}
