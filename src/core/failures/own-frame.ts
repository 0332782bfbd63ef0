/**
 * The place in the application where an error was made: the first frame of a stack that is in
 * neither Node, nor a dependency, nor Millrace. A release that moves lines, or that is deployed to
 * another folder, has the same frames.
 */

/** The frames of one error that are read. */
const FRAMES_MAX = 100;

const THIS_MODULE = /\/core\/failures\/own-frame\.[jt]s$/;

/**
 * The folder of Millrace. Null: Millrace is bundled with the application, and a path does not tell
 * them apart.
 */
const LIBRARY_FOLDER: string | null = libraryFolder(import.meta.url);

export function libraryFolder(moduleUrl: string): string | null {
  return THIS_MODULE.test(moduleUrl) ? pathOf(moduleUrl.replace(THIS_MODULE, "/")) : null;
}

/**
 * The own frame of a stored stack, as `function file`. A stack ends with the stacks of the causes:
 * the innermost cause that has an own frame is nearest to the mistake. Empty: there is none.
 */
export function ownFrame(stack: string, library: string | null = LIBRARY_FOLDER): string {
  const frames = stack.split("\nCaused by: ").map((part) => firstOwnFrame(part, library));
  return frames.findLast((frame) => frame !== "") ?? "";
}

interface Frame {
  readonly name: string;
  readonly path: string;
}

function firstOwnFrame(stack: string, library: string | null): string {
  const lines = stack.split("\n").filter((line) => /^\s+at /.test(line));
  const frames = lines.slice(0, FRAMES_MAX).map(frameOf);
  const own = frames.find((frame) => frame !== null && isOwn(frame.path, library));
  return own === undefined || own === null ? "" : `${own.name} ${stableFile(own.path)}`;
}

/** `    at async Object.run [as handler] (file:///app/jobs.js:10:5)`, or without a name. */
function frameOf(line: string): Frame | null {
  const text = line.trim().slice("at ".length);
  const named = /^(.*?) ?\((.*)\)$/.exec(text);
  const [name, place] = named === null ? ["", text] : [named[1]!, named[2]!];
  const found = /^(.+?):\d+(?::\d+)?$/.exec(place.replace(/^async /, ""));
  return found === null ? null : { name: stableName(name), path: pathOf(found[1]!) };
}

function isOwn(path: string, library: string | null): boolean {
  if (!path.includes("/") || /^(?:node|internal|native|evalmachine|eval)\b/.test(path))
    return false;
  return !path.includes("/node_modules/") && !(library !== null && path.startsWith(library));
}

/** Releases of Node differ in what stands before the name of a function. */
function stableName(name: string): string {
  return name
    .replace(/ \[as .*\]$/, "")
    .replace(/^(?:async |new )+/, "")
    .replace(/^(?:Object|Module|Function|Array|<anonymous>|file)\./, "")
    .replace(/^<anonymous>$/, "");
}

function pathOf(place: string): string {
  return place
    .replace(/^file:\/\//, "")
    .replace(/[?#].*$/, "")
    .replaceAll("\\", "/");
}

/** Folders in which a build or a deploy puts the files of an application. */
const ROOTS = /^(?:dist|build|out|src|lib|app|server|current|bundle|output|standalone)$/;

/**
 * The file below the folder of the deploy, without its content hash and extension. If no folder is
 * known as a root, only the last folder is kept, without the numbers of a release.
 */
function stableFile(path: string): string {
  const [file = "", ...folders] = path.split("/").toReversed();
  const root = folders.findIndex((folder) => ROOTS.test(folder));
  const below = root === -1 ? folders.slice(0, 1).map(withoutRelease) : folders.slice(0, root);
  return [...below.toReversed(), stableFileName(file)].join("/");
}

/** `v2`, `release-17`, `20261118` and `4f3a2b1c9` name releases. */
function withoutRelease(folder: string): string {
  const isHash = /^(?=[a-f]*\d)[0-9a-f]{7,}$/i.test(folder);
  return isHash ? "#" : folder.replace(/\d+(?:[._-]\d+)*/g, "#");
}

function stableFileName(file: string): string {
  return file.replace(/(?:\.\w{1,4})+$/, "").replace(/[-._](?=\w*\d)[0-9a-z_]{6,}$/i, "");
}
