/** Where scans for expired jobs continue: one cursor per purpose, state and type. */
import type { FinalState } from "../../core/job.ts";
import type { FinishPosition } from "../types/records.ts";
import { START } from "./finish-order.ts";

/**
 * `reached`: no expired job was left before this position. `rescanned`: how far the rescan of the
 * range before `reached` has come.
 */
export interface ScanCursor {
  reached: FinishPosition;
  rescanned: FinishPosition;
}

export class ScanCursors {
  readonly #known = new Map<string, ScanCursor>();

  of(purpose: string, state: FinalState, type: number | null): ScanCursor {
    const name = `${purpose}.${state}.${type}`;
    const cursor = this.#known.get(name) ?? { reached: START, rescanned: START };
    this.#known.set(name, cursor);
    return cursor;
  }
}
