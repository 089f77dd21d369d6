/** Questions, rules, reach, devices and tokens in a real browser with the stand-in server inside. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DevPage } from "../testing/dev-page.ts";

let site: DevPage;
beforeAll(async () => {
  site = await DevPage.start();
});
afterAll(async () => {
  await site?.[Symbol.asyncDispose]();
});

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };
const COMMAND = "git status --short && bash scripts/release.sh --dry-run 2>&1 | tee release.log";

async function openSettings(page: Page, part: "devices"): Promise<void> {
  await page.getByTestId("open-settings").click();
  await page.getByTestId(`settings-${part}`).click();
}
/** What lies outside the window, and what is too small for a thumb, in the open dialog or the card. */
const misplaced = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("dialog *, [data-testid=permission-prompt] *")]
      .filter((element) => element.checkVisibility() && element.closest(".hidden-text") === null)
      .map((element) => [element.getBoundingClientRect(), element] as const)
      .filter(([box, element]) => {
        const small = element.matches("button, select, input:not([type=checkbox], [type=radio])") && box.height < 44;
        return box.width > 0 && (small || box.right > window.innerWidth || box.left < 0);
      })
      .map(([box, element]) => `${Math.round(box.right)}, ${box.height}: ${element.outerHTML.slice(0, 100)}`),
  );

describe("a question", () => {
  test("says what of the command is not allowed yet, and chosen rules hold for the project", async () => {
    await using opened = await site.open("#/tab/asks");
    const { page } = opened;
    expect(await page.getByTestId("permission-command").textContent()).toBe(COMMAND);
    const parts = await page.getByTestId("permission-part").all();
    const asks = await Promise.all(parts.map((part) => part.getAttribute("data-asks")));
    expect(asks).toEqual(["false", "true", "true"]);
    const offers = page.getByTestId("permission-offer");
    await offers.nth(0).focus();
    await page.keyboard.press("Space");
    await offers.nth(1).uncheck();
    expect(await page.getByTestId("allow-tab").isDisabled()).toBe(true);
    await offers.nth(1).check();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.getByTestId("permission-answered").textContent()).toBe(
      "Allowed in this project from now on: bash: tee release.log",
    );
    expect(opened.complaints).toEqual([]);
  });

  test("marks characters that hide or mislead, wherever it shows the text", async () => {
    await using opened = await site.open("#/tab/disguised");
    const { page } = opened;
    expect(await page.getByTestId("permission-command").textContent()).toBe("c\u0430t notes⟨U+202E⟩ && rm⟨U+00A0⟩-r x");
    expect(await page.getByTestId("permission-command").locator("mark").allTextContents()).toEqual([
      "⟨U+202E⟩",
      "⟨U+00A0⟩",
    ]);
    const warning = await page.getByTestId("permission-disguised").textContent();
    expect(warning).toContain("2 characters");
    expect(warning).toContain("U+0430");
    expect(await page.getByTestId("permission-offers").count()).toBe(0);
    expect(await page.getByTestId("allow-project").count()).toBe(0);
    const raw = await page.evaluate(() =>
      /[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent + document.title),
    );
    expect(raw).toBe(false);
    await page.getByTestId("allow-tab").click();
    expect(await page.getByTestId("permission-answered").textContent()).toBe("Allowed in this tab, exactly this.");
  });
});

test("a card that does not come is missed in words, and typed text refuses the call still", async () => {
  await using opened = await site.open("#/tab/main");
  const { page } = opened;
  await page.route(/permission-card/, (route) => route.abort());
  await page.getByTestId("tab-row").filter({ hasText: "Set up the release script" }).click();
  await page.getByTestId("permission-missing").waitFor();
  await page.getByTestId("message-field").fill("not now");
  await page.getByTestId("message-field").press("Enter");
  expect(await page.getByTestId("permission-answered").textContent()).toBe("Denied: not now");
});

describe("a tab that is more open than it seems", () => {
  test("says so at its head, and its rules and questions can be read and taken back", async () => {
    await using opened = await site.open("no-sandbox#/tab/open");
    const { page } = opened;
    await page.getByTestId("badge-unattended").click();
    await page.getByTestId("permission-entry").nth(29).waitFor();
    await page.getByTestId("older-permissions").click();
    await page.getByTestId("permission-entry").nth(59).waitFor();
    const project = page.getByTestId("rules-project").getByTestId("rule");
    expect(await project.count()).toBe(2);
    await project.first().getByTestId("remove-rule").click();
    await project.first().getByTestId("remove-rule").click();
    await expect.poll(() => project.count()).toBe(1);
    const granted = page.getByTestId("rules-tab").getByTestId("remove-rule");
    await granted.click();
    await granted.click();
    await expect.poll(() => granted.count()).toBe(0);
    expect(await page.getByTestId("permission-log").textContent()).toContain("from the program “nightly”");
    expect(opened.complaints).toEqual([]);
  });

  test("has its sandbox, network and directories in one place; what the server refuses is said beside it", async () => {
    await using opened = await site.open("no-sandbox#/tab/open");
    const { page } = opened;
    await page.getByTestId("badge-unsandboxed").click();
    await page.getByTestId("sandbox-machine").getByText("bwrap is not installed").waitFor();
    await page.getByTestId("sandbox-required").check();
    await page.getByTestId("badge-unsandboxed").getByText("no sandbox").waitFor({ state: "attached" });
    await page.getByTestId("network-field").fill("*.example.org");
    await page.getByTestId("network-add").click();
    await expect.poll(() => page.getByTestId("network-item").allTextContents()).toHaveLength(2);
    await page.getByTestId("directories-remove").click();
    await expect.poll(() => page.getByTestId("directories-item").count()).toBe(0);
    await page.getByTestId("directories-field").fill("/");
    await page.getByTestId("directories-add").click();
    await page.getByTestId("directories-error").waitFor();
    expect(await page.getByTestId("directories-field").inputValue()).toBe("/");
    await page.getByTestId("sandbox-off").check();
    await page.getByTestId("badge-unsandboxed").waitFor({ state: "detached" });
    expect(opened.complaints).toEqual([]);
  });
});

describe("devices and tokens", () => {
  test("a link for another device has a QR code, its end, and an address to choose; lists of all tabs are beside it", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await openSettings(page, "devices");
    await page.getByTestId("make-link").click();
    await page.getByTestId("qr-code").waitFor();
    expect(await page.getByTestId("qr-code").locator("path").getAttribute("d")).toMatch(/^M3 3h7v1H3z/);
    expect(await page.getByTestId("link-left").textContent()).toContain("within 15 minutes");
    await page.getByTestId("link-address").selectOption({ label: "varve.example" });
    await page.getByTestId("device-link-address").getByText("https://varve.example/#code=").waitFor();
    await page.getByTestId("settings-reach").click();
    await page.getByTestId("private-hosts-field").fill("localhost:5173");
    await page.getByTestId("private-hosts-field").press("Enter");
    await page.getByTestId("private-hosts-item").getByText("localhost:5173").waitFor();
    await page.getByTestId("hidden-env-remove").first().click();
    await expect.poll(() => page.getByTestId("hidden-env-item").count()).toBe(1);
    expect(opened.complaints).toEqual([]);
  });

  test("a server that no phone can reach says so in place of the code", async () => {
    await using opened = await site.open("alone#/tab/main");
    const { page } = opened;
    await openSettings(page, "devices");
    await page.getByTestId("make-link").click();
    await page.getByTestId("loopback-note").waitFor();
    expect(await page.getByTestId("qr-code").count()).toBe(0);
  });

  test("a device is renamed and signed out, a token's secret is shown once and revoked", async () => {
    await using opened = await site.open("#/tab/main");
    const { page } = opened;
    await openSettings(page, "devices");
    const devices = page.getByTestId("device");
    await devices.nth(1).getByTestId("rename-device").click();
    await page.getByTestId("device-name").fill("My phone");
    await page.getByTestId("device-name-save").click();
    await devices.getByText("My phone").waitFor();
    await devices.nth(1).getByTestId("sign-out-device").click();
    await devices.nth(1).getByTestId("sign-out-device").click();
    await expect.poll(() => devices.count()).toBe(2);
    await page.getByTestId("token-name").fill("nightly");
    await page.getByTestId("token-make").click();
    await page.getByTestId("error-note").getByText("There is a token of this name.").waitFor();
    await page.getByTestId("token-name").fill("ci");
    await page.getByTestId("token-make").click();
    expect(await page.getByTestId("token-secret").textContent()).toMatch(/^varve_/);
    await page.getByTestId("token-done").click();
    expect(await page.getByTestId("token-secret").count()).toBe(0);
    const tokens = page.getByTestId("token");
    expect(await tokens.count()).toBe(2);
    await tokens.nth(1).getByTestId("revoke-token").click();
    await tokens.nth(1).getByTestId("revoke-token").click();
    await expect.poll(() => tokens.count()).toBe(1);
    expect(opened.complaints).toEqual([]);
  });
});

test("on a phone the card, both parts of the inspector and the settings fit and are large enough", async () => {
  await using opened = await site.open("no-sandbox#/tab/open", phone);
  const { page } = opened;
  await page.getByTestId("permission-prompt").waitFor();
  expect(await misplaced(page)).toEqual([]);
  await page.getByTestId("badge-unattended").click();
  await page.getByTestId("permission-entry").first().waitFor();
  expect(await misplaced(page)).toEqual([]);
  await page.getByTestId("panel-reach").click();
  await page.getByTestId("reach-part").waitFor();
  expect(await misplaced(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await page.getByTestId("open-drawer").click();
  await openSettings(page, "devices");
  await page.getByTestId("make-link").click();
  await page.getByTestId("qr-code").waitFor();
  expect(await misplaced(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
});
