import { AttachmentLinks } from './attachment-links';

const links = new AttachmentLinks('https://git.example', 'wren/heron');
const A = 'https://git.example/user-attachments/assets/11-a';
const B = 'https://git.example/wren/heron/files/7/b.pdf';
const uploads = new Map([
  [A, { url: '/uploads/1/a.png', markdown: '![a](/uploads/1/a.png)' }],
  [B, { url: '/uploads/2/b.pdf', markdown: '[b.pdf](/uploads/2/b.pdf)' }],
]);
const rewriteLinks = (text: string): string | null => links.replaceLinks(text, uploads);

it.each([
  ['an image', `![x](${A})`, '![x](/uploads/1/a.png)'],
  ['a link with a title', `see [b.pdf](${B} "B").`, 'see [b.pdf](/uploads/2/b.pdf "B").'],
  ['an image in a link', `[![x](${A})](${B})`, '[![x](/uploads/1/a.png)](/uploads/2/b.pdf)'],
  ['HTML', `<img width="5" src="${A}" />`, '<img width="5" src="/uploads/1/a.png" />'],
  ['plain text', `Look: ${A}, and\n${B}.`, 'Look: ![a](/uploads/1/a.png), and\n[b.pdf](/uploads/2/b.pdf).'],
  ['emphasis', `**${B}**`, '**[b.pdf](/uploads/2/b.pdf)**'],
  ['a reference', `[x]: ${A}\n\n![x]`, '[x]: /uploads/1/a.png\n\n![x]'],
  ['a line end of Windows', `a\r\n![x](${A})\r\nb`, 'a\r\n![x](/uploads/1/a.png)\r\nb'],
])('rewrites an address in %s', (_what, text, expected) => {
  expect(new Set(links.findLinks(text))).toEqual(new Set([A, B].filter((one) => text.includes(one))));
  expect(rewriteLinks(text)).toBe(expected);
});

it('finds an address once, and no more than 100', () => {
  expect(links.findLinks(`${A} ${A}`)).toEqual([A]);
  const many = Array.from({ length: 150 }, (_, n) => `${A}${n}`);
  expect(links.findLinks(many.join('\n'))).toEqual(many.slice(0, 100));
});

it.each([
  ['code', `\`${A}\`\n\n    ${A}\n\n\`\`\`\n${A}\n\`\`\``],
  ['another repository', 'https://git.example/wren/other/files/7/b.pdf'],
  ['another host', 'https://evil.example/user-attachments/assets/1 https://git.example.evil.example/assets/1'],
  ['another scheme', 'http://git.example/user-attachments/assets/1'],
  ['the image host of another service', 'https://user-images.githubusercontent.com/1/a.png'],
  ['a page of the host', 'https://git.example/wren/heron/issues/7 https://git.example/login'],
  ['the end of the text', 'https://git.example/user-attachments/assets/'],
  ...[
    ...['assets/../api/v3/user', 'assets/%2e%2e/api/v3/user', 'assets/.%2E/api/v3/user', 'assets/x/../y', 'assets/./x'],
    ...['assets/..%2fapi/v3/user', 'assets/..%5Capi', 'assets/%252e%252e/api', 'assets/..;/api', 'assets/%2e?x=y'],
    'wren/heron/files/../../other/files/1',
  ].map((path) => [`a path that leads elsewhere: ${path}`, `![x](https://git.example/${path})`]),
])('finds nothing in %s', (_what, text = '') => {
  expect(links.findLinks(text)).toEqual([]);
  expect(links.replaceLinks(text, new Map())).toBe(text);
});

it('finds the image hosts of the public service', () => {
  const text =
    '![x](https://user-images.githubusercontent.com/1/a.png) https://private-user-images.githubusercontent.com/2';
  expect(new AttachmentLinks('https://github.com', 'wren/heron').findLinks(text)).toHaveLength(2);
});

it('finds names with dots and escapes', () => {
  const address = 'https://git.example/assets/..a/%C3%9C.%20.../b..?c=../d';
  expect(links.findLinks(`<img src="${address}">`)).toEqual([address]);
});

it.each([
  ['a span', `![x](${A}) and \`${A}\` and ${B}`, `![x](/uploads/1/a.png) and \`${A}\` and [b.pdf](/uploads/2/b.pdf)`],
  ['a fence', `\`\`\`${A}\n${A}\n\`\`\`\n[x](${A})`, `\`\`\`${A}\n${A}\n\`\`\`\n[x](/uploads/1/a.png)`],
  [
    'a list',
    `- [x](${A})\n\n      ${A}\r\n- [x](${A})`,
    `- [x](/uploads/1/a.png)\n\n      ${A}\r\n- [x](/uploads/1/a.png)`,
  ],
  [
    'a quote',
    `> \`a\n> ${A}\` ![x](${A})\n# ${A} #`,
    `> \`a\n> ${A}\` ![x](/uploads/1/a.png)\n# ![a](/uploads/1/a.png) #`,
  ],
  ['another address', `\`${A}x\0\` ![x](${A})`, `\`${A}x\0\` ![x](/uploads/1/a.png)`],
])('keeps addresses in code of %s that are also outside of it', (_what, text, expected) => {
  expect(rewriteLinks(text)).toBe(expected);
});

it('finds no address that the limit of reading cuts', () => {
  expect(links.findLinks(`${A} ${'x'.repeat(99_953 - A.length)} ${A}`)).toEqual([A]);
});

it('keeps addresses whose files were not stored', () => {
  const text = `${A}0 ![x](${B}x)`;
  expect(rewriteLinks(text)).toBe(text);
});

/** Units: milliseconds of the processor. */
const measureCpuMs = (work: () => void): number => {
  const startedAt = process.cpuUsage();
  work();
  return process.cpuUsage(startedAt).user / 1000;
};

it('reads long texts without delay', () => {
  const text = `${'['.repeat(50_000)}${'`'.repeat(50_000)}${A}`;
  expect(measureCpuMs(() => links.findLinks(text))).toBeLessThan(2000);
});

it.each([' ', '](', '\n', '= '])('rewrites long texts of addresses and %j without delay', (between) => {
  const text = `${A}${between}`.repeat(300_000 / (A.length + between.length));
  const kept = measureCpuMs(() => void links.replaceLinks(text, new Map([[A, { url: '/u', markdown: '[u](/u)' }]])));
  expect(kept).toBeLessThan(1500);
});

it('does not rewrite a text that becomes too long', () => {
  const url = `/uploads/1/${encodeURIComponent('名'.repeat(200))}`;
  const text = `${A}\n`.repeat(200_000 / A.length);
  expect(links.replaceLinks(text, new Map([[A, { url, markdown: `[${'名'.repeat(200)}](${url})` }]]))).toBeNull();
});
