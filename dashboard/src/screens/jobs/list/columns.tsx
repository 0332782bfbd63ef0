/** The columns of Jobs: those of the job, and any path of its payload. */
import { stored } from "../../../lib/prefs.ts";
import { durationText } from "../../../lib/format.ts";
import { now } from "../../../lib/now.ts";
import { href } from "../../../lib/router.ts";
import { CopyButton, Cut, IdLink, Time } from "../../../parts/basics.tsx";
import { shownState, State } from "../../../parts/state.tsx";
import type { Column } from "../../../parts/table.tsx";
import type { Job } from "../../../api/operations.gen.ts";
import { attemptNow, errorLine, heldLine, runMs, titleOf, valueAt, waitMs } from "./job-text.ts";

/** The columns that a person may choose, with their names. */
export const CHOICES: readonly (readonly [string, string])[] = [
  ["state", "State"],
  ["job", "Type and title"],
  ["id", "Id"],
  ["tenant", "Tenant"],
  ["attempts", "Attempts"],
  ["wait", "Waited"],
  ["run", "Ran"],
  ["age", "Age"],
  ["error", "Last error or reason"],
  ["lane", "Lane"],
  ["priority", "Priority"],
  ["category", "Category"],
  ["progress", "Progress"],
  ["correlation", "Correlation"],
  ["createdBy", "Created by"],
  ["tags", "Tags"],
];

const NAMES = new Map(CHOICES);
const DEFAULT = ["state", "job", "id", "tenant", "attempts", "wait", "run", "age", "error"];

/** What a person has chosen last, for lists whose address names no columns. */
const chosen = stored<readonly string[]>("jobs.columns", DEFAULT);

export function columnIds(text: string | undefined): readonly string[] {
  const ids = text === undefined ? chosen.value : text.split(",");
  const known = ids.filter((id) => NAMES.has(id) || id.startsWith("payload."));
  return known.includes("job") ? known : ["job", ...known];
}

/** Keeps the choice; answers what the address says, nothing for the usual columns. */
export function keepColumns(ids: readonly string[]): string | undefined {
  chosen.value = ids;
  return ids.join() === DEFAULT.join() ? undefined : ids.join();
}

export function usualColumns(): readonly string[] {
  return DEFAULT;
}

export function columnName(id: string): string {
  return NAMES.get(id) ?? id;
}

export function columnsOf(ids: readonly string[]): readonly Column<Job>[] {
  return ids.map((id) => COLUMNS[id] ?? payloadColumn(id));
}

function payloadColumn(id: string): Column<Job> {
  const path = id.replace(/^payload\./, "");
  return {
    id,
    head: <code title={id}>…{path.split(".").slice(-2).join(".")}</code>,
    isSecondary: true,
    width: "w-payload",
    cell: ({ payload }) => {
      const value = valueAt(payload, path);
      return value === null ? <span class="dim">–</span> : <Cut mono text={value} />;
    },
  };
}

function length(ms: number | null, isLong = false) {
  if (ms === null) return <span class="dim">–</span>;
  return <span class={isLong ? "warn" : ""}>{durationText(ms)}</span>;
}

const LONG_WAIT_MS = 60_000;

const COLUMNS: Readonly<Record<string, Column<Job>>> = {
  state: {
    id: "state",
    head: "State",
    width: "w-state",
    cell: (job) => <State state={shownState(job)} short />,
  },
  job: {
    id: "job",
    head: "Job",
    isName: true,
    width: "w-job",
    cell: (job) => {
      const title = titleOf(job.payload);
      return (
        <span class="cut" title={`${job.type} ${title}`}>
          <a class="type" href={href(["jobs", job.id])}>
            {job.type}
          </a>
          <span class="title">{title}</span>
        </span>
      );
    },
  },
  id: {
    id: "id",
    head: "Id",
    isSecondary: true,
    width: "w-id",
    cell: ({ id }) => (
      <span class="id-cell">
        <IdLink id={id} href={href(["jobs", id])} />
        <CopyButton text={id} label="Copy id" />
      </span>
    ),
  },
  tenant: named("tenant", "Tenant", "tenant"),
  lane: named("lane", "Lane", "lane"),
  category: named("category", "Category", "category"),
  correlation: {
    id: "correlation",
    head: "Correlation",
    isSecondary: true,
    width: "w-name",
    cell: ({ correlationId }) => (
      <a class="cut mono" href={href("correlation", { id: correlationId })} title={correlationId}>
        {correlationId}
      </a>
    ),
  },
  createdBy: {
    id: "createdBy",
    head: "Created by",
    isSecondary: true,
    width: "w-name",
    cell: ({ createdBy }) => <Cut text={createdBy ?? "–"} />,
  },
  tags: {
    id: "tags",
    head: "Tags",
    isSecondary: true,
    width: "w-payload",
    cell: ({ tags }) => (
      <Cut
        text={
          Object.entries(tags)
            .map((each) => each.join(": "))
            .join(", ") || "–"
        }
      />
    ),
  },
  priority: {
    id: "priority",
    head: "Priority",
    isNumber: true,
    isSecondary: true,
    width: "w-number",
    cell: ({ priority }) => priority,
  },
  progress: {
    id: "progress",
    head: "Progress",
    isNumber: true,
    isSecondary: true,
    width: "w-number",
    cell: ({ progress, phase }) => <span title={phase ?? undefined}>{progress} %</span>,
  },
  attempts: {
    id: "attempts",
    head: "Attempts",
    isNumber: true,
    width: "w-number",
    cell: (job) => `${attemptNow(job)} of ${job.maxAttempts}`,
  },
  wait: {
    id: "wait",
    head: "Waited",
    isNumber: true,
    isSecondary: true,
    width: "w-length",
    cell: (job) => {
      const ms = waitMs(job, now.value);
      return length(ms, ms !== null && ms > LONG_WAIT_MS && job.attempts < 2);
    },
  },
  run: {
    id: "run",
    head: "Ran",
    isNumber: true,
    isSecondary: true,
    width: "w-length",
    cell: (job) => length(runMs(job, now.value)),
  },
  age: {
    id: "age",
    head: "Age",
    isNumber: true,
    width: "w-age",
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  error: {
    id: "error",
    head: "Last error or reason",
    width: "w-error",
    cell: (job) => <Reason job={job} />,
  },
};

function named(id: "tenant" | "lane" | "category", head: string, key: string): Column<Job> {
  return {
    id,
    head,
    isSecondary: true,
    width: "w-name",
    cell: (job) => {
      const name = job[id];
      if (name === null) return <span class="dim">–</span>;
      const q = `${key}:${JSON.stringify(name)}`;
      return (
        <a class="cut plain" href={href("jobs", { q })} title={`${name}: show its jobs`}>
          {name}
        </a>
      );
    },
  };
}

/** The last error of a job, or why it was cancelled, what holds it back, or when it is due. */
function Reason({ job }: { job: Job }) {
  const { state, attempts, runAt, cancelReason, heldBy } = job;
  const error = errorLine(job.error);
  if (state === "cancelled")
    return <Cut text={cancelReason === null ? "" : `Cancelled: ${cancelReason}`} />;
  if (state === "completed" && error === "") return null;
  if (heldBy !== null) return <Cut text={[heldLine(heldBy), error].filter(Boolean).join(" · ")} />;
  if (state === "scheduled" && runAt !== null) {
    return (
      <span class="cut" title={error}>
        {attempts > 0 ? "Next " : "Due "}
        <Time at={runAt} />
        {error !== "" && ` · ${error}`}
      </span>
    );
  }
  return <Cut text={error} />;
}
