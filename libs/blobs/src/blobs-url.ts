import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Place of the files. */
export type BlobsPlace = { readonly kind: 'disk'; readonly root: string } | ({ readonly kind: 's3' } & S3Place);

export interface S3Place {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
  /** Null for AWS itself. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Names the bucket in the path of requests and not in the host name. */
  readonly forcePathStyle: boolean;
}

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[A-Za-z0-9._-]+\/)*$/;
const PARAMETERS: ReadonlySet<string> = new Set(['endpoint', 'region', 'forcePathStyle']);

/**
 * Reads `/path`, `file:///path` or `s3://bucket/prefix?endpoint=…&region=…&forcePathStyle=true`.
 * Errors: a plain Error whose message continues the name of a setting ("is not …") and does not show its value.
 */
export function parseBlobsUrl(text: string): BlobsPlace {
  if (isAbsolute(text)) return { kind: 'disk', root: text };
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol === 'file:') return { kind: 'disk', root: parseBlobsRootFolder(url) };
  if (url?.protocol === 's3:') return { kind: 's3', ...parseS3Location(url) };
  throw new Error('is not an absolute path, a file URL or an s3 URL');
}

function parseBlobsRootFolder(url: URL): string {
  if (url.host !== '' || url.search !== '' || url.hash !== '') throw new Error('has more than a path in its file URL');
  return fileURLToPath(url);
}

function parseS3Location(url: URL): S3Place {
  if (url.username !== '' || url.password !== '')
    throw new Error('holds credentials, which have settings of their own');
  if (!BUCKET.test(url.host)) throw new Error('does not name a bucket');
  const path = url.pathname.replace(/^\/+|\/+$/g, '');
  const prefix = path === '' ? '' : `${path}/`;
  if (!PREFIX.test(prefix) || path.split('/').some((part) => part === '.' || part === '..')) {
    throw new Error('has a prefix with characters other than letters, digits, dots, dashes and slashes');
  }
  for (const name of url.searchParams.keys()) {
    if (!PARAMETERS.has(name)) throw new Error(`has a parameter other than ${[...PARAMETERS].join(', ')}`);
  }
  return {
    bucket: url.host,
    prefix,
    endpoint: parseS3Endpoint(url.searchParams.get('endpoint')),
    region: url.searchParams.get('region') ?? 'us-east-1',
    forcePathStyle: parseForcePathStyle(url.searchParams.get('forcePathStyle')),
  };
}

function parseS3Endpoint(text: string | null): string | null {
  if (text === null) return null;
  const isHttp = URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
  if (!isHttp) throw new Error('has an endpoint that is not an http or https URL');
  return text;
}

function parseForcePathStyle(text: string | null): boolean {
  if (text === null || text === 'false') return false;
  if (text !== 'true') throw new Error('has a forcePathStyle that is neither true nor false');
  return true;
}
