/** Checks the chains of audit entries: what was removed, altered, swapped or inserted. */
import {
  CHAIN_START,
  placeAfter,
  sealHash,
  type ChainedEntry,
  type ChainHead,
  type ChainPlace,
  type Digest,
  type Seal,
} from "./chain.ts";

/** A seal with its entry, and the place up to which retention has removed the chain. */
export interface SealedRow extends Seal {
  /** Null: there is no entry with this id. */
  readonly entry: ChainedEntry | null;
  readonly start: ChainHead | null;
}

export type AuditFindingKind =
  /** A seal has no entry. */
  | "entry_removed"
  /** The entry, or the seal, is not what was sealed. */
  | "altered"
  /** Seals are missing before this one, or others stand there. */
  | "seals_removed"
  /** An entry without a seal, older than others that have one. */
  | "unsealed"
  /** The chain does not have a head that was exported before. */
  | "head_removed";

export interface AuditFinding {
  readonly kind: AuditFindingKind;
  readonly tenant: string | null;
  readonly day: number | null;
  readonly position: number | null;
  readonly auditId: number | null;
}

/** The head of one chain. */
export interface TenantHead extends ChainHead {
  readonly tenant: string | null;
}

/**
 * The newest entry that has a seal: by id where ids have the order of commits, else by time. Null:
 * there is none, or the other one counts.
 */
export interface NewestSealed {
  readonly id: number | null;
  readonly at: number | null;
}

/** An entry commits at most so long after another one with a later time. */
export const LATE_MS_MAX = 300_000;

/** Whether an entry without a seal was inserted after later ones were sealed. */
export function isLate({ id, at }: Pick<ChainedEntry, "id" | "at">, newest: NewestSealed): boolean {
  if (newest.id !== null && id < newest.id) return true;
  return newest.at !== null && at < newest.at - LATE_MS_MAX;
}

/** Checks seals, which come by tenant, and in the order of each chain. */
export class ChainCheck {
  readonly #digest: Digest;
  /** The heads of an earlier export that were not found yet, by their place. */
  readonly #wanted: Map<string, TenantHead>;
  readonly #heads: TenantHead[] = [];
  #last: Chain | null = null;
  #count = 0;

  constructor(digest: Digest, wanted: readonly TenantHead[] = []) {
    this.#digest = digest;
    this.#wanted = new Map(wanted.map((head) => [keyOf(head), head]));
  }

  /** The number of seals. */
  get count(): number {
    return this.#count;
  }

  add(row: SealedRow): AuditFinding | null {
    this.#count += 1;
    const before = this.#chainOf(row);
    const kind = this.#problem(row, before.head) ?? this.#headProblem(row);
    const { tenant, day, position, hash } = row;
    this.#last = { tenant, start: row.start, head: { day, position, hash } };
    return kind === null ? null : findingAt(kind, row);
  }

  /** The heads of all chains, after the last seal. */
  heads(): readonly TenantHead[] {
    this.#endChain();
    return this.#heads;
  }

  /** The chains of heads of the earlier export that were not found, after the last seal. */
  tenantsOfMissingHeads(): readonly (string | null)[] {
    return [...new Set([...this.#wanted.values()].map(({ tenant }) => tenant))];
  }

  /**
   * Heads of the earlier export that no chain has, after the last seal. `starts` are the places up
   * to which retention has removed these chains: of a chain without seals, no row has told it.
   */
  missingHeads(starts: readonly TenantHead[] = []): readonly AuditFinding[] {
    const altered = starts.flatMap((start) => {
      const kind = this.#headProblem(start);
      this.#forget(start.tenant, start);
      return kind === null ? [] : [findingAt(kind, { ...start, auditId: null })];
    });
    const missing = [...this.#wanted.values()].map((head) =>
      findingAt("head_removed", { ...head, auditId: null }),
    );
    return [...altered, ...missing];
  }

  /** The chain before a row. Retention may have removed its beginning since the row before. */
  #chainOf({ tenant, start }: SealedRow): Chain {
    const last = this.#last;
    const isSame = last !== null && last.tenant === tenant;
    if (isSame && sameHead(last.start, start)) return last;
    // The rows up to the last one were checked before retention has removed some of them.
    if (isSame && start !== null && !isAfter(start, last.head)) return { ...last, start };
    if (last !== null && last.tenant !== tenant) this.#endChain();
    if (start !== null) this.#forget(tenant, start);
    return { tenant, start, head: start ?? CHAIN_START };
  }

  #endChain(): void {
    if (this.#last === null) return;
    this.#heads.push({ tenant: this.#last.tenant, ...this.#last.head });
    this.#last = null;
  }

  /** What retention has removed is not missing. */
  #forget(tenant: string | null, start: ChainHead): void {
    for (const [key, head] of this.#wanted) {
      if (head.tenant === tenant && !isAfter(head, start)) this.#wanted.delete(key);
    }
  }

  #problem(row: SealedRow, last: ChainHead): AuditFindingKind | null {
    const { entry } = row;
    if (entry === null) return "entry_removed";
    const isOwn = entry.tenant === row.tenant && entry.id === row.auditId;
    const isIntact = isOwn && row.hash === sealHash(row, entry, this.#digest);
    if (!isIntact) return "altered";
    if (row.previous !== last.hash) return "seals_removed";
    return samePlace(row, placeAfter(last, entry)) ? null : "altered";
  }

  #headProblem(row: TenantHead): AuditFindingKind | null {
    const key = keyOf(row);
    const wanted = this.#wanted.get(key);
    if (wanted === undefined) return null;
    this.#wanted.delete(key);
    return wanted.hash === row.hash ? null : "altered";
  }
}

interface Chain {
  readonly tenant: string | null;
  readonly start: ChainHead | null;
  readonly head: ChainHead;
}

function keyOf({ tenant, day, position }: ChainPlace & { tenant: string | null }): string {
  return JSON.stringify([tenant, day, position]);
}

function findingAt(
  kind: AuditFindingKind,
  { tenant, day, position, auditId }: Omit<AuditFinding, "kind">,
): AuditFinding {
  return { kind, tenant, day, position, auditId };
}

function samePlace(one: ChainPlace, other: ChainPlace): boolean {
  return one.day === other.day && one.position === other.position;
}

function sameHead(one: ChainHead | null, other: ChainHead | null): boolean {
  if (one === null || other === null) return one === other;
  return samePlace(one, other) && one.hash === other.hash;
}

function isAfter(one: ChainPlace, other: ChainPlace): boolean {
  return one.day > other.day || (one.day === other.day && one.position > other.position);
}
