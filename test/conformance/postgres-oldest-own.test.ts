import { ownWaysOnOldestPostgres } from "./postgres.ts";

ownWaysOnOldestPostgres();
