/**
 * What a disk holds after a loss of power: everything that was synced, and of the rest whatever it
 * had got to, whole, in parts or not at all.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Effect, Operation } from "./recording.ts";

/** What a disk writes as a whole. */
export const SECTOR_BYTES = 512;

/** A moment at which the power may fail. */
export interface Moment {
  readonly synced: Disk;
  /** Made, in this order, but not synced. */
  readonly pending: readonly Effect[];
  /** Steps acknowledged until then. */
  readonly acked: number;
}

/** Names and contents, as they are found after the loss. */
export class Disk {
  readonly #names: Map<string, number>;
  readonly #contents: Map<number, Buffer>;

  constructor(names: Iterable<[string, number]> = [], contents: Iterable<[number, Buffer]> = []) {
    this.#names = new Map(names);
    this.#contents = new Map(contents);
  }

  /** The same disk after these effects. Contents are replaced, never changed. */
  after(effects: readonly Effect[]): Disk {
    const disk = new Disk(this.#names, this.#contents);
    for (const effect of effects) disk.#apply(effect);
    return disk;
  }

  files(): ReadonlyMap<string, Buffer> {
    const entries = [...this.#names].map(([name, file]): [string, Buffer] => [
      name,
      this.#contents.get(file) ?? Buffer.alloc(0),
    ]);
    return new Map(entries);
  }

  writeTo(folder: string): void {
    mkdirSync(folder);
    for (const [name, bytes] of this.files()) writeFileSync(join(folder, name), bytes);
  }

  #apply(effect: Effect): void {
    switch (effect.kind) {
      case "link":
        this.#names.set(effect.name, effect.file);
        return;
      case "rename":
        this.#names.delete(effect.from);
        this.#names.set(effect.name, effect.file);
        return;
      case "unlink":
        this.#names.delete(effect.name);
        return;
      case "truncate":
        this.#contents.set(effect.file, this.#resized(effect.file, effect.size));
        return;
      case "write": {
        const { file, offset, bytes } = effect;
        const size = this.#contents.get(file)?.length ?? 0;
        const content = this.#resized(file, Math.max(size, offset + bytes.length));
        bytes.copy(content, offset);
        this.#contents.set(file, content);
      }
    }
  }

  /** A copy of the content; what was never written reads as zeros. */
  #resized(file: number, size: number): Buffer {
    const content = Buffer.alloc(size);
    this.#contents.get(file)?.copy(content);
    return content;
  }
}

/**
 * The moments that differ: just before each sync, when most is at stake, and the end. What may be
 * left of an earlier moment may also be left of the next one of these.
 */
export function momentsOf(operations: readonly Operation[]): readonly Moment[] {
  const moments: Moment[] = [];
  let synced = new Disk();
  let pending: Effect[] = [];
  let acked = 0;
  const sync = (covers: (effect: Effect) => boolean): void => {
    if (pending.length > 0) moments.push({ synced, pending, acked });
    synced = synced.after(pending.filter(covers));
    pending = pending.filter((effect) => !covers(effect));
  };
  for (const operation of operations) {
    if (operation.kind === "ack") acked += 1;
    else if (operation.kind === "sync-folder") sync(isAboutNames);
    else if (operation.kind === "sync") sync((effect) => isWithin(effect, operation.file));
    else pending.push(operation);
  }
  moments.push({ synced, pending, acked });
  return moments;
}

/** A name is safe only when its folder was synced, even if the file was. */
function isAboutNames({ kind }: Effect): boolean {
  return kind === "link" || kind === "unlink" || kind === "rename";
}

function isWithin(effect: Effect, file: number): boolean {
  return (effect.kind === "write" || effect.kind === "truncate") && effect.file === file;
}
