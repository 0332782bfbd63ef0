/** `validatePayload` and `createPayload`: payloads that obey the rules, without a store. */
import { MillraceError } from "../../core/errors.ts";
import { checkPayload, type PayloadProblem } from "../../core/payload-rules/check.ts";
import { JOB_CATEGORIES, PRACTICE_RULES } from "../../core/payload-rules/practice.ts";
import { addedUp, type PayloadRule } from "../../core/payload-rules/rule.ts";
import { decode, encodePayload, type Json } from "../../core/payload.ts";
import { idUuid, newId } from "../../core/ids.ts";
import { systemClock, systemDice } from "../../lib/system.ts";
import { currentJob } from "../async-context.ts";
import { insistOn } from "../check-text.ts";
import { aPayloadRule } from "./payload-rule-rules.ts";

export interface PayloadValidation {
  readonly valid: boolean;
  /** Every error at once. */
  readonly errors: readonly PayloadProblem[];
}

/**
 * Checks a payload without enqueueing it, against the rules of the preset `practice` for a category
 * and further required fields. With `rules`, those rules count instead.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { validatePayload } from "millrace";
 *
 * const payload = { tenant_id: 123, correlation_id: "no UUID", password: "hunter2" };
 * const { valid, errors } = validatePayload(payload, "ingestion", {
 *   additionalRequired: ["external_message_id"],
 * });
 *
 * assert.equal(valid, false);
 * assert.deepEqual(
 *   errors.map(({ path, rule }) => `${path} ${rule}`),
 *   [
 *     "correlation_id required",
 *     "idempotency_key required",
 *     "connection_id required",
 *     "external_message_id required",
 *     "password sensitive:passwords",
 *   ],
 * );
 * ```
 */
export function validatePayload(
  payload: unknown,
  category: string,
  options: {
    readonly additionalRequired?: readonly string[];
    readonly rules?: readonly PayloadRule[];
  } = {},
): PayloadValidation {
  const { additionalRequired = [], rules = practiceRules(category) } = options;
  for (const rule of rules) insistOn("validatePayload", aPayloadRule, rule, "rules");
  const further = Object.fromEntries(additionalRequired.map((path) => [path, "any"] as const));
  const rule = addedUp([...rules, { required: further }])!;
  const errors = [...categoryErrors(category), ...errorsOf(payload, rule)];
  return { valid: errors.length === 0, errors };
}

function errorsOf(
  payload: unknown,
  rule: NonNullable<ReturnType<typeof addedUp>>,
): readonly PayloadProblem[] {
  try {
    const { text, bytes } = encodePayload(payload);
    return checkPayload(decode(text), bytes, rule, null).errors;
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return [{ path: "payload", rule: "json", message: error.message }];
  }
}

function practiceRules(category: string): readonly PayloadRule[] {
  const { installation, categories = {} } = PRACTICE_RULES;
  const own = Object.hasOwn(categories, category) ? categories[category] : undefined;
  return [installation, own].filter((rule) => rule !== undefined);
}

function categoryErrors(category: string): readonly PayloadProblem[] {
  if (JOB_CATEGORIES.some((known) => known === category)) return [];
  const message = `the category must be one of ${JOB_CATEGORIES.join(", ")}`;
  return [{ path: "category", rule: "category", message }];
}

/** What every payload of practice management has. */
export interface PayloadParts {
  /** Default: the tenant of the running job. */
  readonly tenantId?: number | string;
  /** Default: the correlation id of the running job, else a new UUID. */
  readonly correlationId?: string;
  readonly idempotencyKey: string;
  readonly payloadVersion?: string;
}

/**
 * Builds a payload that names its tenant, its correlation id and its idempotency key. All other
 * fields, such as references to objects, are kept as they are. Within a handler, tenant and
 * correlation id are those of the running job; elsewhere a correlation id is drawn if none is
 * given.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createPayload, validatePayload } from "millrace";
 *
 * const payload = createPayload({
 *   tenantId: 123,
 *   correlationId: "550e8400-e29b-41d4-a716-446655440000",
 *   idempotencyKey: "email_fetch_conn_456_msg_789",
 *   connection_id: 456,
 *   external_message_id: "msg_789",
 * });
 *
 * assert.equal(payload.tenant_id, 123);
 * assert.equal(payload.connection_id, 456);
 * assert.equal(validatePayload(payload, "ingestion").valid, true);
 * ```
 */
export function createPayload<const Refs extends Readonly<Record<string, Json>>>(
  parts: PayloadParts & Refs,
): Omit<Refs, keyof PayloadParts> & {
  readonly tenant_id: number | string;
  readonly correlation_id: string;
  readonly idempotency_key: string;
  readonly payload_version?: string;
} {
  const running = currentJob();
  const {
    tenantId = running?.tenant,
    correlationId = running?.correlationId ?? newUuid(),
    idempotencyKey,
    payloadVersion,
    ...refs
  } = parts;
  if (tenantId === undefined) throw missing("tenantId");
  if (typeof idempotencyKey !== "string" || idempotencyKey === "") throw missing("idempotencyKey");
  const payload: any = {
    tenant_id: tenantId,
    correlation_id: correlationId,
    idempotency_key: idempotencyKey,
    ...(payloadVersion === undefined ? {} : { payload_version: payloadVersion }),
    ...refs,
  };
  return payload;
}

function missing(option: string): MillraceError {
  const message = `createPayload: ${option} is missing`;
  return new MillraceError("OPTION_INVALID", message, { details: { option } });
}

function newUuid(): string {
  return idUuid(newId(systemClock.now(), systemDice));
}
