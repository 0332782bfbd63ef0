/** Jobs with phases and units, and what their handlers do besides how they behave. */
import { defineJob, MillraceError, typed } from "millrace";
import type { Effects, Actor } from "./effects.ts";
import { behave, contracts, type Busy, type Payload, type Stage } from "./jobs.ts";
import type { Behaviour } from "../plan/plan.ts";

export const PHASES = ["fetch", "units", "publish"] as const;

/** Names that units and jobs have to themselves. */
export const LOCK_NAMES = ["k0", "k1", "k2"] as const;

export const pipelines = [
  defineJob({ type: "delta", payload: typed<Payload>(), timeout: "15s" }),
  defineJob({
    type: "omega",
    payload: typed<Payload>(),
    timeout: "8s",
    lane: "fast",
    onRetry: "restart",
  }),
] as const;

export function isPipeline(type: string): boolean {
  return pipelines.some((each) => each.type === type);
}

/** Whether a new attempt of such a job forgets those before it. */
export function restarts(type: string): boolean {
  return type === "omega";
}

/** What a handler that writes about itself has at hand. */
export interface Bench extends Stage {
  readonly actor: Actor;
  readonly effects: Effects;
  /** Empty: the job has no phases. */
  readonly phase: string;
  readonly count: (name: string) => void;
  /** From now on the run goes otherwise; null: its end cannot be predicted. */
  readonly turns: (behaviour: Behaviour | null) => void;
}

/** The run of a plain handler. */
export async function carryOut(behaviour: Behaviour, bench: Bench): Promise<void> {
  if (!isBusy(behaviour)) return behave(behaviour, bench);
  bench.turns("ok");
  switch (behaviour) {
    case "talk":
      return talk(bench);
    case "step":
      return doStep(bench);
    case "units":
      return bench.payload.token % 3 === 1 ? leaveUnits(bench) : doUnits(bench, "ok");
    case "family":
      if (await raise(bench)) bench.turns("fatal");
  }
}

/** One phase; the behaviour of the run comes to pass in one of the three. */
export async function carryOutPhase(behaviour: Behaviour, bench: Bench): Promise<void> {
  const { phase, payload, ctx, effects, actor, turns } = bench;
  effects.phaseBegins(actor, phase, Object(ctx.results));
  const isHere = PHASES[payload.token % PHASES.length] === phase;
  const strikes = isHere && !isBusy(behaviour) ? behaviour : "ok";
  if (phase === "units") return doUnits(bench, strikes);
  const isLast = phase === "publish";
  if (!isLast) await talk(bench);
  await doStep(bench);
  const strands = (isLast || payload.token % 3 === 0) && (await raise(bench));
  if (strikes !== "child") {
    turns(strikes);
    await behave(strikes, bench);
  }
  if (strands) turns("fatal");
}

function isBusy(behaviour: Behaviour): behaviour is Busy {
  return ["talk", "step", "units", "family"].includes(behaviour);
}

/** A payload with this time has units that take long. No other payload has it. */
export const SLOW_UNITS_MS = 10_000;

const SHORT_UNIT_MS = 60;
const LONG_UNIT_MS = 700;
const LINE_LENGTH = 3_900;
const LONG_LINES = 20;
const SHORT_LINES = 1_030;

/** Says how far it has come, in the log and otherwise. */
async function talk({ actor, effects, payload, ctx }: Bench): Promise<void> {
  const { token } = payload;
  ctx.log.info(`begins ${token}`, { token });
  if (token % 5 === 0) {
    for (let line = 0; line < LONG_LINES; line += 1) ctx.log.debug("x".repeat(LINE_LENGTH));
  }
  if (token % 23 === 0) for (let line = 0; line < SHORT_LINES; line += 1) ctx.log.debug("y");
  for (let turn = 1; turn <= 1 + (token % 8); turn += 1) void ctx.progress(turn, { turn });
  const turn = 20 + (token % 50);
  await ctx.progress(turn, { turn });
  effects.progressReported(actor, turn);
  ctx.log.warn(`is at ${turn}`);
}

/** One piece of work whose result a later run does not make anew. */
async function doStep(bench: Bench): Promise<void> {
  const { actor, effects, ctx, phase, sleep } = bench;
  const result = await ctx.step("open", async () => {
    const end = effects.unitBegins(actor, phase, "open");
    await sleep(bench.payload.ms % 20);
    end();
    return `open by ${actor.fence}`;
  });
  effects.unitAnswered(actor, phase, "open", result);
}

/** Several pieces side by side, of which some fail, and some need a name for themselves. */
async function doUnits(bench: Bench, strikes: Exclude<Behaviour, Busy>): Promise<void> {
  const { actor, effects, payload, ctx, phase, count, turns } = bench;
  const { token } = payload;
  const numbers = Array.from({ length: 1 + (token % 6) }, (_, index) => index);
  const done = effects.completedIn(actor, phase);
  if (done > 0 && done < numbers.length) count("resumed in the middle of units");
  const isExclusive = token % 2 === 0;
  const options = {
    concurrency: 1 + (token % 3),
    ...(isExclusive ? { exclusive: (unit: number) => nameOf(token + unit) } : {}),
  };
  try {
    const work = (unit: number): Promise<string> => {
      return doUnit(bench, unit, { isExclusive, strikes: unit === token % 3 ? strikes : "ok" });
    };
    const units = await ctx.each(numbers, String, work, options);
    if (units.total !== numbers.length) throw new Error(`${units.total} units are answered`);
    for (const { key, result } of units.completed) effects.unitAnswered(actor, phase, key, result);
  } catch (error) {
    turns(endAfter(error));
    const isStubborn = token % 2 === 1 && ctx.signal.aborted;
    if (!isStubborn) throw error;
    count("units given up, and the handler went on");
  }
}

/** Snoozes once while units are under way, and others have not begun. */
async function leaveUnits(bench: Bench): Promise<void> {
  const { actor, effects, ctx, payload, count, turns, sleep } = bench;
  const work = (unit: number): Promise<string> =>
    doUnit(bench, unit, { isExclusive: false, strikes: "ok" });
  const units = ctx.each([0, 1, 2, 3, 4], String, work, { concurrency: 2 });
  units.catch(() => {});
  await sleep(payload.ms % SHORT_UNIT_MS);
  if (!effects.leavesUnits(actor)) {
    await units;
    return;
  }
  count("units left behind by a snooze");
  turns("snooze");
  ctx.snooze(200);
}

/** How a run ends whose units have not. */
function endAfter(error: unknown): Behaviour | null {
  const isFailure = error instanceof MillraceError && error.code === "UNITS_FAILED";
  if (!isFailure) return null;
  return Reflect.get(error, "~class") === "non_retryable" ? "fatal" : "throw";
}

async function doUnit(
  bench: Bench,
  unit: number,
  how: { readonly isExclusive: boolean; readonly strikes: Exclude<Behaviour, Busy> },
): Promise<string> {
  const { actor, effects, payload, ctx, phase, sleep } = bench;
  const { isExclusive, strikes } = how;
  const { token, ms } = payload;
  const end = effects.unitBegins(actor, phase, String(unit));
  const leave = isExclusive ? effects.enter(nameOf(token + unit), actor, "unit") : () => {};
  try {
    const isLong = token % 4 === 0;
    const shortMs = ms === SLOW_UNITS_MS ? LONG_UNIT_MS : (ms + 7 * unit) % SHORT_UNIT_MS;
    await sleep(isLong ? (13 * token + 50 * unit) % LONG_UNIT_MS : shortMs);
    if (strikes !== "ok") await behave(strikes, bench);
    const isFailing = token % 7 < 3 && (token + unit + ctx.attempt) % 3 === 0;
    const isParent = (token + unit) % 3 === 0;
    const born = isParent ? ` with ${await raiseOne(bench)}` : "";
    if (isFailing) throw new Error("planted in a unit");
    return `unit ${unit} by ${actor.fence}${born}`;
  } finally {
    leave();
    end();
  }
}

function nameOf(number: number): string {
  return LOCK_NAMES[number % LOCK_NAMES.length] ?? LOCK_NAMES[0];
}

/** A child of a unit. */
async function raiseOne({ payload: { token }, ctx }: Bench): Promise<string> {
  return (await ctx.enqueue(contracts[0], { token: token + 1_000, runs: ["ok"], ms: 5 })).id;
}

/**
 * Children: two in a row, of which the first may give way to the holder of its key. Answers whether
 * there is one more that is refused: with it nothing is kept.
 */
async function raise({ payload, ctx }: Bench): Promise<boolean> {
  const { token } = payload;
  const child: Payload = { token: token + 1_000, runs: [token % 3 === 0 ? "fatal" : "ok"], ms: 5 };
  const key = token % 4 > 1 ? { dedupKey: `f${token % 2}` } : {};
  const first = await ctx.enqueue(contracts[0], child, key);
  const onFailed = token % 2 === 0 ? "run" : "cancel";
  await ctx.enqueue(contracts[1], { ...child, runs: ["ok"] }, { after: [first], onFailed });
  if (token % 13 > 0) return false;
  if (token % 2 === 0) {
    const idempotencyKey = `only ${token}`;
    await ctx.enqueue(contracts[0], child, { idempotencyKey });
    await ctx.enqueue(contracts[0], { ...child, ms: 6 }, { idempotencyKey });
    return true;
  }
  const missing = { id: first.id.replace(/^.{8}/, "00000000"), type: "alpha" };
  await ctx.enqueue(contracts[0], child, { after: [missing] });
  return true;
}
