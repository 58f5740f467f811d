import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Of IPv6, nothing outside of this has ever been handed out. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Whether an address is somewhere on the public internet. What is not known to be public is not: loopback, private,
 * shared, link-local, documentation, benchmarking, multicast and reserved ranges, and every form of IPv6 that carries an
 * IPv4 address (mapped, compatible, 6to4, Teredo, NAT64), whatever that one is.
 * Shape: an address as a resolver or the host of a parsed URL has it, without brackets.
 * Source: reference reliability 8.1.
 */
export function isPublicAddress(address: string): boolean {
  // The library would also read what no connection takes for an address, such as 1.1.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}
