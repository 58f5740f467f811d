/** What of the request's headers concerns the gateway, and what it hands on. */
export interface RequestHead {
  privateToken: string;
  authorization: string;
  jobToken: string;
  sudo: string;
  requestId: string;
  /** Names a write. Empty when it was not sent. */
  idempotencyKey: string;
  origin: string;
  askedMethod: string;
  askedHeaders: string;
  contentType: string;
  forwardedFor: string;
  /** -1 without a Content-Length. Units: bytes. */
  contentLength: number;
  isChunked: boolean;
  /** The body is written in a coding that is not read here. */
  isEncoded: boolean;
  /** Names and values in turn, for the upstream: an allow-list. */
  readonly onward: string[];
  /** More or longer headers than we take. */
  isOversized: boolean;
  /** Says two things where one is meant. */
  isAmbiguous: boolean;
}

const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Handed on as they are. Everything else a client sends stays here: credentials, cookies, hop-by-hop and forwarding
 * headers, and all that begins with `x-rookery-`. Source: reference reliability 6.1; ADR 0051.
 */
const ONWARD: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'content-encoding',
  'content-type',
  'git-protocol',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
  'rookery-geo-signature',
  'unleash-appname',
  'unleash-instanceid',
  'user-agent',
]);

type Noted = Exclude<
  keyof RequestHead,
  'contentLength' | 'isChunked' | 'isEncoded' | 'onward' | 'isOversized' | 'isAmbiguous'
>;
const NOTED: ReadonlyMap<string, Noted> = new Map([
  ['private-token', 'privateToken'],
  ['authorization', 'authorization'],
  ['job-token', 'jobToken'],
  ['sudo', 'sudo'],
  ['x-request-id', 'requestId'],
  ['origin', 'origin'],
  ['access-control-request-method', 'askedMethod'],
  ['access-control-request-headers', 'askedHeaders'],
  ['x-forwarded-for', 'forwardedFor'],
]);

/** One pass over the raw headers. A noted header that comes twice is joined, so that two credentials are none. */
export function readHead(raw: readonly string[]): RequestHead {
  const head: RequestHead = {
    privateToken: '',
    authorization: '',
    jobToken: '',
    sudo: '',
    requestId: '',
    idempotencyKey: '',
    origin: '',
    askedMethod: '',
    askedHeaders: '',
    contentType: '',
    forwardedFor: '',
    contentLength: -1,
    isChunked: false,
    isEncoded: false,
    onward: [],
    isOversized: raw.length > MAX_HEADERS * 2,
    isAmbiguous: false,
  };
  let bytes = 0;
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const given = raw[index] as string;
    const value = raw[index + 1] as string;
    bytes += given.length + value.length + 4;
    const name = given.toLowerCase();
    if (ONWARD.has(name)) {
      head.onward.push(name, value);
      // Two parsers may each take another of two for what the body is.
      if (name === 'content-type' && head.contentType !== '') head.isAmbiguous = true;
      if (name === 'content-type') head.contentType = value;
      else if (name === 'idempotency-key') head.idempotencyKey = value;
      else if (name === 'content-encoding' && value.toLowerCase() !== 'identity') head.isEncoded = true;
    } else if (name === 'content-length') head.contentLength = Number(value);
    else if (name === 'transfer-encoding') {
      head.isChunked = true;
      if (value.toLowerCase() !== 'chunked') head.isEncoded = true;
    } else {
      const field = NOTED.get(name);
      if (field !== undefined) head[field] = head[field] === '' ? value : `${head[field]}, ${value}`;
    }
  }
  if (bytes > MAX_HEADER_BYTES) head.isOversized = true;
  return head;
}

/**
 * The address that limits apply to: the socket's, or the one that the outermost trusted proxy wrote.
 * Shape: `proxies` is how many proxies stand between the client and us.
 */
export function clientAddress(socketAddress: string | undefined, forwardedFor: string, proxies: number): string {
  const own = plain(socketAddress ?? '');
  if (proxies === 0 || forwardedFor === '') return own;
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  const hop = hops[Math.max(0, hops.length - proxies)];
  return hop !== undefined && /^[0-9A-Fa-f.:]{2,45}$/.test(hop) ? plain(hop) : own;
}

function plain(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
