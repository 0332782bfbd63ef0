/**
 * Types, tenants, lanes and categories are integers in the tables. InternedNames are few and never
 * removed, so every process keeps those it has met. A new one is interned in a transaction of its
 * own before it is used: inside a longer one it would stop everybody who needs the same name.
 */
import type { Dice } from "../../../core/clock.ts";
import { nameCodec, type NameKind } from "../../shared/codes.ts";
import { failureOf } from "./errors.ts";
import { repeating } from "./retry.ts";
import type { Sql } from "./statements.ts";
import { list } from "./values.ts";

/**
 * InternedNames kept in memory, in each of two generations: the older goes when the younger is
 * full.
 */
const GENERATION_MAX = 20_000;

export interface InternedName {
  readonly kind: NameKind;
  readonly text: string;
}

export class InternedNames {
  readonly #dice: Dice;
  readonly #read: Sql;
  readonly #write: Sql;
  #young = new Generation();
  #old = new Generation();

  constructor(dice: Dice, read: Sql, write: Sql) {
    this.#dice = dice;
    this.#read = read;
    this.#write = write;
  }

  /** The id of a name that was interned or looked up before. */
  known(kind: NameKind, text: string): number | undefined {
    return this.#young.ids[kind].get(text) ?? this.#old.ids[kind].get(text);
  }

  /** Makes sure that names have ids. One that the database does not take stays unknown. */
  async intern(wanted: readonly InternedName[]): Promise<void> {
    const missing = this.#missing(wanted);
    if (missing.length === 0) return;
    await this.find(missing);
    const fresh = this.#missing(missing);
    if (fresh.length === 0) return;
    try {
      await repeating(this.#dice, () => this.#write.run("intern_names", { wanted: coded(fresh) }));
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
      if (fresh.length === 1) return;
      for (const name of fresh) await this.intern([name]);
      return;
    }
    await this.find(fresh);
  }

  /** Looks names up without making any. One that no job or gate ever bore stays unknown. */
  async find(wanted: readonly InternedName[]): Promise<void> {
    const missing = this.#missing(wanted);
    if (missing.length === 0) return;
    try {
      this.#remember(await this.#read.all("find_names", { wanted: coded(missing) }));
    } catch (error) {
      // A text that the database does not take is nobody's name.
      if (failureOf(error) !== "refused") throw error;
      if (missing.length > 1) for (const name of missing) await this.find([name]);
    }
  }

  /** The id of one name, if any job or gate ever bore it. */
  async id(kind: NameKind, text: string): Promise<number | undefined> {
    await this.find([{ kind, text }]);
    return this.known(kind, text);
  }

  /** Makes sure that the texts behind these ids are known. */
  async learn(ids: readonly number[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => this.#lookUp(id) === undefined);
    if (missing.length === 0) return;
    this.#remember(await this.#read.all("names_by_id", { ids: list(missing) }));
  }

  /** The name behind an id that was learnt before. */
  name(id: number): InternedName {
    const name = this.#lookUp(id);
    if (name === undefined) throw new Error(`no name with the id ${id} was learnt`);
    return name;
  }

  text(id: number): string {
    return this.name(id).text;
  }

  #lookUp(id: number): InternedName | undefined {
    return this.#young.names.get(id) ?? this.#old.names.get(id);
  }

  #missing(wanted: readonly InternedName[]): InternedName[] {
    const missing = wanted.filter(({ kind, text }) => this.known(kind, text) === undefined);
    const seen = new Set<string>();
    return missing.filter(({ kind, text }) => {
      const mark = `${kind} ${text}`;
      return !seen.has(mark) && seen.add(mark);
    });
  }

  #remember(rows: readonly { id: number; kind: number; text: string }[]): void {
    if (this.#young.names.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    for (const { id, kind: code, text } of rows) {
      const kind = nameCodec.word(code);
      this.#young.ids[kind].set(text, id);
      this.#young.names.set(id, { kind, text });
    }
  }
}

class Generation {
  readonly names = new Map<number, InternedName>();
  readonly ids: Readonly<Record<NameKind, Map<string, number>>> = {
    type: new Map(),
    tenant: new Map(),
    lane: new Map(),
    category: new Map(),
  };
}

function coded(names: readonly InternedName[]): string {
  return JSON.stringify(names.map(({ kind, text }) => ({ kind: nameCodec.code[kind], text })));
}
