import { once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Refused } from '@rookery/kernel';
import type { StoredFile } from '../../../packages/package-files';
import { readNpmPublishDocument } from './document-reader';

const MIB = 1024 * 1024;

/** A document with a tarball of `parts` times 48 KiB. `sent` returns the number of parts that were read. */
function documentOf(parts: number): { readonly body: Readable; readonly sent: () => number } {
  let sent = 0;
  function* chunks(): Generator<Buffer> {
    yield Buffer.from('{"_attachments":{"a-1.0.0.tgz":{"data":"');
    for (; sent < parts; sent++) yield Buffer.alloc(64 * 1024, 'QUJD');
    yield Buffer.from('"}},"name":"a"}');
  }
  return { body: Readable.from(chunks()), sent: () => sent };
}

const storedFileOf = (bytes: Buffer): StoredFile =>
  ({ key: '', size: bytes.length, sha256: '', sha1: '', md5: '' }) as StoredFile;

it('hands the decoded tarball to the store while it arrives', async () => {
  let seen = Buffer.alloc(0);
  const { tarballs, root } = await readNpmPublishDocument(
    documentOf(3).body,
    async (source) => storedFileOf((seen = await buffer(source))),
    MIB,
  );
  expect(root['name']).toBe('a');
  expect(tarballs.get('a-1.0.0.tgz')!.content.size).toBe(3 * 48 * 1024);
  expect(seen.subarray(0, 6).toString()).toBe('ABCABC');
});

it('reads no faster than the store writes', async () => {
  const { body, sent } = documentOf(1000);
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const read = readNpmPublishDocument(
    body,
    async (source) => (await begun, storedFileOf(await buffer(source))),
    100 * MIB,
  );
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  expect(sent()).toBeLessThan(40);
  begin();
  expect((await read).tarballs.size).toBe(1);
});

it('ends with the refusal of the store, and reads no further', async () => {
  const { body, sent } = documentOf(1000);
  const refusal = new Refused('File is too large');
  const store = async (source: Readable): Promise<never> => {
    await once(source, 'readable');
    source.destroy();
    throw refusal;
  };
  await expect(readNpmPublishDocument(body, store, 100 * MIB)).rejects.toBe(refusal);
  expect(sent()).toBeLessThan(40);
});

it('ends the store with the body', async () => {
  const body = new Readable({ read: () => undefined });
  const failed = new Promise<unknown>((resolve) => {
    const store = (source: Readable): Promise<never> => {
      source.once('error', resolve);
      return new Promise(() => undefined);
    };
    void readNpmPublishDocument(body, store, MIB).catch(() => undefined);
  });
  body.push('{"_attachments":{"a-1.0.0.tgz":{"data":"QUJD');
  setImmediate(() => body.destroy(new Error('cut')));
  expect(await failed).toEqual(new Error('the document ended'));
});

it('refuses a document above its limit, whatever it holds', async () => {
  await expect(readNpmPublishDocument(documentOf(100).body, null, MIB)).rejects.toThrow('File is too large.');
});
