/** What producers ask for: a mix of jobs that changes all the time. */
import type { Preset } from "millrace";
import type { Dice } from "../../src/core/clock.ts";
import type { End, Task } from "../show/lib/fleet/task.ts";

/** What a producer process is told. Files: what it was promised, asked for, cancelled, refused. */
export interface ProducerSettings {
  readonly url: string;
  readonly preset: Preset;
  readonly acks: string;
  readonly asked: string;
  readonly cancels: string;
  readonly refused: string;
  /** Its tasks are called after it: no two producers may have the same. */
  readonly name: string;
  readonly seed: number;
  readonly restMs: number;
}

export interface Wish {
  readonly task: Task;
  readonly delayMs: number;
  readonly isKeyed: boolean;
  /** It is cancelled soon after. */
  readonly isUnwanted: boolean;
}

const CALL_WISHES_MAX = 6;
/** After so many calls another mix begins. */
const MIX_CALLS = 15;
const QUICK_MS_MAX = 10;
/** Slow ones are what a fault finds in the middle. */
const SLOW_MS_MAX = 800;
const SLOW_SHARE = 0.5;
const DELAY_MS_MAX = 400;

const TRAITS = [
  "failure",
  "retry",
  "parent",
  "keyed",
  "delayed",
  "unwanted",
  "locked",
  "after",
  "chatty",
  "pipeline",
] as const;
type Trait = (typeof TRAITS)[number];

/** Names that jobs and units have to themselves. */
const LOCKS = 4;
const AFTER_MAX = 3;
const LINES_MAX = 20;
/** More than a log keeps. */
const LINES_FLOOD = 1_100;
const UNITS_MAX = 6;
const UNIT_MS_MAX = 150;

/** `recent`: jobs that others may run after. */
export function makeWishes(
  name: string,
  dice: Dice,
): { next(recent: readonly string[]): readonly Wish[] } {
  let calls = 0;
  let mix: readonly Trait[] = [];
  const make = (place: number, recent: readonly string[]): Wish => {
    const trait = mix[Math.floor(dice.random() * (mix.length + 2))];
    const plain = wish(`${name}.${calls}.${place}`, trait, dice);
    return { ...plain, task: { ...plain.task, ...moreOf(trait, recent, dice) } };
  };
  return {
    next(recent) {
      if (calls % MIX_CALLS === 0) mix = TRAITS.filter(() => dice.random() < 0.6);
      calls += 1;
      return Array.from({ length: 1 + Math.floor(dice.random() * CALL_WISHES_MAX) }, (_, place) =>
        make(place, recent),
      );
    },
  };
}

/** Without a trait it is plain. Some of those with one have a key as well. */
function wish(name: string, trait: Trait | undefined, dice: Dice): Wish {
  const ms = dice.random() * (dice.random() < SLOW_SHARE ? SLOW_MS_MAX : QUICK_MS_MAX);
  const heedsAbort = dice.random() < 0.5;
  return {
    task: { name, act: { kind: "wait", ms, heedsAbort }, end: endOf(trait) },
    delayMs: trait === "delayed" ? 50 + Math.floor(dice.random() * DELAY_MS_MAX) : 0,
    isKeyed: trait === "keyed" || (trait !== undefined && dice.random() < 0.3),
    isUnwanted: trait === "unwanted",
  };
}

/** What a task with such a trait has beside what all have. */
function moreOf(
  trait: Trait | undefined,
  recent: readonly string[],
  dice: Dice,
): Omit<Task, "name" | "act" | "end"> {
  const upTo = (most: number): number => Math.floor(dice.random() * most);
  const lock = (): string => `lock ${upTo(LOCKS)}`;
  if (trait === "locked") return { lock: lock() };
  if (trait === "chatty") return { lines: dice.random() < 0.1 ? LINES_FLOOD : 1 + upTo(LINES_MAX) };
  if (trait === "after" && recent.length > 0) {
    const after = Array.from({ length: 1 + upTo(AFTER_MAX) }, () => recent[upTo(recent.length)]!);
    return { after: [...new Set(after)], onFailed: dice.random() < 0.5 ? "run" : "cancel" };
  }
  if (trait !== "pipeline") return {};
  const units = Array.from({ length: 1 + upTo(UNITS_MAX) }, (_, key) => {
    return { key: `unit ${key}`, ms: dice.random() * UNIT_MS_MAX, lock: lock() };
  });
  return { units };
}

function endOf(trait: Trait | undefined): End {
  return trait === "failure" || trait === "retry" || trait === "parent" ? trait : "well";
}
