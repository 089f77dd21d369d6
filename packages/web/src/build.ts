declare const __VARVE_BUILD__: string | undefined;

/** Which build this page is; undefined in development, where any server will do. */
export const pageBuild: string | undefined = typeof __VARVE_BUILD__ === "string" ? __VARVE_BUILD__ : undefined;
