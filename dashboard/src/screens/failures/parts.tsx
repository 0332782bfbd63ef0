/** Parts of the list and of the page of one cause. */
import type { JSX } from "preact";
import type { FailureGroup } from "../../api/operations.gen.ts";
import { plural } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { Tag, Time, type TagTone } from "../../parts/basics.tsx";
import { Bars } from "../../parts/spark.tsx";
import { STATUS_WORDS } from "./status.ts";

const TONES: Readonly<Record<FailureGroup["status"], TagTone>> = {
  new: "bad",
  returned: "back",
  open: "warn",
  acknowledged: "plain",
  snoozed: "plain",
};

export function GroupStatus({ group }: { group: FailureGroup }): JSX.Element {
  const { status, until, decidedBy, notes } = group;
  const said = [decidedBy === null ? "" : `by ${decidedBy}`, notes ?? ""]
    .filter(Boolean)
    .join(": ");
  return (
    <Tag tone={TONES[status]} {...(said === "" ? {} : { title: said })}>
      {STATUS_WORDS[status]}
      {status === "snoozed" && until !== null && (
        <span>
          , ends <Time at={until} />
        </span>
      )}
    </Tag>
  );
}

const CLASSES: Readonly<Record<string, string>> = {
  transient: "passes by itself",
  retryable: "is retried",
  non_retryable: "is never retried",
  rate_limited: "the service asked to wait",
};

export function ClassTag({ of }: { of: FailureGroup["sample"]["error"] }): JSX.Element | null {
  if (of === null) return null;
  return <Tag title={CLASSES[of.class] ?? of.class}>{of.class.replaceAll("_", "-")}</Tag>;
}

/** The first types as links, and how many more there are. */
export function TypeLinks({
  types,
  max = 3,
}: {
  types: readonly string[];
  max?: number;
}): JSX.Element {
  const more = types.slice(max);
  return (
    <span class="type-links">
      {types.slice(0, max).map((type) => (
        <a key={type} href={href("jobs", { q: `type:${quoted(type)} state:failed` })} title={type}>
          {type}
        </a>
      ))}
      {more.length > 0 && <span title={more.join(", ")}>+{more.length}</span>}
    </span>
  );
}

function quoted(value: string): string {
  return /^[\w.@/-]+$/.test(value) ? value : JSON.stringify(value);
}

export function Trend({ group }: { group: FailureGroup }): JSX.Element {
  const day = group.trend.reduce((sum, each) => sum + each, 0);
  return (
    <Bars
      values={group.trend}
      isBad={group.status === "new" || group.status === "returned"}
      label={`${plural(day, "failure")} in the last 24 hours, hour by hour`}
    />
  );
}
