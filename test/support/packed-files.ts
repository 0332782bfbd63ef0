/** The paths of the files that `npm pack` would put into the package. Needs a build for `dist`. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { root } from "../../scripts/lib/command.ts";

const run = promisify(execFile);

export async function packedFiles(): Promise<readonly string[]> {
  // Without scripts: `prepack` would build the package below the tests that use the build.
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const { stdout } = await run("npm", args, { cwd: root });
  const [pack]: { readonly files: readonly { readonly path: string }[] }[] = JSON.parse(stdout);
  return pack?.files.map(({ path }) => path) ?? [];
}
