/** The rule for limits, in code and by operators. */
import { anObject, aWholeNumber, isDuration, isObject, must, type Rule } from "../rules.ts";

export const LIMIT_BOUNDS = { min: 1, max: 1_000_000_000 } as const;

const aCount = aWholeNumber(LIMIT_BOUNDS);
const FIELDS = anObject(
  {
    required: {},
    optional: {
      concurrency: aCount,
      rate: anObject(
        {
          required: {
            limit: aCount,
            per: must((value) => isDuration(value, { minMs: 1 }), 'a duration such as "1m"'),
          },
          optional: { burst: aCount },
        },
        'an object such as { limit: 100, per: "1m" }',
      ),
    },
  },
  "an object such as { concurrency: 5 }",
);

/** A limit states a concurrency, a rate or both. */
export const aLimit: Rule = (value, place) => {
  const mismatch = FIELDS(value, place);
  const isEmpty =
    isObject(value) && value["concurrency"] === undefined && value["rate"] === undefined;
  if (mismatch !== null || !isEmpty) return mismatch;
  return { place, problem: "must name concurrency, rate or both, such as { concurrency: 5 }" };
};
