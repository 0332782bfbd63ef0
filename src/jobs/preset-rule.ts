/** Checks a preset, so that a misspelt or missing number is not replaced by nothing. */
import type { Preset } from "../core/presets.ts";
import { aPayloadRule, tableOf } from "./payloads/payload-rule-rules.ts";
import {
  anObject,
  aWholeNumber,
  isObject,
  must,
  oneOf,
  wholeNumberIn,
  isWholeNumber,
  type Rule,
} from "../api/rules.ts";

const aTable = must(isObject, "an object");
const aCount = aWholeNumber({ min: 1 });
const aPeriod = must(
  (value) => isWholeNumber(value, { min: 0 }),
  `${wholeNumberIn({ min: 0 })}, in milliseconds`,
);

const RETRY: { readonly [K in keyof Preset["retry"]]: Rule } = {
  maxAttempts: aCount,
  crashCap: aCount,
  defaultErrorClass: oneOf("transient", "retryable", "non_retryable", "rate_limited"),
  backoff: aTable,
};

const RETENTION: { readonly [K in keyof Preset["retention"]]: Rule } = {
  finishedMs: aTable,
  deadLetterMs: aPeriod,
  idempotencyMs: aPeriod,
  eventMs: aPeriod,
  minutesMs: aPeriod,
  auditMs: aPeriod,
};

const BREAKER: { readonly [K in keyof Preset["breaker"]]: Rule } = {
  failures: aCount,
  openMs: aCount,
};

/** One rule per number. The mapped type makes the compiler demand a rule for a new one. */
const PRESET: { readonly [K in keyof Preset]: Rule } = {
  retry: anObject({ required: RETRY, optional: {} }, "an object"),
  lanes: aTable,
  timeoutMs: aTable,
  pollMs: aPeriod,
  batchMax: aCount,
  leaseMs: aPeriod,
  onIdempotencyConflict: oneOf("return-existing", "error"),
  onRetry: oneOf("resume", "restart"),
  onOrphan: oneOf("retry", "fail"),
  breaker: anObject({ required: BREAKER, optional: {} }, "an object"),
  retention: anObject({ required: RETENTION, optional: {} }, "an object"),
  payloadRules: anObject(
    {
      required: {},
      optional: {
        installation: aPayloadRule,
        categories: tableOf(aPayloadRule),
        types: tableOf(aPayloadRule),
      },
    },
    "an object such as { installation: { hardBytes: 50_000 } }",
  ),
};

/** A complete preset: one of the library, or a copy with other numbers. */
export const aPreset: Rule = anObject(
  { required: PRESET, optional: {} },
  "a preset such as lipas, or { ...lipas, pollMs: 500 }",
);
