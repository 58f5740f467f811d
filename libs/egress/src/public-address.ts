import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The only range of IPv6 from which public addresses have been assigned. */
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/** Public by range but internal: the address where the machines of one cloud ask for their keys and settings. */
const INSIDE = ['168.63.129.16'];

/**
 * Whether an address is on the public internet. Unknown ranges count as not public, as do loopback, private, shared,
 * link-local, documentation, benchmarking, multicast and reserved ranges. So does every form of IPv6 that carries an
 * IPv4 address (mapped, compatible, 6to4, Teredo, NAT64), whatever that address is. `address` has no brackets, as a
 * resolver or a parsed URL returns it.
 * Source: reference reliability 8.1.
 */
export function isPublicAddress(address: string): boolean {
  // The library also parses texts that no connection accepts as an address, such as 1.1.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || INSIDE.includes(parsed.toString())) return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST);
}

/**
 * Returns the same rule as ranges in CIDR form, for network policies (deploy/base/network-policies.yaml). Each `except`
 * is within its `cidr`.
 */
export function publicRanges(): readonly { readonly cidr: string; readonly except: readonly string[] }[] {
  const inside = INSIDE.map((address) => `${address}/32`);
  return [
    { cidr: '0.0.0.0/0', except: [...specialAddressRangesOf(ipaddr.IPv4.prototype), ...inside] },
    {
      cidr: GLOBAL_UNICAST.join('/'),
      except: specialAddressRangesOf(ipaddr.IPv6.prototype).filter(isWithinGlobalUnicast),
    },
  ];
}

type AddressRange = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Special ranges of an address family. The library has no other list of them, and no types for this one. */
function specialAddressRangesOf(family: object): string[] {
  const { SpecialRanges: kinds } = family as {
    readonly SpecialRanges: Readonly<Record<string, AddressRange | AddressRange[]>>;
  };
  const ranges = Object.values(kinds).flatMap((kind) =>
    Array.isArray(kind[0]) ? (kind as AddressRange[]) : [kind as AddressRange],
  );
  return ranges.map(([address, bits]) => `${address.toString()}/${bits}`);
}

function isWithinGlobalUnicast(cidr: string): boolean {
  const [address, bits] = ipaddr.parseCIDR(cidr);
  return bits >= GLOBAL_UNICAST[1] && (address as ipaddr.IPv6).match(GLOBAL_UNICAST);
}
