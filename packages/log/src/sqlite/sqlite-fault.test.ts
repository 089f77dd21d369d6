import { describe, expect, test } from "vitest";
import { faultOf } from "./sqlite-fault.ts";

const engineError = (errcode: number, message = "text of the engine") => Object.assign(new Error(message), { errcode });
const systemError = (code: string) => Object.assign(new Error(`${code}: something`), { code });
const path = "/home/x/varve.db";

describe("errors of the world", () => {
  test.each([
    ["disk-full", engineError(13)],
    ["disk-full", new Error("database or disk is full")],
    ["disk-full", systemError("ENOSPC")],
    ["disk-full", systemError("EDQUOT")],
    ["log-damaged", engineError(11)],
    ["log-damaged", engineError(26)],
    ["log-damaged", engineError(11 | (1 << 8))],
    ["log-damaged", new Error("database disk image is malformed")],
    ["log-unavailable", engineError(5)],
    ["log-unavailable", engineError(6)],
    ["log-unavailable", engineError(8)],
    ["log-unavailable", engineError(10 | (3 << 8))],
    ["log-unavailable", engineError(14)],
    ["log-unavailable", new Error("disk I/O error")],
    ["log-unavailable", systemError("EACCES")],
    ["log-unavailable", systemError("EIO")],
  ])("[LOG-44] are %s: %s", (code, error) => {
    const found = faultOf(error, path);
    expect(found).toMatchObject({ kind: "fault", code });
    expect(found?.message).toContain(path);
    expect(found?.hint).toMatch(/\.$|recover$/);
  });

  test.each([
    ["a constraint", engineError(19)],
    ["a wrong statement", engineError(1)],
    ["misuse", engineError(21)],
    ["an assertion", new Error("an assertion")],
    ["another system error", systemError("ERR_INVALID_ARG_TYPE")],
    ["no error at all", "text"],
  ])("[LOG-44] %s is ours, and no fault", (_, error) => {
    expect(faultOf(error, path)).toBeNull();
  });
});
