/** `mill.workers`: the workers of the installation. */
import { actOf } from "../jobs/acted-by.ts";
import type { Workers } from "../api/client.ts";
import { MillraceError } from "../core/errors.ts";
import { idOf, workerView } from "../jobs/views.ts";
import type { JobStore } from "../store/store.ts";

const WORKERS_MAX = 1_000;

export function makeWorkers(store: JobStore): Workers {
  return {
    list: async () => (await store.workers(WORKERS_MAX)).map(workerView),
    async quiet(id, by) {
      const act = actOf("workers.quiet", by);
      if (!(await store.quiet(idOf(id, "worker"), act))) throw unknownWorker(id);
    },
    async resume(id, by) {
      const answer = await store.resumeWorker(idOf(id, "worker"), actOf("workers.resume", by));
      if (answer === "unknown") throw unknownWorker(id);
      if (answer === "stopping") {
        throw new MillraceError("WORKER_STOPPING", `the worker ${id} was asked to stop`);
      }
    },
    async stop(id, by) {
      const act = actOf("workers.stop", by);
      if (!(await store.stopWorker(idOf(id, "worker"), act))) throw unknownWorker(id);
    },
  };
}

function unknownWorker(id: string): MillraceError {
  return new MillraceError("WORKER_NOT_FOUND", `there is no worker ${id}`);
}
