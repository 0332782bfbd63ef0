/** How a verdict is told. */
import type { Finding, Succession, Verdict } from "./check.ts";

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
    restarts: successions("restart"),
    "from living holders": verdict.successions.filter(({ fromLiving }) => fromLiving).length,
    "late ends": verdict.lateEnds,
    "given up": verdict.gaveUp,
    lost: findings("lost"),
    doubled: findings("doubled"),
    overlap: findings("overlap"),
    unfenced: findings("unfenced"),
  };
}

/** The counts on one line, then the first findings in words. */
export function linesOf(verdict: Verdict): readonly string[] {
  const counts = Object.entries(countsOf(verdict)).map(([what, count]) => `${what} ${count}`);
  const shown = verdict.findings.slice(0, FINDINGS_SHOWN);
  const more = verdict.findings.length - shown.length;
  return [
    counts.join(", "),
    ...shown.map(({ kind, job, why }) => `${kind}: ${job}: ${why}`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

const FINDINGS_SHOWN = 10;
