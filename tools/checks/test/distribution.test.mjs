/** Tables, rules and statements that a distribution would break are found; exceptions count only while they are needed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  compareWithExceptions,
  parseSchemaKeys,
  schemaViolations,
  statementViolations,
  unplacedTables,
} from '../distribution.mjs';
import { parseDistributionPlan } from '../distribution-plan.mjs';

const PAGE = `
| Service on one server | Reason |
|---|---|
| \`small\` | small |

### nests

| Table | Key | Crosses |
|---|---|---|
| \`nests\`, \`eggs\`, \`guests\` | \`tree_id\` | nothing |
| \`watches\` | \`user_id\` | nothing |
| \`species\` | reference | nothing |
| \`queue\` | local | nothing |

### In every service

| Table | Key | Crosses |
|---|---|---|
| \`directory_*\` | reference | nothing |
`;
const plan = parseDistributionPlan(PAGE);

/** A schema without violations. */
const SCHEMA = `nests
  required id, tree_id
  optional name
  primary key pk_nests (tree_id; id)
  unique uq_nests_name (tree_id; lower(name))
eggs
  required tree_id, nest_id, species_id
  primary key pk_eggs (tree_id; nest_id)
  foreign key fk_eggs_nest (tree_id; nest_id) to nests (tree_id; id)
  foreign key fk_eggs_species (species_id) to species (id)
guests
  required tree_id, id
  exclusion ex_guests (tree_id; during)
watches
  required user_id, tree_id, nest_id
  primary key pk_watches (user_id; nest_id)
species
  required id, name
  primary key pk_species (id)
queue
  required id
  primary key pk_queue (id)
directory_users
  required id
  primary key pk_directory_users (id)
`;
const schema = parseSchemaKeys(SCHEMA);

/** Changes of the schema with the one violation that they cause. @type {[from: string, to: string, problem: RegExp][]} */
const BAD_RULES = [
  ['pk_nests (tree_id; id)', 'pk_nests (id)', /primary key pk_nests .* leaves tree_id out/],
  ['uq_nests_name (tree_id; lower(name))', 'uq_nests_name (lower(name))', /unique uq_nests_name .* leaves tree_id out/],
  ['(tree_id; lower(name))', '(COALESCE(tree_id, id); name)', /unique uq_nests_name/],
  ['ex_guests (tree_id; during)', 'ex_guests (during)', /exclusion ex_guests .* leaves tree_id out/],
  ['fk_eggs_nest (tree_id; nest_id) to nests (tree_id; id)', 'fk_eggs_nest (nest_id) to nests (id)', /fk_eggs_nest/],
  ['(tree_id; nest_id) to nests (tree_id; id)', '(tree_id; nest_id) to nests (id; tree_id)', /fk_eggs_nest/],
  ['fk_eggs_species (species_id) to species (id)', 'fk_eggs_queue (species_id) to queue (id)', /fk_eggs_queue/],
  [
    'primary key pk_species (id)',
    'foreign key fk_species (id) to nests (id)',
    /fk_species .* leads to a distributed table/,
  ],
  [
    'required id, tree_id\n  optional name',
    'required id\n  optional name, tree_id',
    /nests.tree_id is the key and may be null/,
  ],
  ['required tree_id, id', 'required id', /guests has no column tree_id/],
];

describe('a schema', () => {
  it('without violations passes', () => assert.deepEqual(schemaViolations(plan, 'nests', schema), []));

  for (const [from, to, problem] of BAD_RULES)
    it(`with ${to.split('\n')[0]} is refused`, () => {
      assert.ok(SCHEMA.includes(from));
      const found = schemaViolations(plan, 'nests', parseSchemaKeys(SCHEMA.replace(from, to)));
      assert.equal(found.length, 1);
      assert.match(found[0]?.text ?? '', problem);
    });

  it('has only tables that the page names, and the page names only tables', () => {
    assert.deepEqual(unplacedTables(plan, 'nests', schema), []);
    const changed = parseSchemaKeys(SCHEMA.replace('queue\n', 'feathers\n'));
    assert.deepEqual(unplacedTables(plan, 'nests', changed), [
      'nests: feathers has no key in docs/scaling.md',
      'nests: docs/scaling.md names queue, which is no table',
    ]);
  });
});

describe('the page', () => {
  it('names services on one server', () => assert.deepEqual([...plan.whole], ['small']));

  it('is refused with a key that is no column, and with two rows of a table', () => {
    const { problems } = parseDistributionPlan(
      `### nests\n\n| Table | Key |\n|---|---|\n| \`nests\` | with its tree |\n| \`eggs\`, \`eggs\` | local |\n`,
    );
    assert.deepEqual(problems, [
      'nests: the key of `nests` is no column, `reference` or `local`',
      'nests: eggs has two rows',
    ]);
  });
});

/** @param {string} sql */
const tablesWithoutKey = (sql) =>
  statementViolations(plan, 'nests', schema, [{ name: 'hot', sql }]).map(({ table }) => table);

/** @type {[sql: string, tables: string[]][]} */
const BAD_STATEMENTS = [
  ['select * from nests where id = $1', ['nests']],
  ['select * from nests where tree_id > $1', ['nests']],
  ['select * from nests where tree_id = $1 or id = $2', ['nests']],
  ['select * from nests where not tree_id = $1', ['nests']],
  ['select * from nests n join eggs e on e.nest_id = n.id where n.tree_id = $1', ['eggs']],
  ['select (select count(*) from eggs e where e.nest_id = n.id) from nests n where n.tree_id = $1', ['eggs']],
  ['with page as (select * from nests where id = $1) select * from page', ['nests']],
  ['select 1 union all select 1 from eggs', ['eggs']],
  ['select * from watches w join nests n on n.tree_id = w.tree_id where w.user_id = $1', ['nests']],
  ['select * from nests n join eggs e on e.tree_id = n.id where n.tree_id = $1', ['eggs']],
  ['update nests set name = $1 where id = $2', ['nests']],
  ['delete from nests n using eggs e where n.tree_id = $1 and e.nest_id = n.id', ['eggs']],
  ['insert into nests (id, name) values ($1, $2)', ['nests']],
  ['-- hot: $1 tree\nselect * from nests where ":tree_id = 1" and id = :tree', ['nests']],
];
const GOOD_STATEMENTS = [
  'select * from nests where tree_id = $1',
  'select * from nests n where n.tree_id = any ($1::bigint[]) and n.id > 5',
  'select * from nests where (tree_id, id) = ($1, $2)',
  'select * from nests where tree_id in (select id from directory_users)',
  'select * from nests where (tree_id = $1 and id = 1) or (tree_id = $2 and id = 2)',
  'select * from nests n join eggs e on e.tree_id = n.tree_id and e.nest_id = n.id where n.tree_id = $1',
  'select * from nests join eggs using (tree_id) where nests.tree_id = $1',
  'select (select count(*) from eggs e where e.tree_id = n.tree_id) from nests n where n.tree_id = $1',
  'with nests as (select 1 as id) select * from nests where id = 1',
  'select * from species s join queue q on q.id = s.id',
  'insert into nests (tree_id, id) values ($1, $2) on conflict do nothing',
  '-- hot: $1 tree\nselect traversal_ids[1:2] from nests where tree_id =:$1 and id =:tree::bigint',
];

describe('a statement is refused', () => {
  for (const [sql, tables] of BAD_STATEMENTS) it(sql, () => assert.deepEqual(tablesWithoutKey(sql), tables));
});
describe('a statement passes', () => {
  for (const sql of GOOD_STATEMENTS) it(sql, () => assert.deepEqual(tablesWithoutKey(sql), []));
});

describe('an exception', () => {
  const violations = [
    ...schemaViolations(plan, 'nests', parseSchemaKeys(SCHEMA.replace('pk_nests (tree_id; id)', 'pk_nests (id)'))),
    ...statementViolations(plan, 'nests', schema, [{ name: 'hot', sql: 'select * from nests where id = $1' }]),
  ];
  /** @param {string} rows */
  const compared = (rows) => compareWithExceptions(violations, parseDistributionPlan(rows).exceptions);
  const RULES = '| Rules | Cost |\n|---|---|\n';
  const STATEMENTS = '| Statements | Tables | Cost |\n|---|---|---|\n';

  it('permits the violation that it names', () => {
    const rows = `${RULES}| \`pk_nests\` | an index |\n\n${STATEMENTS}| \`hot\` | \`nests\` | all parts |\n`;
    assert.deepEqual(compared(rows), { unnamed: [], unneeded: [] });
  });

  it('permits no other one', () => {
    const { unnamed } = compared(
      `${RULES}| \`pk_eggs\`, \`hot\` | an index |\n\n${STATEMENTS}| \`hot\` | \`eggs\` | - |\n`,
    );
    assert.deepEqual(
      unnamed.map(({ subject }) => subject),
      ['pk_nests', 'hot'],
    );
  });

  it('is refused when nothing needs it, and without a cost', () => {
    const { unneeded } = compared(
      `${RULES}| \`pk_nests\`, \`pk_eggs\` | |\n\n${STATEMENTS}| \`hot\`, \`cold\` | \`nests\`, \`eggs\` | all parts |\n`,
    );
    assert.deepEqual(unneeded, [
      'docs/scaling.md: pk_eggs needs no exception (rule)',
      'docs/scaling.md: the exception of pk_nests, pk_eggs names no cost',
      'docs/scaling.md: cold with nests, eggs needs no exception (statement)',
      'docs/scaling.md: eggs with nests, eggs needs no exception (statement)',
    ]);
  });
});
