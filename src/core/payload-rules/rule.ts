/** What a payload rule says, and how the rules of installation, category and type add up. */

/** The sets of patterns for content that does not belong into a payload. */
export const SENSITIVE_SETS = [
  "passwords",
  "tokens",
  "keys",
  "cards",
  "mail_bodies",
  "document_content",
] as const;

export type SensitiveSet = (typeof SENSITIVE_SETS)[number];

/** What happens to a payload with sensitive content. Later ones are stricter. */
export const SENSITIVE_ACTIONS = ["warn", "redact", "reject"] as const;

export type SensitiveAction = (typeof SENSITIVE_ACTIONS)[number];

/** What the value of a required field must be. `any`: any value but null and the empty text. */
export const FIELD_KINDS = ["any", "integer", "uuid", "string"] as const;

export type FieldKind = (typeof FIELD_KINDS)[number];

/** A rule for payloads. What is not named is not checked. */
export interface PayloadRule {
  /** Fields that the payload must have, by dot path: `{ "customer.id": "integer" }`. */
  readonly required?: Readonly<Record<string, FieldKind>>;
  /** A payload with more bytes is stored, and a warning is logged. */
  readonly softBytes?: number;
  /** A payload with more bytes is refused. */
  readonly hardBytes?: number;
  /** Names that no field of the payload may have, at any depth. */
  readonly forbidden?: readonly string[];
  /** What happens to sensitive content, by the set of patterns that finds it. */
  readonly sensitive?: Readonly<Partial<Record<SensitiveSet, SensitiveAction>>>;
  /** The job needs a tenant other than `default`, and a UUID as correlation id. */
  readonly strict?: boolean;
}

/** Whom a rule is for. `installation` has the name `all`. */
export interface RuleTarget {
  readonly scope: "installation" | "category" | "type";
  readonly name: string;
}

/** The rules for one job, added up. */
export interface EffectiveRule {
  readonly required: readonly { readonly path: string; readonly kind: FieldKind }[];
  readonly softBytes: number | null;
  readonly hardBytes: number | null;
  readonly forbidden: readonly string[];
  readonly sensitive: Readonly<Partial<Record<SensitiveSet, SensitiveAction>>>;
  readonly strict: boolean;
}

/**
 * Adds rules up. All of them hold: of two sizes the smaller one counts, of two actions the stricter
 * one. So a narrower rule cannot loosen a wider one. Null: there is no rule.
 */
export function addedUp(rules: readonly PayloadRule[]): EffectiveRule | null {
  if (rules.length === 0) return null;
  const sensitive: Partial<Record<SensitiveSet, SensitiveAction>> = {};
  for (const set of SENSITIVE_SETS) {
    const actions = rules.map((rule) => rule.sensitive?.[set]);
    const strictest = SENSITIVE_ACTIONS.findLast((action) => actions.includes(action));
    if (strictest !== undefined) sensitive[set] = strictest;
  }
  return {
    required: rules.flatMap(requiredOf),
    softBytes: least(rules.map(({ softBytes }) => softBytes)),
    hardBytes: least(rules.map(({ hardBytes }) => hardBytes)),
    forbidden: [...new Set(rules.flatMap(({ forbidden = [] }) => forbidden))],
    sensitive,
    strict: rules.some(({ strict }) => strict === true),
  };
}

function requiredOf({ required = {} }: PayloadRule): EffectiveRule["required"] {
  return Object.entries(required).map(([path, kind]) => ({ path, kind }));
}

function least(bytes: readonly (number | undefined)[]): number | null {
  const given = bytes.filter((each) => each !== undefined);
  return given.length === 0 ? null : Math.min(...given);
}
