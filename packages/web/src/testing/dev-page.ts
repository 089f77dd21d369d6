/**
 * The page built as for development with the stand-in server inside, served on a loopback port under the policy that the real
 * server sends, and opened in a real browser.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { build } from "vite";

const POLICY = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'",
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join("; ");
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface OpenedPage extends AsyncDisposable {
  readonly page: Page;
  /** Errors of the page and of its policy, and addresses asked for outside the server. */
  readonly complaints: readonly string[];
}

export class DevPage implements AsyncDisposable {
  readonly #folder: string;
  readonly #server: Server;
  readonly #browser: Browser;

  private constructor(folder: string, server: Server, browser: Browser) {
    this.#folder = folder;
    this.#server = server;
    this.#browser = browser;
  }

  static async start(): Promise<DevPage> {
    const folder = await mkdtemp(join(tmpdir(), "varve-page-"));
    const root = fileURLToPath(new URL("../..", import.meta.url));
    await build({
      root,
      configFile: join(root, "vite.config.ts"),
      cacheDir: join(folder, "cache"),
      mode: "development",
      logLevel: "warn",
      build: { outDir: join(folder, "page"), emptyOutDir: true, minify: false },
    });
    const server = await serve(join(folder, "page"));
    const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
    return new DevPage(folder, server, await chromium.launch({ executablePath, args: ARGUMENTS }));
  }

  /** `place`: query and fragment, as in `demo#/tab/main`. */
  async open(place: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
    const context = await this.#browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
    const page = await context.newPage();
    const complaints: string[] = [];
    const own = this.#address();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
    });
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(own) && !url.startsWith("blob:") && !url.startsWith("data:"))
        complaints.push(`asked for ${url}`);
    });
    await page.goto(`${own}/?fake&${place}`);
    return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    this.#server.closeAllConnections();
    this.#server.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  #address(): string {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}` : "";
  }
}

function serve(folder: string): Promise<Server> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://page");
    const file = pathname === "/" ? "/index.html" : pathname;
    readFile(join(folder, file)).then(
      (bytes) => {
        const type = TYPES[extname(file)] ?? "application/octet-stream";
        response.writeHead(200, { "content-type": type, "content-security-policy": POLICY }).end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
