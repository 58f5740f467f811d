import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

describe('a suite', () => {
  it('fails', () => {
    assert.equal(1, 2);
  });

  it('passes', () => {});
});
