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

type Trait = "failure" | "retry" | "parent" | "keyed" | "delayed" | "unwanted";
const TRAITS = ["failure", "retry", "parent", "keyed", "delayed", "unwanted"] as const;

export function makeWishes(name: string, dice: Dice): { next(): readonly Wish[] } {
  let calls = 0;
  let mix: readonly Trait[] = [];
  const make = (place: number): Wish => {
    const trait = mix[Math.floor(dice.random() * (mix.length + 2))];
    return wish(`${name}.${calls}.${place}`, trait, dice);
  };
  return {
    next() {
      if (calls % MIX_CALLS === 0) mix = TRAITS.filter(() => dice.random() < 0.6);
      calls += 1;
      return Array.from({ length: 1 + Math.floor(dice.random() * CALL_WISHES_MAX) }, (_, place) =>
        make(place),
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

function endOf(trait: Trait | undefined): End {
  return trait === "failure" || trait === "retry" || trait === "parent" ? trait : "well";
}
