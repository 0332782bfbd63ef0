import { pipelinesOn } from "./pipelines.ts";

pipelinesOn("postgres");
