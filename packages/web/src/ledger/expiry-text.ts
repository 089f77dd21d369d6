/** The time that a cache entry has left, as a clock that counts down. Null where nothing is known of an entry. */
export function expiryText(
  until: number | null,
  now: number,
): { readonly gone: boolean; readonly text: string; readonly short: string } | null {
  if (until === null) return null;
  const seconds = Math.ceil((until - now) / 1000);
  if (seconds <= 0) return { gone: true, text: "cache expired", short: "expired" };
  const left = clockText(seconds);
  return { gone: false, text: `cache expires in ${left}`, short: `expires ${left}` };
}

export function clockText(seconds: number): string {
  const two = (n: number): string => String(n).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
