/** What an operator should know: told once, also to a listener that comes later. */
export class Notices {
  readonly #told = new Set<string>();
  #listener: ((notice: string) => void) | null = null;

  tell(notice: string): void {
    if (this.#told.has(notice)) return;
    this.#told.add(notice);
    this.#listener?.(notice);
  }

  listen(listener: (notice: string) => void): void {
    this.#listener = listener;
    for (const notice of this.#told) listener(notice);
  }
}
