import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { blake2b } from 'hash-wasm';
import type { BlobStore } from '../../src/blob-store';
import { DIGESTS } from '../../src/digests';
import { sweepOrphans } from '../../src/sweep';
import { startDisk, startS3 } from '../support/backends';
import type { Backend } from '../support/backends';
import { answerOf } from '../support/run-child';
import { until } from '../support/until';

const MIB = 1024 * 1024;
const DAY = 24 * 60 * 60 * 1000;
const LONG_AGO = new Date(Date.now() - 2 * DAY);

/** Chunks of uneven sizes, as a network delivers them. */
function chunkedSource(content: Buffer): Readable {
  function* chunks(): Generator<Buffer> {
    for (let at = 0, size = 1; at < content.length; at += size, size = ((size * 7) % 65_521) + 1) {
      yield content.subarray(at, at + size);
    }
  }
  return Readable.from(chunks(), { objectMode: false });
}

/** Yields bytes forever until it is destroyed. `read` returns the number of bytes that it produced. */
function endlessSource(): { source: Readable; read: () => number } {
  let read = 0;
  const source = new Readable({
    read() {
      read += 65_536;
      this.push(Buffer.alloc(65_536, read % 251));
    },
  });
  return { source, read: () => read };
}

const sha256 = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

async function readContent(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe.each([
  ['a disk', startDisk],
  ['S3', startS3],
] as const)('files on %s', (_name, start: () => Promise<Backend>) => {
  let backend: Backend;
  beforeEach(async () => {
    backend = await start();
  });
  afterEach(() => backend.close());

  const put = (content: Buffer) => backend.blobs.put(chunkedSource(content), { maxBytes: 64 * MIB });
  const nothingIsLeft = async () => expect([await backend.names(), await backend.unfinished()]).toEqual([[], []]);
  const putOld = async (content: Buffer): Promise<string> => {
    const { key } = await put(content);
    await backend.setTime(`files/${key}`, LONG_AGO);
    return key;
  };

  describe('put', () => {
    it.each([0, 1, 1000, 65_536, 5 * MIB - 1, 5 * MIB, 5 * MIB + 1, 11 * MIB + 7])(
      'stores %i bytes and computes their digests',
      async (size) => {
        const content = randomBytes(size);
        const stored = await backend.blobs.put(chunkedSource(content), { maxBytes: size, digests: DIGESTS });
        const digests = ['md5', 'sha1', 'sha256', 'sha512'].map((name) => [
          name,
          createHash(name).update(content).digest('hex'),
        ]);
        const blake = await blake2b(content, 256);
        const wanted = { ...Object.fromEntries(digests), 'blake2b-256': blake, key: sha256(content), size };
        expect(stored).toEqual(wanted);
        const { body, ...rest } = await backend.blobs.open(stored.key);
        expect(rest).toEqual({ start: 0, end: size - 1, size });
        expect(sha256(await readContent(body))).toBe(stored.key);
        expect((await backend.blobs.stat(stored.key)).size).toBe(size);
        expect([await backend.names(), await backend.unfinished()]).toEqual([[`files/${stored.key}`], []]);
      },
    );

    it('computes sha256 alone when no other digest is wanted, and BLAKE2b as RFC 7693 does', async () => {
      const stored = await backend.blobs.put(chunkedSource(Buffer.from('abc')), { maxBytes: 3 });
      expect(Object.keys(stored).sort()).toEqual(['key', 'sha256', 'size']);
      const more = await backend.blobs.put(chunkedSource(Buffer.from('abc')), {
        maxBytes: 3,
        digests: ['blake2b-256'],
      });
      expect(more['blake2b-256']).toBe('bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319');
    });

    it.each([1000, 7 * MIB])('refuses a source with more than %i bytes and stops reading it', async (maxBytes) => {
      const { source, read } = endlessSource();
      await expect(backend.blobs.put(source, { maxBytes })).rejects.toMatchObject({ reason: 'too large' });
      expect(source.destroyed).toBe(true);
      expect(read()).toBeLessThan(maxBytes + MIB);
      await nothingIsLeft();
    });

    it.each([
      ['without an error', undefined],
      ['with an error', new Error('the client went away')],
    ])('leaves nothing of a source that is destroyed %s', async (_what, error) => {
      for (const after of [0, 100_000, 12 * MIB]) {
        const { source, read } = endlessSource();
        const stored = backend.blobs.put(source, { maxBytes: 1024 * MIB });
        stored.catch(() => undefined);
        await until(() => read() >= after);
        source.destroy(error);
        await expect(stored).rejects.toMatchObject({ reason: 'source' });
        await nothingIsLeft();
      }
    });

    it('leaves nothing of a source that its caller aborts, before and while it is read', async () => {
      const stop = new AbortController();
      const { source, read } = endlessSource();
      const stored = backend.blobs.put(source, { maxBytes: 1024 * MIB, signal: stop.signal });
      stored.catch(() => undefined);
      await until(() => read() >= 6 * MIB);
      stop.abort(new Error('no longer wanted'));
      await expect(stored).rejects.toThrow('no longer wanted');
      const late = endlessSource().source;
      await expect(backend.blobs.put(late, { maxBytes: 1, signal: stop.signal })).rejects.toThrow('no longer wanted');
      expect([source.destroyed, late.destroyed]).toEqual([true, true]);
      await nothingIsLeft();
    });

    it.each([-1, 0.5, Number.NaN, Infinity, 100 * 1024 ** 3 + 1])('refuses a limit of %d bytes', async (maxBytes) => {
      const source = chunkedSource(Buffer.from('x'));
      await expect(backend.blobs.put(source, { maxBytes })).rejects.toThrow(RangeError);
      expect(source.destroyed).toBe(true);
    });

    it('stores the same content once, also 50 times at once', async () => {
      const content = randomBytes(100_000);
      const stored = await Promise.all(Array.from({ length: 50 }, () => put(content)));
      expect(new Set(stored.map(({ key }) => key))).toEqual(new Set([sha256(content)]));
      expect(await backend.names()).toEqual([`files/${sha256(content)}`]);
      expect(await readContent((await backend.blobs.open(sha256(content))).body)).toEqual(content);
    });
  });

  describe('a range', () => {
    const content = Buffer.from('0123456789');
    let key: string;
    beforeEach(async () => {
      ({ key } = await put(content));
    });

    it.each([
      [{}, '0123456789', 0, 9],
      [{ start: 0 }, '0123456789', 0, 9],
      [{ start: 0, end: 0 }, '0', 0, 0],
      [{ start: 9, end: 9 }, '9', 9, 9],
      [{ start: 3, end: 5 }, '345', 3, 5],
      [{ start: 7 }, '789', 7, 9],
      [{ end: 2 }, '012', 0, 2],
      [{ start: 8, end: 1000 }, '89', 8, 9],
    ])('%j is %s', async (range, text, first, last) => {
      const { body, start: from, end, size } = await backend.blobs.open(key, range);
      expect([(await readContent(body)).toString(), from, end, size]).toEqual([text, first, last, 10]);
    });

    it.each([
      { start: 10 },
      { start: 10, end: 12 },
      { start: -1 },
      { start: 5, end: 4 },
      { start: 0.5 },
      { start: Number.NaN },
      { end: -1 },
      { end: Infinity },
    ])('%j is refused', async (range) => {
      await expect(backend.blobs.open(key, range)).rejects.toMatchObject({ reason: 'range' });
    });

    it('of an empty file is refused, though the whole of it is not', async () => {
      const empty = await put(Buffer.alloc(0));
      await expect(backend.blobs.open(empty.key, { start: 0 })).rejects.toMatchObject({ reason: 'range' });
      const { body, ...rest } = await backend.blobs.open(empty.key);
      expect([rest, await readContent(body)]).toEqual([{ start: 0, end: -1, size: 0 }, Buffer.alloc(0)]);
    });

    it('is read into memory up to 16 MiB', async () => {
      expect((await backend.blobs.readRange(key, { start: 8, end: 20 })).toString()).toBe('89');
      const large = backend.blobs.readRange(key, { start: 0, end: 16 * MIB });
      await expect(large).rejects.toMatchObject({ reason: 'too large' });
    });
  });

  it('of 200 MiB is stored and read in bounded memory', async () => {
    const { size, ...growth } = await answerOf<Record<string, number>>('memory', backend.url);
    expect(size).toBe(200 * MIB);
    for (const mebibytes of Object.values(growth)) expect(mebibytes).toBeLessThan(64);
  });

  it('is read at the pace of its reader, and closed when the reader stops', async () => {
    const { key } = await put(randomBytes(20 * MIB));
    const { body } = await backend.blobs.open(key);
    await once(body, 'readable');
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(body.readableLength).toBeLessThan(2 * MIB);
    const closed = new Promise((resolve) => body.once('close', resolve));
    body.destroy();
    await closed;
  });

  describe('a key', () => {
    it('that no file has is not found', async () => {
      const key = sha256(Buffer.from('unknown'));
      for (const call of [
        backend.blobs.stat(key),
        backend.blobs.open(key),
        backend.blobs.open(key, { start: 0, end: 3 }),
        backend.blobs.readRange(key, { start: 0, end: 3 }),
      ]) {
        await expect(call).rejects.toMatchObject({ reason: 'not found' });
      }
      await backend.blobs.remove(key);
    });

    it.each([
      '',
      '.',
      '../../etc/passwd',
      'a'.repeat(63),
      'A'.repeat(64),
      `${'a'.repeat(64)}/x`,
      `${'a'.repeat(64)}\n`,
    ])('%j is none', async (text) => {
      for (const call of ['stat', 'open', 'remove'] as const) {
        await expect(backend.blobs[call](text)).rejects.toMatchObject({ reason: 'not found' });
      }
    });

    it('of a removed file is not found', async () => {
      const { key } = await put(Buffer.from('x'));
      await backend.blobs.remove(key);
      await expect(backend.blobs.stat(key)).rejects.toMatchObject({ reason: 'not found' });
      await nothingIsLeft();
    });
  });

  describe('sweep', () => {
    const nothing = () => Promise.resolve([]);

    it('removes old files that no row refers to, asking by pages', async () => {
      const old = [];
      for (let index = 0; index < 7; index += 1) old.push(await putOld(Buffer.from(`old ${index}`)));
      const { key: young } = await put(Buffer.from('young'));
      const claimed = old.slice(2, 4);
      const pages: (readonly string[])[] = [];
      const result = await backend.blobs.sweep({
        pageSize: 3,
        findReferenced: (keys) => {
          pages.push(keys);
          return Promise.resolve(keys.filter((key) => claimed.includes(key)));
        },
      });
      expect(result).toEqual({ examined: 7, removed: 5, removedBytes: 25, leftovers: 0 });
      expect(pages.map(({ length }) => length)).toEqual([3, 3, 1]);
      expect(pages.flat().sort()).toEqual([...old].sort());
      expect(await backend.names()).toEqual([...claimed, young].sort().map((key) => `files/${key}`));
    });

    it('removes nothing when the caller cannot tell', async () => {
      const key = await putOld(Buffer.from('x'));
      const findReferenced = () => Promise.reject(new Error('no database'));
      await expect(backend.blobs.sweep({ findReferenced })).rejects.toThrow('no database');
      expect(await backend.names()).toEqual([`files/${key}`]);
    });

    it('stops when it is told to', async () => {
      const key = await putOld(Buffer.from('x'));
      const signal = AbortSignal.abort(new Error('shutting down'));
      await expect(backend.blobs.sweep({ findReferenced: nothing, signal })).rejects.toThrow('shutting down');
      expect(await backend.names()).toEqual([`files/${key}`]);
    });

    it('removes remains of uploads that died, and keeps those that are under way', async () => {
      for (const name of ['uploads/dead', 'uploads/alive', `removing/${'a'.repeat(64)}.dead`]) {
        await backend.store.write(name, Readable.from([Buffer.from('x')]), 1);
        if (!name.endsWith('alive')) await backend.setTime(name, LONG_AGO);
      }
      const { leftovers } = await backend.blobs.sweep({ findReferenced: nothing });
      expect([leftovers, await backend.names()]).toEqual([2, ['uploads/alive']]);
    });

    it('keeps a file whose content is stored again after the rows were asked', async () => {
      const content = Buffer.from('came back');
      const key = await putOld(content);
      const findReferenced = async () => {
        await put(content);
        return [];
      };
      expect(await backend.blobs.sweep({ findReferenced })).toMatchObject({ examined: 1, removed: 0 });
      expect(await backend.names()).toEqual([`files/${key}`]);
    });

    it('that removes a file while it is stored again makes the upload wait and write it again', async () => {
      const content = Buffer.from('came back');
      const key = await putOld(content);
      // A sweep that has looked at the age, and is about to remove the file.
      await backend.store.write(`removing/${key}.other`, Readable.from([]), 0);
      let isAcknowledged = false;
      const stored = put(content).then(() => (isAcknowledged = true));
      await until(async () => (await backend.blobs.stat(key)).modifiedAt > LONG_AGO);
      await backend.store.remove(`files/${key}`);
      expect(isAcknowledged).toBe(false);
      await backend.store.remove(`removing/${key}.other`);
      await stored;
      expect(await backend.names()).toEqual([`files/${key}`]);
      expect(await readContent((await backend.blobs.open(key)).body)).toEqual(content);
    });

    it.each([
      [9_000, 0],
      [11_000, 1],
    ])('that took %i ms to remove a file leaves %i marks', async (tookMs, marks) => {
      const key = await putOld(Buffer.from('x'));
      const now = performance.now.bind(performance);
      let passed = 0;
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + passed);
      const remove = async (name: string): Promise<void> => {
        await backend.store.remove(name);
        if (name.startsWith('files/')) passed = tookMs;
      };
      const store = Object.create(backend.store, { remove: { value: remove } }) as BlobStore;
      const result = await sweepOrphans(store, { findReferenced: nothing });
      clock.mockRestore();
      expect(result).toMatchObject({ removed: 1 });
      const names = await backend.names();
      expect(names).toHaveLength(marks);
      for (const name of names) expect(name).toContain(`removing/${key}.`);
    });

    it('never loses an acknowledged file, whatever comes first', async () => {
      for (let round = 0; round < 15; round += 1) {
        const content = Buffer.from(`round ${round}`);
        const key = await putOld(content);
        const sweeps = [0, 1].map(() => backend.blobs.sweep({ findReferenced: nothing }));
        for (let turns = 0; turns < round * 3; turns += 1) await turn();
        await put(content);
        expect(await readContent((await backend.blobs.open(key)).body)).toEqual(content);
        await Promise.all(sweeps);
        expect(await readContent((await backend.blobs.open(key)).body)).toEqual(content);
      }
    });
  });
});
