/** Jobs from HTTP and the command line have the settings of their definition, where it is known. */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Project } from "./command-line.ts";
import type { Program } from "./programs.ts";

const JOBS = `
import { defineJob, typed } from "millrace";
export const charge = defineJob({
  type: "charge", lane: "fast", maxAttempts: 1, priority: "high", category: "money",
  payload: typed(),
});
export const sweep = defineJob({ type: "sweep", maxAttempts: 2 }).run(() => {});
`;

const TOKEN = "chosen-by-the-operator";

describe("millrace server --jobs", () => {
  test("enqueues with the settings of the definition, and checks the payload", async () => {
    using project = withJobs();
    const server = project.startWith(env, "server", "--port", "0", "--jobs", "jobs.ts");
    const ask = await asker(server);

    const { id } = await ask({ type: "charge", payload: { amount: 5 } });
    const refused = await ask({ type: "sweep", payload: { more: 1 } });
    server.child.kill("SIGTERM");
    const { stderr } = await server.ended;

    expect(await project.view(id)).toMatchObject({
      lane: "fast",
      maxAttempts: 1,
      priority: 50,
      category: "money",
    });
    expect(refused).toMatchObject({ code: "PAYLOAD_INVALID" });
    expect(stderr).not.toContain("default settings");
  });

  test("says without it that the defaults are used", async () => {
    using project = withJobs();
    const server = project.startWith(env, "server", "--port", "0");
    const ask = await asker(server);

    const { id } = await ask({ type: "charge" });
    server.child.kill("SIGTERM");
    const { stderr } = await server.ended;

    expect(await project.view(id)).toMatchObject({ lane: "general", maxAttempts: 5 });
    expect(stderr).toContain("get the default settings: name the job file with --jobs FILE.");
  });

  test("refuses a file that is not there", async () => {
    using project = new Project();

    const { code, stderr } = await project.start("server", "--jobs", "nowhere.ts").ended;

    expect(code).toBe(2);
    expect(stderr).toContain("There is no file nowhere.ts.");
  });
});

describe("millrace dev", () => {
  test("enqueues over HTTP with the settings as they are now", async () => {
    using project = withJobs();
    const dev = project.startWith(env, "dev", "--port", "0");
    let heard = "";
    dev.child.stderr?.on("data", (chunk: Buffer) => (heard += chunk.toString()));
    const ask = await asker(dev);

    const first = await ask({ type: "charge", payload: { amount: 5 } });
    const refused = await ask({ type: "sweep", payload: { more: 1 } });
    project.write("jobs.ts", JOBS.replace("maxAttempts: 1", "maxAttempts: 7"));
    await expect.poll(() => heard, { timeout: 20_000 }).toMatch(/(?:The worker runs .*\n[^]*){2}/);
    const second = await ask({ type: "charge", payload: { amount: 5 } });
    dev.child.kill("SIGTERM");
    await dev.ended;

    expect(await project.view(first.id)).toMatchObject({ lane: "fast", maxAttempts: 1 });
    expect(refused).toMatchObject({ code: "PAYLOAD_INVALID" });
    expect(await project.view(second.id)).toMatchObject({ lane: "fast", maxAttempts: 7 });
  });
});

describe("millrace enqueue in a folder with a job file", () => {
  test("uses the definition in jobs.ts, as millrace dev does", async () => {
    using project = new Project("jobs.ts");

    const { code, stdout, stderr } = await project.start("enqueue", "greet", '{"name":"Ada"}')
      .ended;

    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(await project.view(stdout.trim())).toMatchObject({ type: "greet", lane: "fast" });
  });

  test("refuses a type that the file does not declare, and stores nothing", async () => {
    using project = new Project("jobs.ts");

    const { code, stdout, stderr } = await project.start("enqueue", "gret").ended;

    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain('jobs.ts has no job of type "gret".');
    expect(stderr).toContain("Did you mean greet?");
    expect(stderr).toContain("--no-jobs");
    expect(existsSync(project.file)).toBe(false);
  });

  test("accepts any type with --no-jobs, and says that nothing is checked", async () => {
    using project = new Project("jobs.ts");

    const { code, stdout, stderr } = await project.start("enqueue", "greet", "--no-jobs").ended;

    expect(code).toBe(0);
    expect(stderr).toContain("the payload is not checked");
    expect(await project.view(stdout.trim())).toMatchObject({ type: "greet", lane: "general" });
  });
});

const env = { MILLRACE_TOKEN: TOKEN };

function withJobs(): Project {
  const project = new Project();
  project.write("jobs.ts", JOBS);
  return project;
}

/** Enqueues over HTTP, and answers the body of what comes back. */
async function asker(server: Program): Promise<(job: object) => Promise<any>> {
  const [, address = ""] = await server.said(/^Millrace is at (http:\S+)$/m);
  return async (job) => {
    const response = await fetch(`${address}/api/v1/jobs`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify(job),
    });
    return response.json();
  };
}
