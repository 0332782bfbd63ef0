import { onSqlite } from "./sqlite.ts";

onSqlite(1);
