import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  sendRequest,
  type EgressAnswer,
  type EgressConnection,
  type EgressPorts,
} from "./egress.ts";
import { isPublicAddress } from "./addresses.ts";

const PUBLIC = "93.184.215.14";
const DONE: EgressAnswer = { status: 200, headers: {}, body: "" };

interface Network extends EgressPorts {
  readonly connections: EgressConnection[];
  readonly lookups: string[];
}

/** A network that opens no socket: each lookup takes the next answer, the last one stays. */
function network(answers: readonly (readonly string[])[], answer: EgressAnswer = DONE): Network {
  const connections: EgressConnection[] = [];
  const lookups: string[] = [];
  return {
    connections,
    lookups,
    resolve: async (hostname) => {
      lookups.push(hostname);
      return answers[Math.min(lookups.length, answers.length) - 1] ?? [];
    },
    connect: async (connection) => {
      connections.push(connection);
      return answer;
    },
    after: () => () => {},
  };
}

function ask(url: string, ports: EgressPorts, allow: readonly string[] = []) {
  return sendRequest({ url, method: "POST", body: "{}" }, { allow }, ports);
}

describe("a request to the inside of the network", () => {
  test.each([
    ["loopback", "https://127.0.0.1/"],
    ["loopback by name", "https://localhost/"],
    ["loopback in short", "https://127.1/"],
    ["loopback as one number", "https://2130706433/"],
    ["loopback in octal digits", "https://0177.0.0.1/"],
    ["loopback in hexadecimal digits", "https://0x7f000001/"],
    ["loopback in mixed digits", "https://0x7f.0.0.01/"],
    ["loopback in wide digits", "https://１２７.0.0.1/"],
    ["loopback with ideographic dots", "https://127。0。0。1/"],
    ["loopback in circled letters", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/"],
    ["loopback with escaped letters", "https://%6c%6f%63%61lhost/"],
    ["no address", "https://0.0.0.0/"],
    ["zero", "https://0/"],
    ["IPv6 loopback", "https://[::1]/"],
    ["IPv6 loopback, in full", "https://[0:0:0:0:0:0:0:1]/"],
    ["no IPv6 address", "https://[::]/"],
    ["mapped IPv4", "https://[::ffff:127.0.0.1]/"],
    ["mapped IPv4 in hexadecimal digits", "https://[::ffff:7f00:1]/"],
    ["mapped public IPv4", `https://[::ffff:${PUBLIC}]/`],
    ["compatible IPv4", "https://[::127.0.0.1]/"],
    ["translated IPv4", "https://[64:ff9b::7f00:1]/"],
    ["6to4", "https://[2002:7f00:1::]/"],
    ["Teredo", "https://[2001::1]/"],
    ["unique local IPv6", "https://[fd00::1]/"],
    ["link-local IPv6", "https://[fe80::1]/"],
    ["site-local IPv6", "https://[fec0::1]/"],
    ["multicast IPv6", "https://[ff02::1]/"],
    ["documentation IPv6", "https://[2001:db8::1]/"],
    ["private, class A", "https://10.1.2.3/"],
    ["private, class B", "https://172.31.255.255/"],
    ["private, class C", "https://192.168.1.1/"],
    ["shared address space", "https://100.64.0.1/"],
    ["metadata", "https://169.254.169.254/latest/meta-data/"],
    ["metadata with an address that looks public", "https://168.63.129.16/machine"],
    ["metadata as one number", "https://2852039166/"],
    ["metadata by name", "https://metadata.google.internal/"],
    ["multicast", "https://224.0.0.1/"],
    ["broadcast", "https://255.255.255.255/"],
  ])("is refused by its address: %s", async (_, url) => {
    const ports = network([["127.0.0.1"]]);
    await expect(ask(url, ports)).rejects.toMatchObject({ name: "EgressRefused" });
    expect(ports.connections).toEqual([]);
  });

  test.each([
    ["loopback with a trailing dot", "https://localhost./"],
    ["an address with a trailing dot", "https://127.0.0.1./"],
    ["a public name with a trailing dot", "https://example.com./"],
    ["plain http", "http://example.com/"],
    ["another scheme", "file:///etc/passwd"],
    ["another scheme with a host", "gopher://example.com/"],
    ["a socket of the system", "unix:/run/docker.sock"],
    ["a user", "https://user@example.com/"],
    ["a user and a password", "https://user:secret@example.com/"],
    ["an unusual port", "https://example.com:8443/"],
    ["a port of another service", "https://example.com:22/"],
    ["port 80 with https", "https://example.com:80/"],
    ["no URL", "example.com"],
    ["nothing", ""],
    ["a host in the place of the user", "https://example.com@127.0.0.1/"],
  ])("is refused by its URL, before a lookup: %s", async (_, url) => {
    const ports = network([[PUBLIC]]);
    await expect(ask(url, ports)).rejects.toMatchObject({ name: "EgressRefused" });
    expect(ports).toMatchObject({ lookups: [], connections: [] });
  });

  test("is not reached through a backslash, which ends the host", async () => {
    const ports = network([[PUBLIC]]);
    await ask("https://example.com\\@127.0.0.1/", ports);
    expect(ports.connections).toMatchObject([{ address: PUBLIC, path: "/@127.0.0.1/" }]);
  });

  test.each([
    [["127.0.0.1"]],
    [[PUBLIC, "10.0.0.1"]],
    [["10.0.0.1", PUBLIC]],
    [[PUBLIC, "::1"]],
    [["fe80::1%eth0"]],
    [["not an address"]],
  ])("is refused when a name has the addresses %j", async (addresses) => {
    const ports = network([addresses]);
    await expect(ask("https://hooks.example.com/", ports)).rejects.toMatchObject({
      name: "EgressRefused",
    });
    expect(ports.connections).toEqual([]);
  });
});

describe("a request to the internet", () => {
  test("goes to the address that was checked, whatever the DNS answers next", async () => {
    const ports = network([[PUBLIC], ["127.0.0.1"]]);
    await ask("https://hooks.example.com/a?b=c", ports);
    expect(ports.lookups).toEqual(["hooks.example.com"]);
    expect(ports.connections).toMatchObject([
      {
        protocol: "https:",
        address: PUBLIC,
        port: 443,
        hostname: "hooks.example.com",
        host: "hooks.example.com",
        path: "/a?b=c",
      },
    ]);
  });

  test("is checked again at every call", async () => {
    const ports = network([[PUBLIC], ["127.0.0.1"]]);
    await ask("https://hooks.example.com/", ports);
    await expect(ask("https://hooks.example.com/", ports)).rejects.toMatchObject({
      name: "EgressRefused",
    });
    expect(ports.connections).toHaveLength(1);
  });

  test.each([301, 302, 303, 307, 308])("does not follow the redirect %d", async (status) => {
    const headers = { location: "http://169.254.169.254/" };
    const ports = network([[PUBLIC]], { status, headers, body: "" });
    await expect(ask("https://hooks.example.com/", ports)).rejects.toMatchObject({
      name: "EgressRefused",
      message: expect.stringContaining("redirect"),
    });
    expect(ports.connections).toHaveLength(1);
  });

  test("does not tell the path of a refused URL, which may be a secret", async () => {
    const asked = ask("http://hooks.example.com/secret?token=abc", network([[PUBLIC]]));
    await expect(asked).rejects.toThrow(/^the URL http:\/\/hooks\.example\.com is not https/);
  });

  test("ends when its time is over, also if the lookup never answers", async () => {
    const connections: unknown[] = [];
    const ports: EgressPorts = {
      resolve: () => new Promise(() => {}),
      connect: async (connection) => {
        connections.push(connection);
        return DONE;
      },
      after: (_, wake) => {
        queueMicrotask(wake);
        return () => {};
      },
    };
    await expect(ask("https://hooks.example.com/", ports)).rejects.toMatchObject({
      name: "EgressFailed",
      message: "hooks.example.com did not answer within 10000 ms",
    });
    expect(connections).toEqual([]);
  });

  test.each([
    ["has no address", async () => []],
    ["cannot be looked up", () => Promise.reject(new Error("ENOTFOUND"))],
  ])("fails for a name that %s", async (problem, resolve) => {
    const ports = { ...network([]), resolve };
    await expect(ask("https://gone.example.com/", ports)).rejects.toMatchObject({
      name: "EgressFailed",
      message: `gone.example.com ${problem}`,
    });
  });
});

describe("an origin on the allow list", () => {
  const allow = ["http://127.0.0.1:8080", "https://sms.internal:8443"];

  test("is trusted, with its scheme, port and addresses", async () => {
    const ports = network([["10.0.0.7"]]);
    await ask("http://127.0.0.1:8080/a", ports, allow);
    await ask("https://sms.internal:8443/b", ports, allow);
    expect(ports.connections).toMatchObject([
      { protocol: "http:", address: "127.0.0.1", port: 8080 },
      { protocol: "https:", address: "10.0.0.7", port: 8443 },
    ]);
  });

  test.each([
    "http://127.0.0.1:8081/",
    "http://127.0.0.1/",
    "https://127.0.0.1:8080/",
    "http://sms.internal:8443/",
    "http://user@127.0.0.1:8080/",
  ])("does not open %s as well", async (url) => {
    const ports = network([["10.0.0.7"]]);
    await expect(ask(url, ports, allow)).rejects.toMatchObject({ name: "EgressRefused" });
    expect(ports.connections).toEqual([]);
  });
});

describe("isPublicAddress", () => {
  test.each([PUBLIC, "1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"])(
    "knows that %s is public",
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe("on a real socket", () => {
  let server: Server;
  let origin = "";
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === "/long") response.end("x".repeat(100));
      else if (request.url === "/silent") response.flushHeaders();
      else response.end([request.method, request.headers.host, request.headers["x-a"]].join(" "));
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test("sends the request, and reads the answer", async () => {
    const headers = { "x-a": "b", host: "other.example.com" };
    const answer = await sendRequest(
      { url: `${origin}/`, method: "POST", headers, body: "{}" },
      { allow: [origin] },
    );
    expect(answer).toMatchObject({ status: 200, body: `POST ${origin.slice(7)} b` });
  });

  test("refuses an answer that is too long", async () => {
    const request = { url: `${origin}/long`, method: "POST" } as const;
    const asked = sendRequest(request, { allow: [origin], answerBytesMax: 99 });
    await expect(asked).rejects.toThrow("more than 99 bytes");
  });

  test("gives up an answer that does not end", async () => {
    const request = { url: `${origin}/silent`, method: "POST" } as const;
    const asked = sendRequest(request, { allow: [origin], timeoutMs: 50 });
    await expect(asked).rejects.toMatchObject({ name: "EgressFailed" });
  });
});
