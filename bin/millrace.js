#!/usr/bin/env node
// Nothing is loaded before the version is known to be good: a static import would fail on an old
// Node with a message that does not name the cause.

void import("../dist/lib/supported-node.js").then(function (node) {
  var complaint = node.complaintAbout(process.versions.node);
  if (complaint !== null) {
    process.stderr.write(complaint);
    process.exitCode = 2;
    return;
  }
  return import("./sqlite-warning.js").then(function (warning) {
    warning.dropSqliteWarning(process);
    return import("../dist/cli/main.js");
  });
});
