/** The check of docs/routes.tsv: each of its rules finds a violation. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { routeInventoryProblems } from '../routes.mjs';

const HEAD = 'service issue tag method path operation success auth paging requirement note';
const PINS = 'package packages base GET /pins listPins 200 user offset to_come -';
/** @param {...string} rows */
const problemsOf = (...rows) =>
  routeInventoryProblems(
    `${[HEAD, ...rows].map((row) => row.replaceAll(' ', '\t').replaceAll('_', ' ')).join('\n')}\n`,
  );

describe('the inventory of routes', () => {
  it('may contain rows in order', () => {
    const spec = PINS.replace('base', 'spec')
      .replace('GET', 'POST')
      .replace('listPins', 'createPin')
      .replace('to_come', 'requirements_3');
    assert.deepEqual(problemsOf(PINS, spec), []);
  });

  /** @type {[name: string, problem: RegExp, ...rows: string[]][]} */
  const refused = [
    ['another order', /:3: is out of order after package \/pins GET/, PINS, PINS.replace('/pins', '/eggs')],
    ['a route twice', /:3: is out of order after/, PINS, PINS],
    ['a name twice', /:3: listPins is taken/, PINS, PINS.replace('GET', 'POST')],
    ['an invalid name', /:2: "list-pins" is no valid operation/, PINS.replace('listPins', 'list-pins')],
    ['an unknown value', /:2: "pages" is no valid paging/, PINS.replace('offset', 'pages')],
    ['an unknown service', /:2: "pins" is no valid service/, PINS.replace('package ', 'pins ')],
    ['a missing column', /:2: has 10 columns/, PINS.replace(' offset', '')],
    ['requirements under another tag', /:2: routes that cite requirements/, PINS.replace('to_come', 'requirements_3')],
    ['a requirement route without a citation', /:2: routes that cite requirements/, PINS.replace('base', 'gap')],
  ];
  for (const [name, problem, ...rows] of refused) {
    it(`may not contain ${name}`, () => assert.match(problemsOf(...rows).join('\n'), problem));
  }

  it('has these columns', () =>
    assert.match(routeInventoryProblems('service\n').join(), /the columns are not service, issue/));
});
