/** The one-time code in a sign-in link, or the text itself when it is no link. */
export function codeFrom(codeOrLink: string): string {
  const text = codeOrLink.trim();
  const match = /[#&]code=([^&]+)/.exec(text);
  if (match?.[1] === undefined) return text;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return match[1]; // A broken escape: the server will not know this code, and the page says so.
  }
}
