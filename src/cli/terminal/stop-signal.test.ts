import { EventEmitter } from "node:events";
import { describe, expect, test } from "vitest";
import { listenForInterrupt, stopSignal } from "./stop-signal.ts";

describe("a signal to stop", () => {
  test.each(["SIGINT", "SIGTERM"])("%s is heard", async (signal) => {
    const { host, stop } = wait();

    host.emit(signal, signal);

    await expect(stop).resolves.toBeUndefined();
    expect(host.exits).toEqual([]);
  });

  test("is not doubled by its own echo", () => {
    const { host, clock } = wait();

    host.emit("SIGINT", "SIGINT");
    clock.time += 500;
    host.emit("SIGINT", "SIGINT");

    expect(host.exits).toEqual([]);
  });

  test("leaves at once when it comes a second time", () => {
    const { host, clock } = wait();

    host.emit("SIGINT", "SIGINT");
    clock.time += 501;
    host.emit("SIGTERM", "SIGTERM");

    expect(host.exits).toEqual([143]);
  });
});

describe("an interruption", () => {
  test.each(["SIGINT", "SIGTERM"])("%s aborts at once", (signal) => {
    const host = new Host();
    const interruption = listenForInterrupt(host);

    host.emit(signal, signal);

    expect(interruption.signal.aborted).toBe(true);
  });

  test("is left to others afterwards", () => {
    const host = new Host();

    listenForInterrupt(host).stop();

    expect(host.eventNames()).toEqual([]);
  });
});

class Host extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

function wait() {
  const host = new Host();
  const clock = { time: 0, monotonic: (): number => clock.time };
  return { host, clock, stop: stopSignal(clock, host) };
}
