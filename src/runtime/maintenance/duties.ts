/** The maintenance duties of one worker. */
import type { Ticker } from "../ticker.ts";
import { auditSealer } from "./audit-sealer.ts";
import { gatekeeper } from "./gatekeeper.ts";
import { minuteFolder } from "./minute-folder.ts";
import { operationRunner, type OperationDutyParts } from "./operation-runner.ts";
import { promoter, type PollTargets } from "./promoter.ts";
import { pruners, type PrunerParts } from "./pruner.ts";
import { rescuer } from "./rescuer.ts";
import { Scheduler, type SchedulerParts } from "./scheduler.ts";
import { tenantRemover } from "./tenant-remover.ts";
import { TurnGiver } from "./turn-giver.ts";

export class Duties {
  readonly #promoter: Ticker;
  readonly #scheduler: Scheduler;
  /** Not started with the other duties: a worker that knows of no fair lane sends nothing. */
  readonly turns: TurnGiver;
  readonly #all: readonly Pick<Ticker, "wake" | "stop">[];

  constructor(
    parts: PrunerParts & SchedulerParts & OperationDutyParts,
    targets: Pick<PollTargets, "claim" | "probe">,
  ) {
    const sweeping = pruners(parts);
    const gates = gatekeeper(parts);
    const scheduler = new Scheduler(parts);
    this.#scheduler = scheduler;
    this.turns = new TurnGiver(parts);
    this.#promoter = promoter(parts, {
      ...targets,
      keepGates: () => gates.wake(),
      tickSchedules: () => scheduler.hint(),
      giveTurns: () => this.turns.wake(),
    });
    const sweeps = [rescuer(parts), minuteFolder(parts), auditSealer(parts)];
    const others = [...sweeps, operationRunner(parts), tenantRemover(parts), this.#scheduler];
    this.#all = [this.#promoter, gates, ...others, ...sweeping];
  }

  start(): void {
    for (const duty of this.#all) duty.wake();
  }

  /** Scheduled jobs may be due, and schedules may have changed. */
  wakePromoter(): void {
    this.#promoter.wake();
    this.#scheduler.hint();
  }

  /** Resolves when the ticks under way have ended. */
  async stop(): Promise<void> {
    await Promise.all([...this.#all, this.turns].map((duty) => duty.stop()));
  }
}
