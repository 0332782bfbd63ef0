/** Tokens as one tenant sees them: those of other tenants, and of all tenants, do not exist. */
import type { IdentityStore } from "../../store/roles/identity.ts";
import type { TokenId, TokenRecord } from "../../store/types/tokens.ts";
import { concernsAll, forbiddenTenant, type TenantScope } from "./tenant-scope.ts";

type Rules = {
  readonly [Name in keyof IdentityStore]: (scope: TenantScope) => IdentityStore[Name];
};

export const TOKEN_RULES: Rules = {
  createToken: (scope) => async (token, reason) => {
    const { tenant } = scope;
    if (token.tenant !== tenant) throw forbiddenTenant(tenant, "a token reaches other tenants");
    const isOwnParent = token.parentId === null || (await ownToken(scope, token.parentId)) !== null;
    return isOwnParent ? scope.store.createToken(token, reason) : "parent_ended";
  },
  tokens:
    ({ store, tenant }) =>
    async (filter, page) =>
      (filter.tenant ?? tenant) === tenant ? store.tokens({ ...filter, tenant }, page) : [],
  token: (scope) => (id) => ownToken(scope, id),
  revokeToken: (scope) => async (id, act) =>
    (await ownToken(scope, id)) !== null && scope.store.revokeToken(id, act),
  // A server asks whose token it is before it knows the tenant.
  tokenOf:
    ({ tenant }) =>
    () =>
      Promise.reject(concernsAll("tokenOf", tenant)),
  markTokensUsed:
    ({ tenant }) =>
    () =>
      Promise.reject(concernsAll("markTokensUsed", tenant)),
};

async function ownToken({ store, tenant }: TenantScope, id: TokenId): Promise<TokenRecord | null> {
  const token = await store.token(id);
  return token?.tenant === tenant ? token : null;
}
