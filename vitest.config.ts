import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { ProjectOrder } from "./scripts/lib/project-order.ts";
import { PROJECTS } from "./scripts/lib/projects.ts";

export default defineConfig({
  // Tests import the package by its own name and get its source, not an older build.
  ssr: { resolve: { conditions: ["source", "module", "node"] } },
  test: {
    // A folder that waits for its first test is no failure; the summary shows it as empty.
    passWithNoTests: true,
    // Vitest would leave one core alone; most of these tests wait for processes and databases.
    maxWorkers: Math.max(2, availableParallelism()),
    sequence: { sequencer: ProjectOrder },
    coverage: {
      provider: "v8",
      include: ["src/core/**"],
      exclude: ["**/*.test.ts"],
      reporter: ["text-summary", "html"],
      thresholds: { branches: 100, functions: 100, lines: 100 },
    },
    projects: PROJECTS.map((project) => ({
      extends: true,
      test: {
        name: project.name,
        include: [...project.include],
        globalSetup: project.setup === undefined ? [] : [project.setup],
        // Unit tests leave nothing behind, and a fresh process for each file takes twice the time.
        isolate: project.name !== "unit",
        testTimeout: project.testSeconds * 1000,
        hookTimeout: project.testSeconds * 1000,
      },
    })),
  },
});
