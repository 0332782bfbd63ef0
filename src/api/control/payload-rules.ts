/** `mill.payloadRules`: what the payloads of new jobs must have, and must not have. */
import type { PayloadRule } from "../../core/payload-rules/rule.ts";

/** Whom a rule is for: one type, the types of a category, or all jobs. */
export type PayloadRuleTarget =
  | { readonly type: string }
  | { readonly category: string }
  | { readonly installation: true };

export interface PayloadRules {
  /**
   * Sets the rule of a type, a category or the installation, in place of the one before. A job is
   * checked against the rules of its type, its category and the installation together. Waiting jobs
   * stay. The rule counts at once in this process, and within five seconds in others.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob, typed } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const scan = defineJob({ type: "scan", payload: typed<Record<string, string | number>>() });
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * const required = { document_id: "integer" } as const;
   * const rule = { required, sensitive: { tokens: "reject" } } as const;
   * await mill.payloadRules.set({ type: "scan" }, rule, { actor: "ada", reason: "an audit" });
   *
   * await mill.enqueue(scan, { document_id: 7 });
   * await assert.rejects(mill.enqueue(scan, { api_token: "tk-18f3a9c2e7" }), {
   *   code: "PAYLOAD_RULE_BROKEN",
   * });
   * ```
   */
  set(target: PayloadRuleTarget, rule: PayloadRule, by?: RuleActor): Promise<void>;
  /**
   * Removes a rule. Resolves with false if there was none. In place of a rule of code, an empty
   * rule stays in the list, and code does not bring the rule back. Remove the empty rule to let
   * code declare its rule again.
   */
  remove(target: PayloadRuleTarget, by?: RuleActor): Promise<boolean>;
  /** Lists the rules of the installation: those of operators, and those of presets. */
  list(): Promise<readonly PayloadRuleView[]>;
}

/** Who changes a rule, and why. */
export interface RuleActor {
  readonly actor: string;
  readonly reason?: string;
}

export interface PayloadRuleView {
  readonly scope: "installation" | "category" | "type";
  /** The name of the type or category; `all` for the installation. */
  readonly name: string;
  /** Empty: an operator has removed a rule of code. */
  readonly rule: PayloadRule;
  /** `code`: a preset has brought the rule along. The rule of an operator replaces it. */
  readonly owner: "code" | "operator";
  readonly setBy: string | null;
  readonly reason: string | null;
  readonly setAt: Date;
}
