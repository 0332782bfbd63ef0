/** Audit entries: what operators have done, and the seals that show a later change. */
import type { ChainedEntry } from "../../core/audit/chain.ts";
import type { AuditName, AuditSubjectKind } from "../../core/audit/names.ts";
import type { JobId, JsonText } from "../../core/job.ts";

/** Who acts, and why. */
export interface Act {
  /** Null: the caller did not say. */
  readonly by: string | null;
  readonly reason: string | null;
}

export const NO_ACT: Act = { by: null, reason: null };

/** An entry as the store has it. */
export type AuditRecord = ChainedEntry;

export interface AuditSubject {
  readonly kind: AuditSubjectKind;
  readonly name: string;
}

export interface AuditQuery {
  /** Null: the entries of the whole installation. Absent: those of all tenants too. */
  readonly tenant?: string | null;
  readonly name?: AuditName;
  readonly actor?: string;
  readonly subject?: AuditSubject;
  /** Instants: from the first, up to and without the second. */
  readonly from?: number;
  readonly to?: number;
}

export interface AuditPage {
  /** The id of the last entry of the page before. */
  readonly after?: number;
  readonly limit: number;
  /** Default: the newest first. */
  readonly oldestFirst?: true;
}

/** The place of a seal among the seals of all chains: by tenant, day and position. */
export interface SealPlace {
  readonly tenant: string | null;
  readonly day: number;
  readonly position: number;
}

/** Which chains are read. */
export interface ChainScope {
  /** Null: the chain of the installation. Absent: all chains. */
  readonly tenant?: string | null;
}

/** Entries that have no seal, of a page of entries in the order of their ids. */
export interface UnsealedPage {
  readonly entries: readonly Pick<AuditRecord, "id" | "at" | "tenant">[];
  /** The last entry that was read. Null: the page was the last one. */
  readonly next: number | null;
}

/** A dead letter to reprocess, with the changes of its payload, without secrets. */
export interface ReprocessRequest {
  readonly id: JobId;
  readonly changes: JsonText | null;
}
