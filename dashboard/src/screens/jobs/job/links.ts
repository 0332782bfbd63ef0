/** Links to other tools, made from the templates of the settings. Pure. */
import type { Job } from "../../../api/operations.gen.ts";
import { isInexact } from "../../../lib/inexact.ts";
import { foundAt, valueAt } from "../list/job-text.ts";

export interface OutLink {
  readonly name: string;
  readonly href: string;
}

type LinkedJob = Pick<
  Job,
  "id" | "type" | "tenant" | "correlationId" | "parentId" | "tags" | "payload"
>;

/**
 * Templates such as `https://trace/{correlation_id}`. A link that lacks a value is left out, and so
 * is one with a number that has lost digits, which would lead to another place, and every address
 * that is not http or https: a browser would run a `javascript:` one.
 */
export function linksOf(
  templates: Readonly<Record<string, string>>,
  job: LinkedJob,
): readonly OutLink[] {
  return Object.entries(templates).flatMap(([name, template]) => {
    const href = filled(template, job);
    return href !== null && isWeb(href) ? [{ name, href }] : [];
  });
}

function filled(template: string, job: LinkedJob): string | null {
  let isWhole = true;
  const href = template.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => {
    const value = fieldOf(name, job);
    if (value === null) isWhole = false;
    return encodeURIComponent(value ?? "");
  });
  return isWhole ? href : null;
}

/** The names that the server accepts in a template. */
function fieldOf(name: string, job: LinkedJob): string | null {
  if (name.startsWith("payload.")) return payloadField(job, name.slice("payload.".length));
  if (name.startsWith("tags.")) return tagOf(job.tags, name.slice("tags.".length));
  if (name === "correlation_id") return job.correlationId;
  if (name === "parent_id") return job.parentId;
  return name === "id" || name === "type" || name === "tenant" ? job[name] : null;
}

/** The name of a tag is any text, dots included. */
function tagOf(tags: LinkedJob["tags"], name: string): string | null {
  return Object.hasOwn(tags, name) ? (tags[name] ?? null) : null;
}

function payloadField({ payload }: LinkedJob, path: string): string | null {
  return isInexact(foundAt(payload, path)) ? null : valueAt(payload, path);
}

function isWeb(href: string): boolean {
  try {
    const { protocol } = new URL(href);
    return protocol === "http:" || protocol === "https:";
  } catch {
    return false;
  }
}
