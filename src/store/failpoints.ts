/**
 * Failpoints: named points at which a process can be made to die, stop, fail or wait. They serve to
 * show what survives such a moment. Every verb of the port has one failpoint before and one after
 * the call. The store is wrapped only if a failpoint is armed.
 *
 *     MILLRACE_FAILPOINTS="after:claim=kill@3,before:settle=delay(200)@every 5"
 */
import { wait, type Clock } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { shown } from "../core/text.ts";
import { systemClock } from "../lib/system.ts";
import type { JobStore } from "./store.ts";
import { VERBS, type Verb } from "./verbs.ts";
import { wrapStore, type VerbWrapper } from "./wrap-store.ts";

/** Longer than any test runs. */
const DELAY_MS_MAX = 3_600_000;

/** Verbs of the heartbeat. Its thread opens a store of its own, which is not wrapped. */
const BEAT_VERBS: readonly string[] = ["renew", "overdue"] satisfies Verb[];

/** The names of all failpoints. */
export const FAILPOINTS: readonly string[] = VERBS.flatMap((verb) => [
  `before:${verb}`,
  `after:${verb}`,
]);

type Action =
  | { readonly kind: "kill" | "stop" | "error" }
  | { readonly kind: "delay"; readonly ms: number };

/** One armed failpoint. */
export interface Failpoint {
  readonly name: string;
  readonly action: Action;
  /** Triggers at the n-th pass, or at every n-th pass. */
  readonly at: number;
  readonly isRepeated: boolean;
}

/** How a failpoint reaches the process. Tests replace both. */
export interface FailpointPorts {
  readonly clock: Pick<Clock, "after">;
  readonly signal: (signal: "SIGKILL" | "SIGSTOP") => void;
}

const SYSTEM: FailpointPorts = {
  clock: systemClock,
  signal: (signal) => void process.kill(process.pid, signal),
};

/** Wraps a store so that its verbs pass the failpoints named in `text`. */
export function withFailpoints(
  store: JobStore,
  text: string,
  ports: FailpointPorts = SYSTEM,
): JobStore {
  const armed = parseFailpoints(text).map((point) => new Armed(point, ports));
  const isBeatArmed = armed.some(({ name }) => BEAT_VERBS.includes(verbOf(name)));
  return wrapStore(store, (verb) => wrapperOf(verb, armed), {
    onWarning: warnOnce(store, armed),
    // Without a thread the heartbeat runs on the event loop and uses this wrapped store.
    ...(isBeatArmed ? { thread: null } : {}),
  });
}

/** Warns the first listener only; the store's own warnings go to every listener. */
function warnOnce(store: JobStore, armed: readonly Armed[]): NonNullable<JobStore["onWarning"]> {
  let isReported = false;
  return (listener) => {
    if (!isReported) listener(`failpoints are armed: ${armed.map(({ text }) => text).join(", ")}`);
    isReported = true;
    store.onWarning?.(listener);
  };
}

function wrapperOf(verb: Verb, armed: readonly Armed[]): VerbWrapper | null {
  const before = armed.filter(({ name }) => name === `before:${verb}`);
  const after = armed.filter(({ name }) => name === `after:${verb}`);
  if (before.length + after.length === 0) return null;
  return async (call) => {
    for (const point of before) await point.pass();
    const answer = await call();
    for (const point of after) await point.pass();
    return answer;
  };
}

/** A failpoint that counts its passes. */
class Armed {
  readonly name: string;
  readonly text: string;
  readonly #point: Failpoint;
  readonly #ports: FailpointPorts;
  #passes = 0;

  constructor(point: Failpoint, ports: FailpointPorts) {
    this.name = point.name;
    this.text = textOf(point);
    this.#point = point;
    this.#ports = ports;
  }

  async pass(): Promise<void> {
    this.#passes += 1;
    const { at, isRepeated, action } = this.#point;
    const isDue = isRepeated ? this.#passes % at === 0 : this.#passes === at;
    if (isDue) await this.#trigger(action);
  }

  async #trigger(action: Action): Promise<void> {
    switch (action.kind) {
      case "kill":
        this.#ports.signal("SIGKILL");
        return;
      case "stop":
        this.#ports.signal("SIGSTOP");
        return;
      case "delay":
        return wait(this.#ports.clock, action.ms);
      case "error":
        throw new MillraceError("STORE_FAILED", `failpoint ${this.text}: ${this.#effect()}`);
    }
  }

  /** What the caller may rely on after the error. */
  #effect(): string {
    return this.name.startsWith("before:")
      ? "nothing was changed"
      : "the change was made, and the answer is withheld";
  }
}

/** Parses the value of `MILLRACE_FAILPOINTS`. */
export function parseFailpoints(text: string): readonly Failpoint[] {
  return text.split(",").map((part) => parseOne(part.trim()));
}

const FORM = "such as after:claim=kill@3 or before:settle=delay(200)@every 5";
const ACTIONS = "kill, stop, error and delay(MS)";

function parseOne(part: string): Failpoint {
  const [, name, action, every, nth] = /^([^=]*)=([^@]*)(?:@(every +)?(.*))?$/.exec(part) ?? [];
  if (name === undefined || action === undefined) {
    throw invalid(`${shown(part)} must be a name, an action and an optional occurrence, ${FORM}`);
  }
  if (!FAILPOINTS.includes(name)) {
    throw invalid(
      `there is no failpoint ${shown(name)}; the failpoints are ${FAILPOINTS.join(", ")}`,
    );
  }
  const at = nth === undefined ? 1 : wholeNumber(nth);
  if (at === null || at < 1) {
    throw invalid(
      `@${every ?? ""}${nth} in ${shown(part)} must be @N or @every N, with N at least 1`,
    );
  }
  return { name, action: actionOf(action, part), at, isRepeated: every !== undefined };
}

function actionOf(text: string, part: string): Action {
  if (text === "kill" || text === "stop" || text === "error") return { kind: text };
  const ms = wholeNumber(/^delay\((.*)\)$/.exec(text)?.[1] ?? "");
  if (ms !== null && ms <= DELAY_MS_MAX) return { kind: "delay", ms };
  const limit = `MS whole milliseconds up to ${DELAY_MS_MAX}`;
  throw invalid(
    `${shown(text)} in ${shown(part)} is not an action; the actions are ${ACTIONS}, ${limit}`,
  );
}

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function textOf({ name, action, at, isRepeated }: Failpoint): string {
  const actionText = action.kind === "delay" ? `delay(${action.ms})` : action.kind;
  return `${name}=${actionText}@${isRepeated ? "every " : ""}${at}`;
}

function verbOf(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function invalid(message: string): MillraceError {
  const details = { option: "MILLRACE_FAILPOINTS" };
  return new MillraceError("OPTION_INVALID", `MILLRACE_FAILPOINTS: ${message}`, { details });
}
