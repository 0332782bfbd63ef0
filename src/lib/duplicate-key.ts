/**
 * Finds a key that an object of a JSON text has twice. `JSON.parse` keeps the last value without a
 * word, and a reviver sees only that value.
 */

const PATH_LENGTH_MAX = 200;

/** An open array or object. */
interface Level {
  /** The keys so far; null: an array. */
  readonly keys: Set<string> | null;
  /** The key or the index of the current value. */
  at: string | number;
}

/** The path of the first key that is given twice, or null. `text` must be JSON. */
export function duplicateKey(text: string): string | null {
  const levels: Level[] = [];
  let isKeyNext = false;
  for (let index = 0; index < text.length; index += 1) {
    const level = levels.at(-1);
    switch (text.charAt(index)) {
      case "{":
        levels.push({ keys: new Set(), at: "" });
        isKeyNext = true;
        break;
      case "[":
        levels.push({ keys: null, at: 0 });
        isKeyNext = false;
        break;
      case "}":
      case "]":
        levels.pop();
        break;
      case ",":
        isKeyNext = level?.keys instanceof Set;
        if (typeof level?.at === "number") level.at += 1;
        break;
      case '"': {
        const end = endOfString(text, index);
        if (isKeyNext && level?.keys instanceof Set) {
          level.at = String(JSON.parse(text.slice(index, end + 1)));
          if (level.keys.has(level.at)) return pathOf(levels);
          level.keys.add(level.at);
          isKeyNext = false;
        }
        index = end;
        break;
      }
    }
  }
  return null;
}

/** The position of the closing quote. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === "\\" ? 2 : 1;
  return index;
}

/** Such as `items[2].name`. */
function pathOf(levels: readonly Level[]): string {
  const path = levels
    .map(({ at }, depth) => (typeof at === "number" ? `[${at}]` : `${depth > 0 ? "." : ""}${at}`))
    .join("");
  return path.length > PATH_LENGTH_MAX ? `${path.slice(0, PATH_LENGTH_MAX)}…` : path;
}
