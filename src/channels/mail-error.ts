/** What the failure of a mail means: for the mail alone, or for its server. */
import { NonRetryableError, TransientError } from "../core/errors.ts";
import { propertyOf } from "../core/fault.ts";

/**
 * Without an answer of the server: the mail has no form that any server accepts, such as an address
 * that cannot be read.
 */
const FORM_CODES: readonly unknown[] = ["EENVELOPE", "EMESSAGE", "ESTREAM"];
/** Answers about the account, to whatever command: log in, use TLS, not now. */
const OF_ACCOUNT: readonly number[] = [421, 530, 534, 535, 538];
/** Answers to MAIL FROM about the mail: too large, a sender that is none. */
const OF_SENDER: readonly number[] = [552, 553];
/** The same, as extended codes: bad sender address, message too large. */
const OF_SENDER_EXTENDED = /^\d{3}[ -]5\.(1\.[78]|3\.4)\b/;

/**
 * Final only if the server has refused this mail: 5xx in answer to a recipient or to the content,
 * and in answer to the sender if its code says so. A greeting, EHLO, TLS or a login that is refused
 * concerns the server or the account, and all mails fail: the breaker of the service is to know.
 */
export function mailError(cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : String(cause);
  return isOfMail(cause)
    ? new NonRetryableError(message, { cause })
    : new TransientError(message, { cause });
}

function isOfMail(error: unknown): boolean {
  const code = Number(propertyOf(error, "responseCode") ?? Number.NaN);
  if (Number.isNaN(code) || code === 0) return FORM_CODES.includes(propertyOf(error, "code"));
  if (code < 500 || OF_ACCOUNT.includes(code)) return false;
  switch (propertyOf(error, "command")) {
    case "RCPT TO":
    case "DATA":
      return true;
    case "MAIL FROM":
      return OF_SENDER.includes(code) || OF_SENDER_EXTENDED.test(answerOf(error));
    default:
      return false;
  }
}

function answerOf(error: unknown): string {
  const answer = propertyOf(error, "response");
  return typeof answer === "string" ? answer : "";
}
