/**
 * Types, tenants, lanes and categories are integers in the tables. InternedNames are few and never
 * removed, so every process keeps those it has met. What was met inside a transaction that is
 * undone is forgotten with it.
 */
import { nameCodec, type NameKind } from "../../shared/codes.ts";
import type { Statements } from "./statements.ts";

/** InternedNames kept in memory; beyond that the memory starts anew. */
const NAMES_MAX = 20_000;

export class InternedNames {
  readonly #sql: Statements;
  readonly #ids: Readonly<Record<NameKind, Map<string, number>>> = {
    type: new Map(),
    tenant: new Map(),
    lane: new Map(),
    category: new Map(),
  };
  readonly #texts = new Map<number, { kind: NameKind; text: string }>();

  constructor(sql: Statements) {
    this.#sql = sql;
  }

  /** The id of a name; a new one is interned, so only inside a transaction. */
  id(kind: NameKind, text: string): number {
    const known = this.find(kind, text);
    if (known !== undefined) return known;
    const { lastKey } = this.#sql.run("insert_name", { kind: nameCodec.code[kind], text });
    this.#remember(lastKey, kind, text);
    return lastKey;
  }

  /** The id of a name, if any job or gate ever bore it. */
  find(kind: NameKind, text: string): number | undefined {
    const known = this.#ids[kind].get(text);
    if (known !== undefined) return known;
    const row = this.#sql.get("find_name", { kind: nameCodec.code[kind], text });
    if (row !== undefined) this.#remember(row.id, kind, text);
    return row?.id;
  }

  /** The name behind an id. */
  name(id: number): { kind: NameKind; text: string } {
    const known = this.#texts.get(id);
    if (known !== undefined) return known;
    const row = this.#sql.get("name_by_id", { id });
    if (row === undefined) throw new Error(`no name has the id ${id}`);
    const kind = nameCodec.word(row.kind);
    this.#remember(id, kind, row.text);
    return { kind, text: row.text };
  }

  text(id: number): string {
    return this.name(id).text;
  }

  /** Something was undone: what was met inside it may never have been. */
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
