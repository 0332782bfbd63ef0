/**
 * Compares the routines of an installation with those of this release, and the right of the role of
 * the engine to call them. An installation without that role has none and needs none.
 */
import { differencesOf, foundRoutines, shownIn } from "../rights/install-routines.ts";
import type { Session } from "../database/session.ts";
import { quoted } from "../database/statements.ts";
import type { ServerFinding } from "./examine.ts";

const NAME = "routines";
/** Routines that one finding names. */
const NAMED_MAX = 5;

export async function routineFindings({ read, schema }: Session): Promise<ServerFinding[]> {
  const installation = await read.all("installation", {});
  if (installation.every(({ name }) => name !== "routines")) return [];
  const found = await foundRoutines(read, schema);
  const { missing, changed, withheld, extra } = differencesOf(schema, found);
  const engine = quoted(`${schema}_engine`);
  return [
    ...findingAbout("missing", missing),
    ...findingAbout("changed", changed),
    ...findingAbout("of another release", extra),
    ...withheld.slice(0, NAMED_MAX).map((routine) => {
      const shown = shownIn(schema, routine);
      const fix = `GRANT EXECUTE ON FUNCTION ${shown} TO ${engine};`;
      return { name: NAME, found: `${schema}_engine may not use ${shown}`, fix };
    }),
    ...findingAbout(`not granted to ${schema}_engine`, withheld.slice(NAMED_MAX)),
  ];
}

function findingAbout(what: string, routines: readonly { name: string }[]): ServerFinding[] {
  if (routines.length === 0) return [];
  const named = routines.slice(0, NAMED_MAX).map(({ name }) => name);
  const rest = routines.length - named.length;
  const more = rest === 0 ? "" : ` and ${rest} more`;
  const count = `${routines.length} ${routines.length === 1 ? "routine is" : "routines are"}`;
  const found = `${count} ${what}: ${named.join(", ")}${more}`;
  return [{ name: NAME, found, fix: "Run millrace migrate --roles." }];
}
