import ipaddr from 'ipaddr.js';
import { isPublicAddress, publicRanges } from './public-address';

test.each(['1.1.1.1', '93.184.215.14', '8.8.8.8', '2606:4700::1', '2a00:1450:4001:80f::200e'])(
  '%s is public',
  (address) => expect(isPublicAddress(address)).toBe(true),
);

test.each([
  ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '169.254.169.254', '192.0.0.8', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.51.100.7'],
  ...['168.63.129.16', '203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::2', '::127.0.0.1', '::1.1.1.1', '::ffff:127.0.0.1', '::ffff:1.1.1.1', '::ffff:0:1.1.1.1'],
  ...['64:ff9b::7f00:1', '64:ff9b::101:101', '64:ff9b:1::1', '2002:7f00:1::1', '2002:101:101::', '2001::1'],
  ...['100::1', '2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1', '3fff::1', '5f00::1', '4000::1'],
  ...['fc00::1', 'fd12:3456::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1'],
  ...['', 'localhost', '1.1.1', '2130706433', '0x7f.1', '1.1.1.1/8', '[::1]', '1.1.1.1%1'],
])('%p is not', (address) => expect(isPublicAddress(address)).toBe(false));

describe('as ranges', () => {
  const isWithin = (address: string, cidr: string): boolean => {
    const [range, bits] = ipaddr.parseCIDR(cidr);
    const parsed = ipaddr.parse(address);
    return parsed.kind() === range.kind() && (parsed as ipaddr.IPv6).match(range as ipaddr.IPv6, bits);
  };
  const isOpen = (address: string): boolean =>
    publicRanges().some(({ cidr, except }) => isWithin(address, cidr) && !except.some((one) => isWithin(address, one)));

  it('agree for the first and last address of each range, and for their neighbours', () => {
    const edges = publicRanges().flatMap(({ except }) => except.flatMap(rangeEdges));
    expect(edges.length).toBeGreaterThan(80);
    expect(edges.filter((address) => isOpen(address) !== isPublicAddress(address))).toEqual([]);
    expect(['1.1.1.1', '2606:4700::1', '168.63.129.15', '168.63.129.17'].filter((one) => !isOpen(one))).toEqual([]);
  });
});

/** The first and last address of a range, and the addresses before and after them. */
function rangeEdges(cidr: string): string[] {
  const [range, bits] = ipaddr.parseCIDR(cidr);
  const bytes = range.toByteArray();
  const first = BigInt(`0x${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`);
  const size = 1n << BigInt(bytes.length * 8 - bits);
  const all = 1n << BigInt(bytes.length * 8);
  const toText = (value: bigint): string => {
    const hex = value.toString(16).padStart(bytes.length * 2, '0');
    return ipaddr.fromByteArray(hex.match(/../g)!.map((byte) => Number.parseInt(byte, 16))).toString();
  };
  return [first - 1n, first, first + size - 1n, first + size].filter((one) => one >= 0n && one < all).map(toText);
}
