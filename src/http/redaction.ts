/**
 * Which parts of jobs a caller may read. Payloads, results, errors and log lines may contain
 * personal data and secrets: a manager reads them, an operator without the fields that the rules
 * name, and a viewer or admin reads that there is something.
 */
import type { PersonRole } from "../api/tokens.ts";
import type { Fault } from "../core/outcome.ts";
import type { Identity } from "./identity/identity.ts";

/** The values of these fields are secrets, wherever they occur. */
const SECRET_FIELDS = [
  "password",
  "passwd",
  "secret",
  "token",
  "authorization",
  "api_key",
  "apikey",
];
const HIDDEN = "[redacted]";
/** Deeper values are hidden as a whole. */
const DEPTH_MAX = 100;

export interface RedactionRules {
  /** Names of fields, at any depth, or paths such as `card.number`, in lower case. */
  readonly fields: ReadonlySet<string>;
}

/** The rules with the fields that the user names. */
export function redactionRules(fields: readonly string[] = []): RedactionRules {
  return { fields: new Set([...SECRET_FIELDS, ...fields].map((field) => field.toLowerCase())) };
}

/** How much a caller reads. */
type Sight = "all" | "fields" | "none";

export class Redactor {
  readonly #rules: RedactionRules;
  readonly #sight: Sight;

  constructor(rules: RedactionRules, identity: Identity) {
    this.#rules = rules;
    this.#sight = sightOf(identity);
  }

  /** Whether nothing is hidden. */
  get seesAll(): boolean {
    return this.#sight === "all";
  }

  /** A payload, a result or any other JSON of the application. */
  value(value: unknown): unknown {
    if (this.#sight === "all" || value === null || value === undefined) return value;
    return this.#sight === "none" ? HIDDEN : this.#within(value, "", 0);
  }

  /** Text of the application that may contain data: the message of an error, a line of a log. */
  text(text: string): string {
    return this.#sight === "none" ? HIDDEN : text;
  }

  /** Why a breaker has its state: the message of an error, unless an operator wrote it. */
  stateReason(reason: string | null, by: string | null): string | null {
    return reason === null || by !== null ? reason : this.text(reason);
  }

  fault(fault: Fault | null): Fault | null {
    if (fault === null || this.#sight !== "none") return fault;
    const { class: errorClass, name, cause } = fault;
    return { class: errorClass, name, message: HIDDEN, ...(cause === undefined ? {} : { cause }) };
  }

  #within(value: unknown, path: string, depth: number): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (depth === DEPTH_MAX) return HIDDEN;
    if (Array.isArray(value)) return value.map((item) => this.#within(item, path, depth + 1));
    const entries = Object.entries(value).map(([name, each]) => {
      const field = name.toLowerCase();
      const place = path === "" ? field : `${path}.${field}`;
      const isHidden = this.#rules.fields.has(field) || this.#rules.fields.has(place);
      return [name, isHidden ? HIDDEN : this.#within(each, place, depth + 1)];
    });
    return Object.fromEntries(entries);
  }
}

/** Programs read what they need to do their work. */
function sightOf({ kind, roles }: Identity): Sight {
  if (kind === "worker" || roles.includes("manager")) return "all";
  const hasRole = (role: PersonRole): boolean => roles.includes(role);
  return hasRole("operator") ? "fields" : "none";
}
