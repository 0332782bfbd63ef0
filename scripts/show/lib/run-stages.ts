/** Runs the stages of a program; whatever happens, no process of ours outlives it. */
import { killChildren } from "./fleet/children.ts";

export async function onStage(play: () => Promise<{ readonly sound: boolean }>): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  process.once("exit", killChildren);
  const { sound } = await play();
  console.log(sound ? "sound" : "VIOLATED");
  if (!sound) process.exitCode = 1;
}
