/** Plain columns for a terminal. */

/** Texts to the left, figures to the right; columns as wide as their widest cell, two spaces apart. */
export function table(rows: readonly (readonly string[])[], aligned: readonly ("left" | "right")[]): string {
  const widths = aligned.map((_, column) => Math.max(0, ...rows.map((row) => [...(row[column] ?? "")].length)));
  const cell = (text: string, column: number): string => {
    const space = " ".repeat(Math.max(0, (widths[column] ?? 0) - [...text].length));
    return aligned[column] === "right" ? space + text : text + space;
  };
  return rows.map((row) => `${row.map(cell).join("  ").trimEnd()}\n`).join("");
}

/** Without what a terminal would obey: a file's own words are shown, never carried out. */
export const printable = (text: string): string => text.replace(/\p{Cc}|\p{Cf}|\p{Surrogate}/gu, "\u{fffd}");

/** The same for JSON, which stays what it says: such characters are written as escapes. */
export const printableJson = (value: unknown): string =>
  JSON.stringify(value).replace(/\p{Cc}|\p{Cf}/gu, (sign) =>
    Array.from({ length: sign.length }, (_, at) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
