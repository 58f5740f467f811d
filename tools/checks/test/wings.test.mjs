/** The checks of wings and of table owners: each rule finds a violation. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import {
  misplacedEntities,
  tableOwners,
  unnamedAttachments,
  tableOwnershipViolations as ownershipOf,
} from '../table-owners.mjs';
import { DISTRICTS } from '../districts.mjs';
import { importCirclesBetweenFolders, wingViolationsOf as circlesOf } from '../wings.mjs';

/** @type {string[]} */
const folders = [];
afterEach(() => folders.splice(0).forEach((folder) => rmSync(folder, { recursive: true, force: true })));

/**
 * Creates a service with these files below `src`, and with a module for each wing.
 * @param {Record<string, string>} files
 */
function createService(files) {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-wings-'));
  folders.push(folder);
  const wings = new Set(Object.keys(files).map((name) => name.split('/')[0]));
  const modules = Object.fromEntries([...wings].map((wing) => [`${wing}/${wing}.module.ts`, '']));
  for (const [name, text] of Object.entries({ ...modules, ...files })) {
    mkdirSync(dirname(join(folder, 'src', name)), { recursive: true });
    writeFileSync(join(folder, 'src', name), text);
  }
  return folder;
}

const NEST = `import { Column, Entity } from 'typeorm'; @Entity('nests') export class Nest { @Column('text') name: string; }`;

describe('owners of tables', () => {
  /** @type {[name: string, text: string][]} */
  const refused = [
    ['inserts', "const add = `insert into nests (name) values ('a')`;"],
    ['updates with an alias', 'const change = "update nests n set name = \'b\' where n.id = $1";'],
    ['updates over lines', 'const change = `with old as (select 1)\n update nests\n set name = $1`;'],
    ['deletes', "const drop = 'delete from nests where id = $1';"],
    ['merges', "const merge = 'merge into nests using birds b on true when matched then delete';"],
    ['inserts through TypeORM', "import { Nest } from '../nests/nest.entity'; tx.manager.insert(Nest, row);"],
    ['updates through a builder', 'tx.manager.createQueryBuilder().update(Nest).set(part).execute();'],
    ['deletes through a builder', 'tx.manager.createQueryBuilder().delete().from(Nest).execute();'],
    ['declares a collection of it', "const nests = defineCollection(Nest, { within: 'birdId' });"],
    ['attaches it', "const attached = declareAttachedTable({ table: 'nests', project: 'project_id' });"],
  ];
  for (const [name, text] of refused) {
    it(`refuses another wing that ${name}`, () => {
      const broken = ownershipOf(createService({ 'nests/nest.entity.ts': NEST, 'birds/birds.service.ts': text }));
      assert.match(broken.join('\n'), /birds writes nests, which nests owns/);
    });
  }

  it('refuses an attachment that its wing does not name', () => {
    const files = {
      'nests/nest-removal.ts': "export const attachedNests = declareAttachedTable({ table: 'nests' });",
      'birds/bird-removal.ts': "export const attachedBirds = declareAttachedTable({ table: 'birds' });",
      'birds/birds.module.ts': '@Attaches(attachedBirds, attachedNests) export class BirdsModule {}',
      'eggs/egg-removal.ts': "export const attachedEggs = declareAttachedTable({ table: 'eggs' });",
      'eggs/egg.kind.ts': 'export const eggKind = { attached: [attachedEggs] };',
    };
    const [sentence = '', ...more] = unnamedAttachments(createService(files));
    assert.match(sentence, /nest-removal.ts:1 attaches a table, which @Attaches in the module of nests does not name/);
    assert.deepEqual(more, []);
  });

  it('refuses an attachment whose table no text names', () => {
    const files = {
      'nests/nest.entity.ts': NEST,
      'nests/nest-removal.ts': 'declareAttachedTable({ table, project: x });',
    };
    assert.match(ownershipOf(createService(files)).join('\n'), /writes a table without naming it in the text/);
  });

  /** @type {[name: string, text: string][]} */
  const free = [
    ['reads', "const all = 'select * from nests n join birds b on b.id = n.bird_id for update of n';"],
    ['locks', "const one = 'select id from nests where id = $1 for no key update';"],
    ['mentions updates in prose', "const words = 'an update of nests is set apart';"],
    ['reads through a builder', "tx.manager.createQueryBuilder().from(Nest, 'n').getMany();"],
  ];
  for (const [name, text] of free) {
    it(`accepts another wing that ${name}`, () => {
      const files = { 'nests/nest.entity.ts': NEST, 'birds/birds.service.ts': text };
      assert.deepEqual(ownershipOf(createService(files)), []);
    });
  }

  it('requires that the module of a wing names its entities, and no others', () => {
    /** @param {...string} names */
    const owns = (...names) => `@Owns(${names.join(', ')}) export class BirdsModule {}`;
    /** @type {(birds: string, nests: string) => string} */
    const misplaced = (birds, nests) =>
      misplacedEntities(
        createService({ 'nests/nest.entity.ts': NEST, 'nests/nests.module.ts': nests, 'birds/birds.module.ts': birds }),
      ).join('\n');
    assert.equal(misplaced('', owns('Nest')), '');
    assert.match(misplaced('', ''), /declares Nest, which @Owns in the module of nests does not name/);
    assert.match(misplaced(owns('Nest'), owns('Nest')), /@Owns in the module of birds names Nest/);
  });

  it('refuses two writers of a table without an entity, and takes a single writer as the owner', () => {
    const eggs = "const lay = 'insert into eggs (id) values ($1)';";
    const alone = createService({ 'nests/nests.service.ts': eggs });
    assert.equal(tableOwners(alone).tables.get('eggs')?.owner, 'nests');
    const shared = createService({ 'nests/nests.service.ts': eggs, 'birds/birds.service.ts': eggs });
    assert.match(ownershipOf(shared).join('\n'), /eggs, which has no single owner/);
  });

  it('refuses a write whose table the text does not name', () => {
    const hidden = createService({ 'nests/nests.service.ts': 'const drop = `delete from ${table} where id = $1`;' });
    assert.match(ownershipOf(hidden).join('\n'), /writes a table without naming it in the text/);
  });

  it('takes no article of a sentence for a table', () => {
    const prose = createService({ 'nests/nests.dto.ts': "const about = 'Birds may merge into the branch.';" });
    assert.deepEqual([...tableOwners(prose).tables.keys()], []);
    assert.deepEqual(ownershipOf(prose, new Set(['the'])), []);
  });

  it('refuses a service that writes a table of a library', () => {
    const outbox = createService({ 'nests/nests.service.ts': "const add = 'insert into outbox (id) values ($1)';" });
    assert.match(ownershipOf(outbox, new Set(['outbox'])).join('\n'), /which belongs to a library/);
  });
});

describe('wings', () => {
  it('refuses a circle over different files, also of types', () => {
    const folder = createService({
      'nests/nests.service.ts': "import { Bird } from '../birds/bird';",
      'birds/bird.ts': 'export class Bird {}',
      'birds/flying/flight.ts': "import type { Egg } from '../../eggs/egg';",
      'eggs/egg.ts': 'export interface Egg {}',
      'eggs/laying.ts': "export { nest } from '../nests/nest';",
      'nests/nest.ts': 'export const nest = 1;',
    });
    assert.match(circlesOf(folder).join('\n'), /birds, eggs, nests use each other/);
  });

  it('accepts layers of wings, and a module of the service that imports all of them', () => {
    const folder = createService({
      'nests/nests.service.ts': "import { Bird } from '../birds/bird';",
      'birds/bird.ts': 'export class Bird {}',
    });
    writeFileSync(
      join(folder, 'src/colony.module.ts'),
      "import './nests/nests.module'; import './birds/birds.module';",
    );
    assert.deepEqual(circlesOf(folder), []);
  });

  it('refuses a wing without a module', () => {
    const folder = createService({ 'nests/nest.ts': '' });
    rmSync(join(folder, 'src/nests/nests.module.ts'));
    assert.match(circlesOf(folder).join('\n'), /nests has no nests\.module\.ts/);
  });
});

describe('districts', () => {
  /**
   * Creates a service called collaboration, with the districts of the table.
   * @param {Record<string, string>} files
   */
  function districted(files) {
    const parent = mkdtempSync(join(tmpdir(), 'rookery-districts-'));
    folders.push(parent);
    const modules = Object.keys(files).map((name) => {
      const wing = name.split('/').slice(0, 2);
      return [`${wing.join('/')}/${wing[1]}.module.ts`, ''];
    });
    for (const [name, text] of Object.entries({ ...Object.fromEntries(modules), ...files })) {
      mkdirSync(dirname(join(parent, 'collaboration/src', name)), { recursive: true });
      writeFileSync(join(parent, 'collaboration/src', name), text);
    }
    return join(parent, 'collaboration');
  }

  it('permit a wing to use wings of its own district and of districts below', () => {
    const folder = districted({
      'work/issues/issue.ts': "import '../snippets/snippet'; import '../../talk/notes/note';",
      'work/snippets/snippet.ts': "import '../../base/noteables/kind';",
      'talk/notes/note.ts': "import '../../base/noteables/kind';",
      'base/noteables/kind.ts': '',
    });
    assert.deepEqual(circlesOf(folder), []);
  });

  it('refuse an upward import', () => {
    const folder = districted({
      'talk/notes/note.ts': "import '../../work/issues/issue';",
      'work/issues/issue.ts': '',
    });
    assert.match(circlesOf(folder).join('\n'), /talk\/notes uses work\/issues, whose district is not below/);
  });

  it('refuse a circle of wings within one', () => {
    const folder = districted({
      'work/issues/issue.ts': "import '../epics/epic';",
      'work/epics/epic.ts': "import '../issues/issue';",
    });
    assert.match(circlesOf(folder).join('\n'), /work\/epics, work\/issues use each other/);
  });

  it('refuse a folder of folders that the table does not name', () => {
    const folder = districted({ 'gossip/rumours/rumour.ts': '' });
    assert.match(circlesOf(folder).join('\n'), /gossip contains only folders and is no district/);
  });

  it('use only districts below', () => {
    for (const table of Object.values(DISTRICTS)) {
      const order = Object.keys(table);
      for (const [district, below] of Object.entries(table)) {
        for (const other of below) assert.ok(order.indexOf(other) > order.indexOf(district), `${district} > ${other}`);
      }
    }
  });
});

describe('rooms', () => {
  it('of a library use each other without a circle', () => {
    const files = { 'sql/row.ts': "import '../work/tx';", 'work/tx.ts': "import type { Row } from '../sql/row';" };
    assert.match(importCirclesBetweenFolders(createService(files)).join('\n'), /sql, work use each other/);
    assert.deepEqual(importCirclesBetweenFolders(createService({ ...files, 'sql/row.ts': '' })), []);
  });
});
