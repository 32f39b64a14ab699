import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';

/** How long a page may take for anything that a test waits for. */
const timeoutMs = 15_000;

/** The window of a small phone. */
export const phone = { width: 390, height: 844 };

let browser: Promise<Browser> | undefined;

/** How to open a page. */
export interface PageOptions extends Pick<BrowserContextOptions, 'colorScheme' | 'viewport'> {
  /** Problems that the test provokes, such as a response with status 401, by a part of their text. */
  readonly expectedProblems?: readonly RegExp[];
}

/** A page in a browser window of its own, without cookies or storage of others. */
export interface OpenPage {
  readonly page: Page;
  /** What a person would find in the browser's console: violations of the Content-Security-Policy, errors, failed requests. */
  readonly problems: readonly string[];
  /**
   * Fails if there is a problem that was not expected, or axe finds something serious or critical on the page as it is now, in the light
   * and in the dark color scheme.
   */
  assertFlawless(): Promise<void>;
  /** Fails if the page as it is now has to be scrolled sideways on a phone. Changes the size of the window. */
  assertFitsPhone(): Promise<void>;
}

/**
 * Opens a URL in the browser that all tests share, and closes it when the test has finished. The test fails if there was a problem that it
 * did not expect.
 */
export async function openPage(url: string, { expectedProblems = [], ...options }: PageOptions = {}): Promise<OpenPage> {
  browser ??= chromium.connect(inject('browserEndpoint'));
  const context = await (await browser).newContext(options);
  context.setDefaultTimeout(timeoutMs);
  const page = await context.newPage();
  const problems: string[] = [];
  const assertNone = (): void => {
    const unexpected = problems.filter((text) => !expectedProblems.some((expected) => expected.test(text)));
    if (unexpected.length > 0) throw new Error(`The browser reports problems on ${page.url()}:\n  ${unexpected.join('\n  ')}`);
  };
  onTestFinished(async () => {
    await context.close();
    assertNone();
  });

  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('requestfailed', (request) =>
    problems.push(`request failed: ${request.method()} ${request.url()}: ${request.failure()?.errorText}`),
  );
  await page.goto(url);

  return {
    page,
    problems,
    async assertFlawless() {
      assertNone();
      // Not as a script of the page, which its Content-Security-Policy would not permit.
      await page.evaluate(axe.source);
      const findings = await seriousFindings(page, {});
      const other = options.colorScheme === 'dark' ? 'light' : 'dark';
      await page.emulateMedia({ colorScheme: other });
      findings.push(...(await seriousFindings(page, { runOnly: ['color-contrast'] })).map((finding) => `${other}: ${finding}`));
      await page.emulateMedia({ colorScheme: options.colorScheme ?? 'light' });
      if (findings.length > 0) throw new Error(`axe reports on ${page.url()}:\n  ${findings.join('\n  ')}`);
    },
    async assertFitsPhone() {
      await page.setViewportSize(phone);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > phone.width) throw new Error(`${page.url()} is ${width} pixels wide on a phone with ${phone.width}.`);
    },
  };
}

/** What axe finds that makes a page hard to use, or impossible, for people with disabilities. */
async function seriousFindings(page: Page, options: axe.RunOptions): Promise<string[]> {
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${JSON.stringify(options)})`);
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target} ${failureSummary}`),
    );
}
