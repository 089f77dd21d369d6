import { parseRoute, type Route, routeFragment } from "./route.ts";

/** The part of a browser window that routing needs. */
export interface Place {
  readonly location: { hash: string };
  addEventListener(type: "hashchange", listener: () => void): void;
}

export class Router {
  route: Route = $state.raw({ view: "home" });
  readonly #place: Place;

  constructor(place: Place) {
    this.#place = place;
    this.route = parseRoute(place.location.hash);
    place.addEventListener("hashchange", () => {
      this.route = parseRoute(place.location.hash);
    });
  }

  go(route: Route): void {
    this.#place.location.hash = routeFragment(route);
    this.route = route;
  }
}
