/** The package as a user has it: built, and laid out as npm would install it. */
import { existsSync } from "node:fs";
import { copyFile, mkdir, readdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { COMPILERS, ROOT, runNode } from "./children.ts";

/** One subpath of the package, as `exports` in package.json names it. */
export interface Entry {
  /** What users import: `millrace` or `millrace/sqlite`. */
  readonly specifier: string;
  readonly source: string;
  readonly types: string;
}

export interface Installed {
  readonly folder: string;
  readonly packageFolder: string;
}

interface Manifest {
  readonly exports: Readonly<Record<string, string | { source: string; types: string }>>;
}

const NEIGHBOURS = [
  "@hono",
  "@standard-schema",
  "@types",
  "arktype",
  "croner",
  "hono",
  "undici-types",
  "valibot",
  "zod",
];

/** Installs the package into `folder`, which must stand outside the repository. */
export async function install(folder: string): Promise<Installed> {
  const packageFolder = join(folder, "node_modules/millrace");
  await mkdir(packageFolder, { recursive: true });
  await copyFile(join(ROOT, "package.json"), join(packageFolder, "package.json"));
  await Promise.all(NEIGHBOURS.map((name) => linkNeighbour(folder, name)));

  const project = join(ROOT, "tsconfig.build.json");
  const outDir = join(packageFolder, "dist");
  const args = [COMPILERS["TypeScript 7"], "-p", project, "--outDir", outDir, "--removeComments"];
  const { status, output } = await runNode(args);
  if (status !== 0) throw new Error(`the package does not build:\n${output}`);
  return { folder, packageFolder };
}

/** All entries that package.json promises. One whose source is missing is an error, not a gap. */
export async function entries(): Promise<readonly Entry[]> {
  const manifest: Manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  return Object.entries(manifest.exports).flatMap(([subpath, target]) => {
    if (typeof target === "string") return [];
    if (!existsSync(join(ROOT, target.source))) {
      throw new Error(`package.json exports "${subpath}", but ${target.source} does not exist`);
    }
    return [{ ...target, specifier: `millrace${subpath.slice(1)}` }];
  });
}

export async function builtFiles(installed: Installed): Promise<readonly string[]> {
  const dist = join(installed.packageFolder, "dist");
  const names = await readdir(dist, { recursive: true });
  return names.filter((name) => name.endsWith(".js")).map((name) => join(dist, name));
}

async function linkNeighbour(folder: string, name: string): Promise<void> {
  await symlink(join(ROOT, "node_modules", name), join(folder, "node_modules", name));
}
