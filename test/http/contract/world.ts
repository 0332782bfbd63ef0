/** The server of the contract run: its store fails, is busy or hangs when a request needs it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineJob, NonRetryableError, typed } from "../../../src/index.ts";
import type { Millrace } from "../../../src/index.ts";
import { openMillrace } from "../../../src/open.ts";
import { makeSqliteStore } from "../../../src/store/sqlite/create.ts";
import { wrapStore } from "../../../src/store/wrap-store.ts";
import { openServer, type TestServer } from "../../support/http/http-server.ts";
import { virtualClock, type VirtualClock } from "../../support/virtual-clock.ts";
import { samplesOf, type SampleRequest } from "../samples.ts";

export const NOWHERE = "01M7GQMY55ECET74219MBT9GXQ";

export const waiting = defineJob({ type: "waiting", payload: typed<unknown>() });
const doomed = defineJob({ type: "doomed", payload: typed<object>() }).run(() => {
  throw new NonRetryableError("it cannot work");
});

/** What the store does to every call; null: it answers. */
export type StoreFault = Error | "hang" | null;

export interface ContractWorld extends AsyncDisposable {
  readonly server: TestServer;
  readonly mill: Millrace;
  readonly clock: VirtualClock;
  readonly workerId: string;
  /** A job whose run goes on. */
  runningId(): Promise<string>;
  setFault(fault: StoreFault): void;
  /** The secret of a new token, which no cache knows. */
  newSecret(): Promise<string>;
  failedId(): Promise<string>;
  /** A request by the name of its operation, about things that are there. */
  sample(name: string): Promise<SampleRequest>;
}

export async function makeContractWorld(): Promise<ContractWorld> {
  let fault: StoreFault = null;
  const folder = await mkdtemp(join(tmpdir(), "millrace-contract-"));
  const path = join(folder, "jobs.db");
  const faulty = wrapStore(makeSqliteStore({ path }), () => (call) => {
    if (fault === "hang") return new Promise(() => {});
    return fault === null ? call() : Promise.reject(fault);
  });
  // The worker, and what prepares requests, have a store without faults.
  const mill = await openMillrace(makeSqliteStore({ path }));
  const serving = await openMillrace(faulty);
  const clock = virtualClock();
  const server = await openServer({
    mill: serving,
    clock,
    identify: {
      origin: { publicUrl: null, hosts: "loopback" },
      authenticate: (request) =>
        request.headers.get("x-roleless") === null ? null : { actor: "guest", roles: [] },
    },
  });
  const over = Promise.withResolvers<void>();
  const endless = defineJob({ type: "endless" }).run(() => over.promise);
  const worker = mill.work({ jobs: [doomed, endless], signals: false });
  await worker.ready;
  const [listed] = await mill.workers.list();
  const newSecret = async (): Promise<string> => {
    const token = { kind: "person", name: "ada", roles: ["operator", "manager", "admin"] } as const;
    return (await mill.tokens.create(token)).secret;
  };
  const failedId = async (): Promise<string> => {
    const job = await mill.enqueue(doomed, {});
    await mill.wait(job);
    return job.id;
  };
  return {
    server,
    mill,
    clock,
    workerId: listed?.id ?? "",
    newSecret,
    failedId,
    setFault: (next) => (fault = next),
    async runningId() {
      const { id } = await mill.enqueue(endless);
      while ((await mill.jobs.get(id)).state !== "running") await new Promise(setImmediate);
      return id;
    },
    async sample(name) {
      const { id: jobId } = await mill.enqueue(waiting, {}, { delay: "1h" });
      const { token } = await mill.tokens.create({ kind: "producer", name: "p" });
      const failed = name.includes("DeadLetter") ? await failedId() : NOWHERE;
      const world = { jobId, failedId: failed, tokenId: token.id };
      const sample = samplesOf(world)[name];
      if (sample === undefined) throw new Error(`there is no sample request for ${name}`);
      return sample;
    },
    async [Symbol.asyncDispose]() {
      over.resolve();
      await worker.stop();
      await serving.close();
      await mill.close();
      await rm(folder, { recursive: true });
    },
  };
}
