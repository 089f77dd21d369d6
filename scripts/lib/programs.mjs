import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./root.mjs";

/** Programs in a folder: NAME.ts, or NAME/main.ts; their names, sorted. */
export function programsIn(folder, root = ROOT) {
  const path = join(root, folder);
  if (!existsSync(path)) return [];
  const names = readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return existsSync(join(path, entry.name, "main.ts")) ? [entry.name] : [];
    return /^[\w-]+\.ts$/.test(entry.name) ? [entry.name.slice(0, -3)] : [];
  });
  return names.sort();
}

/**
 * The file of a program, or a sentence that lists what there is: `{ file }` or `{ sentence, code }`. Asking for no
 * program at all is answered with the list and is no error.
 */
export function chooseProgram({ folder, name, command, root = ROOT }) {
  const names = programsIn(folder, root);
  const list = names.length === 0 ? `There is nothing in ${folder}.` : `There is: ${names.join(", ")}.`;
  if (name === undefined) return { sentence: `${command} -- NAME [flags]. ${list}`, code: 0 };
  if (!names.includes(name)) return { sentence: `${folder} has no program named ${name}. ${list}`, code: 2 };
  const single = join(root, folder, `${name}.ts`);
  return { file: existsSync(single) ? single : join(root, folder, name, "main.ts") };
}

/** Bundles a program from the sources and runs it with the garbage collector exposed; resolves to its exit code. */
export async function runProgram({ file, name, args, root = ROOT }) {
  const outdir = join(root, `.varve-build/${name}-${process.pid}`);
  mkdirSync(outdir, { recursive: true });
  try {
    await bundle(file, outdir, root);
    return await run(join(outdir, "main.mjs"), args, root);
  } finally {
    rmSync(outdir, { recursive: true, force: true });
  }
}

async function bundle(file, outdir, root) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: { main: file },
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    plugins: [workspaceSources()],
    logLevel: "warning",
  });
  await esbuild.stop();
}

/** Our own packages are bundled from their sources; everything else is found in node_modules at run time. */
function workspaceSources() {
  return {
    name: "workspace-sources",
    setup(build) {
      build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
        const isOurs = path.startsWith("@varve/") || kind === "entry-point";
        return isOurs ? undefined : { path, external: true };
      });
    },
  };
}

function run(script, args, root) {
  const argv = ["--expose-gc", "--disable-warning=ExperimentalWarning", script, ...args];
  const child = spawn(process.execPath, argv, {
    cwd: root,
    env: { ...process.env, VARVE_ROOT: root },
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal === null ? (code ?? 1) : 1));
  });
}

/** The whole of `npm run bench` and `npm run soak`: choose, make ready, bundle, run. */
export async function main({ folder, command }) {
  const [name, ...args] = process.argv.slice(2);
  const chosen = chooseProgram({ folder, name, command });
  if (chosen.sentence !== undefined) {
    process.stdout.write(`${chosen.sentence}\n`);
    process.exitCode = chosen.code;
    return;
  }
  const { ensure } = await import("../ensure.mjs");
  await ensure({ dev: true, say: (line) => process.stderr.write(`${line}\n`) });
  process.exitCode = await runProgram({ file: chosen.file, name, args });
}
