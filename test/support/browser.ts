import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';

/** How long a page may take for anything that a test waits for. */
const timeoutMs = 15_000;

/** The window of a small phone. */
export const phone = { width: 390, height: 844 };

let browser: Promise<Browser> | undefined;

/** The size of the window if a test asks for no other. */
const desktop = { width: 1280, height: 720 };

/** Windows that no test uses at the moment. Opening another one costs five times as much as loading a page in one of these. */
const idlePages: Page[] = [];

/** The script of axe, in the form that a browser reads fastest. */
const axeScript = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How to open a page. */
export interface PageOptions {
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Problems that the test provokes, such as a response with status 401, by a part of their text. */
  readonly expectedProblems?: readonly RegExp[];
  /** Findings of axe that the project cannot help, by a part of their text. */
  readonly expectedFindings?: readonly RegExp[];
  /** What the tab has stored when it opens the page, by its keys; nothing by default. */
  readonly stored?: Readonly<Record<string, string>>;
}

/** A page in a browser window of its own, without cookies or storage of others. */
export interface OpenPage {
  readonly page: Page;
  /** Fails if axe finds something serious or critical on the page as it is now, in the light and in the dark color scheme. */
  assertFlawless(): Promise<void>;
  /** Fails if the page as it is now has to be scrolled sideways on a phone. Changes the size of the window. */
  assertFitsPhone(): Promise<void>;
}

/**
 * Opens a URL in the browser that all tests share, and leaves it when the test has finished. The test fails if there was a
 * problem that it did not expect: a violation of the Content-Security-Policy, an error, or a failed request.
 */
export async function openPage(url: string, options: PageOptions = {}): Promise<OpenPage> {
  const { viewport = desktop, expectedProblems = [], expectedFindings = [], stored = {} } = options;
  const page = idlePages.pop() ?? (await newPage());
  const problems: string[] = [];
  onTestFinished(async () => {
    page.removeAllListeners();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    idlePages.push(page);
    failIfUnexpected(`The browser reports problems on ${page.url()}`, problems, expectedProblems);
  });

  // Ends the page of an earlier test, whose gateway may be closed, before problems are this test's.
  await page.goto('about:blank');
  await page.context().clearCookies();
  await page.setViewportSize(viewport);
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    // The browser ends what a page still loads when a person leaves it.
    if (reason !== 'net::ERR_ABORTED') problems.push(`request failed: ${request.method()} ${request.url()}: ${reason}`);
  });
  // Before a script of the page.
  const preparation = await page.addInitScript(
    `localStorage.clear(); sessionStorage.clear(); Object.assign(sessionStorage, ${JSON.stringify(stored)});`,
  );
  await page.goto(url);
  await preparation.dispose();

  return {
    page,
    async assertFlawless() {
      // What is being loaded again is faded; a page that a test keeps busy is looked at as it is.
      const busy = page.locator('[aria-busy="true"]').first();
      await busy.waitFor({ state: 'detached', timeout: 5_000 }).catch(() => {});
      // Not as a script of the page, which its Content-Security-Policy would not permit.
      if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeScript);
      const findings = await seriousFindings(page, {});
      await page.emulateMedia({ colorScheme: 'dark' });
      findings.push(...(await seriousFindings(page, { runOnly: ['color-contrast'] })));
      await page.emulateMedia({ colorScheme: 'light' });
      failIfUnexpected(`axe reports on ${page.url()}`, findings, expectedFindings);
    },
    async assertFitsPhone() {
      await page.setViewportSize(phone);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > phone.width) throw new Error(`${page.url()} is ${width} pixels wide on a phone with ${phone.width}.`);
    },
  };
}

function failIfUnexpected(title: string, found: readonly string[], expected: readonly RegExp[]): void {
  const unexpected = found.filter((text) => !expected.some((pattern) => pattern.test(text)));
  if (unexpected.length > 0) throw new Error(`${title}:\n  ${unexpected.join('\n  ')}`);
}

/** Opens a window of its own, which shares nothing with others. */
async function newPage(): Promise<Page> {
  browser ??= chromium.connect(inject('browserEndpoint'));
  const context = await (await browser).newContext({ reducedMotion: 'reduce', colorScheme: 'light' });
  context.setDefaultTimeout(timeoutMs);
  return context.newPage();
}

/** What axe finds that makes a page hard to use, or impossible, for people with disabilities. */
async function seriousFindings(page: Page, options: RunOptions): Promise<string[]> {
  // Of what it does not find, and of what passes, only examples: to report all of it costs as much as finding it.
  const onlyViolations: RunOptions = { ...options, resultTypes: ['violations'] };
  const { violations } = await page.evaluate<AxeResults>(`axe.run(document, ${JSON.stringify(onlyViolations)})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target} ${failureSummary}`),
    );
}
