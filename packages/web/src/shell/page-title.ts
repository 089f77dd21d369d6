import { visibleName } from "../tools/visible-text.ts";

/** The title of the browser's window: says from afar that something waits for the person. */
export function pageTitle(tabTitle: string | undefined, waiting: number): string {
  const name = tabTitle === undefined || tabTitle === "" ? "Varve" : `${visibleName(tabTitle)} · Varve`;
  return waiting === 0 ? name : `(${waiting}) ${name}`;
}
