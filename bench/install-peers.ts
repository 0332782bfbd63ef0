/** Installs the peers: only on demand, so that no other benchmark has to wait for them. */
import { join } from "node:path";
import { installFolder } from "../scripts/lib/install-folder.ts";

export function installPeers(): Promise<void> {
  return installFolder(join(import.meta.dirname, "peers"), "the peers");
}
