/** Answers that many callers ask for every few seconds, remembered for a moment. */

/** The answers that are remembered; the oldest goes first. */
const ANSWERS_MAX = 1_000;

export class RecentAnswers<Answer> {
  readonly #clock: { monotonic(): number };
  readonly #keptMs: number;
  readonly #answers = new Map<string, { readonly until: number; answer: Promise<Answer> }>();

  constructor(clock: { monotonic(): number }, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  /** The answer for a key: a recent one, one that is under way, or a new one. */
  async get(key: string, read: () => Promise<Answer>): Promise<Answer> {
    const now = this.#clock.monotonic();
    const known = this.#answers.get(key);
    if (known !== undefined && now < known.until) return known.answer;
    const answer = read();
    this.#answers.delete(key);
    this.#answers.set(key, { until: now + this.#keptMs, answer });
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > ANSWERS_MAX && oldest !== undefined) this.#answers.delete(oldest);
    try {
      return await answer;
    } catch (error) {
      this.#answers.delete(key);
      throw error;
    }
  }
}
