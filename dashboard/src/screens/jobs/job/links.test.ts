import { expect, test } from "vitest";
import { linksOf } from "./links.ts";

const JOB = {
  id: "01K",
  type: "email",
  tenant: "acme",
  correlationId: "c/1?x=#",
  parentId: "01P",
  tags: { area: "north", "app.version": "7" },
  payload: { user: { id: 42, account: 2 ** 53 }, to: "javascript:alert(1)" },
};

test("fills templates, with every value encoded", () => {
  const links = linksOf(
    {
      Trace: "https://trace.example/{correlation_id}",
      Parent: "https://trace.example/jobs/{parent_id}?area={tags.area}&app={tags.app.version}",
      User: "http://admin.example/users/{payload.user.id}?job={id}",
    },
    JOB,
  );
  expect(links).toEqual([
    { name: "Trace", href: "https://trace.example/c%2F1%3Fx%3D%23" },
    { name: "Parent", href: "https://trace.example/jobs/01P?area=north&app=7" },
    { name: "User", href: "http://admin.example/users/42?job=01K" },
  ]);
});

test("leaves out what lacks a value or is not of the web", () => {
  const links = linksOf(
    {
      Missing: "https://a.example/{payload.nothing}",
      Unknown: "https://a.example/{password}",
      Lane: "https://a.example/{lane}",
      Inexact: "https://a.example/{payload.user.account}",
      Script: "javascript:alert('{id}')",
      Whole: "{payload.to}",
      Data: "data:text/html,{id}",
      Relative: "/x/{id}",
    },
    JOB,
  );
  expect(links).toEqual([]);
});
