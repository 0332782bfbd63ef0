/** The numbers of an action, one after the other. */
export class Draw {
  readonly #dice: readonly number[];
  #next = 0;

  constructor(dice: readonly number[]) {
    this.#dice = dice;
  }

  upTo(max: number): number {
    const value = this.#dice[this.#next % this.#dice.length] ?? 0;
    this.#next += 1;
    return Math.floor(value * max);
  }

  one<Value>(values: readonly Value[]): Value | undefined {
    return values[this.upTo(values.length)];
  }
}
