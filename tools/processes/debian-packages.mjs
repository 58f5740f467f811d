/** Debian packages that tests use and that need no installation: downloaded by apt and unpacked into a folder. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** @type {import('node:child_process').ExecFileSyncOptions} */
const QUIET = { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };

/**
 * Unpacks packages into `folder`, with all dependencies that the system does not have. Any user may do it, as nothing is
 * installed. Does nothing if the folder exists. Errors: those of apt, for example without lists of packages.
 * @param {string[]} names
 * @param {string} folder
 */
export function unpackDebianPackages(names, folder) {
  if (existsSync(folder)) return;
  const draft = `${folder}.${process.pid}`;
  const downloads = join(draft, 'downloads');
  mkdirSync(downloads, { recursive: true });
  try {
    try {
      downloadMissingDebianPackages(names, downloads);
    } catch (error) {
      if (process.getuid?.() !== 0) throw error;
      execFileSync('apt-get', ['-qq', 'update'], QUIET);
      downloadMissingDebianPackages(names, downloads);
    }
    for (const file of readdirSync(downloads)) execFileSync('dpkg-deb', ['-x', join(downloads, file), draft], QUIET);
    rmSync(downloads, { recursive: true });
    // Another run may have been quicker.
    if (!existsSync(folder)) renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} names
 * @param {string} cwd
 */
function downloadMissingDebianPackages(names, cwd) {
  const words = ['-q', '--no-install-recommends', '--simulate', 'install', ...names];
  const steps = execFileSync('apt-get', words, { ...QUIET, encoding: 'utf8' });
  const missing = [...steps.matchAll(/^Inst (\S+) /gm)].flatMap(([, name]) => name ?? []);
  execFileSync('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', ...missing], { ...QUIET, cwd });
}
