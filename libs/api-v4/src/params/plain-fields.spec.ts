import { plain } from '@rookery/kernel';
import {
  fieldsOf,
  Flag,
  Int,
  int,
  object,
  pickFields,
  presenter,
  createPlainPresenterFields,
  Text,
  text,
  withPlainFields,
} from '../index';
import type { PresentContext } from '../index';
import { ParamsPlan } from '../endpoint/params-plan';

const FIELDS = plain.table({
  level: plain.oneOf(['low', 'high'], { column: true }),
  is_high: plain.switch('level', { on: 'high', off: 'low', shownAsDeprecated: true }),
  loud: plain.flag({ default: true, alias: 'noisy', about: 'Heard.' }),
  depth: plain.int({ default: null, nullable: true, min: 1, settable: 'later', deprecated: 'level' }),
  names: plain.texts({ default: [], max: 2, in: 'detail', shown: 'owners' }),
  format: plain.text({ default: 'v1', settable: 'never' }),
  secret: plain.text({ default: '', shown: false }),
  rules: plain.hash<{ a: number }, { a?: number }>()({ default: { a: 1 }, in: 'detail' }),
});

class Rules {
  @Int({ optional: true }) a?: number;
}
class Basics {
  @Text() title: string;
}
class CreateWidget extends withPlainFields(Basics, FIELDS, { when: 'always', hashes: { rules: () => Rules } }) {
  @Flag({ default: false }) silent: boolean;
}
class UpdateWidget extends withPlainFields(CreateWidget, FIELDS, { when: 'later' }) {}

describe('parameters', () => {
  it('follow the inherited fields and precede the own ones, in the order of the table', () => {
    const names = ['title', 'level', 'is_high', 'loud', 'names', 'secret', 'rules', 'silent'];
    expect(fieldsOf(CreateWidget).map((field) => field.name)).toEqual(names);
    expect(fieldsOf(UpdateWidget).map((field) => field.name)).toEqual([...names, 'depth']);
  });

  it('are read like other parameters', () => {
    const body = { title: 'x', noisy: 'false', names: ['a'], rules: { a: '3', b: 1 }, is_high: 1, format: 'v2' };
    const read: CreateWidget = new ParamsPlan(CreateWidget).readParams({ path: {}, query: {}, files: {}, body });
    expect({ ...read }).toEqual({
      title: 'x',
      loud: false,
      names: ['a'],
      rules: { a: 3 },
      is_high: true,
      silent: false,
    });
    const level: 'low' | 'high' | undefined = read.level;
    expect(level).toBeUndefined();
  });

  it('are validated like other parameters', () => {
    const plan = new ParamsPlan(UpdateWidget);
    const body = { title: 'x', level: 'middle', loud: 'x', depth: 0, names: ['a', 'b', 'c'] };
    expect(() => plan.readParams({ path: {}, query: {}, files: {}, body })).toThrow(
      expect.objectContaining({
        problems: [
          'level does not have a valid value',
          'loud is invalid',
          'names has too many items (maximum is 2)',
          'depth does not have a valid value',
        ],
      }),
    );
  });

  it('need a parameter class for each hash', () => {
    // @ts-expect-error another class
    withPlainFields(Basics, FIELDS, { when: 'always', hashes: { rules: () => Basics } });
    expect(() => withPlainFields(Basics, FIELDS, { when: 'always' })).toThrow('no parameter class');
  });
});

interface Widget {
  readonly title: string;
  readonly level: 'low' | 'high';
  readonly owned: boolean;
  readonly settings: { loud?: boolean; depth?: number | null; names?: string[] };
}
const list = createPlainPresenterFields<Widget>()(FIELDS, 'list', {});
const widget = presenter<Widget>('Widget').fields({
  ...pickFields(list, 'format', 'is_high'),
  title: [text, (one) => one.title],
  ...list,
});
const detail = widget
  .extend<Widget>('WidgetDetail')
  .fields(
    createPlainPresenterFields<Widget>()(
      FIELDS,
      'detail',
      { owners: (one) => one.owned },
      { rules: object({ a: int }) },
    ),
  );
// @ts-expect-error the condition for owners is missing
createPlainPresenterFields<Widget>()(FIELDS, 'detail', {}, { rules: object({ a: int }) });
// @ts-expect-error the row lacks a column
createPlainPresenterFields<Omit<Widget, 'level'>>()(FIELDS, 'list', {});

describe('presenter fields', () => {
  it('need the type of each hash', () => {
    const shown = () => createPlainPresenterFields<Widget>()(FIELDS, 'detail', { owners: () => true });
    expect(shown).toThrow('a plain field that is a hash has no type');
  });

  const context = {} as PresentContext;
  const row: Widget = { title: 'x', level: 'high', owned: false, settings: { loud: false } };

  it('show the stored value or the default, picked fields first and then in the order of the table', async () => {
    const shown = { format: 'v1', is_high: true, title: 'x', level: 'high', loud: false, depth: null };
    expect(await widget.renderRow(row, context)).toBe(JSON.stringify(shown));
    expect(await detail.renderRow(row, context)).toBe(JSON.stringify({ ...shown, rules: { a: 1 } }));
  });

  it('are shown to their audience only', async () => {
    const text = await detail.renderRow({ ...row, owned: true, settings: { names: ['a'] } }, context);
    expect(JSON.parse(text)).toMatchObject({ loud: true, names: ['a'] });
  });

  it('are documented', () => {
    const { properties } = detail.schema as { properties: Record<string, unknown> };
    expect(properties).toMatchObject({
      is_high: { type: 'boolean', description: 'Deprecated: use level.', deprecated: true },
      depth: { type: ['integer', 'null'], deprecated: true },
      names: { type: 'array', items: { type: 'string' } },
    });
    expect(properties).not.toHaveProperty('secret');
  });
});
