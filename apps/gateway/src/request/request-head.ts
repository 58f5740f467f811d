/** The request headers that the gateway reads, and those that it forwards. */
export interface RequestHead {
  privateToken: string;
  authorization: string;
  jobToken: string;
  deployToken: string;
  nugetApiKey: string;
  sudo: string;
  requestId: string;
  /** Idempotency key. Empty when it was not sent. */
  idempotencyKey: string;
  origin: string;
  askedMethod: string;
  askedHeaders: string;
  contentType: string;
  forwardedFor: string;
  /** -1 without Content-Length. Units: bytes. */
  contentLength: number;
  isChunked: boolean;
  /** The body has a content coding that is not decoded here. */
  isEncoded: boolean;
  /** Alternating names and values for the upstream: an allow-list. */
  readonly onward: string[];
  /** More or longer headers than allowed. */
  isOversized: boolean;
  /** Two values for a header that must have one. */
  isAmbiguous: boolean;
}

const MAX_HEADERS = 100;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Forwarded unchanged. Everything else a client sends is dropped: credentials, cookies, hop-by-hop and forwarding
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
  'npm-session',
  'range',
  'rookery-geo-signature',
  'symbolchecksum',
  'unleash-appname',
  'unleash-instanceid',
  'user-agent',
  'x-checksum-deploy',
  'x-checksum-sha1',
  'x-gitlab-event',
]);

type HeaderField = Exclude<
  keyof RequestHead,
  'contentLength' | 'isChunked' | 'isEncoded' | 'onward' | 'isOversized' | 'isAmbiguous'
>;
const READ_HEADERS: ReadonlyMap<string, HeaderField> = new Map([
  ['private-token', 'privateToken'],
  ['authorization', 'authorization'],
  ['job-token', 'jobToken'],
  ['deploy-token', 'deployToken'],
  ['x-nuget-apikey', 'nugetApiKey'],
  ['sudo', 'sudo'],
  ['x-request-id', 'requestId'],
  ['origin', 'origin'],
  ['access-control-request-method', 'askedMethod'],
  ['access-control-request-headers', 'askedHeaders'],
  ['x-forwarded-for', 'forwardedFor'],
]);

/** Reads the raw headers in one pass. A repeated header is joined with a comma, so that two credentials are invalid. */
export function readHead(raw: readonly string[]): RequestHead {
  const head: RequestHead = {
    privateToken: '',
    authorization: '',
    jobToken: '',
    deployToken: '',
    nugetApiKey: '',
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
      // Two parsers could choose different ones of two content types.
      if (name === 'content-type' && head.contentType !== '') head.isAmbiguous = true;
      if (name === 'content-type') head.contentType = value;
      else if (name === 'idempotency-key') head.idempotencyKey = value;
      else if (name === 'content-encoding' && value.toLowerCase() !== 'identity') head.isEncoded = true;
    } else if (name === 'content-length') head.contentLength = Number(value);
    else if (name === 'transfer-encoding') {
      head.isChunked = true;
      if (value.toLowerCase() !== 'chunked') head.isEncoded = true;
    } else {
      const field = READ_HEADERS.get(name);
      if (field !== undefined) head[field] = head[field] === '' ? value : `${head[field]}, ${value}`;
    }
  }
  if (bytes > MAX_HEADER_BYTES) head.isOversized = true;
  return head;
}

/**
 * The client address for limits: the socket's, or the one that the outermost trusted proxy wrote. `proxies` is the
 * number of proxies between the client and the gateway.
 */
export function clientAddress(socketAddress: string | undefined, forwardedFor: string, proxies: number): string {
  const own = withoutIpv4Mapping(socketAddress ?? '');
  if (proxies === 0 || forwardedFor === '') return own;
  const hops = forwardedFor.split(',').map((hop) => hop.trim());
  const hop = hops[Math.max(0, hops.length - proxies)];
  return hop !== undefined && /^[0-9A-Fa-f.:]{2,45}$/.test(hop) ? withoutIpv4Mapping(hop) : own;
}

function withoutIpv4Mapping(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
