import { isIP } from 'node:net';
import { buildConnector } from 'undici';

/** More would keep a request at names with very many addresses that are all away. */
const MAX_ADDRESSES = 4;

/**
 * Connects to the given addresses, one after the other until one takes the connection, and to nothing else: the name
 * of the URL counts for TLS and the Host header only. So it makes no difference what a second look at the name would
 * say. Certificates are verified.
 * Units: `timeoutMs` for each address.
 */
export function pinnedTo(
  addresses: readonly string[],
  timeoutMs: number,
  ca: string | undefined,
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    rejectUnauthorized: true,
    maxCachedSessions: 0,
    ...(ca === undefined ? {} : { ca }),
  });
  return (options, callback) => {
    const tryFrom = (index: number): void => {
      const hostname = addresses[index];
      if (hostname === undefined || isIP(hostname) === 0) {
        callback(new Error('no address to connect to'), null);
        return;
      }
      connect({ ...options, hostname }, (...[error, socket]) => {
        if (error === null) callback(null, socket);
        else if (index + 1 < Math.min(addresses.length, MAX_ADDRESSES)) tryFrom(index + 1);
        else callback(error, null);
      });
    };
    tryFrom(0);
  };
}
