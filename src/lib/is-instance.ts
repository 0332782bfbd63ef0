/** Like `instanceof`, and false for a value that throws when it is looked at. */
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
