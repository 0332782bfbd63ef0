/** What every verb works with: statements, interned names, clock and dice. */
import type { Clock, Dice } from "../../../core/clock.ts";
import type { OperatorWarnings } from "../../shared/operator-warnings.ts";
import type { InternedNames } from "./interned-names.ts";
import type { Statements } from "./statements.ts";
import type { SessionState } from "./session-state.ts";
import type { Outbox } from "../events/outbox.ts";

export interface Session {
  readonly sql: Statements;
  readonly names: InternedNames;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly outbox: Outbox;
  readonly warnings: OperatorWarnings;
  /** What the store remembers between calls. */
  readonly state: SessionState;
}
