// A headless browser, and pages in it that are watched: nothing may be loaded, complained about or refused.

import { createRequire } from "node:module";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , modules, pages, pictures] = process.argv;
const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");
const axe = require("axe-core");

const unpacked = join(modules, "browser");
const env = { ...process.env };
if (!env.CHROMIUM) env.LD_LIBRARY_PATH = join(unpacked, "lib");
if (!existsSync("/etc/fonts/fonts.conf")) env.FONTCONFIG_FILE = join(unpacked, "fonts.conf");

export const browser = await chromium.launch({
  executablePath: env.CHROMIUM ?? join(unpacked, "chromium"),
  env,
  timeout: 200_000,
  // The pages are ours, and the sandbox is refused to root and in many containers.
  args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"],
});

const contexts = new WeakMap();

/** Opens a page; `complaints` collects what must not happen. */
export async function open(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", ...options });
  context.setDefaultTimeout(200_000);
  const page = await context.newPage();
  const complaints = [];
  const url = pathToFileURL(join(pages, name + ".html")).href;
  page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => complaints.push(`error: ${error.message}`));
  page.on("dialog", (dialog) => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on("request", (request) => { if (request.url() !== url) complaints.push(`request: ${request.url().slice(0, 100)}`); });
  await page.goto(url);
  contexts.set(page, { context, complaints });
  return page;
}

/** What the page did that it must not do. */
export const complaintsOf = (page) => contexts.get(page).complaints;

export const close = (page) => contexts.get(page).context.close();

/** The findings of the checker of accessibility, a line each; colours that change gradually are judged once they have changed. */
export async function findings(page) {
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((animation) => animation.finished)));
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { preload: false }));
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
}

/** A picture for people; without the style sheet that would hide the caret, which the policy of the page refuses. */
export async function picture(page, name, fullPage = false) {
  const take = () => page.screenshot({ path: join(pictures, name + ".png"), fullPage, caret: "initial", animations: "allow" });
  // A busy browser refuses a picture that it takes a moment later.
  const isRefused = (error) => error.message.includes("Unable to capture screenshot");
  for (let left = 20; ; left -= 1) {
    try {
      return await take();
    } catch (error) {
      if (left === 0 || !isRefused(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/** The names of the objects that are seen. */
export const seen = (page) =>
  page.evaluate(() => [...document.querySelectorAll(".o .name")].filter((name) => name.checkVisibility()).map((name) => name.textContent));

/** A number that the browser counts for the page, as in `LayoutCount`. */
export async function meter(page) {
  const session = await contexts.get(page).context.newCDPSession(page);
  await session.send("Performance.enable");
  return async (name) => (await session.send("Performance.getMetrics")).metrics.find((metric) => metric.name === name).value;
}
