import { bool, choice, int, list, nullable, object, presenter, text } from '@rookery/api-v4';
import type { FieldType } from '@rookery/api-v4';
import { FEATURE_DEFINITIONS } from '@rookery/instance';
import type { FeatureDefinition } from '@rookery/instance';
import type { Feature } from './feature.entity';

export type DefinitionEntry = readonly [name: string, definition: FeatureDefinition];

const KEYS = ['boolean', 'percentage_of_time', 'percentage_of_actors', 'actors', 'groups'] as const;
type GateValue = boolean | number | readonly string[];
type FeatureGate = { key: (typeof KEYS)[number]; value: GateValue };
const gateValue: FieldType<GateValue> = {
  schema: { anyOf: [bool.schema, int.schema, list(text).schema] },
  write: (given) => JSON.stringify(given),
};
const gate = object<FeatureGate>({ key: choice(...KEYS), value: gateValue });
const unknownHere = nullable(text) as FieldType<null>;

/** Source: reference packages-and-admin 10.1. Fields about the origin of a feature are always null here. */
export const definitionPresenter = presenter<DefinitionEntry>('FeatureDefinition').fields({
  name: [text, ([name]) => name],
  introduced_by_url: [unknownHere, () => null],
  rollout_issue_url: [unknownHere, () => null],
  milestone: [unknownHere, () => null],
  log_state_changes: [nullable(bool) as FieldType<null>, () => null],
  type: [choice<string>('beta'), () => 'beta'],
  group: [unknownHere, () => null],
  default_enabled: [bool, ([, definition]) => definition.defaultEnabled],
});

/** Source: reference packages-and-admin 10.1. */
export const featurePresenter = presenter<Feature>('Feature').fields({
  name: [text, (feature) => feature.name],
  state: [choice('on', 'off', 'conditional'), (feature) => feature.state],
  gates: [list(gate), listGates],
  definition: [nullable(definitionPresenter.asField()), findDefinition],
});

/** Gates of a feature: the boolean one always, others only when they are set. */
function listGates(feature: Feature): FeatureGate[] {
  const gates: FeatureGate[] = [
    { key: 'boolean', value: feature.isOn },
    { key: 'percentage_of_time', value: feature.percentageOfTime },
    { key: 'percentage_of_actors', value: feature.percentageOfActors },
    { key: 'actors', value: feature.actors },
    { key: 'groups', value: feature.groups },
  ];
  return gates.filter(({ key, value }) => key === 'boolean' || (Array.isArray(value) ? value.length > 0 : value !== 0));
}

function findDefinition({ name }: Feature): DefinitionEntry | null {
  const definition = FEATURE_DEFINITIONS.get(name);
  return definition ? [name, definition] : null;
}
