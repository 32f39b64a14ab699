import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import {
  type Browser,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
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
export interface PageOptions extends Pick<BrowserContextOptions, 'colorScheme' | 'viewport'> {
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
  /** What a person would find in the browser's console: violations of the Content-Security-Policy, errors, failed requests. */
  readonly problems: readonly string[];
  /**
   * Fails if there is a problem that was not expected, or axe finds something serious or critical on the page as it is now, in
   * the light and in the dark color scheme.
   */
  assertFlawless(): Promise<void>;
  /** Fails if the page as it is now has to be scrolled sideways on a phone. Changes the size of the window. */
  assertFitsPhone(): Promise<void>;
}

/**
 * Opens a URL in the browser that all tests share, and leaves it when the test has finished. The test fails if there was a
 * problem that it did not expect.
 */
export async function openPage(url: string, options: PageOptions = {}): Promise<OpenPage> {
  const { expectedProblems = [], expectedFindings = [] } = options;
  const { colorScheme = 'light', viewport = desktop, stored = {} } = options;
  const page = idlePages.pop() ?? (await newPage());
  const problems: string[] = [];
  const assertNone = (): void => {
    const unexpected = problems.filter((text) => !expectedProblems.some((expected) => expected.test(text)));
    if (unexpected.length > 0) throw new Error(`The browser reports problems on ${page.url()}:\n  ${unexpected.join('\n  ')}`);
  };
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`);
  };
  const onError = (error: Error) => problems.push(`error: ${error.message}`);
  const onFailure = (request: Request) => {
    const reason = request.failure()?.errorText;
    // The browser ends what a page still loads when a person leaves it.
    if (reason !== 'net::ERR_ABORTED') problems.push(`request failed: ${request.method()} ${request.url()}: ${reason}`);
  };
  onTestFinished(async () => {
    page.removeAllListeners();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    idlePages.push(page);
    assertNone();
  });

  // Ends the page of an earlier test, whose gateway may be closed, before problems are this test's.
  await page.goto('about:blank');
  await page.context().clearCookies();
  await page.emulateMedia({ colorScheme });
  if (viewport) await page.setViewportSize(viewport);
  page.on('console', onConsole).on('pageerror', onError).on('requestfailed', onFailure);
  // Before a script of the page.
  const preparation = await page.addInitScript(
    `localStorage.clear(); sessionStorage.clear(); Object.assign(sessionStorage, ${JSON.stringify(stored)});`,
  );
  await page.goto(url);
  await preparation.dispose();

  return {
    page,
    problems,
    async assertFlawless() {
      assertNone();
      // What is being loaded again is faded; a page that a test keeps busy is looked at as it is.
      const busy = page.locator('[aria-busy="true"]').first();
      await busy.waitFor({ state: 'detached', timeout: 5_000 }).catch(() => {});
      // Not as a script of the page, which its Content-Security-Policy would not permit.
      if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axeScript);
      const findings = await seriousFindings(page, {});
      const other = colorScheme === 'dark' ? 'light' : 'dark';
      await page.emulateMedia({ colorScheme: other });
      findings.push(...(await seriousFindings(page, { runOnly: ['color-contrast'] })).map((finding) => `${other}: ${finding}`));
      await page.emulateMedia({ colorScheme });
      const unexpected = findings.filter((text) => !expectedFindings.some((expected) => expected.test(text)));
      if (unexpected.length > 0) throw new Error(`axe reports on ${page.url()}:\n  ${unexpected.join('\n  ')}`);
    },
    async assertFitsPhone() {
      await page.setViewportSize(phone);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > phone.width) throw new Error(`${page.url()} is ${width} pixels wide on a phone with ${phone.width}.`);
    },
  };
}

/** Opens a window of its own, which shares nothing with others. */
async function newPage(): Promise<Page> {
  browser ??= chromium.connect(inject('browserEndpoint'));
  const context = await (await browser).newContext({ reducedMotion: 'reduce' });
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
