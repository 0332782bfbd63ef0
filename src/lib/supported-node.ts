/**
 * The releases of Node that will do. No imports and no syntax younger than Node 12: an old Node
 * must be able to read this module and say that it is too old.
 */

/** The first release of each line whose SQLite is safe with several connections. */
const SUPPORTED = "^22.22.3 || ^24.15.0 || >=26";

/** Says in two lines what is wrong with this version of Node, or `null` when it will do. */
export function complaintAbout(version: string): string | null {
  if (isSupported(version)) return null;
  return `millrace needs Node ${SUPPORTED}, but this is Node ${version}.
Install Node 24, the current long-term line: https://nodejs.org/en/download
`;
}

function isSupported(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number);
  if (major === 22) return minor > 22 || (minor === 22 && patch >= 3);
  if (major === 24) return minor >= 15;
  return major >= 26;
}
