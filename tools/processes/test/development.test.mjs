/** The arguments of `npm run dev`, and the processes that it restarts for a changed file. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { developmentOptions, processesOf } from '../development.mjs';
import { PROCESSES } from '../environment.mjs';

describe('npm run dev', () => {
  it('restarts all processes unless some are named', () => {
    assert.deepEqual(developmentOptions([]), { names: PROCESSES, inspected: null });
    assert.deepEqual(developmentOptions(['package', 'identity']).names, ['package', 'identity']);
  });

  it('takes the process for the inspector, next to named processes', () => {
    assert.deepEqual(developmentOptions(['--inspect', 'package', 'identity']), {
      names: ['identity'],
      inspected: 'package',
    });
  });

  it('refuses unknown processes and options, with the usage', () => {
    for (const args of [['packages'], ['--inspect', 'x'], ['--inspect'], ['--fast']])
      assert.throws(() => developmentOptions(args), /names: identity, collaboration/);
  });

  it('restarts one process for a file of an app, and all for a file of a library', () => {
    assert.deepEqual(processesOf('apps/package/src/main.ts'), ['package']);
    assert.deepEqual(processesOf('libs/kernel/src/index.ts'), PROCESSES);
    assert.deepEqual(processesOf('apps/e2e/support/estate.ts'), []);
  });
});
