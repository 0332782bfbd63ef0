/**
 * Claims the probes of services whose breaker is due, one call at a time, in free slots.
 *
 * A lane without a free slot owes one to the probe: the next slot of the lane that becomes free is
 * kept for it, before the lane starts or claims another job. Otherwise a worker with a backlog of
 * other jobs would try no service before the end of the backlog. A lane owes one slot per poll at
 * most, so a probe that finds no job costs one call.
 */
import type { Clock } from "../../core/clock.ts";
import { GENERAL_LANE } from "../../core/lanes.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { LoneClaimRequest } from "../../store/types/jobs-and-runs.ts";
import type { ProbeClaim } from "../../store/types/services.ts";
import type { Lane } from "../lanes/lane.ts";

export interface ProbesParts {
  readonly store: Pick<JobStore, "claimProbe">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly logger: Logger;
  readonly pollMs: number;
  /** The types of the worker that use services. */
  readonly request: Omit<LoneClaimRequest, "lanes">;
  readonly lanes: () => readonly Lane[];
  /** False while no job may be claimed. */
  readonly isOpen: () => boolean;
  /** Starts the probe in a slot that was taken for it. */
  readonly start: (lane: Lane, claim: ProbeClaim) => void;
  /** A slot that was taken for a probe is free again. */
  readonly giveBack: (lane: Lane) => void;
}

export class Probes {
  readonly #parts: ProbesParts;
  #current: Promise<void> | null = null;
  /** Lanes whose next free slot is for a probe, and when each began to owe one last. */
  readonly #owing = new Set<Lane>();
  readonly #owingSince = new Map<Lane, number>();

  constructor(parts: ProbesParts) {
    this.#parts = parts;
  }

  /** The probe of a service is due. */
  look(): void {
    if (!this.#mayTake()) return;
    for (const lane of this.#parts.lanes()) if (lane.free <= 0) this.#owe(lane);
    this.#ask();
  }

  /** A slot of a lane is free, and nothing has taken it yet. */
  slotFreed(lane: Lane): void {
    if (this.#current === null && this.#owing.has(lane) && this.#mayTake()) this.#ask();
  }

  /** Resolves when the claim under way has ended. */
  async ended(): Promise<void> {
    await this.#current;
  }

  #mayTake(): boolean {
    const { request, isOpen } = this.#parts;
    return request.types?.length !== 0 && isOpen();
  }

  #owe(lane: Lane): void {
    const { clock, pollMs } = this.#parts;
    const now = clock.monotonic();
    // Wake-ups between two polls come here as well.
    if (now - (this.#owingSince.get(lane) ?? -Infinity) < pollMs / 2) return;
    this.#owing.add(lane);
    this.#owingSince.set(lane, now);
  }

  #ask(): void {
    this.#current ??= this.#take().finally(() => {
      this.#current = null;
    });
  }

  /** Each lane that might get the job keeps a slot free for it. */
  async #take(): Promise<void> {
    const { store, logger, request, lanes, start, giveBack } = this.#parts;
    const open = lanes().filter(({ free }) => free > 0);
    if (open.length === 0) return;
    for (const lane of open) {
      lane.takeSlot();
      this.#owing.delete(lane);
    }
    const names = open.map(({ name }) => name);
    let used: Lane | undefined;
    try {
      const wanted = names.includes(GENERAL_LANE) ? ("any" as const) : names;
      const claim = await store.claimProbe({ ...request, lanes: wanted });
      if (claim === null) return;
      this.#owing.clear();
      const { job, services } = claim;
      used =
        open.find(({ name }) => name === job.lane) ??
        open.find(({ name }) => name === GENERAL_LANE);
      if (used === undefined) throw new Error(`claimed a job of the unknown lane ${job.lane}`);
      for (const service of services) {
        logger.info("breaker half-open", { service, job_id: job.id, type: job.type });
      }
      start(used, claim);
    } catch (error) {
      logger.error("cannot claim the probe of a service; trying again", { error });
    } finally {
      for (const lane of open) if (lane !== used) giveBack(lane);
    }
  }
}
