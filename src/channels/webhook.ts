/** `webhookChannel`: signed messages for receivers whose addresses are data. */
import { NonRetryableError } from "../core/errors.ts";
import { insideOf } from "../api/channels/run-inside.ts";
import type { Context } from "../api/context.ts";
import { aName, anObject, insist, isObject, must, type Rule } from "../api/rules.ts";
import { isWebhookSecret, signedHeaders } from "../lib/webhook-signature.ts";
import {
  CHANNEL_RULES,
  defineChannel,
  type Channel,
  type ChannelSettings,
} from "./define-channel.ts";
import { askProvider } from "./http-provider.ts";
import { aHeaderValue, anIdempotencyKey, aUrl, messageOf, someOrigins } from "./message-rules.ts";

/** What a before handler answers for a webhook. */
export interface WebhookMessage {
  /** The URL of the receiver. https, unless `allow` of the channel has its origin. */
  readonly url: string;
  /** What has happened, such as `invoice.paid`. */
  readonly type: string;
  /** JSON for the receiver. */
  readonly data: any;
  /** When it has happened, such as `2030-01-31T09:30:00Z`. */
  readonly timestamp?: string;
  /** What is sent as `webhook-id`. Default: the id of the job. */
  readonly idempotencyKey?: string;
}

export interface WebhookOptions<Name extends string> extends ChannelSettings {
  /** Default: `webhook`. */
  readonly type?: Name;
  /**
   * Secrets such as `whsec_…`, or a function that returns those of the receiver. Each makes a
   * signature, so that a secret can be replaced while receivers still have the old one.
   */
  readonly secrets:
    | readonly string[]
    | ((
        message: WebhookMessage,
        ctx: Context<{}, {}>,
      ) => readonly string[] | Promise<readonly string[]>);
  /** Origins that may be requested although they are no public https. */
  readonly allow?: readonly string[];
}

/** The value is not shown: it may be a secret with a slip of the pen. */
const someSecrets: Rule = (value, place) =>
  areSecrets(value)
    ? null
    : { place, problem: "must be a list of secrets: whsec_ and 24 to 64 bytes in base64" };

const EXAMPLE = "an object such as { secrets: [process.env.WEBHOOK_SECRET] }";

const FIELDS = anObject(
  {
    required: {
      secrets: (value, place) => (typeof value === "function" ? null : someSecrets(value, place)),
    },
    optional: { ...CHANNEL_RULES, type: aName, allow: someOrigins },
  },
  EXAMPLE,
);

/** What is no object is not shown either: it may be the secret itself. */
const OPTIONS: Rule = (value, place) =>
  isObject(value) ? FIELDS(value, place) : { place, problem: `must be ${EXAMPLE}` };

const MESSAGE = anObject(
  {
    required: {
      url: aUrl,
      type: aHeaderValue,
      data: must((value) => value !== undefined, "JSON"),
    },
    optional: { timestamp: aHeaderValue, idempotencyKey: anIdempotencyKey },
  },
  'an object such as { url: "https://example.com/hooks", type: "invoice.paid", data: { id: 7 } }',
);

/**
 * Declares a channel that posts signed messages, in the form of Standard Webhooks: the JSON
 * `{ type, timestamp, data }`, with the headers `webhook-id`, `webhook-timestamp` and
 * `webhook-signature`. The id is that of the job, or the `idempotencyKey` of the message, so that a
 * receiver can tell a repeat after a crash. 2xx means that the message has arrived. 429 with
 * `Retry-After` parks the service, 5xx, 408 and 425 may be tried again, and every other answer is
 * final, redirects and 410 included.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { webhookChannel } from "millrace/channels";
 *
 * const secret = `whsec_${Buffer.alloc(32, "change me").toString("base64")}`;
 * const webhook = webhookChannel({ secrets: [secret] });
 * assert.equal(webhook.type, "webhook");
 * ```
 */
export function webhookChannel<const Name extends string = "webhook">(
  options: WebhookOptions<Name>,
): Channel<Name> {
  insist("webhookChannel", OPTIONS, options, "");
  const { secrets, allow = [], type: name = "webhook", ...settings } = options;
  const channel = defineChannel({
    services: [name],
    ...settings,
    type: name,
    message: messageOf<WebhookMessage>(MESSAGE),
    send: async (message, ctx) => {
      const { url, type, timestamp, data, idempotencyKey } = message;
      const now = insideOf(ctx).now();
      const id = idempotencyKey ?? ctx.job.id;
      const body = JSON.stringify({ type, timestamp, data });
      const signed = { id, timestamp: Math.floor(now / 1_000), body };
      const headers = {
        "content-type": "application/json",
        ...signedHeaders(signed, await secretsFor(secrets, message, ctx)),
      };
      const { signal } = ctx;
      const request = { url, method: "POST", headers, body, signal, ignoresBody: true } as const;
      const { status } = await askProvider(request, { allow, now });
      return { id, status };
    },
  });
  // The default type has the name of the type parameter, which the compiler cannot know.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Only the compiler knows it.
  return channel as unknown as Channel<Name>;
}

/** A message without a signature is not sent. */
async function secretsFor(
  secrets: WebhookOptions<string>["secrets"],
  message: WebhookMessage,
  ctx: Context<{}, {}>,
): Promise<readonly string[]> {
  const found = typeof secrets === "function" ? await secrets(message, ctx) : secrets;
  if (areSecrets(found)) return found;
  throw new NonRetryableError("there is no valid secret for the receiver of this webhook");
}

function areSecrets(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isWebhookSecret);
}
