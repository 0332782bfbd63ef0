/** The limits in `mill.jobs.explain`: a limit that is used up, or a rate without a token. */
import type { Explanation } from "../../api/control/explanation.ts";
import { shellWord } from "../../lib/shell-word.ts";
import type { JobStore } from "../../store/store.ts";
import type { LimitRecord } from "../../store/types/limits.ts";
import type { JobRecord } from "../../store/types/records.ts";

/**
 * Null: each limit that applies to the job allows another one. Of several rates without a token,
 * the answer is about the last to have one. The job starts when the others allow it as well.
 */
export async function explainLimits(
  store: Pick<JobStore, "limits" | "types">,
  job: Pick<JobRecord, "type" | "tenant" | "concurrencyKey">,
  now: number,
): Promise<Explanation | null> {
  const limits = await store.limits(job);
  const isService = limits.some(({ kind }) => kind === "service");
  const [declared] = isService ? await store.types(job.type) : [];
  const subject = { ...job, services: declared?.services ?? [] };
  const own = limits.filter((limit) => appliesTo(limit, subject));
  const full = own.filter(({ isUsedUp }) => isUsedUp);
  const rates = own.filter((limit) => waitOf(limit) > 0);
  const [usedUp, ...moreFull] = full;
  const [rate, ...moreRates] = rates.toSorted((left, right) => waitOf(right) - waitOf(left));
  if (usedUp !== undefined) return alsoOf(explainUsedUp(usedUp), moreFull, rates);
  return rate === undefined ? null : alsoOf(explainRate(rate, now), [], moreRates);
}

/** The time until the rate of a limit has a token. */
function waitOf({ nextTokenMs }: LimitRecord): number {
  return nextTokenMs ?? 0;
}

function alsoOf(
  explanation: Explanation,
  full: readonly LimitRecord[],
  rates: readonly LimitRecord[],
): Explanation {
  const also = [
    ...full.map((limit) => ` The limit of ${subjectOf(limit)} is used up as well.`),
    ...rates.map((limit) => ` The rate of ${subjectOf(limit)} has no token either.`),
  ];
  return { ...explanation, sentence: explanation.sentence + also.join("") };
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
  const until = new Date(now + waitOf(limit));
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
