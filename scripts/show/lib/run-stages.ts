/** Runs the stages of a program. No process of ours outlives it, even after a failure. */
import { killChildren } from "./fleet/children.ts";

export async function onStage(play: () => Promise<{ readonly sound: boolean }>): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  process.once("exit", killChildren);
  const { sound } = await play();
  console.log(sound ? "sound" : "VIOLATED");
  if (!sound) process.exitCode = 1;
}
