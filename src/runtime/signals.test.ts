import { EventEmitter } from "node:events";
import { afterEach, describe, expect, test } from "vitest";
import { ProcessSignals, stopOnSignals, type SignalMode, type StopSignal } from "./signals.ts";

const EMITTER = Symbol.for("signal-exit emitter");

describe("a signal that nothing else listens to", () => {
  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s stops all workers of the process, then takes its course",
    async (signal) => {
      const host = new Host();
      const one = startWorker(host);
      const other = startWorker(host);

      host.emit(signal, signal);
      one.end();
      await turn();
      expect(host.ends).toEqual([]);
      other.end();
      await turn();

      expect([one.stops, other.stops]).toEqual([1, 1]);
      expect(host.ends).toEqual([`killed by ${signal}`]);
      expect(host.eventNames()).toEqual([]);
    },
  );

  test("exits with its status in process 1, which the signal would not end", async () => {
    const host = new Host(1);
    const worker = startWorker(host);

    host.emit("SIGTERM", "SIGTERM");
    worker.end();
    await turn();

    expect(host.ends).toEqual(["exit 143"]);
  });

  test("ends the process at once when it comes again", () => {
    const host = new Host();
    startWorker(host);

    host.emit("SIGINT", "SIGINT");
    host.time += 501;
    host.emit("SIGTERM", "SIGTERM");

    expect(host.ends).toEqual(["killed by SIGTERM"]);
  });

  test("is not doubled by its own echo", () => {
    const host = new Host();
    const worker = startWorker(host);

    host.emit("SIGINT", "SIGINT");
    host.time += 500;
    host.emit("SIGINT", "SIGINT");

    expect(worker.stops).toBe(1);
    expect(host.ends).toEqual([]);
  });

  test("takes its course also when a worker does not stop cleanly, which is logged", async () => {
    const host = new Host();
    const worker = startWorker(host);

    host.emit("SIGTERM", "SIGTERM");
    worker.break();
    await turn();

    expect(host.ends).toEqual(["killed by SIGTERM"]);
    expect(worker.log).toEqual(["the worker did not stop cleanly"]);
  });

  test("says for how many jobs the process waits", () => {
    const host = new Host();
    const worker = startWorker(host, { running: 2 });

    host.emit("SIGTERM", "SIGTERM");

    expect(worker.log).toEqual([
      "SIGTERM: waiting for 2 running job(s); a second signal ends the process at once",
    ]);
  });

  test("stops a worker that starts while the process stops", () => {
    const host = new Host();
    startWorker(host);

    host.emit("SIGTERM", "SIGTERM");

    expect(startWorker(host).stops).toBe(1);
  });
});

describe("a signal that the application listens to", () => {
  test.each(["on", "once"] as const)("is left to the application (%s)", async (way) => {
    const host = new Host();
    host[way]("SIGTERM", () => {});
    const worker = startWorker(host);

    host.emit("SIGTERM", "SIGTERM");
    await turn();

    expect(worker.stops).toBe(0);
    expect(host.ends).toEqual([]);
  });

  test("stops only a worker that is told to heed it, and is not raised", async () => {
    const host = new Host();
    host.on("SIGTERM", () => {});
    const forced = startWorker(host, { mode: true });
    const other = startWorker(host);

    host.emit("SIGTERM", "SIGTERM");
    forced.end();
    await turn();

    expect([forced.stops, other.stops]).toEqual([1, 0]);
    expect(host.ends).toEqual([]);
  });

  test("exits with its status when it comes again to a worker that is told to heed it", () => {
    const host = new Host();
    host.on("SIGTERM", () => {});
    startWorker(host, { mode: true });

    host.emit("SIGTERM", "SIGTERM");
    host.time += 501;
    host.emit("SIGTERM", "SIGTERM");

    expect(host.ends).toEqual(["exit 143"]);
  });
});

describe("listeners of the package signal-exit, which leave a signal to all others", () => {
  afterEach(() => {
    Reflect.deleteProperty(globalThis, EMITTER);
    Reflect.deleteProperty(process, "__signal_exit_emitter__");
  });

  test("do not keep the workers from stopping", () => {
    Reflect.set(globalThis, EMITTER, { count: 1 });
    Reflect.set(process, "__signal_exit_emitter__", { count: 1 });
    const host = new Host();
    host.on("SIGTERM", () => {});
    host.on("SIGTERM", () => {});
    const worker = startWorker(host);

    host.emit("SIGTERM", "SIGTERM");

    expect(worker.stops).toBe(1);
  });
});

describe("without workers", () => {
  test("no listener is left", () => {
    const host = new Host();
    const one = startWorker(host);
    const other = startWorker(host);

    one.leave();
    expect(host.listenerCount("SIGTERM")).toBe(1);
    other.leave();

    expect(host.eventNames()).toEqual([]);
  });

  test("that heed signals, none is added", () => {
    const host = new Host();
    startWorker(host, { mode: false });

    expect(host.eventNames()).toEqual([]);
  });
});

class Host extends EventEmitter {
  readonly ends: string[] = [];
  readonly pid: number;
  readonly signals: ProcessSignals = new ProcessSignals(this, () => this.time);
  time = 0;

  constructor(pid = 4711) {
    super();
    this.pid = pid;
  }

  kill(pid: number, signal: StopSignal): void {
    this.ends.push(pid === this.pid ? `killed by ${signal}` : `killed ${pid}`);
  }

  exit(code: number): void {
    this.ends.push(`exit ${code}`);
  }
}

function startWorker(
  host: Host,
  { mode = "auto", running = 0 }: { mode?: SignalMode; running?: number } = {},
) {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const log: string[] = [];
  const say = (message: string): void => void log.push(message);
  const state = {
    running,
    log,
    stops: 0,
    leave: (): void => {},
    end: (): void => resolve(),
    break: (): void => reject(new Error("a handler runs on")),
    async stop(): Promise<void> {
      state.stops += 1;
      await promise.finally(() => state.leave());
    },
  };
  const logger = { debug: say, info: say, warn: say, error: say };
  state.leave = stopOnSignals(mode, state, logger, host.signals);
  return state;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
