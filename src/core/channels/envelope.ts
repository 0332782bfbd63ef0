/**
 * The envelope in which functions answer. Functions of two generations answer in two forms, and
 * both become one: a status that says what has happened, and texts that say why.
 */
import { MillraceError } from "../errors.ts";
import type { ErrorClass } from "../job.ts";
import { shown } from "../text.ts";

/** The status of an answer that means success. Every other status is an outcome of its own. */
export const SUCCEEDED = "succeeded";
/** The status of an answer with `success: false` and no status. */
const FAILED = "failed";

/** The answer of a function, in the one form that Millrace uses. */
export interface Envelope {
  /** `succeeded`, or the word of the function for another outcome, such as `attempt_not_found`. */
  readonly status: string;
  /** JSON, as the function has answered it. */
  readonly payload: any;
  /** What went wrong unexpectedly: another attempt may succeed. */
  readonly error: string | null;
  /** What is wrong with the data: no further attempt can succeed. */
  readonly validationFailure: string | null;
}

/**
 * The envelope of an answer. Throws ENVELOPE_INVALID for any value that is no envelope, and for an
 * envelope that contradicts itself. Fields that the two forms do not have are left out.
 */
export function envelopeOf(answer: unknown, subject: string): Envelope {
  if (!isPlain(answer)) throw invalid(subject, `answered ${shown(answer)}`);
  const error = textIn(answer, "error", subject);
  const validationFailure = textIn(answer, "validation_failure_message", subject);
  // What is wrong with the data says enough: some functions answer nothing else.
  const isRefusal = validationFailure !== null && hasNone(answer);
  const status = isRefusal ? FAILED : statusIn(answer, subject);
  if (status === SUCCEEDED && (error ?? validationFailure) !== null) {
    throw invalid(
      subject,
      `answered a success with the error ${shown(error ?? validationFailure)}`,
    );
  }
  return { status, payload: payloadIn(answer), error, validationFailure };
}

/** The envelope of a success. */
export function succeededWith(payload: unknown): Envelope {
  return { status: SUCCEEDED, payload, error: null, validationFailure: null };
}

/** Whether a stored value is an envelope in the one form, as channels and supervisors store it. */
export function isEnvelope(value: unknown): value is Envelope {
  return (
    isPlain(value) &&
    Object.keys(value).toSorted().join() === "error,payload,status,validationFailure" &&
    typeof value["status"] === "string"
  );
}

/** Why an envelope is no success, and whether another attempt can help; null: it is a success. */
export function failureIn(
  { status, error, validationFailure }: Envelope,
  subject: string,
): {
  readonly class: Extract<ErrorClass, "retryable" | "non_retryable">;
  readonly message: string;
} | null {
  if (status === SUCCEEDED) return null;
  if (validationFailure !== null) return { class: "non_retryable", message: validationFailure };
  return {
    class: "retryable",
    message: error ?? `${subject} answered the status ${shown(status)}`,
  };
}

type Plain = Readonly<Record<string, unknown>>;

function isPlain(value: unknown): value is Plain {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** An empty text is none: some languages write empty fields for absent ones. */
function textIn(answer: Plain, field: string, subject: string): string | null {
  const text = answer[field] ?? "";
  if (typeof text !== "string") {
    throw invalid(subject, `answered the ${field} ${shown(text)}, which is not a text`);
  }
  return text === "" ? null : text;
}

function hasNone({ status = null, success = null }: Plain): boolean {
  return status === null && success === null;
}

function statusIn({ status, success }: Plain, subject: string): string {
  const isAbsent = (field: unknown): boolean => field === undefined || field === null;
  if (!isAbsent(status) && (typeof status !== "string" || status === "")) {
    throw invalid(subject, `answered the status ${shown(status)}`);
  }
  if (!isAbsent(success) && typeof success !== "boolean") {
    throw invalid(subject, `answered the success ${shown(success)}`);
  }
  if (typeof status !== "string") {
    if (typeof success !== "boolean") throw invalid(subject, "answered neither status nor success");
    return success ? SUCCEEDED : FAILED;
  }
  if (typeof success === "boolean" && success !== (status === SUCCEEDED)) {
    throw invalid(subject, `answered the status ${shown(status)} with success ${success}`);
  }
  return status;
}

function payloadIn({ payload = null }: Plain): unknown {
  return payload;
}

function invalid(subject: string, problem: string): MillraceError {
  return new MillraceError("ENVELOPE_INVALID", `${subject} ${problem}`, { details: { subject } });
}
