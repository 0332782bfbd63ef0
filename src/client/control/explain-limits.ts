/** The limits in `mill.jobs.explain`: a limit that is used up, or a rate without a token. */
import type { Explanation } from "../../api/control/explanation.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { JobStore } from "../../store/store.ts";
import type { LimitRecord } from "../../store/types/limits.ts";
import type { JobRecord } from "../../store/types/records.ts";

/** Null: each limit that applies to the job allows another one. */
export async function explainLimits(
  store: Pick<JobStore, "limits">,
  job: Pick<JobRecord, "type" | "tenant">,
  context: { readonly now: number; readonly isOneTenant: boolean },
): Promise<Explanation | null> {
  const own = (await store.limits()).filter((limit) => appliesTo(limit, job));
  const usedUp = own.find(({ concurrency, used }) => concurrency !== null && used >= concurrency);
  if (usedUp !== undefined) return explainUsedUp(usedUp, context.isOneTenant);
  const rated = own.find(({ nextTokenMs }) => (nextTokenMs ?? 0) > 0);
  return rated === undefined ? null : explainRate(rated, context.now);
}

function appliesTo({ kind, name }: LimitRecord, job: Pick<JobRecord, "type" | "tenant">): boolean {
  return kind === "installation" || name === (kind === "type" ? job.type : job.tenant);
}

/** The mill of a tenant is not told how many jobs of others run. */
function explainUsedUp(limit: LimitRecord, isOneTenant: boolean): Explanation {
  const { kind, name } = limit;
  const concurrency = limit.concurrency ?? 0;
  const used = isOneTenant && kind !== "tenant" ? null : limit.used;
  const jobs = `running job${concurrency === 1 ? "" : "s"}`;
  const over = used !== null && used > concurrency ? `, and ${used} are taken` : "";
  return {
    sentence: `The limit of ${concurrency} ${jobs} of ${subjectOf(limit)} is used up${over}.`,
    reason: "limit",
    hint: `To raise it: millrace limits set ${optionOf(limit)} --concurrency NUMBER`,
    details: { kind, name, concurrency, used },
  };
}

function explainRate(limit: LimitRecord, now: number): Explanation {
  const until = new Date(now + (limit.nextTokenMs ?? 0));
  return {
    sentence: `The rate of ${subjectOf(limit)} allows the next job at ${until.toISOString()}.`,
    reason: "rate",
    hint: `To raise it: millrace limits set ${optionOf(limit)} --rate NUMBER/PERIOD`,
    until,
    details: { kind: limit.kind, name: limit.name, nextStartAt: until },
  };
}

function subjectOf({ kind, name }: LimitRecord): string {
  return kind === "installation" ? "the installation" : `the ${kind} ${name}`;
}

function optionOf({ kind, name }: LimitRecord): string {
  return kind === "installation" ? "--all" : `--${kind} ${shellWord(name)}`;
}
