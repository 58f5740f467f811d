/**
 * The rules about who may import whom bite: each kind of forbidden import is planted and must be refused with its
 * reason, and what is allowed must pass. Nothing is written: ESLint gets a text and the path that it would have.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { ROOMS } from '../boundaries.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const BOUNDARIES = 'no-restricted-imports';

const eslint = new ESLint({ cwd: root });

/** What the boundary rule says of these imports in a file of this path. */
async function refusals(filePath, ...imports) {
  const code = imports.map((from, index) => `import * as m${index} from '${from}';\nvoid m${index};\n`).join('');
  return refusalsOf(filePath, code);
}

async function refusalsOf(filePath, code) {
  const [result] = await eslint.lintText(code, { filePath: `${root}${filePath}` });
  const broken = result.messages.find((message) => message.fatal);
  assert.equal(broken, undefined, `${filePath} is not linted: ${broken?.message}`);
  return result.messages.filter(({ ruleId }) => ruleId === BOUNDARIES).map(({ message }) => message);
}

const FORBIDDEN = [
  {
    what: 'a service imports another service by its package',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '@rookery/identity',
    why: /learns facts by events and asks questions by HTTP/,
  },
  {
    what: 'a service imports another service by a relative path',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '../../../identity/src/users/user.entity',
    why: /learns facts by events and asks questions by HTTP/,
  },
  {
    what: 'the gateway imports a service',
    file: 'apps/gateway/src/edge/planted.ts',
    from: '../../../package/src/package.config',
    why: /learns facts by events and asks questions by HTTP/,
  },
  {
    what: 'a library imports a service',
    file: 'libs/directory/src/planted.ts',
    from: '../../../apps/identity/src/directory/reach/reach-sql',
    why: /learns facts by events and asks questions by HTTP/,
  },
  {
    what: 'the inside imports the edge of its own room',
    file: 'apps/collaboration/src/talk/notes/planted.service.ts',
    from: './notes.controller',
    why: /HTTP and NATS call the inside, not the other way round/,
  },
  {
    what: "the inside imports another room's presenter",
    file: 'apps/identity/src/groups/planted.queries.ts',
    from: '../projects/project.presenter',
    why: /HTTP and NATS call the inside, not the other way round/,
  },
  {
    what: 'a file without a suffix imports the edge',
    file: 'apps/identity/src/projects/forks/planted.ts',
    from: './project-forks.controller',
    why: /HTTP and NATS call the inside, not the other way round/,
  },
  {
    what: 'a file without a suffix imports the HTTP library',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '@rookery/api-v4',
    why: /belong to controllers, presenters and consumers/,
  },
  {
    what: 'the inside imports the HTTP library',
    file: 'apps/admin/src/broadcast-messages/planted.entity.ts',
    from: '@rookery/api-v4',
    why: /belong to controllers, presenters and consumers/,
  },
  {
    what: 'the inside imports the event library',
    file: 'apps/package/src/protection-rules/planted.service.ts',
    from: '@rookery/messaging',
    why: /belong to controllers, presenters and consumers/,
  },
  {
    what: 'the inside imports more of Nest than injection',
    file: 'apps/identity/src/users/planted.policy.ts',
    from: '@nestjs/core',
    why: /the inside uses Injectable only/,
  },
  {
    what: 'jobs know the bus',
    file: 'libs/jobs/src/planted.ts',
    from: '@rookery/messaging',
    why: /neither the bus nor the HTTP edge/,
  },
  {
    what: 'the kernel reads files',
    file: 'libs/kernel/src/planted.ts',
    from: 'node:fs',
    why: /no framework and no IO/,
  },
  {
    what: 'the kernel reads files under another name',
    file: 'libs/kernel/src/planted.ts',
    from: 'fs/promises',
    why: /no framework and no IO/,
  },
  {
    what: 'contracts know a framework',
    file: 'libs/contracts/src/planted.ts',
    from: '@nestjs/common',
    why: /no framework and no IO/,
  },
  {
    what: 'something deep inside a library is imported',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '@rookery/kernel/src/errors',
    why: /its index is its public face/,
  },
  {
    what: 'a library is imported by a path into its folder',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '../../../../libs/kernel/src/errors',
    why: /not by a path into its folder/,
  },
];

const ALLOWED = [
  ['apps/collaboration/src/talk/notes/planted.controller.ts', './notes.service', '@rookery/api-v4', '@nestjs/common'],
  [
    'apps/collaboration/src/following/todos/planted.consumer.ts',
    '@rookery/messaging',
    '@rookery/contracts',
    './raise-todos',
  ],
  ['apps/collaboration/src/talk/notes/planted.service.ts', '../issues/issue.entity', '@rookery/persistence', 'typeorm'],
  ['apps/collaboration/src/talk/notes/planted.spec.ts', '@rookery/testing', './notes.controller'],
  ['apps/identity/test/api/planted.api-spec.ts', '@rookery/testing', '../../src/identity.module'],
  ['libs/kernel/src/planted.ts', './errors'],
  ['libs/platform/src/planted.ts', 'node:fs', '@rookery/kernel'],
];

describe('boundaries', () => {
  for (const { what, file, from, why } of FORBIDDEN) {
    it(`are broken when ${what}`, async () => {
      const messages = await refusals(file, from);
      assert.equal(messages.length > 0, true, `${file} may import ${from}`);
      assert.match(messages.join('\n'), why);
    });
  }

  it('are broken by types and by re-exports too', async () => {
    const file = 'apps/collaboration/src/talk/notes/planted.ts';
    assert.equal((await refusalsOf(file, `export * from '@rookery/identity';`)).length, 1);
    assert.equal(
      (await refusalsOf(file, `import type { User } from '@rookery/identity';\nexport type U = User;`)).length,
      1,
    );
  });

  for (const [file, ...imports] of ALLOWED) {
    it(`let ${file} import ${imports.join(', ')}`, async () => {
      assert.deepEqual(await refusals(file, ...imports), []);
    });
  }

  const libraries = Object.keys(ROOMS).filter((room) => room.startsWith('libs/'));
  for (const [room, { may, why }] of Object.entries(ROOMS)) {
    it(`give ${room} the libraries of its row and no other, and say why`, async () => {
      for (const library of libraries.filter((one) => one !== room)) {
        const name = library.slice('libs/'.length);
        const messages = await refusals(`${room}/src/planted.controller.ts`, `@rookery/${name}`);
        if (may.includes(name)) assert.deepEqual(messages, [], `${room} may import ${name}`);
        else assert.equal(messages.join('\n').includes(why), true, `${room} may not import ${name}`);
      }
    });
  }
});

describe('servers outside', () => {
  const OUTWARD = ['@typescript-eslint/no-restricted-imports', 'no-restricted-globals'];
  const told = async (filePath, code) => {
    const [result] = await eslint.lintText(code, { filePath: `${root}${filePath}` });
    return result.messages.filter(({ ruleId }) => OUTWARD.includes(ruleId)).map(({ message }) => message);
  };
  const INSIDE = 'apps/admin/src/geo-sites/planted.service.ts';

  for (const from of ['undici', 'node:https', 'http', 'node:net', 'tls', 'node:dns/promises', 'node:dgram']) {
    it(`are not asked by ${from}, anywhere but in egress`, async () => {
      const code = `import * as m from '${from}';\nvoid m;\n`;
      assert.match((await told(INSIDE, code)).join('\n'), /through Egress/);
      assert.match((await told('libs/persistence/src/planted.ts', code)).join('\n'), /through Egress/);
      assert.deepEqual(await told('libs/egress/src/planted.ts', code), []);
    });
  }

  for (const name of ['fetch', 'WebSocket', 'EventSource']) {
    it(`are not asked by the global ${name}`, async () => {
      assert.match((await told(INSIDE, `void ${name};\n`)).join('\n'), /through Egress/);
    });
  }

  it('are another matter than the notation of an address, and than processes of the estate', async () => {
    assert.deepEqual(await told(INSIDE, `import { isIP } from 'node:net';\nvoid isIP;\n`), []);
    const pool = `import { Pool } from 'undici';\nvoid Pool;\n`;
    assert.deepEqual(await told('libs/instance/src/admin-client.ts', pool), []);
  });
});

describe('other programs', () => {
  const told = async (filePath, code) => {
    const [result] = await eslint.lintText(code, { filePath: `${root}${filePath}` });
    const rule = '@typescript-eslint/no-restricted-imports';
    return result.messages.filter(({ ruleId }) => ruleId === rule).map(({ message }) => message);
  };
  const code = `import { spawn } from 'node:child_process';\nvoid spawn;\n`;

  it('are started by libs/git alone, wherever connections are allowed too', async () => {
    for (const file of [
      'apps/collaboration/src/notes/planted.ts',
      'apps/gateway/src/edge/planted.ts',
      'libs/platform/src/planted.ts',
      'libs/egress/src/planted.ts',
      'libs/git/src/objects/planted.ts',
    ]) {
      assert.match((await told(file, code)).join('\n'), /A service starts no program/, file);
      assert.match((await told(file, code.replace('node:', ''))).join('\n'), /A service starts no program/, file);
    }
    assert.deepEqual(await told('libs/git/src/process/git-processes.ts', code), []);
    assert.deepEqual(await told('libs/testing/src/servers.ts', code), []);
  });

  it('are no way around egress', async () => {
    const connects = `import { connect } from 'node:net';\nvoid connect;\n`;
    assert.match((await told('libs/git/src/process/git-processes.ts', connects)).join('\n'), /through Egress/);
  });
});
