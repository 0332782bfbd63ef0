/** Preloaded with `node --import`: lists the modules that threads load, in a file. */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const list = process.env["MILLRACE_MODULE_LIST"];
if (list !== undefined && !isMainThread) {
  registerHooks({
    load(url, context, next) {
      appendFileSync(list, `${url}\n`);
      return next(url, context);
    },
  });
}
