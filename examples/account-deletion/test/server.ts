/** One PostgreSQL server for the tests of a file. */
import { afterAll, beforeAll } from "vitest";
import { startDatabase, type DatabaseServer } from "../src/database-server.ts";
import { World } from "./world.ts";

/** Starts a server before the tests. Returns what makes a database with the example on it. */
export function useServer(): () => Promise<World> {
  let server: DatabaseServer;
  let made = 0;
  beforeAll(async () => {
    server = await startDatabase();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
  });
  return () => {
    made += 1;
    return World.create(server.url, `world_${made}`);
  };
}
