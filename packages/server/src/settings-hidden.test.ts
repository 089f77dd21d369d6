import { memoryLog } from "@varve/log";
import { describe, expect, test } from "vitest";
import { Settings } from "./settings.ts";

async function make(log = memoryLog()) {
  const told: (readonly string[])[] = [];
  const models = {
    resolve: () => Promise.reject(new Error("no model is asked for")),
    list: () => Promise.reject(new Error("no model is listed")),
    setOverrides: () => undefined,
  };
  const settings = await Settings.load({ log, models, home: "/home", hidden: (names) => void told.push(names) });
  return { log, settings, told };
}

describe("hidden variables", () => {
  test("[SECRET-9] what a person hides holds at once and after a restart; null hides nothing more", async () => {
    const { log, settings, told } = await make();
    const hiddenEnv = ["NPM_TOKEN", "*_PASSWORD", "AWS_*"];
    expect(await settings.change({ hiddenEnv })).toBeNull();
    expect([settings.hiddenEnv, settings.body().values.hiddenEnv, told]).toEqual([
      hiddenEnv,
      hiddenEnv,
      [[], hiddenEnv],
    ]);
    const again = await make(log);
    expect([again.settings.hiddenEnv, again.told]).toEqual([hiddenEnv, [hiddenEnv]]);
    expect(await again.settings.change({ hiddenEnv: null })).toBeNull();
    expect(again.settings.hiddenEnv).toEqual([]);
  });

  test.each([
    ["everything", ["*"]],
    ["a pattern within a name", ["A_*_B"]],
    ["a name that is none", ["MY KEY"]],
    ["too many", Array.from({ length: 101 }, (_, at) => `NAME_${at}`)],
    ["no list", "NPM_TOKEN"],
  ])("[SECRET-9] refused, with nothing changed: %s", async (_what, hiddenEnv) => {
    const { settings } = await make();
    expect(await settings.change({ hiddenEnv })).toMatchObject({ code: "bad-request" });
    expect(settings.hiddenEnv).toEqual([]);
  });
});
