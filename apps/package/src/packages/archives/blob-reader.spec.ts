import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { BlobStorage } from '@rookery/blobs';
import { BlobReader } from './blob-reader';

describe('BlobReader', () => {
  it('closes the file of a range whose reader left before the file was open', async () => {
    const body = new Readable({ read: () => undefined });
    const blobs = { open: async () => ({ body, size: 1 }) } as unknown as BlobStorage;
    const closed = once(body, 'close');
    new BlobReader(blobs, 'key')._readStreamForRange(0, 1).destroy();
    await closed;
    expect(body.destroyed).toBe(true);
  });
});
