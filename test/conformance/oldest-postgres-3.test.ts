import { onOldestPostgres } from "./postgres.ts";

onOldestPostgres(2);
