/** The job: download → process → upload. Each phase is stored before the next begins. */
import { defineJob, typed } from "millrace";
import { download } from "./phase-download.ts";
import { asPhase } from "./phase-handler.ts";
import { normalise } from "./phase-process.ts";
import { upload } from "./phase-upload.ts";
import type { RetryStrategy } from "./retry-strategy.ts";

export const MEDIA = "media";

/** What a caller enqueues. */
export interface Media {
  /** URL of a WAV file. */
  readonly source: string;
}

/** What all phases need: handed in once, by the queue. */
export interface MediaTools {
  readonly folder: string;
  readonly objects: string;
  readonly fetch: typeof fetch;
}

// The return type is the chain's own: it knows the result of every phase.
export function mediaPipeline(strategy: RetryStrategy) {
  return defineJob({ type: MEDIA, payload: typed<Media>(), ...strategy })
    .using<MediaTools>()
    .phase("download", asPhase(download))
    .phase("process", asPhase(normalise))
    .phase("upload", asPhase(upload));
}
