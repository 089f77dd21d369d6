import { expect, test } from "vitest";
import { runsLater } from "./guarded-names.ts";

test.each([
  ".git/config",
  ".git/hooks/pre-commit",
  "sub/.GIT/hooks/x",
  ".varve/permissions.json",
  ".husky/pre-push",
  ".github/workflows/ci.yml",
  ".vscode/tasks.json",
  ".devcontainer/devcontainer.json",
  ".claude/settings.json",
  "AGENTS.md",
  "packages/a/CLAUDE.md",
  ".envrc",
  "sub/.npmrc",
  ".gitattributes",
  ".pre-commit-config.yaml",
  "Jenkinsfile",
  ".gitlab-ci.yml",
  "a.code-workspace",
  "venv/x.pth",
])("[TOOL-33] %s makes something happen later", (path) => {
  expect(runsLater(path.split("/"))).toBe(true);
});

test.each([
  "src/index.ts",
  "package.json",
  "Makefile",
  ".gitignore",
  ".env",
  "docs/agents.md.txt",
  "git/hooks/x",
  "github/workflows/x",
  ".",
  "tests/envrc",
])("[TOOL-33] %s does not", (path) => {
  expect(runsLater(path.split("/"))).toBe(false);
});
