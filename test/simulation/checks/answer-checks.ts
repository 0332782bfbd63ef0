/** Compares an answer of the store with its rows. */
import type { Verb } from "../../../src/store/verbs.ts";
import type { Report } from "./invariants.ts";
import { finalState, hexOf, type Snapshot } from "./snapshot.ts";

/** An answer, and the moment at which it was given. */
interface Answered {
  readonly now: Snapshot;
  readonly nowMs: number;
  readonly args: readonly any[];
  readonly answer: any;
  readonly report: Report;
}

export function checkAnswer(answered: Answered, verb: Verb): void {
  CHECKS[verb]?.(answered);
}

const CANCELLED = 7;
const REPROCESSED = 3;
const RUNNING_UNIT = 1;
const FAILED_UNIT = 3;

const CHECKS: Readonly<Partial<Record<Verb, (answered: Answered) => void>>> = {
  cancel({ now, args, answer, report }) {
    const key = now.keys.get(hexOf(args[0])) ?? 0;
    const isOver = answer.status === "cancelled" && finalState(now, key) !== CANCELLED;
    const isAsked = answer.status === "requested" && !now.asked.has(key);
    if (isOver || isAsked) report("I8", `the cancellation of job ${key} has no effect`);
  },
  quiet({ now, args, answer, report }) {
    const isQuiet = now.workers.get(hexOf(args[0]))?.quiet === 1;
    if (answer !== isQuiet) report("I8", `worker ${args[0]} was told to be quiet: ${answer}`);
  },
  stopWorker({ now, args, answer, report }) {
    const isQuiet = now.workers.get(hexOf(args[0]))?.quiet === 1;
    if (answer !== isQuiet) report("I8", `worker ${args[0]} was told to stop: ${answer}`);
  },
  register({ now, nowMs, args, report }) {
    const until = now.workers.get(hexOf(args[0].id))?.until ?? 0;
    if (until <= nowMs) report("I21", `worker ${args[0].id} has registered without a lease`);
  },
  renew({ now, nowMs, args, answer, report }) {
    const id = hexOf(args[0]);
    if (answer.status === "lost") {
      if (now.workers.has(id)) report("I21", `worker ${args[0]} is known, and told otherwise`);
      return;
    }
    if ((now.workers.get(id)?.until ?? 0) <= nowMs) {
      report("I5", `worker ${args[0]} has renewed a lease that it has not`);
    }
    const asked = [...now.asked].filter((key) => now.held.get(key)?.[0]?.worker === id);
    const answered: readonly number[] = answer.cancel.map(({ key }: { key: number }) => key);
    const isComplete =
      asked.length === answered.length && asked.every((key) => answered.includes(key));
    if (!isComplete) report("I8", `worker ${args[0]} was not answered what to cancel`);
  },
  deregister({ now, nowMs, args, report }) {
    const until = now.workers.get(hexOf(args[0]))?.until ?? 0;
    if (until > nowMs)
      report("I24", `worker ${args[0]} has deregistered, and its lease has not ended`);
  },
  silent({ now, nowMs, answer, report }) {
    const silent = [...now.workers.values()].filter(({ until }) => until <= nowMs).length;
    if (silent !== answer.length) report("I21", `${silent} worker(s) are silent: ${answer.length}`);
  },
  rescue({ now, args, answer, report }) {
    if (!answer.done) return;
    const id = hexOf(args[0].worker);
    const isLeft = [...now.leases.values()].some(({ worker }) => worker === id);
    if (isLeft || now.workers.has(id)) report("I21", `the rescue of ${id} has left something`);
  },
  reprocess({ now, args, answer, report }) {
    // One that has a living successor already, by a retry, keeps that and stays open.
    if (answer.status !== "reprocessed" || answer.answer.status !== "created") return;
    const letter = now.letters.get(hexOf(args[0]));
    const isKept = letter?.status === REPROCESSED && now.keys.has(letter.successor ?? "");
    if (!isKept) report("I1", `letter ${args[0]} was reprocessed without a successor`);
  },
  checkpoints({ now, args, answer, report }) {
    const [key] = args;
    const phases = now.phases.get(key) ?? [];
    const isEnded = (phase: string): boolean => phases.some(({ name }) => name === phase);
    const units = (now.units.get(key) ?? []).filter(({ state }) => state > RUNNING_UNIT);
    const wanted = [
      ...phases.map(({ name, result }) => `${name}=${result}`),
      ...units
        .filter(({ phase }) => !isEnded(phase))
        .map(({ unit, result }) => `${unit}=${result}`),
      units.filter(({ phase, state }) => isEnded(phase) && state === FAILED_UNIT).length,
    ];
    const found = [
      ...answer.phases.map((phase: any) => `${phase.name}=${phase.result}`),
      ...answer.units.map(({ unit, end }: any) => `${unit}=${end.result ?? null}`),
      Object.values<number>(answer.failedUnits).reduce((sum, count) => sum + count, 0),
    ];
    const [left, right] = [found.map(String).toSorted(), wanted.map(String).toSorted()];
    if (left.join(" ") !== right.join(" ")) {
      report("I25", `job ${key} has left [${right.join(" ")}], and [${left.join(" ")}] is told`);
    }
  },
  openDependencies({ now, args, answer, report }) {
    const dependencies = now.dependencies.get(now.keys.get(hexOf(args[0])) ?? 0) ?? [];
    const open = dependencies.filter(
      ({ depends_on: other }) => other < 0 || finalState(now, other) === null,
    );
    const isSame = answer.length === Math.min(open.length, args[1]);
    if (!isSame) report("I8", `job ${args[0]} waits for ${open.length} job(s): ${answer.length}`);
  },
  lockHolder({ now, args, answer, report }) {
    const tenant = [...now.names].find(([, text]) => text === args[0])?.[0];
    const lock = now.locks.get(`${tenant}.${args[1]}`);
    const holder = lock === undefined ? undefined : now.jobs.get(lock.job)?.id;
    const found = answer === null ? undefined : hexOf(answer);
    if (holder !== found) report("I14", `lock ${args[1]} is held by ${holder}, not by ${found}`);
  },
  logs({ now, args, answer, report }) {
    const log = now.logs.get(now.keys.get(hexOf(args[0])) ?? 0);
    const lines: readonly number[] = answer.map(({ line }: any) => line);
    const isGapless = lines.every((line, index) => index === 0 || line === lines[index - 1]! + 1);
    const isNewest = args[1].after !== undefined || lines.at(-1) === log?.last;
    if (!isGapless || !isNewest)
      report("I26", `the log of job ${args[0]} is read as ${String(lines)}`);
  },
  feed({ args, answer, report }) {
    const positions: readonly number[] = answer.map((entry: any) => entry.position);
    const isGapless = positions.every((position, index) => {
      return index === 0 ? position > args[0] : position === positions[index - 1]! + 1;
    });
    // Clocks that differ give events instants in another order, and retention still leaves no gap.
    if (!isGapless) report("I13", `the feed after ${args[0]} is read as ${String(positions)}`);
  },
};
