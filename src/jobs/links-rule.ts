/** The rule for templates of links, in code, in a file and on the command line. */
import { isObject, type Rule } from "../api/rules.ts";
import { linkFault, linkNameFault, LINKS_MAX } from "../core/control/link-templates.ts";

/** Templates by name, such as `{ trace: "https://trace.example/{correlation_id}" }`. */
export type Links = Readonly<Record<string, string>>;

export const someLinks: Rule = (value, place) => {
  const example = '{ trace: "https://trace.example/{correlation_id}" }';
  if (!isObject(value)) return { place, problem: `must be an object such as ${example}` };
  const links = Object.entries(value);
  if (links.length > LINKS_MAX) return { place, problem: `must have at most ${LINKS_MAX} links` };
  for (const [name, template] of links) {
    const fault = linkNameFault(name) ?? templateFault(template);
    if (fault !== null) return { place: `${place}.${name}`, problem: `cannot be used: ${fault}` };
  }
  return null;
};

function templateFault(template: unknown): string | null {
  return typeof template === "string" ? linkFault(template) : "a link is a text";
}
