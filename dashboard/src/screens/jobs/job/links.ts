/** Links to other tools, made from the templates of the settings. Pure. */
import type { Job } from "../../../api/operations.gen.ts";
import { valueAt } from "../list/job-text.ts";

export interface OutLink {
  readonly name: string;
  readonly href: string;
}

type LinkedJob = Pick<Job, "id" | "type" | "tenant" | "lane" | "correlationId" | "payload">;

/**
 * Templates such as `https://trace/{correlation_id}`. A link that lacks a value is left out, and so
 * is every address that is not http or https: a browser would run a `javascript:` one.
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

function fieldOf(name: string, job: LinkedJob): string | null {
  if (name.startsWith("payload.")) return valueAt(job.payload, name.slice("payload.".length));
  if (name === "correlation_id") return job.correlationId;
  if (name === "id" || name === "type" || name === "tenant" || name === "lane") return job[name];
  return null;
}

function isWeb(href: string): boolean {
  try {
    const { protocol } = new URL(href);
    return protocol === "http:" || protocol === "https:";
  } catch {
    return false;
  }
}
