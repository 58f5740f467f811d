import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { BlobStorage } from '../../src/blobs';
import { parseBlobsUrl } from '../../src/blobs-url';
import type { S3Place } from '../../src/blobs-url';
import { S3Store } from '../../src/s3-store';
import { CREDENTIALS, startS3Server } from '../support/s3-server';
import type { S3Server } from '../support/s3-server';

const MIB = 1024 * 1024;
const LIMITS = { copyBytes: 256 * MIB, requestMs: 20_000 };
const findReferenced = () => Promise.resolve([]);

let server: S3Server;
beforeEach(async () => {
  server = await startS3Server();
});
afterEach(() => server.close());

function storeAt(url: string, limits = LIMITS, credentials = CREDENTIALS): S3Store {
  return new S3Store(parseBlobsUrl(url) as { kind: 's3' } & S3Place, credentials, limits);
}

async function expectUnavailable(url: string, limits = LIMITS, credentials = CREDENTIALS): Promise<void> {
  const blobs = new BlobStorage(storeAt(url, limits, credentials));
  const key = 'a'.repeat(64);
  const unavailable = { name: 'BlobError', reason: 'unavailable' };
  await expect(blobs.stat(key)).rejects.toMatchObject(unavailable);
  await expect(blobs.open(key)).rejects.toMatchObject(unavailable);
  await expect(blobs.sweep({ findReferenced })).rejects.toMatchObject(unavailable);
  for (const size of [10, 12 * MIB]) {
    const source = Readable.from([Buffer.alloc(size)]);
    await expect(blobs.put(source, { maxBytes: 20 * MIB })).rejects.toMatchObject(unavailable);
    expect(source.destroyed).toBe(true);
  }
}

it('copies a large file in parts', async () => {
  const blobs = new BlobStorage(storeAt(server.url, { ...LIMITS, copyBytes: 5 * MIB }));
  const content = randomBytes(12 * MIB + 1);
  const { key } = await blobs.put(Readable.from([content]), { maxBytes: 20 * MIB });
  const hash = createHash('sha256');
  for await (const chunk of (await blobs.open(key)).body as AsyncIterable<Buffer>) hash.update(chunk);
  expect([hash.digest('hex'), await server.unfinished()]).toEqual([key, []]);
  const copies = server.operations.filter((name) => name.includes('Copy'));
  expect(copies).toEqual(['UploadPartCopy', 'UploadPartCopy', 'UploadPartCopy']);
});

it('sweeps the parts of uploads whose process died, and keeps those that are under way', async () => {
  const { S3Client, CreateMultipartUploadCommand } = await import('@aws-sdk/client-s3');
  const endpoint = `http://127.0.0.1:${server.port}`;
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials: CREDENTIALS });
  const begin = async (name: string): Promise<string> => {
    const input = { Bucket: 'files', Key: `rookery/uploads/${name}` };
    return (await client.send(new CreateMultipartUploadCommand(input))).UploadId ?? '';
  };
  await server.setTime(await begin('dead'), new Date(0));
  const alive = await begin('alive');
  const result = await new BlobStorage(storeAt(server.url)).sweep({ findReferenced });
  expect([result.leftovers, await server.unfinished()]).toEqual([1, [alive]]);
  client.destroy();
});

describe('a server', () => {
  it('that is away is unavailable', async () => {
    const gone = await startS3Server();
    await gone.close();
    await expectUnavailable(gone.url);
  });

  it('that accepts connections and never answers is unavailable', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    await expectUnavailable(server.url.replace(String(server.port), String(port)), { ...LIMITS, requestMs: 50 });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });

  it('that does not know the account is unavailable', async () => {
    await expectUnavailable(server.url, LIMITS, { ...CREDENTIALS, accessKeyId: 'UNKNOWN' });
  });

  it('without the bucket is unavailable', async () => {
    const blobs = new BlobStorage(storeAt(server.url.replace('s3://files/', 's3://other/')));
    const source = Readable.from([Buffer.from('x')]);
    await expect(blobs.put(source, { maxBytes: 1 })).rejects.toMatchObject({ reason: 'unavailable' });
    await expect(blobs.open('a'.repeat(64))).rejects.toMatchObject({ reason: 'unavailable' });
  });
});
