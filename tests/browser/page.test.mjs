// The page of `-o html` as people use it: node page.test.mjs MODULES PAGES PICTURES

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { browser, close, complaintsOf, findings, meter, open, picture, seen } from "./browser.mjs";

after(() => browser.close());

/** In milliseconds; other programs may have the machine. What is measured is work, never time. */
const PATIENCE = 300_000;

/** A test with one page, which must not complain about anything. */
function on(name, title, use, options) {
  test(title, { timeout: PATIENCE }, async () => {
    const page = await open(name, options);
    try {
      await use(page);
      assert.deepEqual(complaintsOf(page), []);
    } finally {
      await close(page);
    }
  });
}

/** Waits until a value is as expected: what a click or a key changes is drawn a moment later. */
async function becomes(value, expected, message) {
  const deadline = Date.now() + 200_000;
  let found = await value();
  while (found !== expected && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    found = await value();
  }
  assert.equal(found, expected, message);
}

const count = (page) => page.locator("#count").textContent();
const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim() || document.activeElement.id || document.activeElement.tagName);

// Each page in one view in light, and in the other one in dark.
for (const name of ["shop", "groups", "hostile", "contexts", "stopped"]) {
  for (const colorScheme of ["light", "dark"]) {
    on(name, `${name} is accessible in ${colorScheme}`, async (page) => {
      await page.keyboard.press("e");
      if (colorScheme === "dark") await page.keyboard.press("s");
      assert.deepEqual(await findings(page), []);
      await picture(page, `${name}-${colorScheme}`, true);
    }, { colorScheme });
  }
}

on("shop", "the help is accessible", async (page) => {
  await page.keyboard.press("?");
  assert.deepEqual(await findings(page), []);
  await picture(page, "help");
});

on("shop", "the page is accessible on a narrow screen", async (page) => {
  assert.deepEqual(await findings(page), []);
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 390, `nothing is wider than the screen: ${width}`);
  await picture(page, "shop-narrow", true);
}, { viewport: { width: 390, height: 800 } });

on("shop", "states, kinds, classes and managers can be chosen", async (page) => {
  await becomes(() => count(page), "14 objects");
  assert.equal((await seen(page)).length, 5);
  const state = (name) => page.getByRole("button", { name }).click();
  await state("1 to create");
  await becomes(async () => JSON.stringify(await seen(page)), JSON.stringify(["shop/banner"]));
  await state("4 to update");
  await becomes(() => count(page), "5 of 14 objects");
  await state("1 to create");
  await page.getByLabel("Kind", { exact: true }).selectOption({ label: "Deployment (2)" });
  await becomes(async () => JSON.stringify(await seen(page)), JSON.stringify(["shop/orders", "shop/web"]));
  await page.getByLabel("Manager", { exact: true }).selectOption({ label: "kubectl (1)" });
  await becomes(async () => JSON.stringify(await seen(page)), JSON.stringify(["shop/web"]));
  await page.getByRole("button", { name: "Reset" }).click();
  await page.getByLabel("Class", { exact: true }).selectOption({ label: "Objects that do not exist (1)" });
  await becomes(async () => JSON.stringify(await seen(page)), JSON.stringify(["shop/banner"]));
  await page.getByLabel("Class", { exact: true }).selectOption({ index: 0 });
  await page.getByLabel("Namespace", { exact: true }).selectOption({ label: "(cluster-scoped) (1)" });
  assert.deepEqual(await seen(page), ["shop"], "what is in sync is opened where nothing else is found");
  await state("9 in sync");
  await becomes(() => count(page), "1 of 14 objects");
});

on("shop", "names, fields and values can be searched", async (page) => {
  const search = page.getByLabel("Search");
  await search.fill("REPLICAS");
  await page.waitForFunction(() => document.querySelector("#count").textContent === "1 of 14 objects");
  await becomes(async () => JSON.stringify(await seen(page)), JSON.stringify(["shop/web"]));
  await search.fill("configmap workers");
  // One object matched before as well: wait for the other one.
  await page.waitForFunction(() => /web-settings/.test(document.querySelector(".o:not([hidden])")?.textContent));
  await becomes(async () => JSON.stringify(await seen(page)), JSON.stringify(["shop/web-settings"]));
  await search.fill("no such thing");
  await page.getByText("No object matches.").waitFor();
  await becomes(async () => JSON.stringify(await seen(page)), JSON.stringify([]));
  await page.getByRole("button", { name: "Show all" }).click();
  await becomes(() => count(page), "14 objects");
});

on("shop", "everything can be done with the keyboard", async (page) => {
  await page.keyboard.press("Tab");
  assert.equal(await focused(page), "Skip to the objects");
  await page.keyboard.press("/");
  await page.keyboard.type("jweb?");
  assert.equal(await page.getByLabel("Search").inputValue(), "jweb?", "shortcuts are letters in the search");
  await page.keyboard.press("Escape");
  await becomes(() => count(page), "14 objects");
  await page.keyboard.press("Escape");
  await page.locator("main").focus();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  assert.match(await focused(page), /web-settings/);
  const isOpen = () => page.evaluate(() => document.activeElement.parentElement.open);
  assert.equal(await isOpen(), true);
  await page.keyboard.press("Enter");
  assert.equal(await isOpen(), false);
  await page.keyboard.press("k");
  assert.match(await focused(page), /banner/);
  await page.keyboard.press("c");
  assert.equal(await page.locator("details.o[open], .o details[open]").count(), 0);
  await page.keyboard.press("?");
  assert.equal(await page.locator("#help").evaluate((help) => help.open), true);
  await page.keyboard.press("Escape");
  assert.match(await focused(page), /banner/, "the help gives the focus back");
  await page.keyboard.press("?");
  await page.getByLabel("Use single-key shortcuts").uncheck();
  await page.keyboard.press("Escape");
  await page.keyboard.press("e");
  assert.equal(await page.locator(".o details[open]").count(), 0, "shortcuts can be switched off");
});

on("shop", "the focus goes round, is seen everywhere and never hidden by the controls", async (page) => {
  const stops = new Set();
  for (let at = 0; at < 60; at += 1) {
    await page.keyboard.press("Tab");
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === document.body) return null;
      const { top, bottom } = element.getBoundingClientRect();
      const controls = document.querySelector("#controls");
      const hidden = !controls.contains(element) && !element.matches(".skip") && bottom <= controls.getBoundingClientRect().bottom && top >= 0;
      return { name: `${element.tagName} ${element.textContent.trim() || element.id}`, outline: getComputedStyle(element).outlineStyle, hidden };
    });
    if (stop === null || (stops.size > 0 && stop.name === "A Skip to the objects")) break;
    assert.notEqual(stop.outline, "none", stop.name);
    assert.ok(!stop.hidden, stop.name);
    stops.add(stop.name);
  }
  const expected = await page.evaluate(() =>
    [...document.querySelectorAll("a[href], button, input, select, summary")].filter((one) => one.checkVisibility()).length);
  assert.equal(stops.size, expected, [...stops].join("\n"));
});

on("shop", "both sides are beside each other or one above the other", async (page) => {
  const places = () => page.evaluate(() => {
    const place = (selector) => document.querySelector(selector).getBoundingClientRect();
    const [live, desired] = [place(".r:not(.q) del"), place(".r:not(.q) ins")];
    return { beside: live.top === desired.top && live.right <= desired.left, below: live.bottom <= desired.top };
  });
  assert.deepEqual(await places(), { beside: false, below: true });
  const side = page.getByRole("button", { name: "Side by side" });
  await side.click();
  assert.deepEqual(await places(), { beside: true, below: false });
  assert.equal(await side.getAttribute("aria-pressed"), "true");
  await page.reload();
  assert.deepEqual(await places(), { beside: true, below: false }, "the choice is kept");
});

on("shop", "it is light or dark as the system says, and as was chosen", async (page) => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await becomes(ground, "rgb(14, 18, 22)");
  await page.getByRole("button", { name: "Dark" }).click();
  await becomes(ground, "rgb(246, 247, 248)");
  await page.reload();
  await becomes(ground, "rgb(246, 247, 248)", "the choice is kept");
}, { colorScheme: "dark" });

on("shop", "print shows everything", async (page) => {
  await page.keyboard.press("c");
  await page.emulateMedia({ media: "print" });
  const shown = await page.evaluate(() => ({
    bodies: [...document.querySelectorAll(".body")].map((body) => body.checkVisibility() && body.getBoundingClientRect().height > 0),
    quiet: document.querySelector(".quiet").checkVisibility(),
    controls: document.querySelector("#controls").checkVisibility(),
  }));
  assert.deepEqual(shown, { bodies: [true, true, true, true, true], quiet: true, controls: false });
  await picture(page, "shop-print", true);
}, { viewport: { width: 794, height: 1123 } });

on("shop", "it is complete without its script", async (page) => {
  assert.equal(await page.locator("#controls").isVisible(), false);
  assert.equal(await page.locator("del").first().isVisible(), true);
  await page.getByText("9 in sync").last().click();
  assert.equal(await page.locator(".quiet").first().isVisible(), true);
}, { javaScriptEnabled: false });

on("hostile", "text of others is text", async (page) => {
  assert.equal(await page.locator("script, img, iframe, object, embed, base, link:not([rel=icon])").count(), 1);
  const name = await page.locator(".o .name").first().textContent();
  assert.ok(name.includes("</script><script>alert(1)</script>") && name.includes("\\u{202e}"), name);
  await page.getByLabel("Search").fill("<img src=x");
  await page.waitForFunction(() => document.querySelector("#count").textContent.startsWith("1 of"));
});

on("contexts", "the matrix leads to the objects, also to those that are filtered out", async (page) => {
  await page.getByLabel("Search").fill("nothing like it");
  await page.getByText("No object matches.").waitFor();
  await page.getByRole("row", { name: "ConfigMap shop/web" }).getByRole("link", { name: "to update", exact: false }).or(page.getByRole("link", { name: "update" })).first().click();
  assert.match(await focused(page), /shop\/web/);
  assert.equal(await page.getByLabel("Search").inputValue(), "");
});

on("groups", "what objects have in common is found with each of them", async (page) => {
  const groups = () => page.locator("li.group:visible").count();
  const search = page.getByLabel("Search");
  await becomes(() => count(page), "38 objects");
  await becomes(groups, 3);
  await search.fill("shop-2.4.1");
  await becomes(() => count(page), "30 of 38 objects");
  await becomes(groups, 1);
  await search.fill("app-17 chart");
  await becomes(() => count(page), "1 of 38 objects");
  await becomes(groups, 1);
  assert.ok(await page.locator("#o0-17").getByText("shop/app-17").isVisible(), "a line that is folded is opened where nothing else is found");
  await page.keyboard.press("Escape");
  await becomes(() => count(page), "38 objects");
  await page.getByText(/^[0-9]+ more objects$/).first().click();
  await becomes(() => page.getByRole("link", { name: "Deployment shop/app-17" }).isVisible(), true);
  await page.getByRole("link", { name: "Deployment shop/app-4", exact: true }).click();
  await becomes(() => page.locator("#o0-4").isVisible(), true);
});

on("many", "5,000 objects are little work", async (page) => {
  const meterOf = await meter(page);
  const nodes = await page.evaluate(() => document.querySelectorAll("*").length);
  assert.ok(nodes < 5_000 * 50, `${nodes} elements`);
  assert.ok(await meterOf("JSEventListeners") < 40, "listeners do not grow with the objects");
  await page.evaluate(() => {
    globalThis.writes = 0;
    new MutationObserver((records) => { globalThis.writes += records.length; })
      .observe(document.body, { subtree: true, attributes: true, childList: true, characterData: true });
  });
  const work = async (action, expected) => {
    const before = { layouts: await meterOf("LayoutCount"), styles: await meterOf("RecalcStyleCount") };
    await page.evaluate(() => { globalThis.writes = 0; });
    await action();
    await page.waitForFunction((text) => document.querySelector("#count").textContent === text, expected);
    const [layouts, styles] = [await meterOf("LayoutCount") - before.layouts, await meterOf("RecalcStyleCount") - before.styles];
    const writes = await page.evaluate(() => globalThis.writes);
    assert.ok(layouts <= 12 && styles <= 24, `${expected}: ${layouts} layouts, ${styles} recalculations of style`);
    return writes;
  };
  const kind = page.getByLabel("Kind", { exact: true });
  const one = await work(() => kind.selectOption({ label: "Service (1,250)" }), "1,250 of 5,000 objects");
  assert.ok(one <= 3_750 + 20, `${one} writes hide 3,750 objects`);
  const two = await work(() => page.getByLabel("Search").fill("app-4242"), "1 of 5,000 objects");
  assert.ok(two <= 1_249 + 20, `${two} writes hide 1,249 objects`);
  const three = await work(() => page.keyboard.press("Escape"), "1,250 of 5,000 objects");
  assert.ok(three <= 1_249 + 20, `${three} writes show 1,249 objects`);
  await picture(page, "many");
});

test("the policy of the page refuses what is not its own", { timeout: PATIENCE }, async () => {
  const page = await open("shop");
  const refused = await page.evaluate(async () => {
    const found = [];
    document.addEventListener("securitypolicyviolation", (event) => found.push(event.effectiveDirective));
    const add = (name, use) => {
      const element = document.createElement(name);
      try { use(element); document.body.append(element); } catch (error) { found.push(error.name); }
    };
    add("style", (style) => { style.textContent = "body { display: none }"; });
    add("img", (image) => { image.src = "http://127.0.0.1:9/a.png"; });
    add("div", (div) => { div.setAttribute("onclick", "globalThis.ran = 1"); div.click(); });
    add("div", (div) => { div.innerHTML = "<p>"; });
    add("iframe", (frame) => { frame.src = "http://127.0.0.1:9/"; });
    await fetch("http://127.0.0.1:9/").catch(() => {});
    // The violations are reported a moment later.
    for (let waited = 0; waited < 60_000 && new Set(found).size < 6; waited += 50) {
      await new Promise((done) => setTimeout(done, 50));
    }
    await new Promise((done) => setTimeout(done, 50));
    return { found: [...new Set(found)].sort(), ran: globalThis.ran === 1 };
  });
  const expected = ["TypeError", "connect-src", "frame-src", "img-src", "require-trusted-types-for", "style-src-elem"];
  assert.deepEqual(refused, { found: expected, ran: false });
  await close(page);
});
