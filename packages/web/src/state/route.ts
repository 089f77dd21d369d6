import { parseTabId, type TabId } from "@varve/protocol";

export type Route =
  | { readonly view: "home" }
  | { readonly view: "new" }
  | { readonly view: "usage" }
  | { readonly view: "tab"; readonly id: TabId };

/** The fragment of the address as a place, so that reload and the back button work. */
export function parseRoute(fragment: string): Route {
  if (fragment === "#/new") return { view: "new" };
  if (fragment === "#/usage") return { view: "usage" };
  const id = fragment.startsWith("#/tab/") ? parseTabId(fragment.slice("#/tab/".length)) : null;
  return id === null ? { view: "home" } : { view: "tab", id };
}

export function routeFragment(route: Route): string {
  if (route.view === "tab") return `#/tab/${route.id}`;
  return route.view === "home" ? "#/" : `#/${route.view}`;
}
