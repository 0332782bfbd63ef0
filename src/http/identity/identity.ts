/** Who makes a request, and which routes are open to whom. */
import type { PersonRole } from "../../api/tokens.ts";
import type { TokenView } from "../../api/tokens.ts";

/** The caller of a route. */
export interface Identity {
  /** The name for records, such as `createdBy` of a job. */
  readonly actor: string;
  readonly kind: IdentityKind;
  /** The roles of a person. */
  readonly roles: readonly PersonRole[];
  /** The only tenant that the caller reaches; null: all tenants. */
  readonly tenant: string | null;
  /** The job types of a producer or worker; null: all types. */
  readonly types: readonly string[] | null;
  /** The job that a stream token reads. */
  readonly jobId: string | null;
  /** The token behind the credential; null: the server or the host application knows the caller. */
  readonly tokenId: string | null;
}

type IdentityKind = "person" | "producer" | "worker" | "stream";

/**
 * Who may call a route. There is no default: a route without an access does not compile, and one
 * that names no caller does not start.
 */
export type Access = "public" | AccessList;

interface AccessList {
  readonly roles: readonly PersonRole[];
  /** Credentials of programs that the route takes as well. */
  readonly kinds?: readonly Exclude<IdentityKind, "person">[];
  /**
   * The route concerns all tenants: a caller of one tenant is refused.
   */
  readonly isInstanceWide?: true;
}

/** Reading states, counts and times. */
export const SEE: AccessList = { roles: ["viewer", "operator", "manager", "admin"] };
/** The same, for routes about one job, which a stream token may name. */
export const SEE_JOB: AccessList = { ...SEE, kinds: ["stream"] };
/** Changing what happens to jobs. */
export const OPERATE: AccessList = { roles: ["operator", "manager"] };
/** Enqueueing jobs. */
export const PRODUCE: AccessList = { roles: ["operator", "manager"], kinds: ["producer"] };
/** Decisions that need a reason: dead letters. */
export const MANAGE: AccessList = { roles: ["manager"] };
/** Tokens of the own tenant, or of all. */
export const GRANT: AccessList = { roles: ["manager", "admin"] };
/** What an administrator of the installation decides about tenants. */
export const ADMINISTER: AccessList = { roles: ["admin"], isInstanceWide: true };
/** What concerns the whole installation. */
export const SEE_INSTANCE: AccessList = { ...SEE, isInstanceWide: true };
export const MANAGE_INSTANCE: AccessList = { ...MANAGE, isInstanceWide: true };
export const OPERATE_INSTANCE: AccessList = { ...OPERATE, isInstanceWide: true };
/** Reading what others have done, of the own tenant or of all. */
export const READ_AUDIT: AccessList = { roles: ["operator", "manager", "admin"] };
/** Reading what was done about the whole installation, apart from its tenants. */
export const READ_INSTALLATION: AccessList = { ...GRANT, isInstanceWide: true };
/** Any caller with a credential. */
export const ANY_CALLER: AccessList = {
  roles: ["viewer", "operator", "manager", "admin"],
  kinds: ["producer", "worker", "stream"],
};

/** Whether an identity may call a route, before the route looks at tenants and types. */
export function mayCall(access: Access, identity: Identity): boolean {
  if (access === "public") return true;
  if (access.isInstanceWide === true && identity.tenant !== null) return false;
  if (identity.kind !== "person") return access.kinds?.includes(identity.kind) === true;
  return identity.roles.some((role) => access.roles.includes(role));
}

/** The person who started the server: every role, all tenants. */
export function ownerOf(actor: string): Identity {
  return {
    actor,
    kind: "person",
    roles: ["viewer", "operator", "manager", "admin"],
    tenant: null,
    types: null,
    jobId: null,
    tokenId: null,
  };
}

export function identityOf(token: TokenView): Identity {
  const { actor, kind, roles, tenant, types, jobId, id } = token;
  return {
    actor,
    kind: kind === "session" ? "person" : kind,
    roles,
    tenant,
    types,
    jobId,
    tokenId: id,
  };
}
