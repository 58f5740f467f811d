/**
 * Takes pictures of each kind of e-mail on a phone and on a desk, in light and dark colors: `npm run mail-pictures -- folder`.
 * Needs Chromium of the Linux distribution. The pictures are to be looked at, and are not kept in the repository.
 */
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

// Not a literal, so that the type check of the tools does not follow it.
const SAMPLES = fileURLToPath(new URL('../../apps/collaboration/test/support/sample-mails.ts', import.meta.url));
const require = createRequire(import.meta.url);
require('../jest/typescript-hook.cjs');
/** @type {{ sampleMails(): ReadonlyMap<string, { readonly html?: unknown }> }} */
const { sampleMails } = require(SAMPLES);

const SIZES = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 900 } };
const SCHEMES = /** @type {const} */ (['light', 'dark']);

const [folder = 'mail-pictures', ...wanted] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
// Tests run as root in containers, where the sandbox of Chromium does not start.
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
try {
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of SCHEMES) {
      const page = await browser.newPage({ viewport, colorScheme });
      for (const [name, mail] of sampleMails()) {
        if (wanted.length > 0 && !wanted.includes(name)) continue;
        await page.setContent(String(mail.html));
        const isTooWide = await page.evaluate('document.documentElement.scrollWidth > window.innerWidth');
        if (isTooWide) throw new Error(`${name} is wider than a ${size}`);
        await page.screenshot({ path: join(folder, `${name}.${size}.${colorScheme}.png`), fullPage: true });
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
}
console.log(`pictures are in ${resolve(folder)}`);
