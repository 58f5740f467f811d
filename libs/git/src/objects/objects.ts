import { Readable } from 'node:stream';
import { invalidGitArgument } from '../process/git-error';
import { HIDDEN_REFS } from '../process/environment';
import { isRefName } from '../names/ref-name';
import type { RefName } from '../names/ref-name';
import type { Repository } from '../repository/repository';
import { isObjectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import type { GitObject, ObjectInfo } from '../repository/object-reader';
import { readRef } from '../refs/refs';
import { requireTreePath } from '../names/tree-path';

/** Name of an object: a revision, what it leads to, or a path in its tree. Without `path` and `peel` the revision itself. */
export interface ObjectName {
  readonly rev: ObjectId | RefName;
  readonly peel?: 'commit' | 'tree';
  /** Relative to the root of the tree; empty for the root. */
  readonly path?: string;
}

/** Largest object that is read into memory without another bound. Units: bytes. */
const MAX_BYTES = 10 * 1024 * 1024;
/** Blobs up to this size are streamed from a kept reader. Units: bytes. */
const SMALL_BYTES = 1024 * 1024;
/** Shortest abbreviation that is looked up. */
const ABBREVIATED = /^[0-9a-f]{4,39}$/;

/** Returns type and size of an object, null if it does not exist. */
export async function objectInfo(repository: Repository, name: ObjectName): Promise<ObjectInfo | null> {
  const text = await exactRevisionText(repository, name);
  const found = text === null ? null : await requestObjectFromReader(repository, 'info', text, 0);
  return found && { id: found.id, type: found.type, size: found.size };
}

/** Returns an object with its content, null if it does not exist. Errors: GitError `too large`. */
export async function readObject(
  repository: Repository,
  name: ObjectName,
  maxBytes = MAX_BYTES,
): Promise<GitObject | null> {
  const text = await exactRevisionText(repository, name);
  return text === null ? null : requestObjectFromReader(repository, 'contents', text, maxBytes);
}

/** Returns several objects in the order of the names. They are asked for together. */
export function readObjects(
  repository: Repository,
  names: readonly ObjectName[],
  maxBytes = MAX_BYTES,
): Promise<(GitObject | null)[]> {
  return Promise.all(names.map((name) => readObject(repository, name, maxBytes)));
}

/**
 * Streams a blob of any size, null if it does not exist or is none. A large blob has a process of its own, which ends
 * when the stream is destroyed, so a caller who goes away never leaves a half-read answer in a kept reader.
 */
export async function streamBlob(
  repository: Repository,
  name: ObjectName,
  signal?: AbortSignal,
): Promise<{ readonly id: string; readonly size: number; readonly content: Readable } | null> {
  const info = await objectInfo(repository, name);
  if (info?.type !== 'blob') return null;
  const { id, size } = info;
  if (size > SMALL_BYTES) {
    const { stdout } = await repository.open({ args: ['cat-file', 'blob', id], lane: 'transport', signal });
    return { id, size, content: stdout };
  }
  const blob = await requestObjectFromReader(repository, 'contents', id, SMALL_BYTES);
  return blob && { id, size, content: Readable.from([blob.content], { objectMode: false }) };
}

/**
 * Finds the commit that a user means: a full ref name, a branch, a tag, a full or an abbreviated id, in this order;
 * an unabbreviated id comes first. Returns null if there is none, if an abbreviation is ambiguous, and for hidden refs.
 */
export async function resolveCommit(repository: Repository, text: string): Promise<ObjectId | null> {
  if (isObjectId(text)) return peelToCommit(repository, text);
  const names = [text, `refs/heads/${text}`, `refs/tags/${text}`].filter(
    (name): name is RefName => isRefName(name) && !HIDDEN_REFS.some((hidden) => name.startsWith(`${hidden}/`)),
  );
  for (const name of names) {
    const id = await peelToCommit(repository, name);
    if (id) return id;
  }
  if (!ABBREVIATED.test(text)) return null;
  const info = await requestObjectFromReader(repository, 'info', `${text}^{commit}`, 0).catch(ambiguousAsNull);
  return (info?.id as ObjectId | undefined) ?? null;
}

/** Finds a blob by its full or abbreviated id. Returns null if there is none, or if an abbreviation is ambiguous. */
export async function findBlob(repository: Repository, text: string): Promise<ObjectInfo | null> {
  if (isObjectId(text)) {
    const info = await objectInfo(repository, { rev: text });
    return info?.type === 'blob' ? info : null;
  }
  if (!ABBREVIATED.test(text)) return null;
  const found = await requestObjectFromReader(repository, 'info', `${text}^{blob}`, 0).catch(ambiguousAsNull);
  return found && { id: found.id, type: found.type, size: found.size };
}

async function peelToCommit(repository: Repository, rev: ObjectId | RefName): Promise<ObjectId | null> {
  const info = await objectInfo(repository, { rev, peel: 'commit' });
  return info?.type === 'commit' ? (info.id as ObjectId) : null;
}

function ambiguousAsNull(error: unknown): null {
  if ((error as { reason?: unknown }).reason === 'ambiguous') return null;
  throw error;
}

/** Names that git reads as the output of `describe`, so as an abbreviated id, if there is no such ref. */
const LIKE_DESCRIBE = /-g[0-9a-f]{4,}$/i;

/** Returns the text for git. null if a ref does not exist whose name git would read in another way. */
async function exactRevisionText(repository: Repository, name: ObjectName): Promise<string | null> {
  const text = toRevisionText(name);
  if (isObjectId(name.rev) || !LIKE_DESCRIBE.test(name.rev)) return text;
  const id = await readRef(repository, name.rev);
  return id && toRevisionText({ ...name, rev: id });
}

function toRevisionText({ rev, peel, path }: ObjectName): string {
  if (!isObjectId(rev) && !isRefName(rev))
    throw invalidGitArgument('A revision is a full object id or a full ref name.');
  if (path === '') return `${rev}^{tree}`;
  if (path !== undefined) return `${rev}:${requireTreePath(path)}`;
  return peel ? `${rev}^{${peel}}` : rev;
}

function requestObjectFromReader(
  repository: Repository,
  verb: 'info' | 'contents',
  name: string,
  maxBytes: number,
): Promise<GitObject | null> {
  return repository.readers.readerFor(repository).requestObject(verb, name, maxBytes);
}
