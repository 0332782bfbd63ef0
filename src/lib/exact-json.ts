/**
 * Reads JSON without the loss of digits: a number that JavaScript cannot hold becomes an object
 * that `JSON.stringify` writes as the digits that were read.
 */

/** What the types of TypeScript do not declare yet. */
interface ExactJson {
  parse(
    text: string,
    revive: (name: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node has these since release 21.
const exact = JSON as unknown as ExactJson;

export function readExactly(text: string): unknown {
  return exact.parse(text, (_, value, { source }) => {
    if (typeof value !== "number" || source === undefined || String(value) === source) return value;
    return exact.rawJSON(source);
  });
}

/** Whether the value is a number that was kept as text. */
export function isExactNumber(value: unknown): boolean {
  return exact.isRawJSON(value);
}
