import { createSyncClient } from "@varve/client";
import { browserClock, browserPorts, probeOnWake } from "@varve/client/browser";
import { uuidV7Maker } from "@varve/protocol";
import { mount } from "svelte";
import { Api } from "./api/api.ts";
import { FetchHttp } from "./api/fetch-http.ts";
import { indexedDbKeyStore } from "./api/key-store.ts";
import { pageBuild } from "./build.ts";
import Shell from "./shell/app.svelte";
import { Access } from "./state/access.svelte.ts";
import { codeFrom } from "./state/access-code.ts";
import { App, type AppPorts } from "./state/app.svelte.ts";
import { Drafts, type TextStore } from "./state/drafts.ts";
import { Router } from "./state/route.svelte.ts";
import { Senders } from "./state/senders.ts";
import { Reloads } from "./state/stale-page.ts";
import { TypedFields } from "./state/typed-fields.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/prose.css";

/** Storage may be forbidden as a whole: then drafts live as long as the page. */
function storedTexts(which: "localStorage" | "sessionStorage"): TextStore | null {
  try {
    return window[which];
  } catch {
    return null; // The browser's settings forbid storage.
  }
}

/** The code of a sign-in link leaves the address at once: it must not stand in the history or be shared by accident. */
function takeCode(): string | null {
  if (!location.hash.includes("code=")) return null;
  const code = codeFrom(location.hash);
  history.replaceState(null, "", `${location.pathname}${location.search}`);
  return code;
}

function realPorts(): AppPorts {
  const senders = new Senders(storedTexts("localStorage"));
  const typed = new TypedFields(document);
  const api = new Api(new FetchHttp(() => access.key));
  const access: Access = new Access(api, indexedDbKeyStore(window.indexedDB));
  return {
    api,
    access,
    router: new Router(window),
    drafts: new Drafts(storedTexts("localStorage")),
    clock: browserClock,
    newId: uuidV7Maker(browserClock.now, (into) => crypto.getRandomValues(into)),
    senders,
    connect: (key) => {
      const client = browserPorts({ key, build: pageBuild });
      senders.remember(client.identity.client);
      const sync = createSyncClient(client);
      probeOnWake(() => sync.probe());
      return sync;
    },
    reload: () => location.reload(),
    reloads: new Reloads(storedTexts("sessionStorage"), pageBuild ?? ""),
    typing: () => typed.any,
  };
}

async function start(target: Element): Promise<void> {
  const code = takeCode();
  // The stand-in server is for looking at the page while it is made; builds for people do not contain it.
  const ports =
    import.meta.env.DEV && location.search.includes("fake") ? (await import("./dev/fake.ts")).fakePorts() : realPorts();
  const app = new App(ports);
  mount(Shell, { target, props: { app } });
  // A link that is entered while the page stands open changes only the fragment: the browser loads nothing anew.
  window.addEventListener("hashchange", () => {
    const entered = takeCode();
    if (entered !== null) void app.signIn(entered);
  });
  await app.start(code);
}

const target = document.getElementById("app");
if (target) void start(target);
