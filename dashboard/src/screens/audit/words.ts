/** The names of audit entries and their subjects as words and places in the page. Pure. */
import type { AuditEntry, AuditVerdict, Operations } from "../../api/operations.gen.ts";
import { plural } from "../../lib/format.ts";

type AuditQuery = Operations["listAudit"]["query"];
export type AuditName = NonNullable<AuditQuery["name"]>;
export type SubjectKind = NonNullable<AuditQuery["subject_kind"]>;
type Query = Readonly<Record<string, string>>;

/** `job_dlq_assigned` is "Dead letter assigned". */
export function nameWords(name: string): string {
  const text = name.replace(/^job_dlq_/, "dead_letter_").replaceAll("_", " ");
  return `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
}

/** The path of the screen that shows the subject; null: no screen does. */
export function subjectPath({
  name,
  subject,
}: Pick<AuditEntry, "name" | "subject">): readonly string[] | null {
  switch (subject.kind) {
    case "job":
      return [name.startsWith("job_dlq_") ? "letters" : "jobs", subject.name];
    case "cause":
      return ["failures", subject.name];
    case "lane":
    case "type":
      return ["lanes"];
    case "tenant":
      return ["tenants", subject.name];
    case "service":
      return ["breakers", subject.name];
    case "worker":
      return ["workers", subject.name];
    case "schedule":
      return ["schedules", subject.name];
    case "operation":
      return ["operations", subject.name];
    case "token":
      return ["settings"];
    default:
      return null;
  }
}

export const FILTER_KEYS = [
  "tenant",
  "name",
  "actor",
  "subject_kind",
  "subject",
  "from",
  "to",
] as const;

/** What the API is asked for. A name or kind that does not exist is left out. */
export function auditFilter(
  query: Query,
  names: readonly AuditName[],
  kinds: readonly SubjectKind[],
): AuditQuery {
  const text = (key: string): object => (query[key] ? { [key]: query[key] } : {});
  const name = names.find((each) => each === query["name"]);
  const kind = kinds.find((each) => each === query["subject_kind"]);
  return {
    ...text("tenant"),
    ...text("actor"),
    ...text("subject"),
    ...text("from"),
    ...text("to"),
    ...(name === undefined ? {} : { name }),
    ...(kind === undefined ? {} : { subject_kind: kind }),
  };
}

/** What the check of the chain has found, in one sentence. */
export function verdictWords({ isIntact, findings, more, sealed, unsealed }: AuditVerdict): string {
  const rest =
    unsealed === 0 ? "" : ` ${plural(unsealed, "entry is", "entries are")} not sealed yet.`;
  const checked = plural(sealed, "sealed entry was", "sealed entries were");
  if (isIntact) return `${checked} checked: none is changed or missing.${rest}`;
  const count = findings.length + more;
  const places = plural(count, "place of the trail was", "places of the trail were");
  return `${places} changed after it was sealed.${rest}`;
}

const BY_OPERATION = /^operation ([0-9A-HJKMNP-TV-Z]{26})(?: of [^:]*)?: /;

/** `operation 01K9… of the installation: why`, taken apart. */
export function operationIn(reason: string): { operation: string | null; rest: string } {
  const found = BY_OPERATION.exec(reason);
  const operation = found?.[1];
  if (found === null || operation === undefined) return { operation: null, rest: reason };
  return { operation, rest: reason.slice(found[0].length) };
}
