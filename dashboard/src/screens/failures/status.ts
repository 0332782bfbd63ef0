/** What the status of a group of failures is called, and which groups a filter shows. Pure. */
import type { FailureGroup } from "../../api/operations.gen.ts";

type Status = FailureGroup["status"];

export const STATUS_WORDS: Readonly<Record<Status, string>> = {
  new: "New",
  returned: "Came back",
  open: "Open",
  acknowledged: "Acknowledged",
  snoozed: "Snoozed",
};

/** Groups that wait for a person to decide. */
const UNDECIDED: readonly Status[] = ["new", "returned", "open"];

export interface GroupFilter {
  /** A status, or `undecided` for all that wait for a decision. */
  readonly status?: string | undefined;
  readonly type?: string | undefined;
}

export function chosenGroups(
  groups: readonly FailureGroup[],
  { status = "", type = "" }: GroupFilter,
): readonly FailureGroup[] {
  const hasStatus = (group: FailureGroup): boolean =>
    status === "" ||
    group.status === status ||
    (status === "undecided" && UNDECIDED.includes(group.status));
  return groups.filter((group) => hasStatus(group) && (type === "" || group.types.includes(type)));
}

export function typesOf(groups: readonly FailureGroup[]): readonly string[] {
  return [...new Set(groups.flatMap(({ types }) => types))].toSorted((a, b) => a.localeCompare(b));
}

export function errorTitle(error: FailureGroup["sample"]["error"]): string {
  if (error === null) return "Unknown error";
  return error.message === "" ? error.name : `${error.name}: ${error.message}`;
}
