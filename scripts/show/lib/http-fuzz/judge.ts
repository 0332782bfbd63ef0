/** What is wrong with an answer. */
import type { Draft } from "./requests.ts";
import { canaryOf, TENANTS, VALUE_CANARY, type World } from "./world.ts";

export interface Answer {
  readonly status: number;
  readonly path: string;
  readonly text: string;
  readonly isProblem: boolean;
}

/** The codes of requests that were refused before the mill was asked. */
const REFUSED = new Set([
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "FORBIDDEN_TENANT",
  "CROSS_SITE",
  "FOREIGN_HOST",
  "BODY_TOO_LARGE",
  "BODY_NOT_JSON",
  "INPUT_INVALID",
  "OPTION_INVALID",
  "ID_INVALID",
  "TOO_MANY_LOGINS",
  "TOO_MANY_STREAMS",
]);

/** The letters around what was found. */
const CONTEXT = 60;
const ID = /\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g;

/** Whether routing, identity and the checks of the parts of the request have let it pass. */
export function hasReachedRoute({ status, text, isProblem }: Answer): boolean {
  if (status < 400) return true;
  if (!isProblem || text === "") return false;
  const { code } = JSON.parse(text);
  return !REFUSED.has(code);
}

/** What the answer has that its caller must not read; null: nothing. */
export function foreignIn(draft: Draft, answer: Answer, world: World): string | null {
  const { text, isProblem, status, path } = answer;
  const { caller } = draft;
  if (caller.isBlind && !isProblem && text.includes(VALUE_CANARY)) return "a value";
  if (caller.tenant === null) return null;
  const asked = JSON.stringify([draft.path, draft.query, draft.headers, draft.json ?? ""]);
  for (const tenant of TENANTS) {
    if (tenant === caller.tenant) continue;
    const canary = canaryOf(tenant);
    if (text.includes(canary) && !asked.includes(canary)) return around(text, canary);
    const { jobs, tokens } = world;
    const isForeign = (id: string): boolean => jobs[tenant].has(id) || tokens[tenant].has(id);
    if (status < 400 && idsIn(path).some(isForeign)) return `something of ${tenant}`;
    const id = idsIn(text).find((each) => isForeign(each) && !asked.includes(each));
    if (id !== undefined) return `the id of ${tenant} in ${around(text, id)}`;
  }
  return null;
}

function idsIn(text: string): readonly string[] {
  return text.match(ID) ?? [];
}

function around(text: string, found: string): string {
  const at = text.indexOf(found);
  return `…${text.slice(Math.max(0, at - CONTEXT), at + found.length + CONTEXT)}…`;
}
