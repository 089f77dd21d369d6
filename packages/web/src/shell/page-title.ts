/** The title of the browser's window: says from afar that something waits for the person. */
export function pageTitle(tabTitle: string | undefined, waiting: number): string {
  const name = tabTitle === undefined || tabTitle === "" ? "Varve" : `${tabTitle} · Varve`;
  return waiting === 0 ? name : `(${waiting}) ${name}`;
}
