/**
 * Wake-ups, within the process and across processes. A commit of this process wakes its own
 * listeners at once and notifies other processes. Notifications of other processes are received on
 * a separate connection, which stays open for a while after the last listener has gone: a call of
 * `result` needs no new connection. Received wake-ups are throttled, so that a flood of
 * notifications, also of forged ones, causes a bounded number of statements. Wake-ups are best
 * effort: they may be spurious or lost, so listeners poll as well.
 */
import type { Dice } from "../../../core/clock.ts";
import { headBytes } from "../../../core/text.ts";
import type { WakeUp } from "../../store.ts";
import { NotifySender, type NotificationParameters } from "./notify.ts";
import { Listener, sessionOf } from "./listen.ts";
import { WakeUpThrottle } from "./wake-up-throttle.ts";
import { backgroundTimer, systemClock } from "../../../lib/system.ts";
import type { Pool, PoolOptions } from "../database/pool.ts";
import { between, IDLE_LIMIT } from "../database/session.ts";

/** The server's limit for a channel name. */
const CHANNEL_BYTES_MAX = 63;
/** How long the connection stays open without listeners. */
const LINGER_MS = 60_000;

interface NotifierOptions {
  readonly pool: Pool;
  readonly address: PoolOptions;
  readonly schema: string;
  readonly dice: Dice;
  /** Receives warnings for the operator. */
  readonly warn: (warning: string) => void;
}

/** Parameters for a statement, and what to call after its commit. */
interface StatementNotification {
  readonly parameters: NotificationParameters;
  readonly committed: () => void;
}

export class Notifier {
  readonly #listeners = new Set<(wakeUp: WakeUp) => void>();
  readonly #notifySender: NotifySender;
  readonly #listener: Listener;
  #stopLingering = (): void => {};
  #stopWaking: (() => void) | null = null;

  constructor({ pool, address, schema, dice, warn }: NotifierOptions) {
    // Schemas that share their first 54 bytes share wake-ups, and nothing else.
    const channel = headBytes(`millrace:${schema}`, CHANNEL_BYTES_MAX);
    const sender = Buffer.from(dice.bytes(8)).toString("hex");
    this.#notifySender = new NotifySender({ pool, clock: systemClock, channel, sender });
    const received = new WakeUpThrottle(systemClock, (wakeUp) => this.#publish(wakeUp));
    this.#listener = new Listener({
      address,
      channel,
      sender,
      dice,
      beat: () => this.#notifySender.beat(),
      besideTransaction: (work) => besideTransaction(pool, work),
      onWakeUp: (wakeUp) => received.add(wakeUp),
      warn,
    });
  }

  watch(listener: (wakeUp: WakeUp) => void): () => void {
    // Wrapped, so that a function that is registered twice can be removed once.
    const entry = (wakeUp: WakeUp): void => listener(wakeUp);
    this.#listeners.add(entry);
    this.#stopLingering();
    this.#listener.open();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size > 0) return;
      this.#stopLingering();
      this.#stopLingering = backgroundTimer(LINGER_MS, () => this.#listener.close());
    };
  }

  /** Wakes the listeners of this process at once, and those of other processes soon. */
  wake(wakeUp: WakeUp): void {
    this.#publish(wakeUp);
    this.#notifySender.notify(wakeUp);
  }

  /** Wakes the workers of this process later. Further calls are ignored until then. */
  wakeOwnIn(ms: number): void {
    this.#stopWaking ??= backgroundTimer(ms, () => {
      this.#stopWaking = null;
      this.#publish("ready");
    });
  }

  /** A notification for a statement to send; null when `wake` is to be used instead. */
  forStatement(wakeUp: WakeUp): StatementNotification | null {
    const parameters = this.#notifySender.forStatement(wakeUp);
    if (parameters === null) return null;
    const committed = (): void => {
      this.#notifySender.committed();
      this.#publish(wakeUp);
    };
    return { parameters, committed };
  }

  /** No listener is called after this. */
  close(): void {
    this.#listeners.clear();
    this.#stopLingering();
    this.#stopWaking?.();
    this.#listener.close();
  }

  /** Sends the notifications that wait. Resolves when they are sent. */
  async drained(): Promise<void> {
    await this.#notifySender.close();
  }

  /**
   * Errors of listeners are ignored: a listener that throws must not fail a commit, nor keep the
   * wake-up from other listeners.
   */
  #publish(wakeUp: WakeUp): void {
    for (const listener of this.#listeners) {
      try {
        listener(wakeUp);
      } catch {
        continue;
      }
    }
  }
}

async function besideTransaction(
  pool: Pool,
  work: (other: number) => Promise<boolean>,
): Promise<boolean> {
  return pool.withConnection(async (client) => {
    const beside = async (): Promise<boolean> => work(await sessionOf(client));
    return between(client, `BEGIN; ${IDLE_LIMIT}`, beside, "ROLLBACK");
  });
}
