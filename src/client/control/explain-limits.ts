/** The limits in `mill.jobs.explain`: a limit that is used up, or a rate without a token. */
import type { Explanation } from "../../api/control/explanation.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { JobStore } from "../../store/store.ts";
import type { LimitRecord } from "../../store/types/limits.ts";
import type { JobRecord } from "../../store/types/records.ts";

/** Null: each limit that applies to the job allows another one. */
export async function explainLimits(
  store: Pick<JobStore, "limits" | "types">,
  job: Pick<JobRecord, "type" | "tenant" | "concurrencyKey">,
  now: number,
): Promise<Explanation | null> {
  const limits = await store.limits();
  const isService = limits.some(({ kind }) => kind === "service");
  const [declared] = isService ? await store.types(job.type) : [];
  const subject = { ...job, services: declared?.services ?? [] };
  const own = limits.filter((limit) => appliesTo(limit, subject));
  const usedUp = own.find(({ isUsedUp }) => isUsedUp);
  if (usedUp !== undefined) return explainUsedUp(usedUp);
  const rated = own.find(({ nextTokenMs }) => (nextTokenMs ?? 0) > 0);
  return rated === undefined ? null : explainRate(rated, now);
}

interface LimitedJob extends Pick<JobRecord, "type" | "tenant" | "concurrencyKey"> {
  readonly services: readonly string[];
}

function appliesTo({ kind, name, tenant }: LimitRecord, job: LimitedJob): boolean {
  switch (kind) {
    case "type":
      return name === job.type;
    case "tenant":
      return name === job.tenant;
    case "service":
      return job.services.includes(name);
    case "key":
      return name === job.concurrencyKey && tenant === job.tenant;
    case "installation":
      return true;
  }
}

/** The mill of a tenant is not told how many jobs of others run. */
function explainUsedUp(limit: LimitRecord): Explanation {
  const { kind, name, used } = limit;
  const concurrency = limit.concurrency ?? 0;
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
  if (kind === "installation") return "the installation";
  return `the ${kind === "key" ? "concurrency key" : kind} ${name}`;
}

function optionOf({ kind, name, tenant }: LimitRecord): string {
  if (kind === "installation") return "--all";
  const of = tenant === undefined ? "" : ` --tenant ${shellWord(tenant)}`;
  return `--${kind} ${shellWord(name)}${of}`;
}
