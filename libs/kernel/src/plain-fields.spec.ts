import type { ExactInput } from './inputs';
import { assertAllUsed } from './inputs';
import { plain, splitIntoColumnsAndSettings, plainFieldDefaults, plainFieldLengthProblems } from './plain-fields';
import type { PlainColumns, PlainInput, PlainSettings } from './plain-fields';

const FIELDS = plain.table({
  level: plain.oneOf(['low', 'high'], { column: true }),
  is_high: plain.switch('level', { on: 'high', off: 'low' }),
  loud: plain.flag({ default: true }),
  depth: plain.int({ default: null, nullable: true, min: 1, settable: 'later' }),
  names: plain.texts({ default: [], max: 3 }),
  motto: plain.text({ default: '', longest: 3 }),
  format: plain.text({ default: 'v1', settable: 'never' }),
  minutes: plain.int({ default: 0, by: 'administrators' }),
  rules: plain.hash<{ a: number; b: number }, { a?: number }>()({ default: { a: 1, b: 2 } }),
});
const administrator = { isAdmin: true };
const user = { isAdmin: false };

/** The compiler is the test: values of exactly these types, and a line after `@ts-expect-error` must not compile. */
const columns: PlainColumns<typeof FIELDS> = { level: 'low' };
const settings: PlainSettings<typeof FIELDS> = {
  loud: true,
  depth: null,
  names: ['x'],
  motto: '',
  format: '',
  minutes: 1,
  rules: { a: 1, b: 2 },
};
const sent: PlainInput<typeof FIELDS> = { level: 'low', is_high: true, rules: {}, minutes: 1 };
// @ts-expect-error not one of the values
const wrongLevel: PlainInput<typeof FIELDS> = { level: 'middle' };
// @ts-expect-error settable by changes only
const tooEarly: PlainInput<typeof FIELDS> = { depth: 3 };
// @ts-expect-error settable by no request
const never: PlainInput<typeof FIELDS, 'always' | 'later'> = { format: 'v2' };

describe('a table of plain fields', () => {
  it('refuses contradictory options at compile time', () => {
    // @ts-expect-error neither a column nor a default
    plain.flag({});
    // @ts-expect-error a column has the default of the database
    plain.flag({ column: true, default: true });
    // @ts-expect-error the default is no flag
    plain.flag({ default: 'yes' });
    // @ts-expect-error null is not allowed
    plain.flag({ default: null });
    // @ts-expect-error the default is not one of the values
    plain.oneOf(['low'], { default: 'high' });
    // @ts-expect-error no such option
    plain.flag({ default: true, nulable: true });
    // @ts-expect-error flags have no bounds
    plain.flag({ default: true, min: 1 });
    // @ts-expect-error the switch names a field that does not exist
    plain.table({ on: plain.switch('level', { on: 'high', off: 'low' }) });
    // @ts-expect-error the field has no such value
    plain.table({ level: FIELDS.level, on: plain.switch('level', { on: 'high', off: 'middle' }) });
    expect([columns, settings, sent, wrongLevel, tooEarly, never]).toHaveLength(6);
  });

  it('has the defaults of settings', () => {
    const { rules, ...others } = plainFieldDefaults(FIELDS);
    expect(others).toEqual({ loud: true, depth: null, names: [], motto: '', format: 'v1', minutes: 0 });
    expect(rules.b).toBe(2);
  });

  it('sorts sent values into columns and settings', () => {
    expect(splitIntoColumnsAndSettings(FIELDS, { level: 'high', loud: false, depth: null }, user)).toEqual({
      columns: { level: 'high' },
      settings: { loud: false, depth: null },
    });
    expect(splitIntoColumnsAndSettings(FIELDS, {}, user)).toEqual({ columns: {}, settings: {} });
  });

  it('applies a switch to its field, unless the field is sent too', () => {
    const levelOf = (change: PlainInput<typeof FIELDS>) => splitIntoColumnsAndSettings(FIELDS, change, user).columns;
    expect([levelOf({ is_high: true }), levelOf({ is_high: false })]).toEqual([{ level: 'high' }, { level: 'low' }]);
    expect(levelOf({ is_high: true, level: 'low' })).toEqual({ level: 'low' });
  });

  it('ignores fields for administrators when another user sends them', () => {
    expect(splitIntoColumnsAndSettings(FIELDS, { minutes: 5 }, user).settings).toEqual({});
    expect(splitIntoColumnsAndSettings(FIELDS, { minutes: 5 }, administrator).settings).toEqual({ minutes: 5 });
  });

  it('counts characters, not UTF-16 code units', () => {
    expect(plainFieldLengthProblems(FIELDS, { motto: '🪺🪺🪺' })).toEqual({});
    expect(plainFieldLengthProblems(FIELDS, { motto: 'nest' })).toEqual({
      motto: ['is too long (maximum is 3 characters)'],
    });
  });

  it('does not compile when a sent field is not in the table', () => {
    const more = { loud: true, colour: 'red' };
    // @ts-expect-error the table has no colour
    expect(splitIntoColumnsAndSettings(FIELDS, more, user).settings).toEqual({ loud: true });
  });
});

interface PinInput {
  readonly title?: string;
}
class CreatePin implements ExactInput<PinInput, CreatePin, 'id'> {
  id: number;
  title?: string;
}
class CreateColouredPin implements ExactInput<PinInput, CreateColouredPin, 'id'> {
  id: number;
  title?: string;
  // @ts-expect-error the input has no colour
  colour?: string;
}
class CreateNumberedPin implements ExactInput<PinInput, CreateNumberedPin> {
  // @ts-expect-error the title is a text in the input
  title?: number;
}

test('a property of an input that is not destructured does not compile', () => {
  const { title, ...rest } = { title: 'x' } as PinInput;
  assertAllUsed(rest);
  const { title: other, ...more } = { title, colour: 'red' };
  // @ts-expect-error the colour is left
  assertAllUsed(more);
  expect([title, other, CreatePin, CreateColouredPin, CreateNumberedPin]).toHaveLength(5);
});
