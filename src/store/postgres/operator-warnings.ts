/** What an operator should know: told once, also to a listener that comes later. */
export class OperatorWarnings {
  readonly #told = new Set<string>();
  #listener: ((warning: string) => void) | null = null;

  report(warning: string): void {
    if (this.#told.has(warning)) return;
    this.#told.add(warning);
    this.#listener?.(warning);
  }

  listen(listener: (warning: string) => void): void {
    this.#listener = listener;
    for (const warning of this.#told) listener(warning);
  }
}
