/** The parts of an app, with the real clock and defaults for what a caller does not choose. */
import { ChangeDigest } from "./streams/changes.ts";
import { systemClock, systemDice } from "../lib/system.ts";
import type { IdentifyParts } from "./identity/identify.ts";
import { KnownTokens } from "./identity/known-tokens.ts";
import { LoginThrottle } from "./identity/login-throttle.ts";
import { OneTimeLinks } from "./identity/one-time-links.ts";
import type { AppParts } from "./parts.ts";
import { redactionRules } from "../core/redaction.ts";
import { OpenStreams } from "./streams/sse.ts";

type Chosen = Pick<AppParts, "mill" | "failed"> &
  Partial<Omit<AppParts, "identify">> & {
    readonly identify: Pick<IdentifyParts, "origin"> & Partial<IdentifyParts>;
  };

export function makeParts({ identify, ...chosen }: Chosen): AppParts {
  const { mill, clock = systemClock, dice = systemDice } = chosen;
  return {
    contracts: () => [],
    jobFile: null,
    closing: new AbortController().signal,
    throttle: new LoginThrottle(clock),
    links: new OneTimeLinks(clock, dice),
    streams: new OpenStreams(clock, (error) => chosen.failed(error, "of a stream")),
    changes: new ChangeDigest(mill, clock, (error) => chosen.failed(error, "of a stream")),
    redaction: redactionRules(),
    linkTemplates: {},
    isReadOnly: false,
    base: "",
    pageFolder: null,
    clock,
    dice,
    ...chosen,
    identify: {
      tokens: new KnownTokens(mill.tokens, clock),
      ownerSecret: null,
      authenticate: null,
      ...identify,
    },
  };
}
