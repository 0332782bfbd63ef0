/** `/openapi.json`: the contract of the API. */
import { z } from "@hono/zod-openapi";
import { route, type Route } from "../route.ts";

export function openApiRoute(document: () => object): Route {
  let text: string | null = null;
  return route(
    {
      method: "get",
      path: "/openapi.json",
      name: "getOpenApi",
      summary: "Returns this document.",
      access: "public",
      answers: { 200: { description: "OpenAPI 3.1.", schema: z.looseObject({}) } },
      problems: [],
    },
    async () => {
      text ??= JSON.stringify(document());
      return new Response(text, { headers: { "content-type": "application/json" } });
    },
  );
}
