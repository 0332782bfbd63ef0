/**
 * Failpoints: named places at which a process can be told to die, stop, fail or be slow, so that
 * what must survive such a moment can be shown. One stands before and one after every verb of the
 * port. None exists unless somebody asks for it: then, and only then, the store is wrapped.
 *
 *     MILLRACE_FAILPOINTS="after:claim=kill@3,before:settle=delay(200)@every 5"
 */
import { wait, type Clock } from "../core/clock.ts";
import { MillraceError } from "../core/errors.ts";
import { shown } from "../core/text.ts";
import { systemClock } from "../lib/system.ts";
import type { JobStore } from "./store.ts";
import { VERBS, type Verb } from "./verbs.ts";
import { wrapStore, type Around } from "./wrap-store.ts";

/** Longer than any test waits. */
const DELAY_MS_MAX = 3_600_000;

/** What only the heartbeat does. Its thread has a store of its own, which is not wrapped. */
const BEAT_VERBS: readonly string[] = ["renew", "overdue"] satisfies Verb[];

/** Every name that can be armed. */
export const FAILPOINTS: readonly string[] = VERBS.flatMap((verb) => [
  `before:${verb}`,
  `after:${verb}`,
]);

type Action =
  | { readonly kind: "kill" | "stop" | "error" }
  | { readonly kind: "delay"; readonly ms: number };

/** One failpoint that is armed. */
export interface Failpoint {
  readonly name: string;
  readonly action: Action;
  /** At the n-th pass, or at every n-th. */
  readonly at: number;
  readonly isRepeated: boolean;
}

/** What a failpoint does to the process. Tests bring their own. */
export interface FailpointPorts {
  readonly clock: Pick<Clock, "after">;
  readonly signal: (signal: "SIGKILL" | "SIGSTOP") => void;
}

const SYSTEM: FailpointPorts = {
  clock: systemClock,
  signal: (signal) => void process.kill(process.pid, signal),
};

/** The same store with failpoints before and after its verbs. */
export function withFailpoints(
  store: JobStore,
  text: string,
  ports: FailpointPorts = SYSTEM,
): JobStore {
  const armed = parseFailpoints(text).map((point) => new Armed(point, ports));
  const isBeatArmed = armed.some(({ name }) => BEAT_VERBS.includes(verbOf(name)));
  return wrapStore(store, (verb) => around(verb, armed), {
    onWarning: warningOnce(store, armed),
    // Without its thread the heartbeat beats on the loop, and through this store.
    ...(isBeatArmed ? { thread: null } : {}),
  });
}

/** Tells the first who listens; the store's own warnings go to everybody. */
function warningOnce(store: JobStore, armed: readonly Armed[]): NonNullable<JobStore["onWarning"]> {
  let isTold = false;
  return (listener) => {
    if (!isTold) listener(`failpoints are armed: ${armed.map(({ text }) => text).join(", ")}`);
    isTold = true;
    store.onWarning?.(listener);
  };
}

function around(verb: Verb, armed: readonly Armed[]): Around | null {
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

/** A failpoint that counts who passes. */
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
    if (isDue) await this.#strike(action);
  }

  async #strike(action: Action): Promise<void> {
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
        throw new MillraceError("STORE_FAILED", `${this.text} has struck: ${this.#whatIs()}`);
    }
  }

  #whatIs(): string {
    return this.name.startsWith("before:")
      ? "nothing was changed"
      : "what was asked has been done, and the answer is withheld";
  }
}

/** Reads what stands in `MILLRACE_FAILPOINTS`. */
export function parseFailpoints(text: string): readonly Failpoint[] {
  return text.split(",").map((part) => parseOne(part.trim()));
}

const FORM = "such as after:claim=kill@3 or before:settle=delay(200)@every 5";
const ACTIONS = "kill, stop, error and delay(MS)";

function parseOne(part: string): Failpoint {
  const [, name, deed, every, nth] = /^([^=]*)=([^@]*)(?:@(every +)?(.*))?$/.exec(part) ?? [];
  if (name === undefined || deed === undefined) {
    throw invalid(`${shown(part)} must be a name, an action and perhaps an occurrence, ${FORM}`);
  }
  if (!FAILPOINTS.includes(name)) {
    throw invalid(`there is no failpoint ${shown(name)}; there are ${FAILPOINTS.join(", ")}`);
  }
  const at = nth === undefined ? 1 : wholeNumber(nth);
  if (at === null || at < 1) {
    throw invalid(`@${every ?? ""}${nth} in ${shown(part)} must be @N or @every N, N from 1 on`);
  }
  return { name, action: actionOf(deed, part), at, isRepeated: every !== undefined };
}

function actionOf(deed: string, part: string): Action {
  if (deed === "kill" || deed === "stop" || deed === "error") return { kind: deed };
  const ms = wholeNumber(/^delay\((.*)\)$/.exec(deed)?.[1] ?? "");
  if (ms !== null && ms <= DELAY_MS_MAX) return { kind: "delay", ms };
  const limit = `MS whole milliseconds up to ${DELAY_MS_MAX}`;
  throw invalid(`${shown(deed)} in ${shown(part)} is no action; there are ${ACTIONS}, ${limit}`);
}

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function textOf({ name, action, at, isRepeated }: Failpoint): string {
  const deed = action.kind === "delay" ? `delay(${action.ms})` : action.kind;
  return `${name}=${deed}@${isRepeated ? "every " : ""}${at}`;
}

function verbOf(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

function invalid(message: string): MillraceError {
  const details = { option: "MILLRACE_FAILPOINTS" };
  return new MillraceError("OPTION_INVALID", `MILLRACE_FAILPOINTS: ${message}`, { details });
}
