/**
 * Which parts of jobs a caller may read. Payloads, results, errors and log lines may contain
 * personal data and secrets: a manager reads them, an operator without the fields that the rules
 * name, and a viewer or admin reads that there is something.
 */
import type { PersonRole } from "../api/tokens.ts";
import type { Fault } from "../core/outcome.ts";
import type { JobFilter } from "../api/control/job-filter.ts";
import { HIDDEN, isHiddenPath, redacted, type RedactionRules } from "../core/redaction.ts";
import type { Identity } from "./identity/identity.ts";
import { RequestRefusal } from "./problem.ts";

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

  /**
   * Refuses a search in values that the caller does not read: its results would tell them, letter
   * by letter.
   */
  insistOnSearch({ payload = {}, text, error }: SearchedContent): void {
    if (text !== undefined && !this.seesAll) {
      throw hiddenFrom("text", "searches whole payloads, which only a manager reads");
    }
    if (error !== undefined && this.#sight === "none") {
      throw hiddenFrom("error", "searches messages of errors, which an operator or manager reads");
    }
    for (const path of Object.keys(payload)) {
      if (!this.#hides(path)) continue;
      throw hiddenFrom("payload", `searches ${path}, which is hidden from the role of the caller`);
    }
  }

  #hides(path: string): boolean {
    if (this.#sight === "fields") return isHiddenPath(path, this.#rules);
    return this.#sight === "none";
  }

  /** A payload, a result or any other JSON of the application. */
  value(value: unknown): unknown {
    if (this.#sight === "all" || value === null || value === undefined) return value;
    return this.#sight === "none" ? HIDDEN : redacted(value, this.#rules);
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
}

type SearchedContent = Pick<JobFilter, "payload" | "text" | "error">;

function hiddenFrom(option: string, why: string): RequestRefusal {
  return new RequestRefusal("FORBIDDEN", `${option} ${why}.`, [{ path: option, message: why }]);
}

/** Programs read what they need to do their work. */
function sightOf({ kind, roles }: Identity): Sight {
  if (kind === "worker" || roles.includes("manager")) return "all";
  const hasRole = (role: PersonRole): boolean => roles.includes(role);
  return hasRole("operator") ? "fields" : "none";
}
