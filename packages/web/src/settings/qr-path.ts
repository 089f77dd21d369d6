/** The dark squares of a QR code as one path of an SVG, a run of squares as one piece. */
export function qrPath(rows: readonly (readonly boolean[])[]): string {
  const pieces: string[] = [];
  for (const [y, row] of rows.entries()) {
    let from = -1;
    for (let x = 0; x <= row.length; x++) {
      const dark = row[x] === true;
      if (dark && from === -1) from = x;
      if (dark || from === -1) continue;
      pieces.push(`M${from} ${y}h${x - from}v1H${from}z`);
      from = -1;
    }
  }
  return pieces.join("");
}
