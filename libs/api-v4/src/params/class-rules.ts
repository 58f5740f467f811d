import { getMetadataStorage } from 'class-validator';
import type { ValidationArguments, ValidatorConstraintInterface } from 'class-validator';

/** Validates a value of a field. Returns null for a valid value, else the problem as a complete phrase. */
export type Rule = (value: unknown, owner: object) => string | null;

// The entry of class-validator's storage that both its own and our decorators write.
type ValidationEntry = ReturnType<ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']>[number];

/**
 * Returns the class-validator rules of each field of a parameter class as functions. They are collected once, because
 * `validate` walks over its metadata at each request (ADR 0031: a sixth of the time). Rules of services by `ValidateBy`
 * are included. Errors: a TypeError for an asynchronous rule: a rule that needs the database belongs in the service.
 */
export function rulesByField(params: new () => object): ReadonlyMap<string, readonly Rule[]> {
  const rules = new Map<string, Rule[]>();
  // Decorators of one property run and are stored last first; problems are reported in the order of the source.
  for (const metadata of getMetadataStorage().getTargetValidationMetadatas(params, '', false, false)) {
    const rule = toRule(metadata, params);
    if (rule) rules.set(metadata.propertyName, [...(rules.get(metadata.propertyName) ?? []), rule]);
  }
  return rules;
}

function toRule(metadata: ValidationEntry, params: new () => object): Rule | undefined {
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
    fitsAll(value, object)
      ? null
      : formatFailure(metadata, { targetName: params.name, property, object, value, constraints });
}

function formatFailure(metadata: ValidationEntry, args: ValidationArguments): string {
  const message = typeof metadata.message === 'function' ? metadata.message(args) : metadata.message;
  return (message ?? '$property is invalid').replaceAll('$property', args.property);
}
