/** What commands use of a mill, which may be a store or a server. */
import type { Millrace } from "../api/client.ts";

export type OperatorMill = Pick<
  Millrace,
  | "enqueue"
  | "wait"
  | "on"
  | "jobs"
  | "deadLetters"
  | "workers"
  | "tokens"
  | "pause"
  | "resume"
  | "pauses"
>;
