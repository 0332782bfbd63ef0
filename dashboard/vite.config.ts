/** The page as static files with relative addresses, so that any path can serve them. */
import { defineConfig } from "vite";

/**
 * Few files, so that a cold page makes few requests: the frame with all parts and one stylesheet,
 * then the code of the screen and what several screens share. Charts are large, and few screens
 * have one.
 */
const GROUPS = [
  {
    name: "chart",
    test: /uplot|src[/]parts[/]chart/,
    priority: 3,
    includeDependenciesRecursively: false,
  },
  { name: "frame", test: /dashboard[/]src[/](?!screens)|preact|signals|rolldown/, priority: 2 },
  { name: "shared", test: /dashboard[/]src[/]screens/, minShareCount: 2, priority: 1 },
];

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  logLevel: "warn",
  build: {
    outDir: "../dist/dashboard",
    emptyOutDir: true,
    target: "es2022",
    // The content security policy forbids data: addresses.
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    license: { fileName: "licences.md" },
    rolldownOptions: { output: { codeSplitting: { groups: GROUPS } } },
  },
  server: { proxy: { "/api": "http://127.0.0.1:7333" } },
});
