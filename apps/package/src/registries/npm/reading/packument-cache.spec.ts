import { text } from 'node:stream/consumers';
import { PackumentCache } from './packument-cache';

const MIB = 1024 * 1024;

async function* textParts(count: number, size = MIB): AsyncGenerator<string> {
  for (let at = 0; at < count; at++) yield 'x'.repeat(size);
}
const writeDocument = (cache: PackumentCache, revision: string, count: number): Promise<string> =>
  text(cache.keepTexts(revision, textParts(count)));

it('keeps a whole document', async () => {
  const cache = new PackumentCache();
  expect(cache.findDocument('a')).toBeNull();
  expect((await writeDocument(cache, 'a', 2)).length).toBe(2 * MIB);
  expect(cache.findDocument('a')?.length).toBe(2 * MIB);
});

it('keeps no document that is too large or was not read to its end', async () => {
  const cache = new PackumentCache();
  expect((await writeDocument(cache, 'large', 9)).length).toBe(9 * MIB);
  for await (const _ of cache.keepTexts('cut', textParts(2))) break;
  expect([cache.findDocument('large'), cache.findDocument('cut')]).toEqual([null, null]);
});

it('lets the document go that was not used for the longest time', async () => {
  const cache = new PackumentCache();
  for (const revision of ['a', 'b', 'c', 'd']) await writeDocument(cache, revision, 8);
  cache.findDocument('a');
  await writeDocument(cache, 'a', 8);
  await writeDocument(cache, 'e', 8);
  expect(['a', 'b', 'c', 'd', 'e'].filter((revision) => cache.findDocument(revision))).toEqual(['a', 'c', 'd', 'e']);
});
