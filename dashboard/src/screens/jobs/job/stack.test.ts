import { expect, test } from "vitest";
import { framesOf } from "./stack.ts";

const STACK = `TypeError: Cannot read (reading 'vatId')
    and a second line of the message
    at renderParty (file:///app/src/statement/party.ts:88:31)
    at async /app/src/render.ts:41:18
    at run (/app/node_modules/millrace/dist/run.js:1:1)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async Object.handler [as run] (C:\\app\\src\\jobs.ts:7:3)`;

test("tells one's own frames from others, which are folded together", () => {
  expect(framesOf(STACK)).toEqual([
    {
      kind: "own",
      number: 1,
      frame: { name: "renderParty", at: "/app/src/statement/party.ts:88:31" },
    },
    { kind: "own", number: 2, frame: { name: "(anonymous)", at: "/app/src/render.ts:41:18" } },
    {
      kind: "others",
      number: 3,
      frames: [
        { name: "run", at: "/app/node_modules/millrace/dist/run.js:1:1" },
        {
          name: "process.processTicksAndRejections",
          at: "node:internal/process/task_queues:105:5",
        },
      ],
    },
    {
      kind: "own",
      number: 5,
      frame: { name: "Object.handler [as run]", at: "C:\\app\\src\\jobs.ts:7:3" },
    },
  ]);
});

test("finds no frames in a text that has none", () => {
  expect(framesOf("just a message")).toEqual([]);
});
