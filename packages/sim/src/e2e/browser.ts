/** A real browser on the real page: every visit notes what must never happen on it. */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";

const launchArguments = [
  "--no-sandbox",
  "--disable-gpu",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
];

/** What a page waits for at most. The machine that runs the tests may be busy with other things. */
const patienceMs = 30_000;

export const desktop = { viewport: { width: 1440, height: 900 } } as const;
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true } as const;

/** `more`: further arguments of its command line. */
export const launchBrowser = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [...launchArguments, ...more],
  });

export interface Visit extends AsyncDisposable {
  readonly page: Page;
  /** Errors of the page, breaches of its policy, and requests to any other host than the server's. */
  readonly complaints: readonly string[];
}

type ContextOptions = NonNullable<Parameters<Browser["newContext"]>[0]>;

/** A browser of its own, as far as cookies and storage go. `own`: the server's address. */
export async function visit(browser: Browser, own: string, options: ContextOptions = desktop): Promise<Visit> {
  const context = await browser.newContext({ ...options, reducedMotion: "reduce" });
  context.setDefaultTimeout(patienceMs);
  const complaints: string[] = [];
  watchRequests(context, own, complaints);
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(`page error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" && !isNetworkNews(message.text())) complaints.push(`console: ${message.text()}`);
  });
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== new URL(own).host) complaints.push(`socket to ${socket.url()}`);
  });
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

function watchRequests(context: BrowserContext, own: string, complaints: string[]): void {
  context.on("request", (request) => {
    const url = new URL(request.url());
    const inside = url.protocol === "blob:" || url.protocol === "data:";
    if (!inside && url.origin !== own) complaints.push(`request to ${url.href}`);
  });
}

/**
 * The browser reports every refused answer and every lost connection by itself, and that it heeds no isolation header on plain
 * http in a network; all of them belong to what is tested.
 */
const isNetworkNews = (text: string): boolean =>
  text.startsWith("Failed to load resource:") ||
  /^WebSocket connection to '[^']*' failed/.test(text) ||
  text.startsWith("The Cross-Origin-Opener-Policy header has been ignored");

/** A picture for a person to look at, where one asks for them by a folder in `SHOTS_FOLDER`. */
export async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env.SHOTS_FOLDER;
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` });
}
