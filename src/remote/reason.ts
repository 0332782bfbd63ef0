/** The reasons that a server wants. */
import { MillraceError } from "../core/errors.ts";

/** The server records why a person has made such a decision. `option` is that of the command. */
export function reasonOf(text: string | undefined, option = "--notes"): string {
  if (text !== undefined && text.trim() !== "") return text;
  throw new MillraceError("OPTION_INVALID", "a server wants the reason of such a decision", {
    hint: `Give the reason with ${option}.`,
  });
}
