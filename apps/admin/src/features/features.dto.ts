import { AnyValue, AtMostOneOf, Flag, ListOf, OneOf, Text } from '@rookery/api-v4';
import { FEATURE_GROUPS } from '@rookery/instance';
import { InvalidParameters } from '@rookery/kernel';
import type { FeatureValue, PercentageOf } from './feature.entity';
import type { FeatureInput } from './features.service';

const PEOPLE = 'Username, or several as a comma-separated list.';
const PATHS = 'Full path, or several as a comma-separated list.';
const MANY = { optional: true, splitItems: true } as const;

export class IdentifyFeature {
  @Text({ max: 255, blank: 'refused' }) name: string;
}

/** Source: reference packages-and-admin 10.1. */
@AtMostOneOf('key', 'feature_group')
@AtMostOneOf('key', 'user')
@AtMostOneOf('key', 'group')
@AtMostOneOf('key', 'namespace')
@AtMostOneOf('key', 'project')
@AtMostOneOf('key', 'repository')
export class SetFeature extends IdentifyFeature {
  @AnyValue({ about: '`true`, `false`, or a percentage from 0 to 100.' }) value: unknown;
  @OneOf(['percentage_of_actors', 'percentage_of_time'], {
    optional: true,
    about: 'Unit of the percentage. Default: time.',
  })
  key?: PercentageOf;
  @ListOf({ oneOf: FEATURE_GROUPS }, { optional: true }) feature_group?: readonly (typeof FEATURE_GROUPS)[number][];
  @ListOf('text', { ...MANY, about: PEOPLE }) user?: readonly string[];
  @ListOf('text', { ...MANY, about: PATHS }) group?: readonly string[];
  @ListOf('text', { ...MANY, about: PATHS }) namespace?: readonly string[];
  @ListOf('text', { ...MANY, about: PATHS }) project?: readonly string[];
  @ListOf('text', { ...MANY, about: 'Same as `project`: a repository is identified by its project.' })
  repository?: readonly string[];
  @Flag({ optional: true, about: 'Sets the feature even if it has no definition.' }) force?: boolean;
}

/**
 * Converts parameters to input. Errors: InvalidParameters for an invalid value, a percentage with named targets, and an
 * empty target: it would otherwise apply to all.
 */
export function toFeatureInput({ name: _, value, key, feature_group, force, ...names }: SetFeature): FeatureInput {
  const empty = Object.entries({ feature_group, ...names }).filter(([, list]) => list?.length === 0);
  if (empty.length > 0) throw new InvalidParameters(empty.map(([target]) => `${target} is empty`));
  const groups = feature_group ?? [];
  const isTargeted = [feature_group, ...Object.values(names)].some((list) => list !== undefined);
  const parsed = parseFeatureValue(value);
  if (parsed === null || (isTargeted && typeof parsed === 'number')) {
    throw new InvalidParameters(['value does not have a valid value']);
  }
  return { value: parsed, key: key ?? 'percentage_of_time', names, groups, force: force ?? false };
}

function parseFeatureValue(raw: unknown): FeatureValue | null {
  const text = typeof raw === 'object' ? '' : String(raw).toLowerCase();
  if (text === 'true' || text === '100') return true;
  if (text === 'false' || text === '0') return false;
  return /^[1-9]\d?$/.test(text) ? Number(text) : null;
}
