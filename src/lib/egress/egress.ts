/**
 * HTTP requests to addresses that data names. Such an address may be chosen to reach the inside of
 * the own network, so it is checked before a socket is opened: https alone, no user in the URL,
 * usual ports, and public addresses alone. The request goes to the address that was checked, not to
 * the name, so that a second answer of the DNS has no effect. Redirects are not followed. An origin
 * on the allow list is trusted, with its scheme, port and addresses.
 */
import { isIP } from "node:net";
import { isPublicAddress } from "./addresses.ts";
import { connectByNode, resolveByNode } from "./node-ports.ts";
import { systemClock } from "../system.ts";

export interface EgressRequest {
  readonly url: string;
  readonly method: "POST" | "DELETE";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** The status alone counts: the body of the answer is not read, and `body` is empty. */
  readonly ignoresBody?: true;
}

export interface EgressAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface EgressLimits {
  /** Origins that are trusted, such as `http://127.0.0.1:8080`. */
  readonly allow: readonly string[];
  /** The longest time from the lookup to the end of the answer. Default 10 s. */
  readonly timeoutMs?: number;
  /** The longest answer. Default 64 KB. */
  readonly answerBytesMax?: number;
}

/** One connection to an address that was checked. */
export interface EgressConnection extends EgressRequest {
  readonly protocol: "http:" | "https:";
  readonly address: string;
  readonly port: number;
  /** The name for TLS and the header Host. */
  readonly hostname: string;
  readonly host: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly answerBytesMax: number;
}

/** How a request reaches the network. Tests replace them. */
export interface EgressPorts {
  /** All addresses of a name. */
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  readonly connect: (connection: EgressConnection) => Promise<EgressAnswer>;
  readonly after: (ms: number, wake: () => void) => () => void;
}

/** The request was not sent, or its answer is not accepted. */
export class EgressRefused extends Error {
  static {
    this.prototype.name = "EgressRefused";
  }
}

/** The request may have been sent, and has no answer. */
class EgressFailed extends Error {
  static {
    this.prototype.name = "EgressFailed";
  }
}

const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 65_536;

const NODE: EgressPorts = {
  resolve: resolveByNode,
  connect: connectByNode,
  after: (ms, wake) => systemClock.after(ms, wake),
};

export async function sendRequest(
  request: EgressRequest,
  limits: EgressLimits,
  ports: EgressPorts = NODE,
): Promise<EgressAnswer> {
  const target = targetOf(request.url, limits.allow);
  const limitMs = limits.timeoutMs ?? TIMEOUT_MS;
  const own = new AbortController();
  const stopTimer = ports.after(limitMs, () =>
    own.abort(new EgressFailed(`${target.url.host} did not answer within ${limitMs} ms`)),
  );
  const given = request.signal === undefined ? [] : [request.signal];
  const signal = AbortSignal.any([own.signal, ...given]);
  try {
    return await unlessAborted(signal, send(target, request, { limits, ports, signal }));
  } finally {
    stopTimer();
  }
}

interface Target {
  readonly url: URL;
  readonly isAllowed: boolean;
}

/** The parts of a URL that may be requested. Throws without a lookup if the URL itself is wrong. */
function targetOf(text: string, allow: readonly string[]): Target {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null) throw new EgressRefused("the URL cannot be read");
  if (url.username !== "" || url.password !== "") throw refused(url, "has a user or a password");
  if (url.hostname.endsWith(".")) throw refused(url, "has a host that ends with a dot");
  const isAllowed = allow.some(
    (origin) => URL.canParse(origin) && new URL(origin).origin === url.origin,
  );
  const isHttp = url.protocol === "http:" || url.protocol === "https:";
  if (isAllowed && isHttp) return { url, isAllowed };
  if (url.protocol !== "https:") throw refused(url, "is not https, and its origin is not allowed");
  if (url.port !== "") throw refused(url, "has a port, and its origin is not allowed");
  return { url, isAllowed: false };
}

interface Sending {
  readonly limits: EgressLimits;
  readonly ports: EgressPorts;
  readonly signal: AbortSignal;
}

async function send(
  { url, isAllowed }: Target,
  request: EgressRequest,
  { limits, ports, signal }: Sending,
): Promise<EgressAnswer> {
  const hostname = url.hostname.replace(/^\[|\]$/g, "");
  const address = await checkedAddress(hostname, isAllowed, ports);
  // The lookup may have taken all of the time: no socket is opened then.
  signal.throwIfAborted();
  const isSecure = url.protocol === "https:";
  const answer = await ports.connect({
    ...request,
    protocol: isSecure ? "https:" : "http:",
    address,
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    hostname,
    host: url.host,
    path: url.pathname + url.search,
    signal,
    answerBytesMax: limits.answerBytesMax ?? ANSWER_BYTES_MAX,
  });
  if (answer.status >= 300 && answer.status < 400) {
    throw new EgressRefused(`${url.host} answered a redirect, which is not followed`);
  }
  return answer;
}

/** The first address of a host. If one of its addresses is refused, all of them are. */
async function checkedAddress(
  hostname: string,
  isAllowed: boolean,
  { resolve }: EgressPorts,
): Promise<string> {
  const addresses = isIP(hostname) === 0 ? await lookUp(hostname, resolve) : [hostname];
  const [first] = addresses;
  if (first === undefined) throw new EgressFailed(`${hostname} has no address`);
  const wrong = isAllowed ? undefined : addresses.find((address) => !isPublicAddress(address));
  if (wrong === undefined) return first;
  throw new EgressRefused(`${hostname} has the address ${wrong}, which is not public`);
}

async function lookUp(
  hostname: string,
  resolve: EgressPorts["resolve"],
): Promise<readonly string[]> {
  try {
    return await resolve(hostname);
  } catch (cause) {
    throw new EgressFailed(`${hostname} cannot be looked up`, { cause });
  }
}

/** Whatever a port does with the signal, the request ends in time. */
function unlessAborted<Answer>(signal: AbortSignal, work: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/** Without path and query, which may be secret. */
function refused({ protocol, host }: URL, problem: string): EgressRefused {
  return new EgressRefused(`the URL ${protocol}//${host} ${problem}`);
}
