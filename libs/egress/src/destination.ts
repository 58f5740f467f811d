import { isIP } from 'node:net';
import { EgressError } from './egress-error';
import { isPublicAddress } from './public-address';

/**
 * Looks up all addresses of a name. Returns IPv4 and IPv6 addresses as text. Returns an empty list or throws if there
 * are none.
 */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface DestinationRules {
  /** `host:port` as `parseAllowedDestinations` writes them. */
  readonly listed: ReadonlySet<string>;
  /** Ports of https that are allowed for hosts that are not listed. */
  readonly ports: readonly number[];
}

/** Target of a request after the check of its URL; its addresses are not looked up yet. */
export interface Destination {
  readonly url: URL;
  /** Lower case, ASCII, without brackets and without a dot at its end. */
  readonly hostname: string;
  /** The operator listed this host: its address may be private. */
  readonly isListed: boolean;
}

const MAX_URL_LENGTH = 2048;
const MAX_HOST_LENGTH = 253;
/** Characters that URL parsers either drop silently or read as separators. */
const IS_UNSOUND = /[\s\\\u0000-\u0020\u007f]/;
const LISTED = /^(.+):(\d{1,5})$/;
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/;

/**
 * Reads `EGRESS_ALLOW`. Items have the form `host:port`, with an IPv6 host in brackets. They are never ranges or
 * patterns.
 * Errors: a plain Error ("holds …, which is …").
 */
export function parseAllowedDestinations(items: readonly string[]): ReadonlySet<string> {
  return new Set(
    items.map((item) => {
      const [, host = '', port = ''] = LISTED.exec(item) ?? [];
      // The URL parser normalizes listed hosts as it does those of requests. With https it drops no port but 443.
      const text = `https://${host}:${port}`;
      const parsed = host !== '' && Number(port) > 0 && URL.canParse(text) ? new URL(text) : null;
      if (!parsed || parsed.pathname !== '/' || parsed.username !== '' || !HOST.test(parsed.hostname)) {
        throw new Error(`holds ${JSON.stringify(item)}, which is not of the form host:port`);
      }
      return hostKey(parsed, Number(port));
    }),
  );
}

/**
 * Checks the URL of a request before any lookup or connection. The host is checked in its final form: the same parser
 * as the client's decodes escapes, full-width letters and numbers in other notations.
 * Errors: EgressError `address refused`.
 */
export function checkedDestination(text: string, { listed, ports }: DestinationRules): Destination {
  if (text.length > MAX_URL_LENGTH || IS_UNSOUND.test(text) || !URL.canParse(text))
    throw createAddressRefusedError('is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw createAddressRefusedError('is not one of http or https');
  if (url.username !== '' || url.password !== '') throw createAddressRefusedError('holds a name or a password');
  const hostname = unbracketedHostname(url);
  if (hostname === '' || hostname.length > MAX_HOST_LENGTH) throw createAddressRefusedError('has no host');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const key = hostKey(url, port);
  const isListed = listed.has(key);
  if (!isListed && (url.protocol !== 'https:' || !ports.includes(port))) {
    throw createAddressRefusedError(`is not https on port ${ports.join(' or ')}, and ${key} is not in EGRESS_ALLOW`);
  }
  return { url, hostname, isListed };
}

/**
 * The addresses to connect to, looked up once and never again. A single address that is not allowed refuses the whole
 * name, because a name with both kinds of addresses is either misconfigured or an attack.
 * Errors: EgressError `name unknown`, `address refused`; those of `resolve`.
 */
export async function resolveAddresses(destination: Destination, resolve: Resolve): Promise<readonly string[]> {
  const { hostname, isListed, url } = destination;
  const addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
  if (addresses.length === 0) throw new EgressError('name unknown', `The name ${hostname} has no address.`);
  if (!isListed && !addresses.every(isPublicAddress)) {
    throw createAddressRefusedError(
      `is not on the public internet, and ${hostKey(url, Number(url.port || 443))} is not in EGRESS_ALLOW`,
    );
  }
  return addresses;
}

/** Whether two URLs have the same host, port and scheme. */
export function isSameOrigin(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && one.host === other.host;
}

function hostKey({ hostname }: URL, port: number): string {
  return `${hostname.replace(/\.$/, '')}:${port}`;
}

function unbracketedHostname({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function createAddressRefusedError(why: string): EgressError {
  return new EgressError('address refused', `The address ${why}.`);
}
