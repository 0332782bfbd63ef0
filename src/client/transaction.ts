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

/** Without this, jobs of a program without types would be written outside its transaction. */
export function insistOnRequestsOnly(others: readonly unknown[]): void {
  if (others.length === 0) return;
  const message = "enqueueMany takes requests alone: give options, such as tx, in each request";
  throw new MillraceError("OPTION_INVALID", message, {
    hint: "Write mill.enqueueMany([job.of(payload, { tx })]).",
  });
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
