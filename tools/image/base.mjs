/**
 * The base of every stage, in place of the image `node:…-bookworm-slim`, which this machine cannot unpack: the system
 * folders of this machine, with a Node and an npm of the repository in `/usr/local`. Programs that the real base lacks are
 * hidden; the stand-in of `apt-get` installs them.
 *
 * @typedef {{ folder: string, node: string, lacks: string[] }} Base
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { newestNodeProgram } from '../jest/newest-node.mjs';

const NPM = fileURLToPath(new URL('../../node_modules/npm', import.meta.url));
/** Debian packages that stages install, each with its program in `/usr/bin`. */
const PACKAGES = ['git', 'bzip2'];
/** Folders that an image creates and this machine may have. */
const HIDDEN = ['usr/share/sbom', 'var/lib/rookery'];
/** Installs by copying a program that the base hides. Other packages are refused. */
const APT_GET = `#!/bin/sh
set -eu
verb=$1; shift
case $verb in
update) exit 0 ;;
install) ;;
*) echo "apt-get $verb is unknown to this stand-in" >&2; exit 1 ;;
esac
for word; do
  case $word in
  -*) ;;
  *) cp "/usr/local/lib/packages/$word" /usr/bin/ || { echo "no package $word on this machine" >&2; exit 1; } ;;
  esac
done
`;

/**
 * Creates the base below `folder`. Packages that this machine lacks are in `lacks`.
 * @param {string} folder
 * @param {(text: string) => void} say
 * @returns {Base}
 */
export function createBaseImage(folder, say) {
  const local = join(folder, 'local');
  for (const name of ['usr/bin', 'etc', 'var/lib']) mkdirSync(join(folder, name), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib/node_modules', 'lib/packages'])
    mkdirSync(join(local, name), { recursive: true });
  const program = newestNodeProgram(say);
  copyFileSync(program, join(local, 'bin/node'));
  cpSync(NPM, join(local, 'lib/node_modules/npm'), { recursive: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'));
  writeFileSync(join(local, 'sbin/apt-get'), APT_GET);
  chmodSync(join(local, 'sbin/apt-get'), 0o755);
  const present = PACKAGES.filter((name) => existsSync(join('/usr/bin', name)));
  for (const name of present) copyFileSync(join('/usr/bin', name), join(local, 'lib/packages', name));
  for (const path of [...PACKAGES.map((name) => `usr/bin/${name}`), ...HIDDEN]) makeWhiteout(join(folder, path));
  // Runtimes of containers provide these files, too. On this machine they may be links.
  for (const name of ['resolv.conf', 'hosts'])
    if (existsSync(join('/etc', name))) copyFileSync(join('/etc', name), join(folder, 'etc', name));
  const node = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().slice(1);
  return { folder, node, lacks: PACKAGES.filter((name) => !present.includes(name)) };
}

/**
 * Creates the character device 0/0, by which overlayfs hides a path of the layers below.
 * @param {string} path
 */
function makeWhiteout(path) {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('mknod', [path, 'c', '0', '0']);
}
