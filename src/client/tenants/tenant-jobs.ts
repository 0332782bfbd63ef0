/** New jobs of a mill of one tenant: they belong to the tenant, and so do their links. */
import type { JobId } from "../../core/job.ts";
import type { EnqueueAnswer, NewJob } from "../../store/types/jobs-and-runs.ts";
import { forbiddenTenant, type TenantScope } from "./tenant-scope.ts";

/** The letters of an id. */
const ID_LETTERS = 26;

export interface TenantJobs {
  readonly jobs: readonly NewJob[];
  /** The answers of the store, with the ids that the caller knows. */
  readonly answered: (answers: readonly EnqueueAnswer[]) => readonly EnqueueAnswer[];
}

/**
 * The jobs that the store gets. Throws FORBIDDEN_TENANT for a job of another tenant.
 *
 * In `after`, the id of another tenant's job is replaced by an id that no job has. So the store
 * itself answers as for an unknown job, in every combination with keys and other dependencies. A
 * `retryOf` that is not of the tenant becomes such a dependency, because the store would otherwise
 * copy the checkpoints of the other job, or answer its successor. A `parentId` stays: the store
 * does not look for the parent, and reading by parent is limited to the tenant.
 */
export async function tenantJobs(
  { store, tenant }: TenantScope,
  given: readonly NewJob[],
): Promise<TenantJobs> {
  const other = given.find((job) => job.tenant !== tenant);
  if (other !== undefined) {
    const subject = `a job of type "${other.type}" with the tenant ${JSON.stringify(other.tenant)}`;
    throw forbiddenTenant(tenant, `${subject} concerns another tenant`);
  }
  const links = [...new Set(given.flatMap(linksOf))];
  if (links.length === 0) return { jobs: given, answered: (answers) => answers };
  const tenants = await store.tenantsOf(links);
  const tenantOf = new Map(links.map((id, index) => [id, tenants[index] ?? null]));
  const standIns = new StandIns();
  const jobs = given.map((job) => {
    // An unknown dependency stays, because it may be a job of this call or of the transaction.
    const isOther = (id: JobId): boolean => (tenantOf.get(id) ?? tenant) !== tenant;
    const after = job.after.map((id) => (isOther(id) ? standIns.of(id) : id));
    const { retryOf } = job;
    if (retryOf === null || tenantOf.get(retryOf) === tenant) return { ...job, after };
    return { ...job, retryOf: null, after: [...after, standIns.of(retryOf)] };
  });
  return { jobs, answered: (answers) => answers.map((answer) => standIns.undo(answer)) };
}

function linksOf({ after, retryOf }: NewJob): readonly JobId[] {
  return retryOf === null ? after : [...after, retryOf];
}

/** Ids that no job has: those of jobs are UUIDs of version 7, and these have version 0. */
class StandIns {
  readonly #originals = new Map<JobId, JobId>();

  of(id: JobId): JobId {
    const standIn = String(this.#originals.size).padStart(ID_LETTERS, "0");
    this.#originals.set(standIn, id);
    return standIn;
  }

  undo(answer: EnqueueAnswer): EnqueueAnswer {
    if (answer.status !== "refused") return answer;
    return { ...answer, holder: this.#originals.get(answer.holder) ?? answer.holder };
  }
}
