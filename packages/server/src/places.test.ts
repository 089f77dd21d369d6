import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isFault } from "@varve/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { directoriesOf } from "./directories.ts";
import { logLines, parseLevel } from "./log-line.ts";
import { permissionFiles } from "./permission-files.ts";
import { readRunning, removeRunning, writeRunning } from "./running-file.ts";
import { pageFiles } from "./static.ts";
import { realClock, temporaryFolder } from "./testing/house.ts";

let root: string;
beforeEach(() => {
  root = temporaryFolder();
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe("directories", () => {
  const open = () => directoriesOf({ userHome: root, home: join(root, "varve-home") });

  test("[HTTP-21] folders are listed by name, hidden ones and files left out, repositories marked, links followed", async () => {
    for (const name of ["b", "a", ".hidden", "c/.git"]) mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, "file"), "x");
    symlinkSync(join(root, "a"), join(root, "link"));
    symlinkSync(join(root, "gone"), join(root, "dangling"));
    const listed = await open().list(null);
    if (isFault(listed)) throw new Error(listed.message);
    expect(listed.entries.map(({ name, git }) => `${name}${git ? " git" : ""}`)).toEqual(["a", "b", "c git", "link"]);
    expect(listed.parent).toBe(join(root, ".."));
    expect(listed.more).toBe(false);
    const top = await open().list("/");
    expect(top).toMatchObject({ parent: null });
  });

  test("[HTTP-21] a directory with very many folders is cut and says so", async () => {
    for (let n = 0; n < 501; n++) mkdirSync(join(root, `d${n}`));
    expect(await open().list(root)).toMatchObject({ more: true, entries: { length: 500 } });
  });

  test("[HTTP-21] a place to work in is absolute, there, a directory, and not Varve's own", async () => {
    mkdirSync(join(root, "varve-home/blobs"), { recursive: true });
    mkdirSync(join(root, "work"));
    symlinkSync(join(root, "varve-home"), join(root, "sneaky"));
    const { workplace } = open();
    expect(await workplace(`${root}/work/`)).toBe(join(root, "work"));
    expect(await workplace("~/work")).toBe(join(root, "work"));
    for (const path of ["varve-home", "varve-home/blobs", "sneaky", "none"]) {
      expect(await workplace(join(root, path)), path).toMatchObject({ code: "bad-directory" });
    }
    for (const path of ["", "work", "./work", "x".repeat(5_000)]) {
      expect(await workplace(path), path).toMatchObject({ code: "bad-directory" });
    }
  });
});

describe("directories that are added to a tab", () => {
  test("[TAB-115] are kept by their real path; the root, Varve's own and what holds it are refused", async () => {
    const home = join(root, "state/varve-home");
    for (const path of [join(home, "blobs"), join(root, "work")]) mkdirSync(path, { recursive: true });
    symlinkSync(join(root, "work"), join(root, "link"));
    symlinkSync(root, join(root, "up"));
    const { added } = directoriesOf({ userHome: root, home });
    expect(await added(`${root}/work/`)).toBe(join(root, "work"));
    expect(await added(join(root, "link"))).toBe(join(root, "work"));
    expect(await added("~/work")).toBe(join(root, "work"));
    for (const path of [
      "/",
      root,
      join(root, "up"),
      join(root, "state"),
      home,
      join(home, "blobs"),
      join(root, "none"),
    ]) {
      expect(await added(path), path).toMatchObject({ code: "bad-directory" });
    }
  });
});

describe("rule files", () => {
  test("[AUTH-22] rules of the person and of the workspace are read anew for each call", () => {
    const [home, cwd] = [join(root, "home"), join(root, "work")];
    mkdirSync(join(cwd, ".varve"), { recursive: true });
    mkdirSync(home);
    const told: string[] = [];
    const { rules } = permissionFiles(home, (problem) => told.push(problem));
    expect(rules(cwd)).toEqual([]);
    writeFileSync(join(home, "permissions.json"), '{"allow": ["bash: npm test"]}');
    writeFileSync(join(cwd, ".varve/permissions.json"), '{"allow": ["bash: rm *"], "deny": ["fetch"]}');
    expect(rules(cwd)).toEqual([
      { action: "allow", tool: "bash", pattern: "npm test" },
      { action: "deny", tool: "fetch" },
    ]);
    rules(cwd);
    expect(told).toHaveLength(1);
  });

  test("[AUTH-22] a file that cannot be understood makes every tool ask, a FIFO does not stop the server", () => {
    const path = join(root, "permissions.json");
    const everyToolAsks = [{ action: "ask", tool: "*" }];
    const { rules } = permissionFiles(root, () => undefined);
    execFileSync("mkfifo", [path]);
    expect(rules(root)).toEqual(everyToolAsks);
    rmSync(path);
    for (const bad of ["{", new Uint8Array([0xff, 0xfe]), "x".repeat(70_000)]) {
      writeFileSync(path, bad);
      expect(rules(root)).toEqual(everyToolAsks);
    }
    rmSync(path);
    mkdirSync(path);
    expect(rules(root)).toEqual(everyToolAsks);
  });
});

describe("the page's files", () => {
  const html = "text/html,*/*";

  test("[HTTP-22] built files have their types; assets are kept for ever, the page never", async () => {
    mkdirSync(join(root, "assets"));
    writeFileSync(join(root, "index.html"), "<!doctype html>");
    writeFileSync(join(root, "assets/app-1a2b.js"), "1");
    const page = pageFiles(root);
    const index = await page("/", html);
    expect(Object.fromEntries(index.headers)).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      "content-security-policy": expect.stringContaining("script-src 'self'"),
    });
    const asset = await page("/assets/app-1a2b.js", "*/*");
    expect(asset.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(asset.headers.get("cache-control")).toContain("immutable");
    expect(await (await page("/tabs/some-tab", html)).text()).toBe("<!doctype html>");
    expect((await page("/tabs/some-tab", "application/json")).status).toBe(404);
    expect((await page("/assets/gone.js", "*/*")).status).toBe(404);
  });

  test.each(["/../secret.txt", "/assets/../../secret.txt", "/%2e%2e/secret.txt", "//secret.txt", "/.env", "/a\0.js"])(
    "[HTTP-22] %s leads nowhere",
    async (path) => {
      mkdirSync(join(root, "web/assets"), { recursive: true });
      writeFileSync(join(root, "secret.txt"), "secret");
      writeFileSync(join(root, "web/.env"), "secret");
      const answer = await pageFiles(join(root, "web"))(path, "*/*");
      expect(answer.status).toBe(404);
    },
  );

  test("[HTTP-22] without a build a plain sentence says what to do", async () => {
    for (const page of [pageFiles(null), pageFiles(root)]) {
      const answer = await page("/", html);
      expect(answer.status).toBe(503);
      expect(await answer.text()).toContain("npm start");
    }
  });
});

describe("the server's log", () => {
  test("[AUTH-21] lines are JSON by level, and known secrets are taken out of them", () => {
    const lines: string[] = [];
    const redact = (text: string) => text.replaceAll("sk-secret", "[key]");
    const line = logLines({ level: "info", clock: realClock, write: (text) => lines.push(text), redact });
    line("debug", "unseen");
    line("error", "failed", { error: new Error("provider said sk-secret"), tab: "t" });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "error",
      event: "failed",
      tab: "t",
      error: { message: "provider said [key]" },
    });
    expect([undefined, "", "loud", "debug", "silent"].map(parseLevel)).toEqual([
      "warn",
      "warn",
      "warn",
      "debug",
      "silent",
    ]);
  });
});

describe("server.json", () => {
  test("[HTTP-23] says where the server of a home answers; what is half written counts as absent", async () => {
    expect(await readRunning(root)).toBeNull();
    const running = { url: "http://127.0.0.1:1", host: "127.0.0.1", port: 1, pid: 2, boot: "b" };
    await writeRunning(root, running);
    expect(await readRunning(root)).toEqual(running);
    for (const text of ["", '{"url":', "[]", '{"url":"x"}']) {
      writeFileSync(join(root, "server.json"), text);
      expect(await readRunning(root)).toBeNull();
    }
    await removeRunning(root);
    await removeRunning(root);
  });
});
