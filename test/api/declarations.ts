/**
 * What users can see of an entry: its exports, and every declaration that those lead to. The rest
 * of the files is left out, so that a snapshot changes when the public API does and not otherwise.
 *
 * It reads what `tsc` writes, and relies on its form: every statement begins in the first column.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

interface DeclarationFile {
  readonly statements: readonly Statement[];
  /** Where names come from that other own files declare. */
  readonly origins: ReadonlyMap<string, Origin>;
}

interface Statement {
  readonly text: string;
  /** What it declares; `null` for imports and re-exports. */
  readonly name: string | null;
}

interface Origin {
  readonly file: string;
  readonly name: string;
}

export function publicDeclarations(entry: string, home: string): string {
  const files = new Map<string, DeclarationFile>();
  const reached = new Set<Statement>();

  const open = (file: string): DeclarationFile => {
    const known = files.get(file) ?? readDeclarations(file);
    files.set(file, known);
    return known;
  };
  const reach = (file: string, name: string): void => {
    const { statements, origins } = open(file);
    const origin = origins.get(name);
    if (origin !== undefined) reach(origin.file, origin.name);
    for (const statement of statements) {
      if (statement.name !== name || reached.has(statement)) continue;
      reached.add(statement);
      for (const [word] of statement.text.matchAll(/[\w$]+/g)) reach(file, word);
    }
  };

  const { statements, origins } = open(entry);
  for (const statement of statements.filter(({ text }) => text.startsWith("export "))) {
    if (statement.name === null) reached.add(statement);
    else reach(entry, statement.name);
  }
  for (const { file, name } of origins.values()) reach(file, name);

  const others = [...files.keys()].filter((file) => file !== entry).toSorted();
  return [entry, ...others]
    .map((file) => ({ file, texts: open(file).statements.filter((one) => reached.has(one)) }))
    .filter(({ texts }) => texts.length > 0)
    .map(({ file, texts }) => [`// ── ${relative(home, file)}`, ...texts.map(({ text }) => text)])
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

function readDeclarations(file: string): DeclarationFile {
  const origins = new Map<string, Origin>();
  const statements = readFileSync(file, "utf8")
    .split(/\n(?=[^\s})\]])/)
    .map((text) => text.trimEnd())
    .map((text) => {
      for (const [local, origin] of originsIn(text, file)) origins.set(local, origin);
      return { text, name: declaredName(text, file) };
    });
  return { statements, origins };
}

function declaredName(text: string, file: string): string | null {
  if (/^(?:import|export) (?:type )?\{/.test(text) || text.startsWith('import "')) return null;
  const name =
    /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) ([\w$]+)/.exec(
      text,
    )?.[1];
  if (name === undefined || /import\("\./.test(text)) {
    throw new Error(`${file}: this form of declaration is not understood:\n${text}`);
  }
  return name;
}

function originsIn(text: string, file: string): readonly [local: string, origin: Origin][] {
  const [, names, specifier] =
    /^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/.exec(text) ?? [];
  if (names === undefined || specifier === undefined) return [];

  const target = join(dirname(file), specifier.replace(/\.[jt]s$/, ".d.ts"));
  return names
    .split(",")
    .map((name) => name.trim().replace(/^type /, ""))
    .filter((name) => name !== "")
    .map((name) => {
      const [original = "", local = original] = name.split(" as ");
      return [local, { file: target, name: original }];
    });
}
