/** The checks of `millrace doctor` that a limit of time has cut. */
import { formatDuration } from "../../core/duration.ts";
import { MillraceError } from "../../core/errors.ts";
import { systemClock } from "../../lib/system.ts";
import { UnfinishedChecks, type UnfinishedCheck } from "../../store/doctor/unfinished.ts";
import type { DoctorCheck } from "./doctor-file-findings.ts";

/** For checks that call verbs of the store, whose errors say that the time was not enough. */
export function newUnfinishedChecks(): UnfinishedChecks {
  return new UnfinishedChecks(
    () => systemClock.monotonic(),
    (error) => error instanceof MillraceError && error.details["timedOut"] === true,
  );
}

/** A finding: what was not checked may be broken. */
export function unfinishedChecks(unfinished: readonly UnfinishedCheck[]): DoctorCheck[] {
  return unfinished.map(({ check, afterMs }) => ({
    name: check,
    found: `not finished within ${formatDuration(Math.ceil(afterMs / 1_000) * 1_000)}`,
    fix: "Run doctor again when the server is less busy, as a role without a statement_timeout.",
  }));
}
