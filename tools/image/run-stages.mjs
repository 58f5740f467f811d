#!/usr/bin/env node
/**
 * `npm run image-stages`: runs the stages of deploy/Dockerfile as scripts, checks the content of the images, and starts
 * them. It needs no container engine, but Linux and root. The base is this machine (base.mjs). With names of services it
 * makes their images and that of identity, which every service asks.
 *
 *   node tools/image/run-stages.mjs [--dockerfile deploy/Dockerfile] [service …]
 *
 * One line for each step, stage and service. Exit code 1 with the reason at the first fault.
 *
 * @import { Container } from './image-estate.mjs'
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { PROCESSES, SERVICES } from '../processes/environment.mjs';
import { createBaseImage } from './base.mjs';
import { buildContextFiles, ignoredByGit } from './build-context.mjs';
import { parseDockerfile } from './dockerfile.mjs';
import { ImageBuild } from './image-build.mjs';
import { checkContent, sizeOf } from './image-content.mjs';
import { ImageEstate, containerMountsOf } from './image-estate.mjs';
import { endStagePrograms } from './stage-folder.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Variables of this shell that npm needs to reach its registry. */
const REACH_REGISTRY = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

/** @param {string[]} words */
const git = (...words) => execFileSync('git', ['-C', ROOT, ...words], { encoding: 'utf8' }).trim();
/** @param {string} name */
const npmConfig = (name) => execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();

/**
 * Prints one line.
 * @param {string} subject
 * @param {string} step
 * @param {{ ms?: number, bytes?: number }} [facts]
 */
function reportStep(subject, step, { ms, bytes } = {}) {
  const time = ms === undefined ? '' : `${(ms / 1000).toFixed(1)} s`;
  const size = bytes === undefined ? '' : `${(bytes / 1e6).toFixed(1)} MB`;
  console.log(`${subject.padEnd(14)} ${step.padEnd(62)} ${time.padStart(8)} ${size.padStart(10)}`.trimEnd());
}

/**
 * @template T
 * @param {string} subject
 * @param {string} step
 * @param {() => Promise<T>} use
 */
async function runTimedStep(subject, step, use) {
  const started = Date.now();
  const result = await use();
  reportStep(subject, step, { ms: Date.now() - started });
  return result;
}

/**
 * The build context of this checkout. Errors: a file that git ignores would be sent.
 */
function createBuildContext() {
  const files = buildContextFiles(ROOT);
  const [ignored] = ignoredByGit(ROOT, files);
  if (ignored) throw new Error(`.dockerignore does not name ${ignored}, which git ignores`);
  const cache = npmConfig('cache');
  mkdirSync(cache, { recursive: true });
  const reach = REACH_REGISTRY.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []));
  const authorities = process.env['NODE_EXTRA_CA_CERTS'];
  const npmEnv = {
    npm_config_registry: npmConfig('registry'),
    npm_config_prefer_offline: 'true',
    ...(authorities ? { NODE_EXTRA_CA_CERTS: '/root/authorities.pem' } : {}),
    ...Object.fromEntries(reach),
  };
  return { root: ROOT, files, cache, npmEnv, authorities };
}

/**
 * Makes and checks the images.
 * @param {string[]} names
 * @param {string} folder
 * @param {string} file Path of the Dockerfile.
 */
async function buildAndCheckImages(names, folder, file) {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const revision = git('rev-parse', 'HEAD');
  const dockerfile = parseDockerfile(readFileSync(resolve(ROOT, file), 'utf8'));
  const base = createBaseImage(join(folder, 'base'), (text) => console.log(text));
  reportStep(
    'base',
    `this machine with Node ${base.node}, in place of ${dockerfile.stages.at(-1)?.base.split('@')[0]}`,
  );
  reportStep('base', 'apt-get is a stand-in that copies git and bzip2 of this machine');
  const context = createBuildContext();
  reportStep('context', `${context.files.length} files`);
  const build = new ImageBuild({
    dockerfile,
    context,
    base,
    folder,
    report: (stage, step, ms, files) => reportStep(stage, step, files ? { ms, bytes: sizeOf(files) } : { ms }),
  });
  const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });
  /** @type {Map<string, Container>} */
  const containers = new Map();
  for (const service of names) {
    const image = await build.run({ SERVICE: service, REVISION: revision }, service);
    const checked = () => checkContent(image, { service, version, revision, root: ROOT });
    await runTimedStep(service, 'content, bill of materials and labels are right', checked);
    containers.set(service, {
      image,
      ...containerMountsOf(services[service], image, join(folder, 'volumes', service)),
    });
  }
  return containers;
}

/**
 * Starts the images together, and ends them.
 * @param {ImageEstate} estate
 * @param {string[]} names
 */
async function startAndStopImages(estate, names) {
  for (const name of names)
    await runTimedStep(name, 'refuses an unknown role (64) and missing settings (78)', () =>
      estate.checkRefusals(name),
    );
  await runTimedStep('servers', 'PostgreSQL and NATS', () => estate.startServers());
  for (const name of names.filter((one) => SERVICES.includes(one)))
    await runTimedStep(name, 'migrate', () => estate.migrate(name));
  for (const name of names) estate.start(name);
  await Promise.all(
    names.map((name) => runTimedStep(name, 'live and ready, read-only, as its user', () => estate.untilReady(name))),
  );
  if (PROCESSES.every((name) => names.includes(name)))
    await runTimedStep('all', 'a repository, its archive by bzip2, and a file of a package', () =>
      exerciseRunningImages(estate),
    );
  for (const name of names) await runTimedStep(name, 'ends at SIGTERM with 0', () => estate.stop(name));
}

/**
 * Uses git, bzip2 and both volumes.
 * @param {ImageEstate} estate
 */
async function exerciseRunningImages(estate) {
  const project = await estate.call('POST', '/projects', 201, { name: 'image', initialize_with_readme: true });
  const { id } = JSON.parse(project.toString());
  const archive = await estate.call('GET', `/projects/${id}/repository/archive.tar.bz2`, 200);
  if (archive.subarray(0, 3).toString() !== 'BZh') throw new Error('the archive is not one of bzip2');
  await estate.call('PUT', `/projects/${id}/packages/generic/image/1.0.0/file.txt`, 201, 'content');
}

/** @param {string[]} names */
function refuseUnknownImagesOrPlatform(names) {
  const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });
  /** @type {string[]} */
  const built = Object.values(services).flatMap((one) => one.build?.args?.SERVICE ?? []);
  const missing = PROCESSES.filter((name) => !built.includes(name));
  if (missing.length > 0) throw new Error(`docker-compose.yml builds no image of ${missing.join(', ')}`);
  for (const name of names)
    if (!PROCESSES.includes(name)) throw new Error(`no service ${name}; there are ${PROCESSES.join(', ')}`);
  if (process.platform !== 'linux' || process.getuid?.() !== 0) throw new Error('run this on Linux, as root');
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { dockerfile: { type: 'string', default: 'deploy/Dockerfile' } },
    allowPositionals: true,
  });
  refuseUnknownImagesOrPlatform(positionals);
  const names = PROCESSES.filter(
    (name) => positionals.length === 0 || positionals.includes(name) || name === 'identity',
  );
  const folder = mkdtempSync(join(tmpdir(), 'rookery-image-'));
  /** @type {ImageEstate | undefined} */
  let estate;
  const close = async () => {
    await endStagePrograms();
    await estate?.close();
    rmSync(folder, { recursive: true, force: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void close().then(() => process.exit(1)));
  try {
    estate = new ImageEstate(join(folder, 'estate'), await buildAndCheckImages(names, folder, values.dockerfile));
    await startAndStopImages(estate, names);
  } finally {
    await close();
  }
}

try {
  const started = Date.now();
  await main();
  reportStep('all', 'no fault', { ms: Date.now() - started });
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exit(1);
}
