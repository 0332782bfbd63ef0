import type { Fault } from "../../core/outcome.ts";

/** Thrown by `ctx.snooze` to unwind the handler; `Execution` recognizes the class. */
export class Snooze extends Error {
  readonly delayMs: number;
  /** Why a closed service has sent the job back. Null: the handler wants to wait. */
  readonly fault: Fault | null;

  constructor(delayMs: number, fault: Fault | null = null) {
    super("the job was snoozed");
    this.name = "Snooze";
    this.delayMs = delayMs;
    this.fault = fault;
  }
}
