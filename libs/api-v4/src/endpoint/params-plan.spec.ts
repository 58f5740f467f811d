import { validateSync, ValidateBy } from 'class-validator';
import { InvalidParameters } from '@rookery/kernel';
import type { ParamSources } from './params-plan';
import { ParamsPlan } from './params-plan';
import {
  AtLeastOneOf,
  Day,
  ExactlyOneOf,
  AtMostOneOf,
  Flag,
  Hash,
  HashOf,
  IdOrPath,
  Instant,
  Int,
  ListOf,
  ListOfHashes,
  OneOf,
  Text,
} from '../params/fields';

class Variable {
  @Text({ blank: 'refused' }) key: string;
  @Text({ optional: true }) value?: string;
}
class Stages {
  @Flag({ optional: true }) attachments?: boolean;
}
@AtMostOneOf('author_id', 'author')
class Everything {
  @Int() issue_iid: number;
  @Text({ max: 5, blank: 'refused' }) body: string;
  @Flag({ optional: true, alias: 'confidential' }) internal?: boolean;
  @Int({ optional: true, nullable: true }) parent_id?: number | null;
  @Int({ optional: true, min: 1, max: 10 }) weight?: number;
  @Instant({ optional: true, after: '1970-01-01' }) created_at?: Date;
  @Day({ optional: true }) due_on?: string;
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
  @OneOf([10, 20], { optional: true }) level?: 10 | 20;
  @ListOf('int', { optional: true, max: 3 }) ids?: number[];
  @ListOf({ oneOf: ['a', 'b'] }, { optional: true }) kinds?: ('a' | 'b')[];
  @Hash({ optional: true }) attributes?: Record<string, string | null>;
  @ListOfHashes(() => Variable, { optional: true }) variables?: Variable[];
  @HashOf(() => Stages, { optional: true }) stages?: Stages;
  @IdOrPath({ optional: true }) target?: number | string;
  @Int({ optional: true }) author_id?: number;
  @Text({ optional: true }) author?: string;
}

const plan = new ParamsPlan(Everything, new Set(['issue_iid']));
const readWithPlan = <T extends object>(paramsPlan: ParamsPlan<T>, body: object, more: Partial<ParamSources> = {}): T =>
  paramsPlan.readParams({ path: { issue_iid: '7' }, query: {}, files: {}, ...more, body: body as never });
const problemsOf = (body: object, of: ParamsPlan<object> = plan): readonly string[] => {
  try {
    readWithPlan(of, body);
    return [];
  } catch (error) {
    return (error as InvalidParameters).problems;
  }
};

it('reads the path first, then the body, then the query, and drops undeclared parameters', () => {
  const more = { query: { body: 'q', weight: '2', issue_iid: '9', unknown: 'x' } };
  expect({ ...readWithPlan(plan, { body: 'b', issue_iid: 8, other: 1 }, more) }).toEqual({
    issue_iid: 7,
    body: 'b',
    weight: 2,
    sort: 'desc',
  });
});

describe('a parameter that no field reads', () => {
  const unread = (body: object, query: object = {}, most = 32): readonly string[] =>
    plan.listUnread(
      { path: { issue_iid: '7' }, body: body as never, query: query as never, files: {} },
      READ_ELSEWHERE,
      most,
    );
  const READ_ELSEWHERE = new Set(['page']);

  it('is named once, in body and query; aliases and path parameters are not named', () => {
    expect(unread({ body: 'b', confidential: true, issue_iid: 8, other: 1 }, { other: 2, page: 3, more: 4 })).toEqual([
      'other',
      'more',
    ]);
    expect(unread({ attributes: { anything: 'goes' }, ids: [1], stages: null })).toEqual([]);
  });

  it('is named if a name of the same parameter wins', () => {
    expect(unread({ body: 'b', internal: true, confidential: false })).toEqual(['confidential']);
  });

  it('is named within hashes and lists of hashes', () => {
    const variables = [{ key: 'a', page: 1 }, { key: 'b', page: 1, other: 2 }, 'no hash'];
    expect(unread({ stages: { attachments: true, else: 1 }, variables })).toEqual([
      'stages[else]',
      'variables[page]',
      'variables[other]',
    ]);
    expect(unread({ variables: { 0: { key: 'a', other: 1 } } })).toEqual(['variables[other]']);
  });

  it('is named up to a limit', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, 1]));
    expect(unread(many, many, 3)).toEqual(['x0', 'x1', 'x2']);
  });
});

it('distinguishes missing, null and empty values', () => {
  expect(readWithPlan(plan, { body: 'b' })).not.toHaveProperty('parent_id');
  expect(readWithPlan(plan, { body: 'b', parent_id: null }).parent_id).toBeNull();
  expect(readWithPlan(plan, { body: 'b', parent_id: '' }).parent_id).toBeNull();
  expect(readWithPlan(plan, { body: 'b', weight: null, internal: null })).not.toHaveProperty('weight');
  expect(readWithPlan(plan, { body: 'b', weight: '' })).not.toHaveProperty('weight');
  expect(readWithPlan(plan, { body: 'b', sort: null }).sort).toBe('desc');
});

it('reads deprecated aliases', () => {
  expect(readWithPlan(plan, { body: 'b', confidential: 'True' }).internal).toBe(true);
  expect(readWithPlan(plan, { body: 'b', confidential: 'true', internal: 'false' }).internal).toBe(false);
});

it.each([
  [{}, 'body is missing'],
  [{ body: null }, 'body is missing'],
  [{ body: '  ' }, 'body is empty'],
  [{ body: '123456' }, 'body is too long (maximum is 5 characters)'],
  [{ body: { a: 1 } }, 'body is invalid'],
  [{ body: 'a\0' }, 'body is invalid'],
  [{ body: 'b', weight: 'x' }, 'weight is invalid'],
  [{ body: 'b', weight: 11 }, 'weight does not have a valid value'],
  [{ body: 'b', internal: 'maybe' }, 'internal is invalid'],
  [{ body: 'b', created_at: '1969-01-01' }, 'created_at does not have a valid value'],
  [{ body: 'b', created_at: 'x' }, 'created_at is invalid'],
  [{ body: 'b', due_on: '2023-02-29' }, 'due_on is invalid'],
  [{ body: 'b', sort: 'up' }, 'sort does not have a valid value'],
  [{ body: 'b', sort: ['asc'] }, 'sort is invalid'],
  [{ body: 'b', level: 15 }, 'level does not have a valid value'],
  [{ body: 'b', level: 'high' }, 'level is invalid'],
  [{ body: 'b', ids: [1, 2, 3, 4] }, 'ids has too many items (maximum is 3)'],
  [{ body: 'b', ids: 'x' }, 'ids is invalid'],
  [{ body: 'b', kinds: 'a,c' }, 'kinds does not have a valid value'],
  [{ body: 'b', attributes: 'x' }, 'attributes is invalid'],
  [{ body: 'b', variables: [{ value: 'x' }] }, 'variables[0][key] is missing'],
  [{ body: 'b', variables: [{ key: ' ' }] }, 'variables[0][key] is empty'],
  [{ body: 'b', variables: ['x'] }, 'variables[0] is invalid'],
  [{ body: 'b', stages: { attachments: 'x' } }, 'stages[attachments] is invalid'],
  [{ body: 'b', author_id: 1, author: 'x' }, 'author_id, author are mutually exclusive'],
])('refuses %j: %s', (body, problem) => expect(problemsOf(body)).toEqual([problem]));

it('bounds numbers by the range of the column with their name', () => {
  class Numbers {
    @Int({ optional: true }) position?: number;
    @Int({ optional: true, min: 0 }) weight?: number;
    @Int({ optional: true, max: 3_000_000_000 }) size?: number;
    @Int({ optional: true }) id?: number;
    @Int({ optional: true }) issue_iid?: number;
    @Int({ optional: true }) id_after?: number;
  }
  const numbers = new ParamsPlan(Numbers);
  const most = {
    position: 2_147_483_647,
    weight: 2_147_483_647,
    size: 3_000_000_000,
    issue_iid: 9_007_199_254_740_991,
  };
  expect({ ...readWithPlan(numbers, most) }).toEqual(most);
  const least = { position: -2_147_483_648, weight: 0, id: -9_007_199_254_740_991, id_after: -9_007_199_254_740_991 };
  expect({ ...readWithPlan(numbers, least) }).toEqual(least);
  expect(problemsOf({ position: 2_147_483_648, weight: 2_147_483_648, size: -2_147_483_649 }, numbers)).toEqual([
    'position does not have a valid value',
    'weight does not have a valid value',
    'size does not have a valid value',
  ]);
});

it('names every problem, in the order of declaration', () => {
  expect(problemsOf({ weight: 'x', sort: 'y' })).toEqual([
    'body is missing',
    'weight is invalid',
    'sort does not have a valid value',
  ]);
});

it('coerces valid values', () => {
  const body = {
    body: 'b',
    level: '20',
    ids: '1,2',
    kinds: ['a'],
    created_at: '2020-01-01',
    variables: { 0: { key: 'K', value: 1 } },
    stages: { attachments: '1' },
    target: 'a/b',
  };
  const params = readWithPlan(plan, body);
  expect(params).toMatchObject({ level: 20, ids: [1, 2], kinds: ['a'], target: 'a/b', stages: { attachments: true } });
  expect(params.variables).toEqual([Object.assign(new Variable(), { key: 'K', value: '1' })]);
  expect(params.created_at).toEqual(new Date('2020-01-01T00:00:00Z'));
  expect(params).toBeInstanceOf(Everything);
});

it('validates rules over several parameters', () => {
  @AtLeastOneOf('a', 'b')
  @ExactlyOneOf('c', 'd')
  class Rules {
    @Int({ optional: true }) a?: number;
    @Int({ optional: true }) b?: number;
    @Int({ optional: true }) c?: number;
    @Int({ optional: true }) d?: number;
  }
  const rules = new ParamsPlan(Rules);
  expect(problemsOf({}, rules)).toEqual([
    'a, b are missing, at least one parameter must be provided',
    'c, d are missing, exactly one parameter must be provided',
  ]);
  expect(problemsOf({ a: 1, c: 1, d: 1 }, rules)).toEqual(['c, d are mutually exclusive']);
  expect(problemsOf({ a: 1, c: 1 }, rules)).toEqual([]);
});

it('applies every rule of class-validator, with the same results as its own validation', () => {
  const Even = (): PropertyDecorator =>
    ValidateBy(
      { name: 'even', validator: { validate: (value) => (value as number) % 2 === 0 } },
      { message: '$property is odd' },
    );
  class Odd {
    @Even() @Int({ min: 2 }) n: number;
  }
  expect(problemsOf({ n: 3 }, new ParamsPlan(Odd))).toEqual(['n is odd']);
  expect(problemsOf({ n: 4 }, new ParamsPlan(Odd))).toEqual([]);
  expect(validateSync(Object.assign(new Odd(), { n: 3 }))).toHaveLength(1);
  expect(validateSync(readWithPlan(plan, { body: 'b', ids: [1] }))).toEqual([]);
});

it('inherits the fields of a parent class, before its own', () => {
  class Parent {
    @Int() a: number;
  }
  class Child extends Parent {
    @Int() b: number;
  }
  expect(problemsOf({}, new ParamsPlan(Child))).toEqual(['a is missing', 'b is missing']);
});

class Instance {
  @Text({ optional: true, header: 'x-instance' }) instance_id?: string;
}

describe('a field with a header', () => {
  const instance = new ParamsPlan(Instance);
  const from = (headers: Record<string, string>, query: object = {}) =>
    readWithPlan(instance, {}, { headers, query: query as never }).instance_id;

  test('the header has precedence over the parameter, and a header with the name of the field is ignored', () => {
    expect([
      from({ 'x-instance': 'a' }),
      from({ 'x-instance': 'a' }, { instance_id: 'b' }),
      from({}, { instance_id: 'b' }),
      from({ instance_id: 'c' }),
      from({ 'x-instance': '' }, { instance_id: 'b' }),
    ]).toEqual(['a', 'a', 'b', undefined, '']);
  });
});
