import type { ConnectionOptions } from 'nats';

/** Files of certificates; texts are paths. */
export interface BusFiles {
  readonly caFile?: string | null;
  readonly certFile?: string | null;
  readonly keyFile?: string | null;
}

const SCHEMES = new Set(['nats:', 'tls:']);

/**
 * Connection options of the client, from `NATS_URL`. The client takes user, password, token and TLS as options and
 * would silently drop them from a URL. The text has the form `nats://user:password@host:4222,host2:4222`. `tls://` asks
 * for TLS, and a user without a password is a token. All addresses of one text have the same scheme. They share the
 * credentials of the first that has them.
 * Errors: a plain Error that names the fault but not the URL, which contains a password.
 */
export function connectionOptions(text: string, files: BusFiles = {}): Partial<ConnectionOptions> {
  const urls = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(requireBusUrl);
  if (urls.length === 0) throw new Error('NATS_URL names no server');
  const servers = urls.map((url) => `${url.hostname}:${url.port === '' ? '4222' : url.port}`);
  return { servers, ...readCredentials(urls), ...tlsOptions(urls, files) };
}

function requireBusUrl(part: string): URL {
  const url = parseUrlOrNull(part.includes('://') ? part : `nats://${part}`);
  if (!url || !SCHEMES.has(url.protocol) || url.hostname === '') {
    throw new Error('NATS_URL is not of the form nats://host:4222 or tls://host:4222');
  }
  return url;
}

function parseUrlOrNull(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

function readCredentials(urls: readonly URL[]): Partial<ConnectionOptions> {
  const all = [...new Set(urls.filter(hasCredentials).map((url) => `${url.username}:${url.password}`))];
  if (all.length > 1) throw new Error('NATS_URL names several users; one is used for all servers');
  const url = urls.find(hasCredentials);
  if (!url) return {};
  const user = decodeURIComponent(url.username);
  return url.password === '' ? { token: user } : { user, pass: decodeURIComponent(url.password) };
}

function hasCredentials(url: URL): boolean {
  return url.username !== '' || url.password !== '';
}

/** With `tls`, the client refuses a server without TLS. */
function tlsOptions(urls: readonly URL[], files: BusFiles): Partial<ConnectionOptions> {
  const asked = urls.map((url) => url.protocol === 'tls:');
  if (new Set(asked).size > 1) throw new Error('NATS_URL mixes nats:// and tls://');
  const given = Object.fromEntries(Object.entries(files).filter(([, path]) => path));
  return asked[0] || Object.keys(given).length > 0 ? { tls: given } : {};
}
