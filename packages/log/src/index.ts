export type * from "./log.ts";
