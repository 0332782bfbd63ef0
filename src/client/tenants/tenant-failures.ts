/** Groups of failures as one tenant sees them: its own dead letters, and its own decisions. */
import type { JobStore } from "../../store/store.ts";
import type { FailureScope } from "../../store/types/failures.ts";
import { tenantJobs } from "./tenant-jobs.ts";
import { ownAmong, type TenantScope } from "./tenant-scope.ts";

type FailureVerb =
  | "failureGroups"
  | "failureGroup"
  | "failureDecisions"
  | "lettersOfCause"
  | "decideGroup"
  | "reprocessMany"
  | "discardMany";

export const FAILURE_RULES: {
  readonly [Name in FailureVerb]: (scope: TenantScope) => JobStore[Name];
} = {
  failureGroups: (scope) => async (asked, limit, after) =>
    isOther(scope, asked) ? [] : scope.store.failureGroups({ tenant: scope.tenant }, limit, after),
  failureGroup: (scope) => async (cause, asked) =>
    isOther(scope, asked) ? null : scope.store.failureGroup(cause, { tenant: scope.tenant }),
  failureDecisions: (scope) => async (tenant, page) =>
    isOther(scope, { tenant }) ? [] : scope.store.failureDecisions(tenant, page),
  lettersOfCause: (scope) => async (cause, asked, page) => {
    const { after } = page;
    // A page cannot begin at a letter of another tenant, as it cannot at an unknown one.
    const isForeign = after !== undefined && !(await ownAmong(scope, [after])).has(after);
    if (isForeign || isOther(scope, asked)) return [];
    return scope.store.lettersOfCause(cause, { tenant: scope.tenant }, page);
  },
  decideGroup: (scope) => async (cause, asked, decision) =>
    !isOther(scope, asked) && scope.store.decideGroup(cause, { tenant: scope.tenant }, decision),
  reprocessMany: (scope) => async (successors, by, notes) => {
    const own = await ownAmong(
      scope,
      successors.map(({ retryOf }) => retryOf),
    );
    const mine = successors.filter(({ retryOf }) => own.has(retryOf));
    const { jobs } = await tenantJobs(
      scope,
      mine.map((job) => ({ ...job, retryOf: null })),
    );
    const linked = jobs.map((job, index) => ({ ...job, retryOf: mine[index]!.retryOf }));
    const outcomes = new Map(
      (await scope.store.reprocessMany(linked, by, notes)).map((each) => [each.id, each]),
    );
    return successors.map(
      ({ retryOf: id }) => outcomes.get(id) ?? { id, status: "closed", job: null },
    );
  },
  discardMany: (scope) => async (ids, by, notes) => {
    const own = await ownAmong(scope, ids);
    return scope.store.discardMany(
      ids.filter((id) => own.has(id)),
      by,
      notes,
    );
  },
};

function isOther(scope: TenantScope, { tenant }: FailureScope): boolean {
  return tenant !== undefined && tenant !== scope.tenant;
}
