import { describe, expect, it } from "vitest";
import { ownFrame, stackParts } from "./stack.ts";

const STACK = [
  "TypeError: Cannot read properties of undefined (reading 'vatId')",
  "    at Array.map (<anonymous>)",
  "    at renderParty (file:///srv/app/src/party.ts:88:31)",
  "    at async run (/srv/app/src/render.ts:41:18)",
  "    at call (/srv/app/node_modules/millrace/dist/worker.js:10:2)",
  "    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
  "Caused by: Error: no registration",
  "    at find (C:\\app\\find.js:1:1)",
].join("\n");

describe("stackParts", () => {
  it("joins neighbouring frames of Node and of dependencies", () => {
    expect(stackParts(STACK).map(({ kind, lines }) => [kind, lines.length])).toEqual([
      ["head", 1],
      ["other", 1],
      ["own", 2],
      ["other", 2],
      ["head", 1],
      ["own", 1],
    ]);
  });

  it("keeps every line", () => {
    expect(
      stackParts(STACK)
        .flatMap(({ lines }) => lines)
        .join("\n"),
    ).toBe(STACK);
  });

  it("takes a text without frames as a message", () => {
    expect(stackParts("no stack\nat all")).toEqual([
      { kind: "head", lines: ["no stack", "at all"] },
    ]);
  });
});

describe("ownFrame", () => {
  it("is the first frame of the application", () => {
    expect(ownFrame(STACK)).toBe("renderParty (/srv/app/src/party.ts:88:31)");
  });

  it("is null when there is none", () => {
    expect(ownFrame("Error: x\n    at f (node:fs:1:1)")).toBeNull();
    expect(ownFrame(undefined)).toBeNull();
  });
});
