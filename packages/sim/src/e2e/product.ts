/** A running Varve on a home of its own, which a test may kill and start again. */
import { mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FakeProvider } from "../provider/fake-provider.ts";
import { Api } from "./api.ts";
import { type Child, type Exit, runVarve, startChild } from "./child.ts";
import { within } from "./within.ts";

/** A server that was asked to end has this long before it is killed. */
const endMs = 15_000;

export interface ProductOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Models of every vendor come from here. Without it there is only the demo model. */
  readonly provider?: FakeProvider;
}

export const testKey = "test-key-0123456789";

/** The environment in which every vendor is the fake one. */
export const providerEnv = ({ url }: Pick<FakeProvider, "url">): Readonly<Record<string, string>> => ({
  ANTHROPIC_API_KEY: testKey,
  ANTHROPIC_BASE_URL: url,
  OPENAI_API_KEY: testKey,
  OPENAI_BASE_URL: `${url}/v1`,
  GOOGLE_GENERATIVE_AI_API_KEY: testKey,
  GOOGLE_GENERATIVE_AI_BASE_URL: `${url}/v1beta`,
  DEEPSEEK_API_KEY: testKey,
  DEEPSEEK_BASE_URL: url,
  OPENROUTER_API_KEY: testKey,
  OPENROUTER_BASE_URL: `${url}/api/v1`,
  OPENAI_COMPATIBLE_API_KEY: testKey,
  OPENAI_COMPATIBLE_BASE_URL: `${url}/v1`,
});

export class Product implements AsyncDisposable {
  /** All state of the server: `VARVE_HOME`. */
  readonly home: string;
  readonly #root: string;
  readonly #options: ProductOptions;
  #child: Child | null = null;
  #url = "";
  #link = "";
  #api: Api | null = null;

  private constructor(root: string, options: ProductOptions) {
    this.#root = root;
    this.home = join(root, "state");
    this.#options = options;
  }

  static async start(options: ProductOptions = {}): Promise<Product> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "varve-e2e-")));
    await mkdir(join(root, "user"));
    const product = new Product(root, options);
    try {
      await product.#boot("0");
    } catch (error) {
      await product[Symbol.asyncDispose]();
      throw error;
    }
    return product;
  }

  /** `http://127.0.0.1:<port>`; the same after a restart. */
  get url(): string {
    return this.#url;
  }
  /** The one-time sign-in link of the last start. */
  get link(): string {
    return this.#link;
  }
  get pid(): number {
    return this.#running().pid;
  }
  get api(): Api {
    if (this.#api === null) throw new Error("the product was never ready");
    return this.#api;
  }
  /** Log lines of the running process. */
  get lines(): string {
    return this.#running().err();
  }

  /** Resolves when the process is gone. Nothing of it had a chance to end well. */
  async kill(): Promise<Exit> {
    const child = this.#running();
    child.signal("SIGKILL");
    const exit = await child.exited;
    this.#child = null;
    return exit;
  }

  /** The same home and the same port; `program`: by another build of the product. */
  async restart(program?: string): Promise<void> {
    await this.#boot(new URL(this.#url).port, program);
  }

  /** Begins a start on the same home and the same port, and leaves it to the test. */
  beginRestart(): Child {
    this.#child = startChild({ args: this.#args(new URL(this.#url).port), env: this.env() });
    return this.#child;
  }

  /** Asks it to end, as Ctrl-C does. */
  async stop(name: NodeJS.Signals = "SIGTERM"): Promise<Exit> {
    const child = this.#running();
    child.signal(name);
    const exit = await within("the server ends after SIGTERM", child.exited, endMs).catch(() => this.kill());
    this.#child = null;
    return exit;
  }

  /** A command beside the running server, on the same home. */
  cli(...args: readonly string[]): ReturnType<typeof runVarve> {
    return runVarve({ args, env: this.env(), cwd: this.#root });
  }

  /** A command that does not end by itself. The test ends it. */
  startCli(...args: readonly string[]): Child {
    return startChild({ args, env: this.env(), cwd: this.#root });
  }

  env(): Readonly<Record<string, string>> {
    const { provider, env } = this.#options;
    const user = join(this.#root, "user");
    return { HOME: user, VARVE_HOME: this.home, ...(provider && providerEnv(provider)), ...env };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child !== null) await this.stop();
    await rm(this.#root, { recursive: true, force: true, maxRetries: 3 });
  }

  #args(port: string): readonly string[] {
    return ["--port", port, "--no-open", ...(this.#options.args ?? [])];
  }

  #running(): Child {
    if (this.#child === null) throw new Error("no server runs on this home");
    return this.#child;
  }

  async #boot(port: string, program?: string): Promise<void> {
    const child = startChild({ args: this.#args(port), env: this.env(), ...(program !== undefined && { program }) });
    this.#child = child;
    void child.exited.then(() => {
      if (this.#child === child) this.#child = null;
    });
    const [, url = ""] = await within("the address is printed", child.says(/^Varve listening on (\S+)$/m));
    const [, link = ""] = await within("the link is printed", child.says(/^Sign in: (\S+)$/m));
    this.#url = url;
    this.#link = link;
    const given = this.#options.env?.VARVE_TOKEN;
    this.#api = new Api(url, given ?? (await readFile(join(this.home, "token"), "utf8")).trim());
  }
}
