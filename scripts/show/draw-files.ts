/**
 * Draws source files by a seed and prints their paths alone, so that a reader who has not seen the
 * code can say from its path what each file is for. `--answers` adds the first sentence of each
 * file's header comment, by which the guesses are judged.
 *
 *     node scripts/show/draw-files.ts --count 20 --seed 42
 *     node scripts/show/draw-files.ts --count 20 --seed 42 --answers
 *
 * The files are those of `src` without tests, generated files and `index.ts`. The same seed draws
 * the same files as long as the paths stay the same.
 */
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { seededDice } from "../../test/support/seeded-dice.ts";
import { isGenerated, isShipped, type SourceFile } from "../../test/tidy/rule.ts";
import { readRepository } from "../../test/tidy/tree.ts";
import { treeAt } from "./lib/tree.ts";

const USAGE = `node scripts/show/draw-files.ts [options]

  --tree DIR   the checkout to draw from (default: this repository)
  --count 20   how many files
  --seed 42    another seed draws other files
  --answers    prints the first sentence of each file's header comment as well
  --help       prints this text
`;

const { values: options } = parseArgs({
  options: {
    tree: { type: "string" },
    count: { type: "string", default: "20" },
    seed: { type: "string", default: "42" },
    answers: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const count = Number(options.count);
const seed = Number(options.seed);
if (options.help) leave(0);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) leave(2);

const files = readRepository(treeAt(options.tree)).filter(({ path }) => isDrawn(path));
for (const file of draw(files)) {
  console.log(file.path);
  if (options.answers) console.log(`    ${firstSentence(file)}`);
}

function leave(code: number): never {
  process.stdout.write(USAGE);
  process.exit(code);
}

function isDrawn(path: string): boolean {
  return isShipped(path) && !isGenerated(path) && basename(path) !== "index.ts";
}

/** Each file is drawn at most once. The drawn files come in the order of their paths. */
function draw(all: readonly SourceFile[]): SourceFile[] {
  const dice = seededDice(seed);
  const left = [...all];
  const drawn: SourceFile[] = [];
  while (drawn.length < count && left.length > 0) {
    drawn.push(...left.splice(Math.floor(dice.random() * left.length), 1));
  }
  return drawn.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The header is the comment with which a file begins; failing that, its first doc comment. */
function firstSentence({ text }: SourceFile): string {
  const header = /^\/\*\*([\s\S]*?)\*\//m.exec(text)?.[1];
  if (header === undefined) return "(no header comment)";
  const words = header
    .replaceAll(/^\s*\*? ?/gm, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /^.*?[.!?](?= [A-Z`“]|$)/.exec(words)?.[0] ?? words;
}
