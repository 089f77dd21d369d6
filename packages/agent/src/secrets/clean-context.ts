/** A tab's surroundings without secrets: what is read here goes into the frozen prefix, whose hash covers its text. */
import type { ContextOperations } from "../prompt/operations.ts";
import type { Secrets } from "./known-secrets.ts";

export function cleanContext(operations: ContextOperations, secrets: Secrets): ContextOperations {
  const { system, shell } = operations;
  return {
    system,
    shell,
    readText: async (path, options) => {
      const read = await operations.readText(path, options);
      if (read === null) return null;
      return { ...read, text: read.clipped ? secrets.cutText(read.text) : secrets.text(read.text) };
    },
    list: async (path, max) => {
      const listed = await operations.list(path, max);
      return listed && { ...listed, names: listed.names.map((name) => secrets.text(name)) };
    },
    place: (cwd) => operations.place(cwd),
    repository: async (cwd) => {
      const facts = await operations.repository(cwd);
      return facts && { ...facts, branch: facts.branch === null ? null : secrets.text(facts.branch) };
    },
  };
}
