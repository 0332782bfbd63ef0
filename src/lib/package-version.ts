import { readFileSync } from "node:fs";

/** The version in package.json, which is two folders up in the source and in the build. */
export function packageVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version }: { version: string } = JSON.parse(manifest);
  return version;
}
