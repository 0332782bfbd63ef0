/**
 * Strikes the script at one of its calls after the other: the process is killed, or the call fails.
 * Then judges what is left behind.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../e2e/children.ts";
import { judge } from "./history.ts";
import type { History } from "./history.ts";
import { isCrashPoint, playUnderStrace } from "./recording.ts";
import type { Call, Ending, Play } from "./recording.ts";

/** `SIGKILL`: just before the call. Otherwise the call fails and does nothing. */
export type Fault = "SIGKILL" | "EIO" | "ENOSPC";

/** The n-th call of this name about this file, as one thread counts them. */
export interface CallPoint {
  readonly call: string;
  /** Below the stage. */
  readonly path: string;
  readonly n: number;
  /** Steps acknowledged until then. */
  readonly acked: number;
}

type Manner = Pick<Play, "temper" | "weakness">;

export interface Strike {
  readonly point: CallPoint;
  /** `survived`: the script came to its end all the same. */
  readonly end: "killed" | "refused" | "survived";
  readonly violation: string | null;
}

/** Every call at which the script can be struck, in the order in which they come. */
export function callPoints(calls: readonly Call[]): readonly CallPoint[] {
  const counts = new Map<string, number>();
  const points = new Map<string, CallPoint>();
  let acked = 0;
  for (const { thread, name: call, path } of calls.filter(isCrashPoint)) {
    const counted = `${thread} ${call} ${path}`;
    const n = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, n);
    // Where a second thread has made as many calls as the first, the first is struck.
    const known = `${call} ${path} ${n}`;
    if (!points.has(known)) points.set(known, { call, path, n, acked });
    if (path === "acks") acked += 1;
  }
  return [...points.values()];
}

/** Where a fault makes sense: a process dies anywhere, a disk fails in writes and syncs. */
export function pointsFor(
  fault: Fault,
  points: readonly CallPoint[],
  every: number,
): readonly CallPoint[] {
  const calls = FAILING[fault];
  return points
    .filter(({ call }) => calls === "all" || calls.includes(call))
    .filter((_, index) => index % every === 0);
}

const FAILING: Readonly<Record<Fault, "all" | readonly string[]>> = {
  SIGKILL: "all",
  EIO: ["pwrite64", "ftruncate", "fsync", "fdatasync"],
  ENOSPC: ["pwrite64", "ftruncate"],
};

/** Strikes at all points, two at a time. */
export async function strikeAll(
  points: readonly CallPoint[],
  fault: Fault,
  history: History,
  { tell, ...manner }: Manner & { readonly tell?: (done: number) => void } = {},
): Promise<readonly Strike[]> {
  const waiting = [...points];
  const strikes: Strike[] = [];
  const next = async (): Promise<void> => {
    for (let point = waiting.shift(); point !== undefined; point = waiting.shift()) {
      strikes.push(await strikeAt(point, fault, history, manner));
      tell?.(strikes.length);
    }
  };
  await Promise.all([next(), next()]);
  return strikes;
}

async function strikeAt(
  point: CallPoint,
  fault: Fault,
  history: History,
  manner: Manner,
): Promise<Strike> {
  using stage = temporaryFolder();
  const blow = fault === "SIGKILL" ? "signal=SIGKILL" : `error=${fault}`;
  const about = ["-P", join(stage.path, point.path), "-e", `trace=${point.call}`];
  const options = [
    "-o",
    "/dev/null",
    ...about,
    "-e",
    `inject=${point.call}:${blow}:when=${point.n}`,
  ];
  const { script } = history;
  const ending = await playUnderStrace(options, { ...manner, script, stage: stage.path });
  const end = endOf(ending);
  if (end === null) {
    const [error = ending.code] = /^\w*Error.*$/m.exec(ending.complaints) ?? [];
    return { point, end: "refused", violation: `not an error of the store: ${error}` };
  }

  // A blow that misses proves nothing.
  if (fault === "SIGKILL" && end !== "killed") return { point, end, violation: "it lives" };
  const acks = join(stage.path, "acks");
  const acked = existsSync(acks) ? readFileSync(acks, "utf8").split("\n").length - 1 : 0;
  const violation = await judge(join(stage.path, "database"), acked, "process", history);
  return { point, end, violation };
}

/** Null: it ended in a way in which the store never does. */
function endOf({ code, complaints }: Ending): Strike["end"] | null {
  if (code === 0) return "survived";
  if (code === "SIGKILL") return "killed";
  return /code: 'STORE_(FAILED|FULL)'/.test(complaints) ? "refused" : null;
}
