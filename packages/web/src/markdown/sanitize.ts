/**
 * The second wall against hostile text: only these tags and attributes reach the page, whatever the renderer made.
 * No form, frame, script, style or image is on the list, and no attribute that runs code or loads anything.
 */
import DOMPurify from "dompurify";

const TAGS = [
  ..."p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong del a span div".split(" "),
  ..."table thead tbody tr th td".split(" "),
];
const ATTRIBUTES = ["href", "target", "rel", "title", "class", "align", "start", "data-language"];
const ADDRESS = /^(?:https?|mailto):/i;

export function sanitize(html: string): string {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOWED_URI_REGEXP: ADDRESS,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    // The address pattern is tried on every attribute but these, which name no address.
    ADD_URI_SAFE_ATTR: ATTRIBUTES.filter((name) => name !== "href"),
  });
}
