/**
 * Types, tenants, lanes and categories are stored as integers. Names are few and never removed, so
 * every process caches them. A new name is interned in a transaction of its own before it is used:
 * inside a longer transaction, its row would block all others that need the same name.
 */
import type { Dice } from "../../../core/clock.ts";
import { nameCodec, unknownName, type NameKind } from "../../shared/codes.ts";
import { failureOf } from "./errors.ts";
import { repeating } from "./retry.ts";
import type { Sql } from "./statements.ts";
import { list } from "./values.ts";

/** Names cached in each of two generations: the older is dropped when the younger is full. */
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

  /** The id of a cached name. */
  known(kind: NameKind, text: string): number | undefined {
    return this.#young.ids[kind].get(text) ?? this.#old.ids[kind].get(text);
  }

  /** Makes sure that names have ids. A name that the database refuses stays unknown. */
  async intern(wanted: readonly InternedName[]): Promise<void> {
    const missing = this.#missing(wanted);
    if (missing.length === 0) return;
    await this.find(missing);
    const unknown = this.#missing(missing);
    if (unknown.length === 0) return;
    try {
      await repeating(this.#dice, () =>
        this.#write.run("intern_names", { wanted: coded(unknown) }),
      );
    } catch (error) {
      if (failureOf(error) !== "refused") throw error;
      if (unknown.length === 1) return;
      for (const name of unknown) await this.intern([name]);
      return;
    }
    await this.find(unknown);
  }

  /** Looks names up without interning. A name that was never interned stays unknown. */
  async find(wanted: readonly InternedName[]): Promise<void> {
    const missing = this.#missing(wanted);
    if (missing.length === 0) return;
    try {
      this.#remember(await this.#read.all("find_names", { wanted: coded(missing) }));
    } catch (error) {
      // A text that the database refuses is no interned name.
      if (failureOf(error) !== "refused") throw error;
      if (missing.length > 1) for (const name of missing) await this.find([name]);
    }
  }

  /** The id of one name, if it was ever interned. */
  async id(kind: NameKind, text: string): Promise<number | undefined> {
    await this.find([{ kind, text }]);
    return this.known(kind, text);
  }

  /** Makes sure that the names of these ids are cached. */
  async learn(ids: readonly number[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => this.name(id) === undefined);
    if (missing.length === 0) return;
    this.#remember(await this.#read.all("names_by_id", { ids: list(missing) }));
  }

  text(id: number): string {
    return this.name(id)?.text ?? unknownName(id);
  }

  /**
   * The name of an id; {@link learn} comes first. Undefined: the row of the name was deleted by
   * hand.
   */
  name(id: number): InternedName | undefined {
    return this.#young.names.get(id) ?? this.#old.names.get(id);
  }

  #missing(wanted: readonly InternedName[]): InternedName[] {
    const missing = wanted.filter(({ kind, text }) => this.known(kind, text) === undefined);
    const seen = new Set<string>();
    return missing.filter(({ kind, text }) => {
      const key = `${kind} ${text}`;
      return !seen.has(key) && seen.add(key);
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
    service: new Map(),
    park: new Map(),
  };
}

function coded(names: readonly InternedName[]): string {
  return JSON.stringify(names.map(({ kind, text }) => ({ kind: nameCodec.code[kind], text })));
}
