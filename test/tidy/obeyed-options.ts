import ts from "typescript-5.9";
import { isShipped } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { lineOf, nodesOf, parse } from "./syntax.ts";

/** The types whose fields a user sets. `Timing` is refused as a whole, with its schedule. */
const OPTION_TYPE = /(?:Options|Settings|Filter|Periods|Preset)$/;

type TypeDeclaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration;

interface Option {
  readonly path: string;
  readonly line: number;
  readonly type: string;
  readonly name: string;
}

/** What a file does with options. */
interface Uses {
  readonly path: string;
  readonly words: ReadonlySet<string>;
  /** The names of the properties that it reads. */
  readonly read: ReadonlySet<string>;
  /** The names of the properties that it refuses by the rule `notYet`. */
  readonly refused: ReadonlySet<string>;
}

/**
 * An option that nothing reads is a promise that nothing keeps. Each field of a public option type
 * is refused by the rule `notYet`, or read outside of src/api: in a file that names the type or a
 * type that carries it, or in a store, to which the rest of the options is passed on.
 */
export function obeyedOptions(files: readonly SourceFile[]): Finding[] {
  const shipped = files.filter(({ path }) => isShipped(path));
  const declared = shipped.flatMap((file) => typesOf(file).map((node) => ({ file, node })));
  const uses = shipped.map(usesOf);
  return declared.filter(isPublicOption).flatMap(({ file, node }) => {
    const carriers = declared.filter((other) => mentions(other.node, node.name.text));
    const types = [node, ...carriers.map((other) => other.node)].map(({ name }) => name.text);
    const near = uses.filter(({ words }) => types.some((type) => words.has(type)));
    const readers = near.filter(({ path }) => !path.startsWith("src/api/"));
    const stores = uses.filter(({ path }) => path.startsWith("src/store/"));
    return optionsOf(file, node)
      .filter(({ name }) => ![...readers, ...stores].some(({ read }) => read.has(name)))
      .filter(({ name }) => !near.some(({ refused }) => refused.has(name)))
      .map(({ path, line, type, name }) => ({
        path,
        line,
        message: `${type}.${name} is read by nothing: read it, or refuse it with notYet`,
      }));
  });
}

function typesOf(file: SourceFile): TypeDeclaration[] {
  return parse(file).statements.filter(
    (node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node),
  );
}

function isPublicOption({ file, node }: { file: SourceFile; node: TypeDeclaration }): boolean {
  const isPublic = file.path.startsWith("src/api/") || file.path === "src/core/presets.ts";
  return isPublic && OPTION_TYPE.test(node.name.text);
}

function mentions(node: ts.Node, type: string): boolean {
  return [...nodesOf(node)].some((child) => ts.isIdentifier(child) && child.text === type);
}

/** The fields of the type, at every depth. */
function optionsOf(file: SourceFile, type: TypeDeclaration): Option[] {
  return [...nodesOf(type)]
    .filter((node) => ts.isPropertySignature(node))
    .map((node) => ({
      path: file.path,
      line: lineOf(node),
      type: type.name.text,
      name: node.name.getText(),
    }));
}

function usesOf(file: SourceFile): Uses {
  const words = new Set<string>();
  const read = new Set<string>();
  const refused = new Set<string>();
  for (const node of nodesOf(parse(file))) {
    if (ts.isIdentifier(node)) words.add(node.text);
    const name = nameRead(node);
    if (name !== null) read.add(name);
    if (isRefusal(node)) refused.add(node.name.getText());
  }
  return { path: file.path, words, read, refused };
}

/** The name of the property that a node reads. */
function nameRead(node: ts.Node): string | null {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isBindingElement(node)) return (node.propertyName ?? node.name).getText();
  if (!ts.isElementAccessExpression(node)) return null;
  return ts.isStringLiteralLike(node.argumentExpression) ? node.argumentExpression.text : null;
}

/** `services: notYet`, or `schedules: unlessEmpty(notYet)`. */
function isRefusal(node: ts.Node): node is ts.PropertyAssignment {
  return ts.isPropertyAssignment(node) && mentions(node.initializer, "notYet");
}
