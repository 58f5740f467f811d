import type { PickedValue, PickedObject, PickedShape } from './json-picker';

/** The parts of a CycloneDX document that Rookery reads. Source: reference packages-and-admin 6.4. */

const text: PickedShape = { scalar: 'strict' };
/** Values of licenses come in any form, and complete license texts among them. */
const licenseText: PickedShape = { scalar: 'lenient' };
const objectShape = (fields: Readonly<Record<string, PickedShape>>): PickedShape => ({ fields: () => fields });
const listShape = (items: PickedShape, maxItems: number): PickedShape => ({ items: { of: items, most: maxItems } });

const MAX_TOOLS = 100;
const MAX_PROPERTIES = 100;
const MAX_LICENSES = 50;

const tool = objectShape({ vendor: text, name: text, version: text, group: text, publisher: text });
const tools = listShape(tool, MAX_TOOLS);
const license = objectShape({ license: objectShape({ id: licenseText, name: licenseText }), expression: licenseText });

const component: PickedShape = {
  fields: () => ({
    ...{ type: text, group: text, name: text, version: text, purl: text, 'bom-ref': text },
    licenses: listShape(license, MAX_LICENSES),
    components,
  }),
};
const components: PickedShape = { items: { of: component, emit: 'component' } };

const metadata = objectShape({
  // An array up to 1.4, an object from 1.5 on.
  tools: { ...tools, ...objectShape({ components: tools, services: tools }) },
  component: objectShape({ 'bom-ref': text }),
  properties: listShape(objectShape({ name: text, value: licenseText }), MAX_PROPERTIES),
});

export const cycloneDxShape: PickedShape = objectShape({
  ...{ bomFormat: text, specVersion: text, metadata, components },
  dependencies: { items: { of: objectShape({ ref: text, dependsOn: { items: { of: text } } }), emit: 'dependency' } },
});

/** Returns a field of a kept object. */
export function readField(value: PickedValue | undefined, name: string): PickedValue | undefined {
  return isObject(value) ? value[name] : undefined;
}

/** Returns a text of a kept object; null for an empty one, and for any other value. */
export function readText(value: PickedValue | undefined, name: string): string | null {
  const found = readField(value, name);
  return typeof found === 'string' && found !== '' ? found : null;
}

/** Returns a list of a kept object; empty for any other value. */
export function readList(value: PickedValue | undefined, name: string): readonly PickedValue[] {
  const found = readField(value, name);
  return Array.isArray(found) ? found : [];
}

function isObject(value: PickedValue | undefined): value is PickedObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
