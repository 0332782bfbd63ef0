/** `instanceof` that is false for a value whose prototype cannot be read, such as a proxy. */
export function isInstance<T>(
  value: unknown,
  type: abstract new (...args: any[]) => T,
): value is T {
  try {
    return value instanceof type;
  } catch {
    return false;
  }
}
