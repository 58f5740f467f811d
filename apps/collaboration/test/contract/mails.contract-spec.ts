import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expectGolden } from '@rookery/testing';
import { simpleParser } from 'mailparser';
import type { ParsedMail } from 'mailparser';
import { rawMail, sampleMails } from '../support/sample-mails';

/** Each kind of e-mail as a parser reads it. `UPDATE_GOLDEN=1` rewrites the files. Source: reference work-tracking 8.5. */
const folder = join(__dirname, '../golden/mails');
const mails = [...sampleMails()];
const parseSampleMail = async (name: string): Promise<ParsedMail> =>
  simpleParser(await rawMail(sampleMails().get(name)!));

/** Headers that say nothing about the kind, or hold a random boundary. */
const LEFT_OUT = new Set(['date', 'mime-version', 'content-type']);

/** Headers, text part and HTML part. The style sheet, which all kinds share, is left out. */
function renderMail(mail: ParsedMail): string {
  const headers = mail.headerLines
    .filter(({ key }) => !LEFT_OUT.has(key))
    .map(({ line }) => line.replace(/\r?\n\s+/g, ' '));
  const html = (mail.html || '')
    .replace(/<style>.*?<\/style>/s, '')
    .replace(/(<\/(?:p|div|li|ul|pre|head|tr|table|blockquote)>)/g, '$1\n');
  return `${headers.join('\n')}\n\n=== text\n${mail.text ?? ''}\n=== html\n${html}\n`;
}

test.each(mails.map(([name]) => name))('%s', async (name) => {
  const mail = await parseSampleMail(name);
  expect(mail.attachments).toEqual([]);
  expectGolden(join(folder, `${name}.txt`), renderMail(mail));
});

test('each golden file belongs to a kind of e-mail', () => {
  expect(readdirSync(folder).sort()).toEqual(mails.map(([name]) => `${name}.txt`).sort());
});

test.each(mails.map(([name]) => name))(
  '%s loads nothing, and its text part names each page that the HTML part links',
  async (name) => {
    const { html, text } = await parseSampleMail(name);
    expect(html).not.toMatch(/<img|<script|<link|\bsrc=|url\(|@import/);
    const links = [...String(html).matchAll(/href="([^"]*)"/g)].map(([, url]) => url!.replaceAll('&amp;', '&'));
    expect(links.filter((url) => !text!.includes(url))).toEqual([]);
  },
);
