import {
  AnyValue,
  AtLeastOneOf,
  Day,
  ExactlyOneOf,
  AtMostOneOf,
  fieldsOf,
  Flag,
  Float,
  Hash,
  HashOf,
  IdOrPath,
  Instant,
  Int,
  ListOf,
  ListOfHashes,
  OneOf,
  Text,
  Upload,
} from '../index';
import type { UploadedFile } from '../index';

/** The compiler executes these tests: it reports an error if a line after `@ts-expect-error` compiles. */
class Part {
  @Text() key: string;
}
type Level = 'low' | 'high';
const LEVELS = ['low', 'high'] as const;
const WIDER: readonly (Level | 'none')[] = LEVELS;

@AtLeastOneOf('number', 'text')
@ExactlyOneOf('flag', 'level')
@AtMostOneOf('day', 'instant')
class Right {
  @Int() number: number;
  @Float({ min: 0 }) float: number;
  @Text({ max: 3 }) text: string;
  @Flag() flag: boolean;
  @Instant() instant: Date;
  @Day() day: string;
  @OneOf(LEVELS) level: Level;
  @OneOf([10, 20]) rank: 10 | 20;
  @OneOf(WIDER) wider: Level | 'none';
  @ListOf('int') ids: number[];
  @ListOf('text') names: readonly string[];
  @ListOf({ oneOf: LEVELS }) levels: Level[];
  @Hash() texts: Record<string, string | null>;
  @Hash({ of: 'flag' }) flags: Readonly<Record<string, boolean | null>>;
  @Hash({ of: 'any' }) values: Record<string, unknown>;
  @ListOfHashes(() => Part) parts: readonly Part[];
  @HashOf(() => Part) part: Part;
  @IdOrPath() target: number | string;
  @AnyValue() rest: unknown;
  @Upload() file: UploadedFile;
  @Int({ optional: true }) maybe?: number;
  @Int({ optional: true }) perhaps: number | undefined;
  @Int({ optional: true, nullable: true }) unset?: number | null;
  @Int({ default: 1 }) preset: number;
  @Int({ default: 1, nullable: true }) presetOrNull: number | null;
  @OneOf(LEVELS, { default: 'low' }) presetLevel: Level;
}

class WrongKind {
  // @ts-expect-error a number is no text
  @Int() title: string;
  // @ts-expect-error a text is no number
  @Text() count: number;
  // @ts-expect-error a flag is no text
  @Flag() on: string;
  // @ts-expect-error an instant is a Date
  @Instant() at: string;
  // @ts-expect-error a day is a text
  @Day() day: Date;
  // @ts-expect-error an id or a path may be a text
  @IdOrPath() id: number;
  // @ts-expect-error a file is no text
  @Upload() file: string;
  // @ts-expect-error the type of the property is wider than that of the field
  @Int() loose: number | string;
  // @ts-expect-error unknown is wider than a number
  @Int() unknown: unknown;
  // @ts-expect-error the client may send any JSON value
  @AnyValue() any: string;
}

class WrongMembers {
  // @ts-expect-error a value is missing
  @OneOf(LEVELS) few: 'low';
  // @ts-expect-error the field has no such value
  @OneOf(LEVELS) many: Level | 'middle';
  // @ts-expect-error a text is wider than the values of the field
  @OneOf(LEVELS) vague: string;
  // @ts-expect-error numbers are not texts
  @OneOf([10, 20]) rank: '10' | '20';
  // @ts-expect-error items are numbers
  @ListOf('int') ids: string[];
  // @ts-expect-error a list, not one
  @ListOf('int') id: number;
  // @ts-expect-error items are values of the enumeration
  @ListOf({ oneOf: LEVELS }) levels: string[];
  // @ts-expect-error a value may be null
  @Hash() texts: Record<string, string>;
  // @ts-expect-error values are flags
  @Hash({ of: 'flag' }) flags: Record<string, string | null>;
  // @ts-expect-error another class
  @HashOf(() => Part) part: { other: string };
  // @ts-expect-error a list
  @ListOfHashes(() => Part) parts: Part;
}

class WrongPresence {
  // @ts-expect-error it may be missing
  @Int({ optional: true }) maybe: number;
  // @ts-expect-error it is never missing
  @Int() always?: number;
  // @ts-expect-error it is never undefined
  @Int() present: number | undefined;
  // @ts-expect-error it may be null
  @Int({ optional: true, nullable: true }) unset?: number;
  // @ts-expect-error it is never null
  @Int({ optional: true }) set?: number | null;
  // @ts-expect-error a parameter that may be null may be omitted, so `optional: true` is missing
  @Int({ nullable: true }) silent?: number | null;
  // @ts-expect-error the default replaces undefined
  @Int({ default: 1 }) preset?: number;
  // @ts-expect-error null may be sent in place of the default
  @Int({ default: 1, nullable: true }) presetOrNull: number;
  // @ts-expect-error the default is no number
  @Int({ default: '1' }) wrongDefault: number;
  // @ts-expect-error the default is none of the values
  @OneOf(LEVELS, { default: 'middle' }) wrongLevel: Level;
  // @ts-expect-error no such option
  @Int({ optinal: true }) misspelled: number;
}

// @ts-expect-error the class has no field of that name
@AtLeastOneOf('key', 'vlaue')
class OneTooMany extends Part {}
// @ts-expect-error the class has no field of that name
@ExactlyOneOf('vlaue')
class NotOne extends Part {}
// @ts-expect-error the class has no field of that name
@AtMostOneOf('key', 'vlaue')
class NotExclusive extends Part {}

test('decorators accept only properties of their types', () => {
  expect(fieldsOf(Right).map((field) => field.name)).toHaveLength(26);
  expect([WrongKind, WrongMembers, WrongPresence].map((wrong) => fieldsOf(wrong).length)).toEqual([10, 11, 11]);
  expect([OneTooMany, NotOne, NotExclusive].map((wrong) => fieldsOf(wrong).length)).toEqual([1, 1, 1]);
});
