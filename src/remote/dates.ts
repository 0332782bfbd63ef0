/** Dates that travelled as text. Values of the application are left as they are. */

/** Names of fields that hold an instant. */
const INSTANTS = /^(?:at|until|.*At)$/;
/** Names of fields that hold values of the application. */
const VALUES = new Set(["payload", "result", "data", "fields", "tags"]);

/** The same value, with a Date for every instant. */
export function withDates<Value>(value: Value): Value {
  const dated: any = datedOf(value);
  return dated;
}

function datedOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(datedOf);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => {
    if (VALUES.has(name)) return [name, each];
    const isInstant = INSTANTS.test(name) && typeof each === "string";
    return [name, isInstant ? new Date(each) : datedOf(each)];
  });
  return Object.fromEntries(entries);
}
