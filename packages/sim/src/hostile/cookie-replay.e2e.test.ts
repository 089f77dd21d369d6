/** Cookies ignore ports: every server on this host is sent the page's cookie. What a thief has with it, and it alone, is nothing. */
import { createServer, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchBrowser, type Visit, visit } from "../e2e/browser.ts";
import { Product } from "../e2e/product.ts";
import { TabPage } from "../e2e/tab-page.ts";
import { converse, messageFrame } from "../fuzz/connection.ts";

interface Thief extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`: the product's own name, another port. */
  readonly url: string;
  /** Cookies that browsers brought along. */
  readonly cookies: readonly string[];
}

/** A program on the same machine that is only there to be visited. */
async function startThief(): Promise<Thief> {
  const cookies: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    if (request.headers.cookie !== undefined) cookies.push(request.headers.cookie);
    response.writeHead(200, { "content-type": "text/html" }).end("<title>A harmless page</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const close = (): Promise<void> => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${port}`, cookies, [Symbol.asyncDispose]: close };
}

let product: Product;
let thief: Thief;
let browser: Awaited<ReturnType<typeof launchBrowser>>;
let visitor: Visit;
let cookie: string;
beforeAll(async () => {
  product = await Product.start();
  thief = await startThief();
  browser = await launchBrowser();
  visitor = await visit(browser, product.url);
  await new TabPage(visitor.page).signIn(product.link);
  // A second tab of the same browser, as one opens what an agent has just started.
  const other = await visitor.page.context().newPage();
  await other.goto(thief.url);
  await other.close();
  cookie = thief.cookies[0] ?? "";
});
afterAll(async () => {
  await visitor?.[Symbol.asyncDispose]();
  await browser?.close();
  await thief?.[Symbol.asyncDispose]();
  await product?.[Symbol.asyncDispose]();
});

test("[SIM-78] the cookie does come to another port, and no script of a page can read it", async () => {
  expect(cookie).toMatch(/^varve-[\w-]+=.{20,}$/);
  expect(await visitor.page.evaluate(() => document.cookie)).toBe("");
  const value = cookie.split("=")[1] ?? "none";
  const kept = await visitor.page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  expect(kept).not.toContain(value);
  expect(kept).not.toContain(product.api.token);
});

test("[SIM-78] replayed alone, or with any origin, it opens no route", async () => {
  const paths = await routes();
  expect(paths.length).toBeGreaterThan(30);
  const origins: readonly [string | undefined, readonly number[]][] = [
    [product.url, [401]],
    // What another page, or none, would change is refused for its origin already.
    [undefined, [401, 403]],
    [thief.url, [401, 403]],
    ["null", [401, 403]],
  ];
  const replay = async (method: string, path: string, origin: string | undefined): Promise<number> => {
    const headers = { cookie, "content-type": "application/json", ...(origin !== undefined && { origin }) };
    const body = method === "GET" || method === "DELETE" ? null : "{}";
    const response = await fetch(`${product.url}${path}`, { method, headers, body });
    await response.arrayBuffer();
    return response.status;
  };
  for (const [origin, expected] of origins) {
    const got = await Promise.all(paths.map(({ method, path }) => replay(method, path, origin)));
    for (const [index, status] of got.entries()) {
      expect(expected, `${paths[index]?.method} ${paths[index]?.path} from ${origin}`).toContain(status);
    }
  }
  expect(await product.api.tabs()).toEqual([]);
});

test.each([
  ["without a key", undefined],
  ["with a made-up key", "A".repeat(43)],
])("[SIM-78] replayed %s it gets no socket", async (_what, key) => {
  const hello = JSON.stringify({ type: "hello", v: [1], client: "thief", ...(key !== undefined && { key }) });
  const bytes = [hello, '{"type":"sub-workspace","re":1}'].map(messageFrame).join("");
  const headers = { cookie, origin: product.url };
  const { messages, code } = await converse(Number(new URL(product.url).port), { headers, bytes, over: () => false });
  expect(code).toBe(4401);
  expect(messages.map((text): unknown => Reflect.get(Object(JSON.parse(text)), "type"))).not.toContain("hello");
  expect(messages.join()).not.toContain("workspace");
});

test("[SIM-78] the page itself goes on with the same cookie and its second key", async () => {
  await visitor.page.reload();
  await new TabPage(visitor.page).at("new-tab-page").waitFor();
  expect(visitor.complaints.filter((line) => !line.includes(thief.url))).toEqual([]);
});

/** Every operation that needs somebody to be in, with its parameters filled. */
async function routes(): Promise<readonly { readonly method: string; readonly path: string }[]> {
  const { body } = await product.api.ask("GET", "/openapi.json");
  const paths: unknown = Reflect.get(Object(body), "paths");
  return Object.entries(Object(paths)).flatMap(([path, methods]) =>
    Object.entries(Object(methods)).flatMap(([method, facts]) => {
      const security: unknown = Reflect.get(Object(facts), "security");
      if (Array.isArray(security) && security.length === 0) return [];
      return [{ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, "1") }];
    }),
  );
}
