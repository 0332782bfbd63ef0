/**
 * The message of a wrong command line, without values that may be secret: a payload, a value of the
 * environment, a password in a URL. Shells and build servers keep such messages.
 */
import { withShownUrls } from "../../lib/url-password.ts";

/** What Commander writes, and what is shown instead. */
const HIDDEN_VALUES: readonly (readonly [RegExp, string])[] = [
  [/command-argument value '.*' is invalid for argument '(\w+)'/s, "the $1 is invalid"],
  [/(option '[^']*') argument '.*' is invalid/s, "the value of the $1 is invalid"],
  [/value '.*' from env '(\w+)' is invalid/s, "the value of $1 is invalid"],
  [/(unknown option '--?[\w-]+)=.*?'(?=\n|$)/s, "$1'"],
  [/(too many arguments.* but got \d+): .*\.(?=\n|$)/s, "$1; quote a payload as one argument."],
];

export function withoutSecrets(message: string): string {
  const shown = HIDDEN_VALUES.reduce((text, [form, words]) => text.replace(form, words), message);
  return withShownUrls(shown);
}
