import { isAbsolute } from 'node:path';
import { defineSettings, setting } from '@rookery/platform';

const STORAGE = /^([a-z0-9][a-z0-9_-]{0,62})=(.+)$/;

export const gitSettings = defineSettings('git', {
  storages: setting.list('ROOKERY_REPOSITORIES', {
    default: ['/var/lib/rookery/repositories'],
    check: findStorageFoldersProblem,
    about:
      'Folder of the repositories, or several as name=folder. One of them is named default. Replicas of the collaboration service share these folders.',
  }),
  commandsCount: setting.int('REPOSITORY_COMMANDS_COUNT', {
    default: 16,
    min: 1,
    max: 1000,
    about: 'git processes of one service process that read or write objects and refs, at a time.',
  }),
  transportsCount: setting.int('REPOSITORY_TRANSPORTS_COUNT', {
    default: 8,
    min: 1,
    max: 1000,
    about: 'git processes of one service process that serve clones, pushes, archives and large files, at a time.',
  }),
  readersCount: setting.int('REPOSITORY_READERS_COUNT', {
    default: 64,
    min: 1,
    max: 1000,
    about: 'git processes that one service process keeps open to read objects, one a repository.',
  }),
  memoryBytes: setting.int('REPOSITORY_MEMORY_BYTES', {
    default: 2 ** 30,
    min: 2 ** 26,
    about: 'Memory of one git process, without packs that it maps.',
  }),
  pushBytes: setting.int('REPOSITORY_PUSH_BYTES', {
    default: 2 ** 31,
    min: 2 ** 20,
    about: 'Largest pack that a push may send.',
  }),
});

/** Reads `ROOKERY_REPOSITORIES`: one folder for the storage `default`, or items `name=folder`. */
export function parseStorageFolders(items: readonly string[]): Map<string, string> {
  const only = items.length === 1 ? items[0]! : '';
  if (isAbsolute(only)) return new Map([['default', only]]);
  return new Map(items.map((item) => STORAGE.exec(item)!).map((match) => [match[1]!, match[2]!]));
}

function findStorageFoldersProblem(items: readonly string[]): string | null {
  if (items.length === 1 && isAbsolute(items[0]!)) return null;
  const matches = items.map((item) => STORAGE.exec(item));
  if (!matches.every((match) => match !== null && isAbsolute(match[2]!))) {
    return 'is neither an absolute folder nor a list of name=folder';
  }
  const names = new Set(matches.map((match) => match![1]));
  if (names.size < items.length) return 'names a storage twice';
  return names.has('default') ? null : 'has no storage named default';
}
