import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { contradictions, modelTable, PROVIDERS, tableText } from "./lib/model-table.mjs";
import { ROOT } from "./lib/root.mjs";
import { runChild } from "./lib/run-child.mjs";

// `npm run models`: renews the committed table of prices and limits from the facts of one package, and holds it against those
// of another. The only program here that needs the network; neither a build nor a start does.
const SOURCE = { name: "@earendil-works/pi-ai", version: "1.6.0", folder: "package/dist/providers/data" };
const SECOND = { name: "ai-sdk-cost-calculator", version: "7.1.14", file: "package/dist/index.mjs" };
const TABLE = join(ROOT, "packages/agent/src/model/table/models.gen.json");

/** Models whose contradiction was looked into, with the reason why the source's price stands. */
const KNOWN = {
  "google/gemini-3.6-flash": "the source's lists of three sellers agree on it",
  "google/gemini-robotics-er-2-preview": "the second package doubles it as it doubles gemini-3.6-flash",
  "deepseek/deepseek-v4-pro":
    "the second package gives it the price of deepseek-flash; a seller's list agrees with the source",
  "mistral/devstral-2512": "a seller's list agrees with the source",
  "mistral/mistral-large-latest":
    "the alias moved on to mistral-large-4; the second package still has the model before",
  "mistral/pixtral-12b": "a retired model, for which the dearer price is the safer one",
};
/** A market of many sellers: prices move by the day, and each answer says what was billed. */
const NOT_COMPARED = new Set(["openrouter"]);

const folder = await mkdtemp(join(tmpdir(), "varve-models-"));
try {
  const table = await makeTable();
  const found = await compare(table);
  await writeFile(TABLE, tableText(table));
  const counts = Object.entries(table.providers).map(([name, models]) => `${name} ${Object.keys(models).length}`);
  process.stdout.write(`${TABLE.slice(ROOT.length)}: ${counts.join(", ")}\n`);
  if (found > 0) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function makeTable() {
  await unpack(SOURCE);
  const read = async (provider) => JSON.parse(await readFile(join(folder, SOURCE.folder, `${provider}.json`), "utf8"));
  const files = Object.fromEntries(await Promise.all(PROVIDERS.map(async (name) => [name, await read(name)])));
  return modelTable(files, `${SOURCE.name} ${SOURCE.version}`);
}

/** How many prices the second package contradicts without a known reason. */
async function compare(table) {
  await rm(join(folder, "package"), { recursive: true, force: true });
  await unpack(SECOND);
  const { allPricing } = await import(pathToFileURL(join(folder, SECOND.file)).href);
  const compared = Object.entries(table.providers).filter(([provider]) => !NOT_COMPARED.has(provider));
  const found = contradictions(Object.fromEntries(compared), allPricing).filter(({ model }) => !(model in KNOWN));
  for (const { model, field, ours, theirs } of found) {
    process.stdout.write(`${model}: ${field} is ${ours} here and ${theirs} in ${SECOND.name}\n`);
  }
  return found.length;
}

async function unpack({ name, version }) {
  await run("npm", ["pack", `${name}@${version}`, "--silent", "--ignore-scripts", "--pack-destination", folder]);
  const archive = join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
  await run("tar", ["-xzf", archive, "-C", folder]);
}

async function run(command, args) {
  const code = await runChild(command, args, { cwd: folder });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}`);
}
