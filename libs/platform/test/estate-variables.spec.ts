import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ESTATE_VARIABLES } from '../src/settings/unknown-variables';

const root = join(__dirname, '../../..');

function sourceFilesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['node_modules', 'dist', 'test'].includes(entry.name) ? [] : sourceFilesBelow(path);
    return /\.(ts|mjs|cjs)$/.test(entry.name) && !entry.name.endsWith('.spec.ts') ? [path] : [];
  });
}

describe('variables of the estate', () => {
  it('are accepted by every process, so that one environment may serve all six', () => {
    const used = ['apps', 'libs', 'tools/processes', 'tools/servers', 'tools/snapshots']
      .flatMap((folder) => sourceFilesBelow(join(root, folder)))
      .flatMap((file) => readFileSync(file, 'utf8').match(/(?<=['"])ROOKERY_[A-Z0-9_]+(?=['"])/g) ?? [])
      .filter((name) => name !== 'ROOKERY_' && !name.endsWith('_FILE'));
    expect([...new Set(used)].filter((name) => !ESTATE_VARIABLES.includes(name))).toEqual([]);
  });
});
