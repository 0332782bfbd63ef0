/** How a verdict is told. */
import type { Succession, Verdict } from "./check.ts";
import { FINDINGS } from "../fleet/history.ts";
import type { Finding } from "../fleet/history.ts";

/** The counts of a verdict, under the names in which they are printed. */
export function countsOf(verdict: Verdict): Record<string, number> {
  const successions = (kind: Succession["kind"]): number =>
    verdict.successions.filter((each) => each.kind === kind).length;
  const findings = (kind: Finding["kind"]): number =>
    verdict.findings.filter((each) => each.kind === kind).length;
  return {
    acked: verdict.acked,
    starts: verdict.starts,
    ends: verdict.ends,
    takeovers: successions("takeover"),
    repeats: successions("repeat"),
    retries: successions("retry"),
    restarts: successions("restart"),
    "from living holders": verdict.successions.filter(isFromLiving).length,
    "late starts": verdict.lateStarts,
    "late ends": verdict.lateEnds,
    "given up": verdict.gaveUp,
    ...Object.fromEntries(FINDINGS.map((kind) => [kind, findings(kind)])),
  };
}

/** A worker that lets a job go by itself, because it failed or must stop, is alive as well. */
function isFromLiving({ kind, fromLiving }: Succession): boolean {
  return fromLiving && (kind === "takeover" || kind === "repeat");
}

/** The counts on one line, then the first findings in words. */
export function linesOf(verdict: Verdict): readonly string[] {
  const counts = Object.entries(countsOf(verdict))
    .filter(([what, count]) => count > 0 || !QUIET.has(what))
    .map(([what, count]) => `${what} ${count}`);
  const shown = verdict.findings.slice(0, FINDINGS_SHOWN);
  const more = verdict.findings.length - shown.length;
  return [
    counts.join(", "),
    ...shown.map(({ kind, job, why }) => `${kind}: ${job}: ${why}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

const FINDINGS_SHOWN = 10;
/** Not worth a word where there is none. */
const QUIET: ReadonlySet<string> = new Set(FINDINGS.slice(4));
