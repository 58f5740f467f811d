import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import type { Header } from 'tar-stream';
import { checkedTarballManifest } from './tarball-manifest';
import type { TarballManifest } from './tarball-manifest';

const SENT = { name: '@s/a', version: '1.0.0' };
const OWN = JSON.stringify({ ...SENT, dependencies: { own: '1' } });
const TRUTH = { dependencies: { own: '1' } };
const MIB = 1024 ** 2;
const INCOHERENT = 'Package manifest is not coherent';
const OTHER = JSON.stringify({ name: 'other', version: '1.0.0' });

type Entry = readonly [header: string | (Partial<Header> & { readonly name: string }), text?: string];

async function packTarball(...entries: readonly Entry[]): Promise<Buffer> {
  const packed = pack();
  for (const [header, text] of entries)
    packed.entry(typeof header === 'string' ? { name: header } : header, text ?? '');
  packed.finalize();
  const parts: Buffer[] = [];
  for await (const part of packed as AsyncIterable<Buffer>) parts.push(part);
  return Buffer.concat(parts);
}

/** Headers of so many empty files, without an end. */
async function headersOfEmptyFiles(count: number): Promise<Buffer> {
  const header = (await packTarball(['package/a'])).subarray(0, 512);
  return Buffer.alloc(512 * count, header);
}

const checkManifest = (bytes: Buffer, sent: object = SENT): Promise<TarballManifest | null> =>
  checkedTarballManifest(Readable.from([bytes]), sent as Readonly<Record<string, unknown>>);

describe('the manifest in a tarball', () => {
  it.each<[string, readonly Entry[]]>([
    ['in the usual folder', [['package/package.json', OWN]]],
    ['in any folder', [['any-name/package.json', OWN]]],
    ['behind a dot', [['./package/package.json', OWN]]],
    [
      'behind other files',
      [
        ['package/a.js', 'x'.repeat(100_000)],
        ['package/package.json', OWN],
      ],
    ],
    [
      'and not the one of a dependency',
      [
        ['package/node_modules/x/package.json', OTHER],
        ['package/package.json', OWN],
      ],
    ],
    [
      'and not one outside of a folder',
      [
        ['package.json', OTHER],
        ['package/package.json', OWN],
      ],
    ],
    [
      'and no link',
      [[{ name: 'package/package.json', type: 'symlink', linkname: '/etc/passwd' }], ['p/package.json', OWN]],
    ],
  ])('is found %s', async (_, entries) => {
    expect((await checkManifest(gzipSync(await packTarball(...entries))))?.truth).toMatchObject(TRUTH);
  });

  it.each<[string, () => Promise<Buffer> | Buffer]>([
    ['other bytes', () => Buffer.from('no tarball')],
    ['no bytes', () => Buffer.alloc(0)],
    ['a tarball without a manifest', async () => gzipSync(await packTarball(['package/a.js', 'x']))],
    ['a cut tarball', async () => gzipSync(await packTarball(['package/package.json', OWN])).subarray(0, 40)],
    ['a manifest that is no JSON', async () => gzipSync(await packTarball(['package/package.json', '{']))],
    ['a manifest that is a list', async () => gzipSync(await packTarball(['package/package.json', '[]']))],
  ])('is none in %s', async (_, bytes) => expect(await checkManifest(await bytes())).toBeNull());

  it('is found in a tarball that is not compressed, which clients install too', async () => {
    expect((await checkManifest(await packTarball(['package/package.json', OWN])))?.truth).toMatchObject(TRUTH);
    await expect(checkManifest(await packTarball(['package/package.json', OTHER]))).rejects.toThrow(INCOHERENT);
  });

  it('is found behind more than 64 MiB and 10,000 files', async () => {
    const large = gzipSync(await packTarball(['package/big', 'x'.repeat(65 * MIB)], ['package/package.json', OTHER]), {
      level: 0,
    });
    await expect(checkManifest(large)).rejects.toThrow(INCOHERENT);
    const many = Buffer.concat([await headersOfEmptyFiles(10_001), await packTarball(['package/package.json', OTHER])]);
    await expect(checkManifest(gzipSync(many))).rejects.toThrow(INCOHERENT);
  });

  it.each<[string, () => Promise<Buffer>]>([
    [
      'behind a bomb',
      async () => gzipSync(await packTarball(['package/big', '\0'.repeat(65 * MIB)], ['package/package.json', OWN])),
    ],
    [
      'behind bombs in several members',
      async () =>
        Buffer.concat([gzipSync(Buffer.alloc(0)), gzipSync(await packTarball(['package/a', '\0'.repeat(65 * MIB)]))]),
    ],
    ['above 4 MiB', async () => gzipSync(await packTarball(['package/package.json', ' '.repeat(4 * MIB) + OWN]))],
    [
      'behind 100,000 files',
      async () => Buffer.concat([await headersOfEmptyFiles(100_001), await packTarball(['package/package.json', OWN])]),
    ],
  ])('is refused %s, where it could hide', async (_, bytes) => {
    await expect(checkManifest(await bytes())).rejects.toThrow(INCOHERENT);
  });

  it.each<[string, object, object]>([
    ['the name', {}, { name: '@s/b' }],
    ['the version', {}, { version: '1.0.1' }],
    ['a version that is cleaned', { version: 'v1.0.0-a' }, {}],
    ['a version that is no text', { version: 1 }, {}],
    ['a script that is added', {}, { scripts: { postinstall: 'x' } }],
    ['a script that is left out', { scripts: { postinstall: 'x' } }, {}],
    ['a script that is changed', { scripts: { test: 'x' } }, { scripts: { test: 'y' } }],
    ['another inferred script', {}, { scripts: { install: 'curl' } }],
  ])('must agree with the document in %s', async (_, own, sent) => {
    const bytes = gzipSync(await packTarball(['package/package.json', JSON.stringify({ ...SENT, ...own })]));
    await expect(checkManifest(bytes, { ...SENT, ...sent })).rejects.toThrow('Package manifest is not coherent');
  });

  it.each([
    ['v1.0.0', '1.0.0'],
    ['=1.0.0', '1.0.0'],
    [' 1.0.0+sha.abc ', '1.0.0'],
    ['1.0.0+sha.abc', '1.0.0+sha.abc'],
    ['1.0.0beta', '1.0.0-beta'],
  ])('may have the version %j for %j, and blanks around its name', async (version, cleaned) => {
    const own = JSON.stringify({ name: ' @s/a ', version });
    const bytes = gzipSync(await packTarball(['package/package.json', own]));
    expect(await checkManifest(bytes, { ...SENT, version: cleaned })).not.toBeNull();
  });

  it('may differ in what clients normalize', async () => {
    const own = { ...SENT, scripts: { test: './node_modules/.bin/jest', odd: 5 } };
    const bytes = gzipSync(await packTarball(['package/package.json', JSON.stringify(own)]));
    const scripts = { test: 'jest', install: 'node-gyp rebuild', start: 'node server.js' };
    expect(await checkManifest(bytes, { ...SENT, scripts })).not.toBeNull();
  });
});
