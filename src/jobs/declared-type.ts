/** Finds the definition of a type among those that a job file declares. */
import type { AnyContract } from "../api/definition.ts";
import { MillraceError } from "../core/errors.ts";
import { closest } from "../lib/closest.ts";

/** The most types that a message names. */
const NAMED_MAX = 20;

/** Throws TYPE_UNKNOWN with the type that was most likely meant. `otherwise` is added to it. */
export function declaredType(
  type: string,
  contracts: readonly AnyContract[],
  file: string,
  otherwise = "",
): AnyContract {
  const contract = contracts.find((each) => each.type === type);
  if (contract !== undefined) return contract;
  const message = `${file} has no job of type "${type}". ${adviceFor(type, contracts)}`;
  throw new MillraceError("TYPE_UNKNOWN", `${message} ${otherwise}`.trimEnd());
}

function adviceFor(type: string, contracts: readonly AnyContract[]): string {
  const known = contracts.map((each) => each.type);
  const near = closest(type, known);
  if (near !== null) return `Did you mean ${near}?`;
  const more = known.length > NAMED_MAX ? ", …" : "";
  return `The types are ${known.slice(0, NAMED_MAX).join(", ")}${more}.`;
}
