/**
 * HTML to Markdown by libraries that load at first use: most servers never fetch a page. Their work grows out of proportion
 * on hostile pages, and nothing else runs meanwhile, so it has a time after which it is given up.
 */
import { createContext, Script } from "node:vm";
import { toolLimits } from "./limits.ts";

/** Null when the page could not be converted; the caller then gives it as it is. */
export async function htmlToMarkdown(html: string): Promise<string | null> {
  if (html.length > toolLimits.htmlBytesMax || isDeep(html)) return null;
  const [{ parseHTML }, { Readability }, { default: Turndown }] = await Promise.all([
    import("linkedom"),
    import("@mozilla/readability"),
    import("turndown"),
  ]);
  const convert = (): string => {
    const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
    turndown.remove(["script", "style", "noscript", "iframe", "object"]);
    const { document } = parseHTML(html);
    const title = document.title?.trim() ?? "";
    const article = new Readability(parseHTML(html).document).parse();
    const body = article?.content ?? document.body?.innerHTML ?? html;
    const markdown = turndown.turndown(body).trim();
    const heading = article?.title?.trim() || title;
    return heading === "" ? markdown : `# ${heading}\n\n${markdown}`;
  };
  try {
    // The time limit of a script ends whatever it calls.
    const markdown: unknown = new Script("convert()").runInContext(createContext({ convert }), {
      timeout: toolLimits.htmlMs,
    });
    return typeof markdown === "string" ? markdown : null;
  } catch {
    // Too slow, or nested so that the parsers' stack overflowed: the page itself is still worth showing.
    return null;
  }
}

/** Elements that end without being closed, so that many of them say nothing about depth. */
const loose = new Set(
  "area base br col embed hr img input link meta source track wbr p li dt dd tr td th option colgroup thead tbody".split(
    " ",
  ),
);

/** Whether elements stand deeper in each other than any honest page's. */
function isDeep(html: string): boolean {
  let depth = 0;
  for (const [, close, name = ""] of html.matchAll(/<(\/?)([a-z][a-z0-9-]*)/gi)) {
    if (loose.has(name.toLowerCase())) continue;
    depth = Math.max(0, depth + (close === "/" ? -1 : 1));
    if (depth > toolLimits.htmlDepthMax) return true;
  }
  return false;
}
