import { getMetadataStorage } from 'class-validator';
import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';

/** What a value of a field is held against; null = fits, else the complete phrase. */
export type Rule = (value: unknown, owner: object) => string | null;

// The entry of class-validator's storage that both its own and our decorators write.
type Metadata = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/**
 * The rules that class-validator knows for each field of a parameter class, ready to be called. Reading them once
 * spares the walk over its metadata that `validate` makes at each request (ADR 0031: a sixth of the time), and every rule
 * of class-validator, or of a room by `ValidateBy`, counts. Only synchronous rules: a rule that asks the database
 * belongs into the service.
 */
export function rulesByField(params: new () => object): ReadonlyMap<string, readonly Rule[]> {
  const rules = new Map<string, Rule[]>();
  // Decorators of one property are stored last first, since that is how they are run; problems are named as read.
  for (const metadata of getMetadataStorage().getTargetValidationMetadatas(params, '', false, false)) {
    const rule = ruleOf(metadata, params);
    if (rule) rules.set(metadata.propertyName, [...(rules.get(metadata.propertyName) ?? []), rule]);
  }
  return rules;
}

function ruleOf(metadata: Metadata, params: new () => object): Rule | undefined {
  if (metadata.type !== 'customValidation') return undefined;
  const property = metadata.propertyName;
  const constraint = new (metadata.constraintCls as new () => ValidatorConstraintInterface)();
  const constraints = (metadata.constraints ?? []) as unknown[];
  const fits = (value: unknown, object: object): boolean => {
    const args = { targetName: params.name, property, object, value, constraints };
    const answer = constraint.validate(value, args);
    if (typeof answer !== 'boolean') throw new TypeError(`rule ${metadata.name} of ${property} is not synchronous`);
    return answer;
  };
  const fitsAll = metadata.each
    ? (value: unknown, object: object) => !Array.isArray(value) || value.every((item) => fits(item, object))
    : fits;
  return (value, object) =>
    fitsAll(value, object) ? null : phrase(metadata, { targetName: params.name, property, object, value, constraints });
}

function phrase(metadata: Metadata, args: ValidationArguments): string {
  const message = typeof metadata.message === 'function' ? metadata.message(args) : metadata.message;
  return (message ?? '$property is invalid').replaceAll('$property', args.property);
}
