/** JSON as a type. Rows hold only such values, so that their text is the same whoever writes it. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}
