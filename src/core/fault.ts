/** Turns any thrown value into a fault: bounded text that can be stored and shown. */
import { withCause } from "./failures/fingerprint.ts";
import type { ErrorClass } from "./job.ts";
import type { Fault } from "./outcome.ts";
import { head, headBytes, shown, storable, utf8Bytes } from "./text.ts";

const NAME_LENGTH_MAX = 200;
const MESSAGE_LENGTH_MAX = 8_000;
const LISTED_LENGTH_MAX = 500;
const STACK_LENGTH_MAX = 32_000;
const FAULT_BYTES_MAX = 65_536;

/** The maximum number of causes, nested causes included. */
const CAUSES_MAX = 8;

/**
 * The fault of a thrown value. `remark` is appended to the message. The causes, and the parts of an
 * AggregateError, are appended to the stack.
 */
export function faultOf(error: unknown, errorClass: ErrorClass, remark = ""): Fault {
  const causes = causesOf(error);
  const name = storable(nameOf(error), NAME_LENGTH_MAX);
  const room = MESSAGE_LENGTH_MAX - remark.length;
  const message = storable(messageOf(error, causes), room) + storable(remark, MESSAGE_LENGTH_MAX);
  const service = storable(textAt(error, "service") ?? "", NAME_LENGTH_MAX);

  const bytesLeft = FAULT_BYTES_MAX - utf8Bytes(name + message + service);
  const stack = headBytes(storable(stackOf(error, causes), STACK_LENGTH_MAX), bytesLeft);
  return withCause({
    class: errorClass,
    name,
    message,
    ...(stack === "" ? {} : { stack }),
    ...(service === "" ? {} : { service }),
  });
}

/** The part of a fault that lists show: no stack, and the beginning of the message. */
export function listedFault({ stack: _stack, message, ...fault }: Fault): Fault {
  return { ...fault, message: head(message, LISTED_LENGTH_MAX) };
}

/**
 * The property `key` of a thrown value, which may be a proxy or have getters that throw.
 */
export function propertyOf(error: unknown, key: string): unknown {
  if ((typeof error !== "object" && typeof error !== "function") || error === null)
    return undefined;
  return attempt(() => Reflect.get(error, key), undefined);
}

function nameOf(error: unknown): string {
  return textAt(error, "name") ?? "Error";
}

function messageOf(error: unknown, causes: readonly unknown[]): string {
  if (typeof error === "string") return error;
  if (typeof error !== "object" || error === null) return `${shown(error)} was thrown`;

  const message = textAt(error, "message");
  if (message !== undefined) return message;
  // A failed connection to several addresses is an AggregateError without a message of its own.
  if (causes.length > 0) return messageOf(causes[0], []);
  const json = attempt(() => JSON.stringify(error), undefined) ?? "{}";
  return json === "{}" ? "thrown without a message" : json;
}

function stackOf(error: unknown, causes: readonly unknown[]): string {
  const lines = causes.map((cause) => {
    const line = `${nameOf(cause)}: ${messageOf(cause, [])}`;
    return `Caused by: ${textAt(cause, "stack") ?? line}`;
  });
  return [textAt(error, "stack") ?? "", ...lines].filter((part) => part !== "").join("\n");
}

/** All causes, nearest first. A cycle of causes is read once. */
function causesOf(error: unknown): readonly unknown[] {
  const found = [error];
  for (const one of found) {
    for (const cause of directCauses(one)) {
      if (found.length <= CAUSES_MAX && !found.includes(cause)) found.push(cause);
    }
  }
  return found.slice(1);
}

function directCauses(error: unknown): readonly unknown[] {
  const cause = propertyOf(error, "cause");
  const parts = propertyOf(error, "errors");
  const listed = attempt(() => (Array.isArray(parts) ? parts.slice(0, CAUSES_MAX) : []), []);
  return cause === undefined ? listed : [cause, ...listed];
}

function textAt(error: unknown, key: string): string | undefined {
  const text = propertyOf(error, key);
  return typeof text === "string" && text !== "" ? text : undefined;
}

function attempt<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch {
    return otherwise;
  }
}
