// No imports and no syntax younger than Node 12: see src/lib/supported-node.ts.

/** Keeps one warning of Node 22 from users, who can do nothing about it; all others are shown. */
export function dropSqliteWarning(host) {
  if (!host.versions.node.startsWith("22.")) return;

  const emitWarning = host.emitWarning;
  host.emitWarning = function (warning, type, ...rest) {
    const isAboutSqlite = String(warning).startsWith("SQLite is an experimental feature");
    if (isAboutSqlite && type === "ExperimentalWarning") return;
    emitWarning.call(host, warning, type, ...rest);
  };
}
