/** Overlays are rendered with one major version of Kustomize; without kubectl they are skipped, with another one refused. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { UnsupportedKustomize, renderOverlay } from '../kustomize.mjs';

/**
 * A kubectl that prints a version, and renders the folder to its name.
 * @param {string} printed
 * @returns {(...words: string[]) => string}
 */
const kubectlThatPrints = (printed) => (verb, folder) => (verb === 'kustomize' ? `rendered ${folder}` : printed);

it('renders with Kustomize 5', () => {
  const kubectl = kubectlThatPrints('Client Version: v1.32.4\nKustomize Version: v5.5.0\n');
  assert.equal(renderOverlay('production', kubectl), 'rendered production');
});

it('is skipped without kubectl', () => {
  const missing = () => {
    throw Object.assign(new Error('spawn kubectl ENOENT'), { code: 'ENOENT' });
  };
  assert.equal(renderOverlay('production', missing), null);
});

for (const [printed, found] of [
  ['Client Version: v1.26.3\nKustomize Version: v4.5.7\n', /contains Kustomize 4\.5\.7, .* need Kustomize 5/],
  ['Client Version: v1.40.0\nKustomize Version: v6.0.0\n', /contains Kustomize 6\.0\.0, .* need Kustomize 5/],
  ['Client Version: v1.19.0\n', /contains no version of Kustomize/],
])
  it(`is refused with ${String(printed).replaceAll('\n', ' ')}`, () => {
    assert.throws(
      () => renderOverlay('production', kubectlThatPrints(String(printed))),
      (/** @type {Error} */ error) =>
        error instanceof UnsupportedKustomize && new RegExp(found ?? '').test(error.message),
    );
  });

it('reports that kubectl cannot render', () => {
  const kubectl = (/** @type {string} */ verb) => {
    if (verb === 'kustomize') throw new Error('no such file');
    return 'Kustomize Version: v5.5.0';
  };
  assert.throws(() => renderOverlay('production', kubectl), /no such file/);
});
