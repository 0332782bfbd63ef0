/** What the code of a job file would say about a payload that waits in the store. */
import { definitionOf, type AnyContract } from "../../api/definition.ts";
import type { JobView } from "../../api/jobs.ts";
import { MillraceError } from "../../core/errors.ts";
import { checkPayload } from "../../core/payload-rules/check.ts";
import { addedUp, type PayloadRule } from "../../core/payload-rules/rule.ts";
import { utf8Bytes } from "../../core/text.ts";
import { parsePayload, readPayload, versionProblem } from "../new-job.ts";

type WaitingJob = Pick<
  JobView,
  "type" | "category" | "payload" | "payloadVersion" | "tenant" | "correlationId" | "idempotencyKey"
>;

/** What is wrong with a waiting payload. */
export interface WaitingProblem {
  /** `run`: an upcast or the schema fails the run. `rule`: only a new job would be refused. */
  readonly at: "run" | "rule";
  readonly problem: string;
}

/** Empty: nothing is wrong. */
export async function waitingProblems(
  job: WaitingJob,
  contract: AnyContract,
  rules: readonly PayloadRule[],
): Promise<readonly WaitingProblem[]> {
  const atRun = await codeProblems(job, contract);
  return [
    ...atRun.map((problem) => ({ at: "run" as const, problem })),
    ...ruleProblems(job, rules).map((problem) => ({ at: "rule" as const, problem })),
  ];
}

async function codeProblems(job: WaitingJob, contract: AnyContract): Promise<readonly string[]> {
  const { type, schema, settings } = definitionOf(contract);
  try {
    const stored = { version: job.payloadVersion, payload: job.payload ?? undefined };
    const read = readPayload(settings, stored);
    if (read.status !== "current") {
      return [versionProblem(type, settings, job.payloadVersion, read.status)];
    }
    if (schema !== undefined) await parsePayload(type, schema, read.payload);
    return [];
  } catch (error) {
    return [error instanceof MillraceError ? error.message : `upcast: ${messageOf(error)}`];
  }
}

/** Identity was decided when the job was enqueued; only the payload itself is looked at. */
function ruleProblems(job: WaitingJob, rules: readonly PayloadRule[]): readonly string[] {
  const rule = addedUp(rules);
  if (rule === null || job.payload === null) return [];
  const bytes = utf8Bytes(JSON.stringify(job.payload));
  return checkPayload(job.payload, bytes, rule, null).errors.map(({ message }) => message);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
