/** The parts of a server on an open log, put together. Nothing listens and no turn runs yet. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  cleanContext,
  commandShell,
  createModelRegistry,
  createToolBox,
  decide,
  hiddenValues,
  KnownSecrets,
  type ModelRegistry,
  nodeContextOperations,
  nodeOperations,
  type ToolBox,
  type ToolOperations,
} from "@varve/agent";
import type { Log } from "@varve/log";
import { type Fault, type IdMaker, idMaker, isFault, uuidV7Maker } from "@varve/protocol";
import { ApiTokens, apiTokenPattern as apiToken } from "./auth/api-tokens.ts";
import { Devices } from "./auth/devices.ts";
import type { GatePorts } from "./auth/gate.ts";
import { newSecret } from "./auth/secrets.ts";
import { SignInCodes } from "./auth/sign-in-codes.ts";
import { loadToken } from "./auth/token.ts";
import { Credentials } from "./credentials.ts";
import { directoriesOf } from "./directories.ts";
import { type Doors, openDoors } from "./doors.ts";
import { instanceId } from "./instance.ts";
import { KeyHolder, keyRingWish } from "./key-holder.ts";
import { type LogLine, logLines, parseLevel } from "./log-line.ts";
import { factsByName } from "./model-facts.ts";
import { type PermissionFiles, permissionFiles } from "./permission-files.ts";
import { publicAddress } from "./public-address.ts";
import { Settings } from "./settings.ts";
import type { StartOptions } from "./start-options.ts";
import { createWorkspace, type LiveWorkspace } from "./workspace/workspace.ts";

export interface Parts {
  readonly token: string;
  readonly boot: string;
  /** With which this server shows that it is the one of its `server.json`. */
  readonly proofKey: string;
  /** Under which links are told, if the person said. */
  readonly publicUrl: string | null;
  readonly line: LogLine;
  readonly codes: SignInCodes;
  readonly gate: GatePorts;
  readonly operations: ToolOperations;
  readonly tools: ToolBox;
  readonly workspace: LiveWorkspace;
  readonly doors: Doors;
}

/** Long outputs of tools, by tab: they outlive a restart, as the rows that name them do. */
function outputFolder(home: string): string {
  const folder = join(home, "output");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

export async function compose(log: Log, options: StartOptions): Promise<Parts | Fault> {
  const { home, clock, env, randomBytes: random } = options;
  const secrets = new KnownSecrets();
  const models = createModelRegistry({
    env,
    clock,
    secrets,
    fetch: options.fetch,
    ...(options.demoDelayMs !== undefined && { demoDelayMs: options.demoDelayMs }),
  });
  const address = publicAddress(options);
  if (isFault(address)) return address;
  const [token, instance, devices, tokens, settings] = await Promise.all([
    loadToken(join(home, "token"), { given: env.VARVE_TOKEN, random }),
    instanceId(log, random),
    Devices.load({ log, clock, random }),
    ApiTokens.load({ log, clock, random }),
    Settings.load({
      ...{ log, models, home },
      hidden: (names) => secrets.know("hidden variables", hiddenValues(env, names)),
    }),
  ]);
  if (isFault(token)) return token;
  if (isFault(instance)) return instance;
  secrets.know("token", [token]);
  const redact = (text: string): string =>
    models.redact(text.replaceAll(token, "[token]").replaceAll(apiToken, "[token]"));
  const line = logLines({ level: parseLevel(env.VARVE_LOG), clock, write: options.writeLog, redact });
  const unreadable = (keyId: string, why: string): void => line("warn", "credential-unusable", { keyId, why });
  const holder = new KeyHolder({
    path: join(home, "key"),
    ...{ random, clock, wish: keyRingWish(env.VARVE_KEYRING) },
    ring: options.keyRing ?? (async () => null),
    told: (event, facts) => line(event === "key-file-was-open" ? "warn" : "info", event, facts),
    known: (secret) => secrets.know("key", [secret]),
  });
  const credentials = await Credentials.load({ log, models, clock, random, holder, unreadable });
  const makeId = uuidV7Maker(clock.now, random);
  const boot = makeId();
  const operations = nodeOperations({ clock, spillRoot: outputFolder(home) });
  const builtIn = createToolBox(operations, { privateHosts: () => settings.fetchPrivateHosts });
  const tools = options.toolSource?.(builtIn) ?? builtIn;
  const directories = directoriesOf({ userHome: options.userHome, home });
  const ids = idMaker(makeId);
  const permissions = permissionFiles(home, (problem) => line("warn", "permission-rules", { problem }));
  const workspace = await workspaceOn(log, options, {
    ...{ ids, boot, models, tools, line, settings, directories, secrets, permissions },
  });
  const { proxies, names, publicUrl, networkNames } = address;
  const proofKey = newSecret(random);
  secrets.know("proof key", [proofKey]);
  const codes = new SignInCodes({ clock, random });
  const gate: GatePorts = { token, devices, tokens, cookieName: `varve-${instance}`, names, proxies };
  const { webRoot, version, build } = options;
  const doors = openDoors({
    ...{ workspace, models, gate, codes, credentials, settings, directories, clock, webRoot, version, build, boot },
    ...{ proofKey, publicUrl, networkNames, blobs: log.blobs, userHome: options.userHome, log: line },
    ...{ sandbox: operations.sandbox, images: operations.images, permissions },
  });
  return { token, boot, proofKey, publicUrl, line, codes, gate, operations, tools, workspace, doors };
}

interface Surroundings {
  readonly ids: IdMaker;
  readonly boot: string;
  readonly models: ModelRegistry;
  readonly tools: ToolBox;
  readonly line: LogLine;
  readonly secrets: KnownSecrets;
  readonly settings: Settings;
  readonly directories: ReturnType<typeof directoriesOf>;
  readonly permissions: PermissionFiles;
}

function workspaceOn(log: Log, options: StartOptions, parts: Surroundings): Promise<LiveWorkspace> {
  const { home, clock, env, random } = options;
  const { line, settings, directories, permissions, ...rest } = parts;
  return createWorkspace({
    ...rest,
    log,
    clock,
    random,
    giveWay: () => new Promise((resolve) => setImmediate(resolve)),
    context: cleanContext(nodeContextOperations({ clock, shell: env.SHELL }), rest.secrets),
    hiddenEnv: () => settings.hiddenEnv,
    decide,
    shell: commandShell(),
    rules: permissions.rules,
    keepRules: permissions.keep,
    home,
    defaultModel: () => settings.modelForNewTab(),
    limits: {
      dayMoneyMax: () => settings.dayMoneyMax,
      setDayMoneyMax: (max) => settings.change({ dayMoneyMax: max }),
      stepsMax: () => settings.defaultStepsMax,
    },
    facts: factsByName(rest.models, () => settings.priceOverrides),
    directory: directories.workplace,
    added: directories.added,
    broke: (error, tab, turn) => line("error", "turn-broke", { error, tab, turn }),
  });
}
