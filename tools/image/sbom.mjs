#!/usr/bin/env node
/**
 * Prints the bill of materials of an image as CycloneDX 1.5 JSON: `node sbom.mjs <folder> <service> <version>`. It lists the
 * npm packages that are installed below the folder, the workspaces, Node, and the Debian packages of the machine. The output
 * has no time and no random number, so equal images have equal bills. deploy/Dockerfile runs it in the finished image.
 * `npm sbom` is not used: with `--omit` it leaves out packages that another package names as optional peers.
 * Errors: a package that is listed and not installed, or installed and not listed.
 *
 * @typedef {{ version?: string, license?: string, integrity?: string, link?: boolean,
 *   resolved?: string }} LockedPackage
 * @typedef {Record<string, unknown> & { 'bom-ref': string }} Component
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** A package name in the form of a package URL. @param {string} name */
const encodePurlPackageName = (name) => name.replace('@', '%40');

/**
 * Folders of installed packages below `node_modules`, relative to the folder, those of nested packages included.
 * @param {string} folder
 * @param {string} [modules]
 * @returns {string[]}
 */
export function installedPackageFolders(folder, modules = 'node_modules') {
  if (!existsSync(join(folder, modules))) return [];
  return readdirSync(join(folder, modules), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.'))
    .flatMap((entry) => {
      const path = `${modules}/${entry.name}`;
      if (entry.name.startsWith('@')) return readdirSync(join(folder, path)).map((name) => `${path}/${name}`);
      return [path];
    })
    .flatMap((path) => [path, ...installedPackageFolders(folder, `${path}/node_modules`)])
    .filter((path) => existsSync(join(folder, path, 'package.json')));
}

/**
 * @param {string} integrity One or several digests with their algorithm, in base64.
 * @returns {{ alg: string, content: string }[]}
 */
function hashesOf(integrity) {
  return integrity.split(' ').flatMap((one) => {
    const [, bits, digest] = /^sha(1|256|384|512)-(.+)$/.exec(one) ?? [];
    return digest ? [{ alg: `SHA-${bits}`, content: Buffer.from(digest, 'base64').toString('hex') }] : [];
  });
}

/**
 * @param {string} folder
 * @returns {Component[]}
 */
function npmComponents(folder) {
  /** @type {Record<string, LockedPackage>} */
  const locked = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8')).packages;
  const paths = Object.keys(locked).filter((path) => path.includes('node_modules/') && !locked[path]?.link);
  const missing = paths.filter((path) => !existsSync(join(folder, path, 'package.json')));
  if (missing.length > 0) throw new Error(`listed and not installed: ${missing.join(', ')}`);
  // Links lead to workspaces, of which an image has only some.
  const links = Object.keys(locked).filter((path) => locked[path]?.link);
  const known = new Set([...paths, ...links]);
  const isWorkspace = (/** @type {string} */ path) => links.some((link) => path.startsWith(`${link}/`));
  const unknown = installedPackageFolders(folder).filter((path) => !known.has(path) && !isWorkspace(path));
  if (unknown.length > 0) throw new Error(`installed and not listed: ${unknown.join(', ')}`);
  const packages = paths.map((path) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const { version = '', license, integrity = '' } = locked[path] ?? {};
    const purl = `pkg:npm/${encodePurlPackageName(name)}@${version}`;
    const licenses = license ? { licenses: [{ license: { name: license } }] } : {};
    return { type: 'library', 'bom-ref': purl, name, version, hashes: hashesOf(integrity), ...licenses, purl };
  });
  const workspaces = links
    .map((path) => locked[path]?.resolved ?? '')
    .filter((path) => existsSync(join(folder, path, 'package.json')))
    .map((path) => {
      const { name, version, license = 'MIT' } = JSON.parse(readFileSync(join(folder, path, 'package.json'), 'utf8'));
      const purl = `pkg:npm/${encodePurlPackageName(name)}@${version}`;
      return { type: 'library', 'bom-ref': purl, name, version, licenses: [{ license: { name: license } }], purl };
    });
  return [...packages, ...workspaces];
}

/** @returns {Component[]} */
function debianComponents() {
  const release = readFileSync('/etc/os-release', 'utf8');
  const [id, number] = ['ID', 'VERSION_ID'].map(
    (name) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(release)?.[1],
  );
  const list = execFileSync('dpkg-query', ['--show', '--showformat', '${Package} ${Version} ${Architecture}\n'], {
    encoding: 'utf8',
  });
  const packages = list.trim().split('\n');
  return packages.map((line) => {
    const [name = '', version = '', architecture] = line.split(' ');
    const purl = `pkg:deb/${id}/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${id}-${number}`;
    return { type: 'library', 'bom-ref': purl, name, version, purl };
  });
}

/**
 * The bill of materials of an image. Components have an order and occur once.
 * @param {string} folder The folder with `node_modules`.
 * @param {string} service
 * @param {string} version
 */
export function billOfMaterials(folder, service, version) {
  const runtime = process.versions.node;
  const node = { type: 'platform', 'bom-ref': `pkg:generic/node@${runtime}`, name: 'node', version: runtime };
  const all = [node, ...npmComponents(folder), ...debianComponents()];
  const unique = [...new Map(all.map((one) => [one['bom-ref'], one])).values()];
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { type: 'container', 'bom-ref': 'image', name: `rookery/${service}`, version } },
    components: unique.sort((a, b) => (a['bom-ref'] < b['bom-ref'] ? -1 : 1)),
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(resolve(process.argv[1])).href) {
  const [, , folder, service, version] = process.argv;
  if (!folder || !service || !version) {
    process.stderr.write('sbom.mjs <folder> <service> <version>\n');
    process.exit(64);
  }
  process.stdout.write(`${JSON.stringify(billOfMaterials(resolve(folder), service, version), null, 1)}\n`);
}
