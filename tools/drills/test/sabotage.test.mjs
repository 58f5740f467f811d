/** Each change still matches its built file; otherwise its drill would pass without the fault. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** @type {{ CHANGES: typeof import('../sabotage.cjs').CHANGES }} */
const { CHANGES } = createRequire(import.meta.url)('../sabotage.cjs');
const built = ['apps', 'libs'].flatMap((kind) =>
  readdirSync(join(ROOT, kind))
    .map((name) => join(ROOT, kind, name, 'dist'))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => join(folder, String(file)))),
);

for (const [name, changes] of Object.entries(CHANGES)) {
  it(`${name} matches its files`, () => {
    for (const { file, from } of [changes].flat()) {
      const places = built.filter((path) => file.test(path));
      assert.ok(places.length > 0, `no file matches ${file}`);
      for (const path of places) assert.notEqual(readFileSync(path, 'utf8').search(from), -1, `${path}: no ${from}`);
    }
  });
}
