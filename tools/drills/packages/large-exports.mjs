/**
 * Ten documents of 100,000 components each become exports of every kind. The package service is killed in the middle of one.
 * Each export ends with a file that names each component, and the memory of the service stays below its bound.
 * Source: reference packages-and-admin 6.
 *
 * @import { DrillClient } from '../client.mjs'
 */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { until } from '../client.mjs';

const DOCUMENTS = 10;
const COMPONENTS = 100_000;
const ALL = DOCUMENTS * COMPONENTS;
/** Units: characters. */
const LONGEST_NAME = 20;
/** Units: MiB. */
const MAX_RESIDENT = 512;
const WITHIN_MS = 20 * 60_000;
/** Time after the start of an export at which the service is killed. Units: ms. */
const KILL_AFTER_MS = 1500;

export function prepare() {
  return { env: WITHOUT_RATES };
}

/**
 * Runs the drill. Returns seconds and bytes by export, and the largest resident memory in MiB. `wrong` is the number of
 * violations.
 * @param {DrillClient} client
 */
export async function run(client) {
  /** @type {string[]} */
  const examples = [];
  /** @type {Record<string, { seconds: number, bytes: number }>} */
  const files = {};
  let residentMib = 0;
  const look = () => void (residentMib = Math.max(residentMib, client.residentMib('package')));
  const timer = setInterval(look, 50);
  try {
    const drill = new LargeExportsDrill(client);
    const takenIn = await drill.prepare();
    for (const kind of drill.kinds) {
      const { problem, ...file } = await drill.write(kind);
      files[kind.name] = file;
      if (problem) examples.push(`${kind.name}: ${problem}`);
    }
    if (residentMib > MAX_RESIDENT) examples.push(`the package service used ${residentMib} MiB`);
    return { takenIn, files, residentMib: Math.round(residentMib), wrong: examples.length, examples };
  } finally {
    clearInterval(timer);
  }
}

/**
 * @typedef {{ name: string, of: string, type: string, isKilled?: boolean, lines: number | null }} ExportKind
 * `lines` is null for files that are one line
 */
class LargeExportsDrill {
  /** @type {ExportKind[]} */
  kinds = [];

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
  }

  /** Runs a pipeline whose job hands the documents in. Resolves to the seconds that this took. */
  async prepare() {
    const { client } = this;
    const path = `exports-${client.seed}`;
    const group = await client.made('/groups', { name: path, path });
    const project = await client.made('/projects', {
      name: path,
      namespace_id: group.id,
      initialize_with_readme: true,
    });
    const pipeline = await client.made(`/projects/${project.id}/pipeline?ref=main`, {});
    const job = await client.made(`/projects/${project.id}/pipelines/${pipeline.id}/jobs`, { name: 'sbom' });
    const from = Date.now();
    for (let n = 0; n < DOCUMENTS; n += 1) await this.#uploadSbomDocument(job, n);
    await client.done(200, 'PUT', `/jobs/${job.id}`, { json: { token: job.token, state: 'success' } });
    const [projects, groups, pipelines] = [`projects/${project.id}`, `groups/${group.id}`, `pipelines/${pipeline.id}`];
    this.kinds = [
      { name: 'csv', of: projects, type: 'csv', lines: ALL + 1 },
      { name: 'killed csv', of: projects, type: 'csv', lines: ALL + 1, isKilled: true },
      { name: 'json_array', of: groups, type: 'json_array', lines: ALL },
      { name: 'dependency_list', of: projects, type: 'dependency_list', lines: null },
      { name: 'sbom', of: pipelines, type: 'sbom', lines: null },
      { name: 'cyclonedx_1_6_json', of: projects, type: 'cyclonedx_1_6_json', lines: null },
    ];
    return { seconds: (Date.now() - from) / 1000 };
  }

  /**
   * @param {{ id: number, token: string }} job
   * @param {number} n
   */
  async #uploadSbomDocument({ id, token }, n) {
    const components = Array.from({ length: COMPONENTS }, (_, index) => {
      const name = `egg-${n}-${index}`;
      return { type: 'library', name, version: '1.0.0', purl: `pkg:npm/${name}@1.0.0` };
    });
    const document = JSON.stringify({ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, components });
    const form = new FormData();
    form.set('file', new Blob([document]), `${n}.cdx.json`);
    const url = `${this.client.estate.baseUrl}/api/v4/jobs/${id}/artifacts?artifact_type=cyclonedx`;
    const response = await fetch(url, { method: 'POST', headers: { 'job-token': token }, body: form });
    if (response.status !== 201) throw new Error(`document ${n}: ${response.status} ${await response.text()}`);
  }

  /**
   * Creates an export and downloads its file.
   * @param {ExportKind} kind
   */
  async write({ of, type, isKilled = false, lines }) {
    const { client } = this;
    const from = Date.now();
    const { id } = await client.made(`/${of}/dependency_list_exports`, { export_type: type });
    if (isKilled) {
      await delay(KILL_AFTER_MS);
      await client.process('package').restart();
    }
    let status = '';
    const hasEnded = async () => {
      const answer = await client.api('GET', `/dependency_list_exports/${id}`).catch(() => null);
      status = answer?.body?.status ?? status;
      return status === 'finished' || status === 'failed';
    };
    await until(`the export ${type} has ended`, hasEnded, WITHIN_MS);
    const seconds = (Date.now() - from) / 1000;
    if (status !== 'finished') return { seconds, bytes: 0, problem: `it ended as ${status}` };
    const { bytes, lineCount, names } = await this.#readExport(id);
    const isWhole = names === ALL && (lines === null || lineCount === lines);
    return { seconds, bytes, problem: isWhole ? null : `it has ${names} components in ${lineCount} lines` };
  }

  /**
   * Counts lines and different components of a file, without holding it.
   * @param {number} id
   */
  async #readExport(id) {
    const url = `${this.client.estate.baseUrl}/api/v4/dependency_list_exports/${id}/download`;
    const response = await fetch(url, { headers: { 'private-token': this.client.estate.token } });
    if (response.status !== 200 || !response.body) throw new Error(`the download was answered ${response.status}`);
    const seen = new Uint8Array(ALL);
    let [bytes, names, lineCount, rest] = [0, 0, 0, ''];
    for await (const chunk of Readable.fromWeb(/** @type {any} */ (response.body))) {
      bytes += chunk.length;
      const text = rest + chunk.toString('latin1');
      for (const [, n, index] of text.matchAll(/egg-(\d+)-(\d+)(?=\D)/g)) {
        const at = Number(n) * COMPONENTS + Number(index);
        names += seen[at] ? 0 : 1;
        seen[at] = 1;
      }
      lineCount += text.split('\n').length - rest.split('\n').length;
      rest = text.slice(-LONGEST_NAME);
    }
    if (rest !== '' && !rest.endsWith('\n')) lineCount += 1;
    return { bytes, names, lineCount };
  }
}
