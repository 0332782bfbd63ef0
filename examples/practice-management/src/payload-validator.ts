/** The validator of the firm's payloads, by its own names. */
import { createPayload, validatePayload, type Json } from "millrace";
import { PRESET } from "./categories.ts";

/** What every payload has. */
export interface FirmPayload {
  readonly tenant_id: number;
  readonly correlation_id: string;
  readonly idempotency_key: string;
  readonly payload_version?: string;
}

interface ValidatePayload {
  readonly payload: unknown;
  readonly category: string;
  readonly additional_required?: readonly string[];
}

/** Checks and builds payloads without a store. `enqueue` applies the same rules again. */
export const PayloadValidator = {
  validate_payload({
    payload,
    category,
    additional_required: additionalRequired = [],
  }: ValidatePayload): readonly [is_valid: boolean, errors: readonly string[]] {
    const { installation = {}, categories = {} } = PRESET.payloadRules;
    const own = Object.hasOwn(categories, category) ? categories[category] : undefined;
    const rules = own === undefined ? [installation] : [installation, own];
    const { valid, errors } = validatePayload(payload, category, { additionalRequired, rules });
    return [valid, errors.map(({ message }) => message)];
  },

  create_payload<const Refs extends Readonly<Record<string, Json>>>({
    tenant_id: tenantId,
    correlation_id: correlationId,
    idempotency_key: idempotencyKey,
    ...refs
  }: Omit<FirmPayload, "payload_version"> & Refs): FirmPayload & Refs {
    const payload: any = createPayload({ tenantId, correlationId, idempotencyKey, ...refs });
    return payload;
  },
};
