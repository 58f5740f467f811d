import { createHash } from 'node:crypto';

/** The identity of a file of symbols, by which debuggers ask for it. */
export interface PdbIdentity {
  /** GUID of the compilation in hexadecimal, and the age `ffffffff`; in lower case. */
  readonly signature: string;
  /** SHA-256 of the file with zeros in place of its id, in hexadecimal. */
  readonly checksum: string;
}

/** The headers of the streams of a file are in its first bytes. */
const HEAD_BYTES = 4096;
const ID_BYTES = 20;
const MAX_STREAMS = 16;
const AGE = 'ffffffff';

/**
 * Identifies a file of symbols in the portable format while it is streamed. Returns null for other formats, which this
 * server does not offer to debuggers. Errors: those of the source. ECMA-335 II.24.2 describes the layout. Source:
 * reference packages-and-admin 4.9.
 */
export async function identifyPdb(source: AsyncIterable<Buffer>): Promise<PdbIdentity | null> {
  const hash = createHash('sha256');
  const id = Buffer.alloc(ID_BYTES);
  let head: Buffer | null = Buffer.alloc(0);
  let idAt: number | null = null;
  let position = 0;
  const take = (chunk: Buffer): void => {
    const [from, to] = [idAt! - position, idAt! - position + ID_BYTES].map((at) =>
      Math.min(Math.max(at, 0), chunk.length),
    ) as [number, number];
    if (from < to) chunk.copy(id, position + from - idAt!, from, to);
    hash.update(chunk.subarray(0, from));
    hash.update(Buffer.alloc(to - from));
    hash.update(chunk.subarray(to));
    position += chunk.length;
  };
  for await (const chunk of source) {
    if (head === null) {
      take(chunk);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < HEAD_BYTES) continue;
    idAt = findPdbIdPosition(head);
    if (idAt === null) return null;
    take(head);
    head = null;
  }
  if (head !== null) {
    idAt = findPdbIdPosition(head);
    if (idAt === null) return null;
    take(head);
  }
  if (idAt === null || position < idAt + ID_BYTES) return null;
  return { signature: `${formatGuidAsHex(id)}${AGE}`, checksum: hash.digest('hex') };
}

/** Position of the id, with which the stream `#Pdb` begins. Returns null without that stream. */
function findPdbIdPosition(head: Buffer): number | null {
  if (head.length < 16 || head.toString('latin1', 0, 4) !== 'BSJB') return null;
  let at = 16 + head.readUInt32LE(12);
  if (at + 4 > head.length) return null;
  const streams = head.readUInt16LE(at + 2);
  at += 4;
  for (let index = 0; index < Math.min(streams, MAX_STREAMS); index++) {
    const end = head.indexOf(0, at + 8);
    if (at + 8 > head.length || end < 0) return null;
    if (head.toString('latin1', at + 8, end) === '#Pdb') return head.readUInt32LE(at);
    // Names end with a zero and fill whole words of four bytes.
    at += 8 + Math.ceil((end - at - 8 + 1) / 4) * 4;
  }
  return null;
}

/** The first three parts of a GUID are numbers that begin with their lowest byte. */
function formatGuidAsHex(id: Buffer): string {
  const parts = [id.subarray(0, 4), id.subarray(4, 6), id.subarray(6, 8)];
  return Buffer.concat([...parts.map((part) => Buffer.from(part).reverse()), id.subarray(8, 16)]).toString('hex');
}
