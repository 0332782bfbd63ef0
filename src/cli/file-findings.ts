/** The findings of an examination of the file, and a fix for each. */
import type { FileStore } from "./open-file.ts";

export interface DoctorCheck {
  readonly name: string;
  readonly found: string;
  /** What to do; `null` when nothing is wrong. */
  readonly fix: string | null;
}

type FileExamination = Awaited<ReturnType<FileStore["examine"]>>;
type FileFinding = FileExamination["findings"][number];

export function fileChecks({ isRead, findings }: FileExamination, path: string): DoctorCheck[] {
  if (findings.length > 0) return findings.map((finding) => checkOf(finding, path));
  const found = isRead
    ? "whole, and every job in its place"
    : "every job in its place; too large to be read as a whole, which millrace backup does";
  return [{ name: "file", found, fix: null }];
}

function checkOf(finding: FileFinding, path: string): DoctorCheck {
  switch (finding.kind) {
    case "damaged":
      return {
        name: "file",
        found: `${path} is damaged: ${finding.what}`,
        fix: "Stop all workers, keep a copy of the file, and restore the last backup.",
      };
    case "lost_job":
      return {
        name: "lost job",
        found: `${finding.id} is not over, waits nowhere, and no worker has it`,
        fix: `millrace jobs release ${finding.id}`,
      };
    case "ownerless_lease":
      return ownerless(finding, path);
    case "place_without_job":
      return {
        name: "place without job",
        found: `the key ${finding.key} lies in ${finding.place}, and there is no such job`,
        fix: sqlFix(path, `DELETE FROM millrace_${finding.place} WHERE key = ${finding.key};`),
      };
    case "place_against_ledger":
      return {
        name: "place against ledger",
        found: `${finding.id} lies in ${finding.place}, ${WHY_NOT[finding.fault]}`,
        fix: sqlFix(path, placeFix(finding)),
      };
  }
}

const WHY_NOT = {
  over: "although it is over: it would run again",
  held: "although a worker runs it: it would run twice",
  twin: "and in another place as well: it would run twice",
  number: "under a number that the ledger does not expect: its end would be refused",
} as const;

function ownerless(
  { lease, worker, id }: Extract<FileFinding, { kind: "ownerless_lease" }>,
  path: string,
): DoctorCheck {
  const whose = `the lease ${lease} is that of the worker ${worker}, which is not known`;
  const name = "lease without worker";
  if (id !== null) {
    const found = `${whose}; it holds the job ${id}, and nobody takes it back`;
    return { name, found, fix: `millrace jobs release ${id}` };
  }
  const fix = sqlFix(path, `DELETE FROM millrace_lease WHERE number = ${lease};`);
  return { name, found: `${whose}; it holds nothing`, fix };
}

function placeFix({
  place,
  key,
  fault,
  nextN,
}: Extract<FileFinding, { kind: "place_against_ledger" }>): string {
  return fault === "number"
    ? `UPDATE millrace_${place} SET n = ${nextN} WHERE key = ${key};`
    : `DELETE FROM millrace_${place} WHERE key = ${key};`;
}

function sqlFix(path: string, sql: string): string {
  return `Make a copy (millrace backup), then run this SQL on ${path}: ${sql}`;
}
