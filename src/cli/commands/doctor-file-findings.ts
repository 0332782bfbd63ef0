/** The findings of an examination of the file, and a fix for each. */
import type { Repair } from "../../store/doctor/repairs.ts";
import type { FileStore } from "../open-file.ts";

export interface DoctorCheck {
  readonly name: string;
  readonly found: string;
  /** What to do; `null` when nothing is wrong. */
  readonly fix: string | null;
  /** What `--fix` does. Absent: the finding is left to a person. */
  readonly repair?: Repair;
}

type FileExamination = Awaited<ReturnType<FileStore["examine"]>>;
type FileFinding = FileExamination["findings"][number];

export function fileChecks({ isRead, findings }: FileExamination, path: string): DoctorCheck[] {
  if (findings.length > 0) return findings.map((finding) => checkOf(finding, path));
  const found = isRead
    ? "not damaged, and every job has one place"
    : "every examined job has one place; a file of more than 32 MB is checked for damage by --deep";
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
        found: `${finding.id} is not final, has no place, and no worker holds it`,
        fix: `millrace jobs release ${finding.id}`,
        repair: { kind: "release", ids: [finding.id] },
      };
    case "ownerless_lease":
      return ownerless(finding, path);
    case "place_without_job":
      return {
        name: "place without job",
        found: `${finding.place} has the key ${finding.key}, and no job has this key`,
        ...sqlFix(path, `DELETE FROM millrace_${finding.place} WHERE key = ${finding.key};`),
      };
    case "place_against_ledger":
      return {
        name: "place against ledger",
        found: `${finding.id} is in ${finding.place}, ${WHY_NOT[finding.fault]}`,
        ...sqlFix(path, placeFix(finding)),
      };
  }
}

const WHY_NOT = {
  over: "although it is final: it would run again",
  held: "although a worker runs it: it would run twice",
  twin: "and in another place as well: it would run twice",
  number: "with a run number that the ledger does not expect: its result would be refused",
} as const;

function ownerless(
  { lease, worker, id }: Extract<FileFinding, { kind: "ownerless_lease" }>,
  path: string,
): DoctorCheck {
  const whose = `the lease ${lease} belongs to the worker ${worker}, which does not exist`;
  const name = "lease without worker";
  if (id !== null) {
    const found = `${whose}; it holds the job ${id}, which no worker can rescue`;
    const repair = { kind: "release", ids: [id] } as const;
    return { name, found, fix: `millrace jobs release ${id}`, repair };
  }
  const fix = sqlFix(path, `DELETE FROM millrace_lease WHERE number = ${lease};`);
  return { name, found: `${whose}; it holds no job`, ...fix };
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

function sqlFix(path: string, sql: string): Required<Pick<DoctorCheck, "fix" | "repair">> {
  const fix = `Make a copy (millrace backup), then run this SQL on ${path}: ${sql}`;
  return { fix, repair: { kind: "sql", sql } };
}
