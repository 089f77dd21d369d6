import { mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JsonObject } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { runPrepared, type Scratch, scratch } from "./testing/scratch.ts";
import type { PreparedCall } from "./tool.ts";

function withAdded(at: Scratch) {
  const added = join(at.base, "added");
  mkdirSync(join(added, ".git"), { recursive: true });
  mkdirSync(join(at.base, "added-not"));
  mkdirSync(join(at.base, "out"));
  writeFileSync(join(at.base, "out/secret.txt"), "SECRET\n");
  writeFileSync(join(at.base, "added-not/x"), "SECRET\n");
  writeFileSync(join(added, "plain.txt"), "plain\n");
  symlinkSync(join(at.base, "out"), join(added, "outbox"));
  const place = { ...at.place, directories: [added] };
  const prepare = async (name: string, args: JsonObject, where = place): Promise<PreparedCall> => {
    const prepared = await at.box.get(name)?.prepare(args, where);
    if (prepared === undefined || "error" in prepared) throw new Error(prepared?.error ?? name);
    return prepared;
  };
  return { added, place, prepare };
}

describe("directories that the person added", () => {
  test("[TOOL-128] every file tool works there as inside, and names what it finds by its real path", async () => {
    await using at = scratch();
    const { added, prepare } = withAdded(at);
    const plain = join(added, "plain.txt");
    const steps: readonly (readonly [string, JsonObject, string, RegExp])[] = [
      ["read", { path: plain }, "read", /1\tplain/],
      ["read", { path: "../added/plain.txt" }, "read", /1\tplain/],
      ["list", {}, "read", new RegExp(`^⟨empty directory⟩\n⟨the person also added: ${added}⟩$`)],
      ["list", { path: added }, "read", /^\.git\/\noutbox -> .*\nplain\.txt \(6 bytes\)$/],
      ["grep", { pattern: "plain", path: added }, "read", new RegExp(`^${plain}:1:plain$`)],
      ["grep", { pattern: "plain", path: plain }, "read", new RegExp(`^${plain}:1:plain$`)],
      ["glob", { pattern: "**", path: added }, "read", new RegExp(`^${plain}$`)],
      ["write", { path: join(added, "deep/new.txt"), content: "x" }, "write", /deep\/new\.txt/],
      ["edit", { path: plain, oldText: "plain", newText: "other" }, "write", /plain\.txt/],
    ];
    for (const [name, args, effect, text] of steps) {
      const prepared = await prepare(name, args);
      expect(prepared.effect).toBe(effect);
      const outcome = await runPrepared(prepared);
      expect(outcome.text).toMatch(text);
      expect(outcome.isError).toBe(false);
    }
  });

  test.each([
    ["read", { path: "ADDED/outbox/secret.txt" }],
    ["read", { path: "ADDED/../out/secret.txt" }],
    ["read", { path: "ADDED-not/x" }],
    ["write", { path: "ADDED/outbox/new", content: "x" }],
    ["write", { path: "ADDED/.git/hooks/x", content: "x" }],
    ["grep", { pattern: "SECRET", path: "ADDED/outbox" }],
    ["list", { path: "ADDED/.." }],
  ])("[TOOL-128] what leads out of it is asked: %s %j", async (name, args) => {
    await using at = scratch();
    const { added, prepare } = withAdded(at);
    const there = Object.entries(args).map(([key, value]) => [key, value.replace("ADDED", added)]);
    expect((await prepare(name, Object.fromEntries(there))).effect).toBe("run");
    expect(readdirSync(join(at.base, "out"))).toEqual(["secret.txt"]);
  });

  test("[TOOL-128] one that became a link, vanished or holds VARVE_HOME counts no more", async () => {
    await using at = scratch();
    const { added, prepare } = withAdded(at);
    renameSync(added, `${added}-was`);
    const path = join(at.base, "out/secret.txt");
    expect((await prepare("read", { path: join(added, "x") })).effect).toBe("run");
    symlinkSync(join(at.base, "out"), added);
    expect((await prepare("read", { path: join(added, "secret.txt") })).effect).toBe("run");
    const holder = { ...at.place, directories: [at.base, "/"] };
    expect((await prepare("read", { path }, holder)).effect).toBe("run");
    const home = { ...at.place, directories: [at.place.home] };
    await expect(prepare("read", { path: join(at.place.home, "token") }, home)).rejects.toThrow(/no tool may touch/);
  });
});

describe("a search of one file", () => {
  test.each([
    ["grep", { pattern: "SECRET|plain", path: "plain.txt" }, "plain.txt:1:plain"],
    ["grep", { pattern: "SECRET|plain", path: "plain.txt", filesOnly: true }, "plain.txt"],
    ["glob", { pattern: "*", path: "plain.txt" }, "plain.txt"],
  ])("[TOOL-129] goes to the very file that was checked: %s %j", async (name, args, text) => {
    let swap = () => {};
    await using at = scratch({
      change: (real) => ({
        ...real,
        processes: {
          ...real.processes,
          run: (program) => {
            swap();
            return real.processes.run(program);
          },
        },
      }),
    });
    at.file("plain.txt", "plain\n");
    await at.operations.processes.ripgrep();
    const prepared = await at.prepare(name, args);
    writeFileSync(join(at.base, "secret.txt"), "SECRET\n");
    swap = () => {
      renameSync(join(at.ws, "plain.txt"), join(at.ws, "moved.txt"));
      symlinkSync("../secret.txt", join(at.ws, "plain.txt"));
      swap = () => {};
    };
    expect((await runPrepared(prepared)).text).toBe(text);
  });
});
