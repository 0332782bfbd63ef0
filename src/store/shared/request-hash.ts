/** Compares requests: two requests with one idempotency key are equal if their bodies are. */
import { createHash } from "node:crypto";
import type { JsonText } from "../../core/job.ts";
import { canonicalJson } from "../../core/payload.ts";
import type { NewJob } from "../types/jobs-and-runs.ts";

/** The hash by which a request with an idempotency key is compared: of the payload as given. */
export function requestHash({
  type,
  payload,
  idempotency,
}: Pick<NewJob, "type" | "payload" | "idempotency">): Uint8Array {
  const given = idempotency?.givenPayload;
  return bodyHash(type, given === undefined ? payload : given);
}

/** SHA-256 over type and payload. The order of keys in the payload does not matter. */
function bodyHash(type: string, payload: JsonText | null): Uint8Array {
  const body = payload === null ? "" : canonicalJson(payload);
  return createHash("sha256").update(`${type}\n${body}`).digest();
}

/** True when two payloads are the same JSON value. */
export function sameBody(left: JsonText | null, right: JsonText | null): boolean {
  if (left === null || right === null) return left === right;
  return left === right || canonicalJson(left) === canonicalJson(right);
}
