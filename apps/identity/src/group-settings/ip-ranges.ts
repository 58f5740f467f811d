import { isIP } from 'node:net';

const MAX_RANGES = 100;

/**
 * What is wrong with a comma-separated list of addresses and CIDR ranges; a blank one lifts the restriction.
 * Source: reference identity-and-import 2.6; ADR 0107.
 */
export function rangeProblems(ranges: string | null | undefined, isTopLevel: boolean): string[] {
  if (!ranges?.trim()) return [];
  if (!isTopLevel) return ['IP subnet restriction only allowed for top-level groups'];
  const items = ranges.split(',').map((range) => range.trim());
  if (items.length > MAX_RANGES) return [`is too long (maximum is ${MAX_RANGES} ranges)`];
  return items.every(isRange) ? [] : ['is an invalid IP address range'];
}

function isRange(text: string): boolean {
  const [address, bits, more] = text.split('/') as [string, string?, string?];
  const family = isIP(address);
  if (family === 0 || more !== undefined) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128));
}
