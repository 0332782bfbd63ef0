/** The caller's transaction travels with the options of a job, and goes to the store by itself. */
import { MillraceError } from "../core/errors.ts";
import type { RequestParts } from "../api/definition.ts";
import { isObject } from "../api/rules.ts";

export function withoutTx(request: RequestParts): { tx: unknown; request: RequestParts } {
  // What is no object at all is refused with the other options.
  if (!isObject(request.options) || !("tx" in request.options)) return { tx: undefined, request };
  const { tx, ...options } = request.options;
  return { tx, request: { ...request, options } };
}

/** The one transaction of many requests: they are written together, or not at all. */
export function commonTx(requests: readonly { readonly tx: unknown }[]): unknown {
  const tx = requests[0]?.tx;
  const other = requests.findIndex((request) => request.tx !== tx);
  if (other === -1) return tx;
  throw new MillraceError(
    "OPTION_INVALID",
    `request ${other}: all requests of one enqueueMany have the same tx, or none has any`,
    { details: { option: "tx", index: other } },
  );
}
