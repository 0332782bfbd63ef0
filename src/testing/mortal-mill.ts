/** A Millrace whose workers can crash. */
import { Client } from "../client/client.ts";
import type { Duration } from "../core/duration.ts";
import { defaults } from "../core/presets.ts";
import { settle } from "../core/settle.ts";
import type { Millrace } from "../api/client.ts";
import type { AnyJob, Worker, WorkOptions } from "../api/worker.ts";
import { settingsOf } from "../runtime/settings.ts";
import { HostProcess } from "../runtime/crashes/host-process.ts";
import { JobWorker } from "../runtime/worker.ts";
import type { JobStore } from "../store/store.ts";
import { mortalStore, type CrashPoint, type Mortal } from "./mortal-store.ts";

/** In leases: after this time a dead worker's jobs are returned to the queue. */
const RESCUE_LEASES = 1.5;
const BATCH = 500;

export class MortalMill extends Client implements Millrace {
  readonly #workers = new Map<JobWorker, Mortal>();
  #crashPoint: CrashPoint | null = null;

  /** The next worker that reaches this point crashes. */
  crashAt(point: CrashPoint): void {
    this.#crashPoint = point;
  }

  work<const J extends readonly AnyJob[]>(options: WorkOptions<J>): Worker {
    return this.start(options).worker;
  }

  start(options: WorkOptions<readonly AnyJob[]>): { worker: JobWorker; mortal: Mortal } {
    const settings = settingsOf({ preset: this.parts.preset, signals: false, ...options });
    this.learn(settings.definitions.values(), settings.preset.retry);
    this.learnRetention(settings.retention);
    const diesAt = (point: CrashPoint): boolean => this.#dies(point, settings.leaseMs);
    const { clock, dice, logger } = this.parts;
    const mortal = mortalStore(this.parts.store, diesAt);
    const worker = new JobWorker({
      store: mortal.store,
      clock,
      dice,
      logger,
      jobDefaults: this.jobDefaults,
      settings,
      version: "test",
      process: new HostProcess(this.jobDefaults.newId()),
    });
    this.#workers.set(worker, mortal);
    return { worker, mortal };
  }

  /** Stops the workers that have not crashed, then closes the store. */
  override async close(grace?: Duration): Promise<void> {
    const living = [...this.#workers].filter(([, { isDead }]) => !isDead);
    const options = grace === undefined ? {} : { grace };
    const stops = await Promise.allSettled(living.map(([worker]) => worker.stop(options)));
    await super.close();
    const failed = stops.find((stop) => stop.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  #dies(point: CrashPoint, leaseMs: number): boolean {
    if (this.#crashPoint !== point) return false;
    this.#crashPoint = null;
    const { store, clock } = this.parts;
    clock.after(leaseMs * RESCUE_LEASES, () => void rescueSilent(store));
    return true;
  }
}

/** Rescues the jobs of dead workers, as other workers would. */
async function rescueSilent(store: JobStore): Promise<void> {
  for (const { id: worker, beats } of await store.silent(BATCH)) {
    await store.rescue({
      worker,
      beats,
      limit: BATCH,
      decide: (job, isAlone) =>
        settle(job, { type: "crashed", isAlone }, { policy: defaults.retry, random: 0.5 }),
    });
  }
}
