import type { Readable } from 'node:stream';
import { readTarEntry } from '../../packages/archives/tar-entry';
import { invalidHelmChartRefusal, parseHelmChartYaml } from './chart';
import type { Chart } from './chart';

/** The file of the chart itself. Those of its dependencies are in deeper folders. */
const PLACE = /^(?:\.\/)?[^/]+\/Chart\.yaml$/;
const BOUNDS = {
  name: PLACE,
  maxEntryBytes: 1024 * 1024,
  maxEntries: 10_000,
  freeInflatedBytes: 16 * 1024 * 1024,
  maxRatio: 100,
  isAlwaysGzip: true,
} as const;

/**
 * Reads the description in an archive of a chart. Bounds: 1 MiB behind 10,000 entries, and 16 MiB inflated or a hundred
 * times the bytes of the archive. Errors: Refused.
 */
export async function readHelmChartArchive(bytes: Readable): Promise<Chart> {
  const content = await readTarEntry(bytes, {
    ...BOUNDS,
    refusal: () => invalidHelmChartRefusal('is too large or too deep inside'),
  });
  if (content === null) throw invalidHelmChartRefusal('is missing');
  return parseHelmChartYaml(content);
}
