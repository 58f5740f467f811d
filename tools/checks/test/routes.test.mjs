/** The check of docs/routes.tsv: each of its rules bites. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { problemsOfInventory } from '../routes.mjs';

const HEAD = 'service issue tag method path operation success auth paging requirement note';
const PINS = 'package packages base GET /pins listPins 200 user offset to_come -';
const problemsOf = (...rows) =>
  problemsOfInventory(`${[HEAD, ...rows].map((row) => row.replaceAll(' ', '\t').replaceAll('_', ' ')).join('\n')}\n`);

describe('the inventory of routes', () => {
  it('may hold rows in order', () => {
    const spec = PINS.replace('base', 'spec')
      .replace('GET', 'POST')
      .replace('listPins', 'createPin')
      .replace('to_come', 'requirements_3');
    assert.deepEqual(problemsOf(PINS, spec), []);
  });

  const refused = [
    ['another order', /:3: stands after package \/pins GET/, PINS, PINS.replace('/pins', '/eggs')],
    ['a route twice', /:3: stands after/, PINS, PINS],
    ['a name twice', /:3: listPins is taken/, PINS, PINS.replace('GET', 'POST')],
    ['a name that is none', /:2: operation does not hold "list-pins"/, PINS.replace('listPins', 'list-pins')],
    ['an unknown value', /:2: paging does not hold "pages"/, PINS.replace('offset', 'pages')],
    ['an unknown service', /:2: service does not hold "pins"/, PINS.replace('package ', 'pins ')],
    ['a missing column', /:2: has 10 columns/, PINS.replace(' offset', '')],
    ['requirements under another tag', /:2: what cites requirements/, PINS.replace('to_come', 'requirements_3')],
    ['a promise that cites none', /:2: what cites requirements/, PINS.replace('base', 'gap')],
  ];
  for (const [name, problem, ...rows] of refused) {
    it(`may not hold ${name}`, () => assert.match(problemsOf(...rows).join('\n'), problem));
  }

  it('has these columns', () =>
    assert.match(problemsOfInventory('service\n').join(), /the columns are not service, issue/));
});
