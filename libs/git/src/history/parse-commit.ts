import { invalidGitArgument } from '../process/git-error';
import type { ObjectId } from '../names/object-id';

/**
 * Author, committer or tagger. Units: `seconds` since 1970; `offsetMinutes` of their clock, positive to the east of
 * UTC.
 */
export interface Signature {
  readonly name: string;
  readonly email: string;
  readonly seconds: number;
  readonly offsetMinutes: number;
}

export interface Commit {
  readonly id: ObjectId;
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  readonly author: Signature;
  readonly committer: Signature;
  /** As stored, with its final line end; decoded by the encoding of the commit, without NUL. */
  readonly message: string;
  /** Armored signature of the author, null without one. It is not verified. */
  readonly signature: string | null;
}

export interface AnnotatedTag {
  readonly id: ObjectId;
  readonly target: ObjectId;
  readonly targetType: string;
  readonly name: string;
  readonly tagger: Signature | null;
  readonly message: string;
}

interface ParsedObject {
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly message: string;
}

const SIGNATURE = /^(.*?) ?<([^<>]*)>(?: (-?\d+) ([+-]\d{4}))?$/;
const UNKNOWN_PERSON: Signature = { name: '', email: '', seconds: 0, offsetMinutes: 0 };

/** Parses the content of a commit object. Text that its encoding does not allow is replaced, never an error. */
export function parseCommit(id: string, content: Buffer): Commit {
  const { headers, message } = parseObjectHeadersAndMessage(content);
  const tree = headers.get('tree')?.[0];
  if (tree === undefined) throw invalidGitArgument('The commit is malformed.');
  return {
    id: id as ObjectId,
    tree: tree as ObjectId,
    parents: (headers.get('parent') ?? []) as ObjectId[],
    author: parseAuthorOrCommitterLine(headers.get('author')?.[0]),
    committer: parseAuthorOrCommitterLine(headers.get('committer')?.[0]),
    message,
    signature: headers.get('gpgsig')?.[0] ?? null,
  };
}

/** Parses the content of a tag object. */
export function parseTag(id: string, content: Buffer): AnnotatedTag {
  const { headers, message } = parseObjectHeadersAndMessage(content);
  const target = headers.get('object')?.[0];
  if (target === undefined) throw invalidGitArgument('The tag is malformed.');
  const tagger = headers.get('tagger')?.[0];
  return {
    id: id as ObjectId,
    target: target as ObjectId,
    targetType: headers.get('type')?.[0] ?? '',
    name: headers.get('tag')?.[0] ?? '',
    tagger: tagger === undefined ? null : parseAuthorOrCommitterLine(tagger),
    message,
  };
}

function parseObjectHeadersAndMessage(content: Buffer): ParsedObject {
  const blank = content.indexOf('\n\n');
  const end = blank < 0 ? content.length : blank;
  const raw = content.toString('latin1', 0, end);
  const encoding = /^encoding (.+)$/m.exec(raw)?.[1] ?? 'utf-8';
  const decode = createTextDecoder(encoding);
  const headers = new Map<string, string[]>();
  let last: string[] = [];
  for (const line of decode(content.subarray(0, end)).split('\n')) {
    const at = line.indexOf(' ');
    if (at < 0) continue;
    // Lines of a signature begin with a blank and belong to the header before.
    if (at === 0) last.push(`${last.pop() ?? ''}\n${line.slice(1)}`);
    else {
      last = headers.get(line.slice(0, at)) ?? [];
      last.push(line.slice(at + 1));
      headers.set(line.slice(0, at), last);
    }
  }
  const message = blank < 0 ? '' : decode(content.subarray(blank + 2)).replaceAll('\0', '');
  return { headers, message };
}

function createTextDecoder(encoding: string): (bytes: Buffer) => string {
  try {
    const text = new TextDecoder(encoding, { ignoreBOM: true });
    return (bytes) => text.decode(bytes);
  } catch {
    return (bytes) => bytes.toString();
  }
}

function parseAuthorOrCommitterLine(line = ''): Signature {
  const match = SIGNATURE.exec(line);
  if (!match) return { ...UNKNOWN_PERSON, name: line };
  const [, name = '', email = '', seconds = '0', zone = '+0000'] = match;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5));
  const time = Number(seconds);
  return {
    name: name.replaceAll('\0', ''),
    email: email.replaceAll('\0', ''),
    seconds: Number.isSafeInteger(time) ? time : 0,
    offsetMinutes: zone.startsWith('-') ? -minutes : minutes,
  };
}
