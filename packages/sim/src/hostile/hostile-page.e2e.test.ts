/** H20: more than sixty texts that would like to be more than text, in every place of the real page that shows one. */
import { mkdir, writeFile } from "node:fs/promises";
import type { TabId } from "@varve/protocol";
import { attachmentSchema } from "@varve/protocol/schema";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { shot } from "../e2e/browser.ts";
import { Follower } from "../e2e/follower.ts";
import { makeProject, type Project } from "../project.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import { attacks as attacksOn, bombs } from "./attacks.ts";
import { batch, fileName, hostileModel, shownAtOnce } from "./hostile-model.ts";
import { evilUrl, type HostilePage, openHostilePage } from "./hostile-page.ts";
import { harmless, inspect } from "./inspect.ts";

const attacks = attacksOn(evilUrl);
const starts = attacks.map((_attack, index) => index).filter((index) => index % batch === 0);
/** Ids that a list of models may hold. */
const modelNames = attacks.map(({ text }) => text.replaceAll("\0", "").slice(0, 120));
const model = "anthropic/claude-test";

let project: Project;
let provider: FakeProvider;
let hostile: HostilePage;
beforeAll(async () => {
  project = await makeProject("empty");
  for (const [index, attack] of attacks.entries()) await writeFile(project.path(fileName(attack, index)), attack.text);
  provider = await createFakeProvider({
    models: ["claude-test", ...modelNames],
    reply: hostileModel({ attacks, bombs }),
  });
  hostile = await openHostilePage({ provider });
});
afterAll(async () => {
  await hostile?.[Symbol.asyncDispose]();
  await provider?.close();
  await project?.remove();
});

afterEach(async ({ task }) => {
  if (task.result?.state === "fail") await shot(hostile.visitor.page, `hostile-${task.id}`);
});

/** Nothing ran, nothing was loaded, nothing is there that a text must not become. */
async function expectHarmless(): Promise<void> {
  const { visitor, evil } = hostile;
  expect(await inspect(visitor.page)).toEqual(harmless);
  expect(evil.visits).toEqual([]);
  expect(visitor.complaints).toEqual([]);
}

async function openTab(permissions: "ask" | "allow", cwd = project.dir): Promise<TabId> {
  const { id } = await hostile.product.api.newTab({ cwd, model, permissions });
  await hostile.page.goTo(id);
  return id;
}

async function answered(tab: TabId, text: string): Promise<void> {
  using follower = await Follower.on(hostile.product.api, tab);
  const { id } = await hostile.product.api.send(tab, text);
  await follower.untilAnswered(id);
}

const shown = async (testId: string): Promise<string> =>
  (await hostile.page.at(testId).allTextContents()).join("\n").replace(/\s+/g, " ");

/** Opens every card and every thought. */
async function unfoldAll(): Promise<void> {
  await hostile.visitor.page.evaluate(() => {
    const folded = ":is([data-testid=tool-card], [data-testid=thinking]) button[aria-expanded=false]";
    for (const button of document.querySelectorAll<HTMLElement>(folded)) button.click();
  });
  await hostile.page.at("tool-body").first().waitFor();
}

test("[SIM-76] the page has a policy, and the evil host would be heard if anybody called it", async () => {
  const { policy, browser, evil } = hostile;
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe|\*/);
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${evilUrl}/control`);
  await context.close();
  expect(evil.visits).toContain("/control");
  evil.forget();
});

const groups = attacks.map((_attack, index) => index).filter((index) => index % shownAtOnce === 0);
test.each(groups)(
  "[SIM-76] as an answer, a thought, the result of a tool and the name of a file, from number %d on",
  async (first) => {
    const some = attacks.slice(first, first + shownAtOnce);
    const tab = await openTab("allow");
    await answered(tab, `show ${first}`);
    await hostile.page.at("turn-foot").waitFor();
    await unfoldAll();
    await expectHarmless();
    expect(await hostile.page.at("tool-card").count()).toBe(some.length);
    const [thought, result, answer] = [
      await shown("thinking"),
      await shown("tool-body"),
      await shown("assistant-text"),
    ];
    for (const { text } of some.filter((attack) => /^<[a-z]/i.test(attack.text) && !/[\0\n]/.test(attack.text))) {
      const flat = text.replace(/\s+/g, " ");
      expect(thought).toContain(flat);
      expect(result).toContain(flat);
      if (!/[_*`\\[\]]|http|script:|&/.test(text)) expect(answer).toContain(flat);
    }
  },
);

test("[SIM-76] and the same after a reload, read from the log", async () => {
  await hostile.visitor.page.reload();
  await hostile.page.at("turn-foot").first().waitFor();
  await unfoldAll();
  await expectHarmless();
});

test("[SIM-76] as an error, a message, a waiting message and a title", async () => {
  const tab = await openTab("allow");
  for (const at of starts) await answered(tab, `fail ${at}`);
  const titles = attacks.map(({ text }) => text.replaceAll("\0", "").slice(0, 190));
  await Promise.all(titles.map((title) => hostile.product.api.newTab({ cwd: project.dir, title })));
  const gate = provider.gate();
  await hostile.product.api.send(tab, "hello");
  await gate.started;
  for (const first of groups) {
    const text = attacks.slice(first, first + shownAtOnce).map((attack) => attack.text.replaceAll("\0", ""));
    await hostile.product.api.send(tab, text.join("\n\n"), { delivery: "queue" });
  }
  await hostile.page
    .at("queue-card")
    .nth(groups.length - 1)
    .waitFor();
  await expectHarmless();
  for (const place of ["event", "queue-card", "tab-row"]) {
    const text = await shown(place);
    for (const sign of ["<script>window.P=1</script>", "<svg/onload=window.P=1>", "<embed src="]) {
      expect(text, place).toContain(sign);
    }
  }
  expect(await shown("tab-row")).toContain("⟨U+202E⟩");
  gate.release();
  await hostile.product.api.stop(tab);
});

test.each(["run", "write", "ask"])("[SIM-76] in the questions of calls that %s", async (act) => {
  const tab = await openTab("ask");
  for (const at of act === "ask" ? starts : groups) {
    await hostile.product.api.send(tab, `${act} ${at}`);
    await hostile.page
      .at(act === "ask" ? "ask-prompt" : "permission-prompt")
      .first()
      .waitFor();
    await expectHarmless();
    await hostile.product.api.stop(tab);
    await hostile.page.untilAtRest();
  }
});

test("[SIM-76] as the name of a model, an attachment and an instruction file's directory", async () => {
  const odd = project.path("<img src=x onerror=window.P=1>\u202egpj");
  await mkdir(odd);
  await writeFile(`${odd}/AGENTS.md`, "<script>window.P=1</script>");
  const tab = await openTab("allow", odd);
  const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const blob = await uploaded(Buffer.from(picture, "base64"));
  for (const at of starts.slice(0, 3)) {
    const attachments = attacks
      .slice(at, at + 4)
      .map(({ text }) =>
        attachmentSchema.parse({ blob, mediaType: "image/png", name: text.replaceAll("\0", "").slice(0, 190) }),
      );
    await hostile.product.api.send(tab, "hello", { attachments });
  }
  await hostile.page.untilAtRest();
  await hostile.page.at("meter-context").click();
  await hostile.page.at("context-part").waitFor();
  const options = hostile.page.at("model-picker").locator("option");
  expect((await options.allTextContents()).join("\n")).toContain("<svg/onload=window.P=1>");
  expect((await options.allTextContents()).join("\n")).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  expect(await shown("tab-cwd")).toContain("⟨U+202E⟩");
  await expectHarmless();
});

test.each(bombs)(
  "[SIM-77] a text that costs more to read than to write leaves the page alive: $name",
  async ({ name }) => {
    const tab = await openTab("allow");
    await answered(tab, `bomb ${bombs.findIndex((bomb) => bomb.name === name)}`);
    await hostile.page.says("The bomb has gone off.");
    expect(await hostile.visitor.page.evaluate(() => 1 + 1)).toBe(2);
    await expectHarmless();
  },
);

/** The hash under which the server keeps a picture. */
async function uploaded(bytes: Buffer): Promise<string> {
  const { api } = hostile.product;
  const headers = { authorization: `Bearer ${api.token}`, "content-type": "image/png" };
  const response = await fetch(`${api.url}/api/blobs`, { method: "POST", headers, body: new Uint8Array(bytes) });
  const body: unknown = await response.json();
  return String(Reflect.get(Object(body), "blob"));
}
