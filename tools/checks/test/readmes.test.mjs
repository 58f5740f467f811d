/** The generated parts of the services' READMEs. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { readmeOf } from '../../generate/readmes.mjs';

const PLACES =
  '# aviary\n\n<!-- generated: nouns -->\n<!-- end -->\n\nBy hand.\n\n<!-- generated: events -->\nold\n<!-- end -->\n';
const NEST = `import { Entity } from 'typeorm'; @Entity('nests') export class Nest {}`;
const MODULE = `/** Where birds\n * live: in nests. And more. */\n@Module({})\nexport class NestsModule {}\n`;
const events = [
  { subject: 'aviary.nest.built.v1', about: 'A nest was built. Or two.' },
  { subject: 'other.egg.laid.v1', about: 'An egg was laid.' },
];
const effects = [
  { effect: 'raise-chicks', subject: 'other.egg.laid.v1' },
  { effect: 'count-eggs', subject: 'other.egg.laid.v1' },
];

/** @type {string[]} */
const folders = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/** @param {Record<string, string>} files */
function createRepository(files) {
  const root = mkdtempSync(join(tmpdir(), 'rookery-readmes-'));
  folders.push(root);
  for (const [name, text] of Object.entries(files)) {
    const path = join(root, 'apps/aviary', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return root;
}

describe('the README of a service', () => {
  it('contains nouns with their tables, and sent and received events, between hand-written parts', () => {
    const root = createRepository({
      'README.md': PLACES,
      'src/nests/nests.module.ts': MODULE,
      'src/nests/nest.entity.ts': NEST,
      'src/feathers/plumes.ts': `export const drop = 'delete from plumes where id = $1';`,
      'src/feathers/down.ts': `export const drop = 'delete from down where id = $1';`,
      'src/wind/gust.ts': `export const drop = 'delete from down where id = $1';`,
    });
    const text = readmeOf(root, 'aviary', { events, effects });
    assert.deepEqual(
      text.split('\n').filter((line) => line.startsWith('| ') || line === 'By hand.'),
      [
        '| Noun | What it is | Tables it owns |',
        '| [feathers](src/feathers) | - | `plumes` |',
        '| [nests](src/nests) | Where birds live: in nests. | `nests` |',
        '| feathers, wind | share a table | `down` |',
        'By hand.',
        '| Sends | When |',
        '| `aviary.nest.built.v1` | A nest was built. |',
        '| Reads | For |',
        '| `other.egg.laid.v1` | `count-eggs`, `raise-chicks` |',
      ],
    );
    writeFileSync(join(root, 'apps/aviary/README.md'), text);
    assert.equal(readmeOf(root, 'aviary', { events, effects }), text);
  });

  it('mentions that there are no nouns or events', () => {
    const root = createRepository({ 'README.md': PLACES, 'src/main.ts': '' });
    const text = readmeOf(root, 'aviary', { events: [], effects: [] });
    assert.match(text, /None yet\./);
    assert.match(text, /Sends: nothing\.\n\nReads: nothing\./);
  });

  it('must have a place for each part', () => {
    const root = createRepository({ 'README.md': '# aviary\n', 'src/main.ts': '' });
    assert.throws(() => readmeOf(root, 'aviary', { events, effects }), /no place for the generated part "nouns"/);
  });
});
