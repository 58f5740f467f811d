import { html } from 'hono/html';

type Html = ReturnType<typeof html>;

interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}
interface AsyncApiMessage {
  readonly name: string;
  readonly summary: string;
  readonly payload: { readonly allOf: readonly [unknown, { readonly properties: { readonly data: JsonSchema } }] };
  readonly examples: readonly { readonly payload: object }[];
}

/** The parts of the AsyncAPI document that the page shows. */
export interface AsyncApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly components: { readonly messages: Readonly<Record<string, AsyncApiMessage>> };
}

/** Renders a page of all events. `stylePath` is the path of the stylesheet. */
export function eventDocs({ info, components }: AsyncApiDocument, stylePath: string): Html {
  const events = Object.entries(components.messages);
  const services = [...new Set(events.map(([subject]) => subject.split('.', 1)[0]!))];
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>Events · Rookery</title>
        <link rel="stylesheet" href="${stylePath}" />
      </head>
      <body>
        <main>
          <p class="crumbs"><a href="/-/docs">API</a> · version ${info.version}</p>
          <h1>${info.title}</h1>
          <p>${info.description}</p>
          <p>The same as a document: <a href="/api/v4/asyncapi.json">asyncapi.json</a>.</p>
          ${services.map(
            (service) =>
              html`<h2 id="${service}">${service}</h2>
                ${events.filter(([subject]) => subject.startsWith(`${service}.`)).map(([subject, message]) => renderEventTypeDocs(subject, message))}`,
          )}
        </main>
      </body>
    </html>`;
}

function renderEventTypeDocs(subject: string, { name, summary, payload, examples }: AsyncApiMessage): Html {
  const { properties = {}, required = [] } = payload.allOf[1].properties.data;
  return html`<details id="${subject}">
    <summary><code>${subject}</code> ${summary}</summary>
    <p class="facts">Type <code>${name}</code></p>
    <dl class="facts-list">
      ${Object.entries(properties).map(
        ([field, schema]) =>
          html`<dt><code>${field}</code></dt>
            <dd>${describeSchemaType(schema)}${required.includes(field) ? '' : ', may be absent'}</dd>`,
      )}
    </dl>
    ${examples.map((example) => html`<pre tabindex="0">${JSON.stringify(example.payload, null, 2)}</pre>`)}
  </details>`;
}

/** A type in words: `integer`, `date-time or null`, `list of string`. */
function describeSchemaType({ type, format, enum: values, anyOf, items }: JsonSchema): string {
  if (anyOf) return anyOf.map(describeSchemaType).join(' or ');
  if (values) return values.join(', ');
  if (type === 'array') return `list of ${describeSchemaType(items ?? {})}`;
  return format ?? type ?? 'anything';
}
