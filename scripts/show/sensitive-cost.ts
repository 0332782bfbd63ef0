/**
 * How the time of the search for sensitive content grows with the payload, for texts that are made
 * to slow expressions down. A payload has ten texts, because the search reads 100,000 characters of
 * each.
 *
 *     node --conditions=source scripts/show/sensitive-cost.ts
 *
 * Exit code 0: twice the characters take at most 2.5 times the time, for every text.
 */
import { searchPayload } from "../../src/core/payload-rules/detect.ts";
import { SENSITIVE_SETS } from "../../src/core/payload-rules/rule.ts";

const TEXTS = 10;
const LENGTH = 50_000;
const ROUNDS = 7;
const RATIO_MAX = 2.5;
/** A shorter time says nothing about the growth. */
const MS_MIN = 5;

const PARTS = (
  "a|4 |a=|a b |eyJ|Bearer |login |a://b:|$2b$|-p |--password |password |the password is a |" +
  'пароль |密码|code |> a\n|Dear a\n|<a>|a,b\n|a: |set a to |a/b@|sk-|A.|a-|a_|MII|1-|"a" |' +
  '\'a\', |use a|abc |On a wrote|\n| |"d":"|{{|a%|mysql -|login a password |AKIA|zwischen |+/|a@b '
).split("|");

const search = { forbidden: [], sets: new Set(SENSITIVE_SETS) };
let worst = 0;
for (const part of PARTS) {
  const half = fastest(part, LENGTH);
  const whole = fastest(part, LENGTH * 2);
  const ratio = whole / Math.max(half, MS_MIN);
  worst = Math.max(worst, ratio);
  console.log(
    `${JSON.stringify(part)}: ${half.toFixed(1)} ms for ${TEXTS * LENGTH} characters, ` +
      `${whole.toFixed(1)} ms for twice as many: ratio ${ratio.toFixed(2)}`,
  );
}
console.log(`worst ratio ${worst.toFixed(2)}, at most ${RATIO_MAX} allowed`);
if (worst > RATIO_MAX) process.exitCode = 1;

function fastest(part: string, length: number): number {
  const text = part.repeat(Math.ceil(length / part.length)).slice(0, length);
  const payload = Array.from({ length: TEXTS }, () => ({ text }));
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    searchPayload(payload, search);
    best = Math.min(best, performance.now() - began);
  }
  return best;
}
