import type { Viewer } from '@rookery/kernel';
import { InvalidParameters } from '@rookery/kernel';
import type { RawParams } from '../params/bracket-params';
import { isRecord } from '../params/bracket-params';
import type { UploadedFile } from '../call/call';
import { rulesByField } from '../params/class-rules';
import type { Rule } from '../params/class-rules';
import { chooseCoercion, INVALID, toItems } from '../params/coercion';
import type { Coerce } from '../params/coercion';
import type { ParamsClass } from './endpoint';
import { fieldsOf, fieldCombinationRulesOf } from '../params/fields';
import type { FieldDeclaration, FieldCombinationRule } from '../params/fields';

/** Parts of a request that carry parameters, by precedence. */
export interface ParamSources {
  readonly path: RawParams;
  readonly body: RawParams;
  readonly query: RawParams;
  readonly files: Readonly<Record<string, UploadedFile>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface PlannedField {
  readonly name: string;
  /** The name, then its deprecated aliases. */
  readonly names: readonly string[];
  readonly isPathOnly: boolean;
  readonly header: string | undefined;
  readonly isHeaderOnly: boolean;
  readonly isUpload: boolean;
  /** Callers for whom the parameter is read for compatibility only. */
  readonly withoutEffectFor: 'nobody' | 'others than administrators' | 'everybody';
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  readonly initial: unknown;
  readonly coerce: Coerce;
  readonly rules: readonly Rule[];
  readonly nested: { readonly plan: ParamsPlan<object>; readonly many: boolean } | null;
}

/** Collects the names of parameters that the endpoint does not read. */
interface UnreadNames {
  readonly names: string[];
  readonly most: number;
  readonly isKnown: (name: string) => boolean;
}

const has = Object.prototype.hasOwnProperty;

/**
 * Reads a parameter class from requests: merges path, body and query by declared name, coerces and validates values,
 * resolves aliases and drops undeclared parameters. Created once for each class and endpoint.
 * Source: reference identity-and-import 1.2; ADR 0031.
 */
export class ParamsPlan<P extends object> {
  private readonly fields: readonly PlannedField[];
  private readonly together: readonly FieldCombinationRule[];
  /** Fields that body or query may carry, by each of their names. */
  private readonly byName: ReadonlyMap<string, PlannedField>;

  constructor(
    private readonly params: ParamsClass<P>,
    pathNames: ReadonlySet<string> = new Set(),
  ) {
    const rules = rulesByField(params);
    this.fields = fieldsOf(params).map((field) => planField(field, rules.get(field.name) ?? [], pathNames));
    this.together = fieldCombinationRulesOf(params);
    const sendable = this.fields.filter(({ isHeaderOnly }) => !isHeaderOnly);
    this.byName = new Map(sendable.flatMap((field) => field.names.map((name) => [name, field] as const)));
  }

  /** Returns the validated parameters. Errors: InvalidParameters with every problem, in the order of declaration. */
  readParams(sources: ParamSources): P {
    const problems: string[] = [];
    const params = this.buildParams(sources, '', problems);
    if (problems.length > 0) throw new InvalidParameters(problems);
    return params;
  }

  /**
   * Returns the names of sent parameters that no field reads. Names in `readElsewhere` and names of path parameters are
   * left out. Nested names have the form `not[name]`. Elements of lists are named without their index. Bounds: the
   * first `most`.
   */
  listUnread(
    { path, body, query, files }: ParamSources,
    readElsewhere: ReadonlySet<string>,
    most: number,
  ): readonly string[] {
    const names: string[] = [];
    const isKnown = (name: string): boolean => readElsewhere.has(name) || has.call(path, name);
    for (const sent of [body, query, files]) this.collectUnreadNames(sent, '', { names, most, isKnown });
    return names;
  }

  /** Names of sent parameters that have no effect for the viewer. */
  withoutEffect(sources: ParamSources, viewer: Pick<Viewer, 'isAdmin'>): readonly string[] {
    return this.fields.flatMap((field) => {
      const { withoutEffectFor: callers, name } = field;
      const isWithout = callers === 'everybody' || (callers === 'others than administrators' && !viewer.isAdmin);
      return isWithout && findSentValue(field, sources) !== undefined ? [name] : [];
    });
  }

  private collectUnreadNames(sent: RawParams, parentName: string, found: UnreadNames): void {
    for (const name of Object.keys(sent)) {
      if (found.names.length >= found.most) return;
      const field = this.byName.get(name);
      if (field === undefined || isOverriddenByOtherName(field, name, sent)) {
        const whole = bracketedName(parentName, name);
        if (!found.isKnown(name) && !found.names.includes(whole)) found.names.push(whole);
      } else if (field.nested) {
        const { plan, many } = field.nested;
        const items = many ? (toItems(sent[name]) ?? []) : [sent[name]];
        for (const item of items) {
          if (isRecord(item))
            plan.collectUnreadNames(item, bracketedName(parentName, name), {
              ...found,
              isKnown: treatParamNameAsUnknown,
            });
        }
      }
    }
  }

  private buildParams(sources: ParamSources, parentName: string, problems: string[]): P {
    const params = new this.params();
    const target = params as Record<string, unknown>;
    let refused: string[] | null = null;
    const hasFiles = Object.keys(sources.files).length > 0;
    for (let i = 0; i < this.fields.length; i++) {
      const field = this.fields[i]!;
      const isFile = hasFiles && !field.isUpload && isSentAsFile(field, sources);
      const raw = field.isUpload ? findUploadedFile(field, sources) : isFile ? INVALID : findSentValue(field, sources);
      const before = problems.length;
      const value = this.coerceAndCheckValue(field, raw, params, parentName, problems);
      if (value !== undefined) target[field.name] = value;
      else if (problems.length > before) (refused ??= []).push(field.name);
    }
    // An invalid value counts as sent.
    const wasSent = (name: string): boolean => target[name] !== undefined || refused?.includes(name) === true;
    for (const rule of this.together) checkFieldCombination(rule, wasSent, parentName, problems);
    return params;
  }

  /** Returns the value for the handler; undefined when it was not sent or is invalid. */
  private coerceAndCheckValue(
    field: PlannedField,
    raw: unknown,
    owner: object,
    parentName: string,
    problems: string[],
  ): unknown {
    if (raw === undefined || (raw === null && !field.isNullable))
      return defaultOrReportMissing(field, parentName, problems);
    if (raw === null) return null;
    const value = raw === INVALID ? INVALID : field.coerce(raw);
    if (value === INVALID) return void problems.push(`${bracketedName(parentName, field.name)} is invalid`);
    if (value === null) {
      if (field.isNullable) return null;
      if (field.isOptional) return defaultOrReportMissing(field, parentName, problems);
      return void problems.push(`${bracketedName(parentName, field.name)} is invalid`);
    }
    if (field.nested) return this.readNestedParams(field, field.nested, value, parentName, problems);
    for (const rule of field.rules) {
      const problem = rule(value, owner);
      if (problem === null) continue;
      problems.push(parentName === '' ? problem : problem.replace(field.name, bracketedName(parentName, field.name)));
      return undefined;
    }
    return value;
  }

  private readNestedParams(
    field: PlannedField,
    { plan, many }: NonNullable<PlannedField['nested']>,
    value: unknown,
    parentName: string,
    problems: string[],
  ): unknown {
    const name = bracketedName(parentName, field.name);
    const read = (item: unknown, at: string): object | undefined => {
      if (!isRecord(item)) return void problems.push(`${at} is invalid`);
      return plan.buildParams({ path: NOTHING, body: item, query: NOTHING, files: {} }, at, problems);
    };
    if (!many) return read(value, name);
    const items = toItems(value);
    if (items === undefined) return void problems.push(`${name} is invalid`);
    for (const rule of field.rules) {
      const problem = rule(items, this);
      if (problem !== null) return void problems.push(problem);
    }
    return items.map((item, index) => read(item, `${name}[${index}]`));
  }
}

const treatParamNameAsUnknown = (): boolean => false;
const NOTHING: RawParams = Object.freeze(Object.create(null) as RawParams);

function planField(field: FieldDeclaration, rules: readonly Rule[], pathNames: ReadonlySet<string>): PlannedField {
  const { form, common, name } = field;
  const aliases = common.alias === undefined ? [] : [common.alias].flat();
  const nested =
    form.kind === 'hashes' || form.kind === 'group'
      ? { plan: new ParamsPlan(form.of()), many: form.kind === 'hashes' }
      : null;
  return {
    name,
    names: [name, ...aliases],
    isPathOnly: common.in === 'path' || pathNames.has(name),
    header: common.header,
    isHeaderOnly: common.in === 'header',
    isUpload: form.kind === 'upload',
    withoutEffectFor: common.hasNoEffect
      ? 'everybody'
      : common.forAdministrators
        ? 'others than administrators'
        : 'nobody',
    isOptional: common.optional === true || common.nullable === true || common.default !== undefined,
    isNullable: common.nullable === true,
    initial: common.default,
    coerce: form.kind === 'upload' ? (raw) => raw : chooseCoercion(form),
    rules,
    nested,
  };
}

function findSentValue(field: PlannedField, { path, body, query, headers }: ParamSources): unknown {
  if (field.isPathOnly) return path[field.name];
  const said = field.header === undefined ? undefined : headers?.[field.header];
  if (said !== undefined || field.isHeaderOnly) return said;
  for (let i = 0; i < field.names.length; i++) {
    const name = field.names[i]!;
    if (has.call(body, name)) return body[name];
    if (has.call(query, name)) return query[name];
  }
  return undefined;
}

/**
 * Returns the uploaded file; null when a blank text asks to remove it; INVALID for another text, list or hash in place of
 * a file. Blank texts under an alias are ignored: one client library sends an empty one with every picture.
 * Source: reference identity-and-import 2.6, 14.1.
 */
function findUploadedFile(field: PlannedField, sources: ParamSources): unknown {
  const file = field.names.map((name) => sources.files[name]).find((one) => one !== undefined);
  if (file !== undefined) return file;
  for (const name of field.names) {
    const text = findSentValue({ ...field, names: [name] }, sources);
    const isBlank = text === null || (typeof text === 'string' && text.trim() === '');
    if (text !== undefined && !isBlank) return INVALID;
    if (text !== undefined && name === field.name && field.isNullable) return null;
  }
  return undefined;
}

/** Whether the request has a file in place of the value of a field. */
function isSentAsFile({ isPathOnly, isHeaderOnly, names }: PlannedField, { files }: ParamSources): boolean {
  return !isPathOnly && !isHeaderOnly && names.some((name) => has.call(files, name));
}

/** Whether the same hash has the field under a name that wins. */
function isOverriddenByOtherName({ names, isUpload }: PlannedField, name: string, sent: RawParams): boolean {
  return !isUpload && names.slice(0, names.indexOf(name)).some((other) => has.call(sent, other));
}

function defaultOrReportMissing(field: PlannedField, parentName: string, problems: string[]): unknown {
  if (field.initial !== undefined) return field.initial;
  if (!field.isOptional) problems.push(`${bracketedName(parentName, field.name)} is missing`);
  return undefined;
}

function bracketedName(parentName: string, name: string): string {
  return parentName === '' ? name : `${parentName}[${name}]`;
}

function checkFieldCombination(
  rule: FieldCombinationRule,
  wasSent: (name: string) => boolean,
  parentName: string,
  problems: string[],
): void {
  const given = rule.names.filter(wasSent);
  const names = (list: readonly string[]): string => list.map((name) => bracketedName(parentName, name)).join(', ');
  if (given.length === 0 && rule.kind === 'atLeastOne') {
    problems.push(`${names(rule.names)} are missing, at least one parameter must be provided`);
  }
  if (given.length === 0 && rule.kind === 'exactlyOne') {
    problems.push(`${names(rule.names)} are missing, exactly one parameter must be provided`);
  }
  if (given.length > 1 && rule.kind !== 'atLeastOne') problems.push(`${names(given)} are mutually exclusive`);
}
