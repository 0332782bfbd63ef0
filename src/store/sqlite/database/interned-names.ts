/**
 * Types, tenants, lanes and categories are integers in the tables. Interned names are few and never
 * deleted, so each process caches those it has used. The cache is cleared when a transaction is
 * rolled back, because a name may have been inserted in it.
 */
import { nameCodec, unknownName, type NameKind } from "../../shared/codes.ts";
import type { Statements } from "./statements.ts";

/** The maximum of cached names. The cache is cleared when it is full. */
const NAMES_MAX = 20_000;

export class InternedNames {
  readonly #sql: Statements;
  readonly #ids: Readonly<Record<NameKind, Map<string, number>>> = {
    type: new Map(),
    tenant: new Map(),
    lane: new Map(),
    category: new Map(),
    service: new Map(),
    park: new Map(),
  };
  readonly #texts = new Map<number, { kind: NameKind; text: string }>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** The id of a name. Inserts a new name, so it may be called only inside a transaction. */
  id(kind: NameKind, text: string): number {
    const known = this.find(kind, text);
    if (known !== undefined) return known;
    const { lastKey } = this.#sql.run("insert_name", { kind: nameCodec.code[kind], text });
    this.#remember(lastKey, kind, text);
    return lastKey;
  }

  /** The id of a name; undefined if no job or gate ever had the name. */
  find(kind: NameKind, text: string): number | undefined {
    const known = this.#ids[kind].get(text);
    if (known !== undefined) return known;
    const row = this.#sql.get("find_name", { kind: nameCodec.code[kind], text });
    if (row !== undefined) this.#remember(row.id, kind, text);
    return row?.id;
  }

  /** The name with this id. Undefined: the row of the name was deleted by hand. */
  name(id: number): { kind: NameKind; text: string } | undefined {
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const row = this.#sql.get("name_by_id", { id });
    if (row === undefined) return undefined;
    const kind = nameCodec.word(row.kind);
    this.#remember(id, kind, row.text);
    return { kind, text: row.text };
  }

  text(id: number): string {
    return this.name(id)?.text ?? unknownName(id);
  }

  /** Clears the cache after a rollback: names inserted in the transaction are gone. */
  forget(): void {
    for (const ids of Object.values(this.#ids)) ids.clear();
    this.#texts.clear();
  }

  #remember(id: number, kind: NameKind, text: string): void {
    if (this.#texts.size >= NAMES_MAX) this.forget();
    this.#ids[kind].set(text, id);
    this.#texts.set(id, { kind, text });
  }
}
