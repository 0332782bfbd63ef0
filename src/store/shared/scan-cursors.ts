/** Where searches for expired jobs go on: one cursor for each purpose, state and type. */
import type { FinalState } from "../../core/job.ts";
import type { FinishPosition } from "../types/records.ts";
import { START } from "./finish-order.ts";

/** `reached`: nothing was left up to there. `again`: how far the second look before it has come. */
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
