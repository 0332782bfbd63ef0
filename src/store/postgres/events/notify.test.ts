import { describe, expect, test } from "vitest";
import { virtualClock } from "../../../../test/support/virtual-clock.ts";
import type { PgClient } from "../database/pool.ts";
import { NotifySender, parsePayload } from "./notify.ts";

/** A sender whose notifications are recorded instead of sent. */
function openSender() {
  const clock = virtualClock(0);
  const sent: { message: string; at: number }[] = [];
  const client: PgClient = {
    async query({ values: [, payload] }) {
      sent.push({ message: parsePayload(payload).message, at: clock.now() });
      return { rows: [], rowCount: 0 };
    },
    release() {},
    on() {},
  };
  const pool = { withConnection: async <Answer>(work: Work<Answer>) => work(client) };
  return { clock, sent, sender: new NotifySender({ pool, clock, channel: "jobs", sender: "me" }) };
}

type Work<Answer> = (client: PgClient) => Promise<Answer>;

describe("a wake-up for events", () => {
  test("is sent soon", async () => {
    const { clock, sent, sender } = openSender();

    sender.notify("events");
    await clock.advance(9);
    const before = sent.length;
    await clock.advance(1);

    expect(before).toBe(0);
    expect(sent).toEqual([{ message: "events", at: 10 }]);
  });

  test("is not sent when another wake-up includes it", async () => {
    const { clock, sent, sender } = openSender();

    sender.notify("events");
    sender.notify("final");
    await clock.advance(100);

    expect(sent).toEqual([{ message: "final", at: 0 }]);
  });

  test.each([
    ["commits", []],
    ["fails", [{ message: "events", at: 10 }]],
  ])("waits for a statement with another wake-up, which %s", async (end, expected) => {
    const { clock, sent, sender } = openSender();

    sender.notify("events");
    const parameters = sender.forStatement("final");
    if (end === "commits") sender.committed();
    await clock.advance(100);

    expect(parsePayload(parameters?.payload ?? "").message).toBe("final");
    expect(sent.slice(0, 1)).toEqual(expected);
  });

  test("is sent for events that come after that wake-up", async () => {
    const { clock, sent, sender } = openSender();

    sender.notify("final");
    sender.notify("events");
    await clock.advance(100);

    expect(sent.map(({ message }) => message)).toEqual(["final", "events"]);
  });

  test("is sent before the sender is closed", async () => {
    const { sent, sender } = openSender();

    sender.notify("events");
    await sender.close();

    expect(sent).toEqual([{ message: "events", at: 0 }]);
  });
});
