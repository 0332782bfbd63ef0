/** The job of every campaign: it leaves its marks in the ledger, and misbehaves as it is told. */
import { defineJob, typed } from "millrace";

export type Effect =
  /** Waits without blocking. `heedsAbort`: leaves early when it is told to stop. */
  | { readonly act: "sleep"; readonly ms: number; readonly heedsAbort: boolean }
  /** Blocks the event loop all the while. */
  | { readonly act: "spin"; readonly ms: number }
  /** Takes its worker with it. */
  | { readonly act: "die" };

/** No limit on the run, which is the campaign's to choose; everything else is the default. */
export const effect = defineJob({ type: "effect", payload: typed<Effect>(), timeout: false });
