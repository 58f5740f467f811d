/** The rules about classes of parameters bite: each is broken by a planted class. Nothing is written. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';

const root = fileURLToPath(new URL('../../..', import.meta.url));
// Without types: the planted file is in no program.
const eslint = new ESLint({ cwd: root, overrideConfig: tseslint.configs.disableTypeChecked });

async function refusals(code) {
  const [result] = await eslint.lintText(code, { filePath: `${root}apps/package/src/pins/pins.dto.ts` });
  const broken = result.messages.find((message) => message.fatal);
  assert.equal(broken, undefined, `not linted: ${broken?.message}`);
  return result.messages.filter(({ ruleId }) => ruleId === 'no-restricted-syntax').map(({ message }) => message);
}

describe('parameters', () => {
  it('are named by a verb and a noun', async () => {
    assert.deepEqual(await refusals('export class CreatePin {} export class OnePin {} class PinFields {}'), []);
    assert.match((await refusals('export class Pin {}')).join(), /named by the method and the noun/);
    assert.match((await refusals('export class Listing {}')).join(), /named by the method and the noun/);
  });

  it('have no suffix', async () => {
    assert.match((await refusals('export class CreatePinParams {}')).join(), /have no suffix/);
    assert.match((await refusals('class PinDto {}')).join(), /have no suffix/);
  });

  it('have a decorator each', async () => {
    assert.deepEqual(await refusals('export class OnePin { @Int() id: number; }'), []);
    assert.match((await refusals('export class OnePin { id: number; }')).join(), /never reaches the handler/);
  });
});
