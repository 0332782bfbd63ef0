/**
 * Turns any logged value into JSON. Values may be bigints, circular objects or objects with getters
 * that throw; logging must never fail.
 */

const DEPTH_MAX = 8;
const PARTS_MAX = 1_000;
const TEXT_LENGTH_MAX = 50_000;
const CAUSES_MAX = 8;
const UNREADABLE = "[unreadable]";

/** How an error is written: in one line, or with its stack. */
export type ErrorStyle = "line" | "stack";

/** The fields of one line as JSON values: bounded, and safe to read. */
export function loggable(fields: object, style: ErrorStyle): Readonly<Record<string, unknown>> {
  return readable(() => membersOf(fields, newWalk(style)), { fields: UNREADABLE });
}

/** The given fields. A value without named fields, such as a text or bytes, becomes one field. */
export function asFields(given: unknown): object {
  const isNamed = typeof given === "object" && given !== null && !ArrayBuffer.isView(given);
  return isNamed ? given : { fields: given };
}

/** The name and message of an error and of its causes. */
export function errorText(error: unknown, style: ErrorStyle): string {
  const parts: string[] = [];
  const seen = new Set<unknown>();
  for (let one = error; one !== undefined && !seen.has(one) && seen.size < CAUSES_MAX;) {
    seen.add(one);
    parts.push(readable(() => ownText(one, style), UNREADABLE));
    one = readable(() => (one instanceof Error ? one.cause : undefined), undefined);
  }
  return bounded(parts.join(style === "line" ? "; caused by " : "\nCaused by: "));
}

interface LogWalk {
  readonly style: ErrorStyle;
  /** The objects that contain the current value. */
  readonly inside: Set<object>;
  partsLeft: number;
}

function ownText(error: unknown, style: ErrorStyle): string {
  if (!(error instanceof Error)) return JSON.stringify(plainOf(error, newWalk(style)));
  // A subclass may have set these to any value.
  const { name, message, stack }: { name: unknown; message: unknown; stack?: unknown } = error;
  const line = `${String(name)}: ${String(message)}`;
  return style === "stack" && typeof stack === "string" ? stack : line;
}

function newWalk(style: ErrorStyle): LogWalk {
  return { style, inside: new Set(), partsLeft: PARTS_MAX };
}

function plainOf(value: unknown, walk: LogWalk): unknown {
  walk.partsLeft -= 1;
  if (walk.partsLeft < 0) return "…";
  switch (typeof value) {
    case "string":
      return bounded(value);
    case "bigint":
      return bounded(String(value));
    case "function":
    case "symbol":
      return `[${typeof value}]`;
    case "object":
      return value === null ? null : readable(() => plainObject(value, walk), UNREADABLE);
    case "boolean":
    case "number":
    case "undefined":
      return value;
  }
}

function plainObject(value: object, walk: LogWalk): unknown {
  if (value instanceof Error) return errorText(value, walk.style);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (walk.inside.has(value)) return "[circular]";
  if (walk.inside.size >= DEPTH_MAX) return "…";
  walk.inside.add(value);
  try {
    if ("toJSON" in value && typeof value.toJSON === "function") {
      return plainOf(value.toJSON(), walk);
    }
    if (!Array.isArray(value)) return membersOf(value, walk);
    return value.slice(0, PARTS_MAX).map((item) => plainOf(item, walk));
  } finally {
    walk.inside.delete(value);
  }
}

function membersOf(value: object, walk: LogWalk): Readonly<Record<string, unknown>> {
  const names = Object.keys(value).slice(0, PARTS_MAX);
  return Object.fromEntries(
    names.map((name) => [
      name,
      readable(() => plainOf(Reflect.get(value, name), walk), UNREADABLE),
    ]),
  );
}

function readable<Answer>(read: () => Answer, otherwise: Answer): Answer {
  try {
    return read();
  } catch {
    // A getter, a proxy or a toJSON method of the caller threw.
    return otherwise;
  }
}

function bounded(text: string): string {
  return text.length > TEXT_LENGTH_MAX ? `${text.slice(0, TEXT_LENGTH_MAX)}…` : text;
}
