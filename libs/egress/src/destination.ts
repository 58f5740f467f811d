import { isIP } from 'node:net';
import { EgressError } from './egress-error';
import { isPublicAddress } from './public-address';

/** Finds all addresses of a name. Shape: IPv4 and IPv6 as text; none, or an error, when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface DestinationRules {
  /** `host:port` as `listedDestinations` writes them. */
  readonly listed: ReadonlySet<string>;
  /** Ports of https on which servers that are not listed may be asked. */
  readonly ports: readonly number[];
}

/** Where a request goes, once its text was judged; its addresses are not known yet. */
export interface Destination {
  readonly url: URL;
  /** Lower case, ASCII, without brackets and without a dot at its end. */
  readonly hostname: string;
  /** An operator named it: its address may be private. */
  readonly isListed: boolean;
}

const MAX_URL_LENGTH = 2048;
const MAX_HOST_LENGTH = 253;
/** A parser takes some of these away without a word, and others read them as separators. */
const IS_UNSOUND = /[\s\\\u0000-\u0020\u007f]/;
const LISTED = /^(.+):(\d{1,5})$/;
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])$/;

/**
 * Reads `EGRESS_ALLOW`. Shape: `host:port`, an IPv6 host in brackets; never a range or a pattern.
 * Errors: a plain Error ("holds …, which is …").
 */
export function listedDestinations(items: readonly string[]): ReadonlySet<string> {
  return new Set(
    items.map((item) => {
      const [, host = '', port = ''] = LISTED.exec(item) ?? [];
      // The parser writes hosts as it will write those of requests. Its scheme hides no port but 443.
      const text = `https://${host}:${port}`;
      const parsed = host !== '' && Number(port) > 0 && URL.canParse(text) ? new URL(text) : null;
      if (!parsed || parsed.pathname !== '/' || parsed.username !== '' || !HOST.test(parsed.hostname)) {
        throw new Error(`holds ${JSON.stringify(item)}, which is not of the form host:port`);
      }
      return keyOf(parsed, Number(port));
    }),
  );
}

/**
 * Judges the text of an address, before anybody is asked for anything. The host is judged as it will be used: escapes,
 * full-width letters and numbers in other notations are read by the same parser as by the client.
 * Errors: EgressError `address refused`.
 */
export function judged(text: string, { listed, ports }: DestinationRules): Destination {
  if (text.length > MAX_URL_LENGTH || IS_UNSOUND.test(text) || !URL.canParse(text)) throw refused('is not a URL');
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused('is not one of http or https');
  if (url.username !== '' || url.password !== '') throw refused('holds a name or a password');
  const hostname = hostnameOf(url);
  if (hostname === '' || hostname.length > MAX_HOST_LENGTH) throw refused('has no host');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  const key = keyOf(url, port);
  const isListed = listed.has(key);
  if (!isListed && (url.protocol !== 'https:' || !ports.includes(port))) {
    throw refused(`is not https on port ${ports.join(' or ')}, and ${key} is not in EGRESS_ALLOW`);
  }
  return { url, hostname, isListed };
}

/**
 * The addresses to connect to, found once: nobody is asked for them again. One that may not be reached spoils all,
 * since a name that has both kinds is either broken or a trap.
 * Errors: EgressError `name unknown`, `address refused`; those of `resolve`.
 */
export async function addressesOf(destination: Destination, resolve: Resolve): Promise<readonly string[]> {
  const { hostname, isListed, url } = destination;
  const addresses = isIP(hostname) === 0 ? await resolve(hostname) : [hostname];
  if (addresses.length === 0) throw new EgressError('name unknown', `The name ${hostname} has no address.`);
  if (!isListed && !addresses.every(isPublicAddress)) {
    throw refused(`is not on the public internet, and ${keyOf(url, Number(url.port || 443))} is not in EGRESS_ALLOW`);
  }
  return addresses;
}

/** The same host, port and scheme. */
export function isSameOrigin(one: URL, other: URL): boolean {
  return one.protocol === other.protocol && one.host === other.host;
}

function keyOf({ hostname }: URL, port: number): string {
  return `${hostname.replace(/\.$/, '')}:${port}`;
}

function hostnameOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function refused(why: string): EgressError {
  return new EgressError('address refused', `The address ${why}.`);
}
