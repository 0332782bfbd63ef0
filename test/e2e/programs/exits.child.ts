/** A program that does its work in one of several ways and then has nothing left to do. */
import { defineJob, openMillrace, typed } from "../../../src/index.ts";
import { testLogger } from "../../support/logger.ts";

const [url = "", way = ""] = process.argv.slice(2);

const double = defineJob({ type: "double", payload: typed<number>() }).run((number) => 2 * number);

const mill = await openMillrace(url, { logger: testLogger });
if (way === "enqueue") {
  await mill.enqueue(double, 21);
  await mill.close();
} else {
  const isSignalled = way === "signal";
  // The program has a listener of its own, so the signal does not end it.
  if (isSignalled) process.on("SIGTERM", () => {});
  const worker = mill.work({ jobs: [double], signals: isSignalled });
  console.log(await mill.result(await mill.enqueue(double, 21)));
  if (way === "stop") await worker.stop();
}
