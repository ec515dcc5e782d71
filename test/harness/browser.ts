import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { canInstall, install } from '../servers/install.ts';
import { findProgram } from '../servers/processes.ts';
import type { Teardown } from './processes.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Chromium without windows: a page of the console takes half the processor time in it. */
const shell = 'chromium-headless-shell';
const names = [shell, 'chromium', 'chromium-browser', 'google-chrome'];

/** Chromium as it is found or installed; undefined where neither is possible. */
async function findChromium(): Promise<string | undefined> {
  const { CHROMIUM } = process.env;
  if (CHROMIUM !== undefined) return CHROMIUM;
  if (findProgram(names) === undefined && canInstall()) {
    await install([shell]).catch(() => install(['chromium']));
  }
  return findProgram(names);
}

const executablePath = await findChromium();
/** For `t.test`: false, or why tests in a browser are left out. */
export const skipWithoutBrowser =
  executablePath === undefined && 'no Chromium is there, and none can be installed';

/**
 * Starts a browser that ends with the test.
 * @param further arguments of its command line
 */
export async function startBrowser(t: Teardown, further: readonly string[] = []): Promise<Browser> {
  const args = [
    '--no-sandbox',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--disable-gpu',
    '--force-prefers-reduced-motion',
    ...further,
  ];
  const path = executablePath ?? '';
  const browser = await chromium.launch({ executablePath: path, args, chromiumSandbox: false });
  t.teardown(() => browser.close());
  return browser;
}

/** Makes pages, each of its own test, in one browser for a file of tests. The browser starts with the first page. */
export function pagesOf(file: Teardown): (t: Teardown) => Promise<Page> {
  let browser: Promise<Browser> | undefined;
  return async (t) => {
    browser ??= startBrowser(file);
    const page = await (await browser).newPage();
    page.setDefaultTimeout(15_000);
    t.teardown(() => page.close());
    return page;
  };
}

/** What went wrong in a page, and which other hosts it asked. */
export interface Watched {
  readonly faults: string[];
  readonly foreign: string[];
}

/** Notes errors of scripts, dialogs, refusals by the page's policy, and requests to other hosts. */
export function watchPage(page: Page, origin: string): Watched {
  const faults: string[] = [];
  const foreign: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) faults.push(message.text());
  });
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(data|blob):/.test(url) && !url.startsWith(origin)) foreign.push(url);
  });
  return { faults, foreign };
}

/** What axe finds wrong in a page. Evaluated, as the policy of the page keeps scripts out. */
export async function violations(page: Page): Promise<readonly string[]> {
  // One document has many pages: axe stays in it.
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe);
  const run = 'axe.run().then(({ violations }) => JSON.stringify(violations))';
  const found = JSON.parse(await page.evaluate<string>(run)) as readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Signs in to the console; answers when its first page is shown. */
export async function signIn(page: Page, origin: string, key: string): Promise<void> {
  await page.goto(`${origin}/console`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor();
}
