import { createHash } from 'node:crypto';

/** Bits of a hash that make an id: those that a number can hold. */
const ID_BITS = 52n;

/** Returns an id for an object whose host has no number for it. Equal texts have equal ids. Source: ADR 0201. */
export function hashedId(text: string): number {
  const digest = createHash('sha256').update(text).digest().readBigUInt64BE();
  return Number(digest >> (64n - ID_BITS)) + 1;
}
