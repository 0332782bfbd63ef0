import { onPostgres } from "./postgres.ts";

onPostgres(2);
