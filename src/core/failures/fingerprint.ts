/**
 * The cause of a failure: a short hash that is equal for failures with the same error class, error
 * name, kind of message and own frame. A cause is computed from the stored form of an error, so
 * that an old row without a cause gets the cause that a new row has.
 */
import type { Fault } from "../outcome.ts";
import { normalMessage } from "./normal-message.ts";
import { ownFrame } from "./own-frame.ts";

/** Errors that Millrace makes itself. Their messages name limits and counts, and have no stack. */
const ENGINE_ERRORS: readonly string[] = ["CrashError", "TimeoutError"];

/** The fault with its cause. A fault that has a cause keeps it. */
export function withCause(fault: Fault): Fault & { readonly cause: string } {
  return { ...fault, cause: causeOf(fault) };
}

export function causeOf(fault: Fault): string {
  return fault.cause ?? fingerprint(fault);
}

/** `library` is the folder of Millrace, whose frames are skipped. */
export function fingerprint(
  { class: errorClass, name, message, stack = "" }: Fault,
  library?: string | null,
): string {
  const isEngineError = stack === "" && ENGINE_ERRORS.includes(name);
  const kind = isEngineError ? "" : normalMessage(message);
  return hash64([errorClass, name, kind, ownFrame(stack, library)].join("\n"));
}

/**
 * A hash of 64 bits as 16 hexadecimal digits. It need not resist attacks: a user who can choose
 * messages can also choose equal ones.
 */
function hash64(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2_654_435_761);
    low = Math.imul(low ^ unit, 1_597_334_677);
  }
  return hex(mixed(high, low)) + hex(mixed(low, high));
}

function mixed(one: number, other: number): number {
  const folded = Math.imul(one ^ (one >>> 16), 2_246_822_507);
  return folded ^ Math.imul(other ^ (other >>> 13), 3_266_489_909);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}
