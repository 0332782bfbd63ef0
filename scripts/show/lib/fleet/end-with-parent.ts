/** No process outlives its campaign: the pipe from the parent closes with it, however it ends. */
export function endWithParent(): void {
  const pipe = process.stdin.on("end", () => process.exit(1)).resume();
  // What waits for the parent must not keep a process from ending by itself.
  if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
}
