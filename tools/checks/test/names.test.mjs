/** The rules about names of classes, methods and parameters: each is violated by a sample class. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';

const root = fileURLToPath(new URL('../../..', import.meta.url));
// Without types, because the sample file is in no program.
const eslint = new ESLint({ cwd: root });

/** @param {string} code */
async function refusals(code, file = 'pins.dto.ts') {
  const [result] = await eslint.lintText(code, { filePath: `${root}apps/package/src/pins/${file}` });
  const messages = result?.messages ?? [];
  const broken = messages.find((message) => message.fatal);
  assert.equal(broken, undefined, `not linted: ${broken?.message}`);
  return messages.filter(({ ruleId }) => ruleId === 'no-restricted-syntax').map(({ message }) => message);
}

describe('parameters', () => {
  it('are named by a verb and a noun', async () => {
    assert.deepEqual(await refusals('export class CreatePin {} export class IdentifyPin {} class PinFields {}'), []);
    assert.match((await refusals('export class Pin {}')).join(), /named by the method and the noun/);
    assert.match((await refusals('export class Listing {}')).join(), /named by the method and the noun/);
  });

  it('have no suffix', async () => {
    assert.match((await refusals('export class CreatePinParams {}')).join(), /have no suffix/);
    assert.match((await refusals('class PinDto {}')).join(), /have no suffix/);
  });

  it('have a decorator each', async () => {
    assert.deepEqual(await refusals('export class IdentifyPin { @Int() id: number; }'), []);
    assert.match((await refusals('export class IdentifyPin { id: number; }')).join(), /never reaches the handler/);
  });
});

describe('layers', () => {
  it('are the endings of the names of injected classes', async () => {
    assert.deepEqual(await refusals('class Row {} @Injectable() export class PinsService {}', 'pins.service.ts'), []);
    const wrong = await refusals('@Injectable() export class Pins {}', 'pins.service.ts');
    assert.match(wrong.join(), /ends in Service/);
    assert.match((await refusals('@Controller() class Pins {}', 'pins.controller.ts')).join(), /ends in Controller/);
    assert.match((await refusals('@Module({}) class Pins {}', 'pins.module.ts')).join(), /ends in Module/);
  });

  it('have methods with meaningful verbs', async () => {
    /** @param {string} name */
    const methods = (name) => refusals(`@Injectable() class PinsService { ${name}() {} }`, 'pins.service.ts');
    assert.deepEqual(await methods('list'), []);
    assert.deepEqual(await methods('getter'), []);
    assert.match((await methods('getPin')).join(), /named by what it does/);
    assert.match((await methods('handle')).join(), /named by what it does/);
  });
});
