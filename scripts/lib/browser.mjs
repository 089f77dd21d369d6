import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

const FIXED = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];
const ON_PATH = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * The Chromium that the browser tests drive: `$CHROMIUM` when set (even if it is wrong, so that a typing error shows
 * instead of another browser being taken in silence), else the first one found in the usual places; undefined if none.
 */
export function findBrowser(env = process.env, isExecutable = canExecute) {
  if (env.CHROMIUM) return isExecutable(env.CHROMIUM) ? env.CHROMIUM : undefined;
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = ON_PATH.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...FIXED, ...onPath].find(isExecutable);
}

function canExecute(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // Absent or not executable: both mean "not this one".
  }
}
