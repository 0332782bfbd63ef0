/** What the routes of the server have at hand. */
import type { Clock, Dice } from "../core/clock.ts";
import type { TenantMillrace } from "../api/client.ts";
import type { AnyContract } from "../api/definition.ts";
import type { IdentifyParts } from "./identity/identify.ts";
import type { LoginThrottle } from "./identity/login-throttle.ts";
import type { OneTimeLinks } from "./identity/one-time-links.ts";
import type { RedactionRules } from "../core/redaction.ts";
import type { ChangeDigest } from "./streams/changes.ts";
import type { Links } from "../jobs/links-rule.ts";
import type { OpenStreams } from "./streams/sse.ts";

/** What the routes use of a mill. */
export type HttpMill = TenantMillrace;

export interface AppParts {
  /** All tenants. A route uses the mill of its request, which the tenant of the caller limits. */
  readonly mill: HttpMill & { forTenant(tenant: string): HttpMill };
  /** The jobs whose schema and settings are known. */
  readonly contracts: () => readonly AnyContract[];
  /**
   * The job file. Types that `contracts` does not have are refused; without a file they are
   * enqueued with the defaults.
   */
  readonly jobFile: string | null;
  /** Aborts when the server stops, so that waiting requests are answered at once. */
  readonly closing: AbortSignal;
  readonly identify: IdentifyParts;
  readonly throttle: LoginThrottle;
  readonly links: OneTimeLinks;
  readonly streams: OpenStreams;
  readonly changes: ChangeDigest;
  readonly redaction: RedactionRules;
  /** Templates of links from a job to other systems, by name. */
  readonly linkTemplates: Links;
  /** Serves no route that changes something. */
  readonly isReadOnly: boolean;
  /** The path under which the API is mounted, such as `/jobs`; empty for the root. */
  readonly base: string;
  /** The folder with the files of the dashboard; null: there is no page. */
  readonly pageFolder: string | null;
  readonly clock: Clock;
  readonly dice: Dice;
  /** Called with unexpected errors, whose details the caller does not see. */
  readonly failed: (error: unknown, requestId: string) => void;
}
