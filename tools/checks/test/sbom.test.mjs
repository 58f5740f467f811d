/** The bill of materials of an image is valid CycloneDX, complete, and equal for equal images. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { billOfMaterials } from '../../image/sbom.mjs';

const require = createRequire(import.meta.url);
const root = fileURLToPath(new URL('../../..', import.meta.url));
const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');

it('a bill of this clone is valid, and lists each installed package once', async () => {
  const bill = billOfMaterials(root, 'identity', '0.1.0');
  const { Spec, Validation } = require('@cyclonedx/cyclonedx-library');
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5);
  assert.equal(await validator.validate(JSON.stringify(bill)), null);
  const names = bill.components.map((one) => one['bom-ref']);
  assert.equal(new Set(names).size, names.length);
  /** @type {{ dependencies: Record<string, string> }} */
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [name, version] of Object.entries(dependencies))
    assert.ok(names.includes(`pkg:npm/${name.replace('@', '%40')}@${version}`), `${name} is not listed`);
  for (const part of ['pkg:npm/%40rookery/identity@', 'pkg:deb/', 'pkg:generic/node@'])
    assert.ok(names.some((name) => name.startsWith(part)));
  assert.deepEqual(billOfMaterials(root, 'identity', '0.1.0'), bill);
  assert.ok(!JSON.stringify(bill).includes(root.slice(0, -1)), 'the bill names a folder of this machine');
});

describe('a bill is refused', () => {
  /** @type {string} */
  let folder;
  const lock = { packages: { 'node_modules/a': { version: '1.0.0' }, 'node_modules/@b/c': { version: '2.0.0' } } };
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'rookery-sbom-'));
    for (const name of ['a', '@b/c']) {
      mkdirSync(join(folder, 'node_modules', name), { recursive: true });
      writeFileSync(join(folder, 'node_modules', name, 'package.json'), '{}');
    }
    writeFileSync(join(folder, 'node_modules/.package-lock.json'), JSON.stringify(lock));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('when a package is installed and not listed, also within another one', () => {
    assert.equal(
      billOfMaterials(folder, 'x', '1').components.filter((one) => one['bom-ref'].includes('npm')).length,
      2,
    );
    const copy = mkdtempSync(join(tmpdir(), 'rookery-sbom-'));
    try {
      cpSync(folder, copy, { recursive: true });
      mkdirSync(join(copy, 'node_modules/a/node_modules/d'), { recursive: true });
      writeFileSync(join(copy, 'node_modules/a/node_modules/d/package.json'), '{}');
      assert.throws(
        () => billOfMaterials(copy, 'x', '1'),
        /installed and not listed: node_modules\/a\/node_modules\/d/,
      );
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  it('when a package is listed and not installed', () => {
    rmSync(join(folder, 'node_modules/a'), { recursive: true });
    assert.throws(() => billOfMaterials(folder, 'x', '1'), /listed and not installed: node_modules\/a/);
  });
});

it('the image makes its bill after everything else is in it, and names its base and release', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  const bill = last.indexOf('node /tmp/sbom.mjs /app "$SERVICE" "$VERSION" >/usr/share/sbom/rookery.cdx.json');
  assert.ok(
    bill > last.lastIndexOf('COPY --from') && bill > last.lastIndexOf('apt-get') && bill < last.indexOf('\nUSER '),
  );
  for (const label of ['title', 'description', 'licenses', 'version', 'revision', 'base.name'])
    assert.ok(last.includes(`org.opencontainers.image.${label}=`), `no label ${label}`);
});
