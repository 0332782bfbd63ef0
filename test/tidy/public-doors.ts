import ts from "typescript-5.9";
import type { Finding, SourceFile } from "./rule.ts";
import { lineOf, parse } from "./syntax.ts";

/** What leaves the house is listed name by name: a door with `export *` is not a decision. */
export function publicDoors(files: readonly SourceFile[]): Finding[] {
  const doors = doorsOf(files);
  return files
    .filter(({ path }) => doors.has(path))
    .flatMap((file) =>
      parse(file)
        .statements.filter((statement) => ts.isExportDeclaration(statement))
        .filter(({ exportClause }) => !exportClause || ts.isNamespaceExport(exportClause))
        .map((statement) => ({
          path: file.path,
          line: lineOf(statement),
          message: "a public door lists its exports by name",
        })),
    );
}

/** The sources behind the package's `exports`, and the staff door. */
function doorsOf(files: readonly SourceFile[]): Set<string> {
  const manifest = files.find(({ path }) => path === "package.json");
  const exports: Record<string, unknown> = JSON.parse(manifest?.text ?? "{}").exports ?? {};
  const sources = Object.values(exports).flatMap((entry) =>
    typeof entry === "object" && entry !== null && "source" in entry ? [String(entry.source)] : [],
  );
  return new Set(["src/internal.ts", ...sources.map((source) => source.replace(/^\.\//, ""))]);
}
