import { createHash, randomBytes } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import { NO_OBJECT } from '../../src/names/object-id';

const COMMIT = 1;
const TREE = 2;
const BLOB = 3;
const OFFSET_DELTA = 6;
const BASE_DELTA = 7;

/** Line of git's protocol with its length. */
export function line(text: string): string {
  return `${(text.length + 4).toString(16).padStart(4, '0')}${text}`;
}

/** Push of a commit with blobs that are a base repeated by a delta. Returns the request and the size of the blobs. */
export function deltaBomb(blobs: number, copies: number, baseBytes = 200_000): { request: Buffer; bytes: number } {
  const base = randomBytes(baseBytes);
  const parts: Buffer[] = [];
  const entries: Buffer[] = [];
  let at = 12;
  const add = (part: Buffer): void => {
    parts.push(part);
    at += part.length;
  };
  const baseAt = at;
  add(packEntry(BLOB, base));
  for (let index = 0; index < blobs; index += 1) {
    const end = String(index).padStart(8, '0');
    const copy = Buffer.from([0xf0, baseBytes & 255, (baseBytes >> 8) & 255, baseBytes >> 16]);
    const sizes = Buffer.concat([encodeVarint(baseBytes), encodeVarint(baseBytes * copies + 8)]);
    const delta = Buffer.concat([sizes, ...Array<Buffer>(copies).fill(copy), Buffer.from(`\b${end}`)]);
    add(packEntry(OFFSET_DELTA, delta, encodeDeltaOffset(at - baseAt)));
    const id = objectHash('blob', Buffer.concat([...Array<Buffer>(copies).fill(base), Buffer.from(end)]));
    entries.push(Buffer.from(`100644 f${end}\0`), id);
  }
  const request = createPush(parts, entries);
  return { request, bytes: blobs * copies * baseBytes };
}

/** Push of blobs that are deltas of blobs of the repository, so that git adds those to the pack in full. */
export function thinPush(bases: readonly { readonly id: string; readonly content: Buffer }[]): Buffer {
  const entries: Buffer[] = [];
  const parts = bases.map(({ id, content }, index) => {
    const end = String(index).padStart(8, '0');
    const sizes = Buffer.concat([encodeVarint(content.length), encodeVarint(9)]);
    const delta = Buffer.concat([sizes, Buffer.from([0x91, 0, 1]), Buffer.from(`\b${end}`)]);
    entries.push(
      Buffer.from(`100644 f${end}\0`),
      objectHash('blob', Buffer.concat([content.subarray(0, 1), Buffer.from(end)])),
    );
    return packEntry(BASE_DELTA, delta, Buffer.from(id, 'hex'));
  });
  return createPush(parts, entries);
}

/** Adds a tree with these entries and a commit. */
function createPush(blobs: readonly Buffer[], entries: readonly Buffer[]): Buffer {
  const tree = Buffer.concat(entries);
  const parts = [...blobs, packEntry(TREE, tree)];
  const who = 'Wren <wren@example.org> 1700000000 +0000';
  const text = `tree ${objectHash('tree', tree).toString('hex')}\nauthor ${who}\ncommitter ${who}\n\nPush\n`;
  parts.push(packEntry(COMMIT, Buffer.from(text)));
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0');
  head.writeUInt32BE(parts.length, 8);
  const pack = Buffer.concat([head, ...parts]);
  const id = objectHash('commit', Buffer.from(text)).toString('hex');
  const command = `${line(`${NO_OBJECT} ${id} refs/heads/pushed\0 report-status`)}0000`;
  const sum = createHash('sha1').update(pack).digest();
  return Buffer.concat([Buffer.from(command), pack, sum]);
}

function objectHash(type: string, content: Buffer): Buffer {
  return createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest();
}

function packEntry(type: number, content: Buffer, base: Buffer = Buffer.alloc(0)): Buffer {
  const rest = Math.floor(content.length / 16);
  const first = (type << 4) | (content.length & 15);
  const head = rest === 0 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 128]), encodeVarint(rest)]);
  return Buffer.concat([head, base, deflateSync(content)]);
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left >>= 7) {
    if (left < 128) return Buffer.from([...bytes, left]);
    bytes.push((left & 127) | 128);
  }
}

function encodeDeltaOffset(value: number): Buffer {
  const bytes = [value & 127];
  for (let left = value >> 7; left > 0; left >>= 7) {
    left -= 1;
    bytes.unshift((left & 127) | 128);
  }
  return Buffer.from(bytes);
}
