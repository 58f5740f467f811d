import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import firstTime from './first-time.cjs';

describe('a suite', () => {
  it('fails the first time', () => {
    assert.equal(firstTime.isFirstTime(fileURLToPath(import.meta.url)) ? 1 : 2, 2);
  });

  it('passes', () => {});

  it.skip('is left out', () => {});
});
