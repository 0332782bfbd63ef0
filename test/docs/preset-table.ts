/** The table of docs/presets.md, made from the presets themselves. */
import { formatDuration } from "../../src/core/duration.ts";
import { defaults, type Preset } from "../../src/core/presets.ts";
import type { BackoffPolicy } from "../../src/core/backoff.ts";
import { docverse, jobqueue, lipas, lipasDev, periodic, practice } from "../../src/index.ts";

const PRESETS = { docverse, periodic, jobqueue, practice, lipas, lipasDev } as const;

const FIGURES: readonly (readonly [name: string, of: (preset: Preset) => string])[] = [
  ["attempts", ({ retry }) => String(retry.maxAttempts)],
  ["crashes until a job runs alone", ({ retry }) => String(retry.crashCap)],
  ["unclassified error", ({ retry }) => `\`${retry.defaultErrorClass}\``],
  ["wait after a failure", ({ retry }) => waits(retry.backoff.retryable)],
  ["wait after a transient error", ({ retry }) => waits(retry.backoff.transient)],
  ["wait after a rate limit", ({ retry }) => waits(retry.backoff.rate_limited)],
  ["jitter of failures", ({ retry }) => jitter(retry.backoff.retryable)],
  ["jitter of rate limits", ({ retry }) => jitter(retry.backoff.rate_limited)],
  ["slots of `fast`, `general`", ({ lanes }) => `${lanes.fast}, ${lanes.general}`],
  ["time limit in `fast`", ({ timeoutMs }) => limit(timeoutMs.fast)],
  ["time limit elsewhere", ({ timeoutMs }) => limit(timeoutMs.general)],
  ["lease", ({ leaseMs }) => formatDuration(leaseMs)],
  ["poll", ({ pollMs }) => formatDuration(pollMs)],
  ["jobs per claim", ({ batchMax }) => String(batchMax)],
  ["payload rules", ({ payloadRules: { installation } }) => (installation ? "yes" : "none")],
  ["repeated key", ({ onIdempotencyConflict }) => `\`${onIdempotencyConflict}\``],
  ["after a failed attempt", ({ onRetry }) => `\`${onRetry}\``],
  ["worker died", ({ onOrphan }) => `\`${onOrphan}\``],
  ["finished jobs are kept", ({ retention }) => kept(Object.values(retention.finishedMs))],
  ["dead letters are kept", ({ retention }) => kept([retention.deadLetterMs])],
  ["keys are kept after the end", ({ retention }) => kept([retention.idempotencyMs])],
  ["events are kept", ({ retention }) => kept([retention.eventMs])],
  ["figures are kept", ({ retention }) => kept([retention.minutesMs])],
  ["audit entries are kept", ({ retention }) => kept([retention.auditMs])],
];

/** Heading and rows. A cell is empty where a preset has the default. */
export function presetTable(): readonly (readonly string[])[] {
  const names = Object.keys(PRESETS).map((name) => `\`${name}\``);
  const rows = FIGURES.map(([name, of]) => {
    const usual = of(defaults);
    const others = Object.values(PRESETS).map((preset) => of(preset));
    return [name, usual, ...others.map((figure) => (figure === usual ? "" : figure))];
  });
  return [["", "default", ...names], ...rows];
}

function waits({ baseMs, factor, capMs }: BackoffPolicy): string {
  const steps = [baseMs, baseMs * factor, baseMs * factor ** 2].map((ms) => formatDuration(ms));
  return `${steps.join(", ")} … ${formatDuration(capMs)}`;
}

function jitter({ jitter: share, jitterAt }: BackoffPolicy): string {
  return `± ${share * 100} %${jitterAt === "before-cap" ? " before the cap" : ""}`;
}

function limit(ms: number | null): string {
  return ms === null ? "none" : formatDuration(ms);
}

function kept(periods: readonly number[]): string {
  return [...new Set(periods.map((ms) => formatDuration(ms)))].join(", ");
}
