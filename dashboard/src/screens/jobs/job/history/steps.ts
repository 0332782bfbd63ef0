/** Events of a job and acts about it as one list in order of time. Pure. */
import type { AuditEntry } from "../../../../api/operations.gen.ts";
import { markedJson } from "../../../../lib/inexact.ts";

/** An event of the feed. */
export interface JobEvent {
  readonly id: string;
  readonly at: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Step {
  readonly key: string;
  readonly at: number;
  readonly kind: "event" | "act";
  /** As it is stored: `job:completed`, `job_cancel_requested`. */
  readonly name: string;
  readonly text: string;
}

/** Oldest first. Events come in the order of the feed, acts as the audit has them. */
export function historySteps(
  events: readonly JobEvent[],
  acts: readonly AuditEntry[],
): readonly Step[] {
  const byId = acts.toSorted((one, other) => one.id - other.id);
  return [...byId.map(actStep), ...events.map(eventStep)].toSorted(
    (one, other) => one.at - other.at || turnOf(one) - turnOf(other),
  );
}

/** At one time, the enqueue stands first, and an act before the event that it has caused. */
function turnOf({ kind, name }: Step): number {
  if (name === "job:enqueued") return 0;
  return kind === "act" ? 1 : 2;
}

function eventStep({ id, at, event: name, data }: JobEvent): Step {
  return { key: `event ${id}`, at: Date.parse(at), kind: "event", name, text: textOf(data) };
}

function actStep({ id, at, name, actor, reason }: AuditEntry): Step {
  const who = `by ${actor ?? "the application"}`;
  const text = reason === null ? `${who}, without a reason` : `${who}: ${reason}`;
  return { key: `act ${id}`, at: Date.parse(at), kind: "act", name, text };
}

function textOf(facts: JobEvent["data"]): string {
  return Object.entries(facts)
    .filter(([name]) => name !== "id")
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : markedJson(value)}`)
    .join(", ");
}
