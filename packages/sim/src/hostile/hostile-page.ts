/** A real browser on the real page of a running product, with a host in the world that must never be asked for anything. */
import type { Browser } from "playwright-core";
import { launchBrowser, type Visit, visit } from "../e2e/browser.ts";
import { type EvilServer, startEvilServer } from "../e2e/evil-server.ts";
import { Product, type ProductOptions } from "../e2e/product.ts";
import { TabPage } from "../e2e/tab-page.ts";

/** Whatever the page would ask this host for comes to the listening server, also by https. */
export const evilUrl = "http://evil.example";

export interface HostilePage extends AsyncDisposable {
  readonly product: Product;
  readonly evil: EvilServer;
  readonly browser: Browser;
  readonly visitor: Visit;
  readonly page: TabPage;
  /** Of the page's own answer. */
  readonly policy: string;
}

export async function openHostilePage(options: ProductOptions): Promise<HostilePage> {
  const opened: (() => PromiseLike<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of opened.splice(0).reverse()) await end();
  };
  try {
    const evil = await startEvilServer();
    opened.push(() => evil[Symbol.asyncDispose]());
    const product = await Product.start(options);
    opened.push(() => product[Symbol.asyncDispose]());
    const browser = await launchBrowser([`--host-resolver-rules=MAP evil.example 127.0.0.1:${new URL(evil.url).port}`]);
    opened.push(() => browser.close());
    const visitor = await visit(browser, product.url);
    const page = new TabPage(visitor.page);
    const policy = (await visitor.page.goto(product.url))?.headers()["content-security-policy"] ?? "";
    await page.signIn(product.link);
    return { product, evil, browser, visitor, page, policy, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}
