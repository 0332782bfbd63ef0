import { pipelinesOn } from "./pipelines.ts";

pipelinesOn("sqlite");
