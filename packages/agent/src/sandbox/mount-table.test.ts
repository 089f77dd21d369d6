import { describe, expect, test } from "vitest";
import { mountsOf, namesOf } from "./mount-table.ts";

const line = (device: string, root: string, point: string) =>
  `36 35 ${device} ${root} ${point} rw,noatime master:1 - ext4 /dev/x rw`;

describe("names of a place", () => {
  test.each([
    ["one disk", [line("8:1", "/", "/")], "/home/me/.varve", ["/home/me/.varve"]],
    [
      "a directory mounted a second time",
      [line("8:1", "/", "/"), line("8:1", "/home/me", "/data/me")],
      "/home/me/.varve",
      ["/home/me/.varve", "/data/me/.varve"],
    ],
    [
      "a disk seen as a whole and in part",
      [line("8:1", "/", "/"), line("8:2", "/@home", "/home"), line("8:2", "/", "/mnt/whole")],
      "/home/me/.varve",
      ["/home/me/.varve", "/mnt/whole/@home/me/.varve"],
    ],
    [
      "a part of it mounted elsewhere",
      [line("8:1", "/", "/"), line("8:1", "/home/me/.varve/blobs", "/srv/blobs")],
      "/home/me/.varve",
      ["/home/me/.varve", "/srv/blobs"],
    ],
    [
      "a mount of its own",
      [line("8:1", "/", "/"), line("8:3", "/", "/home/me/.varve")],
      "/home/me/.varve",
      ["/home/me/.varve"],
    ],
    [
      "another disk with the same names",
      [line("8:1", "/", "/"), line("8:2", "/", "/backup")],
      "/home/me/.varve",
      ["/home/me/.varve"],
    ],
    [
      "a name with a space",
      [line("8:1", "/", "/"), line("8:1", "/home", "/my\\040disk")],
      "/home/v",
      ["/home/v", "/my disk/v"],
    ],
    ["no table", ["", "nonsense"], "/home/v", ["/home/v"]],
  ])("[TOOL-121] %s", (_, lines, path, names) => {
    expect(namesOf(path, mountsOf(lines.join("\n")))).toEqual(names);
  });
});
