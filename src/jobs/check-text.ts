/**
 * Texts that people write about jobs: reasons, notes, names. They are stored, indexed and shown, so
 * they are bounded, and such as both databases keep as they are.
 */
import { MillraceError } from "../core/errors.ts";
import { must, type Rule } from "../api/rules.ts";

/** More than that belongs into a document, with a reference to it here. */
const REMARK_LENGTH_MAX = 2_000;

const aRemark: Rule = aText(REMARK_LENGTH_MAX);

/** A remark that may as well be empty. */
export const anyRemark: Rule = (value, place) => (value === "" ? null : aRemark(value, place));

/** The rule "a text of at most that length which both databases store as it is". */
export function aText(lengthMax: number): Rule {
  const form = `a text of 1 to ${lengthMax} characters, without U+0000 or half a surrogate pair`;
  return (value, place) =>
    typeof value === "string" && value.length > lengthMax
      ? { place, problem: `must have at most ${lengthMax} characters, not ${value.length}` }
      : must((each) => isText(each, lengthMax), form)(value, place);
}

/** What both databases store as it is: well-formed, without U+0000. */
export function isText(value: unknown, lengthMax: number): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > lengthMax) return false;
  return value.isWellFormed() && !value.includes("\0");
}

/** A reason, a message or a note. */
export function checkRemark(verb: string, place: string, remark: string): void {
  insistOn(verb, aRemark, remark, place);
}

/** The same where it may be left out, or empty. */
export function checkAnyRemark(verb: string, place: string, remark: string | undefined): void {
  if (remark !== undefined) insistOn(verb, anyRemark, remark, place);
}

/** Throws OPTION_INVALID that names the verb, the place and the cure. */
export function insistOn(verb: string, rule: Rule, value: unknown, place: string): void {
  const mismatch = rule(value, place);
  if (mismatch === null) return;
  const message = `${verb}: ${`${mismatch.place} ${mismatch.problem}`.trimStart()}`;
  throw new MillraceError("OPTION_INVALID", message, { details: { option: mismatch.place } });
}
