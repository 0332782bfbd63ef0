/** `mill.audit`: what operators have done, and whether the record was changed. */
import type { AuditName, AuditSubjectKind } from "../../core/audit/names.ts";
import type { AuditFindingKind } from "../../core/audit/verify.ts";
import type { Instant } from "../../core/duration.ts";
import type { Json } from "../../core/payload.ts";

/** Who acts, and why, for the audit. */
export interface ActedBy {
  /** A person or a program, of up to 2,000 characters. */
  readonly actor?: string;
  /** Up to 2,000 characters. */
  readonly reason?: string;
}

export interface Audit {
  /**
   * Lists entries, newest first.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { createTestMill } from "millrace/testing";
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * await mill.pause({ lane: "fast" }, "the mail server moves", { actor: "ada" });
   *
   * const [entry] = await mill.audit.list({ actor: "ada" });
   * assert.equal(entry?.name, "lane_paused");
   * assert.deepEqual(entry?.subject, { kind: "lane", name: "fast" });
   * assert.equal(entry?.reason, "the mail server moves");
   * ```
   */
  list(filter?: AuditFilter): Promise<readonly AuditEntry[]>;
  /**
   * All entries of a filter, oldest first, as lines of JSON, each with its line break. A few
   * hundred entries are in memory at a time.
   */
  export(filter?: Omit<AuditFilter, "after" | "limit">): AsyncIterable<string>;
  /**
   * Checks every entry and every seal, and answers what was removed, altered or inserted. With
   * `heads` of an earlier answer, also what was removed from the end of a chain.
   */
  verify(options?: { readonly heads?: readonly AuditHead[] }): Promise<AuditVerdict>;
}

export interface AuditFilter {
  /** `null`: entries about the whole installation. Default: all. */
  tenant?: string | null;
  name?: AuditName;
  actor?: string;
  subject?: AuditSubjectView;
  /** From this instant on, up to and without the other one. */
  from?: Instant;
  to?: Instant;
  /** The id of the last entry of the page before. */
  after?: number;
  /** The maximum number of entries. Default 50, at most 1,000. */
  limit?: number;
}

/** What an act was about: a job, a lane, a schedule and so on. */
export interface AuditSubjectView {
  readonly kind: AuditSubjectKind;
  /** The id of a job, a worker or a token; else a name. */
  readonly name: string;
}

export interface AuditEntry {
  readonly id: number;
  readonly at: Date;
  /** `null`: the act concerned the whole installation. */
  readonly tenant: string | null;
  /** Such as `lane_paused`; docs/audit.md has them all. */
  readonly name: string;
  readonly actor: string | null;
  readonly reason: string | null;
  readonly subject: { readonly kind: string; readonly name: string };
  /** The small state before and after the act, without payloads. */
  readonly before: Json;
  readonly after: Json;
}

/** The last seal of a chain. Keep it outside the database to compare with it later. */
export interface AuditHead {
  readonly tenant: string | null;
  /** The day in UTC, such as `2026-01-31`. */
  readonly day: string;
  readonly position: number;
  readonly hash: string;
}

export interface AuditFindingView {
  readonly kind: AuditFindingKind;
  readonly tenant: string | null;
  readonly day: string | null;
  readonly position: number | null;
  readonly entryId: number | null;
  /** One sentence about what was found. */
  readonly message: string;
}

export interface AuditVerdict {
  /** True: nothing was found. */
  readonly isIntact: boolean;
  /** The first 100 findings; `more` counts the others. */
  readonly findings: readonly AuditFindingView[];
  readonly more: number;
  /** Entries that have a seal. */
  readonly sealed: number;
  /** Entries that wait for their seal; a worker or a server seals them within seconds. */
  readonly unsealed: number;
  readonly heads: readonly AuditHead[];
}
