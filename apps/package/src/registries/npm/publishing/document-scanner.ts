import { Refused } from '@rookery/kernel';

/** A part of an attachment, in the order of its characters. `text` is base64 without its JSON escapes. */
export type AttachmentPart =
  | { readonly kind: 'begin'; readonly name: string }
  | { readonly kind: 'data'; readonly text: string }
  | { readonly kind: 'end' };

/** A version in a document. `deprecated` is null if the document has no text there. A long text is cut at its end. */
export interface ScannedVersion {
  readonly deprecated: string | null;
}

/** A document without the data of its attachments. */
export interface ScannedDocument {
  /** The top-level object. Values of `versions` are null where they were objects; `data` of attachments is empty. */
  readonly root: Readonly<Record<string, unknown>>;
  readonly versions: ReadonlyMap<string, ScannedVersion>;
  /** The manifest of a document with a single version; null for another number of versions. */
  readonly manifest: Readonly<Record<string, unknown>> | null;
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Depth of the deepest key that decides what becomes of a value: `_attachments.<name>.data`. */
const KNOWN_DEPTH = 3;
const MAX_DEPTH = 200;
const MAX_KEY_BYTES = 2048;
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
const MAX_VERSION_BYTES = 4 * 1024 * 1024;
const MAX_VERSIONS = 50_000;
const MAX_ATTACHMENTS = 20;
/** Kept of a deprecation, more than any registry stores. Units: characters. */
const MAX_DEPRECATION = 5000;

/** Refusal of a body that is not JSON, or nested deeper than any manifest. */
export const invalidJsonRefusal = (): Refused => new Refused('Invalid json', { verbatim: true });
const tooLargeRefusal = (): Refused => new Refused('File is too large.', { verbatim: true });

/**
 * Reads a publish document while it arrives. The data of attachments is handed on and everything else is kept as text,
 * one version at a time, and parsed by `JSON.parse`. The scanner itself only knows strings and nesting, so the order of
 * the keys is free. Bounds: 8 MiB of text, 4 MiB for each version.
 * Errors: Refused. Source: reference packages-and-admin 4.4.
 */
export class NpmPublishDocumentScanner {
  private readonly rest = new ByteCollector(MAX_TEXT_BYTES);
  private readonly versions = new Map<string, ScannedVersion>();
  private manifest: Readonly<Record<string, unknown>> | null = null;
  /** The version that is being read, else null. */
  private version: ByteCollector | null = null;
  /** Opening brackets of the containers around the position. */
  private readonly open: number[] = [];
  /** Keys on the way to the position, by depth; null within a list. Keys deeper than the position are stale. */
  private readonly path: (string | null)[] = [];
  private isKeyNext = false;
  private mode: 'plain' | 'key' | 'string' | 'data' = 'plain';
  private key: ByteCollector | null = null;
  /** Characters of an escape that is not complete; null outside of one. */
  private escape: string | null = null;
  private attachments = 0;
  /** Number of kept characters of all deprecations together. */
  private keptCharacters = 0;

  /** Scans the next chunk of the document, and yields the parts of it that belong to attachments. */
  *scanChunk(chunk: Buffer): Generator<AttachmentPart> {
    let from = 0;
    for (let at = 0; at < chunk.length;) {
      if (this.mode === 'data') {
        at = yield* this.readAttachmentData(chunk, at);
        from = at;
      } else if (this.mode === 'plain') {
        const byte = chunk[at++]!;
        if (byte === QUOTE) {
          if (!this.beginString()) continue;
          this.keepBytes(chunk, from, at);
          yield { kind: 'begin', name: this.path[1]! };
        } else from = this.scanStructure(byte, chunk, from, at);
      } else at = this.readString(chunk, at);
    }
    if (this.mode !== 'data') this.keepBytes(chunk, from, chunk.length);
  }

  /** Returns the document. Call it once, after the last byte. */
  finish(): ScannedDocument {
    const root = parseJsonObject(this.rest.takeBytes());
    const manifest = this.versions.size === 1 ? this.manifest : null;
    return { root, versions: this.versions, manifest };
  }

  /** Takes a byte outside of strings. Returns the position from which text is not kept yet. */
  private scanStructure(byte: number, chunk: Buffer, from: number, at: number): number {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      const isVersion = this.open.length === 2 && this.path[0] === 'versions' && typeof this.path[1] === 'string';
      if (isVersion && byte === OPEN_OBJECT && this.version === null) {
        this.keepBytes(chunk, from, at - 1);
        this.version = new ByteCollector(MAX_VERSION_BYTES);
        from = at - 1;
      }
      this.open.push(byte);
      if (this.open.length > MAX_DEPTH) throw invalidJsonRefusal();
      if (this.open.length <= KNOWN_DEPTH) this.path[this.open.length - 1] = null;
      this.isKeyNext = byte === OPEN_OBJECT;
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      this.open.pop();
      this.isKeyNext = false;
      if (this.version !== null && this.open.length === 2) return this.endVersion(chunk, from, at);
    } else if (byte === COMMA) this.isKeyNext = this.open.at(-1) === OPEN_OBJECT;
    else if (byte === COLON) this.isKeyNext = false;
    return from;
  }

  /** Returns whether the string is the data of an attachment. */
  private beginString(): boolean {
    const [first, , third] = this.path;
    if (this.isKeyNext) {
      this.mode = 'key';
      this.key = this.open.length <= KNOWN_DEPTH ? new ByteCollector(MAX_KEY_BYTES) : null;
    } else if (this.open.length === 3 && first === '_attachments' && third === 'data' && this.path[1] !== null) {
      this.mode = 'data';
      if (++this.attachments > MAX_ATTACHMENTS) throw new Refused('Too many attachments.', { verbatim: true });
    } else this.mode = 'string';
    return this.mode === 'data';
  }

  /** Reads a string up to its quote or the end of the chunk. Returns the next position. */
  private readString(chunk: Buffer, start: number): number {
    let at = start;
    for (; at < chunk.length; at++) {
      const byte = chunk[at]!;
      if (this.escape !== null) this.escape = null;
      else if (byte === BACKSLASH) this.escape = '';
      else if (byte === QUOTE) break;
    }
    this.key?.addBytes(chunk, start, at);
    if (at === chunk.length) return at;
    if (this.mode === 'key' && this.key) this.path[this.open.length - 1] = parseJsonStringContent(this.key.takeBytes());
    this.key = null;
    this.mode = 'plain';
    return at + 1;
  }

  private *readAttachmentData(chunk: Buffer, start: number): Generator<AttachmentPart, number> {
    if (this.escape !== null) {
      const at = this.readEscape(chunk, start);
      if (this.isEscapeComplete) yield { kind: 'data', text: this.decodeEscape() };
      return at;
    }
    const quote = chunk.indexOf(QUOTE, start);
    const end = quote < 0 ? chunk.length : quote;
    const slash = chunk.subarray(start, end).indexOf(BACKSLASH);
    const until = slash < 0 ? end : start + slash;
    if (until > start) yield { kind: 'data', text: chunk.toString('latin1', start, until) };
    if (slash >= 0) {
      this.escape = '';
      return until + 1;
    }
    if (quote < 0) return chunk.length;
    this.mode = 'plain';
    yield { kind: 'end' };
    // The quote is kept: the text shows an empty string in place of the data.
    this.keepBytes(chunk, quote, quote + 1);
    return quote + 1;
  }

  /** One character, or `u` and four digits. */
  private get isEscapeComplete(): boolean {
    return this.escape !== null && this.escape.length === (this.escape.startsWith('u') ? 5 : 1);
  }

  private readEscape(chunk: Buffer, start: number): number {
    let at = start;
    while (at < chunk.length && !this.isEscapeComplete) this.escape += String.fromCharCode(chunk[at++]!);
    return at;
  }

  private decodeEscape(): string {
    const text = parseJsonStringContent(Buffer.from(`\\${this.escape}`, 'latin1'));
    this.escape = null;
    return text;
  }

  private endVersion(chunk: Buffer, from: number, at: number): number {
    this.keepBytes(chunk, from, at);
    const value = parseJsonObject(this.version!.takeBytes());
    this.version = null;
    this.rest.addBytes(NULL, 0, NULL.length);
    const deprecated = parseDeprecation(value['deprecated']);
    this.keptCharacters += deprecated?.length ?? 0;
    if (this.keptCharacters > MAX_TEXT_BYTES) throw tooLargeRefusal();
    this.versions.set(this.path[1]!, { deprecated });
    if (this.versions.size > MAX_VERSIONS) throw tooLargeRefusal();
    this.manifest = this.versions.size === 1 ? value : null;
    return at;
  }

  private keepBytes(chunk: Buffer, from: number, to: number): void {
    (this.version ?? this.rest).addBytes(chunk, from, to);
  }
}

const NULL = Buffer.from('null');

/** A copy of the text, because a part of a string holds the whole string in memory. */
function parseDeprecation(value: unknown): string | null {
  return typeof value === 'string' ? Buffer.from(value.slice(0, MAX_DEPRECATION)).toString() : null;
}

/** Sizes of blocks that collect small parts. The first block is small, as most keys are; later ones grow with the text. */
const BLOCK_BYTES = { least: 64, most: 16 * 1024 };

/** Collects bytes up to a limit. Errors: Refused. */
class ByteCollector {
  private readonly parts: Buffer[] = [];
  /** Collects parts, since small ones would each take more memory than their bytes. */
  private block: Buffer | null = null;
  private used = 0;
  private size = 0;

  /** Units: bytes. */
  constructor(private readonly maxBytes: number) {}

  /** Copies the bytes, since the chunk may be much larger than what is kept of it. */
  addBytes(chunk: Buffer, from: number, to: number): void {
    if (to <= from) return;
    this.size += to - from;
    if (this.size > this.maxBytes) throw tooLargeRefusal();
    for (let at = from; at < to;) {
      this.block ??= Buffer.allocUnsafe(Math.min(BLOCK_BYTES.most, Math.max(BLOCK_BYTES.least, this.size)));
      const copied = chunk.copy(this.block, this.used, at, to);
      this.used += copied;
      at += copied;
      if (this.used === this.block.length) this.endBlock();
    }
  }

  takeBytes(): Buffer {
    this.endBlock();
    return Buffer.concat(this.parts, this.size);
  }

  private endBlock(): void {
    if (this.block) this.parts.push(this.block.subarray(0, this.used));
    this.block = null;
    this.used = 0;
  }
}

function parseJsonObject(text: Buffer): Readonly<Record<string, unknown>> {
  const value = parseJson(text.toString());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalidJsonRefusal();
  return value as Readonly<Record<string, unknown>>;
}

/** Decodes a key. `text` is the content of a JSON string, without its quotes. */
function parseJsonStringContent(text: Buffer): string {
  return parseJson(`"${text.toString()}"`) as string;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidJsonRefusal();
  }
}
