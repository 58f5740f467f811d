import { mkdtemp, mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface RequestContext {
  method: string;
  path: string;
  query: Record<string, string>;
  status: number;
  type: string;
  body: string;
}
interface S3rverServer {
  readonly middleware: unknown[];
  readonly logger: { silent: boolean };
  readonly store: { getObject(bucket: string, key: string, options: { end?: unknown }): Promise<unknown> };
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}
// eslint-disable-next-line @typescript-eslint/no-require-imports -- The package has no types.
const S3rver = require('@20minutes/s3rver') as new (options: object) => S3rverServer;

const BUCKET = 'files';
const UPLOADS = '._S3rver_uploads';
const PREFIX = 'rookery/';

/** The account that the server knows. */
export const CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };

/** An S3 server on loopback that keeps its objects in a temporary folder. */
export interface S3Server {
  readonly url: string;
  readonly port: number;
  /** Names of the operations that were asked for. */
  readonly operations: string[];
  /** Identifiers of uploads in parts that are neither completed nor aborted. */
  unfinished(): Promise<string[]>;
  /** Sets the time of an object or of an unfinished upload. */
  setTime(name: string, time: Date): Promise<void>;
  close(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const directory = await mkdtemp(join(tmpdir(), 'rookery-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: BUCKET }],
    // The server signs a bucket's path without the slash that clients of today send at its end.
    allowMismatchedSignatures: true,
  });
  server.logger.silent = true;
  const bucket = join(directory, BUCKET);
  server.middleware.unshift((context: RequestContext, next: () => Promise<void>) =>
    handleUploadRequests(bucket, context, next),
  );
  const operations: string[] = [];
  server.middleware.unshift((context: RequestContext, next: () => Promise<void>) => {
    operations.push(context.query['x-id'] ?? context.method);
    return next();
  });
  fixOneByteRanges(server);
  const { port } = await server.run();
  // The server removes a folder with its last object, even while another request is about to write into it.
  for (const folder of ['files', 'uploads', 'removing']) {
    await mkdir(join(bucket, PREFIX, folder), { recursive: true });
    await writeFile(join(bucket, PREFIX, folder, 'keep'), '');
  }
  const folders = (): Promise<string[]> => readdir(join(bucket, UPLOADS)).catch(() => []);
  return {
    url: `s3://${BUCKET}/${PREFIX}?endpoint=http://127.0.0.1:${port}&forcePathStyle=true`,
    port,
    operations,
    unfinished: folders,
    setTime: async (name, time) => {
      const isUpload = (await folders()).includes(name);
      await utimes(join(bucket, isUpload ? join(UPLOADS, name) : `${PREFIX}${name}._S3rver_object`), time, time);
    },
    close: async () => {
      await server.close();
      await rm(directory, { recursive: true });
    },
  };
}

/** Adds two operations that the server lacks: listing and aborting of uploads in parts. */
async function handleUploadRequests(bucket: string, context: RequestContext, next: () => Promise<void>): Promise<void> {
  const { method, query } = context;
  const folder = join(bucket, UPLOADS);
  if (method === 'DELETE' && query['uploadId']) {
    await rm(join(folder, query['uploadId']), { recursive: true });
    context.status = 204;
  } else if (method === 'GET' && 'uploads' in query) {
    const ids = await readdir(folder).catch(() => []);
    const found = await Promise.all(ids.map((id) => describeUpload(join(folder, id), id)));
    context.type = 'application/xml';
    context.body = `<ListMultipartUploadsResult>${found.join('')}</ListMultipartUploadsResult>`;
  } else {
    await next();
  }
}

async function describeUpload(folder: string, id: string): Promise<string> {
  const [key, { mtime }] = [await readFile(join(folder, 'key'), 'utf8'), await stat(folder)];
  const fields = `<Key>${key}</Key><UploadId>${id}</UploadId><Initiated>${mtime.toISOString()}</Initiated>`;
  return `<Upload>${fields}</Upload>`;
}

/** The server takes an end of 0 for no end; an object is not falsy. */
function fixOneByteRanges({ store }: S3rverServer): void {
  const getObject = store.getObject.bind(store);
  store.getObject = (bucket, key, options) =>
    getObject(bucket, key, options?.end === 0 ? { ...options, end: Object(0) as unknown } : options);
}
