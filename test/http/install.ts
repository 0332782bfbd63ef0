/** Runs once before the tests of this folder: the frameworks are installed only for them. */
import { join } from "node:path";
import { installFolder } from "../../scripts/lib/install-folder.ts";

export default function setup(): Promise<void> {
  return installFolder(join(import.meta.dirname, "frameworks"), "the frameworks of test/http");
}
