/**
 * Prints every requirement with its number, its sentence and the tests that prove it.
 *
 *     node scripts/show/requirements.ts
 *     node scripts/show/requirements.ts --missing
 *     node scripts/show/requirements.ts --number 003-21
 *     node scripts/show/requirements.ts --origin 003
 *     node scripts/show/requirements.ts --draw 20 --seed 16
 *
 * The sentences are those of docs/reference/requirements.md. The tests are those whose title, or
 * the title of a group around them, carries the number. Exit code 1: a requirement of the given
 * origin has no test.
 */
import { parseArgs } from "node:util";
import { seededDice } from "../../test/support/seeded-dice.ts";
import { readRepository } from "../../test/tidy/tree.ts";
import { requirementsAndTests, testsOf, type Requirement } from "./lib/requirements.ts";

const USAGE = `node scripts/show/requirements.ts [options]

  --number 003-21  prints this requirement only
  --origin 003     takes the requirements of this origin only, and ends with 1 if a test is missing
  --missing        prints the requirements that no test proves, with the reason
  --draw 20        draws so many of the requirements that have tests
  --seed 42        another seed draws other requirements
  --help           prints this text
`;

const { values: options } = parseArgs({
  options: {
    number: { type: "string" },
    origin: { type: "string" },
    missing: { type: "boolean", default: false },
    draw: { type: "string" },
    seed: { type: "string", default: "42" },
    help: { type: "boolean", default: false },
  },
});
const count = Number(options.draw ?? 0);
const seed = Number(options.seed);
if (options.help) leave(0);
if (!Number.isSafeInteger(count) || count < 0 || !Number.isSafeInteger(seed)) leave(2);

const repository = requirementsAndTests(readRepository());
const inScope = repository.requirements.filter(isInScope);
const chosen = choose(inScope);
if (inScope.length === 0 || (chosen.length === 0 && !options.missing)) leave(2);
for (const requirement of chosen) print(requirement);
if (options.number === undefined) printTotals();
if (options.origin !== undefined && !inScope.every(({ number }) => hasTests(number))) {
  process.exitCode = 1;
}

function leave(code: number): never {
  process.stdout.write(USAGE);
  process.exit(code);
}

function isInScope({ number }: Requirement): boolean {
  return options.origin === undefined || number.startsWith(`${options.origin}-`);
}

function choose(all: readonly Requirement[]): readonly Requirement[] {
  if (options.number !== undefined) return all.filter(({ number }) => number === options.number);
  if (options.missing) return all.filter(({ number }) => !hasTests(number));
  if (options.draw === undefined) return all;
  return draw(all.filter(({ number }) => hasTests(number)));
}

function hasTests(number: string): boolean {
  return testsOf(repository, number).length > 0;
}

/** Each requirement is drawn at most once, in the order of the dice. */
function draw(all: readonly Requirement[]): Requirement[] {
  const dice = seededDice(seed);
  const left = [...all];
  const drawn: Requirement[] = [];
  while (drawn.length < count && left.length > 0) {
    drawn.push(...left.splice(Math.floor(dice.random() * left.length), 1));
  }
  return drawn;
}

function print({ number, sentence, notYet }: Requirement): void {
  console.log(`${number}  ${sentence}`);
  if (notYet !== null) console.log(`    not yet: ${notYet}`);
  for (const { path, line, title } of testsOf(repository, number)) {
    console.log(`    ${path}:${line}  ${title}`);
  }
}

function printTotals(): void {
  const proven = inScope.filter(({ number }) => hasTests(number)).length;
  console.log(`${inScope.length} requirements: ${proven} with tests`);
}
