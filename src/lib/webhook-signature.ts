/**
 * Signatures of Standard Webhooks (https://www.standardwebhooks.com). An own signer, because the
 * package `standardwebhooks` brings two more along, and SHA-256 in JavaScript, where node:crypto
 * needs these few lines; a test verifies them with the package.
 */
import { createHmac } from "node:crypto";

interface SignedMessage {
  readonly id: string;
  /** Of the attempt, in seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
}

const PREFIX = "whsec_";
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;

/** Whether a text is a secret: `whsec_` and 24 to 64 bytes in base64. */
export function isWebhookSecret(text: unknown): text is string {
  if (typeof text !== "string" || !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  const bytes = keyOf(text).length;
  return bytes >= KEY_BYTES_MIN && bytes <= KEY_BYTES_MAX;
}

/** The headers of a message, with a signature for each secret. */
export function signedHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const code = createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`);
    return `v1,${code.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" "),
  };
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), "base64");
}
