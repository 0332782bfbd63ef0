/** The audit: entries are written by the verbs of operators, in the transaction of each act. */
import type { ChainHead } from "../../core/audit/chain.ts";
import type { NewestSealed, SealedRow } from "../../core/audit/verify.ts";
import type {
  Act,
  AuditPage,
  AuditQuery,
  AuditRecord,
  ChainScope,
  ReprocessRequest,
  SealPlace,
  UnsealedPage,
} from "../types/audit.ts";

export interface AuditStore {
  /**
   * Writes `job_dlq_reprocess_requested` for each of up to 500 dead letters that is open. The
   * reprocessing follows in a transaction of its own: if it is refused, the request stays. Answers
   * how many entries were written.
   */
  requestReprocess(requests: readonly ReprocessRequest[], act: Act): Promise<number>;
  /** One page of entries, newest first, or in the order of their ids. */
  audits(query: AuditQuery, page: AuditPage): Promise<readonly AuditRecord[]>;
  /**
   * Seals up to `limit` entries that have no seal: each becomes the next link of the chain of its
   * tenant. Answers how many. On PostgreSQL one call at a time seals, and answers 0 to the others.
   * An entry that was inserted before sealed ones stays without a seal: on SQLite by its id, on
   * PostgreSQL by its time, five minutes before the newest sealed entry.
   */
  sealAudit(limit: number): Promise<number>;
  /** Seals with their entries, by tenant and in the order of each chain. */
  auditSeals(
    scope: ChainScope,
    page: { readonly after?: SealPlace; readonly limit: number },
  ): Promise<readonly SealedRow[]>;
  /**
   * The last seal of a chain that retention has removed, also if no seal is left; of null: of the
   * chain of the installation. Null: retention has removed none.
   */
  chainStart(tenant: string | null): Promise<ChainHead | null>;
  /** The newest entry that has a seal: an older one without a seal was inserted afterwards. */
  newestSealed(scope: ChainScope): Promise<NewestSealed>;
  /** The entries without a seal, among the next `limit` entries. */
  unsealedAudits(
    scope: ChainScope,
    page: { readonly after?: number; readonly limit: number },
  ): Promise<UnsealedPage>;
}
