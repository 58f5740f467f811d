import { EgressError } from './egress-error';

const UNREACHABLE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);
const UNKNOWN_NAME: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'ENODATA', 'EAI_FAIL', 'EAI_NODATA']);
const IS_ABOUT_TLS = /CERT|SELF_SIGNED|UNABLE_TO_|^ERR_(?:TLS|SSL)|^EPROTO$|HOSTNAME_MISMATCH/;

/** Maps an error of a client, a DNS lookup or a connection to an EgressError. An unknown error is returned as it is. */
export function toEgressError(error: unknown): unknown {
  if (error instanceof EgressError || !(error instanceof Error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  if (UNKNOWN_NAME.has(code)) return new EgressError('name unknown', 'The name has no address.', { cause: error });
  if (IS_ABOUT_TLS.test(code)) {
    return new EgressError('certificate', 'The server does not prove that it is who it says.', { cause: error });
  }
  if (UNREACHABLE.has(code)) {
    return new EgressError('unreachable', `The server cannot be reached (${code}).`, { cause: error });
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new EgressError('too large', 'The head of the answer is too large.', { cause: error });
  }
  if (error.name === 'HTTPParserError' || code.startsWith('UND_ERR_')) {
    return new EgressError('malformed', 'The answer is no HTTP.', { cause: error });
  }
  return error;
}
