/** To wait for what is already here would cost more than the rest of a short call. */
export function isValue<Value>(value: Value | Promise<Value>): value is Value {
  return !(value instanceof Promise);
}

/** Waits only if there is something to wait for. */
export async function allOf<Value>(
  values: readonly (Value | Promise<Value>)[],
): Promise<readonly Value[]> {
  return values.every(isValue) ? values : Promise.all(values);
}
