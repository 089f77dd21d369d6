/**
 * `fetch`: one page from the internet. Every hop's host is resolved here, each of its addresses judged, and the request goes
 * to the judged address, so that a name can't lead into a private network between two look-ups.
 */
import { z } from "zod";
import { noSecrets, type Secrets } from "../secrets/known-secrets.ts";
import { isPublicAddress } from "./addresses.ts";
import type { ToolContext } from "./context.ts";
import { defineTool } from "./define-tool.ts";
import { htmlToMarkdown } from "./html.ts";
import { toolLimits } from "./limits.ts";
import { type HttpAnswer, WorldFault } from "./operations.ts";
import { fail, succeed, ToolFault } from "./outcome.ts";
import { OutputKeeper } from "./output-keeper.ts";
import { isNamedHost } from "./private-hosts.ts";
import type { Tool, ToolOutcome, ToolPlace, ToolRun } from "./tool.ts";

const schema = z.strictObject({ url: z.string().min(1).max(toolLimits.urlCharsMax) });

export function fetchTool(context: ToolContext): Tool {
  return defineTool({
    name: "fetch",
    schema,
    prepare: async (args, place) => {
      const url = webAddress(args.url);
      return {
        effect: "run",
        subject: { tool: "fetch", key: url.href, url: url.href },
        lock: null,
        run: (run) => fetchPage(context, { url, place, run }),
      };
    },
  });
}

function webAddress(text: string, base?: URL): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch {
    // The constructor throws on anything that is no address.
    throw new ToolFault(`"${text}" is not an address. Give a whole one, such as https://example.org/page.`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new ToolFault(`Only http and https are fetched, not ${url.protocol}`);
  }
  if (url.username !== "" || url.password !== "")
    throw new ToolFault("An address with a user name in it is not fetched.");
  url.hash = "";
  return url;
}

interface Fetching {
  readonly url: URL;
  readonly place: ToolPlace;
  readonly run: ToolRun;
}

async function fetchPage(context: ToolContext, { url, place, run }: Fetching): Promise<ToolOutcome> {
  const limit = new AbortController();
  const timer = context.operations.clock.setTimer(toolLimits.fetchMs, () => limit.abort());
  const signal = AbortSignal.any([run.signal, limit.signal]);
  try {
    return await follow(context, { url, signal, place, callId: run.callId });
  } catch (thrown) {
    if (run.signal.aborted) throw thrown;
    if (limit.signal.aborted) return fail(`${url.host} did not answer within ${toolLimits.fetchMs / 1_000} s.`);
    if (thrown instanceof WorldFault) return fail(`${url.host} could not be reached: ${netWords(thrown.code)}.`);
    throw thrown;
  } finally {
    timer.cancel();
  }
}

const netWords = (code: string): string =>
  ({
    ENOTFOUND: "the name is not known",
    EAI_AGAIN: "names can't be looked up now",
    ECONNREFUSED: "it refused the connection",
    ECONNRESET: "it closed the connection",
    ETIMEDOUT: "it did not answer",
  })[code] ?? code;

interface Hop {
  readonly url: URL;
  readonly signal: AbortSignal;
  readonly place: ToolPlace;
  readonly callId: string;
}

async function follow(context: ToolContext, hop: Hop): Promise<ToolOutcome> {
  let { url } = hop;
  const shown: string[] = [];
  for (let redirects = 0; redirects <= toolLimits.fetchRedirectsMax; redirects++) {
    const address = await judgedAddress(context, url);
    const answer = await abortable(hop.signal, context.operations.http.get({ url, address, signal: hop.signal }));
    try {
      const isRedirect = answer.status >= 300 && answer.status < 400 && answer.location !== null;
      if (!isRedirect) return await pageOutcome(context, { ...hop, url }, { answer, shown });
      const next = webAddress(answer.location ?? "", url);
      shown.push(`⟨${answer.status}: redirected to ${next.href}⟩`);
      if (next.hostname !== url.hostname) {
        const text = `${shown.join("\n")}\n⟨another host: not followed. Fetch that address if it is wanted.⟩`;
        return succeed(text, { summary: `redirect to ${next.host}`, status: answer.status, location: next.href });
      }
      url = next;
    } finally {
      answer.close();
    }
  }
  return fail(`${shown.join("\n")}\n⟨more than ${toolLimits.fetchRedirectsMax} redirects: given up⟩`);
}

/** Ends the wait also if the operation below does not heed the signal. */
function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((done, failed) => {
    const onAbort = () => failed(new WorldFault("ABORTED", "The request"));
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(done, failed).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

async function judgedAddress(context: ToolContext, url: URL): Promise<string> {
  const addresses = await context.operations.http.resolve(url.hostname);
  const [first] = addresses;
  if (first === undefined) throw new WorldFault("ENOTFOUND", url.host);
  const { privateHosts = [] } = context.options;
  const allowed = isNamedHost(url, typeof privateHosts === "function" ? privateHosts() : privateHosts);
  const closed = allowed ? undefined : addresses.find((address) => !isPublicAddress(address));
  if (closed === undefined) return first;
  throw new ToolFault(
    `${url.host} leads to ${closed}, an address of this machine or a private network. It is not fetched; ` +
      `the person can allow this host in the settings.`,
  );
}

interface Page {
  readonly answer: HttpAnswer;
  readonly shown: readonly string[];
}

async function pageOutcome(context: ToolContext, hop: Hop, { answer, shown }: Page): Promise<ToolOutcome> {
  const body = await readBody(answer, hop.signal);
  const type = (answer.contentType.split(";")[0] ?? "").trim().toLowerCase();
  const secrets = hop.place.secrets ?? noSecrets;
  const text = await pageText(body.bytes, { type, contentType: answer.contentType, secrets });
  const keeper = new OutputKeeper(() => context.operations.files.spill(hop.place.tabId, "page"));
  keeper.append(secrets.text(text ?? `⟨binary, ${type || "of unknown type"}, ${body.bytes.length} bytes⟩`));
  const failed = answer.status >= 400;
  const notes = [
    ...shown,
    ...(failed ? [`⟨HTTP ${answer.status}⟩`] : []),
    ...(body.cut ? [`⟨larger than ${toolLimits.fetchBytesMax} bytes: cut⟩`] : []),
  ];
  const bytes = keeper.spill();
  keeper.close();
  return {
    text: [...notes, keeper.text()].join("\n"),
    isError: failed,
    details: { summary: `${answer.status}, ${body.bytes.length} bytes`, status: answer.status, url: hop.url.href },
    ...(bytes === null ? {} : { spill: { bytes, mediaType: "text/markdown; charset=utf-8" } }),
  };
}

async function readBody(answer: HttpAnswer, signal: AbortSignal) {
  const blocks: Uint8Array[] = [];
  let total = 0;
  const source = answer.body[Symbol.asyncIterator]();
  for (;;) {
    const next = await abortable(signal, source.next());
    if (next.done === true) return { bytes: Buffer.concat(blocks), cut: false };
    blocks.push(next.value.subarray(0, toolLimits.fetchBytesMax - total));
    total += next.value.length;
    if (total > toolLimits.fetchBytesMax) return { bytes: Buffer.concat(blocks), cut: true };
  }
}

interface PageKind {
  readonly type: string;
  readonly contentType: string;
  readonly secrets: Secrets;
}

async function pageText(bytes: Uint8Array, { type, contentType, secrets }: PageKind): Promise<string | null> {
  const isHtml = type === "text/html" || type === "application/xhtml+xml";
  const isText = isHtml || /^text\/|json|xml|javascript|yaml|toml|^$/.test(type);
  if (!isText || bytes.subarray(0, toolLimits.binaryProbeBytes).includes(0)) return null;
  // Markdown puts backslashes before some signs of a secret, by which it would not be known any more.
  const text = secrets.text(decoded(bytes, contentType, isHtml));
  return isHtml ? ((await htmlToMarkdown(text)) ?? text) : text;
}

function decoded(bytes: Uint8Array, contentType: string, isHtml: boolean): string {
  const head = isHtml ? new TextDecoder("latin1").decode(bytes.subarray(0, 1_024)) : "";
  const label = /charset\s*=\s*["']?([\w-]+)/i.exec(contentType)?.[1] ?? /charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
  try {
    return new TextDecoder(label ?? "utf-8").decode(bytes);
  } catch {
    // A made-up name of a character set.
    return new TextDecoder("utf-8").decode(bytes);
  }
}
