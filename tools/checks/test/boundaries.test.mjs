/**
 * The rules about imports: each kind of forbidden import is refused with its reason, and permitted imports pass. No file is
 * written: ESLint gets a text and a path.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import { ROOMS } from '../boundaries.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const BOUNDARIES = 'no-restricted-imports';

const eslint = new ESLint({ cwd: root });

/**
 * Messages of the boundary rule about these imports in a file with this path.
 * @param {string} filePath
 * @param {...string} imports
 */
async function refusals(filePath, ...imports) {
  const code = imports.map((from, index) => `import * as m${index} from '${from}';\nvoid m${index};\n`).join('');
  return refusalsOf(filePath, code);
}

/**
 * @param {string} filePath
 * @param {string} code
 */
async function refusalsOf(filePath, code) {
  const messages = await messagesOf(filePath, code);
  const broken = messages.find((message) => message.fatal);
  assert.equal(broken, undefined, `${filePath} is not linted: ${broken?.message}`);
  return messages.filter(({ ruleId }) => ruleId === BOUNDARIES).map(({ message }) => message);
}

/**
 * @param {string} filePath
 * @param {string} code
 */
async function messagesOf(filePath, code) {
  const [result] = await eslint.lintText(code, { filePath: `${root}${filePath}` });
  return result?.messages ?? [];
}

const FORBIDDEN = [
  {
    violation: 'a service imports another service by its package',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '@rookery/identity',
    why: /receives events and sends HTTP requests/,
  },
  {
    violation: 'a service imports another service by a relative path',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '../../../identity/src/users/user.entity',
    why: /receives events and sends HTTP requests/,
  },
  {
    violation: 'the gateway imports a service',
    file: 'apps/gateway/src/edge/planted.ts',
    from: '../../../package/src/package.config',
    why: /receives events and sends HTTP requests/,
  },
  {
    violation: 'a library imports a service',
    file: 'libs/directory/src/planted.ts',
    from: '../../../apps/identity/src/directory/reach/reach-sql',
    why: /receives events and sends HTTP requests/,
  },
  {
    violation: 'the inside imports the edge of its own room',
    file: 'apps/collaboration/src/talk/notes/planted.service.ts',
    from: './notes.controller',
    why: /HTTP and NATS call the inside, not the other way round/,
  },
  {
    violation: "the inside imports another room's presenter",
    file: 'apps/identity/src/groups/planted.queries.ts',
    from: '../projects/project.presenter',
    why: /HTTP and NATS call the inside, not the other way round/,
  },
  {
    violation: 'a file without a suffix imports the edge',
    file: 'apps/identity/src/projects/forks/planted.ts',
    from: './project-forks.controller',
    why: /HTTP and NATS call the inside, not the other way round/,
  },
  {
    violation: 'a file without a suffix imports the HTTP library',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '@rookery/api-v4',
    why: /belong to controllers, presenters and consumers/,
  },
  {
    violation: 'the inside imports the HTTP library',
    file: 'apps/admin/src/broadcast-messages/planted.entity.ts',
    from: '@rookery/api-v4',
    why: /belong to controllers, presenters and consumers/,
  },
  {
    violation: 'the inside imports the event library',
    file: 'apps/package/src/protection-rules/planted.service.ts',
    from: '@rookery/messaging',
    why: /belong to controllers, presenters and consumers/,
  },
  {
    violation: 'the inside imports other parts of Nest than injection',
    file: 'apps/identity/src/users/planted.policy.ts',
    from: '@nestjs/core',
    why: /The inside imports only Injectable from Nest/,
  },
  {
    violation: 'jobs know the bus',
    file: 'libs/jobs/src/planted.ts',
    from: '@rookery/messaging',
    why: /neither the bus nor the HTTP edge/,
  },
  {
    violation: 'the kernel reads files',
    file: 'libs/kernel/src/planted.ts',
    from: 'node:fs',
    why: /no framework and no IO/,
  },
  {
    violation: 'the kernel reads files under another name',
    file: 'libs/kernel/src/planted.ts',
    from: 'fs/promises',
    why: /no framework and no IO/,
  },
  {
    violation: 'contracts know a framework',
    file: 'libs/contracts/src/planted.ts',
    from: '@nestjs/common',
    why: /no framework and no IO/,
  },
  {
    violation: 'an internal file of a library is imported',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '@rookery/kernel/src/errors',
    why: /its index is its public interface/,
  },
  {
    violation: 'a library is imported by a path into its folder',
    file: 'apps/collaboration/src/talk/notes/planted.ts',
    from: '../../../../libs/kernel/src/errors',
    why: /not by a path into its folder/,
  },
];

/** @type {[file: string, ...imports: string[]][]} */
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
  for (const { violation, file, from, why } of FORBIDDEN) {
    it(`are violated when ${violation}`, async () => {
      const messages = await refusals(file, from);
      assert.equal(messages.length > 0, true, `${file} may import ${from}`);
      assert.match(messages.join('\n'), why);
    });
  }

  it('are also violated by types and re-exports', async () => {
    const file = 'apps/collaboration/src/talk/notes/planted.ts';
    assert.equal((await refusalsOf(file, `export * from '@rookery/identity';`)).length, 1);
    assert.equal(
      (await refusalsOf(file, `import type { User } from '@rookery/identity';\nexport type U = User;`)).length,
      1,
    );
  });

  for (const [file, ...imports] of ALLOWED) {
    it(`permit ${file} to import ${imports.join(', ')}`, async () => {
      assert.deepEqual(await refusals(file, ...imports), []);
    });
  }

  const libraries = Object.keys(ROOMS).filter((room) => room.startsWith('libs/'));
  for (const [room, { may, why }] of Object.entries(ROOMS)) {
    it(`permit ${room} only the libraries of its row, with the reason`, async () => {
      for (const library of libraries.filter((one) => one !== room)) {
        const name = library.slice('libs/'.length);
        const messages = await refusals(`${room}/src/planted.controller.ts`, `@rookery/${name}`);
        if (may.includes(name)) assert.deepEqual(messages, [], `${room} may import ${name}`);
        else assert.equal(messages.join('\n').includes(why), true, `${room} may not import ${name}`);
      }
    });
  }
});

describe('external servers', () => {
  const OUTWARD = ['@typescript-eslint/no-restricted-imports', 'no-restricted-globals'];
  /** @type {(filePath: string, code: string) => Promise<string[]>} */
  const complaints = async (filePath, code) =>
    (await messagesOf(filePath, code))
      .filter(({ ruleId }) => OUTWARD.includes(ruleId ?? ''))
      .map(({ message }) => message);
  const INSIDE = 'apps/admin/src/geo-sites/planted.service.ts';

  for (const from of ['undici', 'node:https', 'http', 'node:net', 'tls', 'node:dns/promises', 'node:dgram']) {
    it(`are requested by ${from} only in egress`, async () => {
      const code = `import * as m from '${from}';\nvoid m;\n`;
      assert.match((await complaints(INSIDE, code)).join('\n'), /through Egress/);
      assert.match((await complaints('libs/persistence/src/planted.ts', code)).join('\n'), /through Egress/);
      assert.deepEqual(await complaints('libs/egress/src/planted.ts', code), []);
    });
  }

  for (const name of ['fetch', 'WebSocket', 'EventSource']) {
    it(`are not requested by the global ${name}`, async () => {
      assert.match((await complaints(INSIDE, `void ${name};\n`)).join('\n'), /through Egress/);
    });
  }

  it('do not include the parsing of addresses and processes of the estate', async () => {
    assert.deepEqual(await complaints(INSIDE, `import { isIP } from 'node:net';\nvoid isIP;\n`), []);
    const pool = `import { Pool } from 'undici';\nvoid Pool;\n`;
    assert.deepEqual(await complaints('libs/instance/src/admin-client.ts', pool), []);
  });
});

describe('other programs', () => {
  /** @type {(filePath: string, code: string) => Promise<string[]>} */
  const complaints = async (filePath, code) => {
    const rule = '@typescript-eslint/no-restricted-imports';
    return (await messagesOf(filePath, code)).filter(({ ruleId }) => ruleId === rule).map(({ message }) => message);
  };
  const code = `import { spawn } from 'node:child_process';\nvoid spawn;\n`;

  it('are started only by libs/git, even where connections are permitted', async () => {
    for (const file of [
      'apps/collaboration/src/notes/planted.ts',
      'apps/gateway/src/edge/planted.ts',
      'libs/platform/src/planted.ts',
      'libs/egress/src/planted.ts',
      'libs/git/src/objects/planted.ts',
    ]) {
      assert.match((await complaints(file, code)).join('\n'), /A service starts no program/, file);
      assert.match((await complaints(file, code.replace('node:', ''))).join('\n'), /A service starts no program/, file);
    }
    assert.match(
      (await complaints('libs/git/src/process/git-processes.ts', code)).join('\n'),
      /A service starts no program/,
    );
    assert.deepEqual(await complaints('libs/git/src/process/git-starter.ts', code), []);
    assert.deepEqual(await complaints('libs/testing/src/servers.ts', code), []);
  });

  it('do not connect without egress', async () => {
    const connects = `import { connect } from 'node:net';\nvoid connect;\n`;
    assert.match((await complaints('libs/git/src/process/git-processes.ts', connects)).join('\n'), /through Egress/);
  });
});
