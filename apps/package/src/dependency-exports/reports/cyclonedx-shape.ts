import type { Kept, KeptObject, Shape } from './json-picker';

/** The parts of a CycloneDX document that Rookery reads. Source: reference packages-and-admin 6.4. */

const text: Shape = { scalar: 'strict' };
/** Values of licenses come in any form, and complete license texts among them. */
const licenseText: Shape = { scalar: 'lenient' };
const object = (fields: Readonly<Record<string, Shape>>): Shape => ({ fields: () => fields });
const list = (of: Shape, most: number): Shape => ({ items: { of, most } });

const MAX_TOOLS = 100;
const MAX_PROPERTIES = 100;
const MAX_LICENSES = 50;

const tool = object({ vendor: text, name: text, version: text, group: text, publisher: text });
const tools = list(tool, MAX_TOOLS);
const license = object({ license: object({ id: licenseText, name: licenseText }), expression: licenseText });

const component: Shape = {
  fields: () => ({
    ...{ type: text, group: text, name: text, version: text, purl: text, 'bom-ref': text },
    licenses: list(license, MAX_LICENSES),
    components,
  }),
};
const components: Shape = { items: { of: component, emit: 'component' } };

const metadata = object({
  // An array up to 1.4, an object from 1.5 on.
  tools: { ...tools, ...object({ components: tools, services: tools }) },
  component: object({ 'bom-ref': text }),
  properties: list(object({ name: text, value: licenseText }), MAX_PROPERTIES),
});

export const cycloneDxShape: Shape = object({
  ...{ bomFormat: text, specVersion: text, metadata, components },
  dependencies: { items: { of: object({ ref: text, dependsOn: { items: { of: text } } }), emit: 'dependency' } },
});

/** Returns a field of a kept object. */
export function fieldIn(value: Kept | undefined, name: string): Kept | undefined {
  return isObject(value) ? value[name] : undefined;
}

/** Returns a text of a kept object; null for an empty one, and for any other value. */
export function textIn(value: Kept | undefined, name: string): string | null {
  const found = fieldIn(value, name);
  return typeof found === 'string' && found !== '' ? found : null;
}

/** Returns a list of a kept object; empty for any other value. */
export function listIn(value: Kept | undefined, name: string): readonly Kept[] {
  const found = fieldIn(value, name);
  return Array.isArray(found) ? found : [];
}

function isObject(value: Kept | undefined): value is KeptObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
