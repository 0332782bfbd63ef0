/** The process that is killed: a supervisor, its channel tasks, and a provider that keeps a log. */
import { typed, type NamedFunctions } from "millrace";
import { defineChannel, defineSupervisor } from "millrace/channels";
import type { AppendLog } from "../fleet/ledger.ts";

/** The attempt that the provider accepts. */
export const ACCEPTED = 3;
export const PROCESS_KEY = "the process";

/** What the provider has seen, and what handlers have recorded. */
export interface ChannelLine {
  readonly what: "called" | "succeeded" | "failed" | "over";
  readonly attempt: number;
}

/** Where a process dies that no verb of the store marks. */
export const PLACES = [
  "before the provider",
  "after the provider",
  "before a fact",
  "after a fact",
] as const;
export type Place = (typeof PLACES)[number];

export interface ChannelSettings {
  readonly url: string;
  readonly log: string;
  readonly leaseMs: number;
  /** The process kills itself when it comes by this place for the n-th time. */
  readonly death?: { readonly place: Place; readonly pass: number };
  /** Where to write how often each verb was called. */
  readonly calls?: string;
}

interface Scene {
  readonly log: AppendLog;
  /** Called at each of these places. */
  readonly pass: (place: Place) => void;
}

/** The jobs and the functions. A program that only looks needs no scene. */
export function channelScene({ log, pass }: Scene) {
  const write = (line: ChannelLine): void => log.append(JSON.stringify(line));
  const fact =
    (what: ChannelLine["what"]) =>
    ({ original_payload: { attempt } }: { original_payload: { attempt: number } }) => {
      pass("before a fact");
      write({ what, attempt });
      pass("after a fact");
      return { status: "succeeded" };
    };
  const functions: NamedFunctions = {
    "comms.message": ({ attempt }) => ({ success: true, payload: { attempt } }),
    "comms.sent": fact("succeeded"),
    "comms.failed": fact("failed"),
  };
  const channel = defineChannel({
    type: "message",
    message: typed<{ attempt: number }>(),
    send: ({ attempt }) => {
      pass("before the provider");
      write({ what: "called", attempt });
      pass("after the provider");
      if (attempt < ACCEPTED) throw new Error(`attempt ${attempt} is refused`);
      return { id: attempt };
    },
  });
  const supervisor = defineSupervisor({
    type: "supervisor",
    task: typed<{ user: number }>(),
    maxAttempts: ACCEPTED,
    backoff: { kind: "exponential", base: 100 },
    attempt: ({ user }, attempt) =>
      channel.of({
        user,
        attempt,
        before_handler: "comms.message",
        success_handler: "comms.sent",
        error_handler: "comms.failed",
      }),
    onSuccess: (_, { attempts }) => write({ what: "over", attempt: attempts }),
  });
  return { channel, supervisor, functions };
}
