import { isIP } from 'node:net';
import { buildConnector } from 'undici';

/** More addresses would take too long when all of them are unreachable. */
const MAX_ADDRESSES = 4;

/**
 * Connects to the given addresses only, one after the other until one accepts. The name of the URL is used for TLS and
 * the Host header only, so the result of a second DNS lookup makes no difference. Certificates are verified.
 * Units: `timeoutMs` for each address.
 */
export function createPinnedConnector(
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
