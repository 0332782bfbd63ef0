/** The maintenance duties of one worker. */
import type { Ticker } from "../ticker.ts";
import { gatekeeper } from "./gatekeeper.ts";
import { promoter, type PollTargets } from "./promoter.ts";
import { pruners, type PrunerParts } from "./pruner.ts";
import { rescuer } from "./rescuer.ts";

export class Duties {
  readonly #promoter: Ticker;
  readonly #all: readonly Ticker[];

  constructor(parts: PrunerParts, claim: PollTargets["claim"]) {
    const sweeping = pruners(parts);
    const gates = gatekeeper(parts);
    this.#promoter = promoter(parts, { claim, keepGates: () => gates.wake() });
    this.#all = [this.#promoter, gates, rescuer(parts), ...sweeping];
  }

  start(): void {
    for (const duty of this.#all) duty.wake();
  }

  /** Scheduled jobs may be due. */
  wakePromoter(): void {
    this.#promoter.wake();
  }

  /** Resolves when the ticks under way have ended. */
  async stop(): Promise<void> {
    await Promise.all(this.#all.map((duty) => duty.stop()));
  }
}
