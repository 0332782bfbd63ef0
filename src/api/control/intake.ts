/** The intake of new jobs: a switch of its own, apart from pauses. */
import type { ActedBy } from "./audit.ts";
import type { PauseTarget } from "../client.ts";

/** A job is not enqueued for a service, so a service has no intake. */
export type IntakeTarget = Exclude<PauseTarget, { service: string }>;

/** What producers may enqueue. All intakes are open until an operator closes one. */
export interface Intake {
  /**
   * Closes the intake of a lane, a type, a tenant or the whole installation. From now on, `enqueue`
   * refuses its new jobs with INTAKE_CLOSED. Jobs that exist still run, with their retries, their
   * children and the successors that an operator makes. A reason has up to 2,000 characters.
   *
   * @example
   * ```ts
   * import assert from "node:assert/strict";
   * import { defineJob } from "millrace";
   * import { createTestMill } from "millrace/testing";
   *
   * const email = defineJob({ type: "email" });
   *
   * await using test = await createTestMill();
   * const { mill } = test;
   * await mill.intake.close({ type: "email" }, "the mail server moves", { actor: "ada" });
   *
   * await assert.rejects(mill.enqueue(email), { code: "INTAKE_CLOSED", status: 503 });
   * const [closed] = await mill.intake.list();
   * assert.equal(closed?.reason, "the mail server moves");
   *
   * assert.deepEqual(await mill.intake.open({ type: "email" }), { wasClosed: true });
   * assert.equal((await mill.enqueue(email)).created, true);
   * ```
   */
  close(target: IntakeTarget, reason: string, by?: { actor: string }): Promise<void>;
  /** Opens an intake, and says whether it was closed. */
  open(target: IntakeTarget, by?: ActedBy): Promise<{ readonly wasClosed: boolean }>;
  /** The closed intakes. */
  list(): Promise<readonly ClosedIntake[]>;
}

/** The closed intake of a lane, a type, a tenant or the installation. */
export interface ClosedIntake {
  readonly kind: "lane" | "type" | "tenant" | "installation";
  /** The name of the installation is `all`. */
  readonly name: string;
  readonly reason: string;
  readonly closedBy: string | null;
  readonly closedAt: Date;
}
