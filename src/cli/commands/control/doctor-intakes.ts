/** What `millrace doctor` says about closed intakes. */
import { formatDuration } from "../../../core/duration.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { systemClock } from "../../../lib/system.ts";
import type { JobStore } from "../../../store/store.ts";
import type { IntakeRecord } from "../../../store/types/jobs-and-runs.ts";
import type { DoctorCheck } from "../doctor-file-findings.ts";

/** An intake that is closed for longer was perhaps forgotten. */
const DAY_MS = 86_400_000;

/** A closed intake is the will of an operator, so that no check asks for a fix. */
export async function intakeChecks(store: JobStore): Promise<DoctorCheck[]> {
  const now = systemClock.now();
  const closed = await store.intakes();
  const old = closed.filter(({ closedAt }) => now - closedAt > DAY_MS);
  if (old.length > 0) return old.map((intake) => oldCheck(intake, now - intake.closedAt));
  return [
    { name: "intakes", found: `${closed.length} closed, none for longer than a day`, fix: null },
  ];
}

function oldCheck({ kind, name, reason, by }: IntakeRecord, ageMs: number): DoctorCheck {
  const since = `has refused new jobs for ${formatDuration(ageMs)}`;
  const who = by === null ? "" : `, closed by ${by}`;
  const target = kind === "installation" ? "--all" : `--${kind} ${shellWord(name)}`;
  const open = `to accept them: millrace intake open ${target}`;
  const found = `the ${kind} ${name} ${since}${who} (${reason}); ${open}`;
  return { name: "intakes", found, fix: null };
}
