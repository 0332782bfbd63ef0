/** Publishes a small stand-in for the package, with its scripts, to a registry on this machine. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root, run, temporaryFolder } from "../cli/programs.ts";

describe("npm publish", () => {
  test("publishes after the complete check has passed (001-42)", async () => {
    const { code, steps, uploads } = await publish({});

    expect(steps).toEqual(["check", "test", "build"]);
    expect({ code, uploads }).toEqual({ code: 0, uploads: ["PUT /millrace"] });
  });

  test.each(["check", "test"])("publishes nothing when npm run %s fails (001-42)", async (step) => {
    const { code, steps, uploads } = await publish({ failing: step });

    expect(steps.at(-1)).toBe(step);
    expect(code).not.toBe(0);
    expect(uploads).toEqual([]);
  });
});

interface Publication {
  readonly code: number | null;
  /** The scripts that ran, in order. */
  readonly steps: readonly string[];
  readonly uploads: readonly string[];
}

async function publish({ failing }: { readonly failing?: string }): Promise<Publication> {
  using folder = temporaryFolder();
  await using registry = await openRegistry();
  const log = join(folder.path, "steps.txt");
  writeFileSync(log, "");
  const { name, version, scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const standIn = (step: string): string =>
    `echo ${step} >> ${log}${step === failing ? " && exit 1" : ""}`;
  const stages = { check: standIn("check"), test: standIn("test"), build: standIn("build") };
  const manifest = { name, version, scripts: { ...scripts, ...stages } };
  writeFileSync(join(folder.path, "package.json"), JSON.stringify(manifest));
  const address = `127.0.0.1:${registry.port}`;
  writeFileSync(join(folder.path, ".npmrc"), `//${address}/:_authToken=none\n`);
  // An option of the command line wins over all settings of the user.
  const args = ["publish", "--registry", `http://${address}/`];
  const { code } = await run("npm", args, { cwd: folder.path });
  const steps = readFileSync(log, "utf8").split("\n").filter(Boolean);
  return { code, steps, uploads: registry.uploads };
}

interface Registry extends AsyncDisposable {
  readonly port: number;
  readonly uploads: readonly string[];
}

/** Accepts every upload, and knows no package. */
async function openRegistry(): Promise<Registry> {
  const uploads: string[] = [];
  const server: Server = createServer((request, response) => {
    if (request.method === "PUT") uploads.push(`PUT ${request.url}`);
    request.resume().on("end", () => {
      response.writeHead(request.method === "PUT" ? 201 : 404, {
        "content-type": "application/json",
      });
      response.end("{}");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- A server with a port has one.
  const { port } = server.address() as AddressInfo;
  return {
    port,
    uploads,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}
