/** Chance that repeats itself: the same seed rolls the same numbers on every machine. */
import type { Dice } from "../../src/core/clock.ts";

/** Makes dice from a seed: a Weyl sequence, each step scrambled by two multiplications. */
export function seededDice(seed: number): Dice {
  let state = seed >>> 0;

  function roll(): number {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  }

  return {
    random: () => roll() / 2 ** 32,
    bytes: (count) => Uint8Array.from({ length: count }, () => roll() >>> 24),
  };
}
