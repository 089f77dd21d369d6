/** HTML to Markdown by libraries that load at first use: most servers never fetch a page. */
import { toolLimits } from "./limits.ts";

/** Null when the page could not be converted; the caller then gives it as it is. */
export async function htmlToMarkdown(html: string): Promise<string | null> {
  if (html.length > toolLimits.htmlBytesMax) return null;
  const [{ parseHTML }, { Readability }, { default: Turndown }] = await Promise.all([
    import("linkedom"),
    import("@mozilla/readability"),
    import("turndown"),
  ]);
  try {
    const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
    turndown.remove(["script", "style", "noscript", "iframe", "object"]);
    const { document } = parseHTML(html);
    const title = document.title?.trim() ?? "";
    const article = new Readability(parseHTML(html).document).parse();
    const body = article?.content ?? document.body?.innerHTML ?? html;
    const markdown = turndown.turndown(body).trim();
    const heading = article?.title?.trim() || title;
    return heading === "" ? markdown : `# ${heading}\n\n${markdown}`;
  } catch {
    // Hostile nesting overflows the parsers' stack; the page itself is still worth showing.
    return null;
  }
}
