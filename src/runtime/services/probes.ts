/** Claims the probes of services whose breaker is due, one call at a time, in free slots. */
import { GENERAL_LANE } from "../../core/lanes.ts";
import type { Logger } from "../../api/context.ts";
import type { JobStore } from "../../store/store.ts";
import type { LoneClaimRequest } from "../../store/types/jobs-and-runs.ts";
import type { ProbeClaim } from "../../store/types/services.ts";
import type { Lane } from "../lanes/lane.ts";

export interface ProbesParts {
  readonly store: Pick<JobStore, "claimProbe">;
  readonly logger: Logger;
  /** The types of the worker that use services. */
  readonly request: Omit<LoneClaimRequest, "lanes">;
  readonly lanes: () => readonly Lane[];
  /** False while no job may be claimed. */
  readonly isOpen: () => boolean;
  /** Starts the probe in a slot that was taken for it. */
  readonly start: (lane: Lane, claim: ProbeClaim) => void;
}

export class Probes {
  readonly #parts: ProbesParts;
  #current: Promise<void> | null = null;

  constructor(parts: ProbesParts) {
    this.#parts = parts;
  }

  /** The probe of a service is due. */
  look(): void {
    const { request, isOpen } = this.#parts;
    if (this.#current !== null || request.types?.length === 0 || !isOpen()) return;
    this.#current = this.#take().finally(() => {
      this.#current = null;
    });
  }

  /** Resolves when the claim under way has ended. */
  async ended(): Promise<void> {
    await this.#current;
  }

  /** Each lane that might get the job keeps a slot free for it. */
  async #take(): Promise<void> {
    const { store, logger, request, lanes, start } = this.#parts;
    const open = lanes().filter(({ free }) => free > 0);
    if (open.length === 0) return;
    for (const lane of open) lane.takeSlot();
    const names = open.map(({ name }) => name);
    let used: Lane | undefined;
    try {
      const wanted = names.includes(GENERAL_LANE) ? ("any" as const) : names;
      const claim = await store.claimProbe({ ...request, lanes: wanted });
      if (claim === null) return;
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
      for (const lane of open) if (lane !== used) lane.freeSlot();
    }
  }
}
