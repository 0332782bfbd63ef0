/** Bulk operations as one tenant sees them: its own, on its own jobs and dead letters. */
import type { JobStore } from "../../store/store.ts";
import type { OperationPlan, OperationRecord } from "../../store/types/operations.ts";
import { concernsAll, forbiddenTenant, type TenantScope } from "./tenant-scope.ts";

type OperationVerb =
  | "startOperation"
  | "claimOperations"
  | "applyChunk"
  | "stopOperation"
  | "failOperation"
  | "operation"
  | "operations"
  | "operationItems";

export const OPERATION_RULES: {
  readonly [Name in OperationVerb]: (scope: TenantScope) => JobStore[Name];
} = {
  startOperation:
    ({ store, tenant }) =>
    async (operation) => {
      const plan = ownPlan(operation.plan, tenant);
      return store.startOperation({ ...operation, plan, tenant });
    },
  operation: (scope) => (id) => ownOperation(scope, id),
  operations: ({ store, tenant }) => {
    return async (query, page) =>
      query.tenant === undefined || query.tenant === tenant
        ? store.operations({ ...query, tenant }, page)
        : [];
  },
  operationItems: (scope) => async (id, page) =>
    (await ownOperation(scope, id)) === null ? [] : scope.store.operationItems(id, page),
  stopOperation: (scope) => async (id, by) =>
    (await ownOperation(scope, id)) === null ? null : scope.store.stopOperation(id, by),
  // Chunks of all tenants are applied by runners of the installation.
  claimOperations: ({ tenant }) => refused("claimOperations", tenant),
  applyChunk: ({ tenant }) => refused("applyChunk", tenant),
  failOperation: ({ tenant }) => refused("failOperation", tenant),
};

async function ownOperation(
  { store, tenant }: TenantScope,
  id: string,
): Promise<OperationRecord | null> {
  const found = await store.operation(id);
  return found?.tenant === tenant ? found : null;
}

/** The filter with the tenant in it. Ids are checked when their chunk is read. */
function ownPlan(plan: OperationPlan, tenant: string): OperationPlan {
  if ("ids" in plan) return plan;
  const filter = "jobs" in plan ? plan.jobs : plan.deadLetters;
  if (filter.tenant !== undefined && filter.tenant !== tenant) {
    const other = JSON.stringify(filter.tenant);
    throw forbiddenTenant(tenant, `an operation on jobs of ${other} concerns another tenant`);
  }
  return "jobs" in plan
    ? { ...plan, jobs: { ...plan.jobs, tenant } }
    : { ...plan, deadLetters: { ...plan.deadLetters, tenant } };
}

function refused(verb: OperationVerb, tenant: string): () => Promise<never> {
  return () => Promise.reject(concernsAll(verb, tenant));
}
