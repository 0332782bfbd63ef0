/**
 * What was promised of locks, of jobs that run after others, of units and of logs. Lines of the
 * ledger are in the order of their writing. Clocks play no part.
 */
import { LOG_LINES_MAX } from "../../../../src/store/types/notes.ts";
import { logLine } from "../fleet/history.ts";
import type { Finding, History, StoredJob } from "../fleet/history.ts";
import type { LedgerLine } from "../fleet/ledger.ts";
import { wasClosedBy } from "./closed-by.ts";

export function judgeFlows(history: History): Finding[] {
  const jobs = [...(history.store ?? [])];
  return [
    ...locks(history),
    ...jobs.flatMap(([id, job]) => order(id, job, history)),
    ...jobs.flatMap(([id, job]) => units(id, job, history)),
    ...jobs.flatMap(([id, job]) => logs(id, job)),
  ];
}

/** When one begins, each before it has ended, or the store had ended its run by then. */
function locks({ ledger, store }: History): Finding[] {
  const holders = new Map<string, readonly LedgerLine[]>();
  return ledger.flatMap((line): Finding[] => {
    const { lock, what, job, at } = line;
    if (lock === undefined) return [];
    const open = (holders.get(lock) ?? []).filter((holder) => !isSame(holder, line));
    holders.set(lock, open);
    if (what !== "start") return [];
    const isOver = ({ fence, job: other }: LedgerLine): boolean => {
      const stored = store?.get(other);
      return stored === undefined || wasClosedBy(stored, { fence }, at);
    };
    // A zombie that begins late holds nothing.
    if (isOver(line)) return [];
    const others = open.filter((holder) => !isOver(holder));
    holders.set(lock, [...others, line]);
    return others.map((other): Finding => {
      const why = `${nameOf(line)} began under ${lock}, which ${nameOf(other)} had`;
      return { kind: "shared", job, why };
    });
  });
}

function isSame(left: LedgerLine, right: LedgerLine): boolean {
  return nameOf(left) === nameOf(right) && left.pid === right.pid;
}

function nameOf({ job, fence, unit }: LedgerLine): string {
  return `fence ${fence} of job ${job}${unit === undefined ? "" : `, unit ${unit}`}`;
}

/** A job begins after the jobs that it was to run after, or is cancelled with one of them. */
function order(id: string, job: StoredJob, { ledger, store }: History): Finding[] {
  const { after = [], onFailed = "cancel" } = job.asked ?? {};
  if (after.length === 0) return [];
  const place = ledger.findIndex((line) => line.job === id && line.what === "start");
  const started = ledger[place];
  return after.flatMap((dependency): Finding[] => {
    const stored = store?.get(dependency);
    if (stored === undefined) return [];
    const found = (why: string): Finding[] => [{ kind: "disordered", job: id, why }];
    const isBad = stored.state === "failed" || stored.state === "cancelled";
    if (isBad && onFailed === "cancel" && job.state !== "cancelled") {
      return found(`it is ${job.state}, and ${dependency}, which it needs, is ${stored.state}`);
    }
    if (started === undefined) return [];
    const accepted = stored.attempts.find(({ outcome }) => outcome === "succeeded")?.fence;
    const end = ledger.findIndex((line) => {
      return line.job === dependency && line.fence === accepted && line.what === "end";
    });
    if (accepted !== undefined && end > place) return found(`it began before ${dependency} ended`);
    const last = stored.attempts.at(-1);
    const isLater = isBad && last !== undefined && last.finishedAt > started.at + CLOCK_MS;
    return isLater ? found(`it began before ${dependency} was ${stored.state}`) : [];
  });
}

/** Clocks are read in whole milliseconds, by two processes. */
const CLOCK_MS = 2;

/** A unit has one result, made by a run, and no run after that one begins the unit. */
function units(id: string, job: StoredJob, { ledger }: History): Finding[] {
  const asked = job.asked?.units;
  if (asked === undefined) return [];
  const lines = ledger.filter(({ job: of, unit }) => of === id && unit !== undefined);
  const rows = job.units ?? [];
  const missing = job.state === "completed" && rows.length !== asked.length;
  const found = rows.flatMap(({ key, state, fence }): Finding[] => {
    const own = lines.filter(({ unit }) => unit === key);
    const isDone = state === "completed";
    if (job.state === "completed" && !isDone) {
      return [{ kind: "repeated", job: id, why: `unit ${key} is ${state} at the end` }];
    }
    if (!isDone) return [];
    const isMade = own.some((line) => line.what === "end" && line.fence === fence);
    const again = own.find((line) => line.what === "start" && line.fence > (fence ?? 0));
    if (!isMade) return [{ kind: "repeated", job: id, why: `no run made the result of ${key}` }];
    if (again === undefined) return [];
    const why = `unit ${key} of fence ${fence} ran again under fence ${again.fence}`;
    return [{ kind: "repeated", job: id, why }];
  });
  const why = `it has ${rows.length} units instead of ${asked.length}`;
  return missing ? [{ kind: "repeated", job: id, why }, ...found] : found;
}

/** Each run numbers its lines. The log keeps the newest, and all of the run that was accepted. */
function logs(id: string, job: StoredJob): Finding[] {
  const { logs: stored, asked, attempts, state } = job;
  const wanted = asked?.lines;
  if (stored === undefined || wanted === undefined) return [];
  const found = (why: string): Finding => ({ kind: "garbled", job: id, why });
  const findings: Finding[] = [];
  const isCut = wanted > LOG_LINES_MAX;
  if (stored.length > LOG_LINES_MAX) findings.push(found(`its log has ${stored.length} lines`));
  for (const [index, { line, message }] of stored.entries()) {
    const before = stored[index - 1];
    if (before === undefined) continue;
    const [fence = 0, turn = 0] = message.split(" ").map(Number);
    const [lastFence = 0, lastTurn = 0] = before.message.split(" ").map(Number);
    const nextTurn = (last: number): number => (fence === last ? lastTurn + 1 : 1);
    // Lines beyond the bound leave gaps.
    const follows = isCut ? fence > lastFence || turn > lastTurn : turn === nextTurn(lastFence);
    const isNext = isCut ? line > before.line : line === before.line + 1;
    if (!isNext || fence < lastFence || !follows) {
      findings.push(
        found(`line ${line} "${message}" follows line ${before.line} "${before.message}"`),
      );
    }
  }
  const accepted = attempts.find(({ outcome }) => outcome === "succeeded")?.fence;
  const last = stored.at(-1)?.message;
  const isWhole = typeof accepted !== "number" || last === logLine(accepted, wanted);
  if (state === "completed" && job.asked?.units === undefined && !isWhole) {
    findings.push(found(`its last line is "${last}", not "${accepted} ${wanted}"`));
  }
  return findings;
}
