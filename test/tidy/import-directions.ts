import { posix } from "node:path";
import { isShipped } from "./rule.ts";
import type { Finding, SourceFile } from "./rule.ts";
import { importsOf } from "./syntax.ts";
import type { ImportOf } from "./syntax.ts";

/** The contract of the durable side. What else is in `src/store` is for the stores alone. */
const PORT = "the port of the store";
const PORT_FILES = /^store\/(?:(?:store|verbs|wrap-store)\.ts$|types\/|roles\/)/;

const ALL_BUT_STORES = [
  "api",
  "client",
  "core",
  "events",
  "jobs",
  "lib",
  "runtime",
  "webhooks",
  PORT,
];

/** Which parts of the house each part may know, beside itself. */
const LAW: Readonly<Record<string, readonly string[]>> = {
  lib: [],
  core: ["lib"],
  api: ["core", "lib", PORT],
  [PORT]: ["core", "lib"],
  store: ["core", "lib", PORT],
  "store/sqlite": ["core", "lib", "store", PORT],
  "store/postgres": ["core", "lib", "store", PORT],
  jobs: ["api", "core", "lib", PORT],
  client: ["api", "core", "events", "jobs", "lib", PORT],
  events: ["api", "core", "lib", PORT],
  webhooks: ["api", "core", "lib", PORT],
  runtime: ["api", "core", "events", "jobs", "lib", "webhooks", PORT],
  channels: ["api", "core", "jobs", "lib", PORT],
  http: ["api", "client", "core", "events", "jobs", "lib"],
  copy: ["core", "lib", "store", PORT],
  remote: ["api", "core", "lib"],
  testing: ALL_BUT_STORES,
  demo: ["index.ts"],
  cli: [
    "copy",
    "demo",
    "http",
    "remote",
    "make-store.ts",
    "open.ts",
    "store",
    "testing",
    ...ALL_BUT_STORES,
  ],
  "make-store.ts": ["client", "store/failpoints.ts", PORT],
  "open.ts": ["make-store.ts", ...ALL_BUT_STORES],
  "index.ts": ["open.ts", ...ALL_BUT_STORES],
  "internal.ts": ALL_BUT_STORES,
};

/** The composition roots: only they choose a store, and only through its doors. */
const CHOOSES_STORE = /^src\/(cli\/|testing\/|make-store\.ts$)/;
const STORE_DOOR = /^store\/(sqlite|postgres)\/(index|create|copy\/source|copy\/target)\.ts$/;

/** Imports point one way, `lib ← core ← store ← client, runtime ← http ← cli`. Types obey too. */
export function importDirections(files: readonly SourceFile[]): Finding[] {
  return files
    .filter((file) => isShipped(file.path))
    .flatMap((file) => {
      const part = partOf(file.path.slice("src/".length));
      if (LAW[part] === undefined) return [unmapped(file.path, part)];
      return importsOf(file)
        .filter((each) => each.specifier.startsWith("."))
        .flatMap((each) => breachesOf(file.path, part, each))
        .map(({ line, message }) => ({ path: file.path, line, message }));
    });
}

function partOf(pathInSrc: string): string {
  if (PORT_FILES.test(pathInSrc)) return PORT;
  const store = /^store\/(?:sqlite|postgres)(?=\/)/.exec(pathInSrc);
  return store?.[0] ?? pathInSrc.split("/")[0] ?? "";
}

function unmapped(path: string, part: string): Finding {
  return { path, line: 1, message: `“${part}” has no place in the import law: give it one` };
}

function breachesOf(path: string, part: string, each: ImportOf): Omit<Finding, "path">[] {
  const target = posix.join(posix.dirname(path), each.specifier);
  if (!target.startsWith("src/")) return [{ line: each.line, message: `${target} is not shipped` }];

  const inSrc = target.slice("src/".length);
  const targetPart = partOf(inSrc);
  const allowed = LAW[part] ?? [];
  if (targetPart === part) return [];
  if (CHOOSES_STORE.test(path) && STORE_DOOR.test(inSrc)) return [];
  if (!allowed.includes(targetPart) && !allowed.includes(inSrc)) {
    const message = `${part} must not know ${inSrc}; it may import ${namesOf(allowed)}`;
    return [{ line: each.line, message }];
  }
  if (part === "api" && targetPart === PORT && !each.isTypeOnly) {
    return [{ line: each.line, message: `api may take types from ${PORT}, but no values` }];
  }
  return [];
}

function namesOf(allowed: readonly string[]): string {
  return allowed.length === 0 ? "nothing of ours" : allowed.join(", ");
}
