/** Checks payload rules, those of operators and those of presets. */
import {
  aName,
  anObject,
  aWholeNumber,
  isObject,
  must,
  oneOf,
  type Rule,
} from "../../api/rules.ts";
import { FIELD_KINDS, SENSITIVE_ACTIONS, SENSITIVE_SETS } from "../../core/payload-rules/rule.ts";
import { isText } from "../check-text.ts";

/** The most required and forbidden fields of one rule, and the longest path. */
const FIELDS_MAX = 100;
const PATH_LENGTH_MAX = 200;
const SIZE = aWholeNumber({ min: 1, max: 1_000_000 });

const aPath: Rule = must(
  (value) => isText(value, PATH_LENGTH_MAX) && value.split(".").every((step) => step !== ""),
  'the path of a field, such as "customer.id"',
);

const someFields: Rule = (value, place) => {
  const table = tableOf(oneOf(...FIELD_KINDS))(value, place);
  if (table !== null) return table;
  const paths = Object.keys(Object(value));
  if (paths.length > FIELDS_MAX) return tooMany(place);
  return paths.map((path) => aPath(path, place)).find((mismatch) => mismatch !== null) ?? null;
};

const someNames: Rule = (value, place) => {
  if (!Array.isArray(value)) return { place, problem: "must be a list of names of fields" };
  if (value.length > FIELDS_MAX) return tooMany(place);
  return value.map((name) => aName(name, place)).find((mismatch) => mismatch !== null) ?? null;
};

const actions = Object.fromEntries(
  SENSITIVE_SETS.map((set) => [set, oneOf(...SENSITIVE_ACTIONS)] as const),
);

const FORM = anObject(
  {
    required: {},
    optional: {
      required: someFields,
      softBytes: SIZE,
      hardBytes: SIZE,
      forbidden: someNames,
      sensitive: anObject(
        { required: {}, optional: actions },
        'an object such as { tokens: "reject" }',
      ),
      strict: must((value) => typeof value === "boolean", "true or false"),
    },
  },
  'an object such as { required: { tenant_id: "integer" } }',
);

/** A rule with at least one part. */
export const aPayloadRule: Rule = (value, place) => {
  const mismatch = FORM(value, place);
  if (mismatch !== null) return mismatch;
  if (Object.keys(Object(value)).length > 0) return null;
  return { place, problem: "names nothing to check; give for example { hardBytes: 50000 }" };
};

/** An object whose values all obey a rule. */
export function tableOf(rule: Rule): Rule {
  return (value, place) => {
    if (!isObject(value)) return { place, problem: "must be an object" };
    const entries = Object.entries(value).map(([key, each]) => rule(each, `${place}.${key}`));
    return entries.find((mismatch) => mismatch !== null) ?? null;
  };
}

function tooMany(place: string): ReturnType<Rule> {
  return { place, problem: `must name at most ${FIELDS_MAX} fields` };
}
