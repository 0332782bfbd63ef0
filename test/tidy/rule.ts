/** What every rule of the house works on, and what it answers. */

/** A file as the rules see it: its path from the root of the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Finding {
  readonly path: string;
  readonly line: number;
  /** What is wrong, and what to do instead. */
  readonly message: string;
}

export type Rule = (files: readonly SourceFile[]) => Finding[];

/** Tests are exempt from some rules, by the form of their name and never one by one. */
export function isTest(path: string): boolean {
  return /\.(test|test-d|suite)\.ts$/.test(path);
}

/** Generated files are exempt from the rules about form. */
export function isGenerated(path: string): boolean {
  return path.endsWith(".gen.ts");
}

/** What is shipped: the law is strictest here. */
export function isShipped(path: string): boolean {
  return path.startsWith("src/") && path.endsWith(".ts") && !isTest(path);
}
