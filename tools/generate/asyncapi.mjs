/**
 * The AsyncAPI document of all events, from the catalogue of contracts.
 *
 * @typedef {{ subject: string, type: string, service: string, noun: string, verb: string, version: number, about: string,
 *   schema: unknown }} EventDefinition
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Attributes of the CloudEvents envelope around every payload. */
const ENVELOPE = {
  specversion: { type: 'string', const: '1.0' },
  id: { type: 'string', format: 'uuid', description: 'UUIDv7. A repeated delivery has the same id.' },
  source: { type: 'string', description: 'The service that publishes the event, as `/rookery/<service>`.' },
  type: { type: 'string', description: 'Name of the event, with `rookery.` in front of the subject.' },
  subject: { type: 'string', description: 'Subject on the bus.' },
  time: { type: 'string', format: 'date-time' },
  datacontenttype: { type: 'string', const: 'application/json' },
  aggregatetype: { type: 'string', description: 'Noun that the event is about.' },
  aggregateid: { type: 'integer', description: 'Id of that noun.' },
  actorid: { type: ['integer', 'null'], description: 'User who caused the event; null for none.' },
  directoryversion: { type: 'integer', description: 'Version of the directory that effects must have seen.' },
  directoryepoch: { type: 'string' },
  traceparent: { type: 'string', description: 'W3C trace context of the cause.' },
};
const OPTIONAL = ['directoryversion', 'directoryepoch', 'traceparent'];

/**
 * @param {{ EVENTS: Map<string, EventDefinition>, jsonSchemaOf: (schema: unknown) => object }} contracts
 * @param {string} version version of the API
 * @param {string} samples folder of the samples, a file a noun
 */
export function asyncApiDocument({ EVENTS, jsonSchemaOf }, version, samples) {
  const events = [...EVENTS.values()].sort((a, b) => a.subject.localeCompare(b.subject));
  /** @param {(event: EventDefinition) => [string, unknown]} entry */
  const each = (entry) => Object.fromEntries(events.map(entry));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Rookery events',
      version,
      description:
        'Every fact that leaves a service, as a CloudEvents 1.0 envelope in structured JSON on a JetStream stream of NATS for each service. Payloads carry ids and facts, never texts, tokens or addresses. Delivery is at least once: consumers leave out an id that they have seen.',
      license: { name: 'MIT' },
    },
    defaultContentType: 'application/json',
    channels: each((event) => [
      event.subject,
      {
        address: event.subject,
        description: event.about,
        messages: { event: { $ref: `#/components/messages/${event.subject}` } },
      },
    ]),
    operations: each((event) => [
      event.subject,
      { action: 'send', channel: { $ref: `#/channels/${event.subject}` }, tags: [{ name: event.service }] },
    ]),
    components: {
      messages: each((event) => [
        event.subject,
        {
          name: event.type,
          summary: event.about,
          contentType: 'application/cloudevents+json',
          payload: {
            allOf: [
              { $ref: '#/components/schemas/Envelope' },
              { type: 'object', properties: { data: jsonSchemaOf(event.schema) }, required: ['data'] },
            ],
          },
          examples: [{ payload: sampleOf(event, samples) }],
        },
      ]),
      schemas: {
        Envelope: {
          type: 'object',
          properties: ENVELOPE,
          required: Object.keys(ENVELOPE).filter((name) => !OPTIONAL.includes(name)),
        },
      },
    },
  };
}

/**
 * @param {EventDefinition} event
 * @param {string} samples
 */
function sampleOf({ service, noun, verb, version }, samples) {
  return JSON.parse(readFileSync(join(samples, `${service}.${noun}.json`), 'utf8'))[`${verb}.v${version}`];
}
