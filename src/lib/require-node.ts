/**
 * Refuses a Node that is too old, with a message that names the releases that will do. The entry
 * points of the package import this module first: modules run in the order of their imports.
 */
import { complaintAbout } from "./supported-node.ts";

const complaint = complaintAbout(process.versions.node);
if (complaint !== null) throw new Error(complaint.trimEnd());
