import { defineConfig } from "vitest/config";

const FAST = ["packages/*/src/**/*.test.ts", "bench/**/*.test.ts", "scripts/**/*.test.mjs"];
/** Rooms whose modules keep nothing: their files share what was loaded, which halves the time of all. */
const PURE = ["protocol", "wire", "log", "client", "agent"].map((room) => `packages/${room}/src/**/*.test.ts`);
const END_TO_END = ["packages/*/src/**/*.e2e.test.ts", "bench/**/*.e2e.test.ts", "scripts/**/*.e2e.test.mjs"];
const NEVER = ["**/node_modules/**", "**/dist/**", "**/.varve-build/**"];

const shared = {
  environment: "node" as const,
  setupFiles: ["./scripts/lib/test-setup.mjs"],
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
};

/** End-to-end files start servers, shells and browsers, so they come after the fast ones; while one waits, another works. */
export default defineConfig({
  test: {
    pool: "forks",
    maxWorkers: 2,
    dangerouslyIgnoreUnhandledErrors: false,
    passWithNoTests: false,
    globalSetup: ["./scripts/lib/test-global.mjs"],
    reporters: ["default", "./scripts/lib/count-reporter.mjs"],
    projects: [
      {
        test: {
          ...shared,
          name: "pure",
          include: PURE,
          exclude: [...NEVER, ...END_TO_END],
          isolate: false,
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: "fast",
          include: FAST,
          exclude: [...NEVER, ...END_TO_END, ...PURE],
          testTimeout: 30_000,
          hookTimeout: 30_000,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: "end-to-end",
          include: END_TO_END,
          exclude: NEVER,
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
