import {
  ArrayMaxSize,
  ArrayNotEmpty,
  IsArray,
  IsBoolean,
  IsDate,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinDate,
  MinLength,
  ValidateBy,
} from 'class-validator';
import type { FieldCommon } from './field-typing';
import type { FieldForm } from './fields';

const invalid = { message: '$property is invalid' };
const notAllowed = { message: '$property does not have a valid value' };
const notAllowedEach = { ...notAllowed, each: true };

/** Returns the class-validator decorators for a field form, with the wording of API v4. Source: ADR 0031. */
export function createValidationDecorators(
  form: FieldForm,
  common: FieldCommon<unknown>,
): readonly PropertyDecorator[] {
  const optional = common.optional || common.nullable || common.default !== undefined ? [IsOptional()] : [];
  return [...optional, ...validatorsForFieldForm(form)];
}

function validatorsForFieldForm(form: FieldForm): readonly PropertyDecorator[] {
  switch (form.kind) {
    case 'int':
      return [IsInt(invalid), ...boundRules(form)];
    case 'float':
      return [IsNumber({}, invalid), ...boundRules(form)];
    case 'text':
      return [IsString(invalid), ...textRules(form)];
    case 'flag':
      return [IsBoolean(invalid)];
    case 'instant':
      return [IsDate(invalid), ...(form.after ? [MinDate(new Date(Date.parse(form.after) + 1), notAllowed)] : [])];
    case 'day':
      return [IsString(invalid)];
    case 'oneOf':
      return [IsIn([...form.values], notAllowed)];
    case 'list':
      return listRules(form);
    case 'hashes':
      return [IsArray(invalid), maxItemsRule(form.max)];
    case 'hash':
    case 'group':
      return [IsObject(invalid)];
    case 'idOrPath':
    case 'any':
    case 'upload':
      return [];
  }
}

function boundRules(form: { readonly min?: number; readonly max?: number }): PropertyDecorator[] {
  return [
    ...(form.min === undefined ? [] : [Min(form.min, notAllowed)]),
    ...(form.max === undefined ? [] : [Max(form.max, notAllowed)]),
  ];
}

function textRules(form: FieldForm & { kind: 'text' }): PropertyDecorator[] {
  const { min, max, pattern, refuseBlank } = form;
  return [
    ...(refuseBlank ? [IsNotBlank()] : []),
    ...(min === undefined
      ? []
      : [MinLength(min, { message: `$property is too short (minimum is ${min} characters)` })]),
    ...(max === undefined ? [] : [MaxLength(max, { message: `$property is too long (maximum is ${max} characters)` })]),
    ...(pattern === undefined ? [] : [Matches(pattern, invalid)]),
  ];
}

function listRules(form: FieldForm & { kind: 'list' }): PropertyDecorator[] {
  const of = form.of;
  const items =
    of === 'int'
      ? [IsInt({ ...invalid, each: true })]
      : of === 'text'
        ? [IsString({ ...invalid, each: true })]
        : [IsIn([...of.oneOf], notAllowedEach)];
  const notEmpty = form.refuseEmpty ? [ArrayNotEmpty({ message: '$property is empty' })] : [];
  return [IsArray(invalid), ...notEmpty, maxItemsRule(form.max), ...items];
}

function maxItemsRule(max: number): PropertyDecorator {
  return ArrayMaxSize(max, { message: `$property has too many items (maximum is ${max})` });
}

function IsNotBlank(): PropertyDecorator {
  return ValidateBy(
    { name: 'isNotBlank', validator: { validate: (value) => typeof value !== 'string' || value.trim() !== '' } },
    { message: '$property is empty' },
  );
}
