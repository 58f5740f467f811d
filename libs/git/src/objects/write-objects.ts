import { createWriteStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ProcessOutputMeter } from '../process/meter';
import { GitError, invalidGitArgument } from '../process/git-error';
import type { Repository } from '../repository/repository';
import { isObjectId, objectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import type { TreeEntry } from './parse-tree';
import { isWritableTreePath } from '../names/tree-path';
import { checkGitmodulesBlob, isGitmodulesName } from './submodules';

/** Author or committer of a new commit. `at` becomes whole seconds. */
export interface Identity {
  readonly name: string;
  readonly email: string;
  readonly at: Date;
  /** Minutes east of UTC. Default 0. */
  readonly offsetMinutes?: number;
}

export interface NewCommit {
  readonly tree: ObjectId;
  readonly parents: readonly ObjectId[];
  /** Stored to the byte, without an added line end. */
  readonly message: string;
  readonly author: Identity;
  readonly committer: Identity;
}

const WRITE_MS = 120_000;

const UNFIT = /[\u0000-\u001f\u007f<>]/g;
const CUT_AT_START = /[\s.,:;"'\\]/;
const CUT_AT_END = /[\s,:;"'\\]/;
const SYMBOLIC_LINK = '120000';
/** Stands for bytes of a name that were not UTF-8. Written again it would rename the file. */
const REPLACED = '\ufffd';

/**
 * Writes blobs and returns their ids in order. Streams go to files first, so no content is held in memory; all blobs
 * are hashed by one process. The repository must be the view of a quarantine, whose folder takes the files.
 * Bounds: `maxBytes` for all of them. Errors: GitError `too large`; errors of the streams.
 */
export function writeBlobs(
  repository: Repository,
  contents: readonly (Buffer | Readable)[],
  maxBytes: number,
): Promise<ObjectId[]> {
  return writeObjects(repository, { type: 'blob', contents, maxBytes });
}

/** Does the same as `writeBlobs` for objects of one type. git checks the form of a tree, but not the objects that it names. */
export async function writeObjects(
  repository: Repository,
  {
    type,
    contents,
    maxBytes,
  }: { readonly type: 'blob' | 'tree'; readonly contents: readonly (Buffer | Readable)[]; readonly maxBytes: number },
): Promise<ObjectId[]> {
  if (!repository.quarantine) throw invalidGitArgument('Objects are written in a quarantine.');
  if (contents.length === 0) return [];
  const folder = join(repository.quarantine.objectDirectory, 'incoming');
  await mkdir(folder, { recursive: true });
  let left = maxBytes;
  const paths: string[] = [];
  for (const [index, content] of contents.entries()) {
    const path = join(folder, String(index));
    left -= await writeObjectContentFile(content, path, left, maxBytes);
    paths.push(path);
  }
  const args = ['hash-object', '-t', type, '-w', '--no-filters', '--stdin-paths'];
  const stdin = Buffer.from(paths.map((path) => `${path}\n`).join(''));
  const { stdout } = await repository.run({ args, stdin, limits: { ms: WRITE_MS, idleMs: WRITE_MS } });
  return parseObjectIds(stdout, contents.length);
}

/** Writes a tree. Errors: GitError `invalid` for a name or a list of submodules that no tree may hold. */
export async function writeTree(
  repository: Repository,
  entries: readonly Pick<TreeEntry, 'mode' | 'type' | 'id' | 'path'>[],
): Promise<ObjectId> {
  const lines = entries.map(({ mode, type, id, path }) => {
    if (path.includes('/') || path.includes(REPLACED) || !isWritableTreePath(path))
      throw invalidGitArgument('The name of a file is invalid.');
    if (!/^(?:100644|100755|120000|040000|160000)$/.test(mode))
      throw invalidGitArgument('The mode of a file is invalid.');
    // fsck refuses this in pushes too: the link may lead out of the working copy.
    if (mode === SYMBOLIC_LINK && isGitmodulesName(path))
      throw invalidGitArgument('The list of submodules is no link.');
    return `${mode} ${type} ${objectId(id)}\t${path}\0`;
  });
  if (new Set(entries.map(({ path }) => path)).size < entries.length)
    throw invalidGitArgument('A tree has a name twice.');
  for (const { id, path, type } of entries) {
    if (type === 'blob' && isGitmodulesName(path)) await checkGitmodulesBlob(repository, id);
  }
  const { stdout } = await repository.run({ args: ['mktree', '-z'], stdin: Buffer.from(lines.join('')) });
  return parseObjectIds(stdout, 1)[0]!;
}

/** Writes a commit; no ref moves. */
export async function writeCommit(repository: Repository, commit: NewCommit): Promise<ObjectId> {
  const parents = commit.parents.flatMap((id) => ['-p', objectId(id)]);
  const args = ['commit-tree', objectId(commit.tree), ...parents];
  const variables = {
    ...identityVariables('AUTHOR', commit.author),
    ...identityVariables('COMMITTER', commit.committer),
  };
  const { stdout } = await repository.run({ args, variables, stdin: Buffer.from(removeNul(commit.message)) });
  return parseObjectIds(stdout, 1)[0]!;
}

/** Writes an annotated tag object; no ref moves. */
export async function writeTag(
  repository: Repository,
  tag: {
    readonly target: ObjectId;
    readonly type: 'commit' | 'tree' | 'blob' | 'tag';
    readonly name: string;
    readonly tagger: Identity;
    readonly message: string;
  },
): Promise<ObjectId> {
  const { name, email, date } = formatIdentity(tag.tagger);

  if (/[\u0000-\u001f]/.test(tag.name)) throw invalidGitArgument('The name of the tag is invalid.');
  const headers = `object ${objectId(tag.target)}\ntype ${tag.type}\ntag ${tag.name}\ntagger ${name} <${email}> ${date}\n`;
  const stdin = Buffer.from(`${headers}\n${removeNul(tag.message)}`);
  const { stdout } = await repository.run({ args: ['hash-object', '-t', 'tag', '-w', '--stdin'], stdin });
  return parseObjectIds(stdout, 1)[0]!;
}

async function writeObjectContentFile(
  content: Buffer | Readable,
  path: string,
  bytesLeft: number,
  maxBytes: number,
): Promise<number> {
  const tooLarge = (): GitError => new GitError('too large', `The content is larger than ${maxBytes} bytes.`);
  if (Buffer.isBuffer(content)) {
    if (content.length > bytesLeft) throw tooLarge();
    await writeFile(path, content);
    return content.length;
  }
  let size = 0;
  const meter = new ProcessOutputMeter(
    bytesLeft,
    () => undefined,
    () => meter.destroy(tooLarge()),
  );
  meter.on('data', (chunk: Buffer) => (size += chunk.length));
  await pipeline(content, meter, createWriteStream(path));
  return size;
}

function identityVariables(role: 'AUTHOR' | 'COMMITTER', identity: Identity): Record<string, string> {
  const { name, email, date } = formatIdentity(identity);
  return { [`GIT_${role}_NAME`]: name, [`GIT_${role}_EMAIL`]: email, [`GIT_${role}_DATE`]: `@${date}` };
}

function formatIdentity({ name, email, at, offsetMinutes = 0 }: Identity) {
  const seconds = Math.max(0, Math.floor(at.getTime() / 1000));
  if (!Number.isSafeInteger(seconds)) throw invalidGitArgument('The date of a commit is invalid.');
  const minutes = Math.min(Math.abs(Math.trunc(offsetMinutes)), 14 * 60);
  const zone = `${String(Math.floor(minutes / 60)).padStart(2, '0')}${String(minutes % 60).padStart(2, '0')}`;
  const date = `${seconds} ${offsetMinutes < 0 ? '-' : '+'}${zone}`;
  return { name: cleanIdentityText(name) || 'unknown', email: cleanIdentityText(email), date };
}

/** git refuses names that consist of such characters alone, and cuts them off at both ends. Bounds: linear. */
function cleanIdentityText(text: string): string {
  const left = text.replaceAll(UNFIT, '');
  let start = 0;
  while (start < left.length && CUT_AT_START.test(left[start]!)) start += 1;
  let end = left.length;
  while (end > start && CUT_AT_END.test(left[end - 1]!)) end -= 1;
  return left.slice(start, end);
}

function removeNul(text: string): string {
  return text.replaceAll('\0', '');
}

function parseObjectIds(stdout: Buffer, count: number): ObjectId[] {
  const lines = stdout.toString().trimEnd().split('\n');
  if (lines.length !== count || !lines.every(isObjectId))
    throw new GitError('failed', 'git did not write the objects.');
  return lines;
}
