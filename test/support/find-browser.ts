import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const { env, platform } = process;

/** Where Chromium and Chrome are installed, by platform. On others they are looked for in `PATH`. */
const usualPaths: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['Google Chrome', 'Chromium'].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`),
  win32: [env['PROGRAMFILES'], env['PROGRAMFILES(X86)'], env['LOCALAPPDATA']]
    .filter((folder) => folder !== undefined)
    .flatMap((folder) => ['Google\\Chrome', 'Chromium'].map((name) => join(folder, name, 'Application\\chrome.exe'))),
};

/** The first is Chromium without windows, which tests need none of: it takes about half the processor time. */
const commands = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/**
 * The program of the system's Chromium or Chrome: `CHROME_PATH`, or where it usually is. Nothing if there is none.
 *
 * @throws Error when `CHROME_PATH` names no file.
 */
export function findBrowser(): string | undefined {
  const { CHROME_PATH: chosen } = env;
  if (chosen) {
    if (existsSync(chosen)) return chosen;
    throw new Error(`CHROME_PATH is ${chosen}, which does not exist. Set it to the program of Chromium or Chrome, or unset it.`);
  }
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const candidates = usualPaths[platform] ?? commands.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find(existsSync);
}
