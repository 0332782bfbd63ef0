/**
 * Fills the slots of a worker: at every wake-up, when a slot becomes free, and after a rest.
 *
 * The pumps claim jobs for the lanes that have free slots. The marker marks prefetched jobs as
 * started, also while a claim is under way.
 */
import type { Clock } from "../../core/clock.ts";
import { claimPlan, GENERAL_LANE } from "../../core/lanes.ts";
import type { Outcome } from "../../core/outcome.ts";
import type { Logger } from "../../api/context.ts";
import { soon } from "../../lib/system.ts";
import type { ClaimedJob, Lease, LoneClaim } from "../../store/types/jobs-and-runs.ts";
import { jittered, REST_MS } from "../maintenance/duty.ts";
import type { WorkerRuns } from "../run/worker-runs.ts";
import type { WorkerSettings } from "../settings.ts";
import { Ticker } from "../ticker.ts";
import { Lane, type LaneParts } from "./lane.ts";
import { LaneGroup } from "./lane-group.ts";
import type { Permits } from "./permits.ts";

export interface ClaimLoopParts extends Pick<
  LaneParts,
  "request" | "process" | "onLost" | "isFair" | "onSlotFree"
> {
  readonly permits: Permits;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly settings: WorkerSettings;
  readonly runs: WorkerRuns;
  /** False while no job may be claimed or started. */
  readonly mayClaim: () => boolean;
  /** After a pass over the lanes: whether a job waits that must run alone. */
  readonly report: (awaitsAlone: boolean) => void;
}

export class ClaimLoop {
  readonly lanes: LaneGroup;
  readonly #parts: ClaimLoopParts;
  /** Each pump fills all lanes. There is more than one if the store overlaps claims. */
  readonly #pumps: readonly Ticker[];
  readonly #marker: Ticker;
  #isPumpScheduled = false;
  /** A claim of this pass has found a job that must run alone. */
  #awaitsAlone = false;

  constructor(parts: ClaimLoopParts) {
    this.#parts = parts;
    const { permits, settings } = parts;
    this.lanes = new LaneGroup(
      Object.entries(settings.lanes).map(([name, slots]) => this.#makeLane(name, slots)),
    );
    this.#pumps = Array.from({ length: permits.store.claimsAtOnce }, () =>
      this.#makeTicker(() => this.#fillLanes(), "cannot claim jobs; trying again"),
    );
    const cannotStart = "cannot start prefetched jobs; trying again";
    this.#marker = this.#makeTicker(() => this.#markAhead(), cannotStart);
  }

  /** A job, perhaps of a known lane, may have become claimable: lanes that are dry claim again. */
  hint(lane?: string): void {
    this.lanes.hint(lane);
    this.wake();
  }

  /** Jobs may be claimed and started again. */
  wake(): void {
    for (const pump of this.#pumps) pump.wake();
    this.#wakeMarker();
  }

  /** Resolves when the claims and marks under way have ended. */
  async passEnded(): Promise<void> {
    await Promise.all([this.#marker, ...this.#pumps].map((ticker) => ticker.tickEnded()));
  }

  /** The same for good. */
  async stop(): Promise<void> {
    await Promise.all([...this.#pumps, this.#marker].map((ticker) => ticker.stop()));
  }

  /** Starts a job that no lane has claimed, in a slot of its lane or of the general lane. */
  start({ lease, job }: LoneClaim): Promise<Outcome | null> {
    const lane = this.lanes.get(job.lane) ?? this.lanes.get(GENERAL_LANE);
    if (lane === undefined) throw new Error(`claimed a job of the unknown lane ${job.lane}`);
    lane.takeSlot();
    return this.#startRun(lane, lease, job);
  }

  /** Starts a job in a slot of a lane that was taken before. */
  startIn(lane: Lane, { lease, job }: Pick<LoneClaim, "lease" | "job">): void {
    void this.#startRun(lane, lease, job);
  }

  /** A slot that was taken for such a job is free again. */
  giveBack(lane: Lane): void {
    lane.freeSlot();
    this.#wakeFor(lane);
  }

  #makeLane(name: string, slots: number): Lane {
    const { permits, clock, settings, request, process, runs, mayClaim, onLost } = this.#parts;
    const { isFair, onSlotFree } = this.#parts;
    const { batch, pollMs, preset, laneOptions } = settings;
    return new Lane({
      store: permits.store,
      clock,
      name,
      slots,
      batch,
      isFair,
      ageingMs: laneOptions[name]?.ageingMs ?? null,
      // No poll comes sooner.
      dryMs: jittered(pollMs, 0),
      request,
      process,
      crashCap: preset.retry.crashCap,
      start: (lane, lease, job) => void this.#startRun(lane, lease, job),
      onSlotFree,
      settleUnbegun: (lease, job, outcome) => {
        permits.jobEnded(job);
        runs.settleUnbegun(lease, job, outcome);
      },
      onDropped: (job) => permits.jobEnded(job),
      onLost,
      onClaimed: (awaitsAlone) => void (this.#awaitsAlone ||= awaitsAlone),
      isOpen: mayClaim,
      hasRoom: () => runs.hasRoom,
    });
  }

  #makeTicker(tick: () => Promise<number>, complaint: string): Ticker {
    const { clock, logger, settings } = this.#parts;
    const failed = (error: unknown): void => logger.error(complaint, { error });
    return new Ticker({ clock, retryMs: settings.pollMs, tick, failed });
  }

  async #markAhead(): Promise<number> {
    if (await this.lanes.mark()) this.#wakeSoon();
    return this.#parts.settings.pollMs;
  }

  #wakeMarker(): void {
    if (this.lanes.wantsMarks) this.#marker.wake();
  }

  /** Lanes take turns, so that a backlog of short jobs in one does not block the others. */
  async #fillLanes(): Promise<number> {
    const lanes = this.lanes.all;
    const asked = new Set<string>();
    let isComplete = true;
    for (let isMore = true; isMore;) {
      isMore = false;
      isComplete &&= lanes.every(({ load: { lane, slots, running }, isDry }) => {
        return slots === 0 || (slots > running && (!isDry || asked.has(lane)));
      });
      const wet = lanes.filter(({ isDry }) => !isDry).map(({ load }) => load);
      for (const claim of claimPlan(wet)) {
        if (!this.#parts.mayClaim()) continue;
        asked.add(claim.lane);
        const lane = this.lanes.get(claim.lane);
        const before = lane?.claims;
        if ((await lane?.fill(claim)) === true) isMore = true;
        // Another pump claims for the lane, or its prefetched jobs come first.
        if (lane?.claims === before) isComplete = false;
        this.#wakeMarker();
      }
    }
    // A pass that did not ask for all lanes does not know that no job waits.
    if (this.#awaitsAlone || isComplete) this.#parts.report(this.#awaitsAlone);
    this.#awaitsAlone = false;
    return REST_MS;
  }

  /** Resolves when the run has ended and left its slot. Null: the type has no handler here. */
  #startRun(lane: Lane, lease: Lease, job: ClaimedJob): Promise<Outcome | null> {
    return this.#parts.runs.launch(lease, job, (ms) => this.#slotFreed(lane, job, ms));
  }

  #slotFreed(lane: Lane, job: ClaimedJob, ms: number): void {
    this.#parts.permits.jobEnded(job);
    lane.runEnded(job, ms);
    this.#wakeFor(lane);
  }

  /** A slot of this lane may be free. */
  #wakeFor(lane: Lane): void {
    if (!lane.isDry && lane.free > 0) this.#wakeSoon();
    else this.#wakeMarker();
  }

  /** One wake-up for all runs that end in the same turn of the event loop. */
  #wakeSoon(): void {
    if (this.#isPumpScheduled) return;
    this.#isPumpScheduled = true;
    soon(() => {
      this.#isPumpScheduled = false;
      this.wake();
    });
  }
}
