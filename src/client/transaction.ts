/** Separates the caller's transaction, `{ tx }`, from the other options of a request. */
import { MillraceError } from "../core/errors.ts";
import type { RequestParts } from "../api/definition.ts";
import { isObject } from "../api/rules.ts";

export function withoutTx(request: RequestParts): { tx: unknown; request: RequestParts } {
  // Options that are not an object are refused later, with the other checks.
  if (!isObject(request.options) || !("tx" in request.options)) return { tx: undefined, request };
  const { tx, ...options } = request.options;
  return { tx, request: { ...request, options } };
}

/** The common transaction of many requests, which are written together. */
export function commonTx(requests: readonly { readonly tx: unknown }[]): unknown {
  const tx = requests[0]?.tx;
  const other = requests.findIndex((request) => request.tx !== tx);
  if (other === -1) return tx;
  throw new MillraceError(
    "OPTION_INVALID",
    `request ${other}: all requests of one enqueueMany must have the same tx, or none`,
    { details: { option: "tx", index: other } },
  );
}
