/** The folder of the built dashboard: in the package, or in `dist` of the repository. */
import { fileURLToPath } from "node:url";

export function pageFolder(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(
    new URL(isSource ? "../../../dist/dashboard" : "../../dashboard", import.meta.url),
  );
}
