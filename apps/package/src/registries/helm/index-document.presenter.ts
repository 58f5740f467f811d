import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FileAnswer } from '@rookery/api-v4';
import { rcompare } from 'semver';
import type { ChannelState, IndexedChart } from './helm.queries';

/** The index of a channel. `contextPath` is the path of the repository, without the channel. */
export interface HelmIndex {
  readonly contextPath: string;
  readonly state: ChannelState;
  readonly charts: () => AsyncIterable<readonly IndexedChart[]>;
}

export const INDEX_TYPE = 'text/yaml';
const VARY = 'Authorization, Private-Token, Job-Token, Deploy-Token';

/** Characters that JSON may write as they are, but that YAML takes for line breaks or refuses. */
const ESCAPED = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g;

/**
 * Renders `index.yaml`. Each chart is written as JSON, which YAML includes, so that texts keep their type.
 * Source: reference packages-and-admin 4.8.
 */
export function indexDocument(index: HelmIndex): FileAnswer {
  const { contextPath, state } = index;
  const version = createHash('sha256').update(`${contextPath}\n${state.digest}`).digest('hex').slice(0, 32);
  return {
    stream: () => Readable.from(writeIndexYaml(index), { objectMode: false }),
    mediaType: INDEX_TYPE,
    version,
    cacheControl: 'private, no-cache',
    vary: VARY,
  };
}

async function* writeIndexYaml({ contextPath, state, charts }: HelmIndex): AsyncGenerator<Buffer> {
  let text = 'apiVersion: v1\n';
  if (state.newest !== null) text += `generated: ${renderYamlValue(state.newest.toISOString())}\n`;
  text += `serverInfo:\n  contextPath: ${renderYamlValue(contextPath)}\n`;
  let isEmpty = true;
  for await (const ofName of charts()) {
    if (isEmpty) text += 'entries:\n';
    isEmpty = false;
    text += `  ${renderYamlValue(ofName[0]!.name)}:\n`;
    for (const row of selectNewestChartPerVersion(ofName)) text += `    - ${renderYamlValue(toIndexEntry(row))}\n`;
    yield Buffer.from(text);
    text = '';
  }
  if (isEmpty) yield Buffer.from(`${text}entries: {}\n`);
}

/** One chart for each version, of equal versions the newest upload. */
function selectNewestChartPerVersion(charts: readonly IndexedChart[]): readonly IndexedChart[] {
  const byVersion = new Map(charts.map((one) => [one.version, one]));
  return [...byVersion.values()].sort((a, b) => rcompare(a.version, b.version) || b.file_id - a.file_id);
}

function toIndexEntry({ chart, file_name, created_at, sha256 }: IndexedChart): object {
  return { ...chart, urls: [`charts/${file_name}`], created: created_at.toISOString(), digest: sha256 };
}

function renderYamlValue(value: unknown): string {
  return JSON.stringify(value).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
