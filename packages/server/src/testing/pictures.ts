/** Real pictures, as small as their formats allow. */
const bytes = (base64: string): Buffer => Buffer.from(base64, "base64");

export const png = bytes(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAMAAAAoyzS7AAAAA1BMVEX/AAAZ4gk3AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAACklEQVQImWNgAAAAAgAB9HFkpgAAAABJRU5ErkJggg==",
);
/** 2400 × 1. */
export const widePng = bytes(
  "iVBORw0KGgoAAAANSUhEUgAACWAAAAABCAMAAABto2VwAAAAA1BMVEX/AAAZ4gk3AAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAGUlEQVRIx+3BMQEAAADCoPVPbQlPoAAAuBoJYQABIJwTdwAAAABJRU5ErkJggg==",
);
/** 2 × 1. */
export const jpeg = bytes(
  "/9j/2wBDAFA3PEY8MlBGQUZaVVBfeMiCeG5uePWvuZHI////////////////////////////////////////////////////2wBDAVVaWnhpeOuCguv/////////////////////////////////////////////////////////////////////////wAARCAABAAIDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFAEBAAAAAAAAAAAAAAAAAAAAAP/EABQRAQAAAAAAAAAAAAAAAAAAAAD/2gAMAwEAAhEDEQA/AIgAf//Z",
);
/** The same, lying on its side: its Exif says that it is to be turned. */
export const turnedJpeg = Buffer.concat([
  jpeg.subarray(0, 2),
  Buffer.from("ffe1002245786966000049492a0008000000010012010300010000000600000000000000", "hex"),
  jpeg.subarray(2),
]);
/** Two frames. */
export const movingGif = bytes(
  "R0lGODlhAgACAIAAAExpcQAAACH/C05FVFNDQVBFMi4wAwEAAAAh+QQFCgAAACwAAAAAAgACAAACAoxTACH5BAUAAAAALAAAAAACAAIAgExpccjIyAICjFMAOw==",
);
export const webp = bytes(
  "UklGRjwAAABXRUJQVlA4IDAAAADQAQCdASoCAAEAAUAmJaACdLoB+AADsAD+8ut//NgVzXPv9//S4P0uD9Lg/9KQAAA=",
);
/** Without pixels: its end is there, its middle is not. */
export const hollowPng = Buffer.concat([png.subarray(0, 33), png.subarray(-12)]);
/** Its head says 60 000 × 60 000. */
export const bombPng = Buffer.concat([png.subarray(0, 16), Buffer.from("0000ea600000ea60", "hex"), png.subarray(24)]);
