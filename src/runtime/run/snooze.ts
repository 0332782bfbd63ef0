/** Thrown by `ctx.snooze` to unwind the handler; `Execution` recognizes the class. */
export class Snooze extends Error {
  readonly delayMs: number;

  constructor(delayMs: number) {
    super("the job was snoozed");
    this.name = "Snooze";
    this.delayMs = delayMs;
  }
}
