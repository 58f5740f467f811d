import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError, invalidGitArgument } from '../process/git-error';
import { NO_OBJECT, isObjectId } from '../names/object-id';
import type { ObjectId } from '../names/object-id';
import type { Repository } from '../repository/repository';
import { parseRefs, REF_FORMAT } from './parse-refs';
import type { Ref } from './parse-refs';
import { refName } from '../names/ref-name';
import type { RefName } from '../names/ref-name';

/** Order of a list of refs. `updated` is the date of the commit or tag, `version` that of version numbers. */
export type RefOrder = 'name' | '-name' | 'updated' | '-updated' | 'version' | '-version';

export interface RefQuery {
  /** Prefixes in whole parts (`refs/heads`) or full names. Default: all refs. */
  readonly under?: readonly string[];
  readonly order?: RefOrder;
  readonly max?: number;
  /** Refs from which this commit can be reached. */
  readonly contains?: ObjectId;
  /** Refs that can be reached from this commit. */
  readonly mergedInto?: ObjectId;
  readonly notMergedInto?: ObjectId;
  readonly pointsAt?: ObjectId;
}

const SORT: Readonly<Record<RefOrder, string>> = {
  name: 'refname',
  '-name': '-refname',
  updated: 'creatordate',
  '-updated': '-creatordate',
  version: 'version:refname',
  '-version': '-version:refname',
};
/** More names than this are filtered here, so that the argument vector stays short. */
const MAX_NAMES_AS_ARGUMENTS = 200;

/** Lists refs with what they point at. Bounds: 64 MiB of output, about 300,000 refs. */
export async function listRefs(repository: Repository, query: RefQuery = {}): Promise<Ref[]> {
  const under = (query.under ?? []).map((prefix) => (prefix === 'refs' ? prefix : refName(prefix)));
  const filters = (
    [
      ['contains', query.contains],
      ['merged', query.mergedInto],
      ['no-merged', query.notMergedInto],
      ['points-at', query.pointsAt],
    ] as const
  )
    .filter(([, id]) => id !== undefined)
    .map(([name, id]) => `--${name}=${requireObjectId(id!)}`);
  const count = query.max === undefined ? [] : [`--count=${Math.max(1, Math.trunc(query.max))}`];
  const sort = query.order === undefined ? [] : [`--sort=${SORT[query.order]}`];
  const args = ['for-each-ref', `--format=${REF_FORMAT}`, ...sort, ...count, ...filters, '--', ...under];
  const { stdout } = await repository.run({ args });
  return parseRefs(stdout);
}

/** Name and value of a ref. */
export type NamedRef = Pick<Ref, 'name' | 'id'>;

/** Lists names and values of refs. In the order of names git reads no object, so 10,000 refs take 20 ms. */
export async function listRefNames(
  repository: Repository,
  { under, order }: { readonly under: string; readonly order: RefOrder },
): Promise<NamedRef[]> {
  const format = '%(refname) %(objectname)';
  const args = ['for-each-ref', `--format=${format}`, `--sort=${SORT[order]}`, '--', refName(under)];
  const { stdout } = await repository.run({ args });
  const lines = stdout.toString().split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => line.split(' ') as [RefName, ObjectId])
    .map(([name, id]) => ({ name, id }));
}

/** Returns the values of refs by full name. A ref that does not exist is left out. */
export async function readRefs(repository: Repository, names: readonly string[]): Promise<Map<string, ObjectId>> {
  const wanted = new Set<string>(names.map(refName));
  if (wanted.size === 0) return new Map();
  const under = wanted.size > MAX_NAMES_AS_ARGUMENTS ? [] : [...wanted];
  const format = '%(refname) %(objectname)';
  const { stdout } = await repository.run({ args: ['for-each-ref', `--format=${format}`, '--', ...under] });
  const lines = stdout
    .toString()
    .split('\n')
    .map((line) => line.split(' ') as [string, ObjectId]);
  return new Map(lines.filter(([name]) => wanted.has(name)));
}

/** Returns the value of a ref, null if it does not exist. */
export async function readRef(repository: Repository, name: string): Promise<ObjectId | null> {
  return (await readRefs(repository, [name])).get(name) ?? null;
}

const SYMBOLIC = /^ref: (refs\/heads\/[^\n]+)\n$/;

/**
 * Returns the full name of the branch that `HEAD` names. The branch may not exist. git replaces the file as a whole, so it
 * is read without a start of git, which answers for any other form of it.
 */
export async function readHead(repository: Repository): Promise<RefName> {
  const file = await readFile(join(repository.directory, 'HEAD'), 'utf8').catch(() => '');
  const [, name] = SYMBOLIC.exec(file) ?? [];
  if (name !== undefined) return refName(name);
  const { stdout } = await repository.run({ args: ['symbolic-ref', 'HEAD'] });
  return refName(stdout.toString().trimEnd());
}

/** Lets `HEAD` name a branch, which becomes the default one of clones. */
export async function setHead(repository: Repository, branch: string): Promise<void> {
  if (!branch.startsWith('refs/heads/')) throw invalidGitArgument('HEAD names a branch.');
  await repository.run({ args: ['symbolic-ref', 'HEAD', refName(branch)] });
}

function requireObjectId(id: string): ObjectId {
  if (!isObjectId(id) || id === NO_OBJECT) throw new GitError('invalid', 'A full object id is needed.');
  return id;
}
