/**
 * Checks texts about jobs: reasons, notes, names. They are stored, indexed and shown, so their
 * length is bounded, and both databases must store them unchanged.
 */
import { MillraceError } from "../core/errors.ts";
import { must, type Rule } from "../api/rules.ts";

/** Longer texts belong into a document; the remark can refer to it. */
const REMARK_LENGTH_MAX = 2_000;

const aRemark: Rule = aText(REMARK_LENGTH_MAX);

/** A remark that may be empty. */
export const anyRemark: Rule = (value, place) => (value === "" ? null : aRemark(value, place));

/** The rule for a text of at most this length that both databases store unchanged. */
export function aText(lengthMax: number): Rule {
  const form = `a text of 1 to ${lengthMax} characters, without U+0000 or half a surrogate pair`;
  return (value, place) =>
    typeof value === "string" && value.length > lengthMax
      ? { place, problem: `must have at most ${lengthMax} characters, not ${value.length}` }
      : must((each) => isText(each, lengthMax), form)(value, place);
}

/** A text that both databases store unchanged: well-formed, without U+0000. */
export function isText(value: unknown, lengthMax: number): value is string {
  if (typeof value !== "string" || value.length === 0 || value.length > lengthMax) return false;
  return value.isWellFormed() && !value.includes("\0");
}

/** Checks a reason, a message or a note. */
export function checkRemark(verb: string, place: string, remark: string): void {
  insistOn(verb, aRemark, remark, place);
}

/** The same for a remark that may be absent or empty. */
export function checkAnyRemark(verb: string, place: string, remark: string | undefined): void {
  if (remark !== undefined) insistOn(verb, anyRemark, remark, place);
}

/** Throws OPTION_INVALID with the verb, the option and what it must be. */
export function insistOn(verb: string, rule: Rule, value: unknown, place: string): void {
  const mismatch = rule(value, place);
  if (mismatch === null) return;
  const { place: option, problem, code = "OPTION_INVALID" } = mismatch;
  const message = `${verb}: ${`${option} ${problem}`.trimStart()}`;
  throw new MillraceError(code, message, { details: { option } });
}
