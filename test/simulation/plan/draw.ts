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

  /** Two different ones, if there are two. */
  two<Value>(values: readonly Value[]): readonly [Value | undefined, Value | undefined] {
    const first = this.upTo(values.length);
    const step = 1 + this.upTo(values.length - 1);
    const isAlone = values.length < 2;
    return [values[first], isAlone ? undefined : values[(first + step) % values.length]];
  }

  one<Value>(values: readonly Value[]): Value | undefined {
    return values[this.upTo(values.length)];
  }
}
