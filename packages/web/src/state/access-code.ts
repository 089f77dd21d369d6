/** The one-time code in a sign-in link, or the text itself when it is no link. */
export function codeFrom(codeOrLink: string): string {
  const text = codeOrLink.trim();
  const match = /[#&]code=([^&]+)/.exec(text);
  return match?.[1] === undefined ? text : decodeURIComponent(match[1]);
}
