/** What a person does to jobs: one, some or all that match. */
import type { JSX } from "preact";
import { call } from "../../api/client.ts";
import type { Job } from "../../api/operations.gen.ts";
import { copyText } from "../../lib/copy.ts";
import { countText, plural, shortId } from "../../lib/format.ts";
import { href } from "../../lib/router.ts";
import { may } from "../../lib/session.ts";
import { problemText, toast, toastProblem } from "../../lib/toasts.ts";
import { ask, Field } from "../../parts/dialog.tsx";
import type { BulkFilter } from "./list/job-query.ts";
import { isFinal, titleOf } from "./list/job-text.ts";

export type Action = "retry" | "cancel" | "delete" | "priority";

interface Words {
  readonly verb: string;
  readonly done: string;
  readonly keep: string;
  readonly isDangerous: boolean;
  /** What exactly changes. */
  readonly text: string;
}

const WORDS: Readonly<Record<Action, Words>> = {
  retry: {
    verb: "Retry",
    done: "Retried",
    keep: "Leave them",
    isDangerous: false,
    text: "Waiting jobs run now. Finished jobs are repeated as new, linked jobs; what has completed is kept.",
  },
  cancel: {
    verb: "Cancel",
    done: "Cancelled",
    keep: "Keep them",
    isDangerous: true,
    text: "Waiting jobs end at once. The workers of running jobs are asked to stop.",
  },
  delete: {
    verb: "Delete",
    done: "Deleted",
    keep: "Keep them",
    isDangerous: true,
    text: "Finished jobs are removed before their time, with results and logs. Dead letters stay.",
  },
  priority: {
    verb: "Change the priority of",
    done: "Changed",
    keep: "Leave them",
    isDangerous: false,
    text: "Waiting jobs get another priority for their next start.",
  },
};

/** Whether the server would let this person do it, to some jobs or to all that match. */
export function mayAct(action: Action, isAll = false): boolean {
  if (isAll) return may("previewOperation") && may("startOperation");
  if (action === "delete") return may("startOperation");
  if (action === "retry") return may("retryJob");
  return may(action === "cancel" ? "cancelJob" : "setJobPriority");
}

/** More than so many run as an operation. */
const SINGLE_MAX = 50;
type Level = "critical" | "high" | "normal" | "low";

/** Asks, then acts on chosen jobs. `ended` reads the list again. */
export function actOnChosen(action: Action, ids: readonly string[], ended: () => void): void {
  const { verb, keep, isDangerous, text } = WORDS[action];
  const choice = { level: "high" as Level };
  const isOperation = action === "delete" || ids.length > SINGLE_MAX;
  ask({
    title: `${verb} ${plural(ids.length, "job")}?`,
    text,
    count: ids.length,
    verb: `${verb} ${plural(ids.length, "job")}`,
    keep: ids.length === 1 ? keep.replace("them", "it") : keep,
    isDangerous,
    reason: isOperation ? "required" : "optional",
    extra: action === "priority" ? <PriorityField choice={choice} /> : undefined,
    act: async (reason) => {
      if (isOperation) await start({ action, ids, reason, ...levelOf(action, choice) });
      else await actOneByOne(action, ids, { reason, level: choice.level });
      ended();
    },
  });
}

/** Shows what would change, asks, and starts an operation. */
export async function actOnAll(action: Action, jobs: BulkFilter, ended: () => void): Promise<void> {
  const { verb, keep, isDangerous, text } = WORDS[action];
  const choice = { level: "high" as Level };
  try {
    const body = { action, jobs, ...levelOf(action, choice) };
    const preview = await call("previewOperation", { body });
    if (preview.count === 0) {
      toast({
        tone: "bad",
        title: `Nothing to ${verb.toLowerCase()}`,
        text: skippedText(preview.skipped),
      });
      return;
    }
    const many = `${countText(preview)} ${preview.count === 1 ? "job" : "jobs"}`;
    ask({
      title: `${verb} ${many}?`,
      text: `${text} ${skippedText(preview.skipped)}`,
      count: preview.count,
      verb: `${verb} ${many}`,
      keep,
      isDangerous,
      reason: "required",
      extra: (
        <>
          {action === "priority" && <PriorityField choice={choice} />}
          <Sample jobs={preview.jobs} />
        </>
      ),
      act: async (reason) => {
        await start({ action, jobs, reason, ...levelOf(action, choice) });
        ended();
      },
    });
  } catch (error) {
    toastProblem("The jobs could not be counted", error);
  }
}

function levelOf(action: Action, { level }: { level: Level }): { priority?: Level } {
  return action === "priority" ? { priority: level } : {};
}

async function start(body: {
  action: Action;
  ids?: readonly string[];
  jobs?: BulkFilter;
  priority?: Level;
  reason: string;
}): Promise<void> {
  const { id } = await call("startOperation", { body });
  const link = { text: "Show progress", href: href(["operations", id]) };
  toast({ tone: "good", title: "The operation has started", link });
}

async function actOneByOne(
  action: Action,
  ids: readonly string[],
  given: { reason: string; level: Level },
): Promise<void> {
  const problems: string[] = [];
  for (const id of ids) {
    try {
      await actOnOne(action, id, given);
    } catch (error) {
      problems.push(`${shortId(id)}: ${problemText(error)}`);
      // Nothing has changed: the dialog stays, with the reason that was typed.
      if (problems.length === ids.length) throw error;
    }
  }
  const { done } = WORDS[action];
  const count = ids.length - problems.length;
  if (problems.length === 0) toast({ tone: "good", title: `${done} ${plural(count, "job")}` });
  else
    toast({
      tone: "bad",
      title: `${done} ${count} of ${plural(ids.length, "job")}`,
      text: problems.slice(0, 3).join(" "),
    });
}

async function actOnOne(
  action: Action,
  id: string,
  { reason, level }: { reason: string; level: Level },
) {
  const why = reason === "" ? {} : { reason };
  if (action === "retry") return call("retryJob", { params: { id }, body: why });
  if (action === "cancel") return call("cancelJob", { params: { id }, body: why });
  return call("setJobPriority", { params: { id }, body: { priority: level, ...why } });
}

/** Runs a waiting job now, or repeats a finished one. The effect on the list is not always seen. */
export async function retryOne(job: Job, restart: boolean, ended: () => void): Promise<void> {
  try {
    const body = restart ? { restart } : {};
    const { id, created } = await call("retryJob", { params: { id: job.id }, body });
    if (isFinal(job)) {
      const title = created ? "The job is repeated as a new job" : "It is already repeated";
      toast({ tone: "good", title, link: { text: "Show it", href: href(["jobs", id]) } });
    } else toast({ tone: "good", title: "The job is due now" });
    ended();
  } catch (error) {
    toastProblem("The job was not retried", error);
  }
}

function PriorityField({ choice }: { choice: { level: Level } }): JSX.Element {
  return (
    <Field label="Priority" hint="Jobs of a higher priority start first">
      <select
        class="field"
        onChange={({ currentTarget: { value } }) => {
          if (value === "critical" || value === "normal" || value === "low") choice.level = value;
          else choice.level = "high";
        }}
      >
        <option value="critical">Critical</option>
        <option value="high" selected>
          High
        </option>
        <option value="normal">Normal</option>
        <option value="low">Low</option>
      </select>
    </Field>
  );
}

const SAMPLE_MAX = 5;

function Sample({ jobs }: { jobs: readonly Job[] }): JSX.Element | null {
  if (jobs.length === 0) return null;
  return (
    <div>
      <p class="dim">Such as</p>
      <ul class="sample">
        {jobs.slice(0, SAMPLE_MAX).map((job) => (
          <li key={job.id} class="cut" title={`${job.type} ${titleOf(job.payload)}`}>
            <code>{shortId(job.id)}</code> {job.type}{" "}
            <span class="dim">{titleOf(job.payload)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const SKIPPED: Readonly<Record<string, string>> = {
  state: "in a state that does not allow it",
  existing: "repeated already",
  held: "held by a key",
  closed: "refused by a closed intake",
  kept: "kept for their dead letter",
  nothing_to_retry: "with nothing to retry",
  unknown: "unknown",
};

/** Why items are left out: `12 are left out: 12 in a state that does not allow it.` */
export function skippedText(skipped: Readonly<Record<string, number | undefined>>): string {
  const parts = Object.entries(skipped).filter(([, count]) => (count ?? 0) > 0);
  if (parts.length === 0) return "";
  return `Left out: ${parts.map(([why, count]) => `${count} ${SKIPPED[why] ?? why}`).join(", ")}.`;
}

export async function copyId(id: string): Promise<void> {
  const isDone = await copyText(id);
  if (isDone) toast({ tone: "good", title: "Copied the id", text: id });
  else toast({ tone: "bad", title: "The browser has refused to copy" });
}
