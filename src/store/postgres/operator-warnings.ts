/** Warnings for the operator. Each is reported once, also to a listener that is added later. */
export class OperatorWarnings {
  readonly #reported = new Set<string>();
  #listener: ((warning: string) => void) | null = null;

  report(warning: string): void {
    if (this.#reported.has(warning)) return;
    this.#reported.add(warning);
    this.#listener?.(warning);
  }

  listen(listener: (warning: string) => void): void {
    this.#listener = listener;
    for (const warning of this.#reported) listener(warning);
  }
}
