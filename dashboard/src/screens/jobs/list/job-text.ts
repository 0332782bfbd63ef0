/** What a row says about a job. Pure: the time is an argument. */
import type { Job } from "../../../api/operations.gen.ts";
import { markedJson, markedNumber } from "../../../lib/inexact.ts";

/** Names of fields that tell a person what a job is about, best first. */
const TELLING = [
  "title",
  "subject",
  "name",
  "summary",
  "description",
  "label",
  "message",
  "to",
  "email",
  "url",
];
const TITLE_MAX = 120;

/** The first meaningful text of a payload; empty if there is none. */
export function titleOf(payload: unknown): string {
  if (typeof payload === "string") return cut(payload);
  if (typeof payload !== "object" || payload === null) return scalarText(payload) ?? "";
  const fields = new Map<string, unknown>(Object.entries(payload));
  for (const name of TELLING) {
    const value = fields.get(name);
    if (typeof value === "string" && value.trim() !== "") return cut(value);
  }
  const parts = [...fields]
    .map(([name, value]) => [name, scalarText(value)] as const)
    .filter(([, value]) => value !== null && value.trim() !== "");
  const texts = Array.isArray(payload)
    ? parts.map(([, value]) => value)
    : parts.map((each) => each.join(" "));
  return cut(texts.slice(0, 3).join(", "));
}

function cut(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX)}…` : line;
}

function scalarText(value: unknown): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number") return markedNumber(String(value));
  return typeof value === "boolean" ? String(value) : null;
}

/** The first line of an error, with its name. */
export function errorLine(error: Job["error"]): string {
  if (error === null) return "";
  const [line = ""] = error.message.split("\n", 1);
  return error.name === "Error" || error.name === "" ? line : `${error.name}: ${line}`;
}

/** The value at a path of a payload as text; null if there is none. */
export function valueAt(payload: unknown, path: string): string | null {
  const value = foundAt(payload, path);
  return scalarText(value) ?? markedJson(value);
}

/** The value at a path of a payload; undefined if there is none. */
export function foundAt(payload: unknown, path: string): unknown {
  let value: any = payload;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = value[name];
  }
  return value;
}

/** What holds a queued job back, in a few words. */
export function heldLine(heldBy: NonNullable<Job["heldBy"]>): string {
  switch (heldBy.kind) {
    case "installation":
      return "Held: the whole installation is paused";
    case "service":
      return `Held: service ${heldBy.name} is paused, or its breaker is open`;
    case "limit":
      return `Held: the limit of ${heldBy.of.kind} ${heldBy.of.name} is used up`;
    case "key":
      return `Held: another job has the key ${heldBy.name}`;
    case "after":
      return "Held: it runs after jobs that have not ended";
    case "lane":
    case "type":
    case "tenant":
      return `Held: ${heldBy.kind} ${heldBy.name} is paused`;
  }
}

type Times = Pick<Job, "state" | "attempts" | "scheduledAt" | "runAt" | "startedAt" | "finishedAt">;

/** How long the job has waited for its start, from when it was due; null if it is not due. */
export function waitMs(job: Times, now: number): number | null {
  const due = Date.parse(job.runAt ?? job.scheduledAt);
  if (job.state === "scheduled") return null;
  if (job.state === "queued") return Math.max(0, now - due);
  if (job.startedAt === null) return null;
  return Math.max(0, Date.parse(job.startedAt) - Date.parse(job.scheduledAt));
}

/** How long the last run has taken; null if there was none. */
export function runMs(job: Times, now: number): number | null {
  if (job.startedAt === null) return null;
  if (job.state === "running") return Math.max(0, now - Date.parse(job.startedAt));
  if (job.finishedAt === null) return null;
  return Math.max(0, Date.parse(job.finishedAt) - Date.parse(job.startedAt));
}

/** The attempt that runs counts, although it is charged only at its end. */
export function attemptNow({ state, attempts }: Pick<Job, "state" | "attempts">): number {
  return state === "running" ? attempts + 1 : attempts;
}

export function isFinal({ state }: Pick<Job, "state">): boolean {
  return state !== "running" && state !== "queued" && state !== "scheduled";
}
