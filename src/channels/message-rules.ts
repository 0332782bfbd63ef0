/** Schemas of the messages of channels, from the rules that also check options. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { must, type Rule } from "../api/rules.ts";

/** The schema of a message that obeys a rule. */
export function messageOf<Message>(rule: Rule): StandardSchemaV1<Message, Message> {
  const validate = (value: unknown): StandardSchemaV1.Result<any> => {
    const mismatch = rule(value, "");
    if (mismatch === null) return { value };
    return { issues: [{ message: mismatch.problem, path: mismatch.place.split(".") }] };
  };
  return Object.freeze({ "~standard": { version: 1, vendor: "millrace", validate } as const });
}

export const aText: Rule = must((value) => typeof value === "string", "a text");

export const aUrl: Rule = must(
  (value) => typeof value === "string" && URL.canParse(value),
  "a URL",
);

/** A line break in a header would begin a header, or a body, of its own. */
export const aHeaderValue: Rule = must(
  (value) => typeof value === "string" && value !== "" && !/\p{Cc}/u.test(value),
  "a text without line breaks and other control characters",
);

/** What makes several sendings one message for the provider. */
export const anIdempotencyKey: Rule = must(
  (value) => typeof value === "string" && /^[\w.+-]{1,200}$/.test(value),
  "a text of up to 200 letters, digits and the signs . _ + -",
);

/** Origins that a channel may request although they are no public https. */
export const someOrigins: Rule = must(
  (value) =>
    Array.isArray(value) &&
    value.every(
      (each) => typeof each === "string" && URL.canParse(each) && new URL(each).origin === each,
    ),
  'a list of origins such as ["http://127.0.0.1:8080"]',
);
