import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { requireDebianPackages } from './debian-packages';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Width and height of a phone and of a desk. Units: CSS pixels. */
export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 900 };

/** Starts the distribution's Chromium without a window. */
export function startBrowser(): Promise<Browser> {
  requireDebianPackages('chromium');
  // Tests run as root in containers, where the sandbox of Chromium does not start.
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
  return chromium.launch({ executablePath: '/usr/bin/chromium', args });
}

/** Returns the problems that axe-core finds in a page, each as the name of the rule and the elements. */
export async function accessibilityProblems(page: Page): Promise<readonly string[]> {
  // The policy of the pages allows no scripts; evaluation by the browser's own protocol is outside of it.
  await page.evaluate(AXE);
  const found = (await page.evaluate('axe.run()')) as {
    readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
  };
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
}

/** Whether a page is wider than its window. */
export function isTooWide(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
}
