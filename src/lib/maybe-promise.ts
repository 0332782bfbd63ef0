/** True when the value is not a promise, so that callers can skip the await. */
export function isValue<Value>(value: Value | Promise<Value>): value is Value {
  return !(value instanceof Promise);
}

/** All values, with an await only if one of them is a promise. */
export async function allOf<Value>(
  values: readonly (Value | Promise<Value>)[],
): Promise<readonly Value[]> {
  return values.every(isValue) ? values : Promise.all(values);
}
