/**
 * Where one place can be seen in a tree of mounts. A directory may be mounted a second time, or a disk as a whole beside
 * the part of it that everyone knows: what is hidden under one name would still be there under another.
 */
import { within } from "../tools/boundary.ts";

interface Mount {
  /** Names the file system: the same for every mount of it. */
  readonly device: string;
  /** What of the file system is mounted. */
  readonly root: string;
  /** Where. */
  readonly point: string;
}

/** Lines of /proc/self/mountinfo; a line that is none is left out. */
export function mountsOf(table: string): readonly Mount[] {
  return table.split("\n").flatMap((line) => {
    const [, , device, root, point] = line.split(" ");
    if (device === undefined || root === undefined || point === undefined) return [];
    return [{ device, root: plain(root), point: plain(point) }];
  });
}

/** Space, tab, line end and backslash are written as octal numbers. */
const plain = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Every path under which a real path, or a part of what is below it, can be seen; the path itself is the first. */
export function namesOf(path: string, mounts: readonly Mount[]): readonly string[] {
  const holds = mounts.filter(({ point }) => within(point, path));
  // Of mounts on the same point the last one is seen.
  const own = holds.reduce<Mount | null>(
    (best, one) => (best === null || one.point.length >= best.point.length ? one : best),
    null,
  );
  if (own === null) return [path];
  const inDevice = joined(own.root, below(own.point, path));
  const others = mounts.flatMap(({ device, root, point }) => {
    if (device !== own.device) return [];
    if (within(root, inDevice)) return [joined(point, below(root, inDevice))];
    return within(inDevice, root) ? [point] : [];
  });
  return [...new Set([path, ...others])];
}

/** The path from `root` to `path`, which is below it; "" for itself. */
const below = (root: string, path: string): string => path.slice(root === "/" ? 1 : root.length + 1);
const joined = (root: string, rest: string): string =>
  rest === "" ? root : root === "/" ? `/${rest}` : `${root}/${rest}`;
