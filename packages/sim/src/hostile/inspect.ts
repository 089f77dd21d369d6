/** What of a page's content is more than text, and what a script in the page could do. */
import type { Page } from "playwright-core";

/** Forms of the page's own, and pictures that a person attached. */
const own =
  "[data-testid=composer], form:is([data-testid=permission-prompt] *, [data-testid=ask-prompt]), .pictures img";

export interface Findings {
  readonly ran: boolean;
  readonly elements: readonly string[];
  readonly attributes: readonly string[];
  /** Links of another scheme than http, https and mail, beside the page's own. */
  readonly badLinks: readonly string[];
  /** Links to elsewhere that hand on where they were clicked, or open in the page. */
  readonly looseLinks: readonly string[];
  readonly cookies: string;
}

export const harmless: Findings = {
  ran: false,
  elements: [],
  attributes: [],
  badLinks: [],
  looseLinks: [],
  cookies: "",
};

export function inspect(page: Page): Promise<Findings> {
  return page.evaluate((ours) => {
    const foreign =
      "script, iframe, frame, object, embed, form, img, picture, source, video, audio, link, meta, style, math, base, portal, template, foreignObject, image, use";
    const elements = [...document.querySelectorAll(`body :is(${foreign})`)].filter((one) => !one.matches(ours));
    const attributes = [...document.querySelectorAll("body *")].flatMap((element) =>
      element
        .getAttributeNames()
        .filter((name) => /^on|^(srcdoc|srcset|ping|formaction|background|poster)$/.test(name))
        .map((name) => `${name} of ${element.outerHTML.slice(0, 200)}`),
    );
    const styled = [...document.querySelectorAll("[data-testid=assistant-text] [style]")];
    const links = [...document.querySelectorAll("a[href]")];
    const hrefOf = (link: Element): string => link.getAttribute("href") ?? "";
    const outward = links.filter((link) => /^(https?:|mailto:)/.test(hrefOf(link)));
    return {
      ran: "P" in window,
      elements: elements.map((element) => element.outerHTML.slice(0, 300)),
      attributes: [...attributes, ...styled.map((element) => element.outerHTML.slice(0, 200))],
      badLinks: links.map(hrefOf).filter((href) => !/^(#|https?:\/\/|mailto:|blob:)/.test(href)),
      looseLinks: outward
        .filter((link) => !/\bnoopener noreferrer\b/.test(link.getAttribute("rel") ?? ""))
        .map((link) => link.outerHTML.slice(0, 300)),
      cookies: document.cookie,
    };
  }, own);
}
