/** What the embedded store is made with. */
import type { Clock, Dice } from "../../../core/clock.ts";
import type { ThreadEntry } from "../../types/jobs-and-runs.ts";
import type { MigrateOptions } from "./migrate.ts";

export interface StoreOptions extends MigrateOptions {
  /** Whether writes of other processes are noticed by a watch on the log, besides the poll. */
  readonly watchesLog: boolean;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly thread: ThreadEntry | null;
}
